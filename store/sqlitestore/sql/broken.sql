-- ?1 client. Each break is told once.
DELETE FROM breaks WHERE client = ?1 RETURNING name, owner;
