//! SQL statements about sessions and the patterns seen in them, one constant each.
//!
//! A sighting is one pattern in one session; its `key` says which pattern of a signal it is, its
//! `evidence` is JSON. `n` is the row number of a table. `Query::shared` is a statement that also
//! runs on a libSQL server, `Query::local` one for local files; the first argument is its name in
//! tests and messages.
//!
//! `learning.rs` runs the statements about sessions, sightings and failed calls. The pairs of
//! `SELECT` and `UPDATE` below them belong to `text_erasure`, which reads every free text with its
//! row number and writes back the cleaned one. Every pair is spelled out, because the replay tests
//! need each statement as a constant.

use crate::query::Query;
use crate::text_erasure::TextColumn;

/// Every statement of this file, for the tests that replay them on a server.
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
    &SELECT_SIGHTINGS_BY_KEY_BEGINNING,
    &SELECT_SIGHTINGS_IN_SESSION,
    &SELECT_SIGHTINGS_FOR_MEMORY,
    &COUNT_JUDGED,
    &SELECT_MEMORIES_WITH_SIGNAL,
    &SELECT_FILES_BY_TASK,
    &SELECT_TOUCHED_FILES,
    &COUNT_TOUCHING_SESSIONS,
    &SELECT_CO_ACCESSED_FILES,
    &COUNT_EDITORS_IN_FOLDER,
    &SELECT_EDITED_BY_CHILDREN,
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

/// SQL: the columns of a session, in the order in which they are bound.
macro_rules! session_columns {
    () => {
        "id, parent, agent, type, outcome, validation_basis, task, started, ended, steps, tokens, retries, external, fingerprint, planned_steps"
    };
}

/// SQL: the columns of a sighting, in the order in which they are bound.
macro_rules! sighting_columns {
    () => {
        "session, signal, key, times, tainted, evidence, memory, dropped, detail"
    };
}

/// Stores a session, replacing its earlier state.
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
/// Deletes the touched files of a session.
pub(super) const DELETE_FILES: Query =
    Query::shared("drop_session_files", "DELETE FROM session_files WHERE session = ?1");
/// Adds a file that a session touched.
pub(super) const INSERT_FILE: Query = Query::shared(
    "put_session_file",
    "INSERT INTO session_files (session, path, reads, edits, first_step) VALUES (?1, ?2, ?3, ?4, ?5)",
);
/// Deletes the sightings in a session.
pub(super) const DELETE_SIGHTINGS: Query = Query::shared(
    "drop_sightings",
    "DELETE FROM sightings WHERE session = ?1 AND NOT (signal = 'claim' AND key LIKE 'model %')",
);
/// Adds a sighting.
pub(super) const INSERT_SIGHTING: Query = Query::shared(
    "put_sighting",
    concat!(
        "INSERT INTO sightings (",
        sighting_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    ),
);
/// Makes all sightings of a pattern evidence for the memory made of it, except those that are
/// evidence for another memory.
pub(super) const LINK_SIGHTINGS: Query = Query::shared(
    "link_sightings",
    "UPDATE sightings SET memory = ?3 WHERE signal = ?1 AND key = ?2 AND memory IS NULL",
);
/// Moves the evidence of one memory to another.
pub(super) const MOVE_SIGHTINGS: Query =
    Query::shared("relink_sightings", "UPDATE sightings SET memory = ?2 WHERE memory = ?1");
