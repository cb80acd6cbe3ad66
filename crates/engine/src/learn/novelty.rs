//! Novelty: compares what a session teaches with the stored memories. Pure.
//!
//! A *sighting* is one occurrence of a pattern in this session: an error and its fix, a note that the
//! agent recorded. A *draft* is the sentence that all sightings of the
//! pattern support, and the *verdict* says whether that sentence is good enough to keep; both come
//! from `candidates`. For a kept draft "the limit is 5" there are four outcomes:
//!
//! | stored memory | outcome |
//! |---|---|
//! | made from the same pattern by an earlier session | confirmed: this session is more evidence |
//! | says the same in other words | confirmed |
//! | "the limit is 3" | superseded: deprecated in favour of the new memory |
//! | nothing similar | the draft becomes a new memory |
//!
//! A stored *candidate* (a claim that was not sure) that says the same becomes live, see
//! `candidate_promotion`.
//!
//! The output is one [`SightingOutcome`] per sighting, with the changes to write. *Tainted* means
//! derived from text outside the project, which earns no trust.

use std::collections::HashMap;

use model::{
    Deprecation, DropReason, Memory, MemoryId, PerMille, Relation, RelationKind, RelationTarget,
    SignalKind, Timestamp,
};
use observe::{SessionOverview, Sighting};
use promote::{MAX_EARNED_CONFIDENCE, MemoryStatement, PromotionVerdict, StatementRelation};
use store::StoreChange;

use super::candidate_promotion::{doubt, is_expired_candidate, is_promoted, promote_candidate};
use super::candidates::JudgedSighting;
use super::fresh_memory::{FreshMemory, MAX_PROVENANCE};
use super::protection::{has_user_wording, is_active, is_user_protected};
use super::session_index::SessionIndex;
use super::subagents::is_sibling;
use super::{DroppedCandidate, LearnedMemory, LessonEffect};
use crate::draft_resolution::statement_of;

/// Margin in per mille by which the confidence of a similar draft must exceed the stored one to
/// raise it.
const CLEARLY_HIGHER_MARGIN: u16 = 100;
/// Confidence in per mille that the agreement of a sibling adds.
const SIBLING_BONUS: u16 = 30;

/// The outcome of one sighting. Exactly one of `learned` and `dropped` is set.
pub(super) struct SightingOutcome {
    pub(super) sighting: Sighting,
    /// Changes of memories that follow from the outcome.
    pub(super) changes: Vec<StoreChange>,
    pub(super) learned: Option<LearnedMemory>,
    pub(super) dropped: Option<DroppedCandidate>,
    /// For a dropped sighting, the stored memory that it supports.
    pub(super) memory: Option<MemoryId>,
}

/// The condition under which a confirmed memory takes over the confidence of the draft.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConfidenceRule {
    /// If it is higher: the draft includes the evidence of the memory.
    TakeHigher,
    /// Only if it is higher by a margin: the draft is merely similar.
    TakeClearlyHigher,
}

/// Resolves all sightings of a session in order, because a later one is compared with the memories
/// of the earlier ones. `fresh` holds, for each sighting, the memory built from its draft if it was
/// kept. `known` holds the stored memories that earlier sessions made from the same patterns.
pub(super) fn resolve_sightings(
    session: &SessionOverview,
    judged: Vec<JudgedSighting>,
    fresh: Vec<Option<FreshMemory>>,
    known: &HashMap<MemoryId, Memory>,
    sessions: &SessionIndex,
) -> Vec<SightingOutcome> {
    let mut outcomes: Vec<SightingOutcome> = Vec::new();
    let mut planned = PlannedMemories { known, changed: HashMap::new() };
    for (judged, fresh) in judged.into_iter().zip(fresh) {
        let mut outcome = match judged.verdict.clone() {
            PromotionVerdict::Keep { .. } => {
                resolve_kept(session, judged, fresh, &planned, sessions, &outcomes)
            }
            PromotionVerdict::Dropped { reason, detail } => drop_sighting(judged, reason, detail),
        };
        retract_superseded_note(&mut outcomes, &mut outcome);
        planned.record(&outcome.changes);
        outcomes.push(outcome);
    }
    outcomes
}

/// The memories as the changes planned so far leave them.
///
/// Later sightings of a session must see the effect of the earlier ones. Otherwise two of them could
/// change the same stored version of a memory, and the store would refuse the whole batch.
struct PlannedMemories<'a> {
    /// As stored.
    known: &'a HashMap<MemoryId, Memory>,
    /// As the planned changes leave them. Has precedence over `known`.
    changed: HashMap<MemoryId, Memory>,
}

