-- Run on each connection. A power loss ends every holder, so nothing is gained
-- by waiting for the disk at each commit.
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
