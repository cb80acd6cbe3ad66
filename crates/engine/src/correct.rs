//! Correcting a memory: the four ways of being wrong, and saying that it is right.

use std::path::PathBuf;

use model::{Memory, MemoryId, RelationKind, Scope};
use store::{Action, Batch, Change};

use crate::admit::{self, OnSecret};
use crate::change::{self, by_user, reason};
use crate::resolve::successor;
use crate::{Engine, Error, Found, Notebook, Reach};

/// What a person says about a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correction {
    /// It is right: lifts review, and is the only thing that lifts taint. Teaching the same again
    /// lifts review too.
    Right,
    /// It was true once. With a text, that replaces it.
    Outdated { replacement: Option<String> },
    /// Part of it is wrong: the text becomes its new version.
    PartlyWrong { text: String },
    /// It is true elsewhere: narrowed to these, or, for a user's memory, kept out of this project.
    NotHere { modules: Vec<String>, files: Vec<PathBuf>, cwd: PathBuf },
    /// It was never true; the text says what is.
    Incorrect { text: String },
}

impl Correction {
    const fn brings_text(&self) -> bool {
        match self {
            Self::Right | Self::NotHere { .. } | Self::Outdated { replacement: None } => false,
            Self::Outdated { .. } | Self::PartlyWrong { .. } | Self::Incorrect { .. } => true,
        }
    }
}

/// What the correction did.
#[derive(Clone, Debug)]
pub struct Corrected {
    pub memory: Memory,
    pub replacement: Option<Memory>,
    /// Memories that rest on it and now wait for review.
    pub shaken: Vec<Memory>,
    /// A user's memory that this project no longer sees.
    pub excluded: bool,
}

/// How the setting begins that keeps a user's memory out of a project.
pub(crate) const EXCLUDE: &str = "exclude.";
/// A person's confirmation adds this much.
const CONFIRMED: u16 = 100;

impl Engine {
    pub async fn correct(&mut self, id: &str, correction: Correction) -> Result<Corrected, Error> {
        if correction.brings_text() {
            self.refuse_closed()?;
        }
        let Found { notebook, memory } = self.find(id).await?;
        refuse_settled(&memory)?;
        match correction {
            Correction::Right => self.confirm(&notebook, memory).await,
            Correction::Outdated { replacement } => {
                self.retire(&notebook, memory, "outdated", replacement).await
            }
            Correction::Incorrect { text } => {
                self.retire(&notebook, memory, "incorrect", Some(text)).await
            }
            Correction::PartlyWrong { text } => self.reword(&notebook, memory, &text).await,
            Correction::NotHere { modules, files, cwd } => {
                let (files, _) = self.files(&files, &cwd)?;
                self.narrow(&notebook, memory, admit::labels("module", &modules)?, files).await
            }
        }
    }

    async fn confirm(&self, notebook: &Notebook, memory: Memory) -> Result<Corrected, Error> {
        let mut after = memory;
        after.flags.user_verified = true;
        after.flags.needs_review = false;
        after.flags.tainted = false;
        after.states.stale_at = None;
        after.anchors = self.anchored_anew(after.anchors);
        after.confidence = after.confidence.plus(CONFIRMED);
        let memory = self.replace(notebook, Action::Verify, after).await?;
        Ok(Corrected { memory, replacement: None, shaken: Vec::new(), excluded: false })
    }

    /// Deprecates a memory, puts the replacement beside it, and asks for review of what rests on it.
    async fn retire(
        &self,
        notebook: &Notebook,
        memory: Memory,
        why: &str,
        text: Option<String>,
    ) -> Result<Corrected, Error> {
        let fresh = match &text {
            None => None,
            Some(text) => Some(self.replacement(notebook.reach, &memory, text)?),
        };
        let mut after = memory.clone();
        after.states.deprecated_at = Some(self.now);
        after.states.deprecated_reason = Some(match &fresh {
            Some(fresh) => reason(&format!("{why}, superseded by #{}", fresh.id.short())),
            None => why.to_owned(),
        });
        after.updated_at = self.now;
        let shaken = self.resting_on(notebook, &memory).await?;
        let mut changes = vec![Change::Replace(Box::new(after))];
        changes.extend(fresh.clone().map(|it| Change::Insert(Box::new(it))));
        changes.extend(shaken.iter().cloned().map(|it| Change::Replace(Box::new(it))));
        self.write(&notebook.store, by_user(Action::Flag, self.now, changes)).await?;
        let memory = notebook.store.get(memory.id).await?.unwrap_or(memory);
        Ok(Corrected { memory, replacement: fresh, shaken, excluded: false })
    }

    fn replacement(&self, reach: Reach, old: &Memory, text: &str) -> Result<Memory, Error> {
        let text = other_text(old, text)?;
        let mut draft = self.draft(reach, old.kind.clone(), &text);
        draft.flags.needs_review = promote::instruction_like(&text).is_some();
        Ok(successor(old, draft, false))
    }

