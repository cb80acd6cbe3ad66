//! All files of a project as the resolver sees them: facts with interned names, found by path and
//! by name. The facts of a file are its definitions, imports, exports and references; an interned
//! name is the number of a text, the same in all files.
//!
//! The resolver accesses the index only through a [`TrackedView`], which records every lookup,
//! whether it succeeded or not. When a file is added, removed or changed, exactly the files that
//! looked up something affected are resolved again. The result equals a rebuild from scratch.
//!
//! For example, `a.ts` imports `./b`, which does not exist. Resolving `a.ts` records the key of the
//! path `b.ts`. When `b.ts` is added, [`FileIndex::insert`] reports that key, and the caller
//! resolves `a.ts` again.

mod index_keys;
mod indexed_file;
mod multimap;
mod name_interner;
mod tracked_view;

use std::collections::HashMap;

use model::hasher::FastBuildHasher;

pub(crate) use index_keys::MACRO_NAMESPACE;
pub(crate) use indexed_file::{DefQuery, IndexedFile};
pub(crate) use multimap::SmallMultimap;
pub(crate) use name_interner::{LIST_NAME, NameId, NameInterner};
pub(crate) use tracked_view::TrackedView;

use crate::facts::{DefId, FileFacts};
use crate::ids::FileId;
use crate::precise::PreciseReferences;

/// A definition in a given file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefRef {
    pub file: FileId,
    pub def: DefId,
}

/// The hash of a lookup, successful or not. Stored, so it is equal on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupKey(pub u64);

/// The kinds of lookups that a [`LookupKey`] identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupKind {
    /// A file by its path.
    Path = 1,
    /// A definition in an open namespace: the namespace and the name.
    Namespace = 2,
    /// A member that is defined outside the body of its type: the name of the type and its own.
    OutOfLineMember = 3,
    /// Any method with this name.
    Method = 4,
    /// A package by its name.
    Package = 5,
    /// A folder that is a Python package, by its name.
    PythonPackage = 6,
}

impl LookupKey {
    /// Mixes the kind and up to two hashed texts; an unused text is 0.
    pub(crate) const fn new(kind: LookupKind, first: u64, second: u64) -> Self {
        // Odd multipliers of well-known mixing functions (the golden ratio, Murmur3 and the like).
        // Keys are stored, so they must not change without a new version of the edge format.
        const FIRST_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        const KIND_MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;
        const FINAL_MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;
        // The rotation makes (a, b) and (b, a) different keys.
        let texts = first.wrapping_mul(FIRST_MULTIPLIER) ^ second.rotate_left(32);
        let kind = (kind as u64).wrapping_mul(KIND_MULTIPLIER);
        Self((texts ^ kind).wrapping_mul(FINAL_MULTIPLIER))
    }
}

/// The facts of all files with the tables to look them up.
#[derive(Debug, Default)]
pub(crate) struct FileIndex {
    pub(crate) names: NameInterner,
    /// By file id; `None` for an id that is free.
    files: Vec<Option<Box<IndexedFile>>>,
    by_path: HashMap<Box<str>, FileId, FastBuildHasher>,
    /// Definitions that files find without knowing the file they are in; see `index_keys`.
    defs_by_key: SmallMultimap<DefRef>,
}

