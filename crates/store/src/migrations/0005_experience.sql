-- Failed calls, planned steps and milestones, from which later sessions learn what to expect.

-- A failed tool call: the command and the beginning of its output.
CREATE TABLE stumbles (
  n         INTEGER PRIMARY KEY,
  session   BLOB NOT NULL,
  at        INTEGER NOT NULL,
  head      TEXT NOT NULL,
  beginning TEXT NOT NULL
) STRICT;
CREATE INDEX stumbles_at ON stumbles (at);
CREATE INDEX stumbles_session ON stumbles (session);

-- Events that are announced once, such as a module reaching a number of sessions.
CREATE TABLE milestones (
  n    INTEGER PRIMARY KEY,
  what TEXT NOT NULL,
  mark INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  UNIQUE (what, mark)
) STRICT;

ALTER TABLE sessions ADD COLUMN planned INTEGER;
