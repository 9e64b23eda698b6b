-- ?1 name, ?2 owner. No row if the waiter was signalled, else the hold it waits
-- for, whose owner is '' if there is none.
SELECT coalesce(h.owner, ''), coalesce(h.kind, 0), coalesce(h.state, 0), coalesce(h.token, 0),
       coalesce(h.client, ''), coalesce(h.boot, ''), coalesce(h.expires, 0), coalesce(h.life, 0)
FROM waiters w
LEFT JOIN holds h ON h.name = w.name
WHERE w.name = ?1 AND w.owner = ?2
LIMIT 1;
