//! What happened, and taking it back.

use model::{Memory, MemoryId, RESTORABLE, Timestamp, age};
use store::{Action, Change, Entry, Step};

use crate::change::by_user;
use crate::{Engine, Error, Found, Notebook, Reach};

/// The life of one memory: each step with the text it had afterwards.
#[derive(Clone, Debug)]
pub struct Past {
    pub memory: Memory,
    /// Oldest first; the last is how it stands now.
    pub steps: Vec<(Entry, Option<Memory>)>,
}

/// What was taken back.
#[derive(Clone, Debug)]
pub struct Undone {
    pub entry: Entry,
    pub reach: Reach,
    /// Each memory as it stands now; `None` was created by the batch and is forgotten.
    pub memories: Vec<(MemoryId, Option<Memory>)>,
}

impl Engine {
    pub async fn history(&self, id: &str) -> Result<Past, Error> {
        let Found { notebook, memory } = self.find(id).await?;
        let versions = notebook.store.versions(memory.id).await?;
        let at = |version: u32| {
            if version == memory.version {
                return Some(memory.clone());
            }
            versions.iter().find(|it| it.version == version).cloned()
        };
        let entries = notebook.store.entries_of(memory.id).await?;
        let steps = entries.into_iter().map(|(entry, version)| (entry, at(version))).collect();
        Ok(Past { memory, steps })
    }

    /// Takes back the last change of a memory, or the last change anywhere. Asked again, it goes
    /// one step further back.
    pub async fn undo(&self, id: Option<&str>) -> Result<Undone, Error> {
        let (notebook, entry) = match id {
            Some(id) => {
                let Found { notebook, memory } = self.find(id).await?;
                let entry = notebook.store.last_undoable(Some(memory.id)).await?;
                (notebook, entry)
            }
            None => self.last_change().await?,
        };
        let Some(entry) = entry else {
            return Err(Error::Refused { what: "there is nothing to undo".to_owned(), hint: None });
        };
        let quiet = notebook.store.quiet_spans().await?;
        if age(entry.at, self.now, &quiet) > RESTORABLE {
            return Err(Error::refused(
                format!(
                    "the last change ({}, {}) is more than 30 days old",
                    entry.action,
                    entry.at.date()
                ),
                "`waylore history` shows older versions; `waylore restore --version N` goes back to one",
            ));
        }
        self.take_back(&notebook, entry).await
    }

    /// The notebook that was changed last, and how.
    async fn last_change(&self) -> Result<(Notebook, Option<Entry>), Error> {
        let mut last: Option<(Notebook, Entry)> = None;
        for notebook in self.notebooks() {
            if let Some(entry) = notebook.store.last_undoable(None).await?
                && last.as_ref().is_none_or(|it| it.1.at < entry.at)
            {
                last = Some((notebook, entry));
            }
        }
        match last {
            Some((notebook, entry)) => Ok((notebook, Some(entry))),
            None => Err(Error::Refused { what: "there is nothing to undo".to_owned(), hint: None }),
        }
    }

    async fn take_back(&self, notebook: &Notebook, entry: Entry) -> Result<Undone, Error> {
        let steps = notebook.store.steps(entry.batch).await?;
        let mut changes = Vec::new();
        let mut ids = Vec::new();
        for step in steps {
            let current = notebook.store.get(step.id).await?;
            let current = current.ok_or_else(|| Error::NotFound { id: step.id.short() })?;
            let versions = notebook.store.versions(step.id).await?;
            let (change, created) = back(&step, current, &versions, self.now)?;
            changes.push(change);
            ids.push((step.id, created));
        }
        changes.push(Change::Undoes(entry.batch));
        notebook.store.apply(by_user(Action::Undo, self.now, changes)).await?;
        let mut memories = Vec::new();
        for (id, created) in ids {
            let now = if created { None } else { notebook.store.get(id).await? };
            memories.push((id, now));
        }
        Ok(Undone { entry, reach: notebook.reach, memories })
    }
}

/// The change that takes one step back, and whether the step had created the memory.
fn back(
    step: &Step,
    current: Memory,
    versions: &[Memory],
    now: Timestamp,
) -> Result<(Change, bool), Error> {
    if !still_as_made(step, &current, versions) {
        return Err(Error::refused(
            format!("#{} was changed again since", step.id.short()),
            format!("undo that first: `waylore undo {}`", step.id.short()),
        ));
    }
    let version = current.version;
    let created = step.before.is_none();
    let mut after = step.before.clone().unwrap_or(current);
    if created {
        after.states.deleted_at = Some(now);
    }
    after.version = version;
    Ok((Change::Replace(Box::new(after)), created))
}

/// Whether the memory says what the step made it say: it is that version, or later ones were undone.
fn still_as_made(step: &Step, current: &Memory, versions: &[Memory]) -> bool {
    if current.version == step.version {
        return true;
    }
    let made = versions.iter().find(|it| it.version == step.version);
    made.is_some_and(|made| {
        let version = made.version;
        let (hlc, updated_at, counters) = (made.hlc, made.updated_at, made.counters);
        Memory { version, hlc, updated_at, counters, ..current.clone() } == *made
    })
}