impl PlannedMemories<'_> {
    fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.changed.get(&id).or_else(|| self.known.get(&id))
    }

    /// Returns the planned state of a memory, or `stored` itself if no change is planned.
    fn current(&self, stored: Memory) -> Memory {
        self.changed.get(&stored.id).cloned().unwrap_or(stored)
    }

    fn record(&mut self, changes: &[StoreChange]) {
        for change in changes {
            if let StoreChange::Insert(memory) | StoreChange::Replace(memory) = change {
                self.changed.insert(memory.id, memory.as_ref().clone());
            }
        }
    }
}

/// If a note supersedes one that the same session made, the older note never becomes a memory: the
/// session corrected itself. The newer note then supersedes what the older one superseded.
///
/// Example: the store holds "the limit is 3"; the session notes "the limit is 4", then "the limit is
/// 5". The note about 4 is dropped, and the note about 5 supersedes the stored memory.
fn retract_superseded_note(before: &mut [SightingOutcome], outcome: &mut SightingOutcome) {
    let Some(learned) = &mut outcome.learned else { return };
    let LessonEffect::Superseded(retracted_id) = learned.effect else { return };
    let is_insert =
        |it: &StoreChange| matches!(it, StoreChange::Insert(memory) if memory.id == retracted_id);

    // A stored memory stays; only a note that is not written yet can be retracted.
    let Some(earlier) = before.iter_mut().find(|it| it.changes.iter().any(is_insert)) else {
        return;
    };
    let Some(retracted) = earlier.learned.take() else { return };
    earlier.dropped = Some(DroppedCandidate {
        signal: earlier.sighting.signal(),
        key: earlier.sighting.key.as_str().to_owned(),
        content: Some(retracted.memory.content),
        reason: DropReason::Novelty,
        detail: format!("#{} of the same session contradicts it", learned.memory.id.short()),
    });

    // What the older note retired stays retired, now in favour of the newer one.
    let mut changes = std::mem::take(&mut earlier.changes);
    changes.retain(|it| !is_insert(it));
    for change in &mut changes {
        if let StoreChange::Replace(memory) = change
            && memory.states.deprecation() == Some(Deprecation::superseded_by(retracted_id))
        {
            memory.states.deprecate(
                &Deprecation::superseded_by(learned.memory.id),
                learned.memory.updated_at,
            );
        }
    }

    // The newer note points to what the older one superseded, no longer to the older one itself.
    let relations = &mut learned.memory.relations;
    relations.retain(|it| it.target != RelationTarget::Memory(retracted_id));
    for relation in retracted.memory.relations {
        if relation.kind == RelationKind::Supersedes {
            relations.push(relation);
        }
    }
    learned.effect = retracted.effect;

    // The newer note retires nothing now, and its insertion still has the old relations: both are
    // made again. Its other changes stay.
    let note_id = learned.memory.id;
    outcome.changes.retain(|it| match it {
        StoreChange::Insert(memory) => memory.id != note_id,
        StoreChange::Replace(memory) => memory.id != retracted_id,
        _ => true,
    });
    changes.push(StoreChange::Insert(Box::new(learned.memory.clone())));
    outcome.changes.splice(..0, changes);
}

/// Returns whether drafts of a signal are compared with stored memories by their text. Needed for
/// signals whose pattern is a sentence (`textual`: a note, a correction), because two sessions word
/// the same thing differently. Other patterns are identified by their key: a file name, or the
/// fingerprint of an error. The same pattern then always leads to the same memory.
pub(super) fn needs_comparison(signal: SignalKind) -> bool {
    signal.row().textual && signal != SignalKind::ErrorRetry
}

