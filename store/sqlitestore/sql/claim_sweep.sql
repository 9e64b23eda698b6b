-- ?1 Unix seconds before which a sweep is old, ?2 now in Unix seconds. Changes a
-- row for the one caller that shall sweep; a clock set back does not stop sweeps.
UPDATE meta SET value = ?2 WHERE key = 'swept' AND (value < ?1 OR value > ?2);
