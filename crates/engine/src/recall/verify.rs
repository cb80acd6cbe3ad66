//! Verified before it is said: a memory that speaks of files or symbols that are not there is withheld,
//! and put up for review so that somebody looks.

use std::sync::Arc;

use model::{Actor, Anchor, Memory, MemoryId};
use store::{Action, Batch, Change};

use super::ask::PassedOver;
use crate::change::{by_user, reason};
use crate::models::aside;
use crate::{Engine, Error};

impl Engine {
    /// Why a memory may not be said here, if what it speaks of is gone. Files are looked for, symbols are
    /// read; what moved elsewhere is found by the index.
    pub(super) async fn unfounded(&self, memory: &Memory) -> Option<PassedOver> {
        // The user's memories may mean files of any project.
        memory.project?;
        if !self.speaks_of_something(memory) {
            return Some(PassedOver::FilesGone);
        }
        if memory.anchors.is_empty() {
            return None;
        }
        let (root, anchors) = (self.place.root.clone(), memory.anchors.clone());
        let kept = Arc::clone(&self.kept);
        let is_there =
            move |it: &Anchor| kept.meaning(&root, it.file.as_str(), &it.symbol).is_some();
        let holds = move || anchors.iter().any(is_there);
        if aside(holds).await {
            return None;
        }
        let fate = self.fates(std::iter::once(memory)).await.pop().unwrap_or_default();
        if fate.gone {
            return Some(PassedOver::FilesGone);
        }
        fate.unbound.then_some(PassedOver::SymbolsGone)
    }

    /// The memory of an id, whosever it is.
    pub(super) async fn memory_at(&self, id: MemoryId) -> Result<Option<Memory>, Error> {
        for notebook in self.notebooks() {
            if let Some(memory) = notebook.store.get(id).await? {
                return Ok(Some(memory));
            }
        }
        Ok(None)
    }

    /// Puts memories up for review that were withheld because what they speak of is gone. Only where they
    /// were made from what is checked out: another branch may still have it.
    pub async fn put_up(&self, withheld: &[(MemoryId, PassedOver)]) -> Result<usize, Error> {
        let Some(store) = self.project_store().filter(store::Store::exists) else { return Ok(0) };
        let mut n = 0;
        for (id, why) in withheld {
            let Some(memory) = store.get(*id).await? else { continue };
            if memory.status() != model::Status::Live || !self.is_of_here(&memory).await {
                continue;
            }
            let mut after = memory;
            (after.flags.needs_review, after.updated_at) = (true, self.now);
            let changes = vec![Change::Replace(Box::new(after))];
            let detail = Some(reason(why.reading()));
            let batch = Batch {
                actor: Actor::Observer,
                detail,
                ..by_user(Action::Flag, self.now, changes)
            };
            self.write(&store, batch).await?;
            n += 1;
        }
        Ok(n)
    }

    /// Whether the commit it was made at is part of what is checked out; true where there is none.
    async fn is_of_here(&self, memory: &Memory) -> bool {
        let (place, commit) = (self.place.clone(), memory.commit.clone());
        match commit {
            None => true,
            Some(commit) => aside(move || source::is_part_of_head(&place, &commit)).await,
        }
    }
}
