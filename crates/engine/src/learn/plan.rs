//! Planning: decides everything that a session teaches (its *lesson*). Pure, so that it can be
//! tested without a store.
//!
//! Two steps: [`draft_lesson`] drafts and judges, from the inputs of `load`; then `related` loads
//! the memories that the kept drafts resemble, and [`plan_lesson`] turns everything into one list
//! of changes. `learn.rs` writes the plan.
//!
//! Words: a *sighting* is one occurrence of a pattern in the session (two files edited together, a
//! recorded note); a *draft* is the wording of a memory before it is stored; a *synthesis* is a
//! statement of a language model about a module; a *milestone* is a small fact
//! that the store keeps by name. The *pad* (`Scratchpad`) is the state of the session, folded from
//! its events.

use observe::{MemoryDraft, SessionOverview};
use store::{SessionLesson, SightingRow, StoreChange};

use super::candidates::{JudgedSighting, judge_sightings};
use super::load::LessonInputs;
use super::novelty::{SightingOutcome, resolve_sightings};
use super::observed::file_rows;
use super::related::RelatedMemories;
use super::savings::tool_calls_saved;
use super::synthesis::{SynthesisPlan, draft_insights, plan_syntheses};
use super::usage::{count_uses, newly_used_memories};
use super::work_unit::{draft_outcome, plan_outcome_change};
use super::{LearnedMemory, LessonState};

/// Everything that a session may teach, judged, before it is compared with stored memories.
pub(super) struct LessonDrafts {
    pub(super) judged: Vec<JudgedSighting>,
    /// The statements of the model about a due module.
    pub(super) syntheses: Vec<MemoryDraft>,
    /// The result of the work unit, if the session worked on one and finished or failed.
    pub(super) work_unit_outcome: Option<MemoryDraft>,
}

/// Everything that one session changes, ready to be written in one batch.
pub(super) struct LessonPlan {
    pub(super) state: LessonState,
    pub(super) lesson: SessionLesson,
    pub(super) outcomes: Vec<SightingOutcome>,
    pub(super) syntheses: Vec<LearnedMemory>,
    /// Changes of memories and milestones, in the order they are written.
    pub(super) changes: Vec<StoreChange>,
    pub(super) notices: Vec<String>,
    /// A language model was used already. A session makes at most one request.
    pub(super) used_model: bool,
}

/// Drafts and judges everything that a session may teach.
pub(super) fn draft_lesson(inputs: &LessonInputs<'_>) -> LessonDrafts {
    let session = &inputs.observed.session;
    let report = inputs.observed.work_unit.as_ref();
    LessonDrafts {
        judged: judge_sightings(inputs),
        syntheses: inputs.synthesis.as_ref().map(draft_insights).unwrap_or_default(),
        work_unit_outcome: report.and_then(|it| draft_outcome(session, it, &inputs.modules)),
    }
}

