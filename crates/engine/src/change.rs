//! Changing a memory by hand: edit, pin, forget, restore. Each is one undoable batch.

use std::path::PathBuf;

use model::{Actor, Hlc, MAX_LABEL, Memory, MemoryType, PerMille, Scope, Timestamp};
use store::{Action, Batch, Change};

use crate::admit::{self, OnSecret};
use crate::{Engine, Error, Found, Notebook};

/// What to change; absent fields stay.
#[derive(Clone, Debug)]
pub struct Edit {
    pub content: Option<String>,
    pub kind: Option<String>,
    pub tags: Option<Vec<String>>,
    pub files: Option<Vec<PathBuf>>,
    pub modules: Option<Vec<String>>,
    pub confidence: Option<PerMille>,
    pub cwd: PathBuf,
    pub on_secret: OnSecret,
}

impl Engine {
    /// Changes what a memory says or is about; the version before stays in its history.
    pub async fn edit(&self, id: &str, edit: Edit) -> Result<(Memory, Memory), Error> {
        self.refuse_closed()?;
        let Found { notebook, memory: before } = self.find(id).await?;
        refuse_forgotten(&before)?;
        let mut after = before.clone();
        if let Some(content) = &edit.content {
            reword(&mut after, admit::content(content, edit.on_secret)?.text);
            after.anchors = self.anchored_anew(after.anchors);
        }
        if let Some(word) = &edit.kind {
            after.kind = MemoryType::parse(word, &self.config.types)?;
            // A payload belongs to its type.
            after.payload = after.payload.filter(|it| Some(it.kind()) == after.kind.core());
        }
        after.summary = promote::summary(&after.content, &after.kind);
        if let Some(tags) = &edit.tags {
            after.tags = admit::labels("tag", tags)?;
        }
        if let Some(files) = &edit.files {
            let (paths, anchors) = self.anchored(files, &edit.cwd)?;
            after.files = self.files(&paths, &edit.cwd)?.0;
            after.anchors.retain(|it| after.files.contains(&it.file));
            after.anchors.retain(|it| anchors.iter().all(|new| new.symbol != it.symbol));
            after.anchors.extend(anchors.into_iter().filter(|_| after.project.is_some()));
        }
        if let Some(modules) = &edit.modules {
            after.modules = admit::labels("module", modules)?;
            after.scope = if after.modules.is_empty() { Scope::Global } else { Scope::Module };
        }
        after.confidence = edit.confidence.unwrap_or(after.confidence);
        if after == before {
            return Err(Error::refused(
                "that changes nothing",
                "say what to change: --text, --type, --tag, --file …",
            ));
        }
        let after = self.replace(&notebook, Action::Edit, after).await?;
        Ok((before, after))
    }

    pub async fn pin(&self, id: &str, pinned: bool) -> Result<(Memory, bool), Error> {
        let Found { notebook, memory } = self.find(id).await?;
        refuse_forgotten(&memory)?;
        if memory.flags.pinned == pinned {
            return Ok((memory, false));
        }
        let mut after = memory;
        after.flags.pinned = pinned;
        Ok((self.replace(&notebook, Action::Pin, after).await?, true))
    }

    /// Forgets memories softly: restorable for 30 days, out of every list at once. Those of one
    /// notebook go together and come back together.
    pub async fn forget(&self, ids: &[String]) -> Result<Vec<Memory>, Error> {
        let mut found = Vec::new();
        for id in ids {
            let it = self.find(id).await?;
            if it.memory.states.deleted_at.is_some() {
                let hint = format!(
                    "`waylore restore {}` brings it back, `waylore purge {0}` removes it for good",
                    it.memory.id.short()
                );
                return Err(Error::refused(
                    format!("#{} is forgotten already", it.memory.id.short()),
                    hint,
                ));
            }
            if !found.iter().any(|known: &Found| known.memory.id == it.memory.id) {
                found.push(it);
            }
        }
        for it in &mut found {
            it.memory.states.deleted_at = Some(self.now);
            it.memory.updated_at = self.now;
        }
        for notebook in self.notebooks() {
            let of_this = found.iter().filter(|it| it.notebook.reach == notebook.reach);
            let changes: Vec<Change> =
                of_this.map(|it| Change::Replace(Box::new(it.memory.clone()))).collect();
            if !changes.is_empty() {
                self.write(&notebook.store, by_user(Action::Forget, self.now, changes)).await?;
            }
        }
        let mut res = Vec::new();
        for Found { notebook, memory } in found {
            res.push(notebook.store.get(memory.id).await?.unwrap_or(memory));
        }
        Ok(res)
    }

