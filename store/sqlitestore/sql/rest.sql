-- ?1 name, ?2 owner, ?3 expires, ?4 life
UPDATE holds SET state = 3, client = NULL, expires = ?3, life = ?4
WHERE name = ?1 AND owner = ?2;