/// One session.
pub(super) const SELECT_SESSION: Query = Query::shared(
    "session",
    concat!("SELECT ", session_columns!(), " FROM sessions WHERE id = ?1"),
);
/// All sessions, in the order they ended.
pub(super) const SELECT_SESSIONS: Query = Query::shared(
    "sessions",
    concat!("SELECT ", session_columns!(), " FROM sessions ORDER BY ended, id"),
);
/// Sightings of a pattern in all sessions.
pub(super) const SELECT_SIGHTINGS_OF_PATTERN: Query = Query::shared(
    "sightings_of_pattern",
    concat!(
        "SELECT ",
        sighting_columns!(),
        " FROM sightings WHERE signal = ?1 AND key = ?2 ORDER BY n"
    ),
);
/// Sightings of a signal whose key begins with a text.
pub(super) const SELECT_SIGHTINGS_BY_KEY_BEGINNING: Query = Query::shared(
    "sightings_by_key_beginning",
    concat!(
        "SELECT ",
        sighting_columns!(),
        " FROM sightings WHERE signal = ?1 AND substr(key, 1, length(?2)) = ?2 ORDER BY n"
    ),
);
/// Sightings in a session.
pub(super) const SELECT_SIGHTINGS_IN_SESSION: Query = Query::shared(
    "sightings_in_session",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE session = ?1 ORDER BY n"),
);
/// Sightings that are evidence for a memory.
pub(super) const SELECT_SIGHTINGS_FOR_MEMORY: Query = Query::shared(
    "sightings_of_memory",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE memory = ?1 ORDER BY n"),
);
/// Files that a session touched, in the order of the first access.
pub(super) const SELECT_SESSION_FILES: Query = Query::shared(
    "session_files",
    "SELECT path, reads, edits, first_step FROM session_files WHERE session = ?1 ORDER BY first_step, path",
);
/// Number of memories learned by observation, and of those that a person rejected.
// Rejected means deleted or deprecated through the actions `forget` or `flag`. A memory that a
// newer one superseded, or that faded unused, was not rejected by a person. Candidates
// (`needs_review` of 2 and more) are expected to be wrong at times, and do not count.
// The first part reads the index of outlines alone, the second only the memories that such a batch
// changed: the rows of the table are wide, and every learned session asks.
pub(super) const COUNT_JUDGED: Query = Query::shared(
    "count_judged",
    "SELECT (SELECT count(*) FROM memories INDEXED BY memories_outline \
     WHERE source = 'observer_inferred' AND needs_review < 2), \
     (SELECT count(*) FROM memories WHERE id IN (SELECT c.id FROM audit a CROSS JOIN changes c ON c.batch = a.batch \
     WHERE a.action IN ('forget', 'flag')) AND source = 'observer_inferred' AND needs_review < 2 \
     AND (deleted_at IS NOT NULL OR (deprecated_at IS NOT NULL AND \
     coalesce(deprecated_reason, '') NOT LIKE 'superseded%')))",
);
/// Memories with a sighting of a signal.
pub(super) const SELECT_MEMORIES_WITH_SIGNAL: Query = Query::shared(
    "memories_with_signal",
    "SELECT DISTINCT memory FROM sightings WHERE signal = ?1 AND memory IS NOT NULL",
);
/// Files edited by each subagent of a session.
pub(super) const SELECT_EDITED_BY_CHILDREN: Query = Query::shared(
    "edited_by_children",
    "SELECT f.session, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     WHERE s.parent = ?1 AND f.edits > 0 ORDER BY f.session, f.path",
);
/// Task and touched files of every session.
pub(super) const SELECT_FILES_BY_TASK: Query = Query::shared(
    "all_session_files",
    "SELECT s.n, s.task, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     ORDER BY s.ended, s.id, f.first_step, f.path",
);
/// Every file that any session touched.
pub(super) const SELECT_TOUCHED_FILES: Query = Query::shared(
    "touched_files",
    "SELECT session, path, reads, edits, first_step FROM session_files ORDER BY session, first_step, path",
);
/// Number of sessions that touched a file.
pub(super) const COUNT_TOUCHING_SESSIONS: Query =
    Query::shared("count_touching", "SELECT count(*) FROM session_files WHERE path = ?1");
/// Files that several sessions touched within five steps of a file.
// The newest 32 sessions are enough: a file that everything touches is touched by many of them.
// Files near only once are left out as chance.
pub(super) const SELECT_CO_ACCESSED_FILES: Query = Query::shared(
    "co_accessed",
    "SELECT b.path, count(*) FROM (SELECT session, first_step FROM session_files WHERE path = ?1 \
     ORDER BY session DESC LIMIT 32) a JOIN session_files b ON b.session = a.session AND b.path <> ?1 \
     AND abs(b.first_step - a.first_step) <= 5 \
     GROUP BY b.path HAVING count(*) > 1 ORDER BY count(*) DESC, b.path LIMIT 32",
);
/// Sessions that the statement above considers: its inner `LIMIT`.
pub(super) const MAX_CO_ACCESS_SESSIONS: u32 = 32;
/// Number of sessions that edited a file directly in a folder.
// In ASCII, `0` follows `/`: the range holds all paths below the folder. `instr` then leaves only
// those without another `/`, which lie directly in it.
pub(super) const COUNT_EDITORS_IN_FOLDER: Query = Query::shared(
    "count_editors_in",
    "SELECT count(DISTINCT session) FROM session_files WHERE path >= ?1 || '/' AND path < ?1 || '0' AND edits > 0 \
     AND instr(substr(path, length(?1) + 2), '/') = 0",
);
/// 1 if the file has the tables of sessions and sightings.
pub(super) const HAS_LEARNING_TABLES: Query =
    Query::shared("has_learning", "SELECT count(*) FROM sqlite_schema WHERE name = 'sightings'");