/// Combines the drafts with the stored memories into the changes to write.
pub(super) fn plan_lesson(
    inputs: LessonInputs<'_>,
    drafts: LessonDrafts,
    related: RelatedMemories,
) -> LessonPlan {
    let row = inputs.observed.to_row();
    let LessonInputs { pad, observed, sessions, .. } = inputs;
    let session = &observed.session;
    let mut outcomes =
        resolve_sightings(session, drafts.judged, related.fresh, &related.known_by_id, &sessions);

    // The model's statements about a module that reaches a milestone; most sessions have none.
    let mut synthesis = SynthesisPlan::default();
    let (mut notices, used_model) = (Vec::new(), inputs.synthesis.is_some());
    if let Some(inputs) = inputs.synthesis {
        notices.extend(inputs.interpretation.notice);
        // A module whose request failed stays due.
        let is_answered = inputs.interpretation.is_answered;
        let passed = if is_answered { inputs.due.milestones } else { Vec::new() };
        synthesis = plan_syntheses(passed, related.syntheses);
    }
    let mut changes = Vec::new();

    // The changes move from the outcomes into the one list. The rewording, which runs later, finds
    // memories in this list by their ids.
    for outcome in &mut outcomes {
        changes.append(&mut outcome.changes);
    }
    merge_replacements(&mut changes);
    changes.append(&mut synthesis.changes);

    // The result of the work unit (a ticket, an issue) that the session worked on.
    if let (Some(fresh), Some(report)) = (related.work_unit_outcome, observed.work_unit) {
        changes.extend(plan_outcome_change(fresh, report));
    }
    // After all replacements, because a raise of confidence is added to an existing replacement.
    count_uses(&mut changes, newly_used_memories(pad, &inputs.shown, &inputs.cited));

    // Facts that are stored as milestones: the trial group of the session, and the calls it saved.
    let saved = tool_calls_saved(pad, &inputs.shown, &inputs.savings);
    let milestones = inputs.trial_group.into_iter().chain(saved);
    changes.extend(milestones.map(StoreChange::PassMilestone));
    let lesson = SessionLesson {
        session: row,
        files: file_rows(session),
        // Dropped sightings are stored too, because later sessions count them as evidence.
        sightings: outcomes.iter().map(|it| sighting_row(session, it)).collect(),
        failed_calls: observed.failed_calls,
    };
    LessonPlan {
        state: inputs.state,
        lesson,
        outcomes,
        syntheses: synthesis.memories,
        changes,
        notices,
        used_model,
    }
}

/// Leaves one change per memory: the first one, with the state that the last one gives the memory.
/// The store refuses a second change of a memory in one batch, because the first one increments its
/// version.
fn merge_replacements(changes: &mut Vec<StoreChange>) {
    let mut merged: Vec<StoreChange> = Vec::new();
    for change in changes.drain(..) {
        let StoreChange::Replace(after) = change else {
            merged.push(change);
            continue;
        };
        let earlier = merged.iter_mut().find_map(|it| match it {
            StoreChange::Insert(memory) | StoreChange::Replace(memory) if memory.id == after.id => {
                Some(memory)
            }
            _ => None,
        });
        match earlier {
            Some(memory) => *memory = after,
            None => merged.push(StoreChange::Replace(after)),
        }
    }
    *changes = merged;
}

