//! Access to the shown log of a session: nothing is injected into a session twice, whichever process
//! injects it.

use std::collections::HashSet;

use model::{InjectionTier, MemoryId, ProjectPath, SessionId, TrialGroup};
use store::{DataDir, Milestone, ShownEntry, ShownLog};

use super::context::{build_file_context, build_start_context};
use super::context_request::{ContextBlock, ContextRequest, SectionChoice};
use super::recent_files::recent_files;
use crate::{Error, ProjectReader};

/// Prefix of the milestone that stores the trial group of a learned session.
const GROUP_MILESTONE: &str = "group ";

/// Opens the shown log of a session by the host's name for it.
pub(crate) fn open_shown_log(reader: &ProjectReader, session: &str) -> ShownLog {
    ShownLog::for_session(&DataDir::new(&reader.config.data), session)
}

/// Builds the start context without what the session was shown before, and records it as shown.
pub(crate) async fn inject_start_context(
    reader: &ProjectReader,
    session: &str,
    request: ContextRequest,
) -> Result<ContextBlock, Error> {
    let mut request = without_shown(reader, session, request);
    // The caller is a program that injects, so the trust level of the project applies.
    request.min_confidence = reader.policy.injection.level.row().confidence_above;
    record_trial_group(reader, session)?;
    let mut context = build_start_context(reader, &request).await?;
    if !trial_group(reader, session).receives_tier(InjectionTier::Start) {
        context.text = String::new();
        context.expected_errors = String::new();
        context.used_tokens = 0;
        context.placed.clear();
    }
    record_context(reader, session, &context)?;
    Ok(context)
}

/// Builds the file context without what the session was shown before, and records it as shown.
pub(crate) async fn inject_file_context(
    reader: &ProjectReader,
    session: &str,
    request: ContextRequest,
) -> Result<ContextBlock, Error> {
    let context = build_file_context(reader, &without_shown(reader, session, request)).await?;
    record_context(reader, session, &context)?;
    Ok(context)
}

fn without_shown(reader: &ProjectReader, session: &str, request: ContextRequest) -> ContextRequest {
    exclude_shown(request, open_shown_log(reader, session).read_entries())
}

/// Completes a request with what the session was shown before.
pub(super) fn exclude_shown(request: ContextRequest, shown: HashSet<ShownEntry>) -> ContextRequest {
    let expected_errors = if shown.contains(&ShownEntry::ExpectedErrors) {
        SectionChoice::Omit
    } else {
        request.expected_errors
    };
    let (shown_memories, nearby_files) = (shown_memory_ids(&shown), recent_files(&shown));
    ContextRequest { expected_errors, shown_memories, nearby_files, shown_texts: shown, ..request }
}

/// Locks the log against other processes that inject into the same session. Blocks.
pub(crate) fn lock_session(
    reader: &ProjectReader,
    session: &str,
) -> Result<impl Sized + use<>, Error> {
    Ok(open_shown_log(reader, session).lock()?)
}

/// The files a session touched last, the latest first.
pub(crate) fn session_files(reader: &ProjectReader, session: &str) -> Vec<ProjectPath> {
    recent_files(&open_shown_log(reader, session).read_entries())
}

/// Records a context block as shown.
pub(crate) fn record_context(
    reader: &ProjectReader,
    session: &str,
    context: &ContextBlock,
) -> Result<(), Error> {
    Ok(open_shown_log(reader, session).record(&context_entries(reader, context))?)
}

/// Records memories as shown that the session itself asked for.
pub(crate) fn record_memories(
    reader: &ProjectReader,
    session: &str,
    memories: impl Iterator<Item = MemoryId>,
) -> Result<(), Error> {
    let entries: Vec<ShownEntry> = memories.flat_map(|it| memory_entries(reader, it)).collect();
    Ok(open_shown_log(reader, session).record(&entries)?)
}

/// Marks everything in the session's conversation as lost, so that it may be shown once more.
pub(crate) fn mark_conversation_lost(reader: &ProjectReader, session: &str) -> Result<(), Error> {
    Ok(open_shown_log(reader, session).forget_conversation()?)
}

/// The entries for a memory that is shown now. Learning reads the time to tell if the memory was used
/// afterwards.
pub(super) fn memory_entries(reader: &ProjectReader, id: MemoryId) -> [ShownEntry; 2] {
    [ShownEntry::Memory(id), ShownEntry::MemoryAt { id, at: reader.now }]
}

/// The entries for everything in a context block.
pub(super) fn context_entries(reader: &ProjectReader, context: &ContextBlock) -> Vec<ShownEntry> {
    let placed = context.placed.iter().map(|it| it.hit.rated.memory.id);
    let memories = placed.flat_map(|it| memory_entries(reader, it));
    let has_errors = !context.expected_errors.is_empty();
    let errors = has_errors.then_some(ShownEntry::ExpectedErrors);
    memories.chain(errors).chain(context.shown_entries.iter().cloned()).collect()
}

/// The memories among the entries of a log.
pub(super) fn shown_memory_ids(shown: &HashSet<ShownEntry>) -> HashSet<MemoryId> {
    shown.iter().filter_map(ShownEntry::memory_id).collect()
}

/// The trial group of a session. Without a trial, and for a request without a session, it is the
/// group that gets everything.
pub(super) fn trial_group(reader: &ProjectReader, session: &str) -> TrialGroup {
    let is_in_trial = reader.policy.injection.on_trial && !session.is_empty();
    let project = reader.state.id().filter(|_| is_in_trial);
    // A subagent is named `session/agent` and belongs to the group of its session.
    let parent = session.split('/').next().unwrap_or_default();
    project.map_or(TrialGroup::Full, |it| TrialGroup::assign_group(parent, &it.to_string()))
}

/// Records the trial group of a session, while a trial runs.
pub(super) fn record_trial_group(reader: &ProjectReader, session: &str) -> Result<(), Error> {
    if !reader.policy.injection.on_trial {
        return Ok(());
    }
    let log = open_shown_log(reader, session);
    let entry = ShownEntry::Group(trial_group(reader, session));
    // Recorded once: the hook calls this at every event.
    if log.read_entries().contains(&entry) { Ok(()) } else { Ok(log.record(&[entry])?) }
}

/// The milestone that keeps the trial group of a session when it is learned from.
pub(crate) fn trial_milestone(
    reader: &ProjectReader,
    log_name: &str,
    session: SessionId,
) -> Option<Milestone> {
    let shown = open_shown_log(reader, log_name).read_entries();
    let group = shown.iter().find_map(|it| match it {
        ShownEntry::Group(group) => Some(*group),
        _ => None,
    })?;
    Some(Milestone { name: format!("{GROUP_MILESTONE}{group} {session}"), count: 0 })
}

/// Parses a milestone of [`trial_milestone`].
pub(crate) fn parse_trial_milestone(milestone: &Milestone) -> Option<(TrialGroup, SessionId)> {
    let (group, session) = milestone.name.strip_prefix(GROUP_MILESTONE)?.split_once(' ')?;
    Some((TrialGroup::from_slug(group)?, session.parse().ok()?))
}
