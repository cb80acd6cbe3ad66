//! SQL statements about sessions and the patterns seen in them. This file is a table.

use crate::query::Query;
use crate::text_erasure::TextColumn;

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &PUT_SESSION,
    &DELETE_FILES,
    &INSERT_FILE,
    &DELETE_SIGHTINGS,
    &INSERT_SIGHTING,
    &LINK_SIGHTINGS,
    &MOVE_SIGHTINGS,
    &SELECT_SESSION,
    &SELECT_SESSIONS,
    &SELECT_SIGHTINGS_OF_PATTERN,
    &SELECT_SIGHTINGS_IN_SESSION,
    &SELECT_SIGHTINGS_FOR_MEMORY,
    &COUNT_EDITORS,
    &COUNT_JUDGED,
    &SELECT_FILES_BY_TASK,
    &SELECT_TOUCHED_FILES,
    &COUNT_TOUCHING_SESSIONS,
    &SELECT_CO_ACCESSED_FILES,
    &COUNT_EDITORS_IN_FOLDER,
    &SELECT_EDITED_BY_CHILDREN,
    &SELECT_COUPLED_FILES,
    &COUNT_EDITING_SESSIONS,
    &SELECT_SESSION_FILES,
    &HAS_LEARNING_TABLES,
    &HAS_FAILED_CALLS,
    &DELETE_EVIDENCE,
    &SELECT_TASKS,
    &UPDATE_TASK,
    &SELECT_EVIDENCE,
    &UPDATE_EVIDENCE,
    &SELECT_KEYS,
    &UPDATE_KEY,
    &SELECT_DROP_DETAILS,
    &UPDATE_DROP_DETAIL,
    &SELECT_EXTERNALS,
    &UPDATE_EXTERNAL,
    &SELECT_PATHS,
    &UPDATE_PATH,
    &DELETE_FAILED_CALLS,
    &INSERT_FAILED_CALL,
    &SELECT_FAILED_CALLS,
    &SELECT_FAILED_COMMANDS,
    &UPDATE_FAILED_COMMAND,
    &SELECT_FAILED_OUTPUTS,
    &UPDATE_FAILED_OUTPUT,
    &PASS_MILESTONE,
    &SELECT_MILESTONES,
    &SELECT_MILESTONE_NAMES,
    &UPDATE_MILESTONE_NAME,
];

macro_rules! session_columns {
    () => {
        "id, parent, agent, type, outcome, validation_basis, task, started, ended, steps, tokens, retries, external, fingerprint, planned_steps"
    };
}

macro_rules! sighting_columns {
    () => {
        "session, signal, key, times, tainted, evidence, memory, dropped, detail"
    };
}

pub(super) const PUT_SESSION: Query = Query::shared(
    "put_session",
    concat!(
        "INSERT INTO sessions (",
        session_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT (id) DO UPDATE SET \
         parent = excluded.parent, agent = excluded.agent, type = excluded.type, outcome = excluded.outcome, \
         validation_basis = excluded.validation_basis, task = excluded.task, started = excluded.started, ended = excluded.ended, \
         steps = excluded.steps, tokens = excluded.tokens, retries = excluded.retries, external = excluded.external, \
         fingerprint = excluded.fingerprint, planned_steps = excluded.planned_steps"
    ),
);
pub(super) const DELETE_FILES: Query =
    Query::shared("drop_session_files", "DELETE FROM session_files WHERE session = ?1");
pub(super) const INSERT_FILE: Query = Query::shared(
    "put_session_file",
    "INSERT INTO session_files (session, path, reads, edits, first_step) VALUES (?1, ?2, ?3, ?4, ?5)",
);
pub(super) const DELETE_SIGHTINGS: Query =
    Query::shared("drop_sightings", "DELETE FROM sightings WHERE session = ?1");
pub(super) const INSERT_SIGHTING: Query = Query::shared(
    "put_sighting",
    concat!(
        "INSERT INTO sightings (",
        sighting_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    ),
);
// All sightings of a pattern are evidence for the memory made of it.
pub(super) const LINK_SIGHTINGS: Query = Query::shared(
    "link_sightings",
    "UPDATE sightings SET memory = ?3 WHERE signal = ?1 AND key = ?2 AND memory IS NULL",
);
pub(super) const MOVE_SIGHTINGS: Query =
    Query::shared("relink_sightings", "UPDATE sightings SET memory = ?2 WHERE memory = ?1");
