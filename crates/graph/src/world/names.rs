//! Names shared by all files: one number each.

use std::collections::HashMap;

use crate::facts::{Hash, Texts};
use crate::fast::FastHasher;
use crate::sketch::index;

/// A name's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) u32);

#[derive(Debug)]
pub(crate) struct Names {
    /// By the hash of their text; of two with one hash, the later has the next number that is free.
    known: HashMap<u64, Name, FastHasher>,
    texts: Texts,
    hashes: Vec<u64>,
}

/// The one name that is needed whether or not a file bears it: what a list is.
pub(crate) const LIST: Name = Name(0);

impl Default for Names {
    fn default() -> Self {
        let mut res =
            Self { known: HashMap::default(), texts: Texts::default(), hashes: Vec::new() };
        let list = res.add("Array");
        debug_assert_eq!(list, LIST);
        res
    }
}

impl Names {
    pub(crate) fn add(&mut self, text: &str) -> Name {
        let hash = hash(text);
        let at = match self.look(text, hash) {
            Ok(name) => return name,
            Err(at) => at,
        };
        let name = Name(index(self.texts.len()));
        self.texts.push(text);
        self.hashes.push(hash);
        self.known.insert(at, name);
        name
    }

    /// A name that some file bears; no other can be found.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        self.look(text, hash(text)).ok()
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        self.texts.get(name.0 as usize).unwrap_or_default()
    }

    pub(crate) fn hash(&self, name: Name) -> u64 {
        self.hashes[name.0 as usize]
    }

    /// The name of a text, or where it would be entered.
    fn look(&self, text: &str, hash: u64) -> Result<Name, u64> {
        let mut at = hash;
        while let Some(name) = self.known.get(&at) {
            if self.text(*name) == text {
                return Ok(*name);
            }
            at = at.wrapping_add(1);
        }
        Err(at)
    }
}

pub(crate) fn hash(text: &str) -> u64 {
    let mut res = Hash::default();
    res.add_all(text.as_bytes());
    res.0
}
