//! The symbol graph: the facts of all files, the edges between their symbols, and incremental
//! updates.
//!
//! An update has two steps: [`SymbolGraph::stage`] changes facts and collects the lookup keys whose
//! result changed; [`SymbolGraph::resolve_pending`] resolves again every file that looked up one of
//! them. `engine` stores the result; queries read the [`crate::QueryGraph`] built from it.
//!
//! A *lookup key* is the hash of one lookup that the resolver made: "the file at the path `b.ts`",
//! "the name `Repo` in the package `a`". A lookup without a result is recorded as well. For
//! example, `a.ts` imports `./b`, which does not exist yet, so it watches the key of `b.ts`. When
//! `b.ts` is added, that key changes, and `a.ts` is resolved again without having changed itself.
//!
//! *Facts* are what the extractor found in one file: definitions, imports, references. *Precise*
//! targets of references come from an index that a compiler wrote (`precise.rs`).

mod update;

use crate::facts::FileFacts;
use crate::file_index::{FileIndex, SmallMultimap};
use crate::ids::FileId;
use crate::precise::PreciseReferences;
use crate::resolve::{self, EncodedFileEdges, FileEdges, ResolvedReference};

pub use update::{GraphChange, GraphUpdate};

/// The facts of all files with the edges between them.
///
/// Invariant: outside a pending change, `edges` of a file equal the result of resolving it now. An
/// update restores it by resolving again every file that looked up something that changed.
#[derive(Debug, Default)]
pub struct SymbolGraph {
    index: FileIndex,
    /// By file id. Encoded to save memory: all files are held, and few are read again.
    edges: Vec<Option<EncodedFileEdges>>,
    /// The files that recorded a lookup key while they were resolved.
    watchers: SmallMultimap<FileId>,
    /// Ids of removed files, for reuse.
    free_ids: Vec<FileId>,
    pending: update::PendingChanges,
}

impl SymbolGraph {
    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn file_id(&self, path: &str) -> Option<FileId> {
        self.index.file_id(path)
    }

    pub fn path(&self, file: FileId) -> Option<&str> {
        self.index.get(file).map(|it| &*it.path)
    }

    /// A file's facts as they were inserted. Reassembled on every call.
    pub fn facts(&self, file: FileId) -> Option<FileFacts> {
        self.index.facts(file)
    }

    /// Returns whether the grammar could not parse a file completely.
    pub fn is_partly_parsed(&self, file: FileId) -> bool {
        self.index.get(file).is_some_and(|it| it.facts.n_syntax_errors > 0)
    }

    pub fn n_symbols(&self, file: FileId) -> usize {
        self.index.get(file).map_or(0, |it| it.facts.defs.len())
    }

    /// A file's edges with the lookup keys they depend on. Decoded on every call.
    pub fn file_edges(&self, file: FileId) -> Option<FileEdges> {
        self.encoded_edges(file)?.decode()
    }

    /// As [`Self::file_edges`], in encoded form.
    pub fn encoded_edges(&self, file: FileId) -> Option<&EncodedFileEdges> {
        self.edges.get(file.index())?.as_ref()
    }

