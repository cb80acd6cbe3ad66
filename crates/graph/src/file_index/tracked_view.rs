//! Access to the file index that records what was looked up, so that an update can find the files
//! whose resolution may have changed.
//!
//! The resolver reads the index only through this view; `symbol_graph.rs` keeps the recorded keys
//! with the edges of the file. For example, `file_at_path("b.ts")` records the key of that path,
//! even if there is no such file. When `b.ts` is added, the file is resolved again.
//!
//! A [`LookupKey`] is the 64-bit hash of a lookup: of a path, or of a name and where it is looked up.
//! Different lookups may share a key, so the name of a result is compared with the name looked up.
//! Namespaces and the owners of members are not: a wrong result needs the same name and two of a
//! project's few namespaces with one hash. Callers check the owner's type anyway.

use std::cell::RefCell;
use std::collections::HashSet;

use model::hasher::FastBuildHasher;

use super::name_interner::hash_str;
use super::{DefRef, FileIndex, IndexedFile, LookupKey, LookupKind, NameId, NameInterner};
use crate::facts::FileFacts;
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// The index as one file sees it while it is resolved. Every access records a key; the file is
/// resolved again when one of them is reported as changed.
pub(crate) struct TrackedView<'w> {
    index: &'w FileIndex,
    /// The file that is resolved, with its references.
    own_file: &'w IndexedFile,
    recorded_keys: RefCell<HashSet<LookupKey, FastBuildHasher>>,
    /// One bit for each file accessed so far. Most accesses repeat earlier ones, and a bit test is
    /// cheaper than inserting the key again.
    visited_files: RefCell<Vec<u64>>,
}

impl<'w> TrackedView<'w> {
    pub(crate) fn new(index: &'w FileIndex, own_file: &'w IndexedFile) -> Self {
        let visited_files = RefCell::new(vec![0; index.n_slots() / u64::BITS as usize + 1]);
        Self { index, own_file, recorded_keys: RefCell::default(), visited_files }
    }

    /// All recorded keys, sorted.
    pub(crate) fn into_keys(self) -> Vec<LookupKey> {
        let mut keys: Vec<LookupKey> = self.recorded_keys.into_inner().into_iter().collect();
        keys.sort_unstable();
        keys
    }

    /// The names of all files. They say nothing about a file, so reading them records no key.
    pub(crate) fn names(&self) -> &'w NameInterner {
        &self.index.names
    }

    /// The complete facts of a file, rebuilt with their strings; slow.
    pub(crate) fn complete_facts(&self, file: FileId) -> Option<FileFacts> {
        // Records the key of the file.
        self.file(file);
        self.index.facts(file)
    }

    /// Notes that the resolution depends on the result of this lookup.
    fn record_key(&self, key: LookupKey) {
        self.recorded_keys.borrow_mut().insert(key);
    }

    /// The file with this path. The lookup is recorded even if there is no such file: one may be
    /// added later.
    pub(crate) fn file_at_path(&self, path: &str) -> Option<FileId> {
        self.record_key(LookupKey::new(LookupKind::Path, hash_str(path), 0));
        self.index.file_id(path)
    }

    /// The file that is resolved.
    pub(crate) const fn own_file(&self) -> &'w IndexedFile {
        self.own_file
    }

    /// A file that a lookup returned, so it exists.
    pub(crate) fn file(&self, file: FileId) -> &'w IndexedFile {
        // The own file has its references decoded; the index holds it without them.
        let entry = if file == self.own_file.id {
            self.own_file
        } else {
            self.index.get(file).expect("a file id that a lookup returned is in the index")
        };
        if self.mark_visited(file) {
            self.record_key(entry.path_key);
        }
        entry
    }

    /// Sets the bit of a file; returns whether this is its first visit.
    fn mark_visited(&self, file: FileId) -> bool {
        let mut words = self.visited_files.borrow_mut();
        let word = &mut words[file.index() / u64::BITS as usize];
        let bit = 1_u64 << (file.0 % u64::BITS);
        let is_first_visit = *word & bit == 0;
        *word |= bit;
        is_first_visit
    }

    /// The definitions with this name in an open namespace, ordered by path.
    pub(crate) fn namespace_defs(&self, namespace: &str, name: NameId) -> Vec<DefRef> {
        let name_hash = self.index.names.hash_of(name);
        let key = LookupKey::new(LookupKind::Namespace, hash_str(namespace), name_hash);
        self.sorted_defs(key, Some(name))
    }

    /// The members with this name that are defined outside the body of a type called `owner`.
    pub(crate) fn out_of_line_members(&self, owner: NameId, name: NameId) -> Vec<DefRef> {
        let names = &self.index.names;
        let (owner, name_hash) = (names.hash_of(owner), names.hash_of(name));
        let key = LookupKey::new(LookupKind::OutOfLineMember, owner, name_hash);
        self.sorted_defs(key, Some(name))
    }

    /// The method with this name in files of a language family; `None` if there is none or several.
    pub(crate) fn only_method_named(&self, name: NameId, family: LanguageFamily) -> Option<DefRef> {
        let name_hash = self.index.names.hash_of(name);
        let key = LookupKey::new(LookupKind::Method, name_hash, family as u64);
        self.record_key(key);
        // Common names have thousands of methods, whose files need not be looked at.
        let [only] = self.index.defs_by_key(key) else { return None };
        self.has_name(*only, name).then_some(*only)
    }

    /// The manifests of packages with this name, ordered by path.
    pub(crate) fn package_manifests(&self, name: &str) -> Vec<FileId> {
        let key = LookupKey::new(LookupKind::Package, hash_str(name), 0);
        let mut manifests = Vec::new();
        for found in self.sorted_defs(key, None) {
            let entry = self.file(found.file);
            // The package name is the namespace of a manifest.
            let Some(package) = entry.facts.namespace else { continue };
            if self.index.names.text(entry.name_id(package)) == name {
                manifests.push(found.file);
            }
        }
        manifests
    }

    /// The `__init__.py` files of Python packages whose folder has this name, ordered by path.
    pub(crate) fn python_packages(&self, name: &str) -> Vec<FileId> {
        let key = LookupKey::new(LookupKind::PythonPackage, hash_str(name), 0);
        let files = self.sorted_defs(key, None).into_iter().map(|it| it.file);
        files.filter(|it| self.file(*it).folder().rsplit('/').next() == Some(name)).collect()
    }

    /// The definitions of a key ordered by path, without those that have its hash but not `name`.
    /// `None` for keys whose entries stand for whole files; the caller compares those. Records the
    /// file of every definition, also of those that are left out.
    fn sorted_defs(&self, key: LookupKey, name: Option<NameId>) -> Vec<DefRef> {
        self.record_key(key);
        let found = self.index.defs_by_key(key);
        if found.is_empty() {
            return Vec::new();
        }
        let has_name = |it: &&DefRef| name.is_none_or(|name| self.has_name(**it, name));
        let mut defs: Vec<DefRef> = found.iter().filter(has_name).copied().collect();
        // Insertion order depends on the history of updates; the path does not.
        defs.sort_by(|a, b| {
            (&*self.file(a.file).path, a.def).cmp(&(&*self.file(b.file).path, b.def))
        });
        defs
    }
    fn has_name(&self, def: DefRef, name: NameId) -> bool {
        let entry = self.file(def.file);
        entry.name_id(entry.facts.def(def.def).name) == name
    }
}
