//! Interner of the names of all files: each distinct text is stored once and has one number. The
//! resolver compares names by number and reads a text only where its spelling matters. If `a.ts` and
//! `b.ts` both mention `open`, `intern("open")` gives both the same [`NameId`].

use std::collections::HashMap;

use model::hasher::FastBuildHasher;

use crate::facts::{FnvHasher, StringTable};
use crate::facts_builder::to_index;

/// An interned name. Unlike a [`StringId`](crate::StringId), it is the same in all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NameId(pub(crate) u32);

/// All names with their texts and hashes.
#[derive(Debug)]
pub(crate) struct NameInterner {
    /// The name by the hash of its text. If two texts have the same hash, the later one is stored
    /// under the next free hash (open addressing). This way the map does not hold the texts.
    slots: HashMap<u64, NameId, FastBuildHasher>,
    /// By name.
    texts: StringTable,
    /// The hash of each text, by name. Lookups in the index build their `LookupKey` from it, so it is
    /// computed once.
    hashes: Vec<u64>,
}

/// The name of the built-in list type, which the resolver needs even when no file mentions it.
pub(crate) const LIST_NAME: NameId = NameId(0);

impl Default for NameInterner {
    fn default() -> Self {
        let mut interner =
            Self { slots: HashMap::default(), texts: StringTable::default(), hashes: Vec::new() };
        let list = interner.intern("Array");
        debug_assert_eq!(list, LIST_NAME);
        interner
    }
}

impl NameInterner {
    /// The name of a text, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> NameId {
        let hash = hash_str(text);
        let free_slot = match self.probe(text, hash) {
            Ok(name) => return name,
            Err(slot) => slot,
        };
        let name = NameId(to_index(self.texts.len()));
        self.texts.push(text);
        self.hashes.push(hash);
        self.slots.insert(free_slot, name);
        name
    }

    /// The name with this text, if any file contains it.
    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        self.probe(text, hash_str(text)).ok()
    }

    pub(crate) fn text(&self, name: NameId) -> &str {
        self.texts.get(name.0 as usize).unwrap_or_default()
    }

    pub(crate) fn hash_of(&self, name: NameId) -> u64 {
        self.hashes[name.0 as usize]
    }

    /// The name with this text, or the slot where it would be inserted.
    fn probe(&self, text: &str, hash: u64) -> Result<NameId, u64> {
        let mut slot = hash;
        while let Some(name) = self.slots.get(&slot) {
            if self.text(*name) == text {
                return Ok(*name);
            }
            slot = slot.wrapping_add(1);
        }
        Err(slot)
    }
}

/// The hash of a text in a [`LookupKey`](super::LookupKey). A key has hashes instead of a [`NameId`],
/// because keys are stored, and the ids differ from one run to the next.
pub(crate) fn hash_str(text: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write_bytes(text.as_bytes());
    hasher.0
}
