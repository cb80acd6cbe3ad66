//! All files at once, as the resolver sees them: facts with shared names, found by path and by name.
//!
//! Every look at the world goes through a `Lens`, which writes down what was looked for, found or
//! not. When a file comes, goes or changes, those who looked for it are resolved again, and nobody
//! else: that is what makes an update as good as starting over.

mod entry;
mod few;
mod lens;
mod names;

use std::collections::HashMap;

pub(crate) use entry::{Entry, MACROS, Want};
pub(crate) use few::Table;
pub(crate) use lens::Lens;
pub(crate) use names::{LIST, Name, Names};

use crate::facts::Facts;
use crate::fast::FastHasher;
use crate::precise::Precise;

/// A file's number; it keeps it for as long as it is there.
pub type FileId = u32;

/// A definition of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefRef {
    pub file: FileId,
    pub def: u32,
}

/// What somebody may look for, as a number: equal texts give equal keys on every machine.
pub type Key = u64;

/// The kinds of things that are found by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sought {
    Path = 1,
    /// A definition of an open namespace: space and name.
    Open = 2,
    /// A member that stands outside its type: the type's name and its own.
    Outside = 3,
    /// Any method of this name.
    Method = 4,
    /// A package by its name.
    Package = 5,
    /// A top folder of Python packages.
    Top = 6,
}

pub(crate) const fn key(sought: Sought, first: u64, second: u64) -> Key {
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second.rotate_left(32);
    (mixed ^ (sought as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
        .wrapping_mul(0xff51_afd7_ed55_8ccd)
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) names: Names,
    files: Vec<Option<Box<Entry>>>,
    by_path: HashMap<Box<str>, FileId, FastHasher>,
    index: Table<DefRef>,
}

impl World {
    pub(crate) fn id(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    pub(crate) fn get(&self, file: FileId) -> Option<&Entry> {
        self.files.get(file as usize)?.as_deref()
    }

    /// A file's facts as they came.
    pub(crate) fn facts(&self, file: FileId) -> Option<Facts> {
        self.get(file).map(|it| it.facts(&self.names))
    }

    /// A file with what its references need.
    pub(crate) fn whole(&self, file: FileId) -> Option<Entry> {
        self.get(file).map(Entry::whole)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (FileId, &Entry)> {
        let entries = self.files.iter().enumerate();
        entries.filter_map(|(id, it)| Some((crate::sketch::index(id), it.as_deref()?)))
    }

    /// One more than the highest number a file has.
    pub(crate) fn n_slots(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Puts a file in place of what was there under its number. Answers with the keys whose answer
    /// may have changed.
    pub(crate) fn put(&mut self, id: FileId, path: &str, facts: Facts) -> Vec<Key> {
        let entry = Box::new(Entry::new(&mut self.names, id, path, facts));
        let mut changed = Vec::new();
        let slot = id as usize;
        if self.files.len() <= slot {
            self.files.resize_with(slot + 1, || None);
        }
        match self.files[slot].take() {
            Some(old) if old.path == entry.path => {
                if old.facts.surface != entry.facts.surface || old.facts.lang != entry.facts.lang {
                    changed.push(old.key);
                    changed.extend(difference(&old.provides, &entry.provides));
                    self.unindex(&old);
                    self.enter(&entry);
                }
            }
            old => {
                if let Some(old) = old {
                    changed.extend(self.forget(old));
                }
                changed.push(entry.key);
                changed.extend(entry.provides.iter().map(|it| it.0));
                self.by_path.insert(path.into(), id);
                self.enter(&entry);
            }
        }
        self.files[slot] = Some(entry);
        changed
    }

    /// Adds what a precise index says of a file's references; forgotten when the file is put anew.
    pub(crate) fn refine(&mut self, id: FileId, precise: Option<Precise>) {
        if let Some(entry) = self.files.get_mut(id as usize).and_then(Option::as_mut) {
            entry.precise = precise.filter(|it| !it.is_empty()).map(Box::new);
        }
    }

    /// Takes a file away; the keys whose answer changes by that.
    pub(crate) fn remove(&mut self, id: FileId) -> Vec<Key> {
        match self.files.get_mut(id as usize).and_then(Option::take) {
            Some(old) => self.forget(old),
            None => Vec::new(),
        }
    }

    fn forget(&mut self, old: Box<Entry>) -> Vec<Key> {
        self.by_path.remove(&old.path);
        self.unindex(&old);
        let mut res = vec![old.key];
        res.extend(old.provides.iter().map(|it| it.0));
        res
    }

    fn enter(&mut self, entry: &Entry) {
        for (key, def) in &entry.provides {
            self.index.add(*key, DefRef { file: entry.id, def: *def });
        }
    }

    fn unindex(&mut self, entry: &Entry) {
        for (key, _) in &entry.provides {
            self.index.remove(*key, |it| it.file == entry.id);
        }
    }

    fn indexed(&self, key: Key) -> &[DefRef] {
        self.index.get(key)
    }
}

/// Keys that one of two files provides more often than the other. Both are sorted.
fn difference(old: &[(Key, u32)], new: &[(Key, u32)]) -> Vec<Key> {
    let mut counts: HashMap<Key, i64, FastHasher> = HashMap::default();
    old.iter().for_each(|it| *counts.entry(it.0).or_default() -= 1);
    new.iter().for_each(|it| *counts.entry(it.0).or_default() += 1);
    counts.into_iter().filter(|it| it.1 != 0).map(|it| it.0).collect()
}
