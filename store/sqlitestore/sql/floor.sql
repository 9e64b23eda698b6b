-- ?1 token of a forgotten name. New names start above it.
UPDATE meta SET value = max(value, ?1) WHERE key = 'floor';
