//! A multimap for lists of which nearly all have one item and a few have thousands. The file index
//! keeps its definitions in one, the symbol graph the files that depend on a lookup. The key is the
//! hash of a lookup, such as that of a method by its name: the key of `Method("save")` has every
//! method `save` of the project.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::hasher::FastBuildHasher;

use super::LookupKey;

#[derive(Debug)]
enum OneOrMany<T> {
    One(T),
    #[expect(
        clippy::box_collection,
        reason = "the map is large and long lists are rare, so the common variant stays small"
    )]
    Many(Box<Vec<T>>),
}

/// Lists of small items by key. A single item is stored without an allocation.
#[derive(Debug)]
pub(crate) struct SmallMultimap<T>(HashMap<LookupKey, OneOrMany<T>, FastBuildHasher>);

impl<T> Default for SmallMultimap<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Copy> SmallMultimap<T> {
    pub(crate) fn get(&self, key: LookupKey) -> &[T] {
        match self.0.get(&key) {
            Some(OneOrMany::One(item)) => std::slice::from_ref(item),
            Some(OneOrMany::Many(items)) => items,
            None => &[],
        }
    }

    pub(crate) fn insert(&mut self, key: LookupKey, item: T) {
        match self.0.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(OneOrMany::One(item));
            }
            Entry::Occupied(mut occupied) => match occupied.get_mut() {
                OneOrMany::One(first) => {
                    let items = vec![*first, item];
                    occupied.insert(OneOrMany::Many(Box::new(items)));
                }
                OneOrMany::Many(items) => items.push(item),
            },
        }
    }

    /// Removes the items of a key that satisfy the predicate.
    pub(crate) fn remove_where(&mut self, key: LookupKey, is_removed: impl Fn(&T) -> bool) {
        let Entry::Occupied(mut occupied) = self.0.entry(key) else { return };
        let is_empty = match occupied.get_mut() {
            OneOrMany::One(item) => is_removed(item),
            OneOrMany::Many(items) => {
                items.retain(|it| !is_removed(it));
                items.is_empty()
            }
        };
        // An empty list must not stay: the map holds a key only while it has items.
        if is_empty {
            occupied.remove();
        }
    }
}