    /// All files in the order of their ids.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.index.files().map(|it| (it.0, &*it.1.path))
    }

    /// The target of every single reference of a file. Resolved on every call: the graph stores
    /// edges, of which several references may share one.
    pub fn resolve_references(&self, file: FileId) -> Vec<ResolvedReference> {
        resolve::resolve_references(&self.index, file)
    }

    /// Applies changes and resolves all affected files, on up to `threads` threads.
    pub fn update(&mut self, changes: Vec<GraphChange>, threads: usize) -> GraphUpdate {
        for change in changes {
            self.stage(change);
        }
        self.resolve_pending(threads)
    }

    /// Applies a change to the facts. Edges stay as they are until [`Self::resolve_pending`].
    /// Returns the id of the file.
    pub fn stage(&mut self, change: GraphChange) -> Option<FileId> {
        match change {
            GraphChange::Put { path, facts } => {
                let id = self.index.file_id(&path).unwrap_or_else(|| self.allocate_id());
                let keys = self.index.insert(id, &path, facts);
                self.pending.changed_keys.extend(keys);
                self.pending.unresolved.insert(id);
                // The id may be one that an earlier change of the same batch freed.
                self.pending.removed.remove(&id);
                Some(id)
            }
            GraphChange::Removed { path } => {
                let id = self.index.file_id(&path)?;
                let keys = self.index.remove(id);
                self.pending.changed_keys.extend(keys);
                // At once, so that the next file with this id does not inherit the watched keys.
                self.set_edges(id, None);
                self.free_ids.push(id);
                self.pending.unresolved.remove(&id);
                self.pending.removed.insert(id);
                Some(id)
            }
        }
    }

    /// Resolves every file that the staged changes affect.
    pub fn resolve_pending(&mut self, threads: usize) -> GraphUpdate {
        // The files that changed themselves, and those that looked up something that changed.
        let pending = std::mem::take(&mut self.pending);
        let mut affected = pending.unresolved;
        for key in &pending.changed_keys {
            affected.extend(self.watchers.get(*key));
        }
        // `set_precise` accepts ids of files that no longer exist.
        affected.retain(|it| self.index.get(*it).is_some());
        let affected: Vec<FileId> = affected.into_iter().collect();
        for (id, edges) in update::resolve_files(&self.index, &affected, threads) {
            self.set_edges(id, Some(edges));
        }
        GraphUpdate { resolved: affected, removed: pending.removed.into_iter().collect() }
    }

    /// Sets the precise targets of a file's references. They are dropped when the file changes.
    pub fn set_precise(&mut self, id: FileId, precise: PreciseReferences) {
        self.index.set_precise(id, Some(precise));
        self.pending.unresolved.insert(id);
    }

    /// Inserts a file as it was stored, without affecting others. A file without edges is resolved
    /// by the next [`Self::resolve_pending`].
    pub fn restore_file(
        &mut self,
        id: FileId,
        path: &str,
        facts: FileFacts,
        precise: Option<PreciseReferences>,
        edges: Option<FileEdges>,
    ) {
        // The changed keys are ignored: the stored edges already take the file into account.
        self.index.insert(id, path, facts);
        self.index.set_precise(id, precise);
        if edges.is_none() {
            self.pending.unresolved.insert(id);
        }
        self.set_edges(id, edges.map(|it| EncodedFileEdges::encode(&it)));
    }

    /// Makes the unused ids between those of restored files available. Call once after restoring.
    pub fn reclaim_file_ids(&mut self) {
        let ids = (0..self.edges.len()).map(FileId::from_index);
        self.free_ids = ids.filter(|it| self.index.get(*it).is_none()).collect();
    }

    /// The id of a removed file, or the next new one.
    fn allocate_id(&mut self) -> FileId {
        self.free_ids.pop().unwrap_or_else(|| {
            self.edges.push(None);
            FileId::from_index(self.edges.len() - 1)
        })
    }

    /// Replaces a file's edges and updates the watchers of the keys that differ.
    fn set_edges(&mut self, id: FileId, edges: Option<EncodedFileEdges>) {
        let slot = id.index();
        if self.edges.len() <= slot {
            self.edges.resize_with(slot + 1, || None);
        }
        let old_edges = self.edges[slot].take();
        let old_keys = old_edges.as_ref().map_or(&[][..], |it| &it.keys);
        let new_keys = edges.as_ref().map_or(&[][..], |it| &it.keys);
        // Both are sorted. After an edit most keys are equal, so only the difference is written.
        for key in old_keys {
            let is_dropped = new_keys.binary_search(key).is_err();
            if is_dropped {
                self.watchers.remove_where(*key, |it| *it == id);
            }
        }
        for key in new_keys {
            let is_added = old_keys.binary_search(key).is_err();
            if is_added {
                self.watchers.insert(*key, id);
            }
        }
        self.edges[slot] = edges;
    }
}
