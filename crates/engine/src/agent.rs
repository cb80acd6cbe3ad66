//! What an agent may do by itself. It records into the scratchpad, it points at doubts and relations, it
//! proposes another module map; nothing it says counts as a memory before the session was learned from or
//! a person has looked, and it takes none away.

use std::path::{Path, PathBuf};

use model::{
    Actor, Envelope, Event, Memory, MemoryId, MemoryType, PerMille, ProjectPath, RecordedNote,
    Relation, RelationKind, RelationTarget, Scope, SessionEnd, SessionId, SessionStart,
};
use store::{Action, Batch, Change};

use crate::admit::{self, OnSecret};
use crate::change::{by_user, reason, refuse_forgotten};
use crate::{Engine, Error, Found, Notebook};

/// Who speaks, and in which session.
#[derive(Clone, Debug)]
pub struct AgentSession {
    pub id: SessionId,
    /// What the client calls itself.
    pub agent: String,
    /// The host's name for the conversation, where it says so.
    pub host: Option<String>,
}

/// Something an agent wants remembered.
#[derive(Clone, Debug)]
pub struct AgentNote {
    pub content: String,
    /// The slug of a type; suggested from the text when absent.
    pub kind: Option<String>,
    pub tags: Vec<String>,
    pub files: Vec<PathBuf>,
    pub modules: Vec<String>,
}

/// What was recorded. It is no memory yet.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The session whose scratchpad it is in.
    pub session: SessionId,
    pub kind: MemoryType,
    pub redacted: usize,
    /// Files named that do not exist here.
    pub absent: Vec<ProjectPath>,
}

/// How sure a relation is that an agent registers.
const RELATED: PerMille = PerMille::new(700);

impl Engine {
    /// Puts a note into the journal of the session; whether it becomes a memory is decided when the
    /// session is learned from. Where the host's conversation is journalled and goes on, that is its
    /// session. Secrets are masked: nobody is there to correct the text.
    pub async fn record_note(
        &mut self,
        session: &AgentSession,
        note: AgentNote,
        event: String,
    ) -> Result<Noted, Error> {
        self.refuse_closed()?;
        let admitted = admit::content(&note.content, OnSecret::Redact)?;
        let kind = match &note.kind {
            Some(word) => MemoryType::parse(word, &self.config.types)?,
            None => MemoryType::Core(promote::suggest_type(&admitted.text).kind),
        };
        let root = self.place.root.clone();
        let (files, absent) = self.files(&note.files, &root)?;
        let modules = admit::labels("module", &note.modules)?;
        let recorded = RecordedNote {
            kind: kind.clone(),
            content: admitted.text,
            scope: (!modules.is_empty()).then_some(Scope::Module),
            tags: admit::labels("tag", &note.tags)?,
            files,
            modules,
            payload: None,
            step: None,
        };
        let start = SessionStart {
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
        };
        let (id, mut events) = match self.conversation(session) {
            Some(id) => (id, Vec::new()),
            // A repeated beginning has the same id and counts for nothing.
            None => (session.id, vec![self.event(session.id, "start", Event::SessionStart(start))]),
        };
        // Names of notes are unique within a process; others may write into the same journal.
        let event = format!("{event} {}", session.id);
        events.push(self.event(id, &event, Event::Record(recorded)));
        self.journal(&events).await?;
        Ok(Noted { session: id, kind, redacted: admitted.redacted, absent })
    }

    /// The session of the host's conversation, if that is journalled here and has not ended: a host may
    /// go on to another conversation and leave us with the name of the last.
    fn conversation(&self, session: &AgentSession) -> Option<SessionId> {
        let id = agents::session_id(session.host.as_deref()?);
        let journal = self.journalled().into_iter().find(|it| it.session == id)?;
        (!journal.has_ended).then_some(id)
    }

