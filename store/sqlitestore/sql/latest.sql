-- ?1 client, ?2 boot. When the last of its holds expires; 0 if it has none.
SELECT coalesce(max(expires), 0) FROM holds WHERE client = ?1 AND boot = ?2;
