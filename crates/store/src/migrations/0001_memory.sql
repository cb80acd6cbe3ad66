-- The memory schema. A row of `memories` is the record; the other tables around it are indexes that can be rebuilt.
-- Comments stand between statements only: SQLite stores the text of a definition, and `doctor` compares it.

-- Numbers about the file: the last change (`seq`), the hybrid logical clock (`hlc`), the time of the last write
-- (`last_used`), and the expected number of rows, which shows when rows vanish.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('seq', 0), ('hlc', 0), ('last_used', 0), ('n_memories', 0), ('n_versions', 0);

-- One row per memory, in its current version. `n` is the row number that all lookup tables use. `short` is the end of
-- the id, which people type. `hash` covers the columns before it except `n` and `short`; `counts_hash` covers the
-- counters. Lists and structures are JSON. `needs_review` is 1 for a memory to review, plus 2 for a candidate.
CREATE TABLE memories (
  n                 INTEGER PRIMARY KEY,
  id                BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  short             TEXT NOT NULL,
  project           BLOB,
  type              TEXT NOT NULL,
  source            TEXT NOT NULL,
  scope             TEXT NOT NULL,
  visibility        TEXT NOT NULL,
  content           TEXT NOT NULL,
  summary           TEXT NOT NULL,
  citation          TEXT NOT NULL,
  confidence        INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
  tags              TEXT NOT NULL,
  files             TEXT NOT NULL,
  modules           TEXT NOT NULL,
  anchors           TEXT NOT NULL,
  work_unit         TEXT,
  session           BLOB,
  provenance        TEXT NOT NULL,
  commit_id         TEXT,
  branch            TEXT,
  relations         TEXT NOT NULL,
  half_life_days    INTEGER,
  needs_review      INTEGER NOT NULL,
  user_verified     INTEGER NOT NULL,
  pinned            INTEGER NOT NULL,
  tainted           INTEGER NOT NULL,
  deprecated_at     INTEGER,
  deprecated_reason TEXT,
  stale_at          INTEGER,
  deleted_at        INTEGER,
  payload           TEXT,
  created_by        TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  version           INTEGER NOT NULL,
  hlc               INTEGER NOT NULL,
  hash              BLOB NOT NULL,
  access_count      INTEGER NOT NULL,
  used_count        INTEGER NOT NULL,
  last_accessed_at  INTEGER,
  last_used_at      INTEGER,
  counts_hash       BLOB NOT NULL
) STRICT;
CREATE INDEX memories_short ON memories (short);
CREATE INDEX memories_type ON memories (type);
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE deleted_at IS NOT NULL;

