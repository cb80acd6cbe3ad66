//! Changes: any number of files at once, resolved together.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Graph;
use crate::facts::Facts;
use crate::resolve::{self, Links};
use crate::sketch::index;
use crate::world::FileId;

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

impl Graph {
    /// Applies changes and finds the edges of all whom they concern, on up to `threads` threads.
    pub fn update(&mut self, changes: Vec<Change>, threads: usize) -> Updated {
        let mut due: BTreeSet<FileId> = BTreeSet::new();
        let mut gone: BTreeSet<FileId> = BTreeSet::new();
        let mut keys = Vec::new();
        for change in changes {
            match change {
                Change::Put { path, facts } => {
                    let id = self.world.id(&path).unwrap_or_else(|| self.new_id());
                    keys.extend(self.world.put(id, &path, facts));
                    due.insert(id);
                    gone.remove(&id);
                }
                Change::Gone { path } => {
                    let Some(id) = self.world.id(&path) else { continue };
                    keys.extend(self.world.remove(id));
                    self.set_links(id, None);
                    self.free.push(id);
                    due.remove(&id);
                    gone.insert(id);
                }
            }
        }
        for key in &keys {
            due.extend(self.watchers.get(key).into_iter().flatten());
        }
        due.retain(|it| self.world.get(*it).is_some());
        let due: Vec<FileId> = due.into_iter().collect();
        for (id, links) in self.resolve_all(&due, threads) {
            self.set_links(id, Some(links));
        }
        Updated { resolved: due, gone: gone.into_iter().collect() }
    }

    /// Puts a file with edges that were found before, unchanged since.
    pub fn restore(&mut self, id: FileId, path: &str, facts: Facts, links: Links) {
        self.world.put(id, path, facts);
        self.set_links(id, Some(links));
    }

    fn new_id(&mut self) -> FileId {
        self.free.pop().unwrap_or_else(|| {
            self.links.push(None);
            index(self.links.len() - 1)
        })
    }

    fn set_links(&mut self, id: FileId, links: Option<Links>) {
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
            if let Some(known) = self.watchers.get_mut(key) {
                known.retain(|it| *it != id);
                if known.is_empty() {
                    self.watchers.remove(key);
                }
            }
        }
        for key in after.iter().filter(|it| before.binary_search(it).is_err()) {
            self.watchers.entry(*key).or_default().push(id);
        }
        self.links[slot] = new;
    }

    fn resolve_all(&self, due: &[FileId], threads: usize) -> Vec<(FileId, Links)> {
        let world = &self.world;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut res = Vec::new();
            while let Some(id) = due.get(next.fetch_add(1, Ordering::Relaxed)) {
                res.push((*id, resolve::links(world, *id)));
            }
            res
        };
        if threads <= 1 || due.len() < 8 {
            return work();
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |it: std::thread::ScopedJoinHandle<'_, Vec<(FileId, Links)>>| {
                it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect()
        })
    }
}
