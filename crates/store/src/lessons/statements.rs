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
    &RELINK,
    &SESSION,
    &SESSIONS,
    &OF_PATTERN,
    &IN_SESSION,
    &OF_MEMORY,
    &EDITORS,
    &JUDGED,
    &ALL_FILES,
    &TOUCHED,
    &TOUCHING,
    &TOUCHED_WITH,
    &EDITORS_IN,
    &EDITED_BY_CHILDREN,
    &COUPLED,
    &EDITING,
    &FILES,
    &HAS_LESSONS,
    &HAS_EXPERIENCE,
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
    &DROP_STUMBLES,
    &PUT_STUMBLE,
    &STUMBLES,
    &HEADS,
    &SET_HEAD,
    &BEGINNINGS,
    &SET_BEGINNING,
    &PASS_MILESTONE,
    &MILESTONES,
    &MILESTONE_NAMES,
    &SET_MILESTONE_NAME,
];

macro_rules! session_columns {
    () => {
        "id, parent, agent, type, outcome, validated, task, started, ended, steps, tokens, retries, external, print, planned"
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
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT (id) DO UPDATE SET \
         parent = excluded.parent, agent = excluded.agent, type = excluded.type, outcome = excluded.outcome, \
         validated = excluded.validated, task = excluded.task, started = excluded.started, ended = excluded.ended, \
         steps = excluded.steps, tokens = excluded.tokens, retries = excluded.retries, external = excluded.external, \
         print = excluded.print, planned = excluded.planned"
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
pub(super) const RELINK: Query =
    both("relink_sightings", "UPDATE sightings SET memory = ?2 WHERE memory = ?1");
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
// What was superseded by something newer, or faded unused, was not rejected by anyone.
pub(super) const JUDGED: Query = both(
    "judged",
    "SELECT count(*), coalesce(sum((deleted_at IS NOT NULL OR (deprecated_at IS NOT NULL AND \
     coalesce(deprecated_reason, '') NOT LIKE 'superseded%')) AND EXISTS (SELECT 1 FROM changes c JOIN audit a \
     ON a.batch = c.batch WHERE c.id = m.id AND a.action IN ('forget', 'flag'))), 0) \
     FROM memories m WHERE source = 'observer_inferred'",
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
pub(super) const TOUCHED: Query = both(
    "touched",
    "SELECT session, path, reads, edits, first_step FROM session_files ORDER BY session, first_step, path",
);
pub(super) const TOUCHING: Query =
    both("touching", "SELECT count(*) FROM session_files WHERE path = ?1");
// The newest sessions that touched a file say enough: what everybody touches is touched by many.
pub(super) const TOUCHED_WITH: Query = both(
    "touched_with",
    "SELECT b.path, count(*) FROM (SELECT session, first_step FROM session_files WHERE path = ?1 \
     ORDER BY session DESC LIMIT 32) a JOIN session_files b ON b.session = a.session AND b.path <> ?1 \
     AND abs(b.first_step - a.first_step) <= 5 \
     GROUP BY b.path HAVING count(*) > 1 ORDER BY count(*) DESC, b.path LIMIT 32",
);
/// As many as are looked at above.
pub(super) const NEWEST: u32 = 32;
// Below a folder, not deeper: `0` comes after `/`.
pub(super) const EDITORS_IN: Query = both(
    "editors_in",
    "SELECT count(DISTINCT session) FROM session_files WHERE path >= ?1 || '/' AND path < ?1 || '0' AND edits > 0 \
     AND instr(substr(path, length(?1) + 2), '/') = 0",
);
pub(super) const HAS_LESSONS: Query =
    both("has_lessons", "SELECT count(*) FROM sqlite_schema WHERE name = 'sightings'");
pub(super) const HAS_EXPERIENCE: Query =
    both("has_experience", "SELECT count(*) FROM sqlite_schema WHERE name = 'stumbles'");
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

pub(super) const DROP_STUMBLES: Query =
    both("drop_stumbles", "DELETE FROM stumbles WHERE session = ?1");
pub(super) const PUT_STUMBLE: Query = both(
    "put_stumble",
    "INSERT INTO stumbles (session, at, head, beginning) VALUES (?1, ?2, ?3, ?4)",
);
pub(super) const STUMBLES: Query = both(
    "stumbles",
    "SELECT at, head, beginning FROM stumbles WHERE at >= ?1 AND at < ?2 ORDER BY at, n",
);
pub(super) const HEADS: Query = both("scrub_heads", "SELECT n, head FROM stumbles ORDER BY n");
pub(super) const SET_HEAD: Query = both("scrub_head", "UPDATE stumbles SET head = ?2 WHERE n = ?1");
pub(super) const BEGINNINGS: Query =
    both("scrub_beginnings", "SELECT n, beginning FROM stumbles ORDER BY n");
pub(super) const SET_BEGINNING: Query =
    both("scrub_beginning", "UPDATE stumbles SET beginning = ?2 WHERE n = ?1");
pub(super) const PASS_MILESTONE: Query = both(
    "pass_milestone",
    "INSERT INTO milestones (what, mark, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
);
pub(super) const MILESTONES: Query =
    both("milestones", "SELECT what, mark FROM milestones ORDER BY n");
pub(super) const MILESTONE_NAMES: Query =
    both("scrub_milestones", "SELECT n, what FROM milestones ORDER BY n");
pub(super) const SET_MILESTONE_NAME: Query =
    both("scrub_milestone", "UPDATE milestones SET what = ?2 || ' ' || n WHERE n = ?1");

/// The texts of what the next session should expect, in files that have them.
pub(crate) const EXPERIENCE_TEXTS: &[(&Query, &Query)] =
    &[(&HEADS, &SET_HEAD), (&BEGINNINGS, &SET_BEGINNING), (&MILESTONE_NAMES, &SET_MILESTONE_NAME)];

/// The texts of lessons: how each is read, with what it is found by, and how it is written.
pub(crate) const TEXTS: &[(&Query, &Query)] = &[
    (&TASKS, &SET_TASK),
    (&EXTERNALS, &SET_EXTERNAL),
    (&EVIDENCE, &SET_EVIDENCE),
    (&KEYS, &SET_KEY),
    (&DETAILS, &SET_DETAIL),
    (&PATHS, &SET_PATH),
];