-- Lookup tables: which memories are about a file, a module, have a tag, or point at a memory or file. Each has a
-- second index by `n`, for deleting and for comparing with the first when a query finds nothing.
CREATE TABLE memory_files (
  file TEXT NOT NULL,
  n    INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  PRIMARY KEY (file, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_files_n ON memory_files (n);

CREATE TABLE memory_modules (
  module TEXT NOT NULL,
  n      INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  PRIMARY KEY (module, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_modules_n ON memory_modules (n);

CREATE TABLE memory_tags (
  tag TEXT NOT NULL,
  n   INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  PRIMARY KEY (tag, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_n ON memory_tags (n);

CREATE TABLE memory_relations (
  n      INTEGER NOT NULL REFERENCES memories (n) ON DELETE CASCADE,
  kind   TEXT NOT NULL,
  target BLOB NOT NULL,
  PRIMARY KEY (target, kind, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_relations_n ON memory_relations (n);

-- Derived search text, with identifiers expanded. One row per memory that is not deleted.
CREATE TABLE memory_text (
  n       INTEGER PRIMARY KEY REFERENCES memories (n) ON DELETE CASCADE,
  content TEXT NOT NULL,
  tags    TEXT NOT NULL,
  files   TEXT NOT NULL
) STRICT;
-- The full-text index over that text, kept up to date by the triggers below.
CREATE VIRTUAL TABLE memories_fts USING fts5 (
  content, tags, files, content='memory_text', content_rowid='n', tokenize='porter unicode61'
);
-- Deleted words leave no trace in the index.
INSERT INTO memories_fts (memories_fts, rank) VALUES ('secure-delete', 1);
-- The first secure deletion changes the format of the index, and connections that are open do not notice:
-- their check would call a sound index malformed. So the first one is made here, where there are none.
INSERT INTO memories_fts (rowid, content, tags, files) VALUES (0, 'first', '', '');
INSERT INTO memories_fts (memories_fts) VALUES ('optimize');
INSERT INTO memories_fts (memories_fts, rowid, content, tags, files) VALUES ('delete', 0, 'first', '', '');
INSERT INTO memories_fts (memories_fts) VALUES ('optimize');
CREATE TRIGGER memory_text_added AFTER INSERT ON memory_text BEGIN
  INSERT INTO memories_fts (rowid, content, tags, files) VALUES (new.n, new.content, new.tags, new.files);
END;
CREATE TRIGGER memory_text_removed AFTER DELETE ON memory_text BEGIN
  INSERT INTO memories_fts (memories_fts, rowid, content, tags, files)
  VALUES ('delete', old.n, old.content, old.tags, old.files);
END;

-- Versions of memories before each change, with the same columns and the same hash.
CREATE TABLE memory_versions (
  k                 INTEGER PRIMARY KEY,
  batch             INTEGER NOT NULL,
  id                BLOB NOT NULL,
  project           BLOB,
  type              TEXT NOT NULL,
  source            TEXT NOT NULL,
  scope             TEXT NOT NULL,
  visibility        TEXT NOT NULL,
  content           TEXT NOT NULL,
  summary           TEXT NOT NULL,
  citation          TEXT NOT NULL,
  confidence        INTEGER NOT NULL,
  tags              TEXT NOT NULL,
  files             TEXT NOT NULL,
  modules           TEXT NOT NULL,
  anchors           TEXT NOT NULL,
  work_unit         TEXT,
  session           BLOB,
  provenance        TEXT NOT NULL,
  commit_id         TEXT,
  branch            TEXT,
  relations         TEXT NOT NULL,
  half_life_days    INTEGER,
  needs_review      INTEGER NOT NULL,
  user_verified     INTEGER NOT NULL,
  pinned            INTEGER NOT NULL,
  tainted           INTEGER NOT NULL,
  deprecated_at     INTEGER,
  deprecated_reason TEXT,
  stale_at          INTEGER,
  deleted_at        INTEGER,
  payload           TEXT,
  created_by        TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  version           INTEGER NOT NULL,
  hlc               INTEGER NOT NULL,
  hash              BLOB NOT NULL,
  access_count      INTEGER NOT NULL,
  used_count        INTEGER NOT NULL,
  last_accessed_at  INTEGER,
  last_used_at      INTEGER,
  counts_hash       BLOB NOT NULL,
  UNIQUE (id, version)
) STRICT;
CREATE INDEX memory_versions_batch ON memory_versions (batch);

-- The audit trail: one row per transaction, and one per memory it changed. Never any content.
CREATE TABLE audit (
  batch     INTEGER PRIMARY KEY,
  key       TEXT UNIQUE,
  at        INTEGER NOT NULL,
  actor     TEXT NOT NULL,
  action    TEXT NOT NULL,
  detail    TEXT,
  undone_by INTEGER
) STRICT;
CREATE TABLE changes (
  seq     INTEGER PRIMARY KEY,
  batch   INTEGER NOT NULL REFERENCES audit (batch),
  id      BLOB,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_batch ON changes (batch);
CREATE INDEX changes_id ON changes (id);

-- Vectors are plain blobs; search over them happens in process.
CREATE TABLE embeddings (
  n      INTEGER PRIMARY KEY,
  owner  BLOB NOT NULL,
  model  TEXT NOT NULL,
  dims   INTEGER NOT NULL,
  vector BLOB NOT NULL,
  code   BLOB NOT NULL,
  UNIQUE (owner, model)
) STRICT;

-- Settings of the project or the user.
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Hashes of the ids of erased memories, which must not come back from a backup or a peer.
CREATE TABLE erase_ledger (
  id_hash   BLOB PRIMARY KEY,
  erased_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Spans in which the store was not used; nothing ages in them.
CREATE TABLE quiet_spans (
  from_ms INTEGER NOT NULL,
  to_ms   INTEGER NOT NULL
) STRICT;

-- Acknowledged changes that are missing, reported until a person acknowledges the loss.
CREATE TABLE losses (
  from_seq     INTEGER NOT NULL,
  to_seq       INTEGER NOT NULL,
  noticed_at   INTEGER NOT NULL,
  noted_at     INTEGER
) STRICT;
