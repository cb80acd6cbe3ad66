//! Teaching: a person's sentence becomes a memory, merges into one, or replaces one.

use std::path::{Path, PathBuf};

use model::{
    Actor, Counters, Flags, Hlc, Kind, MAX_LABEL, Memory, MemoryId, MemoryType, PerMille,
    ProjectPath, Scope, SoftStates, Source, Visibility,
};
use promote::Suggestion;
use store::Batch;

use crate::admit::{self, OnSecret};
use crate::resolve::plain;
use crate::{Engine, Error, Notebook, Reach};

/// What a person teaches is believed this much from the start.
const TAUGHT: PerMille = PerMille::new(900);

/// What a person wants remembered.
#[derive(Clone, Debug)]
pub struct Teaching {
    pub content: String,
    /// The slug of a type; suggested from the text when absent.
    pub kind: Option<String>,
    pub reach: Reach,
    pub tags: Vec<String>,
    /// As typed; relative to `cwd`. `path:symbol` and `path:line` bind it to a symbol.
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
    /// As it stands now; after a repeated key it may have been forgotten meanwhile.
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
        self.refuse_closed()?;
        if let Some(key) = &teaching.key {
            admit::label("key", key)?;
        }
        let admitted = admit::content(&teaching.content, teaching.on_secret)?;
        let suggested = teaching.kind.is_none().then(|| promote::suggest_type(&admitted.text));
        let kind = match (&teaching.kind, &suggested) {
            (Some(word), _) => MemoryType::parse(word, &self.config.types)?,
            (None, Some(suggestion)) => MemoryType::Core(suggestion.kind),
            (None, None) => MemoryType::Core(Kind::ModuleInsight),
        };
        let (paths, anchors) = self.anchored(&teaching.files, &teaching.cwd)?;
        let (files, absent) = self.files(&paths, &teaching.cwd)?;
        let tags = admit::labels("tag", &teaching.tags)?;
        let modules = admit::labels("module", &teaching.modules)?;
        // Whatever may be refused was: only what is kept may register a project.
        let notebook = if teaching.dry_run {
            self.within(Some(teaching.reach)).pop()
        } else {
            Some(self.notebook(teaching.reach).await?)
        };
        let held = promote::instruction_like(&admitted.text);
        let mut fresh = self.draft(teaching.reach, kind, &admitted.text);
        fresh.scope = if modules.is_empty() { Scope::Global } else { Scope::Module };
        (fresh.tags, fresh.modules, fresh.files) = (tags, modules, files);
        // The user's own memories speak of no symbol of one project.
        fresh.anchors = if teaching.reach == Reach::Project { anchors } else { Vec::new() };
        fresh.flags.pinned = teaching.pinned;
        fresh.flags.needs_review = held.is_some();
        let (memory, novelty, batch) = match (&notebook, teaching.on_duplicate) {
            (Some(notebook), OnDuplicate::Resolve) => {
                self.resolve(&notebook.store, fresh, teaching.kind.is_some()).await?
            }
            _ => plain(fresh),
        };
        let (memory, repeated) = match notebook.filter(|_| !teaching.dry_run) {
            None => (memory, false),
            Some(Notebook { store, .. }) => {
                let applied = self.write(&store, Batch { key: teaching.key, ..batch }).await?;
                let (id, repeated) = (applied.ids.first().copied(), applied.repeated);
                let saved = store.get(id.unwrap_or(memory.id)).await?;
                // A repeated key answers with what the first call saved, as it stands now.
                if repeated && saved.is_none() {
                    return Err(Error::refused(
                        "what this key had kept was erased",
                        "to keep the text all the same, give another key",
                    ));
                }
                (saved.unwrap_or(memory), repeated)
            }
        };
        let reach = teaching.reach;
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
    pub(crate) fn draft(&self, reach: Reach, kind: MemoryType, content: &str) -> Memory {
        let head = source::head(&self.place);
        let in_project = reach == Reach::Project;
        Memory {
            id: MemoryId::new(self.now, (self.config.random)()),
            project: self.project.id().filter(|_| in_project),
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
            branch: head.branch.filter(|_| in_project).map(|it| admit::masked(&it, 4 * MAX_LABEL)),
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
            admit::label("file", path.as_str())?;
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let gone = |it: &&ProjectPath| !source::exists(&self.place.root, it.as_str());
        let absent = files.iter().filter(gone).cloned().collect();
        Ok((files, absent))
    }
}
