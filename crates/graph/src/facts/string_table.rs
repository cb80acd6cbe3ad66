//! Table of a file's names: many short strings in two allocations instead of one each.
//!
//! `FileFacts` refers to its strings by [`StringId`](super::StringId), which is an index here. The
//! strings `run`, `db` and `find` are the buffer `rundbfind` with the ends 3, 5 and 9.

/// A string table: all strings concatenated, found by their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringTable {
    buffer: String,
    /// The end of each string in `buffer`. A string starts where the one before it ends.
    ends: Vec<u32>,
}

impl StringTable {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn push(&mut self, text: &str) {
        self.buffer.push_str(text);
        self.ends.push(crate::facts_builder::to_index(self.buffer.len()));
    }

    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        self.buffer.get(start as usize..end as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|it| self.get(it))
    }

    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
        self.ends.clear();
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.buffer.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}
