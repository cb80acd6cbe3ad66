//! The statements about sessions and what was seen in them. This file is a table.

use crate::query::{Query, both};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &PUT_SESSION,
    &DROP_FILES,
    &PUT_FILE,
    &DROP_SIGHTINGS,
    &PUT_SIGHTING,
    &LINK,
    &SESSION,
    &SESSIONS,
    &OF_PATTERN,
    &IN_SESSION,
    &OF_MEMORY,
    &EDITORS,
    &JUDGED,
    &ALL_FILES,
    &EDITED_BY_CHILDREN,
    &COUPLED,
    &EDITING,
    &FILES,
    &HAS_LESSONS,
    &FORGET,
    &TASKS,
    &SET_TASK,
    &EVIDENCE,
    &SET_EVIDENCE,
    &KEYS,
    &SET_KEY,
    &DETAILS,
    &SET_DETAIL,
    &EXTERNALS,
    &SET_EXTERNAL,
    &PATHS,
    &SET_PATH,
];

macro_rules! session_columns {
    () => {
        "id, parent, agent, type, outcome, validated, task, started, ended, steps, tokens, retries, external, print"
    };
}

macro_rules! sighting_columns {
    () => {
        "session, signal, key, times, tainted, evidence, memory, dropped, detail"
    };
}

pub(super) const PUT_SESSION: Query = both(
    "put_session",
    concat!(
        "INSERT INTO sessions (",
        session_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (id) DO UPDATE SET \
         parent = excluded.parent, agent = excluded.agent, type = excluded.type, outcome = excluded.outcome, \
         validated = excluded.validated, task = excluded.task, started = excluded.started, ended = excluded.ended, \
         steps = excluded.steps, tokens = excluded.tokens, retries = excluded.retries, external = excluded.external, \
         print = excluded.print"
    ),
);
pub(super) const DROP_FILES: Query =
    both("drop_session_files", "DELETE FROM session_files WHERE session = ?1");
pub(super) const PUT_FILE: Query = both(
    "put_session_file",
    "INSERT INTO session_files (session, path, reads, edits, first_step) VALUES (?1, ?2, ?3, ?4, ?5)",
);
pub(super) const DROP_SIGHTINGS: Query =
    both("drop_sightings", "DELETE FROM sightings WHERE session = ?1");
pub(super) const PUT_SIGHTING: Query = both(
    "put_sighting",
    concat!(
        "INSERT INTO sightings (",
        sighting_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    ),
);
// All sightings of a pattern speak for the memory made of it.
pub(super) const LINK: Query = both(
    "link_sightings",
    "UPDATE sightings SET memory = ?3 WHERE signal = ?1 AND key = ?2 AND memory IS NULL",
);
pub(super) const SESSION: Query =
    both("session", concat!("SELECT ", session_columns!(), " FROM sessions WHERE id = ?1"));
pub(super) const SESSIONS: Query =
    both("sessions", concat!("SELECT ", session_columns!(), " FROM sessions ORDER BY ended, id"));
pub(super) const OF_PATTERN: Query = both(
    "sightings_of_pattern",
    concat!(
        "SELECT ",
        sighting_columns!(),
        " FROM sightings WHERE signal = ?1 AND key = ?2 ORDER BY n"
    ),
);
pub(super) const IN_SESSION: Query = both(
    "sightings_in_session",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE session = ?1 ORDER BY n"),
);
pub(super) const OF_MEMORY: Query = both(
    "sightings_of_memory",
    concat!("SELECT ", sighting_columns!(), " FROM sightings WHERE memory = ?1 ORDER BY n"),
);
pub(super) const EDITORS: Query =
    both("editors", "SELECT count(*) FROM session_files WHERE path = ?1 AND edits > 0");
pub(super) const EDITING: Query =
    both("editing_sessions", "SELECT count(DISTINCT session) FROM session_files WHERE edits > 0");
pub(super) const FILES: Query = both(
    "session_files",
    "SELECT path, reads, edits, first_step FROM session_files WHERE session = ?1 ORDER BY first_step, path",
);
// What was superseded by something newer was not rejected by anyone.
pub(super) const JUDGED: Query = both(
    "judged",
    "SELECT count(*), coalesce(sum(deleted_at IS NOT NULL OR (deprecated_at IS NOT NULL AND \
     coalesce(deprecated_reason, '') NOT LIKE 'superseded%')), 0) FROM memories WHERE source = 'observer_inferred'",
);
pub(super) const COUPLED: Query = both(
    "coupled",
    "SELECT DISTINCT key, memory FROM sightings WHERE signal = 'co_access' AND memory IS NOT NULL ORDER BY key",
);
pub(super) const EDITED_BY_CHILDREN: Query = both(
    "edited_by_children",
    "SELECT f.session, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     WHERE s.parent = ?1 AND f.edits > 0 ORDER BY f.session, f.path",
);
pub(super) const ALL_FILES: Query = both(
    "all_session_files",
    "SELECT s.n, s.task, f.path FROM sessions s JOIN session_files f ON f.session = s.id \
     ORDER BY s.ended, s.id, f.first_step, f.path",
);
pub(super) const HAS_LESSONS: Query =
    both("has_lessons", "SELECT count(*) FROM sqlite_schema WHERE name = 'sightings'");
pub(super) const FORGET: Query =
    both("forget_sightings", "DELETE FROM sightings WHERE memory = ?1");
pub(super) const TASKS: Query = both("scrub_tasks", "SELECT n, task FROM sessions ORDER BY n");
pub(super) const SET_TASK: Query = both("scrub_task", "UPDATE sessions SET task = ?2 WHERE n = ?1");
pub(super) const EXTERNALS: Query = both(
    "scrub_externals",
    "SELECT n, external FROM sessions WHERE external IS NOT NULL ORDER BY n",
);
pub(super) const SET_EXTERNAL: Query =
    both("scrub_external", "UPDATE sessions SET external = ?2 WHERE n = ?1");
pub(super) const EVIDENCE: Query =
    both("scrub_evidence", "SELECT n, evidence FROM sightings ORDER BY n");
pub(super) const SET_EVIDENCE: Query =
    both("scrub_one_evidence", "UPDATE sightings SET evidence = ?2 WHERE n = ?1");
pub(super) const KEYS: Query = both("scrub_keys", "SELECT n, key FROM sightings ORDER BY n");
pub(super) const SET_KEY: Query =
    both("scrub_key", "UPDATE sightings SET key = ?2 || ' ' || n WHERE n = ?1");
pub(super) const DETAILS: Query =
    both("scrub_drops", "SELECT n, detail FROM sightings WHERE detail IS NOT NULL ORDER BY n");
pub(super) const SET_DETAIL: Query =
    both("scrub_drop", "UPDATE sightings SET detail = ?2 WHERE n = ?1");
pub(super) const PATHS: Query =
    both("scrub_session_paths", "SELECT rowid, path FROM session_files ORDER BY rowid");
pub(super) const SET_PATH: Query = both(
    "scrub_session_path",
    "UPDATE session_files SET path = ?2 || ' ' || rowid WHERE rowid = ?1",
);

/// The texts of lessons: how each is read, with what it is found by, and how it is written.
pub(crate) const TEXTS: &[(&Query, &Query)] = &[
    (&TASKS, &SET_TASK),
    (&EXTERNALS, &SET_EXTERNAL),
    (&EVIDENCE, &SET_EVIDENCE),
    (&KEYS, &SET_KEY),
    (&DETAILS, &SET_DETAIL),
    (&PATHS, &SET_PATH),
];
