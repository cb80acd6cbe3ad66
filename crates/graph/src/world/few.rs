//! Lists by key of which nearly all have one item, and a few have thousands.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Key;
use crate::fast::FastHasher;

#[derive(Debug)]
enum Few<T> {
    One(T),
    #[expect(
        clippy::box_collection,
        reason = "the table is large, and what has many items is rare"
    )]
    Many(Box<Vec<T>>),
}

/// Lists of small things by key.
#[derive(Debug)]
pub(crate) struct Table<T>(HashMap<Key, Few<T>, FastHasher>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Copy> Table<T> {
    pub(crate) fn get(&self, key: Key) -> &[T] {
        match self.0.get(&key) {
            Some(Few::One(it)) => std::slice::from_ref(it),
            Some(Few::Many(all)) => all,
            None => &[],
        }
    }

    pub(crate) fn add(&mut self, key: Key, item: T) {
        match self.0.entry(key) {
            Entry::Vacant(place) => _ = place.insert(Few::One(item)),
            Entry::Occupied(mut known) => match known.get_mut() {
                Few::One(first) => {
                    let all = vec![*first, item];
                    known.insert(Few::Many(Box::new(all)));
                }
                Few::Many(all) => all.push(item),
            },
        }
    }

    /// Takes away what `is_it` says of a key's items.
    pub(crate) fn remove(&mut self, key: Key, is_it: impl Fn(&T) -> bool) {
        let Entry::Occupied(mut known) = self.0.entry(key) else { return };
        let is_empty = match known.get_mut() {
            Few::One(it) => is_it(it),
            Few::Many(all) => {
                all.retain(|it| !is_it(it));
                all.is_empty()
            }
        };
        if is_empty {
            known.remove();
        }
    }
}
