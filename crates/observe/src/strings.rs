//! String interning: paths, queries and commands become numbers, so that a logged call fits into few
//! bytes. `intern("src/a.rs")` returns the same [`StringId`] every time, and `text(id)` returns the path.
//!
//! The table belongs to one scratchpad (the log of one session), and its size is bounded. When it is full,
//! every new string gets the id of the placeholder `…`.

use std::collections::HashMap;
use std::num::NonZeroU32;

/// An interned string. Never zero, so that `Option<StringId>` takes four bytes as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(NonZeroU32);

/// The interned strings of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStrings {
    /// The text of id `n` is at index `n - 1`; the first one is the placeholder.
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, StringId>,
    n_bytes: usize,
}

/// The text of every string that did not fit.
const PLACEHOLDER: &str = "…";
/// The longest string, in bytes; longer ones are truncated.
const MAX_STRING_BYTES: usize = 512;
/// Size of all strings together, in bytes.
const MAX_TOTAL_BYTES: usize = 8 << 20;
/// Number of strings. Each costs two table entries beside its bytes.
const MAX_STRINGS: usize = 100_000;

impl Default for SessionStrings {
    fn default() -> Self {
        Self { texts: vec![PLACEHOLDER.into()], ids: HashMap::new(), n_bytes: 0 }
    }
}

impl SessionStrings {
    /// The id of the placeholder.
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
        let one_based = u32::try_from(self.texts.len()).ok().and_then(NonZeroU32::new);
        let id = one_based.map_or(Self::OVERFLOW_ID, StringId);
        self.ids.insert(text.into(), id);
        // The text is stored twice: in the list and as a key.
        self.n_bytes += 2 * text.len();
        id
    }

    pub fn is_full(&self) -> bool {
        self.n_bytes >= MAX_TOTAL_BYTES || self.texts.len() >= MAX_STRINGS
    }

    pub fn text(&self, id: StringId) -> &str {
        self.texts.get(id.0.get() as usize - 1).map_or(PLACEHOLDER, |it| it)
    }
}
