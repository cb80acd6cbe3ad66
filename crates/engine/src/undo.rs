//! What happened, and taking it back.

use model::{Memory, MemoryId, RESTORABLE, Timestamp, age};
use store::{Action, Change, Entry, Step, Store};

use crate::change::by_user;
use crate::correct::EXCLUDE;
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

/// More entries than any audit trail has.
const ALL: u32 = u32::MAX >> 1;

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
        let last = match id {
            Some(id) => self.last_change_of(id).await?,
            None => self.last_change().await?,
        };
        let Some((notebook, entry)) = last else {
            return Err(Error::nothing("there is nothing to undo"));
        };
        let quiet = self.quiet(&notebook.store).await?;
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
    async fn last_change(&self) -> Result<Option<(Notebook, Entry)>, Error> {
        let mut last: Option<(Notebook, Entry)> = None;
        for notebook in self.notebooks() {
            if let Some(entry) = self.last_in(&notebook.store).await?
                && last.as_ref().is_none_or(|it| it.1.hlc < entry.hlc)
            {
                last = Some((notebook, entry));
            }
        }
        Ok(last)
    }

    /// The last batch of a store of which there is anything left to take back.
    async fn last_in(&self, store: &Store) -> Result<Option<Entry>, Error> {
        let last = store.last_undoable(None).await?;
        let Some(entry) = &last else { return Ok(None) };
        if self.is_left(store, entry).await? {
            return Ok(last);
        }
        // All it changed was erased since. That is rare, so the long way will do.
        for older in store.recent(ALL).await? {
            let open = older.undone_by.is_none() && older.action.undoable();
            if open && self.is_left(store, &older).await? {
                return Ok(Some(older));
            }
        }
        Ok(None)
    }

    /// Whether a batch changed anything that is still here.
    async fn is_left(&self, store: &Store, entry: &Entry) -> Result<bool, Error> {
        match excluded(entry) {
            Some(id) => Ok(self.user.get(id).await?.is_some()),
            None => Ok(!store.steps(entry.batch).await?.is_empty()),
        }
    }

    /// The last change of one memory; for a user's, that may be having been kept out of this project.
    async fn last_change_of(&self, id: &str) -> Result<Option<(Notebook, Entry)>, Error> {
        let Found { notebook, memory } = self.find(id).await?;
        let own = notebook.store.last_undoable(Some(memory.id)).await?;
        let own = own.map(|it| (notebook.clone(), it));
        if notebook.reach == Reach::Project {
            return Ok(own);
        }
        for project in self.within(Some(Reach::Project)) {
            let here = |it: &Entry| it.undone_by.is_none() && excluded(it) == Some(memory.id);
            let last = project.store.recent(ALL).await?.into_iter().find(here);
            if let Some(entry) = last
                && own.as_ref().is_none_or(|it| it.1.hlc < entry.hlc)
            {
                return Ok(Some((project, entry)));
            }
        }
        Ok(own)
    }

    async fn take_back(&self, notebook: &Notebook, entry: Entry) -> Result<Undone, Error> {
        let steps = notebook.store.steps(entry.batch).await?;
        let mut changes = Vec::new();
        let mut ids = Vec::new();
        if let Some(id) = excluded(&entry) {
            let value = (entry.action == Action::Restore).then(|| "true".to_owned());
            changes.push(Change::Setting { key: format!("{EXCLUDE}{id}"), value });
            ids.push((id, false));
        }
        for step in steps {
            let current = notebook.store.get(step.id).await?;
            let current = current.ok_or_else(|| Error::NotFound { id: step.id.short() })?;
            let versions = notebook.store.versions(step.id).await?;
            let (mut after, created) = back(&step, current, &versions, self.now)?;
            if entry.action == Action::Prune {
                // Otherwise the next upkeep would find it as faded as this one did.
                after.updated_at = self.now;
            }
            changes.push(Change::Replace(Box::new(after)));
            ids.push((step.id, created));
        }
        changes.push(Change::Undoes(entry.batch));
        self.write(&notebook.store, by_user(Action::Undo, self.now, changes)).await?;
        let mut memories = Vec::new();
        for (id, created) in ids {
            let store = if excluded(&entry).is_some() { &self.user } else { &notebook.store };
            let now = if created { None } else { store.get(id).await? };
            memories.push((id, now));
        }
        Ok(Undone { entry, reach: notebook.reach, memories })
    }
}

/// The memory that a batch kept out of the project, or let in again.
fn excluded(entry: &Entry) -> Option<MemoryId> {
    entry.detail.as_ref()?.strip_prefix(EXCLUDE)?.parse().ok()
}

/// The memory as it was a step before, and whether that step had created it.
fn back(
    step: &Step,
    current: Memory,
    versions: &[Memory],
    now: Timestamp,
) -> Result<(Memory, bool), Error> {
    if !still_as_made(step, &current, versions) {
        return Err(Error::refused(
            format!("#{} was changed again since", step.id.short()),
            format!("undo that first: `waylore undo {}`", step.id.short()),
        ));
    }
    let version = current.version;
    let created = step.version == 1;
    let mut after = match &step.before {
        Some(before) => before.clone(),
        None if created => current,
        None => {
            let what = format!("what #{} said before is no longer known", step.id.short());
            return Err(Error::Refused { what, hint: None });
        }
    };
    if created {
        after.states.deleted_at = Some(now);
    }
    after.version = version;
    Ok((after, created))
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
