-- ?1 name, ?2 token, ?3 Unix hours
INSERT INTO names (name, token, used) VALUES (?1, ?2, ?3)
ON CONFLICT (name) DO UPDATE SET token = excluded.token, used = excluded.used;
