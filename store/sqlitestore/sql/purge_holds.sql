-- ?1 boot, ?2 now
DELETE FROM holds WHERE boot = ?1 AND expires <= ?2;
