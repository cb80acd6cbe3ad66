//! Changes: any number of files at once, resolved together.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Graph;
use crate::facts::Facts;
use crate::precise::Precise;
use crate::resolve::{self, Kept, Links};
use crate::sketch::index;
use crate::world::{FileId, Key};

/// What happened to a file.
#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
#[derive(Debug)]
pub enum Change {
    Put { path: String, facts: Facts },
    Gone { path: String },
}

/// What an update touched, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Files whose edges were found anew.
    pub resolved: Vec<FileId>,
    /// Numbers that no file has any more.
    pub gone: Vec<FileId>,
}

/// What was taken in and not settled yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    keys: Vec<Key>,
    due: BTreeSet<FileId>,
    gone: BTreeSet<FileId>,
}

impl Graph {
    /// Applies changes and finds the edges of all whom they concern, on up to `threads` threads.
    pub fn update(&mut self, changes: Vec<Change>, threads: usize) -> Updated {
        changes.into_iter().for_each(|it| {
            self.take(it);
        });
        self.settle(threads)
    }

    /// Takes a change in; edges are as they were until `settle`. Answers with the file's number.
    pub fn take(&mut self, change: Change) -> Option<FileId> {
        match change {
            Change::Put { path, facts } => {
                let id = self.world.id(&path).unwrap_or_else(|| self.new_id());
                let keys = self.world.put(id, &path, facts);
                self.pending.keys.extend(keys);
                self.pending.due.insert(id);
                self.pending.gone.remove(&id);
                Some(id)
            }
            Change::Gone { path } => {
                let id = self.world.id(&path)?;
                let keys = self.world.remove(id);
                self.pending.keys.extend(keys);
                self.set_links(id, None);
                self.free.push(id);
                self.pending.due.remove(&id);
                self.pending.gone.insert(id);
                Some(id)
            }
        }
    }

    /// Finds the edges of all whom the changes since the last time concern.
    pub fn settle(&mut self, threads: usize) -> Updated {
        let Pending { keys, mut due, gone } = std::mem::take(&mut self.pending);
        for key in &keys {
            due.extend(self.watchers.get(*key));
        }
        due.retain(|it| self.world.get(*it).is_some());
        let due: Vec<FileId> = due.into_iter().collect();
        for (id, links) in self.resolve_all(&due, threads) {
            self.set_links(id, Some(links));
        }
        Updated { resolved: due, gone: gone.into_iter().collect() }
    }

    /// Adds what a precise index says of a file's references, until the file changes.
    pub fn refine(&mut self, id: FileId, precise: Precise) {
        self.world.refine(id, Some(precise));
        self.pending.due.insert(id);
    }

    /// Puts a file back as it was kept. Without edges, it waits for `settle`.
    pub fn restore(
        &mut self,
        id: FileId,
        path: &str,
        facts: Facts,
        precise: Option<Precise>,
        links: Option<Links>,
    ) {
        self.world.put(id, path, facts);
        self.world.refine(id, precise);
        if links.is_none() {
            self.pending.due.insert(id);
        }
        self.set_links(id, links.map(|it| Kept::new(&it)));
    }

    /// Numbers between those of restored files are free again; called once all are back.
    pub fn reclaim(&mut self) {
        let ids = (0..self.links.len()).map(index);
        self.free = ids.filter(|it| self.world.get(*it).is_none()).collect();
    }

    fn new_id(&mut self) -> FileId {
        self.free.pop().unwrap_or_else(|| {
            self.links.push(None);
            index(self.links.len() - 1)
        })
    }

    fn set_links(&mut self, id: FileId, links: Option<Kept>) {
        let slot = id as usize;
        if self.links.len() <= slot {
            self.links.resize_with(slot + 1, || None);
        }
        let (old, new) = (self.links[slot].take(), links);
        let (before, after) = (
            old.as_ref().map_or(&[][..], |it| &it.keys),
            new.as_ref().map_or(&[][..], |it| &it.keys),
        );
        for key in before.iter().filter(|it| after.binary_search(it).is_err()) {
            self.watchers.remove(*key, |it| *it == id);
        }
        for key in after.iter().filter(|it| before.binary_search(it).is_err()) {
            self.watchers.add(*key, id);
        }
        self.links[slot] = new;
    }

    fn resolve_all(&self, due: &[FileId], threads: usize) -> Vec<(FileId, Kept)> {
        let world = &self.world;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut res = Vec::new();
            while let Some(id) = due.get(next.fetch_add(1, Ordering::Relaxed)) {
                res.push((*id, Kept::new(&resolve::links(world, *id))));
            }
            res
        };
        if threads <= 1 || due.len() < 8 {
            return work();
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |it: std::thread::ScopedJoinHandle<'_, Vec<(FileId, Kept)>>| {
                it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect()
        })
    }
}
