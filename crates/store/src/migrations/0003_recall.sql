-- A memory may have several vectors by one model, one for each part of its text and each sentence. The outlines that a
-- process holds in memory are read from an index alone.

-- SQLite cannot change a UNIQUE constraint, so the table is copied. AUTOINCREMENT: a number is never used again, so a
-- higher one is always newer.
CREATE TABLE parts (
  n      INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  BLOB NOT NULL,
  model  TEXT NOT NULL,
  part   INTEGER NOT NULL,
  grain  TEXT NOT NULL,
  dims   INTEGER NOT NULL,
  vector BLOB NOT NULL,
  code   BLOB NOT NULL,
  UNIQUE (owner, model, part)
) STRICT;
INSERT INTO parts (n, owner, model, part, grain, dims, vector, code)
  SELECT n, owner, model, 0, 'part', dims, vector, code FROM embeddings;
DROP TABLE embeddings;
ALTER TABLE parts RENAME TO embeddings;
CREATE INDEX embeddings_model ON embeddings (model, n);

CREATE INDEX memories_outline ON memories (
  id, type, source, scope, visibility, pinned, branch, session, deleted_at, deprecated_at, tainted, stale_at, needs_review
);
