-- ?1 Unix hours. Forgets a few names that were last granted before then and are
-- free: more than one for each new name, so that idle names cannot pile up.
DELETE FROM names WHERE name IN (
    SELECT n.name FROM names n
    WHERE n.used < ?1 AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.name = n.name)
    ORDER BY n.used LIMIT 4)
RETURNING token;
