SELECT id FROM clients;
