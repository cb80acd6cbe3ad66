-- Plain names for tables and columns. The data stays as it is.

ALTER TABLE sessions RENAME COLUMN print TO fingerprint;
ALTER TABLE sessions RENAME COLUMN planned TO planned_steps;
ALTER TABLE sessions RENAME COLUMN validated TO validation_basis;

ALTER TABLE stumbles RENAME TO failed_calls;
ALTER TABLE failed_calls RENAME COLUMN head TO call;
ALTER TABLE failed_calls RENAME COLUMN beginning TO output_start;
DROP INDEX stumbles_at;
DROP INDEX stumbles_session;
CREATE INDEX failed_calls_at ON failed_calls (at);
CREATE INDEX failed_calls_session ON failed_calls (session);

ALTER TABLE milestones RENAME COLUMN what TO name;
ALTER TABLE milestones RENAME COLUMN mark TO count;

ALTER TABLE losses RENAME COLUMN noted_at TO acknowledged_at;
