-- The user's database also has the registry of projects and the folders they were seen in.

CREATE TABLE projects (
  id          BLOB PRIMARY KEY CHECK (length(id) = 16),
  name        TEXT NOT NULL,
  root_commit TEXT,
  remote      TEXT,
  created_at  INTEGER NOT NULL
) STRICT;

-- `key_dir` is the folder that identifies the project, `dir_key` the identity of that folder in the file system.
CREATE TABLE project_places (
  key_dir   TEXT PRIMARY KEY,
  dir_key   TEXT,
  project   BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  last_seen INTEGER NOT NULL
) STRICT;
CREATE INDEX project_places_project ON project_places (project);
