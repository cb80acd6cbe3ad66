//! Novelty: a kept draft against the stored memories. The same statement confirms, a contradiction
//! supersedes, everything else is new. Pure.

use std::collections::HashMap;

use model::{
    Deprecation, DropReason, Memory, MemoryId, PerMille, Relation, RelationKind, RelationTarget,
    SignalKind, SoftStates,
};
use observe::{SessionOverview, Sighting};
use promote::{MAX_EARNED_CONFIDENCE, MemoryStatement, PromotionVerdict, StatementRelation};
use store::StoreChange;

use super::candidates::JudgedSighting;
use super::couplings::{fade_pattern, is_faded};
use super::fresh_memory::{FreshMemory, MAX_PROVENANCE, statement};
use super::protection::{has_user_wording, is_active, is_user_protected};
use super::session_index::SessionIndex;
use super::subagents::is_sibling;
use super::{DroppedCandidate, LearnedMemory, LessonEffect};

/// By how much a new confidence must exceed the old one, in per mille, for a text that only resembles
/// the stored one to raise it.
const CLEARLY_HIGHER: u16 = 100;
/// Per mille that a sibling's agreement adds.
const SIBLING_BONUS: u16 = 30;

/// The outcome of one sighting: a memory, or a reason why not, and the changes that follow.
pub(super) struct SightingOutcome {
    pub(super) sighting: Sighting,
    pub(super) changes: Vec<StoreChange>,
    pub(super) learned: Option<LearnedMemory>,
    pub(super) dropped: Option<DroppedCandidate>,
    /// The memory that the sighting supports although it was dropped.
    pub(super) memory: Option<MemoryId>,
}

/// Rule for the confidence that a confirmed memory takes over from the new draft.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConfidenceRule {
    /// Any higher one: the draft counts the same evidence and more.
    TakeHigher,
    /// Only a clearly higher one: the draft merely says something similar.
    TakeClearlyHigher,
}

/// Resolves all sightings of a session, in order: a later one is compared with what the earlier ones
/// became. `fresh` holds, for each sighting, the memory made of its draft if it was kept.
pub(super) fn resolve_sightings(
    session: &SessionOverview,
    judged: Vec<JudgedSighting>,
    fresh: Vec<Option<FreshMemory>>,
    known: &HashMap<MemoryId, Memory>,
    sessions: &SessionIndex,
) -> Vec<SightingOutcome> {
    let mut acc: Vec<SightingOutcome> = Vec::new();
    for (it, fresh) in judged.into_iter().zip(fresh) {
        let outcome = if it.is_kept() {
            let overtaken = fade_overtaken(session, &it.overtaken, known);
            let mut outcome = resolve(session, it, fresh, known, sessions, &acc);
            outcome.changes.extend(overtaken);
            outcome
        } else {
            let changes = fade_if_silent(session, &it, known);
            let verdict = it.verdict.clone();
            SightingOutcome { changes, ..drop_sighting(it, verdict) }
        };
        acc.push(outcome);
    }
    acc
}