/// 1 if the file has the table of failed calls.
pub(super) const HAS_FAILED_CALLS: Query = Query::shared(
    "has_failed_calls",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'failed_calls'",
);
/// Deletes the sightings that are evidence for a memory.
pub(super) const DELETE_EVIDENCE: Query =
    Query::shared("forget_sightings", "DELETE FROM sightings WHERE memory = ?1");
/// Tasks of sessions.
pub(super) const SELECT_TASKS: Query =
    Query::shared("erase_text_tasks", "SELECT n, task FROM sessions ORDER BY n");
/// Sets the task of a session.
pub(super) const UPDATE_TASK: Query =
    Query::shared("erase_text_task", "UPDATE sessions SET task = ?2 WHERE n = ?1");
/// Session ids of the hosts.
pub(super) const SELECT_EXTERNALS: Query = Query::shared(
    "erase_text_externals",
    "SELECT n, external FROM sessions WHERE external IS NOT NULL ORDER BY n",
);
/// Sets the host's id of a session.
pub(super) const UPDATE_EXTERNAL: Query =
    Query::shared("erase_text_external", "UPDATE sessions SET external = ?2 WHERE n = ?1");
/// Evidence of sightings, as JSON.
pub(super) const SELECT_EVIDENCE: Query =
    Query::shared("erase_text_evidence", "SELECT n, evidence FROM sightings ORDER BY n");
/// Sets the evidence of a sighting.
pub(super) const UPDATE_EVIDENCE: Query =
    Query::shared("erase_text_one_evidence", "UPDATE sightings SET evidence = ?2 WHERE n = ?1");
/// Pattern keys of sightings.
pub(super) const SELECT_KEYS: Query =
    Query::shared("erase_text_keys", "SELECT n, key FROM sightings ORDER BY n");
/// Sets the pattern key of a sighting.
// Keys, paths and milestones are unique. The row number keeps two apart that cleaning made equal.
pub(super) const UPDATE_KEY: Query =
    Query::shared("erase_text_key", "UPDATE sightings SET key = ?2 || ' ' || n WHERE n = ?1");
/// Details of why sightings were dropped.
pub(super) const SELECT_DROP_DETAILS: Query = Query::shared(
    "erase_text_drops",
    "SELECT n, detail FROM sightings WHERE detail IS NOT NULL ORDER BY n",
);
/// Sets such a detail.
pub(super) const UPDATE_DROP_DETAIL: Query =
    Query::shared("erase_text_drop", "UPDATE sightings SET detail = ?2 WHERE n = ?1");
/// Paths of touched files.
pub(super) const SELECT_PATHS: Query = Query::shared(
    "erase_text_session_paths",
    "SELECT rowid, path FROM session_files ORDER BY rowid",
);
/// Sets the path of a touched file.
pub(super) const UPDATE_PATH: Query = Query::shared(
    "erase_text_session_path",
    "UPDATE session_files SET path = ?2 || ' ' || rowid WHERE rowid = ?1",
);

/// Deletes the failed calls of a session.
pub(super) const DELETE_FAILED_CALLS: Query =
    Query::shared("drop_failed_calls", "DELETE FROM failed_calls WHERE session = ?1");
/// Adds a failed call.
pub(super) const INSERT_FAILED_CALL: Query = Query::shared(
    "put_failed_call",
    "INSERT INTO failed_calls (session, at, call, output_start) VALUES (?1, ?2, ?3, ?4)",
);
/// Failed calls in a time span, oldest first.
pub(super) const SELECT_FAILED_CALLS: Query = Query::shared(
    "failed_calls",
    "SELECT at, call, output_start FROM failed_calls WHERE at >= ?1 AND at < ?2 ORDER BY at, n",
);
/// Commands of failed calls.
pub(super) const SELECT_FAILED_COMMANDS: Query =
    Query::shared("erase_text_failed_calls", "SELECT n, call FROM failed_calls ORDER BY n");
/// Sets the command of a failed call.
pub(super) const UPDATE_FAILED_COMMAND: Query =
    Query::shared("erase_text_failed_call", "UPDATE failed_calls SET call = ?2 WHERE n = ?1");
