-- ?1 name, or '' for all
SELECT h.name, h.since,
       h.owner, h.kind, h.state, h.token, coalesce(h.client, ''), h.boot, h.expires, h.life,
       coalesce(c.uuid, ''), coalesce(c.host, ''), coalesce(c.pid, 0),
       coalesce(c.program, ''), coalesce(c.label, ''), coalesce(c.started, 0),
       (SELECT count(DISTINCT w.client) FROM waiters w WHERE w.name = h.name)
FROM holds h
LEFT JOIN clients c ON c.id = h.client
WHERE h.name BETWEEN ?1 AND iif(?1 = '', x'ff', ?1) -- a blob is above every text
ORDER BY h.name;
