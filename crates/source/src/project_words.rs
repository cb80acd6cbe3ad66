//! The words of a project: every identifier in its files and paths, to tell whether a name exists.
//!
//! Learning asks whether the code that a sentence names is still there. A symbol index would know fewer
//! names (flags, settings, table names are no symbols), so the words of the texts themselves are kept, as
//! hashes. A word that is missing was certainly not found; a hash collision can only make one look known.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use model::hasher::{FastBuildHasher, FastHasher};

use crate::file_walk::{read_source, walk_files};

/// The shortest word that is kept, in bytes.
const MIN_WORD_BYTES: usize = 3;
/// Bytes that are read of all files together; beyond, every word counts as known.
const MAX_READ_BYTES: usize = 128 << 20;

/// The words of a project's files, as hashes.
#[derive(Clone, Debug, Default)]
pub struct ProjectWords {
    hashes: HashSet<u64, FastBuildHasher>,
    /// The project is too large to be read, or has no files.
    is_incomplete: bool,
}

impl ProjectWords {
    /// Reads the files of a project that are worth reading.
    pub fn read(root: &Path) -> Self {
        let mut words = Self::default();
        let mut n_bytes = 0;
        let walked = walk_files(root, &|_| true);
        words.is_incomplete = walked.files.is_empty();
        for (path, _) in walked.files {
            words.add_text(path.as_bytes());
            // Generated and binary files have no names that people speak of.
            let Ok(text) = read_source(root, &path) else { continue };
            n_bytes += text.len();
            if n_bytes > MAX_READ_BYTES {
                words.is_incomplete = true;
                break;
            }
            words.add_text(&text);
        }
        words
    }

    /// Returns whether a word occurs, in this spelling. Always true if the project was not read whole.
    pub fn contains(&self, word: &str) -> bool {
        self.is_incomplete
            || word.len() < MIN_WORD_BYTES
            || self.hashes.contains(&hash_word(word.as_bytes()))
    }

    /// Returns whether every word of a name was found: `auth`, `store` of `auth.store.ts`. Unlike
    /// [`Self::contains`], nothing is taken for granted if the project was not read whole.
    pub fn has_name(&self, name: &str) -> bool {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let mut words = name
            .split(|it: char| !is_part(it))
            .filter(|it| it.len() >= MIN_WORD_BYTES)
            .map(|it| self.hashes.contains(&hash_word(it.as_bytes())))
            .peekable();
        words.peek().is_some() && words.all(|it| it)
    }

    fn add_text(&mut self, text: &[u8]) {
        let is_part = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_' || !it.is_ascii();
        for word in text.split(|it| !is_part(it)) {
            if word.len() >= MIN_WORD_BYTES {
                self.hashes.insert(hash_word(word));
            }
        }
    }
}

fn hash_word(word: &[u8]) -> u64 {
    let mut hasher: FastHasher = FastBuildHasher.build_hasher();
    hasher.write(word);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_if_all_its_words_are() {
        let mut words = ProjectWords::default();
        words.add_text(b"import { useAuth } from './auth.store'");
        assert!(words.has_name("auth.store.ts") && words.has_name("useAuth"));
        assert!(!words.has_name("auth.vault") && !words.has_name("..") && !words.has_name(""));
        // What was not read is not found, even if the project is too large to be read.
        words.is_incomplete = true;
        assert!(words.contains("vault") && !words.has_name("vault"));
    }

    #[test]
    fn words_of_files_and_paths_are_known() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("queue")).unwrap();
        std::fs::write(dir.path().join("queue/a.rs"), "fn retry_limit() { --max-depth }").unwrap();
        let words = ProjectWords::read(dir.path());
        assert!(
            words.contains("retry_limit") && words.contains("queue") && words.contains("depth")
        );
        assert!(!words.contains("retry_limits") && !words.contains("RetryLimit"));
    }

    #[test]
    fn every_word_of_an_empty_project_counts_as_known() {
        let dir = tempfile::tempdir().unwrap();
        assert!(ProjectWords::read(dir.path()).contains("anything"));
    }
}
