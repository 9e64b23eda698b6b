-- ?1 name. One row: the counter of the name, the floor for new names, and the
-- hold, whose owner is '' if there is none.
SELECT coalesce(n.token, 0), m.value,
       coalesce(h.owner, ''), coalesce(h.kind, 0), coalesce(h.state, 0), coalesce(h.token, 0),
       coalesce(h.client, ''), coalesce(h.boot, ''), coalesce(h.expires, 0), coalesce(h.life, 0)
FROM meta m
LEFT JOIN names n ON n.name = ?1
LEFT JOIN holds h ON h.name = ?1
WHERE m.key = 'floor'
LIMIT 1;
