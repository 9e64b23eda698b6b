-- ?1 client. The names it holds that somebody waits for.
SELECT DISTINCT h.name FROM holds h JOIN waiters w ON w.name = h.name
WHERE h.client = ?1;
