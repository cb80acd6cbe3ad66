//! The graph: all files, their edges, and how a change travels through it.

mod change;

pub use change::{Change, Updated};

use crate::facts::Facts;
use crate::resolve::{self, Kept, Links, Site};
use crate::world::{FileId, Table, World};

/// Facts of all files with the edges between them.
///
/// The invariant: `links` of a file are what resolving it now would give. `update` keeps it by
/// resolving again whoever looked for something that changed.
#[derive(Debug, Default)]
pub struct Graph {
    world: World,
    links: Vec<Option<Kept>>,
    /// Who looked for what.
    watchers: Table<FileId>,
    free: Vec<FileId>,
    pending: change::Pending,
}

impl Graph {
    pub fn len(&self) -> usize {
        self.world.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn id(&self, path: &str) -> Option<FileId> {
        self.world.id(path)
    }

    pub fn path(&self, file: FileId) -> Option<&str> {
        self.world.get(file).map(|it| &*it.path)
    }

    /// A file's facts as they came; put together anew.
    pub fn facts(&self, file: FileId) -> Option<Facts> {
        self.world.facts(file)
    }

    pub fn n_symbols(&self, file: FileId) -> usize {
        self.world.get(file).map_or(0, |it| it.facts.defs.len())
    }

    /// A file's edges and what was looked for to find them.
    pub fn links(&self, file: FileId) -> Option<Links> {
        self.kept(file)?.links()
    }

    /// The same as bytes: edges and keys.
    pub fn kept(&self, file: FileId) -> Option<&Kept> {
        self.links.get(file as usize)?.as_ref()
    }

    /// The files in the order of their numbers.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.world.files().map(|it| (it.0, &*it.1.path))
    }

    /// What every single reference of a file leads to. Computed anew: edges are what is kept.
    pub fn sites(&self, file: FileId) -> Vec<Site> {
        resolve::sites(&self.world, file)
    }
}
