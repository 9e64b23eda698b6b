-- ?1 name, ?2 owner, ?3 kind, ?4 token, ?5 client, ?6 boot, ?7 now, ?8 expires, ?9 life
INSERT INTO holds (name, owner, kind, state, token, client, boot, since, expires, life)
VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9);
