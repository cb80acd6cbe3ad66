//! Learning: turns the scratchpad of a session into memories. The lesson is written in one batch; smaller
//! writes stand before it (`retire_statistics_once`) and after it (`judge_session_notes`, and for a long
//! session `consolidate_since`).
//!
//! The stages, in order: load what is stored about the session and ask the model about a module that is due
//! (`load`), draft and judge what it may teach (`plan`, pure), load the memories that resemble the kept
//! drafts (`related`), plan the changes (`plan` and the files it calls, pure), improve the wording with a
//! language model (`rewording`, optional), and write the batch (here). The crate `observe` finds the patterns, the
//! crate `promote` judges them; this module connects both to the store. Learning an unchanged session
//! again writes nothing; one that has continued replaces its own earlier lesson.

// Loading.
mod load;
mod observed;
mod related;
mod session_index;

// Deciding, without I/O.
mod candidate_promotion;
mod candidates;
mod fresh_memory;
mod novelty;
mod plan;
mod protection;
pub(crate) mod savings;
mod synthesis;
mod usage;
mod work_unit;

// Steps that read git, the project's files, other sessions, or a language model.
pub(crate) mod asking;
mod claim_detection;
mod consolidation;
mod edit_outcome;
mod retired_statistics;
mod rewording;
mod subagents;
mod weekly;

// Queries over what was learned, and its result types.
mod expected_errors;
mod explanation;
mod failed_sessions;
mod file_prediction;
mod injection_judgement;
mod learned;
mod module_lookup;
mod session_statistics;

// Sources of sessions: journals, the inbox, transcripts of hosts.
mod inbox;
mod journal;
mod subagent_taint;
mod transcript;
mod transcript_tail;

use model::{Actor, MemoryId};
use observe::Scratchpad;
use store::{AuditAction, StoreChange, StoreReader, WriteBatch};

use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project, ProjectReader};

use consolidation::{MIN_SUBTASKS_TO_CONSOLIDATE, consolidate_since};
use failed_sessions::record_result;
use injection_judgement::judge_session_notes;
use load::{LoadedLesson, load_lesson};
use observed::SessionExtent;
use plan::{LessonPlan, draft_lesson, plan_lesson};
use related::load_related;
use retired_statistics::retirement_notice;
use rewording::reword_new_memories;

pub use asking::{
    AnsweredQuestion, AskCounts, AskLimits, PreparedQuestion, QuestionOutcome, ask_folder,
};
pub use explanation::{
    ClaimSighting, ContributingSession, ExplainedSighting, Explanation, SessionExplanation,
};
pub use inbox::{InboxSession, list_inbox, store_in_inbox};
pub use journal::{JournalState, journalled_session_root};
pub use learned::{
    DroppedCandidate, JudgingStrictness, LearnedMemory, LearnedSession, LessonEffect, LessonState,
    SessionFile, SessionSummary,
};
pub use savings::ToolCallSavings;
pub use subagents::{SiblingNote, SiblingNotes, frame_sibling_notes};
pub use transcript::{
    ParsedTranscript, TRANSCRIPT_POLL_INTERVAL, is_being_written, transcripts_at_paths,
};
pub use transcript_tail::TranscriptTail;

pub(crate) use expected_errors::describe_expected_errors;
pub(crate) use explanation::{claims_of_memory, explain, learned_sessions};
pub(crate) use failed_sessions::{failed_sessions, has_failed_before};
pub(crate) use file_prediction::{predict_files, rank_task_files};
pub(crate) use inbox::{clear_project_inbox, import_inbox_session, open_inbox};
pub(crate) use journal::{
    append_events, close_journal, external_source, is_transcript_being_written, journal_parent,
    journal_transcripts, journalled_event_ids, learn_finished_subtasks, learn_from_journal,
    list_journals, record_events, sync_journal,
};
pub(crate) use load::load_visits;
pub(crate) use module_lookup::load_module_lookup;
pub(crate) use retired_statistics::retire_statistics_once;
pub(crate) use session_statistics::{read_costs, step_calibration, usual_checks};
pub(crate) use subagents::{sibling_note_objection, sibling_notes};
pub(crate) use transcript::{host_transcripts, read_transcript};
pub(crate) use weekly::consolidate_week;

