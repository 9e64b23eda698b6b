-- ?1 client, ?2 name, ?3 owner
INSERT INTO breaks (client, name, owner) VALUES (?1, ?2, ?3)
ON CONFLICT DO NOTHING;
