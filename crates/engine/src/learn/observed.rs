//! A session as its events show it: summary, sightings, failed calls and work unit. Pure.
//!
//! This is the first step of learning. The input is the *scratchpad*, the state of the session that is
//! folded from its events. `load` adds what git and other sessions show, and compares the result with
//! the lesson that is stored for the same session.
//!
//! A *sighting* is one occurrence of a pattern, such as two files edited together; a *work unit* is a
//! planned piece of work, such as a ticket, that the host names.

use model::{DAY_MS, SessionId, SessionOutcome, Timestamp};
use observe::{ModuleLookup, Scratchpad, SessionOverview, Sighting};
use store::{FailedCallRow, SessionRow, TouchedFileRow};

use super::work_unit::WorkUnitReport;
use crate::text_admission::{mask_label, mask_secrets_in_text};

/// Version of the learning rules. Raise it when the same events would teach something else: every
/// session is then learned again.
const LEARNING_VERSION: u32 = 5;
/// Farthest that a session's times may lie in the future, in milliseconds.
const MAX_CLOCK_LEAD_MS: i64 = 30 * DAY_MS;
/// Longest stored task, in characters.
pub(super) const MAX_TASK_CHARS: usize = 400;
/// Longest stored name of an external source, in characters.
pub(super) const MAX_EXTERNAL_CHARS: usize = 200;
/// Most failed calls stored per session.
const MAX_FAILED_CALLS: usize = 200;
/// Longest stored command of a failed call, in characters.
const MAX_CALL_CHARS: usize = 120;
/// Longest stored output of a failed call, in characters.
const MAX_OUTPUT_CHARS: usize = 200;

/// The part of a session that is learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionExtent {
    /// The session is over.
    Whole,
    /// The session is still running. Only notes from subtasks whose checks passed are learned.
    FinishedSubtasks,
}

/// The state of the lesson that is stored for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredLesson {
    /// The session has continued, or its validation or outcome has changed.
    Outdated,
    UpToDate,
    /// The present log is a truncated copy, or a shorter session under the same id. The longer log
    /// wins, so that learning both in any order gives the same result.
    FromLongerLog,
}

/// A session with everything its events show.
pub(super) struct ObservedSession {
    pub(super) session: SessionOverview,
    /// Changes when the session continues; see [`progress_key`].
    pub(super) progress_key: String,
    pub(super) sightings: Vec<Sighting>,
    pub(super) failed_calls: Vec<FailedCallRow>,
    pub(super) work_unit: Option<WorkUnitReport>,
    pub(super) extent: SessionExtent,
}

impl ObservedSession {
    /// Summarises a scratchpad; `None` before its first event.
    pub(super) fn from_scratchpad(
        pad: &Scratchpad,
        modules: &ModuleLookup,
        extent: SessionExtent,
        now: Timestamp,
    ) -> Option<Self> {
        let mut session = observe::summarise_session(pad)?;
        // The times come from the host's clock. A clock that is years ahead would create memories
        // that never age, so both times are limited.
        let latest = now.plus_millis(MAX_CLOCK_LEAD_MS);
        (session.started, session.ended) = (session.started.min(latest), session.ended.min(latest));
        if extent == SessionExtent::FinishedSubtasks {
            // A later subtask can still fail its checks, so the session as a whole is not validated
            // yet.
            (session.validation_basis, session.outcome) = (None, SessionOutcome::Partial);
        }
        let failed_calls = pad.failed_calls.iter().take(MAX_FAILED_CALLS).map(failed_call_row);
        let failed_calls = failed_calls.collect();
        Some(Self {
            session,
            progress_key: progress_key(pad),
            sightings: observe::detect_sightings(pad, modules),
            failed_calls,
            // The label of a work unit is text, too.
            work_unit: WorkUnitReport::from_scratchpad(pad).filter(|_| !pad.is_foreign()),
            extent,
        })
    }

    /// Taints every sighting of a session whose record is foreign: not only the agent's words, also those of
    /// the user and the answers of tools may be invented.
    pub(super) fn taint_foreign(&mut self, pad: &Scratchpad) {
        if pad.is_foreign() {
            self.sightings.iter_mut().for_each(|it| it.tainted = true);
        }
    }

    pub(super) fn id(&self) -> SessionId {
        self.session.id
    }

    /// Converts the session to its stored form, with secrets masked.
    pub(super) fn to_row(&self) -> SessionRow {
        let session = &self.session;
        SessionRow {
            id: session.id,
            parent: session.parent,
            agent: session.agent.clone(),
            kind: session.kind,
            outcome: session.outcome,
            validation_basis: session.validation_basis,
            task: mask_label(&session.task, MAX_TASK_CHARS),
            started: session.started,
            ended: session.ended,
            steps: session.steps,
            tokens: session.tokens,
            retries: session.retries,
            external: session.external.as_ref().map(|it| mask_label(it, MAX_EXTERNAL_CHARS)),
            progress_key: self.progress_key.clone(),
            planned_steps: session.planned_steps,
        }
    }

    /// Masks secrets in the texts of the sightings. Must run before a sighting is stored or quoted;
    /// the other fields are masked where they are converted to rows.
    pub(super) fn mask_sightings(&mut self) {
        for sighting in &mut self.sightings {
            sighting.map_texts(mask_secrets_in_text);
        }
    }
}

/// Converts the files of a session to their stored form.
pub(super) fn file_rows(session: &SessionOverview) -> Vec<TouchedFileRow> {
    let to_row = |it: &observe::FileActivity| TouchedFileRow {
        path: it.path.clone(),
        reads: it.reads,
        edits: it.edits,
        first_step: it.first_step,
    };
    session.files.iter().map(to_row).collect()
}

/// Compares a session with the row that an earlier lesson stored for it.
pub(super) fn compare_with_stored(row: &SessionRow, stored: &SessionRow) -> StoredLesson {
    let has_same_events = row.progress_key == stored.progress_key;
    if !has_same_events && (row.steps, row.ended) < (stored.steps, stored.ended) {
        return StoredLesson::FromLongerLog;
    }
    // Validation and outcome can change later, when git shows what became of the edits.
    if has_same_events
        && row.validation_basis == stored.validation_basis
        && row.outcome == stored.outcome
    {
        return StoredLesson::UpToDate;
    }
    StoredLesson::Outdated
}

/// A key that tells whether a session has new events since it was learned. Computed from the number
/// of events and steps and the end, not from the content: a log only grows at its end.
fn progress_key(pad: &Scratchpad) -> String {
    let ended = pad.ended.unwrap_or_default().0;
    model::fingerprint_text(&format!(
        "{LEARNING_VERSION} {} {} {ended}",
        pad.n_events(),
        pad.n_steps()
    ))
}

fn failed_call_row(it: &observe::FailedCall) -> FailedCallRow {
    FailedCallRow {
        at: it.at,
        call: mask_label(&it.head, MAX_CALL_CHARS),
        output_start: mask_label(&it.message, MAX_OUTPUT_CHARS),
    }
}
