//! Names shared by all files: one number each.

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::Hash;
use crate::fast::FastHasher;
use crate::sketch::index;

/// A name's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) u32);

#[derive(Debug)]
pub(crate) struct Names {
    known: HashMap<Arc<str>, Name, FastHasher>,
    texts: Vec<(Arc<str>, u64)>,
}

/// The one name that is needed whether or not a file bears it: what a list is.
pub(crate) const LIST: Name = Name(0);

impl Default for Names {
    fn default() -> Self {
        let mut res = Self { known: HashMap::default(), texts: Vec::new() };
        let list = res.add(&mut "Array".into());
        debug_assert_eq!(list, LIST);
        res
    }
}

impl Names {
    /// The name of a text, which from now on shares its bytes with all others of that name.
    pub(crate) fn add(&mut self, text: &mut Arc<str>) -> Name {
        if let Some(it) = self.known.get(text) {
            text.clone_from(&self.texts[it.0 as usize].0);
            return *it;
        }
        let name = Name(index(self.texts.len()));
        self.texts.push((Arc::clone(text), hash(text)));
        self.known.insert(Arc::clone(text), name);
        name
    }

    /// A name that some file bears; no other can be found.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        self.known.get(text).copied()
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize].0
    }

    pub(crate) fn hash(&self, name: Name) -> u64 {
        self.texts[name.0 as usize].1
    }
}

pub(crate) fn hash(text: &str) -> u64 {
    let mut res = Hash::default();
    res.add_all(text.as_bytes());
    res.0
}
