//! Learning: a finished session becomes sightings, drafts, verdicts and, in one transaction, memories.
//!
//! Load (`load`, `related`), decide (`plan` and the topic files, pure), reword (`rewording`,
//! optional), write (one batch). A session that is learned again replaces what it left behind and
//! changes nothing else. Judging candidates is `promote`'s work, finding them `observe`'s.

mod load;
mod observed;
mod related;
mod session_index;

mod candidates;
mod couplings;
mod fresh_memory;
mod novelty;
mod plan;
mod protection;
pub(crate) mod savings;
mod synthesis;
mod usage;
mod work_unit;

mod consolidation;
mod edit_outcome;
mod rewording;
mod subagents;
mod weekly;

mod expected_errors;
mod explanation;
mod file_prediction;
mod learned;
mod modules;

mod inbox;
mod journal;
mod transcript;
mod transcript_tail;

use model::{Actor, MemoryId};
use observe::Scratchpad;
use store::{AuditAction, StoreChange, StoreReader, WriteBatch};

use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project, ProjectReader};

use consolidation::{MIN_SUBTASKS_TO_CONSOLIDATE, consolidate_since};
use load::{LoadedLesson, load_lesson};
use observed::SessionExtent;
use plan::{LessonPlan, draft_lesson, plan_lesson};
use related::load_related;
use rewording::reword_new_memories;

pub use explanation::{ContributingSession, ExplainedSighting, Explanation, SessionExplanation};
pub use inbox::{InboxSession, list_inbox, store_in_inbox};
pub use journal::{JournalState, journalled_session_root};
pub use learned::{
    DroppedCandidate, JudgingStrictness, LearnedMemory, LearnedSession, LessonEffect, LessonState,
    SessionFile, SessionSummary,
};
pub use savings::ToolCallSavings;
pub use subagents::{SiblingNote, frame_sibling_notes};
pub use transcript::{ParsedTranscript, transcripts_at_paths};
pub use transcript_tail::TranscriptTail;

pub(crate) use expected_errors::describe_expected_errors;
pub(crate) use explanation::{explain, learned_sessions};
pub(crate) use file_prediction::{predict_files, rank_task_files, read_costs};
pub(crate) use inbox::{clear_project_inbox, import_inbox_session};
pub(crate) use journal::{
    append_events, close_journal, journal_transcripts, journalled_event_ids,
    learn_finished_subtasks, learn_from_journal, list_journals, record_events, sync_journal,
};
pub(crate) use load::load_visits;
pub(crate) use modules::modules;
pub(crate) use subagents::sibling_notes;
pub(crate) use transcript::{host_transcripts, read_transcript};
pub(crate) use weekly::synthesise_week;

/// Learns from a finished session; `None` if the scratchpad holds no event.
pub(crate) async fn learn_session(
    project: &mut Project,
    pad: &Scratchpad,
) -> Result<Option<LearnedSession>, Error> {
    let Some(mut learned) = learn_extent(project, pad, SessionExtent::Whole).await? else {
        return Ok(None);
    };
    // A build of many subtasks was learned piece by piece, so that its notes may repeat one another.
    let is_long = pad.succeeded_subtasks.len() >= MIN_SUBTASKS_TO_CONSOLIDATE;
    if is_long
        && learned.state != LessonState::Unchanged
        && let Some(store) = project.project_store()
    {
        let (started, ended) = (learned.session.started, learned.session.ended);
        learned.retired.extend(consolidate_since(project, &store, started, ended).await?);
    }
    Ok(Some(learned))
}

/// Learns from a session, or from its finished subtasks: loads, plans, rewords and writes.
async fn learn_extent(
    project: &mut Project,
    pad: &Scratchpad,
    extent: SessionExtent,
) -> Result<Option<LearnedSession>, Error> {
    project.require_memory_enabled()?;
    let inputs = match load_lesson(project, pad, extent).await? {
        LoadedLesson::Empty => return Ok(None),
        LoadedLesson::Unchanged(learned) => return Ok(Some(*learned)),
        LoadedLesson::Changed(inputs) => *inputs,
    };
    let drafts = draft_lesson(&inputs);
    let related = load_related(project, &inputs.observed.session, &drafts).await?;
    let mut plan = plan_lesson(inputs, drafts, related);
    if project.is_llm_allowed() && !plan.asked_model {
        reword_new_memories(&project.config.models, &mut plan).await;
    }
    apply_plan(project, plan).await.map(Some)
}

/// Writes a planned lesson in one batch.
async fn apply_plan(project: &Project, plan: LessonPlan) -> Result<LearnedSession, Error> {
    let LessonPlan { state, lesson, outcomes, syntheses, mut changes, notices, .. } = plan;
    let retired = changes.iter().filter_map(deprecated_by).collect();
    let session = lesson.session.clone();
    changes.push(StoreChange::PutLesson(Box::new(lesson)));
    // Two processes may learn the same session at the same time; the key makes the second a no-op.
    let key = format!(
        "learn {} {} {:?} {}",
        session.id, session.fingerprint, session.validation_basis, session.outcome
    );
    let batch = user_batch(AuditAction::Promote, project.now, changes);
    let batch = WriteBatch { actor: Actor::Observer, key: Some(key), ..batch };
    project.write(NotebookScope::Project, batch).await?;
    let (mut memories, mut dropped) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        memories.extend(outcome.learned);
        dropped.extend(outcome.dropped);
    }
    memories.extend(syntheses);
    Ok(LearnedSession { session: session.into(), state, memories, retired, dropped, notices })
}

/// The memory that a change deprecates, if it does.
fn deprecated_by(change: &StoreChange) -> Option<MemoryId> {
    match change {
        StoreChange::Replace(memory) if memory.states.deprecated_at.is_some() => Some(memory.id),
        _ => None,
    }
}

/// The strictness with which candidates are judged, and the counts it follows from.
pub(crate) async fn strictness(reader: &ProjectReader) -> Result<JudgingStrictness, Error> {
    let Some(store) = reader.project_store().filter(StoreReader::exists) else {
        return Ok(JudgingStrictness::default());
    };
    let (n_learned, n_rejected) = store.learning().count_judged().await?;
    let tightening = promote::threshold_tightening(n_rejected, n_learned);
    Ok(JudgingStrictness { n_learned, n_rejected, tightening })
}