/// Resolves a kept sighting. `before` holds the outcomes of the session's earlier sightings.
fn resolve_kept(
    session: &SessionOverview,
    judged: JudgedSighting,
    fresh: Option<FreshMemory>,
    planned: &PlannedMemories<'_>,
    sessions: &SessionIndex,
    before: &[SightingOutcome],
) -> SightingOutcome {
    let Some(FreshMemory { memory: fresh, similar }) = fresh else {
        // Unreachable for a kept draft; a value instead of a panic, because learning must not fail.
        return drop_sighting(judged, DropReason::SaysNothing, String::new());
    };

    // Case 1: the pattern has a memory already.
    if let Some(old) = judged.memory.and_then(|it| planned.get(it)) {
        if is_confirmed_before(before, old.id) && !is_promoted(session, old, &fresh, sessions) {
            return drop_duplicate(old, judged);
        }
        // The draft was composed from all sightings of the pattern, so its confidence includes
        // them.
        let rule = ConfidenceRule::TakeHigher;
        return confirm_memory(session, judged, old.clone(), fresh, rule, sessions);
    }

    // Case 2: a new pattern that no other memory can state.
    if !needs_comparison(judged.sighting.signal()) {
        return create_memory(judged, fresh, LessonEffect::Created, Vec::new());
    }

    // Case 3: a sentence, compared with similar memories. Notes of one session can repeat one
    // another, so those that this session has just created are compared too.
    let mut similar: Vec<Memory> = similar.into_iter().map(|it| planned.current(it)).collect();
    let learned_before = before.iter().filter_map(|it| it.learned.as_ref());
    similar.extend(learned_before.map(|it| planned.current(it.memory.clone())));
    // A tainted memory waits for the user; merging with it would hold back a statement that is not tainted.
    similar.retain(|it| is_active(it) && (fresh.flags.tainted || !it.flags.tainted));
    match nearest_statement(&fresh, &similar) {
        Some((nth, StatementRelation::Same | StatementRelation::Near { .. })) => {
            let old = similar.swap_remove(nth);
            if is_confirmed_before(before, old.id) && !is_promoted(session, &old, &fresh, sessions)
            {
                return drop_duplicate(&old, judged);
            }
            confirm_statement(session, judged, old, fresh, sessions)
        }
        Some((nth, StatementRelation::Contradicts { conflict })) => {
            supersede_memory(judged, similar.swap_remove(nth), fresh, &conflict.to_string())
        }
        Some((_, StatementRelation::Unrelated)) | None => {
            create_memory(judged, fresh, LessonEffect::Created, Vec::new())
        }
    }
}

/// The memory that is nearest to a new one, by position. A candidate is nearest only if no other memory
/// is related, so that it never hides one that is told.
fn nearest_statement(fresh: &Memory, known: &[Memory]) -> Option<(usize, StatementRelation)> {
    let nearest_among = |candidates: bool| {
        let positions = (0..known.len()).filter(|it| known[*it].flags.candidate == candidates);
        let positions: Vec<usize> = positions.collect();
        let statements: Vec<MemoryStatement<'_>> =
            positions.iter().map(|it| statement_of(&known[*it])).collect();
        let (nth, relation) = promote::find_nearest(&statement_of(fresh), &statements)?;
        Some((positions[nth], relation))
    };
    nearest_among(false).or_else(|| nearest_among(true))
}

