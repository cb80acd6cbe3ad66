-- Sessions, the files they touched and the patterns seen in them: the index across sessions.

-- One row per session. `external` is its id at the host; `print` changes when the session continues.
CREATE TABLE sessions (
  n         INTEGER PRIMARY KEY,
  id        BLOB NOT NULL UNIQUE,
  parent    BLOB,
  agent     TEXT NOT NULL,
  type      TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  validated TEXT,
  task      TEXT NOT NULL,
  started   INTEGER NOT NULL,
  ended     INTEGER NOT NULL,
  steps     INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,
  retries   INTEGER NOT NULL,
  external  TEXT,
  print     TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_ended ON sessions (ended);
CREATE INDEX sessions_parent ON sessions (parent);

-- Which session read and edited which file, and at which of its steps first.
CREATE TABLE session_files (
  session    BLOB NOT NULL,
  path       TEXT NOT NULL,
  reads      INTEGER NOT NULL,
  edits      INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  UNIQUE (session, path)
) STRICT;
CREATE INDEX session_files_path ON session_files (path, edits);

-- A pattern seen in a session. `memory` is the memory it is evidence for; `dropped` and `detail` say why it became
-- none.
CREATE TABLE sightings (
  n        INTEGER PRIMARY KEY,
  session  BLOB NOT NULL,
  signal   TEXT NOT NULL,
  key      TEXT NOT NULL,
  times    INTEGER NOT NULL,
  tainted  INTEGER NOT NULL,
  evidence TEXT NOT NULL,
  memory   BLOB,
  dropped  TEXT,
  detail   TEXT,
  UNIQUE (session, signal, key)
) STRICT;
CREATE INDEX sightings_pattern ON sightings (signal, key);
CREATE INDEX sightings_memory ON sightings (memory);
