-- ?1 id, ?2 uuid, ?3 host, ?4 pid, ?5 program, ?6 label, ?7 started
INSERT INTO clients (id, uuid, host, pid, program, label, started)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);