/// Drops a sighting. It still supports the memory of its pattern, if there is one.
fn drop_sighting(judged: JudgedSighting, reason: DropReason, detail: String) -> SightingOutcome {
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

/// Returns whether an earlier sighting of this session already created or confirmed a memory.
fn is_confirmed_before(before: &[SightingOutcome], id: MemoryId) -> bool {
    before.iter().any(|it| it.learned.as_ref().is_some_and(|it| it.memory.id == id))
}

/// Drops a sighting that repeats a memory which this session has created or confirmed already.
fn drop_duplicate(old: &Memory, judged: JudgedSighting) -> SightingOutcome {
    let detail = format!("#{} says the same", old.id.short());
    SightingOutcome { memory: Some(old.id), ..drop_sighting(judged, DropReason::Novelty, detail) }
}

/// Adds this session as evidence to a memory that states the same.
fn confirm_statement(
    session: &SessionOverview,
    judged: JudgedSighting,
    old: Memory,
    mut fresh: Memory,
    sessions: &SessionIndex,
) -> SightingOutcome {
    let mut rule = ConfidenceRule::TakeClearlyHigher;
    if is_sibling(session, old.session, sessions) {
        // Siblings work independently of one another, so their agreement is more evidence.
        let raised = old.confidence.saturating_add(SIBLING_BONUS);
        fresh.confidence = fresh.confidence.max(raised.at_most(MAX_EARNED_CONFIDENCE));
        rule = ConfidenceRule::TakeHigher;
    }
    confirm_memory(session, judged, old, fresh, rule, sessions)
}

/// Adds this session as evidence to a stored memory of the same pattern or meaning.
fn confirm_memory(
    session: &SessionOverview,
    judged: JudgedSighting,
    old: Memory,
    fresh: Memory,
    rule: ConfidenceRule,
    sessions: &SessionIndex,
) -> SightingOutcome {
    let has_expired = is_expired_candidate(&old);
    // A memory that was removed or deprecated must not return; a candidate that expired may.
    if !is_active(&old) && !has_expired {
        let detail = format!("#{} said it and was taken away", old.id.short());
        return drop_sighting(judged, DropReason::Novelty, detail);
    }
    let mut after = old.clone();

    // When the list is full, the first sessions stay: they explain the origin of the memory.
    if !after.provenance.contains(&session.id) && after.provenance.len() < MAX_PROVENANCE {
        after.provenance.push(session.id);
    }
    if has_expired {
        // Lifts the deprecation: the claim is back.
        after.states = model::SoftStates::default();
    }
    let is_same_pattern = judged.memory == Some(old.id);
    let fresh_head = (fresh.commit.clone(), fresh.branch.clone());
    let fresh_confidence = fresh.confidence;
    let is_raising = !fresh.flags.tainted && fresh.flags.candidate <= old.flags.candidate;
    let mut effect = LessonEffect::Confirmed;

    // The draft of the same pattern has newer numbers. A merely similar sentence is no reason to
    // reword the memory.
    // Tainted text never replaces untainted, nor an unsure claim a sure one.
    let launders =
        fresh.flags.tainted && !old.flags.tainted || fresh.flags.candidate && !old.flags.candidate;
    if is_promoted(session, &old, &fresh, sessions) {
        promote_candidate(&mut after, &fresh);
        effect = LessonEffect::Promoted;
    } else if is_same_pattern
        && !launders
        && !has_user_wording(&old)
        && old.content != fresh.content
    {
        (after.content, after.summary, after.citation) =
            (fresh.content, fresh.summary, fresh.citation);
        (after.payload, after.files, after.modules) = (fresh.payload, fresh.files, fresh.modules);
        effect = LessonEffect::Updated;
    }
    follow_head(&mut after, session.ended, fresh_head);
    let min_confidence = match rule {
        ConfidenceRule::TakeHigher => old.confidence.get(),
        ConfidenceRule::TakeClearlyHigher => {
            old.confidence.get().saturating_add(CLEARLY_HIGHER_MARGIN)
        }
    };

    // Neither text from outside the project nor an unsure claim raises a confidence.
    if is_raising && fresh_confidence.get() >= min_confidence {
        after.confidence = fresh_confidence;
    }
    let mut changes = Vec::new();

    // Learning the same session again changes nothing and must not create a version.
    if after != old {
        after.updated_at = after.updated_at.max(session.ended);
        changes.push(StoreChange::Replace(Box::new(after.clone())));
    }
    let signal = Some(judged.sighting.signal());
    let learned = Some(LearnedMemory { signal, memory: after, effect });
    SightingOutcome { sighting: judged.sighting, changes, learned, dropped: None, memory: None }
}

/// Moves a confirmed memory to the commit of a later session: its files are as the session saw them. A
/// memory that holds on two branches belongs to neither alone.
fn follow_head(
    memory: &mut Memory,
    confirmed_at: Timestamp,
    head: (Option<String>, Option<String>),
) {
    let (Some(commit), branch) = head else { return };
    if memory.branch == branch || memory.commit.is_none() {
        // A session that is learned late does not move it back.
        if confirmed_at >= memory.updated_at {
            memory.commit = Some(commit);
        }
    } else if branch.is_some() {
        memory.branch = None;
    }
}

/// Inserts the new memory. `changes` holds what must be written before it.
fn create_memory(
    judged: JudgedSighting,
    memory: Memory,
    effect: LessonEffect,
    mut changes: Vec<StoreChange>,
) -> SightingOutcome {
    changes.push(StoreChange::Insert(Box::new(memory.clone())));
    let learned = Some(LearnedMemory { signal: Some(judged.sighting.signal()), memory, effect });
    SightingOutcome { sighting: judged.sighting, changes, learned, dropped: None, memory: None }
}

/// Replaces a stored memory by the new statement that contradicts it, unless the user protects it.
fn supersede_memory(
    judged: JudgedSighting,
    old: Memory,
    mut fresh: Memory,
    conflict: &str,
) -> SightingOutcome {
    // Three reasons to keep the old memory: the user wrote, confirmed or pinned it; the new one derives
    // from text outside the project; or the new one is less sure. If both wait for the user's review, the
    // later statement is the one to review.
    let is_less_certain = doubt(&fresh) > doubt(&old);
    if is_user_protected(&old) || fresh.flags.tainted || is_less_certain {
        let detail = format!("contradicts #{} ({conflict})", old.id.short());
        return drop_sighting(judged, DropReason::Novelty, detail);
    }
    // The relation shows the user what was replaced, and lets undo restore it.
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    fresh.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto: true });
    let mut retired = old.clone();
    retired.states.deprecate(&Deprecation::superseded_by(fresh.id), fresh.updated_at);
    let changes = vec![StoreChange::Replace(Box::new(retired))];
    create_memory(judged, fresh, LessonEffect::Superseded(old.id), changes)
}