    /// Notes what the host's conversation was told because it asked: no hook need say it again.
    pub fn asked_and_told(
        &self,
        session: &AgentSession,
        memories: impl Iterator<Item = MemoryId>,
    ) -> Result<(), Error> {
        match &session.host {
            Some(host) => self.note_heard(host, memories),
            None => Ok(()),
        }
    }

    /// The files that the host's session went over last, where that is known.
    pub fn went_over(&self, session: &AgentSession) -> Vec<ProjectPath> {
        session.host.as_ref().map_or_else(Vec::new, |it| self.files_at_hand(it))
    }

    /// Says that the session is over.
    pub async fn end_notes(&mut self, session: &AgentSession) -> Result<(), Error> {
        let end = Event::SessionEnd(SessionEnd { outcome: None, steps: None });
        let events = [self.event(session.id, "end", end)];
        self.journal(&events).await
    }

    /// Puts a memory up for review: it is no longer said unasked until a person has looked at it.
    pub async fn doubt(
        &self,
        session: &AgentSession,
        id: &str,
        why: &str,
    ) -> Result<Memory, Error> {
        let Found { notebook, memory } = self.find(id).await?;
        refuse_forgotten(&memory)?;
        if why.trim().is_empty() {
            return Err(Error::refused("the reason is empty", "say what is wrong with it"));
        }
        let mut after = memory;
        after.flags.needs_review = true;
        self.replace_by(session, &notebook, after, Some(reason(why))).await
    }

    /// Registers how a memory stands to another, or to a file. Saying it twice says it once.
    pub async fn relate(
        &self,
        session: &AgentSession,
        id: &str,
        kind: RelationKind,
        target: &str,
    ) -> Result<Memory, Error> {
        if kind == RelationKind::Supersedes {
            return Err(Error::refused(
                "an agent does not replace a memory",
                "flag the one that is wrong and record what is right",
            ));
        }
        let Found { notebook, memory } = self.find(id).await?;
        refuse_forgotten(&memory)?;
        let target = match self.find(target).await {
            Ok(found) if found.memory.id == memory.id => {
                return Err(Error::refused("a memory does not relate to itself", "name another"));
            }
            Ok(found) => RelationTarget::Memory(found.memory.id),
            Err(error @ (Error::Store(_) | Error::Ambiguous { .. })) => return Err(error),
            Err(_) => RelationTarget::File(self.related_file(target)?),
        };
        let is_known = |it: &Relation| (it.kind, &it.target) == (kind, &target);
        if memory.relations.iter().any(is_known) {
            return Ok(memory);
        }
        let mut after = memory;
        after.relations.push(Relation { kind, target, confidence: RELATED, auto: false });
        self.replace_by(session, &notebook, after, None).await
    }

    fn related_file(&self, target: &str) -> Result<ProjectPath, Error> {
        let hint = "name a memory by its id, or a file of this project by its path";
        let path = self.path(Path::new(target), &self.place.root.clone());
        let there = |it: &ProjectPath| source::exists(&self.place.root, it.as_str());
        path.ok().filter(there).ok_or_else(|| {
            Error::refused(format!("`{target}` is neither a memory nor a file here"), hint)
        })
    }

    async fn replace_by(
        &self,
        session: &AgentSession,
        notebook: &Notebook,
        after: Memory,
        detail: Option<String>,
    ) -> Result<Memory, Error> {
        let (id, after) = (after.id, Memory { updated_at: self.now, ..after });
        let actor = Actor::Agent(admit::masked(&session.agent, model::MAX_LABEL));
        let changes = vec![Change::Replace(Box::new(after))];
        let batch = Batch { actor, detail, ..by_user(Action::Flag, self.now, changes) };
        self.write(&notebook.store, batch).await?;
        let found = notebook.store.get(id).await?;
        found.ok_or_else(|| Error::NotFound { id: id.short() })
    }

    fn event(&self, session: SessionId, id: &str, event: Event) -> Envelope {
        Envelope { id: id.to_owned(), session, at: self.now, event }
    }
}