fn resolve(
    session: &SessionOverview,
    judged: JudgedSighting,
    fresh: Option<FreshMemory>,
    known: &HashMap<MemoryId, Memory>,
    sessions: &SessionIndex,
    before: &[SightingOutcome],
) -> SightingOutcome {
    let Some(FreshMemory { memory: fresh, similar }) = fresh else {
        // Unreachable for a kept draft; a value instead of a panic, because learning must not fail.
        let verdict =
            PromotionVerdict::Dropped { reason: DropReason::SaysNothing, detail: String::new() };
        return drop_sighting(judged, verdict);
    };
    if let Some(old) = judged.memory.and_then(|it| known.get(&it)) {
        if is_confirmed_before(before, old.id) {
            return duplicate_of(old, judged);
        }
        // The draft was composed of all sightings of the pattern, so that its confidence includes the old.
        return reinforce(session, judged, old.clone(), fresh, ConfidenceRule::TakeHigher);
    }
    if !needs_comparison(judged.sighting.signal()) {
        return create(judged, fresh, LessonEffect::Created, Vec::new());
    }
    let mut known = similar;
    // Notes of one session can repeat one another, and none of them is stored yet.
    known.extend(before.iter().filter_map(|it| it.learned.as_ref()).map(|it| it.memory.clone()));
    known.retain(is_active);
    let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement).collect();
    match promote::find_nearest(&statement(&fresh), &statements) {
        Some((at, StatementRelation::Same | StatementRelation::Near { .. })) => {
            let old = known.swap_remove(at);
            if is_confirmed_before(before, old.id) {
                return duplicate_of(&old, judged);
            }
            let mut fresh = fresh;
            let mut rule = ConfidenceRule::TakeClearlyHigher;
            if is_sibling(session, old.session, sessions) {
                // Siblings work independently of one another, so their agreement is evidence.
                let raised = old.confidence.saturating_add(SIBLING_BONUS);
                fresh.confidence = fresh.confidence.max(raised.at_most(MAX_EARNED_CONFIDENCE));
                rule = ConfidenceRule::TakeHigher;
            }
            reinforce(session, judged, old, fresh, rule)
        }
        Some((at, StatementRelation::Contradicts { conflict })) => {
            supersede(judged, known.swap_remove(at), fresh, &conflict.to_string())
        }
        _ => create(judged, fresh, LessonEffect::Created, Vec::new()),
    }
}

/// Returns whether memories of a signal are compared by their text. Patterns have keys and are never two.
pub(super) fn needs_comparison(signal: SignalKind) -> bool {
    signal.row().textual && signal != SignalKind::ErrorRetry
}

/// Returns whether an earlier sighting of this session already created or confirmed a memory.
fn is_confirmed_before(before: &[SightingOutcome], id: MemoryId) -> bool {
    before.iter().any(|it| it.learned.as_ref().is_some_and(|it| it.memory.id == id))
}

/// The sighting says nothing beyond a stored memory that this session confirmed already.
fn duplicate_of(old: &Memory, judged: JudgedSighting) -> SightingOutcome {
    let detail = format!("#{} says the same", old.id.short());
    let verdict = PromotionVerdict::Dropped { reason: DropReason::Novelty, detail };
    SightingOutcome { memory: Some(old.id), ..drop_sighting(judged, verdict) }
}

/// This session becomes further evidence for a stored memory of the same pattern or meaning.
fn reinforce(
    session: &SessionOverview,
    judged: JudgedSighting,
    old: Memory,
    fresh: Memory,
    rule: ConfidenceRule,
) -> SightingOutcome {
    let was_faded = is_faded(&old);
    // What the user took away stays away; what learning took away may return.
    if !is_active(&old) && !was_faded {
        let detail = format!("#{} said it and was taken away", old.id.short());
        return drop_sighting(
            judged,
            PromotionVerdict::Dropped { reason: DropReason::Novelty, detail },
        );
    }
    let mut after = old.clone();
    // The first sessions stay: they explain how the memory came about.
    if !after.provenance.contains(&session.id) && after.provenance.len() < MAX_PROVENANCE {
        after.provenance.push(session.id);
    }
    if was_faded {
        after.states = SoftStates::default();
    }
    let is_same_pattern = judged.memory == Some(old.id);
    let mut effect = LessonEffect::Confirmed;
    // A pattern seen once more has better numbers; a similar sentence is no reason to reword.
    if is_same_pattern && !has_user_wording(&old) && old.content != fresh.content {
        (after.content, after.summary, after.citation) =
            (fresh.content, fresh.summary, fresh.citation);
        (after.payload, after.files, after.modules) = (fresh.payload, fresh.files, fresh.modules);
        effect = LessonEffect::Updated;
    }
    let is_clearly_higher =
        fresh.confidence.get() >= old.confidence.get().saturating_add(CLEARLY_HIGHER);
    // External text never raises a confidence.
    if (is_clearly_higher || rule == ConfidenceRule::TakeHigher) && !fresh.flags.tainted {
        after.confidence = after.confidence.max(fresh.confidence);
    }
    let mut changes = Vec::new();
    // Learning the same session again must not create a version.
    if after != old {
        after.updated_at = after.updated_at.max(session.ended);
        changes.push(StoreChange::Replace(Box::new(after.clone())));
    }
    let signal = Some(judged.sighting.signal());
    let learned = Some(LearnedMemory { signal, memory: after, effect });
    SightingOutcome { sighting: judged.sighting, changes, learned, dropped: None, memory: None }
}

