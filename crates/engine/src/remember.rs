//! Teaching: a person's sentence becomes a memory, merges into one, or replaces one.

use std::path::{Path, PathBuf};

use model::{
    Actor, Counters, Flags, Hlc, Kind, Memory, MemoryId, MemoryType, PerMille, ProjectPath,
    Relation, RelationKind, RelationTarget, Scope, SoftStates, Source, Visibility, words,
};
use promote::{Relationship, Statement, Suggestion};
use store::{Action, Batch, Change, Filter, Store};

use crate::admit::{self, OnSecret};
use crate::find::expression;
use crate::{Engine, Error, Notebook, Reach};

/// What a person teaches is believed this much from the start.
const TAUGHT: PerMille = PerMille::new(900);
/// Saying it again makes it a little surer, up to here.
const SUREST: PerMille = PerMille::new(950);
/// How many memories with the same words are compared with a new one.
const COMPARED: u32 = 30;

/// What a person wants remembered.
#[derive(Clone, Debug)]
pub struct Teaching {
    pub content: String,
    /// The slug of a type; suggested from the text when absent.
    pub kind: Option<String>,
    pub reach: Reach,
    pub tags: Vec<String>,
    /// As typed; relative to `cwd`.
    pub files: Vec<PathBuf>,
    pub modules: Vec<String>,
    pub cwd: PathBuf,
    pub pinned: bool,
    pub on_secret: OnSecret,
    pub on_duplicate: OnDuplicate,
    /// The caller's idempotency key.
    pub key: Option<String>,
    pub dry_run: bool,
}

/// What to do about a memory that says nearly the same, or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The same merges, a contradiction supersedes.
    Resolve,
    /// Both are kept.
    Keep,
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub memory: Memory,
    pub reach: Reach,
    pub novelty: Novelty,
    /// Why the type was chosen, when it was not given.
    pub suggested: Option<Suggestion>,
    pub redacted: usize,
    /// Files named that do not exist here.
    pub absent: Vec<ProjectPath>,
    /// Why it is held for review, when it reads like an order to an agent.
    pub held: Option<&'static str>,
    /// The same key had been used before; nothing happened now.
    pub repeated: bool,
}

/// How it stands to what was known.
#[derive(Clone, Debug)]
pub enum Novelty {
    New,
    /// Merged into a memory that said the same; `was` is its text before.
    Merged {
        was: String,
    },
    /// Replaces a memory that said otherwise.
    Supersedes {
        old: Box<Memory>,
        what: String,
    },
}

impl Engine {
    pub async fn remember(&mut self, teaching: Teaching) -> Result<Remembered, Error> {
        let admitted = admit::content(&teaching.content, teaching.on_secret)?;
        let suggested = teaching.kind.is_none().then(|| promote::suggest_type(&admitted.text));
        let kind = match (&teaching.kind, &suggested) {
            (Some(word), _) => MemoryType::parse(word, &self.config.types)?,
            (None, Some(suggestion)) => MemoryType::Core(suggestion.kind),
            (None, None) => MemoryType::Core(Kind::ModuleInsight),
        };
        let (files, absent) = self.files(&teaching.files, &teaching.cwd)?;
        let notebook = self.notebook(teaching.reach).await?;
        let held = promote::instruction_like(&admitted.text);
        let mut fresh = self.draft(&notebook, kind, &admitted.text);
        fresh.tags = admit::labels("tag", &teaching.tags)?;
        fresh.modules = admit::labels("module", &teaching.modules)?;
        fresh.scope = if fresh.modules.is_empty() { Scope::Global } else { Scope::Module };
        fresh.files = files;
        fresh.flags.pinned = teaching.pinned;
        fresh.flags.needs_review = held.is_some();
        let (memory, novelty, batch) = match teaching.on_duplicate {
            OnDuplicate::Keep => plain(fresh),
            OnDuplicate::Resolve => self.resolve(&notebook.store, fresh).await?,
        };
        let (memory, repeated) = if teaching.dry_run {
            (memory, false)
        } else {
            let applied =
                notebook.store.apply(Batch { key: teaching.key, now: self.now, ..batch }).await?;
            // A repeated key answers with what the first call saved.
            let id = applied.ids.first().copied().unwrap_or(memory.id);
            (notebook.store.get(id).await?.unwrap_or(memory), applied.repeated)
        };
        let reach = notebook.reach;
        Ok(Remembered {
            memory,
            reach,
            novelty,
            suggested,
            redacted: admitted.redacted,
            absent,
            held,
            repeated,
        })
    }