pub(super) const SELECT_SESSION: Query = Query::shared(
    "session",
    concat!("SELECT ", session_columns!(), " FROM sessions WHERE id = ?1"),
);
pub(super) const SELECT_SESSIONS: Query = Query::shared(
    "sessions",
    concat!("SELECT ", session_columns!(), " FROM sessions ORDER BY ended, id"),
);
pub(super) const SELECT_SIGHTINGS_OF_PATTERN: Query = Query::shared(
    "sightings_of_pattern",
    concat!(
        "SELECT ",
        sighting_columns!(),
        " FROM sightings WHERE signal = ?1 AND key = ?2 ORDER BY n"
    ),
);
pub(super) const SELECT_SIGHTINGS_IN_SESSION: Query = Query::shared(
    "sightings_in_session",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE session = ?1 ORDER BY n"),
);
pub(super) const SELECT_SIGHTINGS_FOR_MEMORY: Query = Query::shared(
    "sightings_of_memory",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE memory = ?1 ORDER BY n"),
);
pub(super) const COUNT_EDITORS: Query = Query::shared(
    "count_editors",
    "SELECT count(*) FROM session_files WHERE path = ?1 AND edits > 0",
);
pub(super) const COUNT_EDITING_SESSIONS: Query = Query::shared(
    "editing_sessions",
    "SELECT count(DISTINCT session) FROM session_files WHERE edits > 0",
);
pub(super) const SELECT_SESSION_FILES: Query = Query::shared(
    "session_files",
    "SELECT path, reads, edits, first_step FROM session_files WHERE session = ?1 ORDER BY first_step, path",
);
// A memory that something newer superseded, or that faded unused, was not rejected by a person.
pub(super) const COUNT_JUDGED: Query = Query::shared(
    "count_judged",
    "SELECT count(*), coalesce(sum((deleted_at IS NOT NULL OR (deprecated_at IS NOT NULL AND \
     coalesce(deprecated_reason, '') NOT LIKE 'superseded%')) AND EXISTS (SELECT 1 FROM changes c JOIN audit a \
     ON a.batch = c.batch WHERE c.id = m.id AND a.action IN ('forget', 'flag'))), 0) \
     FROM memories m WHERE source = 'observer_inferred'",
);
pub(super) const SELECT_COUPLED_FILES: Query = Query::shared(
    "coupled_files",
    "SELECT DISTINCT key, memory FROM sightings WHERE signal = 'co_access' AND memory IS NOT NULL ORDER BY key",
);
pub(super) const SELECT_EDITED_BY_CHILDREN: Query = Query::shared(
    "edited_by_children",
    "SELECT f.session, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     WHERE s.parent = ?1 AND f.edits > 0 ORDER BY f.session, f.path",
);
pub(super) const SELECT_FILES_BY_TASK: Query = Query::shared(
    "all_session_files",
    "SELECT s.n, s.task, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     ORDER BY s.ended, s.id, f.first_step, f.path",
);
pub(super) const SELECT_TOUCHED_FILES: Query = Query::shared(
    "touched_files",
    "SELECT session, path, reads, edits, first_step FROM session_files ORDER BY session, first_step, path",
);
pub(super) const COUNT_TOUCHING_SESSIONS: Query =
    Query::shared("count_touching", "SELECT count(*) FROM session_files WHERE path = ?1");
