-- ?1 name
DELETE FROM waiters WHERE name = ?1;
