//! Names kept once: paths, queries, commands become numbers, so that a call fits into a few bytes.

use std::collections::HashMap;
use std::num::NonZeroU32;

/// A kept name. Never zero, so that no name costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(NonZeroU32);

/// Names in the order they came. Bounded: what comes after the limit is one name, `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, Name>,
    bytes: usize,
}

/// The longest name, in bytes; longer ones are cut.
const MAX_NAME: usize = 512;
/// All names together, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// How many names; each costs two entries beside its bytes.
const MAX_NAMES: usize = 100_000;

impl Default for Names {
    fn default() -> Self {
        Self { texts: vec!["…".into()], ids: HashMap::new(), bytes: 0 }
    }
}

impl Names {
    /// What comes after the limit.
    const OTHER: Name = Name(NonZeroU32::MIN);

    pub fn keep(&mut self, text: &str) -> Name {
        let text = &text[..text.floor_char_boundary(MAX_NAME)];
        if let Some(name) = self.ids.get(text) {
            return *name;
        }
        if self.is_full() {
            return Self::OTHER;
        }
        self.texts.push(text.into());
        let number = u32::try_from(self.texts.len()).ok().and_then(NonZeroU32::new);
        let name = number.map_or(Self::OTHER, Name);
        self.ids.insert(text.into(), name);
        self.bytes += 2 * text.len();
        name
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES || self.texts.len() >= MAX_NAMES
    }

    pub fn text(&self, name: Name) -> &str {
        self.texts.get(name.0.get() as usize - 1).map_or("…", |it| it)
    }
}