    /// Brings a memory back: from forgotten or deprecated, into a project it was kept out of, or to
    /// what it said in an older version.
    pub async fn restore(&self, id: &str, version: Option<u32>) -> Result<Memory, Error> {
        let Found { notebook, memory } = self.find(id).await?;
        let mut after = match version {
            None => memory.clone(),
            Some(version) => self.version(&notebook, &memory, version).await?,
        };
        after.version = memory.version;
        // An older wording brings back no trust that was lost, nor any that it never had.
        after.flags.tainted |= memory.flags.tainted;
        after.flags.needs_review |= memory.flags.needs_review;
        after.states.deleted_at = None;
        after.states.deprecated_at = None;
        after.states.deprecated_reason = None;
        after.states.stale_at = None;
        let let_in = version.is_none() && self.include(&notebook, memory.id).await?;
        if after == memory && let_in {
            return Ok(memory);
        }
        if after == memory {
            return Err(Error::refused(
                format!("#{} is not forgotten", memory.id.short()),
                "`waylore history` shows what it said before; `--version N` goes back to it",
            ));
        }
        self.replace(&notebook, Action::Restore, after).await
    }

    async fn version(
        &self,
        notebook: &Notebook,
        memory: &Memory,
        version: u32,
    ) -> Result<Memory, Error> {
        let versions = notebook.store.versions(memory.id).await?;
        let found = versions.into_iter().find(|it| it.version == version);
        found.ok_or_else(|| {
            let hint = format!("`waylore history {}` lists them", memory.id.short());
            Error::refused(format!("#{} has no version {version}", memory.id.short()), hint)
        })
    }

    /// Writes one changed memory and reads it back as it now stands.
    pub(crate) async fn replace(
        &self,
        notebook: &Notebook,
        action: Action,
        after: Memory,
    ) -> Result<Memory, Error> {
        let after = Memory { updated_at: self.now, ..after };
        let id = after.id;
        let changes = vec![Change::Replace(Box::new(after))];
        self.write(&notebook.store, by_user(action, self.now, changes)).await?;
        let found = notebook.store.get(id).await?;
        found.ok_or_else(|| Error::NotFound { id: id.short() })
    }
}

/// Gives a memory another text, and what follows from it.
pub(crate) fn reword(memory: &mut Memory, text: String) {
    if text == memory.content {
        return;
    }
    memory.summary = promote::summary(&text, &memory.kind);
    memory.citation = promote::citation(&text);
    memory.flags.needs_review |= promote::instruction_like(&text).is_some();
    memory.content = text;
}

/// A forgotten memory is not changed: nobody would see it.
pub(crate) fn refuse_forgotten(memory: &Memory) -> Result<(), Error> {
    if memory.states.deleted_at.is_none() {
        return Ok(());
    }
    let id = memory.id.short();
    Err(Error::refused(
        format!("#{id} is forgotten"),
        format!("`waylore restore {id}` brings it back"),
    ))
}

/// A batch a person asked for.
pub(crate) fn by_user(action: Action, now: Timestamp, changes: Vec<Change>) -> Batch {
    let (actor, after) = (Actor::User, Hlc::default());
    Batch { key: None, action, actor, detail: None, now, after, changes }
}

/// A reason as the record keeps it: one line, no secrets.
pub(crate) fn reason(text: &str) -> String {
    admit::masked(text, 4 * MAX_LABEL)
}