// The newest sessions are enough: a file that everything touches is touched by many of them.
pub(super) const SELECT_CO_ACCESSED_FILES: Query = Query::shared(
    "co_accessed",
    "SELECT b.path, count(*) FROM (SELECT session, first_step FROM session_files WHERE path = ?1 \
     ORDER BY session DESC LIMIT 32) a JOIN session_files b ON b.session = a.session AND b.path <> ?1 \
     AND abs(b.first_step - a.first_step) <= 5 \
     GROUP BY b.path HAVING count(*) > 1 ORDER BY count(*) DESC, b.path LIMIT 32",
);
/// The limit in the statement above.
pub(super) const MAX_CO_ACCESS_SESSIONS: u32 = 32;
// Directly in a folder, not deeper: in ASCII, `0` follows `/`.
pub(super) const COUNT_EDITORS_IN_FOLDER: Query = Query::shared(
    "count_editors_in",
    "SELECT count(DISTINCT session) FROM session_files WHERE path >= ?1 || '/' AND path < ?1 || '0' AND edits > 0 \
     AND instr(substr(path, length(?1) + 2), '/') = 0",
);
pub(super) const HAS_LEARNING_TABLES: Query =
    Query::shared("has_learning", "SELECT count(*) FROM sqlite_schema WHERE name = 'sightings'");
pub(super) const HAS_FAILED_CALLS: Query = Query::shared(
    "has_failed_calls",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'failed_calls'",
);
pub(super) const DELETE_EVIDENCE: Query =
    Query::shared("forget_sightings", "DELETE FROM sightings WHERE memory = ?1");
pub(super) const SELECT_TASKS: Query =
    Query::shared("erase_text_tasks", "SELECT n, task FROM sessions ORDER BY n");
pub(super) const UPDATE_TASK: Query =
    Query::shared("erase_text_task", "UPDATE sessions SET task = ?2 WHERE n = ?1");
pub(super) const SELECT_EXTERNALS: Query = Query::shared(
    "erase_text_externals",
    "SELECT n, external FROM sessions WHERE external IS NOT NULL ORDER BY n",
);
pub(super) const UPDATE_EXTERNAL: Query =
    Query::shared("erase_text_external", "UPDATE sessions SET external = ?2 WHERE n = ?1");
pub(super) const SELECT_EVIDENCE: Query =
    Query::shared("erase_text_evidence", "SELECT n, evidence FROM sightings ORDER BY n");
pub(super) const UPDATE_EVIDENCE: Query =
    Query::shared("erase_text_one_evidence", "UPDATE sightings SET evidence = ?2 WHERE n = ?1");
pub(super) const SELECT_KEYS: Query =
    Query::shared("erase_text_keys", "SELECT n, key FROM sightings ORDER BY n");
pub(super) const UPDATE_KEY: Query =
    Query::shared("erase_text_key", "UPDATE sightings SET key = ?2 || ' ' || n WHERE n = ?1");
pub(super) const SELECT_DROP_DETAILS: Query = Query::shared(
    "erase_text_drops",
    "SELECT n, detail FROM sightings WHERE detail IS NOT NULL ORDER BY n",
);
pub(super) const UPDATE_DROP_DETAIL: Query =
    Query::shared("erase_text_drop", "UPDATE sightings SET detail = ?2 WHERE n = ?1");
pub(super) const SELECT_PATHS: Query = Query::shared(
    "erase_text_session_paths",
    "SELECT rowid, path FROM session_files ORDER BY rowid",
);
pub(super) const UPDATE_PATH: Query = Query::shared(
    "erase_text_session_path",
    "UPDATE session_files SET path = ?2 || ' ' || rowid WHERE rowid = ?1",
);

pub(super) const DELETE_FAILED_CALLS: Query =
    Query::shared("drop_failed_calls", "DELETE FROM failed_calls WHERE session = ?1");
pub(super) const INSERT_FAILED_CALL: Query = Query::shared(
    "put_failed_call",
    "INSERT INTO failed_calls (session, at, call, output_start) VALUES (?1, ?2, ?3, ?4)",
);
pub(super) const SELECT_FAILED_CALLS: Query = Query::shared(
    "failed_calls",
    "SELECT at, call, output_start FROM failed_calls WHERE at >= ?1 AND at < ?2 ORDER BY at, n",
);
pub(super) const SELECT_FAILED_COMMANDS: Query =
    Query::shared("erase_text_failed_calls", "SELECT n, call FROM failed_calls ORDER BY n");
pub(super) const UPDATE_FAILED_COMMAND: Query =
    Query::shared("erase_text_failed_call", "UPDATE failed_calls SET call = ?2 WHERE n = ?1");
