//! Work units: one memory per planned piece of work, with its result. Pure.
//!
//! A host can name the unit (such as a subtask of a plan) that a session works on. Every session on
//! the unit updates the same memory, so that the next one knows what was done. Sessions without a
//! unit create no such memory. For example:
//!
//! ```text
//! Subtask 3 is done: it changed `src/queue.rs`, `src/retry.rs`.
//! Subtask 4 was tried and failed after changing no file. The last that failed: “error[E0308]”.
//! ```
//!
//! A session is *validated* if the host, its checks or later commits show that its work holds.

use model::{
    Memory, MemoryKind, MemoryScope, MemoryType, Payload, PerMille, ProjectPath, SessionOutcome,
    WorkUnit, WorkUnitOutcome,
};
use observe::{MemoryDraft, ModuleLookup, Scratchpad, SessionOverview};
use promote::PromotionVerdict;
use store::StoreChange;

use super::fresh_memory::FreshMemory;
use super::protection::is_active;
use crate::text_admission::mask_label;

/// Confidence of a result that the host or the checks confirmed.
const OUTCOME_CONFIDENCE: PerMille = PerMille::new(850);
/// Most changed files that the text names.
const MAX_NAMED_FILES: usize = 6;
/// Most modules that the memory is about.
const MAX_MODULES: usize = 4;
/// Longest decision or failure in the text, in characters.
const MAX_DETAIL_CHARS: usize = 200;
/// Longest label of a unit, in characters.
const MAX_LABEL_CHARS: usize = 120;
/// Most stored results among which the earlier one of the unit is searched.
pub(super) const MAX_STORED_OUTCOMES: u32 = 1_000;

/// A unit of work as one session reports it.
pub(super) struct WorkUnitReport {
    unit: WorkUnit,
    /// Notes of the type decision that the agent recorded.
    decisions: Vec<String>,
    /// The last error message of the session.
    last_failure: Option<String>,
}

impl WorkUnitReport {
    /// Extracts the report from a scratchpad; `None` if the host named no unit.
    pub(super) fn from_scratchpad(pad: &Scratchpad) -> Option<Self> {
        let unit = pad.work_unit.clone()?;
        let mut decisions = Vec::new();
        for (order, note) in &pad.notes {
            // The result is told to later sessions, so no outside text may be in it.
            if note.kind.core_kind() == Some(MemoryKind::Decision) && !pad.is_tainted(*order) {
                decisions.push(mask_label(&note.content, MAX_DETAIL_CHARS));
            }
        }
        let last_error = pad.errors.iter().rfind(|it| !pad.is_tainted(it.order));
        let last_failure = last_error.map(|it| mask_label(&it.display_line, MAX_DETAIL_CHARS));
        Some(Self { unit, decisions, last_failure })
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
        // Not failed and not validated: the work is still open.
        (_, None) => return None,
    };
    Some(compose_outcome(session, report, succeeded, modules))
}

/// Returns the verdict on a result. It is not judged like a draft, because the host or the checks
/// have decided already. The host wrote the name of the unit: a text that reads like an instruction
/// waits for the user.
pub(super) fn outcome_verdict(content: &str) -> PromotionVerdict {
    PromotionVerdict::Keep {
        confidence: OUTCOME_CONFIDENCE,
        score: OUTCOME_CONFIDENCE,
        // The name of a unit holds no address.
        needs_review: promote::detect_instruction(content).is_some() || content.contains("://"),
        tainted: false,
        candidate: false,
    }
}

/// Returns the change that stores a result: an update of the unit's earlier memory, or else a new
/// memory. `None` if the earlier one is up to date. `fresh.similar` holds the stored results of all
/// units, the earlier one of this unit among them.
pub(super) fn plan_outcome_change(
    fresh: FreshMemory,
    report: WorkUnitReport,
) -> Option<StoreChange> {
    let FreshMemory { memory: mut fresh, similar } = fresh;
    fresh.scope = MemoryScope::WorkUnit;
    fresh.work_unit = Some(report.unit);
    // A note of an agent about the unit keeps its own words.
    let is_earlier =
        |it: &Memory| it.work_unit == fresh.work_unit && it.source == fresh.source && is_active(it);
    let earlier = similar.into_iter().find(is_earlier);
    match earlier {
        None => Some(StoreChange::Insert(Box::new(fresh))),
        Some(earlier) => {
            update_outcome(earlier, fresh).map(|it| StoreChange::Replace(Box::new(it)))
        }
    }
}

/// Composes the text and payload of a result.
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
        format!("{label} was tried and failed after changing {files}.")
    };
    if let Some(reason) = &failure_reason {
        content = format!("{content} The last that failed: “{reason}”.");
    }

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
    let mut edited_modules: Vec<String> =
        edited.iter().map(|it| modules.module_of_file(it.as_str()).to_owned()).collect();

    // Files in the root folder belong to no module.
    edited_modules.retain(|it| !it.is_empty());

    // Not sorted: the modules stay in the order in which the session came to them.
    edited_modules.dedup();
    edited_modules.truncate(MAX_MODULES);
    MemoryDraft {
        kind: MemoryType::Core(MemoryKind::WorkUnitOutcome),
        content,
        files: edited,
        modules: edited_modules,
        tags: Vec::new(),
        payload: Some(payload),
        scope: None,
        is_confirmed: false,
        wish: None,
    }
}

/// Returns the stored result with the text of a later session; `None` if the text is the same, or
/// the session is older and was learned late.
fn update_outcome(old: Memory, fresh: Memory) -> Option<Memory> {
    if fresh.updated_at < old.updated_at || old.content == fresh.content {
        return None;
    }
    // All sessions on the unit stay in the provenance, also those that failed.
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
