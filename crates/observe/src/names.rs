//! Names kept once: paths, queries, commands become numbers, so that a call fits into a few bytes.

use std::collections::HashMap;

/// A kept name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// Names in the order they came. Bounded: what comes after the limit is one name, `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, u32>,
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
    pub fn keep(&mut self, text: &str) -> Name {
        let text = &text[..text.floor_char_boundary(MAX_NAME)];
        if let Some(id) = self.ids.get(text) {
            return Name(*id);
        }
        if self.is_full() {
            return Name(0);
        }
        let id = u32::try_from(self.texts.len()).unwrap_or(0);
        self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        self.bytes += 2 * text.len();
        Name(id)
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES || self.texts.len() >= MAX_NAMES
    }

    pub fn text(&self, name: Name) -> &str {
        self.texts.get(name.0 as usize).map_or("…", |it| it)
    }
}
