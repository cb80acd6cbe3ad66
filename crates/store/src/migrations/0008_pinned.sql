-- Pinned memories are few and asked for at the start of every session.

CREATE INDEX memories_pinned ON memories (n) WHERE pinned = 1;
