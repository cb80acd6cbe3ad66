//! Looking at the world, and writing down what for.

use std::cell::RefCell;
use std::collections::HashSet;

use super::names::hash;
use super::{DefRef, Entry, FileId, Key, Name, Sought, World, key};
use crate::fast::FastHasher;
use crate::lang::Family;

pub(crate) struct Lens<'w> {
    pub(crate) world: &'w World,
    /// The file that is resolved, as a whole.
    own: &'w Entry,
    looked_for: RefCell<HashSet<Key, FastHasher>>,
    /// Files that were looked into already, a bit each: most looks are second ones.
    seen: RefCell<Vec<u64>>,
}

impl<'w> Lens<'w> {
    pub(crate) fn new(world: &'w World, own: &'w Entry) -> Self {
        let seen = RefCell::new(vec![0; world.n_slots() / 64 + 1]);
        Self { world, own, looked_for: RefCell::default(), seen }
    }

    /// Everything that was looked for, sorted.
    pub(crate) fn into_keys(self) -> Vec<Key> {
        let mut res: Vec<Key> = self.looked_for.into_inner().into_iter().collect();
        res.sort_unstable();
        res
    }

    fn note(&self, key: Key) {
        self.looked_for.borrow_mut().insert(key);
    }

    pub(crate) fn file(&self, path: &str) -> Option<FileId> {
        self.note(key(Sought::Path, hash(path), 0));
        self.world.id(path)
    }

    /// The file that is resolved.
    pub(crate) const fn own(&self) -> &'w Entry {
        self.own
    }

    /// A file that is there, because something of it was found.
    pub(crate) fn entry(&self, file: FileId) -> &'w Entry {
        let entry = if file == self.own.id {
            self.own
        } else {
            self.world.get(file).expect("what was found in the world is in it")
        };
        let mut seen = self.seen.borrow_mut();
        let (word, bit) = (&mut seen[file as usize / 64], 1_u64 << (file % 64));
        if *word & bit == 0 {
            *word |= bit;
            drop(seen);
            self.note(entry.key);
        }
        entry
    }

    /// The definitions of an open namespace with this name, in the order of their paths.
    pub(crate) fn open(&self, space: &str, name: Name) -> Vec<DefRef> {
        self.sorted(key(Sought::Open, hash(space), self.world.names.hash(name)), Some(name))
    }

    /// The members with this name that stand outside a type of that name.
    pub(crate) fn outside(&self, owner: Name, name: Name) -> Vec<DefRef> {
        let names = &self.world.names;

        self.sorted(key(Sought::Outside, names.hash(owner), names.hash(name)), Some(name))
    }

    pub(crate) fn methods(&self, name: Name, family: Family) -> &'w [DefRef] {
        let key = key(Sought::Method, self.world.names.hash(name), family as u64);
        self.note(key);
        self.world.indexed(key)
    }

    /// Manifests of a package, in the order of their paths.
    pub(crate) fn packages(&self, name: &str) -> Vec<FileId> {
        let found = self.sorted(key(Sought::Package, hash(name), 0), None);
        let is_it = |it: &FileId| {
            let entry = self.entry(*it);
            entry.facts.space.is_some_and(|it| self.world.names.text(entry.name(it)) == name)
        };
        found.into_iter().map(|it| it.file).filter(is_it).collect()
    }

    /// Python packages whose folder has this name.
    pub(crate) fn tops(&self, name: &str) -> Vec<FileId> {
        self.sorted(key(Sought::Top, hash(name), 0), None).into_iter().map(|it| it.file).collect()
    }

    /// What the index holds, without those that only share the key's number.
    fn sorted(&self, key: Key, name: Option<Name>) -> Vec<DefRef> {
        self.note(key);
        let found = self.world.indexed(key);
        if found.is_empty() {
            return Vec::new();
        }
        let is_it = |it: &&DefRef| {
            let entry = self.entry(it.file);
            name.is_none_or(|name| entry.name(entry.facts.defs[it.def as usize].name) == name)
        };
        let mut res: Vec<DefRef> = found.iter().filter(is_it).copied().collect();
        res.sort_by(|a, b| {
            (&*self.entry(a.file).path, a.def).cmp(&(&*self.entry(b.file).path, b.def))
        });
        res
    }
}
