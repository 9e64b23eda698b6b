-- ?1 name, ?2 owner, ?3 boot, ?4 now, ?5 expires, ?6 life. Never shortens, never
-- inserts, and answers no row unless the owner holds the name now.
UPDATE holds
SET life = CASE WHEN ?5 > expires THEN ?6 ELSE life END,
    expires = max(expires, ?5)
WHERE name = ?1 AND owner = ?2 AND state = 1 AND boot = ?3 AND expires > ?4
RETURNING expires;
