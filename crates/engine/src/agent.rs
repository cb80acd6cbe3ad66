//! Agents: the changes that an agent may make without the user. The MCP server calls these
//! functions.
//!
//! An agent may record notes, flag doubtful memories for review, and relate memories. A note is
//! only journalled; it becomes a memory when learning or the user accepts it. An agent cannot
//! remove or replace a memory.

use std::path::{Path, PathBuf};

use model::{
    Actor, Event, EventEnvelope, Memory, MemoryId, MemoryScope, MemoryType, PerMille, ProjectPath,
    RecordedNote, Relation, RelationKind, RelationTarget, SessionEnd, SessionId, SessionStart,
    StatedPayload,
};
use store::{AuditAction, StoreChange, WriteBatch};

use crate::editing::{clean_reason, refuse_if_forgotten, user_batch};
use crate::injection::shown_notes;
use crate::learn::{external_source, list_journals, record_events};
use crate::lookup::find_by_id;
use crate::payload_admission::admit_payload;
use crate::remember::resolve_files;
use crate::text_admission::{OnSecret, admit_content, admit_labels, mask_label};
use crate::{Error, LocatedMemory, Notebook, Project, ProjectReader};

/// Confidence of a relation that an agent adds.
const STATED_RELATION_CONFIDENCE: PerMille = PerMille::new(700);

/// The calling agent and its session.
#[derive(Clone, Debug)]
pub struct AgentSession {
    /// The session of the agent's connection to the MCP server, used if the host's conversation is not
    /// journalled.
    pub id: SessionId,
    /// Name of the client.
    pub agent: String,
    /// The host's id of the conversation, if the host passes it on.
    pub host_session: Option<String>,
}

/// A note that an agent wants to have remembered.
#[derive(Clone, Debug)]
pub struct AgentNote {
    pub content: String,
    /// The slug of the memory's type; suggested from the text if absent.
    pub kind: Option<String>,
    pub tags: Vec<String>,
    pub files: Vec<PathBuf>,
    pub modules: Vec<String>,
    /// The scope; if absent, the modules decide it.
    pub scope: Option<MemoryScope>,
    /// The fields that only the type has; needs `kind`.
    pub payload: Option<StatedPayload>,
}

/// A note in the journal. It is not a memory yet.
#[derive(Clone, Debug)]
pub struct RecordedAgentNote {
    /// The session whose journal it is in.
    pub session: SessionId,
    pub kind: MemoryType,
    pub n_redacted: usize,
    /// Named files that do not exist in the project.
    pub missing_files: Vec<ProjectPath>,
    /// The external text that the session read before. The note then waits for the user's review.
    pub external_source: Option<String>,
}

/// Journals a note; learning decides later whether it becomes a memory. The note goes into the
/// journal of the host's conversation if that is running, else into one of the agent's own. Secrets
/// are redacted, because no user is present to correct the text.
pub(crate) async fn record_note(
    project: &mut Project,
    session: &AgentSession,
    note: AgentNote,
    event_id: String,
) -> Result<RecordedAgentNote, Error> {
    project.require_memory_enabled()?;
    let admitted = admit_content(&note.content, OnSecret::Redact)?;
    let kind = match &note.kind {
        Some(slug) => MemoryType::parse(slug, &project.config.types)?,
        None => MemoryType::Core(promote::suggest_type(&admitted.text).kind),
    };
    if note.payload.is_some() && note.kind.is_none() {
        return Err(Error::refuse(
            "a payload needs a type",
            "name the type whose fields these are",
        ));
    }
    let payload = admit_payload(&kind, note.payload.as_ref(), project.now)?;
    let root = project.place.root.clone();
    let (files, missing_files) = resolve_files(project, &note.files, &root)?;
    let modules = admit_labels("module", &note.modules)?;
    let recorded = RecordedNote {
        kind: kind.clone(),
        content: admitted.text,
        // Without modules the note is about the project.
        scope: note.scope.or((!modules.is_empty()).then_some(MemoryScope::Module)),
        tags: admit_labels("tag", &note.tags)?,
        files,
        modules,
        payload: payload.map(|it| it.to_json()),
        step: None,
    };

    // In the journal of the conversation, the note is judged together with the events around it.
    let (journal_session, mut events) = if let Some(id) = running_conversation(project, session) {
        (id, Vec::new())
    } else {
        // A repeated start event has the same id and is ignored.
        let start = Event::SessionStart(own_session_start(&root, session));
        (session.id, vec![new_event(project, session.id, "start", start)])
    };

    // The given id is unique only within a process, but other processes may write to the same
    // journal.
    let event_id = format!("{event_id} {}", session.id);
    events.push(new_event(project, journal_session, &event_id, Event::Record(recorded)));
    record_events(project, &events).await?;
    Ok(RecordedAgentNote {
        session: journal_session,
        kind,
        n_redacted: admitted.n_redacted,
        missing_files,
        external_source: external_source(project, journal_session),
    })
}

/// Journals the end of the agent's own session, if it has a journal: without a note there is nothing
/// to learn.
pub(crate) async fn end_agent_session(
    project: &mut Project,
    session: &AgentSession,
) -> Result<(), Error> {
    if !list_journals(project).iter().any(|it| it.session == session.id) {
        return Ok(());
    }
    let end = Event::SessionEnd(SessionEnd { outcome: None, steps: None });
    let events = [new_event(project, session.id, "end", end)];
    record_events(project, &events).await
}

