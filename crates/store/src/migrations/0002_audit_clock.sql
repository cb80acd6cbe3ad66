-- Every transaction stores its reading of the hybrid clock, which orders it across the databases of project and user.

ALTER TABLE audit ADD COLUMN hlc INTEGER NOT NULL DEFAULT 0;

-- Existing rows get the reading they would have had: the wall clock, never going back within the file, and one step
-- for every number taken. The bounds keep an absurd wall clock within an integer.
UPDATE audit SET hlc = told.hlc FROM (
  SELECT batch, max(min(max(at, 0), 140000000000000) * 65536 - batch) OVER (ORDER BY batch) + batch AS hlc FROM audit
) AS told WHERE told.batch = audit.batch;
UPDATE meta SET value = max(value, (SELECT coalesce(max(hlc), 0) FROM audit)) WHERE key = 'hlc';
