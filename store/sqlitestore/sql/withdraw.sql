-- ?1 client. It waits for nothing any more.
DELETE FROM waiters WHERE client = ?1;
