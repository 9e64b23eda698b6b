-- ?1 name, ?2 owner
UPDATE holds SET state = 2 WHERE name = ?1 AND owner = ?2;
