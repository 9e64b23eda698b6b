-- What a later format would say of itself.
PRAGMA user_version = 1000;