pub(super) const SELECT_FAILED_OUTPUTS: Query = Query::shared(
    "erase_text_failed_outputs",
    "SELECT n, output_start FROM failed_calls ORDER BY n",
);
pub(super) const UPDATE_FAILED_OUTPUT: Query = Query::shared(
    "erase_text_failed_output",
    "UPDATE failed_calls SET output_start = ?2 WHERE n = ?1",
);
pub(super) const PASS_MILESTONE: Query = Query::shared(
    "pass_milestone",
    "INSERT INTO milestones (name, count, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
);
pub(super) const SELECT_MILESTONES: Query =
    Query::shared("milestones", "SELECT name, count FROM milestones ORDER BY n");
pub(super) const SELECT_MILESTONE_NAMES: Query =
    Query::shared("erase_text_milestones", "SELECT n, name FROM milestones ORDER BY n");
pub(super) const UPDATE_MILESTONE_NAME: Query = Query::shared(
    "erase_text_milestone",
    "UPDATE milestones SET name = ?2 || ' ' || n WHERE n = ?1",
);

/// Texts of failed calls and milestones, which older copies do not have.
pub(super) const FAILED_CALL_COLUMNS: &[TextColumn] = &[
    (&SELECT_FAILED_COMMANDS, &UPDATE_FAILED_COMMAND),
    (&SELECT_FAILED_OUTPUTS, &UPDATE_FAILED_OUTPUT),
    (&SELECT_MILESTONE_NAMES, &UPDATE_MILESTONE_NAME),
];

// Copies of version 5, such as the backup made before the migration to version 6, have the same texts
// under older names. They are not in `STATEMENTS`: no database of the newest schema can run them.
pub(super) const HAS_FAILED_CALLS_5: Query = Query::local(
    "has_failed_calls_5",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'stumbles'",
);
const SELECT_FAILED_COMMANDS_5: Query =
    Query::local("erase_text_failed_calls_5", "SELECT n, head FROM stumbles ORDER BY n");
const UPDATE_FAILED_COMMAND_5: Query =
    Query::local("erase_text_failed_call_5", "UPDATE stumbles SET head = ?2 WHERE n = ?1");
const SELECT_FAILED_OUTPUTS_5: Query =
    Query::local("erase_text_failed_outputs_5", "SELECT n, beginning FROM stumbles ORDER BY n");
const UPDATE_FAILED_OUTPUT_5: Query =
    Query::local("erase_text_failed_output_5", "UPDATE stumbles SET beginning = ?2 WHERE n = ?1");
const SELECT_MILESTONE_NAMES_5: Query =
    Query::local("erase_text_milestones_5", "SELECT n, what FROM milestones ORDER BY n");
const UPDATE_MILESTONE_NAME_5: Query = Query::local(
    "erase_text_milestone_5",
    "UPDATE milestones SET what = ?2 || ' ' || n WHERE n = ?1",
);
pub(super) const FAILED_CALL_COLUMNS_5: &[TextColumn] = &[
    (&SELECT_FAILED_COMMANDS_5, &UPDATE_FAILED_COMMAND_5),
    (&SELECT_FAILED_OUTPUTS_5, &UPDATE_FAILED_OUTPUT_5),
    (&SELECT_MILESTONE_NAMES_5, &UPDATE_MILESTONE_NAME_5),
];

/// Texts of sessions and sightings.
pub(super) const LEARNING_COLUMNS: &[TextColumn] = &[
    (&SELECT_TASKS, &UPDATE_TASK),
    (&SELECT_EXTERNALS, &UPDATE_EXTERNAL),
    (&SELECT_EVIDENCE, &UPDATE_EVIDENCE),
    (&SELECT_KEYS, &UPDATE_KEY),
    (&SELECT_DROP_DETAILS, &UPDATE_DROP_DETAIL),
    (&SELECT_PATHS, &UPDATE_PATH),
];

#[cfg(test)]
mod tests {
    use model::Deprecation;

    use super::*;

    #[test]
    fn the_database_knows_the_same_superseded_reasons() {
        let pattern = format!("NOT LIKE '{}%'", Deprecation::SUPERSEDED_PREFIX);
        assert!(COUNT_JUDGED.sql.contains(&pattern), "{pattern}");
    }
}
