-- ?1 name, ?2 owner, ?3 client
INSERT INTO waiters (name, owner, client) VALUES (?1, ?2, ?3)
ON CONFLICT DO NOTHING;
