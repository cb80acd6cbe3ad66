//! Work units: the result of a planned piece of work, one memory per unit, updated by every session
//! that works on it. Pure.
//!
//! Sessions without a unit leave no such memory: their work is in the index of sessions, and a note
//! about each of them would not change what an agent does.

use model::{
    Actor, Memory, MemoryKind, MemoryScope, MemorySource, MemoryType, Payload, PerMille,
    ProjectPath, SessionOutcome, WorkUnit, WorkUnitOutcome,
};
use observe::{MemoryDraft, ModuleLookup, Scratchpad, SessionOverview};
use promote::PromotionVerdict;
use store::StoreChange;

use super::fresh_memory::FreshMemory;
use super::protection::is_active;
use crate::text_admission::mask_label;

/// Confidence of a result that the host or the checks confirmed.
const OUTCOME_CONFIDENCE: PerMille = PerMille::new(850);
/// Changed files that the text names.
const MAX_NAMED_FILES: usize = 6;
/// Modules that the memory is about.
const MAX_MODULES: usize = 4;
/// Lengths, in characters, of a decision or failure, and of the unit's label.
const MAX_DETAIL_CHARS: usize = 200;
const MAX_LABEL_CHARS: usize = 120;
/// Stored results among which the unit's earlier one is looked for.
pub(super) const MAX_STORED_OUTCOMES: u32 = 1_000;

/// A unit of work as one session reports it.
pub(super) struct WorkUnitReport {
    unit: WorkUnit,
    decisions: Vec<String>,
    last_failure: Option<String>,
}

impl WorkUnitReport {
    /// `None` if the host named no unit.
    pub(super) fn from_scratchpad(pad: &Scratchpad) -> Option<Self> {
        let is_decision = |it: &MemoryType| it.core_kind() == Some(MemoryKind::Decision);
        let notes = pad.notes.iter().map(|it| &it.1).filter(|it| is_decision(&it.kind));
        Some(Self {
            unit: pad.work_unit.clone()?,
            decisions: notes.map(|it| mask_label(&it.content, MAX_DETAIL_CHARS)).collect(),
            last_failure: pad
                .errors
                .last()
                .map(|it| mask_label(&it.display_line, MAX_DETAIL_CHARS)),
        })
    }
}

/// Drafts the result of a unit; `None` for work that is neither done nor failed yet.
pub(super) fn draft_outcome(
    session: &SessionOverview,
    report: &WorkUnitReport,
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    let succeeded = match (session.outcome, session.validation_basis) {
        (SessionOutcome::Failure, _) => false,
        (_, Some(_)) => true,
        _ => return None,
    };
    Some(compose_outcome(session, report, succeeded, modules))
}

/// The verdict on a result. It needs no judging: the host or the checks decided.
pub(super) const fn outcome_verdict() -> PromotionVerdict {
    PromotionVerdict::Keep {
        confidence: OUTCOME_CONFIDENCE,
        score: OUTCOME_CONFIDENCE,
        needs_review: false,
        tainted: false,
    }
}

/// The change that stores a result: a new memory, or an update of the unit's earlier one, which is
/// among the similar memories.
pub(super) fn store_outcome(fresh: FreshMemory, report: WorkUnitReport) -> Option<StoreChange> {
    let FreshMemory { memory: mut fresh, similar } = fresh;
    fresh.created_by = Actor::Observer;
    fresh.source = MemorySource::ObserverInferred;
    fresh.scope = MemoryScope::WorkUnit;
    fresh.work_unit = Some(report.unit);
    let earlier = similar.into_iter().find(|it| it.work_unit == fresh.work_unit && is_active(it));
    match earlier {
        None => Some(StoreChange::Insert(Box::new(fresh))),
        Some(earlier) => {
            update_outcome(earlier, fresh).map(|it| StoreChange::Replace(Box::new(it)))
        }
    }
}

/// The stored result with the text of a later session. An older session, learned late, changes
/// nothing.
fn update_outcome(old: Memory, fresh: Memory) -> Option<Memory> {
    if fresh.updated_at < old.updated_at || old.content == fresh.content {
        return None;
    }
    // Every session on the unit stays on record, also those that failed.
    let mut provenance = old.provenance.clone();
    provenance.extend(fresh.provenance.iter().filter(|it| !old.provenance.contains(it)));
    Some(Memory {
        content: fresh.content,
        summary: fresh.summary,
        citation: fresh.citation,
        payload: fresh.payload,
        files: fresh.files,
        modules: fresh.modules,
        updated_at: fresh.updated_at,
        provenance,
        ..old
    })
}

fn compose_outcome(
    session: &SessionOverview,
    report: &WorkUnitReport,
    succeeded: bool,
    modules: &ModuleLookup,
) -> MemoryDraft {
    let edited: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    let named: Vec<String> =
        edited.iter().take(MAX_NAMED_FILES).map(|it| format!("`{it}`")).collect();
    let files = if named.is_empty() { "no file".to_owned() } else { named.join(", ") };
    let label = mask_label(&report.unit.label, MAX_LABEL_CHARS);
    let failure_reason = report.last_failure.clone().filter(|_| !succeeded);
    let mut content = if succeeded {
        format!("{label} is done: it changed {files}.")
    } else {
        let why = failure_reason.as_ref().map(|it| format!(" The last that failed: “{it}”."));
        format!("{label} was tried and failed after changing {files}.{}", why.unwrap_or_default())
    };
    // Decisions explain the result to the next session on the unit.
    for decision in &report.decisions {
        content.push(' ');
        content.push_str(decision);
    }
    let payload = Payload::WorkUnitOutcome(WorkUnitOutcome {
        succeeded,
        files_modified: edited.clone(),
        decisions: report.decisions.clone(),
        steps: session.steps,
        tokens: session.tokens,
        retries: session.retries,
        failure_reason,
    });
    let mut about: Vec<String> =
        edited.iter().map(|it| modules.module_of_file(it.as_str()).to_owned()).collect();
    about.retain(|it| !it.is_empty());
    about.dedup();
    about.truncate(MAX_MODULES);
    MemoryDraft {
        kind: MemoryType::Core(MemoryKind::WorkUnitOutcome),
        content,
        files: edited,
        modules: about,
        tags: Vec::new(),
        payload: Some(payload),
        sessions: Vec::new(),
    }
}
