-- ?1 name
DELETE FROM holds WHERE name = ?1;
