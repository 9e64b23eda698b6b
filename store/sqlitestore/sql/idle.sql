-- The clients that hold nothing.
SELECT id FROM clients c
WHERE NOT EXISTS (SELECT 1 FROM holds h WHERE h.client = c.id);
