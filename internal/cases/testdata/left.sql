-- What must be gone when nobody holds or waits.
SELECT (SELECT count(*) FROM holds) + (SELECT count(*) FROM waiters) + (SELECT count(*) FROM breaks);
