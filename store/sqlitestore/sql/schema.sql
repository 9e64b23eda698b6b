-- One state folder, format 1.
--
-- An instant is in nanoseconds of the machine's monotonic clock, with the
-- offsets of time namespaces taken out. It means something only within the boot
-- that is stored beside it. No wall clock decides who holds a lock.

CREATE TABLE clients (
    id      TEXT PRIMARY KEY, -- names the client's liveness file
    uuid    TEXT NOT NULL,    -- starts the client's owner ids; '' if it told none
    host    TEXT NOT NULL,
    pid     INTEGER NOT NULL, -- in the client's own pid namespace: only for people
    program TEXT NOT NULL,
    label   TEXT NOT NULL,
    started INTEGER NOT NULL  -- wall clock, Unix milliseconds; 0 if it told none
) STRICT, WITHOUT ROWID;

CREATE TABLE names (
    name  TEXT PRIMARY KEY,
    token INTEGER NOT NULL,   -- the latest token given for the name
    used  INTEGER NOT NULL    -- wall clock of that grant, Unix hours: only for purging
) STRICT, WITHOUT ROWID;

CREATE INDEX names_used ON names (used);

CREATE TABLE holds (
    name    TEXT NOT NULL,
    owner   TEXT NOT NULL,
    kind    INTEGER NOT NULL, -- 1 mutex
    state   INTEGER NOT NULL, -- 1 held, 2 revoked by an operator, 3 resting: nobody works under it
    token   INTEGER NOT NULL, -- the first token of this hold
    client  TEXT REFERENCES clients ON DELETE CASCADE, -- NULL when resting: a rest outlives its client
    boot    TEXT NOT NULL,    -- the boot that the instants belong to
    since   INTEGER NOT NULL, -- instant of the grant
    expires INTEGER NOT NULL, -- instant from which on the row counts for nothing
    life    INTEGER NOT NULL, -- nanoseconds that expires was ahead when last set
    PRIMARY KEY (name, owner)
) STRICT, WITHOUT ROWID;

-- One row for each acquisition that waits. Whoever frees a name deletes its
-- waiters: to find the row gone is the signal.
CREATE TABLE waiters (
    name   TEXT NOT NULL,
    owner  TEXT NOT NULL,
    client TEXT NOT NULL REFERENCES clients ON DELETE CASCADE,
    PRIMARY KEY (name, owner)
) STRICT, WITHOUT ROWID;

-- What operators took from clients that have not heard of it yet.
CREATE TABLE breaks (
    client TEXT NOT NULL REFERENCES clients ON DELETE CASCADE,
    name   TEXT NOT NULL,
    owner  TEXT NOT NULL,
    PRIMARY KEY (client, name, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES
    ('floor', 0), -- the highest token of any purged name
    ('swept', 0); -- wall clock of the latest sweep, Unix seconds