    /// What names this memory as its ground, marked for review.
    async fn resting_on(&self, notebook: &Notebook, memory: &Memory) -> Result<Vec<Memory>, Error> {
        let mut res: Vec<Memory> = Vec::new();
        for kind in [RelationKind::DerivedFrom, RelationKind::Supersedes] {
            for mut it in notebook.store.pointing_at(memory.id, kind).await? {
                let stands = it.states.deleted_at.is_none() && it.states.deprecated_at.is_none();
                if stands && !res.iter().any(|known| known.id == it.id) {
                    it.flags.needs_review = true;
                    it.updated_at = self.now;
                    res.push(it);
                }
            }
        }
        Ok(res)
    }

    async fn reword(
        &self,
        notebook: &Notebook,
        memory: Memory,
        text: &str,
    ) -> Result<Corrected, Error> {
        let mut after = memory.clone();
        change::reword(&mut after, other_text(&memory, text)?);
        after.anchors = self.anchored_anew(after.anchors);
        after.flags.user_verified = true;
        after.updated_at = self.now;
        let shaken = self.resting_on(notebook, &memory).await?;
        let mut changes = vec![Change::Replace(Box::new(after))];
        changes.extend(shaken.iter().cloned().map(|it| Change::Replace(Box::new(it))));
        self.write(&notebook.store, by_user(Action::Flag, self.now, changes)).await?;
        let memory = notebook.store.get(memory.id).await?.unwrap_or(memory);
        Ok(Corrected { memory, replacement: None, shaken, excluded: false })
    }

    async fn narrow(
        &mut self,
        notebook: &Notebook,
        memory: Memory,
        modules: Vec<String>,
        files: Vec<model::ProjectPath>,
    ) -> Result<Corrected, Error> {
        if notebook.reach == Reach::User {
            return self.exclude(memory).await;
        }
        if modules.is_empty() && files.is_empty() {
            return Err(Error::refused(
                "a project's memory can only be narrowed",
                "say where it does apply: --module NAME or --file PATH; if nowhere, flag it `incorrect`",
            ));
        }
        let mut after = memory;
        after.scope = if modules.is_empty() { after.scope } else { Scope::Module };
        after.modules = if modules.is_empty() { after.modules } else { modules };
        after.files = if files.is_empty() { after.files } else { files };
        let memory = self.replace(notebook, Action::Flag, after).await?;
        Ok(Corrected { memory, replacement: None, shaken: Vec::new(), excluded: false })
    }

    /// Keeps a user's memory out of this project only.
    async fn exclude(&mut self, memory: Memory) -> Result<Corrected, Error> {
        if self.excluded().await?.contains(&memory.id) {
            let id = memory.id.short();
            return Err(Error::refused(
                format!("#{id} is kept out of this project already"),
                format!("`waylore restore {id}` lets it in again"),
            ));
        }
        let store = self.notebook(Reach::Project).await?.store;
        self.write(&store, self.exclusion(Action::Flag, memory.id)).await?;
        Ok(Corrected { memory, replacement: None, shaken: Vec::new(), excluded: true })
    }

    /// Lets a user's memory into this project again; says whether it had been kept out.
    pub(crate) async fn include(&self, notebook: &Notebook, id: MemoryId) -> Result<bool, Error> {
        let kept_out = notebook.reach == Reach::User && self.excluded().await?.contains(&id);
        if let Some(store) = self.project_store().filter(|_| kept_out) {
            self.write(&store, self.exclusion(Action::Restore, id)).await?;
        }
        Ok(kept_out)
    }

    /// The batch that keeps a user's memory out (`Flag`) or lets it in (`Restore`). It lies in the
    /// project's notebook and changes no memory, so it names the memory in its detail.
    fn exclusion(&self, action: Action, id: MemoryId) -> Batch {
        let key = format!("{EXCLUDE}{id}");
        let value = (action == Action::Flag).then(|| "true".to_owned());
        let changes = vec![Change::Setting { key: key.clone(), value }];
        Batch { detail: Some(key), ..by_user(action, self.now, changes) }
    }
}

/// What a person settled already is not corrected again.
fn refuse_settled(memory: &Memory) -> Result<(), Error> {
    change::refuse_forgotten(memory)?;
    if memory.states.deprecated_at.is_none() {
        return Ok(());
    }
    let id = memory.id.short();
    let why = memory.states.deprecated_reason.as_deref().unwrap_or("the reason is not known");
    Err(Error::refused(
        format!("#{id} is deprecated already: {why}"),
        format!("`waylore restore {id}` brings it back"),
    ))
}

/// The text of a correction, which must say something else.
fn other_text(memory: &Memory, text: &str) -> Result<String, Error> {
    let text = admit::content(text, OnSecret::Refuse)?.text;
    if text == memory.content {
        let hint = "say what is right instead";
        return Err(Error::refused("that is what the memory says already", hint));
    }
    Ok(text)
}
