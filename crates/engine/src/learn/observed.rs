//! A session as its events show it, before anything stored is consulted. Pure.

use model::{DAY_MS, SessionId, SessionOutcome, Timestamp};
use observe::{ModuleLookup, Scratchpad, SessionOverview, Sighting};
use store::{FailedCallRow, SessionRow, TouchedFileRow};

use super::LearnedSession;
use super::work_unit::WorkUnitReport;
use crate::text_admission::mask_label;

/// Version of the learning rules. Raised when the same events would teach something else, so that
/// every session is learned again.
const LEARNING_VERSION: u32 = 2;
/// Largest accepted lead of the host's clock, in milliseconds.
const MAX_CLOCK_LEAD_MS: i64 = 30 * DAY_MS;
/// Longest stored task, in characters.
pub(super) const MAX_TASK_CHARS: usize = 400;
/// Longest stored name of an external source, in characters.
const MAX_EXTERNAL_CHARS: usize = 200;
/// Failed calls stored per session, and the lengths stored of each, in characters.
const MAX_FAILED_CALLS: usize = 200;
const MAX_CALL_CHARS: usize = 80;
const MAX_OUTPUT_CHARS: usize = 200;

/// The part of a session that is learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionExtent {
    Whole,
    /// The session is still running; some of its subtasks have succeeded.
    FinishedSubtasks,
}

/// A session with everything its events show.
pub(super) struct ObservedSession {
    pub(super) session: SessionOverview,
    /// Identifies the events that were learned; see [`fingerprint`].
    pub(super) fingerprint: String,
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
        // A host whose clock is years ahead must not create memories dated in the future.
        let latest = now.plus_millis(MAX_CLOCK_LEAD_MS);
        (session.started, session.ended) = (session.started.min(latest), session.ended.min(latest));
        if extent == SessionExtent::FinishedSubtasks {
            // A later subtask can still fail the checks, so nothing validates the whole yet.
            (session.validation_basis, session.outcome) = (None, SessionOutcome::Partial);
        }
        Some(Self {
            session,
            // Of the events only: later evidence does not change it.
            fingerprint: fingerprint(pad),
            sightings: observe::detect_sightings(pad, modules),
            failed_calls: pad
                .failed_calls
                .iter()
                .take(MAX_FAILED_CALLS)
                .map(failed_call_row)
                .collect(),
            work_unit: WorkUnitReport::from_scratchpad(pad),
            extent,
        })
    }

    pub(super) fn id(&self) -> SessionId {
        self.session.id
    }

    /// The session as the store keeps it, secrets masked.
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
            fingerprint: self.fingerprint.clone(),
            planned_steps: session.planned_steps,
        }
    }

    /// Masks secrets in the sightings. Must run before any of them is stored or quoted.
    pub(super) fn mask_secrets(&mut self) {
        let mask = |text: &mut String| {
            if !secrets::scan(text).is_empty() {
                *text = secrets::redact(text).text;
            }
        };
        for sighting in &mut self.sightings {
            sighting.map_texts(mask);
        }
    }
}

/// The files of a session as the store keeps them.
pub(super) fn file_rows(session: &SessionOverview) -> Vec<TouchedFileRow> {
    let row = |it: &observe::FileActivity| TouchedFileRow {
        path: it.path.clone(),
        reads: it.reads,
        edits: it.edits,
        first_step: it.first_step,
    };
    session.files.iter().map(row).collect()
}

/// The result for a session that needs no learning, given its stored row; `None` if it does.
pub(super) fn already_learned(row: &SessionRow, stored: &SessionRow) -> Option<LearnedSession> {
    if is_shorter(row, stored) {
        let notice = format!(
            "session #{} was learned already, from a longer log; this one was left",
            row.id.short()
        );
        return Some(LearnedSession::unchanged(row.clone(), vec![notice]));
    }
    // Validation and outcome can change later, when git shows what became of the edits.
    let is_same = stored.fingerprint == row.fingerprint
        && stored.validation_basis == row.validation_basis
        && stored.outcome == row.outcome;
    is_same.then(|| LearnedSession::unchanged(row.clone(), Vec::new()))
}

/// Returns whether a log is a truncated copy, or a shorter session under the same id. Of two such logs the
/// longer one is learned whichever comes first, so that learning both again changes nothing.
fn is_shorter(row: &SessionRow, stored: &SessionRow) -> bool {
    row.fingerprint != stored.fingerprint && (row.steps, row.ended) < (stored.steps, stored.ended)
}

/// Fingerprint of a session's events. A session that continues gets another one.
fn fingerprint(pad: &Scratchpad) -> String {
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
        output_start: mask_label(&it.output_start, MAX_OUTPUT_CHARS),
    }
}
