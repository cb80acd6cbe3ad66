-- The injection log: the notes that were given to agents. It holds ids and words of closed lists, no
-- texts.

-- One note in one session. `memory` is NULL for notes that are no memory, such as the list of
-- modules. `project` is the project of the session: the user's database has rows of all projects.
-- `tier` is NULL if the agent asked for the note. `followed` is NULL until the session is learned.
-- `key` distinguishes the notes of one session at one time: a note that is copied twice from the
-- spool is stored once.
CREATE TABLE injections (
  n        INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  project  BLOB NOT NULL,
  session  TEXT NOT NULL,
  host     TEXT NOT NULL,
  moment   TEXT NOT NULL,
  tier     TEXT,
  subject  TEXT NOT NULL,
  memory   BLOB,
  tokens   INTEGER NOT NULL,
  followed INTEGER,
  key      TEXT NOT NULL UNIQUE
) STRICT;
CREATE INDEX injections_session ON injections (session);
CREATE INDEX injections_memory ON injections (memory);
CREATE INDEX injections_at ON injections (at);