impl FileIndex {
    pub(crate) fn file_id(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    pub(crate) fn get(&self, file: FileId) -> Option<&IndexedFile> {
        self.files.get(file.index())?.as_deref()
    }

    /// A file's facts as they were inserted.
    pub(crate) fn facts(&self, file: FileId) -> Option<FileFacts> {
        self.get(file).map(|it| it.facts(&self.names))
    }

    /// A copy of the file with its references decoded, for resolving it.
    pub(crate) fn with_references(&self, file: FileId) -> Option<IndexedFile> {
        self.get(file).map(IndexedFile::with_references)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (FileId, &IndexedFile)> {
        let slots = self.files.iter().enumerate();
        slots.filter_map(|(id, it)| Some((FileId::from_index(id), it.as_deref()?)))
    }

    /// One more than the highest file id in use.
    pub(crate) fn n_slots(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Inserts a file or replaces the one with this id. Returns the keys of all lookups whose
    /// result may have changed.
    pub(crate) fn insert(&mut self, id: FileId, path: &str, facts: FileFacts) -> Vec<LookupKey> {
        let file = Box::new(IndexedFile::new(&mut self.names, id, path, facts));
        let mut affected_keys = Vec::new();
        if self.files.len() <= id.index() {
            self.files.resize_with(id.index() + 1, || None);
        }
        match self.files[id.index()].take() {
            Some(old) if old.path == file.path => {
                // An edit inside a function body leaves the interface hash unchanged: no other file
                // can see a difference, so no key is reported.
                if old.facts.interface_hash != file.facts.interface_hash
                    || old.facts.lang != file.facts.lang
                {
                    affected_keys.push(old.path_key);
                    affected_keys.extend(changed_keys(&old.index_keys, &file.index_keys));
                    self.remove_from_index(&old);
                    self.add_to_index(&file);
                }
            }
            // A new path.
            old => {
                // The id belonged to another path: that file is gone.
                if let Some(old) = old {
                    affected_keys.extend(self.unregister(old));
                }
                affected_keys.push(file.path_key);
                affected_keys.extend(file.index_keys.iter().map(|it| it.0));
                self.by_path.insert(path.into(), id);
                self.add_to_index(&file);
            }
        }
        self.files[id.index()] = Some(file);
        affected_keys
    }

    /// Sets the precise targets of a file's references, which a SCIP index of a compiler gives
    /// (`precise.rs`). Inserting the file again drops them.
    pub(crate) fn set_precise(&mut self, id: FileId, precise: Option<PreciseReferences>) {
        if let Some(file) = self.files.get_mut(id.index()).and_then(Option::as_mut) {
            file.precise = precise.filter(|it| !it.is_empty()).map(Box::new);
        }
    }

    /// Removes a file. Returns the keys of all lookups whose result changes.
    pub(crate) fn remove(&mut self, id: FileId) -> Vec<LookupKey> {
        match self.files.get_mut(id.index()).and_then(Option::take) {
            Some(old) => self.unregister(old),
            None => Vec::new(),
        }
    }

    /// Removes a file from the lookup tables. Returns its keys.
    fn unregister(&mut self, old: Box<IndexedFile>) -> Vec<LookupKey> {
        self.by_path.remove(&old.path);
        self.remove_from_index(&old);
        let mut keys = vec![old.path_key];
        keys.extend(old.index_keys.iter().map(|it| it.0));
        keys
    }

    fn add_to_index(&mut self, file: &IndexedFile) {
        for (key, def) in &file.index_keys {
            self.defs_by_key.insert(*key, DefRef { file: file.id, def: *def });
        }
    }

    fn remove_from_index(&mut self, file: &IndexedFile) {
        for (key, _) in &file.index_keys {
            self.defs_by_key.remove_where(*key, |it| it.file == file.id);
        }
    }

    fn defs_by_key(&self, key: LookupKey) -> &[DefRef] {
        self.defs_by_key.get(key)
    }
}

/// Keys that one of two versions of a file provides more often than the other. A definition that
/// only moved inside the file changes no key.
fn changed_keys(old: &[(LookupKey, DefId)], new: &[(LookupKey, DefId)]) -> Vec<LookupKey> {
    let mut counts: HashMap<LookupKey, i64, FastBuildHasher> = HashMap::default();
    // The old version counts down and the new one up: 0 is left for a key that both have.
    old.iter().for_each(|(key, _)| *counts.entry(*key).or_default() -= 1);
    new.iter().for_each(|(key, _)| *counts.entry(*key).or_default() += 1);
    counts.into_iter().filter(|(_, count)| *count != 0).map(|(key, _)| key).collect()
}