/// The newer statement replaces the older one, unless the user protects the older one.
fn supersede(
    judged: JudgedSighting,
    old: Memory,
    mut fresh: Memory,
    what: &str,
) -> SightingOutcome {
    // What is doubtful itself must not remove what is believed.
    if is_user_protected(&old) || fresh.flags.tainted || fresh.flags.needs_review {
        let detail = format!("contradicts #{} ({what})", old.id.short());
        return drop_sighting(
            judged,
            PromotionVerdict::Dropped { reason: DropReason::Novelty, detail },
        );
    }
    // The relation lets a user see what was replaced, and undo restore it.
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    fresh.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto: true });
    let mut retired = old.clone();
    retired.states.deprecate(&Deprecation::superseded_by(fresh.id), fresh.updated_at);
    let changes = vec![StoreChange::Replace(Box::new(retired))];
    create(judged, fresh, LessonEffect::Superseded(old.id), changes)
}

fn create(
    judged: JudgedSighting,
    memory: Memory,
    effect: LessonEffect,
    mut changes: Vec<StoreChange>,
) -> SightingOutcome {
    changes.push(StoreChange::Insert(Box::new(memory.clone())));
    let learned = Some(LearnedMemory { signal: Some(judged.sighting.signal()), memory, effect });
    SightingOutcome { sighting: judged.sighting, changes, learned, dropped: None, memory: None }
}

fn drop_sighting(judged: JudgedSighting, verdict: PromotionVerdict) -> SightingOutcome {
    let (reason, detail) = match verdict {
        PromotionVerdict::Dropped { reason, detail } => (reason, detail),
        PromotionVerdict::Keep { .. } => (DropReason::Budget, String::new()),
    };
    let JudgedSighting { sighting, draft, memory, .. } = judged;
    let dropped = DroppedCandidate {
        signal: sighting.signal(),
        key: sighting.key.as_str().to_owned(),
        content: draft.map(|it| it.content),
        reason,
        detail,
    };
    SightingOutcome { sighting, changes: Vec::new(), learned: None, dropped: Some(dropped), memory }
}

/// Fades the memory of a pattern about which all sessions together no longer say anything.
fn fade_if_silent(
    session: &SessionOverview,
    judged: &JudgedSighting,
    known: &HashMap<MemoryId, Memory>,
) -> Vec<StoreChange> {
    let is_silent =
        matches!(judged.verdict, PromotionVerdict::Dropped { reason: DropReason::SaysNothing, .. });
    // A sentence that is not repeated is not refuted by that; only a pattern is.
    let id = judged.memory.filter(|_| is_silent && !judged.sighting.signal().row().textual);
    fade_overtaken(session, id.as_slice(), known)
}

/// Fades memories whose pattern has become part of another, unless the user confirmed them.
fn fade_overtaken(
    session: &SessionOverview,
    ids: &[MemoryId],
    known: &HashMap<MemoryId, Memory>,
) -> Vec<StoreChange> {
    let memories = ids.iter().filter_map(|it| known.get(it));
    let may_fade = |it: &&Memory| is_active(it) && !it.flags.user_verified;
    memories.filter(may_fade).map(|it| fade_pattern(it.clone(), session.ended)).collect()
}
