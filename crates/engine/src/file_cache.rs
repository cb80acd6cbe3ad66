//! Per-file caches shared between queries: values that are computed from one file, such as the rules in
//! a rule file. An entry is valid while the file's stamp (size and modification time) is unchanged. The
//! stamp of a file written just now is not trusted, because a second write may leave it equal. The
//! caches live in the `ProjectReader` and are shared by its clones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Timestamp;
use observe::JournalNotes;
use source::{FileStamp, ProjectWords};

use crate::anchor::{SourceOutline, SymbolHashes};
use crate::retrieval::RenameCache;

/// Most files per cache. A full cache is emptied before the next insertion.
const MAX_CACHED_FILES: usize = 512;

/// The per-file caches of a project, and one cache for all its files.
#[derive(Default)]
pub(crate) struct FileCaches {
    /// The rules in a rule file.
    pub(crate) rules: FileCache<Vec<String>>,
    /// The notes in a journal.
    pub(crate) notes: FileCache<JournalNotes>,
    /// The structural hashes of the symbols in a source file.
    symbols: FileCache<SymbolHashes>,
    /// The renames between a commit and git's index. The stamp of the index is a part of the key.
    pub(crate) renames: RenameCache,
}

impl FileCaches {
    /// The structural hash of a symbol now, as anchors store it; `None` if the file has no such
    /// symbol.
    pub(crate) fn symbol_hash(&self, root: &Path, file: &str, symbol: &str) -> Option<String> {
        let read_hashes = || Some(SourceOutline::read(root, file)?.symbol_hashes());
        let hashes = self.symbols.get_or_compute(&root.join(file), read_hashes)?;
        hashes.get(symbol).map(|it| format!("{it:016x}"))
    }
}

/// The words of a project's files. They come from all files together, so they have no stamp and are valid
/// for a time.
#[derive(Default)]
pub(crate) struct ProjectWordsCache(Mutex<Option<(Timestamp, Arc<ProjectWords>)>>);

impl ProjectWordsCache {
    /// The words, if they were read less than `valid_ms` before `now`.
    pub(crate) fn get(&self, now: Timestamp, valid_ms: i64) -> Option<Arc<ProjectWords>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, words) = cached.as_ref()?;
        (0..valid_ms).contains(&now.millis_since(*at)).then(|| Arc::clone(words))
    }

    pub(crate) fn set(&self, now: Timestamp, words: Arc<ProjectWords>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, words));
    }
}

/// Values derived from files, by path.
pub(crate) struct FileCache<T>(Mutex<HashMap<PathBuf, CacheEntry<T>>>);

/// A value with the stamp that its file had when it was computed.
struct CacheEntry<T> {
    stamp: FileStamp,
    value: Arc<T>,
}

impl<T> Default for FileCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> FileCache<T> {
    /// Returns the value of a file, computed again only if the file may have changed. `None` if the
    /// file does not exist or has no value.
    pub(crate) fn get_or_compute(
        &self,
        path: &Path,
        compute: impl FnOnce() -> Option<T>,
    ) -> Option<Arc<T>> {
        // The stamp is taken before the file is read. A write in between makes the entry invalid for
        // the next call instead of hiding the change.
        // Of a link it is the stamp of the target, whose content is read.
        let stamp = source::target_stamp(path)?;
        let is_valid = |it: &&CacheEntry<T>| it.stamp.is_unchanged(stamp);
        let cached = self.lock().get(path).filter(is_valid).map(|it| Arc::clone(&it.value));
        if cached.is_some() {
            return cached;
        }
        // Computed without the lock: two threads may compute the same value, which does no harm.
        let value = Arc::new(compute()?);
        let mut entries = self.lock();
        if entries.len() >= MAX_CACHED_FILES {
            entries.clear();
        }
        entries.insert(path.to_owned(), CacheEntry { stamp, value: Arc::clone(&value) });
        Some(value)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, CacheEntry<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Writes a file with a modification time in 1970. A stamp that old is trusted: the file cannot
    /// have been written twice within one tick of the clock.
    fn write_long_ago(path: &Path, text: &str, second: u64) {
        fs::write(path, text).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }

    #[test]
    fn a_file_is_read_again_only_if_it_may_have_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let (cache, n_read) = (FileCache::default(), Cell::new(0));
        let read = |path: &Path| {
            let compute = || {
                n_read.set(n_read.get() + 1);
                fs::read_to_string(path).ok()
            };
            cache.get_or_compute(path, compute).map(|it| it.as_str().to_owned())
        };
        assert_eq!((read(&path), n_read.get()), (None, 0));

        // The second call reads nothing.
        write_long_ago(&path, "one", 1);
        assert_eq!((read(&path), n_read.get()), (Some("one".to_owned()), 1));
        assert_eq!((read(&path), n_read.get()), (Some("one".to_owned()), 1));
        write_long_ago(&path, "two", 2);
        assert_eq!((read(&path), n_read.get()), (Some("two".to_owned()), 2));

        // A file written just now may be written again before its time changes.
        for text in ["six", "ten", "two"] {
            fs::write(&path, text).unwrap();
            assert_eq!(read(&path).as_deref(), Some(text));
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&path), None);

        // The stamp of a link is that of its target.
        #[cfg(unix)]
        {
            let link = dir.path().join("b");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            for (text, second) in [("one", 3), ("two", 4)] {
                write_long_ago(&path, text, second);
                assert_eq!(read(&link).as_deref(), Some(text));
            }
        }
    }
}