/// Learns from a finished session; `None` if the scratchpad holds no event.
pub(crate) async fn learn_session(
    project: &mut Project,
    pad: &Scratchpad,
) -> Result<Option<LearnedSession>, Error> {
    let Some(mut learned) = learn_extent(project, pad, SessionExtent::Whole).await? else {
        return Ok(None);
    };
    // A session with many subtasks was learned subtask by subtask while it ran, so its notes may
    // repeat one another.
    let is_long = pad.succeeded_subtasks.len() >= MIN_SUBTASKS_TO_CONSOLIDATE;
    if is_long
        && learned.state != LessonState::Unchanged
        && let Some(store) = project.project_store_reader()
    {
        let (started, ended) = (learned.session.started, learned.session.ended);
        learned.retired.extend(consolidate_since(project, &store, started, ended).await?);
    }
    Ok(Some(learned))
}

/// Returns how strictly candidates are judged in a project. Thresholds rise if the user has
/// rejected too many of the learned memories.
pub(crate) async fn strictness(reader: &ProjectReader) -> Result<JudgingStrictness, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(JudgingStrictness::default());
    };
    let (n_learned, n_rejected) = store.learning().count_judged().await?;
    let tightening = promote::threshold_tightening(n_rejected, n_learned);
    Ok(JudgingStrictness { n_learned, n_rejected, tightening })
}

/// Learns from a session, or from its finished subtasks. A session that fails by its own content is
/// listed as failed (see `failed_sessions`) and returns `SessionFailed`, so that a caller can go on with the
/// others.
async fn learn_extent(
    project: &mut Project,
    pad: &Scratchpad,
    extent: SessionExtent,
) -> Result<Option<LearnedSession>, Error> {
    project.require_memory_enabled()?;
    // A scratchpad without events has no session and teaches nothing.
    let Some(session) = pad.session else { return Ok(None) };
    let notice = retirement_notice(retire_statistics_once(project).await?);
    let mut result = load_and_write_lesson(project, pad, extent).await;
    // Another process may have changed a memory between the read and the write: read again.
    if matches!(result, Err(Error::Store(store::Error::VersionConflict { .. }))) {
        result = load_and_write_lesson(project, pad, extent).await;
    }
    let mut learned = record_result(project, session, result)?;
    if let Some(learned) = &mut learned {
        learned.notices.extend(notice);
    }
    Ok(learned)
}

/// One attempt to learn: loads, plans, rewords and writes.
async fn load_and_write_lesson(
    project: &mut Project,
    pad: &Scratchpad,
    extent: SessionExtent,
) -> Result<Option<LearnedSession>, Error> {
    let inputs = match load_lesson(project, pad, extent).await? {
        LoadedLesson::Empty => return Ok(None),
        LoadedLesson::Unchanged(learned) => return Ok(Some(*learned)),
        LoadedLesson::Changed(inputs) => *inputs,
    };
    // Two loads with a decision between: a search per draft is expensive, and most drafts are
    // dropped.
    let drafts = draft_lesson(&inputs);
    let related = load_related(project, &inputs.observed.session, &drafts).await?;
    let mut plan = plan_lesson(inputs, drafts, related);
    // At most one request to the model per session; `load_lesson` may have made it for a synthesis.
    if project.is_llm_allowed() && !plan.used_model {
        reword_new_memories(&project.config.models, &mut plan).await;
    }
    let learned = apply_plan(project, plan).await?;
    judge_session_notes(project, pad).await?;
    Ok(Some(learned))
}

/// Writes a planned lesson in one batch.
async fn apply_plan(project: &Project, plan: LessonPlan) -> Result<LearnedSession, Error> {
    let LessonPlan { state, lesson, outcomes, syntheses, mut changes, notices, .. } = plan;
    let retired = changes.iter().filter_map(deprecated_by).collect();
    let session = lesson.session.clone();
    changes.push(StoreChange::PutLesson(Box::new(lesson)));
    // Two processes may learn the same session at the same time; the key makes the second a no-op.
    let idempotency_key = format!(
        "learn {} {} {:?} {}",
        session.id, session.progress_key, session.validation_basis, session.outcome
    );
    let batch = user_batch(AuditAction::Promote, project.now, changes);
    let batch = WriteBatch { actor: Actor::Observer, key: Some(idempotency_key), ..batch };
    project.write(NotebookScope::Project, batch).await?;
    let (mut memories, mut dropped) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        memories.extend(outcome.learned);
        dropped.extend(outcome.dropped);
    }
    memories.extend(syntheses);
    Ok(LearnedSession { session: session.into(), state, memories, retired, dropped, notices })
}

/// Returns the memory that a change deprecates, if any.
fn deprecated_by(change: &StoreChange) -> Option<MemoryId> {
    match change {
        StoreChange::Replace(memory) if memory.states.deprecated_at.is_some() => Some(memory.id),
        // Lessons deprecate by replacing a memory; no other change does.
        _ => None,
    }
}
