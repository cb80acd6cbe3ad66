//! String interning: paths, queries and commands become numbers, so that a call fits into few bytes.

use std::collections::HashMap;
use std::num::NonZeroU32;

/// An interned string. Never zero, so that `Option<StringId>` takes four bytes as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(NonZeroU32);

/// The interned strings of one session. Bounded: all strings beyond the limit become `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStrings {
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, StringId>,
    n_bytes: usize,
}

/// The longest string, in bytes; longer ones are cut.
const MAX_STRING_BYTES: usize = 512;
/// Size of all strings together, in bytes.
const MAX_TOTAL_BYTES: usize = 8 << 20;
/// Number of strings. Each costs two table entries beside its bytes.
const MAX_STRINGS: usize = 100_000;

impl Default for SessionStrings {
    fn default() -> Self {
        Self { texts: vec!["…".into()], ids: HashMap::new(), n_bytes: 0 }
    }
}

impl SessionStrings {
    /// The id of every string beyond the limit.
    const OVERFLOW_ID: StringId = StringId(NonZeroU32::MIN);

    /// Returns the id of a string, and stores the string if it is new.
    pub fn intern(&mut self, text: &str) -> StringId {
        let text = &text[..text.floor_char_boundary(MAX_STRING_BYTES)];
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        if self.is_full() {
            return Self::OVERFLOW_ID;
        }
        self.texts.push(text.into());
        let number = u32::try_from(self.texts.len()).ok().and_then(NonZeroU32::new);
        let id = number.map_or(Self::OVERFLOW_ID, StringId);
        self.ids.insert(text.into(), id);
        // The text is stored twice: in the list and as a key.
        self.n_bytes += 2 * text.len();
        id
    }

    pub fn is_full(&self) -> bool {
        self.n_bytes >= MAX_TOTAL_BYTES || self.texts.len() >= MAX_STRINGS
    }

    pub fn text(&self, id: StringId) -> &str {
        self.texts.get(id.0.get() as usize - 1).map_or("…", |it| it)
    }
}