fn sighting_row(session: &SessionOverview, outcome: &SightingOutcome) -> SightingRow {
    let sighting = &outcome.sighting;
    SightingRow {
        session: session.id,
        signal: sighting.signal(),
        key: sighting.key.as_str().to_owned(),
        times: sighting.occurrences,
        tainted: sighting.tainted,
        evidence: sighting.evidence.to_json(),
        // A dropped sighting refers to the memory that it repeats, so that `explain` can list it.
        memory: outcome.learned.as_ref().map(|it| it.memory.id).or(outcome.memory),
        dropped: outcome.dropped.as_ref().map(|it| (it.reason, it.detail.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LessonEffect;
    use super::super::candidates::SightingsByPattern;
    use super::super::fresh_memory::tests::memory;
    use super::super::fresh_memory::{FreshMemory, MemoryParts, memory_from_draft};
    use super::super::observed::{ObservedSession, SessionExtent};
    use super::super::savings::SavingsInputs;
    use super::super::session_index::SessionIndex;
    use super::*;
    use model::{
        Deprecation, DropReason, Event, EventEnvelope, Memory, MemoryKind, MemoryType,
        RecordedNote, SessionId, SessionStart, SessionType, Timestamp, ValidationBasis,
    };
    use observe::{ModuleLookup, Scratchpad};

    const NOTE: &str = "The retry limit of the upload queue is 5.";
    /// Contradicts [`NOTE`].
    const EARLIER_NOTE: &str = "The retry limit of the upload queue is 3.";

    /// A build session in which the agent recorded one note.
    fn pad() -> Scratchpad {
        pad_with_notes(&[NOTE])
    }

    /// A build session in which the agent recorded these notes.
    fn pad_with_notes(notes: &[&str]) -> Scratchpad {
        let session = SessionId::new(Timestamp(50_000), [1; 10]);
        let start = SessionStart {
            project_root: "/p".to_owned(),
            agent: "claude-code".to_owned(),
            host_session: None,
            session_type: Some(SessionType::Build),
            task: Some("limit the retries".to_owned()),
            planned_steps: None,
            phase: None,
            role: None,
            parent: None,
            work_unit: None,
            transcript: None,
        };
        let record = |content: &&str| {
            Event::Record(RecordedNote {
                kind: MemoryType::Core(MemoryKind::Gotcha),
                content: (*content).to_owned(),
                scope: None,
                tags: Vec::new(),
                files: Vec::new(),
                modules: Vec::new(),
                payload: None,
                step: None,
            })
        };
        let mut pad = Scratchpad::new();
        let events = std::iter::once(Event::SessionStart(start)).chain(notes.iter().map(record));
        for (n, event) in events.enumerate() {
            let at = Timestamp(60_000);
            pad.observe(&EventEnvelope { id: format!("e{n}"), session, at, event });
        }
        pad
    }

    /// Inputs without any earlier session.
    fn inputs(pad: &Scratchpad, validated: Option<ValidationBasis>) -> LessonInputs<'_> {
        let modules = ModuleLookup::default();
        let now = Timestamp(70_000);
        let observed = ObservedSession::from_scratchpad(pad, &modules, SessionExtent::Whole, now);
        let mut observed = observed.unwrap();
        observed.session.validation_basis = validated;
        LessonInputs {
            pad,
            observed,
            state: LessonState::New,
            modules,
            sessions: SessionIndex::default(),
            earlier: SightingsByPattern::default(),
            own_memories: std::collections::HashMap::new(),
            tightening: 0,
            synthesis: None,
            shown: Vec::new(),
            cited: Vec::new(),
            savings: SavingsInputs::default(),
            trial_group: None,
        }
    }

    /// Plans a lesson as if the store held these memories.
    fn plan(inputs: LessonInputs<'_>, stored: &[Memory]) -> LessonPlan {
        let drafts = draft_lesson(&inputs);
        let session = &inputs.observed.session;
        // One element per sighting, `None` for those that are not kept.
        let mut fresh = Vec::new();
        // The random part of each id; 9 upwards, because the session has the bytes 1.
        for (judged, id_byte) in drafts.judged.iter().zip(9..) {
            let parts = MemoryParts {
                project: None,
                entropy: [id_byte; 10],
                anchors: Vec::new(),
                head: source::GitHead::default(),
            };
            let (signal, verdict) = (judged.sighting.signal(), &judged.verdict);
            let draft = judged.draft.clone();
            let memory =
                draft.and_then(|it| memory_from_draft(session, it, signal, verdict, parts));
            fresh.push(memory.map(|memory| FreshMemory { memory, similar: stored.to_vec() }));
        }
        let related = RelatedMemories { fresh, ..RelatedMemories::default() };
        plan_lesson(inputs, drafts, related)
    }

    /// The memories that a plan replaces, in their new state.
    fn replaced<'a>(plan: &'a LessonPlan) -> Vec<&'a Memory> {
        let replacement = |it: &'a StoreChange| match it {
            StoreChange::Replace(memory) => Some(memory.as_ref()),
            _ => None,
        };
        plan.changes.iter().filter_map(replacement).collect()
    }

    #[test]
    fn a_note_of_a_validated_session_becomes_a_memory() {
        let pad = pad();
        let plan = plan(inputs(&pad, Some(ValidationBasis::Observed)), &[]);
        let learned = plan.outcomes[0].learned.as_ref().unwrap();
        assert_eq!(
            (learned.effect, learned.memory.content.as_str()),
            (LessonEffect::Created, NOTE)
        );
        assert!(matches!(plan.changes.as_slice(), [StoreChange::Insert(_)]));
        assert_eq!(plan.lesson.sightings[0].memory, Some(learned.memory.id));
    }

    #[test]
    fn a_note_of_an_unvalidated_session_waits_and_is_stored_as_a_sighting() {
        let pad = pad();
        let plan = plan(inputs(&pad, None), &[]);
        assert!(plan.changes.is_empty() && plan.outcomes[0].learned.is_none());
        let dropped = plan.lesson.sightings[0].dropped.as_ref().unwrap();
        assert_eq!(dropped.0, DropReason::Waiting);
    }

    #[test]
    fn a_stored_memory_that_says_the_same_is_confirmed() {
        let (pad, stored) = (pad(), memory(NOTE));
        let plan =
            plan(inputs(&pad, Some(ValidationBasis::Observed)), std::slice::from_ref(&stored));
        let learned = plan.outcomes[0].learned.as_ref().unwrap();
        assert_eq!((learned.effect, learned.memory.id), (LessonEffect::Confirmed, stored.id));
        let [after] = replaced(&plan)[..] else { panic!("one memory is replaced") };
        assert_eq!(after.provenance, [stored.provenance[0], plan.lesson.session.id]);
    }

    #[test]
    fn a_contradicted_memory_is_superseded_unless_the_user_protects_it() {
        let pad = pad();
        let stored = memory(EARLIER_NOTE);
        let superseding =
            plan(inputs(&pad, Some(ValidationBasis::Observed)), std::slice::from_ref(&stored));
        let learned = superseding.outcomes[0].learned.as_ref().unwrap();
        assert_eq!(learned.effect, LessonEffect::Superseded(stored.id));
        let [after] = replaced(&superseding)[..] else { panic!("one memory is replaced") };
        assert_eq!(after.states.deprecation(), Some(Deprecation::superseded_by(learned.memory.id)));

        let mut pinned = stored;
        pinned.flags.pinned = true;
        let refused = plan(inputs(&pad, Some(ValidationBasis::Observed)), &[pinned]);
        assert!(refused.changes.is_empty());
        let dropped = refused.outcomes[0].dropped.as_ref().unwrap();
        assert_eq!(dropped.reason, DropReason::Novelty);
    }

    #[test]
    fn a_session_that_contradicts_itself_teaches_its_last_word() {
        let pad = pad_with_notes(&[EARLIER_NOTE, NOTE]);
        let plan = plan(inputs(&pad, Some(ValidationBasis::Observed)), &[]);
        // The first note is dropped.
        let dropped = plan.outcomes[0].dropped.as_ref().unwrap();
        assert_eq!(dropped.reason, DropReason::Novelty);
        // The second is new, and does not mention the first.
        let learned = plan.outcomes[1].learned.as_ref().unwrap();
        assert_eq!(
            (learned.effect, learned.memory.content.as_str()),
            (LessonEffect::Created, NOTE)
        );
        assert!(learned.memory.relations.is_empty());
        assert!(matches!(plan.changes.as_slice(), [StoreChange::Insert(_)]));
    }

    #[test]
    fn a_memory_that_a_session_contradicts_twice_is_changed_once() {
        let pad = pad_with_notes(&["The retry limit of the upload queue is 4.", NOTE]);
        let stored = memory(EARLIER_NOTE);
        let plan =
            plan(inputs(&pad, Some(ValidationBasis::Observed)), std::slice::from_ref(&stored));
        let learned = plan.outcomes[1].learned.as_ref().unwrap();
        assert_eq!(learned.effect, LessonEffect::Superseded(stored.id));
        let [after] = replaced(&plan)[..] else { panic!("one memory is replaced") };
        assert_eq!(after.states.deprecation(), Some(Deprecation::superseded_by(learned.memory.id)));
        assert_eq!(plan.changes.len(), 2, "one retired, one new memory");
    }

    #[test]
    fn a_memory_that_a_session_confirms_and_then_contradicts_is_changed_once() {
        let pad = pad_with_notes(&[EARLIER_NOTE, NOTE]);
        let stored = memory(EARLIER_NOTE);
        let plan =
            plan(inputs(&pad, Some(ValidationBasis::Observed)), std::slice::from_ref(&stored));
        let [after] = replaced(&plan)[..] else { panic!("one memory is replaced") };
        // The store compares the version with its own, so a second change would be refused.
        assert_eq!((after.id, after.version), (stored.id, stored.version));
        assert!(after.states.deprecation().is_some());
    }
}
