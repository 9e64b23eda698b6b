-- ?1 id. Its holds and waiters go with it.
DELETE FROM clients WHERE id = ?1;