/// Marks a memory for review: it is not injected until the user has looked at it.
pub(crate) async fn flag_for_review(
    project: &Project,
    session: &AgentSession,
    id: &str,
    why: &str,
) -> Result<Memory, Error> {
    let LocatedMemory { notebook, mut memory } = find_by_id(project, id).await?;
    refuse_if_forgotten(&memory)?;
    if why.trim().is_empty() {
        return Err(Error::refuse("the reason is empty", "say what is wrong with it"));
    }
    memory.flags.needs_review = true;
    replace_as_agent(project, session, &notebook, memory, Some(clean_reason(why))).await
}

/// Relates a memory to another memory or to a file. Repeating it has no effect.
pub(crate) async fn relate_memory(
    project: &Project,
    session: &AgentSession,
    id: &str,
    kind: RelationKind,
    target: &str,
) -> Result<Memory, Error> {
    // Superseding deprecates the target, and that is the user's decision.
    if kind == RelationKind::Supersedes {
        return Err(Error::refuse(
            "an agent does not replace a memory",
            "flag the one that is wrong and record what is right",
        ));
    }
    let LocatedMemory { notebook, mut memory } = find_by_id(project, id).await?;
    refuse_if_forgotten(&memory)?;
    let target = match find_by_id(project, target).await {
        Ok(found) if found.memory.id == memory.id => {
            return Err(Error::refuse("a memory does not relate to itself", "name another"));
        }
        Ok(found) => RelationTarget::Memory(found.memory.id),
        Err(error @ (Error::Store(_) | Error::Ambiguous { .. })) => return Err(error),
        // Not the id of a memory, so it must be a file.
        Err(_) => RelationTarget::File(existing_file(project, target)?),
    };
    let is_same = |it: &Relation| (it.kind, &it.target) == (kind, &target);
    if memory.relations.iter().any(is_same) {
        return Ok(memory);
    }
    let confidence = STATED_RELATION_CONFIDENCE;
    memory.relations.push(Relation { kind, target, confidence, auto: false });
    replace_as_agent(project, session, &notebook, memory, None).await
}

/// Records memories that the agent requested as shown to the host's conversation, so that no hook injects
/// them again. Each has the tokens of its note.
pub(crate) fn record_requested_memories(
    reader: &ProjectReader,
    session: &AgentSession,
    memories: &[(MemoryId, u32)],
) -> Result<(), Error> {
    // Without a host's conversation they are recorded for the connection: the injection log has them.
    let id = session.host_session.clone().unwrap_or_else(|| session.id.to_string());
    shown_notes::record_memories(reader, &id, &session.agent, memories)
}

/// Returns the files that the host's conversation touched last; empty if it is not known.
pub(crate) fn recent_files_of_agent(
    reader: &ProjectReader,
    session: &AgentSession,
) -> Vec<ProjectPath> {
    let host = session.host_session.as_ref();
    host.map_or_else(Vec::new, |it| shown_notes::session_files(reader, it))
}

/// Returns the session of the host's conversation, if it is journalled and has not ended. After its
/// end the agent may be in a new conversation whose id is unknown.
fn running_conversation(reader: &ProjectReader, session: &AgentSession) -> Option<SessionId> {
    let id = agents::derive_session_id(session.host_session.as_deref()?);
    let journal = list_journals(reader).into_iter().find(|it| it.session == id)?;
    (!journal.has_ended).then_some(id)
}

/// Builds the start event of a session that consists of an agent's notes only.
fn own_session_start(root: &Path, session: &AgentSession) -> SessionStart {
    SessionStart {
        project_root: root.to_string_lossy().into_owned(),
        agent: session.agent.clone(),
        host_session: None,
        session_type: None,
        task: None,
        planned_steps: None,
        phase: None,
        role: None,
        parent: None,
        transcript: None,
        work_unit: None,
    }
}

fn new_event(reader: &ProjectReader, session: SessionId, id: &str, event: Event) -> EventEnvelope {
    EventEnvelope { id: id.to_owned(), session, at: reader.now, event }
}

/// Writes one changed memory with the agent as author, and reads it back. The audit trail lists all
/// changes by agents as `Flag`.
async fn replace_as_agent(
    project: &Project,
    session: &AgentSession,
    notebook: &Notebook,
    after: Memory,
    detail: Option<String>,
) -> Result<Memory, Error> {
    let (id, after) = (after.id, Memory { updated_at: project.now, ..after });
    let actor = agent_actor(session);
    let changes = vec![StoreChange::Replace(Box::new(after))];
    let batch = WriteBatch { actor, detail, ..user_batch(AuditAction::Flag, project.now, changes) };
    project.write(notebook.scope, batch).await?;
    let stored = notebook.store.memories().get(id).await?;
    stored.ok_or_else(|| Error::NotFound { id: id.short() })
}

/// The agent as the author of a change.
pub(crate) fn agent_actor(session: &AgentSession) -> Actor {
    Actor::Agent(mask_label(&session.agent, model::MAX_LABEL))
}

/// Resolves the path of a file that exists in the project.
fn existing_file(reader: &ProjectReader, target: &str) -> Result<ProjectPath, Error> {
    let path = reader.project_path(Path::new(target), &reader.place.root);
    let exists = |it: &ProjectPath| source::exists_in_project(&reader.place.root, it.as_str());
    path.ok().filter(exists).ok_or_else(|| {
        let hint = "name a memory by its id, or a file of this project by its path";
        Error::refuse(format!("`{target}` is neither a memory nor a file here"), hint)
    })
}
