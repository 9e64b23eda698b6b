-- ?1 client, ?2 boot, ?3 now. Forgets the client unless it holds something.
DELETE FROM clients
WHERE id = ?1 AND NOT EXISTS (
    SELECT 1 FROM holds h WHERE h.client = ?1 AND (h.boot <> ?2 OR h.expires > ?3));
