-- ?1 name, ?2 owner
DELETE FROM waiters WHERE name = ?1 AND owner = ?2;