/// Outputs of failed calls.
pub(super) const SELECT_FAILED_OUTPUTS: Query = Query::shared(
    "erase_text_failed_outputs",
    "SELECT n, output_start FROM failed_calls ORDER BY n",
);
/// Sets the output of a failed call.
pub(super) const UPDATE_FAILED_OUTPUT: Query = Query::shared(
    "erase_text_failed_output",
    "UPDATE failed_calls SET output_start = ?2 WHERE n = ?1",
);
/// Records a milestone, unless it is recorded already.
pub(super) const PASS_MILESTONE: Query = Query::shared(
    "pass_milestone",
    "INSERT INTO milestones (name, count, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
);
/// Recorded milestones.
pub(super) const SELECT_MILESTONES: Query =
    Query::shared("milestones", "SELECT name, count FROM milestones ORDER BY n");
/// Names of milestones.
pub(super) const SELECT_MILESTONE_NAMES: Query =
    Query::shared("erase_text_milestones", "SELECT n, name FROM milestones ORDER BY n");
/// Sets the name of a milestone.
pub(super) const UPDATE_MILESTONE_NAME: Query = Query::shared(
    "erase_text_milestone",
    "UPDATE milestones SET name = ?2 || ' ' || n WHERE n = ?1",
);

/// Texts of sessions and sightings.
pub(super) const LEARNING_COLUMNS: &[TextColumn] = &[
    (&SELECT_TASKS, &UPDATE_TASK),
    (&SELECT_EXTERNALS, &UPDATE_EXTERNAL),
    (&SELECT_EVIDENCE, &UPDATE_EVIDENCE),
    (&SELECT_KEYS, &UPDATE_KEY),
    (&SELECT_DROP_DETAILS, &UPDATE_DROP_DETAIL),
    (&SELECT_PATHS, &UPDATE_PATH),
];

/// Texts of failed calls and milestones, which older copies do not have.
pub(super) const FAILED_CALL_COLUMNS: &[TextColumn] = &[
    (&SELECT_FAILED_COMMANDS, &UPDATE_FAILED_COMMAND),
    (&SELECT_FAILED_OUTPUTS, &UPDATE_FAILED_OUTPUT),
    (&SELECT_MILESTONE_NAMES, &UPDATE_MILESTONE_NAME),
];

// The rest is for copies of schema version 5, such as the backup made before the migration to
// version 6. They have the same texts under older names. None of it is in `STATEMENTS`: no database
// of the newest schema can run it.

/// 1 if the file has the table of failed calls under its name of version 5.
pub(super) const HAS_FAILED_CALLS_5: Query = Query::local(
    "has_failed_calls_5",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'stumbles'",
);
/// Commands of failed calls, in version 5.
const SELECT_FAILED_COMMANDS_5: Query =
    Query::local("erase_text_failed_calls_5", "SELECT n, head FROM stumbles ORDER BY n");
/// Sets the command of a failed call, in version 5.
const UPDATE_FAILED_COMMAND_5: Query =
    Query::local("erase_text_failed_call_5", "UPDATE stumbles SET head = ?2 WHERE n = ?1");
/// Outputs of failed calls, in version 5.
const SELECT_FAILED_OUTPUTS_5: Query =
    Query::local("erase_text_failed_outputs_5", "SELECT n, beginning FROM stumbles ORDER BY n");
/// Sets the output of a failed call, in version 5.
const UPDATE_FAILED_OUTPUT_5: Query =
    Query::local("erase_text_failed_output_5", "UPDATE stumbles SET beginning = ?2 WHERE n = ?1");
/// Names of milestones, in version 5.
const SELECT_MILESTONE_NAMES_5: Query =
    Query::local("erase_text_milestones_5", "SELECT n, what FROM milestones ORDER BY n");
/// Sets the name of a milestone, in version 5.
const UPDATE_MILESTONE_NAME_5: Query = Query::local(
    "erase_text_milestone_5",
    "UPDATE milestones SET what = ?2 || ' ' || n WHERE n = ?1",
);
/// Texts of failed calls and milestones in copies of version 5.
pub(super) const FAILED_CALL_COLUMNS_5: &[TextColumn] = &[
    (&SELECT_FAILED_COMMANDS_5, &UPDATE_FAILED_COMMAND_5),
    (&SELECT_FAILED_OUTPUTS_5, &UPDATE_FAILED_OUTPUT_5),
    (&SELECT_MILESTONE_NAMES_5, &UPDATE_MILESTONE_NAME_5),
];

#[cfg(test)]
mod tests {
    use model::Deprecation;

    use super::*;

    #[test]
    fn sql_and_model_agree_on_the_reason_of_superseded_memories() {
        let pattern = format!("NOT LIKE '{}%'", Deprecation::SUPERSEDED_PREFIX);
        assert!(COUNT_JUDGED.sql.contains(&pattern), "{pattern}");
    }
}