    /// A memory a person teaches, before anything else is known about it.
    pub(crate) fn draft(&self, notebook: &Notebook, kind: MemoryType, content: &str) -> Memory {
        let head = source::head(&self.place);
        let in_project = notebook.reach == Reach::Project;
        Memory {
            id: MemoryId::new(self.now, (self.config.random)()),
            project: notebook.project,
            summary: promote::summary(content, &kind),
            citation: promote::citation(content),
            content: content.to_owned(),
            kind,
            source: Source::UserTaught,
            scope: Scope::Global,
            visibility: Visibility::Personal,
            confidence: TAUGHT,
            tags: Vec::new(),
            files: Vec::new(),
            modules: Vec::new(),
            anchors: Vec::new(),
            work_unit: None,
            session: None,
            provenance: Vec::new(),
            commit: head.commit.filter(|_| in_project),
            branch: head.branch.filter(|_| in_project),
            relations: Vec::new(),
            half_life_days: None,
            flags: Flags { user_verified: true, ..Flags::default() },
            states: SoftStates::default(),
            payload: None,
            created_by: Actor::User,
            created_at: self.now,
            updated_at: self.now,
            version: 0,
            hlc: Hlc::default(),
            counters: Counters::default(),
        }
    }

    /// Paths as typed → paths of the project, and those of them that do not exist.
    pub(crate) fn files(
        &self,
        given: &[PathBuf],
        cwd: &Path,
    ) -> Result<(Vec<ProjectPath>, Vec<ProjectPath>), Error> {
        let mut files: Vec<ProjectPath> = Vec::new();
        for path in given {
            let path = self.path(path, cwd)?;
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let gone = |it: &&ProjectPath| !source::exists(&self.place.root, it.as_str());
        let absent = files.iter().filter(gone).cloned().collect();
        Ok((files, absent))
    }

    /// Compares a draft with what is known and decides what to write.
    async fn resolve(
        &self,
        store: &Store,
        fresh: Memory,
    ) -> Result<(Memory, Novelty, Batch), Error> {
        let known = self.alike(store, &fresh).await?;
        let statements: Vec<Statement<'_>> = known.iter().map(statement).collect();
        let Some((at, relationship)) = promote::nearest(&statement(&fresh), &statements) else {
            return Ok(plain(fresh));
        };
        let old = known[at].clone();
        Ok(match relationship {
            Relationship::Same | Relationship::Near { .. } => merge(old, fresh),
            Relationship::Contradicts { what } => supersede(old, fresh, what.to_string()),
            Relationship::Unrelated => plain(fresh),
        })
    }

    /// Memories that share words with the draft and still stand.
    async fn alike(&self, store: &Store, fresh: &Memory) -> Result<Vec<Memory>, Error> {
        let terms = words::keywords(&fresh.content);
        if terms.is_empty() || !store.exists() {
            return Ok(Vec::new());
        }
        let hits = store.search(expression(&terms, " OR "), Filter::standing(COMPARED)).await?;
        Ok(hits.into_iter().map(|it| it.memory).collect())
    }
}

fn statement(memory: &Memory) -> Statement<'_> {
    Statement { text: &memory.content, files: &memory.files, kind: &memory.kind }
}

fn batch(action: Action, changes: Vec<Change>) -> Batch {
    Batch { key: None, action, actor: Actor::User, detail: None, now: model::Timestamp(0), changes }
}

fn plain(fresh: Memory) -> (Memory, Novelty, Batch) {
    let batch = batch(Action::Remember, vec![Change::Insert(Box::new(fresh.clone()))]);
    (fresh, Novelty::New, batch)
}

/// The known memory takes everything either of them named, and the fuller wording.
fn merge(old: Memory, fresh: Memory) -> (Memory, Novelty, Batch) {
    let was = old.content.clone();
    let confidence = old.confidence.plus(50).at_most(SUREST).max(old.confidence);
    let mut merged = Memory { confidence, updated_at: fresh.updated_at, ..old };
    if fresh.content.len() >= merged.content.len() {
        merged.content = fresh.content;
        merged.summary = fresh.summary;
        merged.citation = fresh.citation;
    }
    for tag in fresh.tags {
        if !merged.tags.contains(&tag) {
            merged.tags.push(tag);
        }
    }
    for file in fresh.files {
        if !merged.files.contains(&file) {
            merged.files.push(file);
        }
    }
    for module in fresh.modules {
        if !merged.modules.contains(&module) {
            merged.modules.push(module);
        }
    }
    merged.flags.user_verified = true;
    merged.flags.pinned |= fresh.flags.pinned;
    // A person said it themselves now; what was doubtful about it no longer is.
    merged.flags.needs_review = fresh.flags.needs_review;
    merged.states.stale_at = None;
    let batch = batch(Action::Merge, vec![Change::Replace(Box::new(merged.clone()))]);
    (merged, Novelty::Merged { was }, batch)
}

/// The new memory points at the old one, which stays on record but is no longer believed.
fn supersede(old: Memory, mut fresh: Memory, what: String) -> (Memory, Novelty, Batch) {
    fresh.relations.push(Relation {
        kind: RelationKind::Supersedes,
        target: RelationTarget::Memory(old.id),
        confidence: PerMille::ONE,
        auto: true,
    });
    let mut retired = old.clone();
    retired.states.deprecated_at = Some(fresh.updated_at);
    retired.states.deprecated_reason = Some(format!("superseded by #{}", fresh.id.short()));
    retired.updated_at = fresh.updated_at;
    let changes = vec![Change::Insert(Box::new(fresh.clone())), Change::Replace(Box::new(retired))];
    (fresh, Novelty::Supersedes { old: Box::new(old), what }, batch(Action::Supersede, changes))
}
