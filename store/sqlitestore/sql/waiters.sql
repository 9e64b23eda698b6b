-- ?1 name
SELECT DISTINCT client FROM waiters WHERE name = ?1;
