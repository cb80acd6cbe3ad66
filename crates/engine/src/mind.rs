//! What is kept in mind of files between two questions: what was made of a file counts as long as the
//! file looks as it did, and not a moment longer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::Envelope;
use source::Stamp;

use crate::anchor::{Outline, Symbols};

/// All that is kept in mind of files.
#[derive(Default)]
pub(crate) struct KeptInMind {
    /// The rules in a rule file.
    pub(crate) rules: Kept<Vec<String>>,
    /// The notes at the end of a journal.
    pub(crate) notes: Kept<Vec<Envelope>>,
    symbols: Kept<Symbols>,
}

impl KeptInMind {
    /// What the code of a symbol means now; `None` if the file has no such symbol.
    pub(crate) fn meaning(&self, root: &Path, file: &str, symbol: &str) -> Option<String> {
        let read = || Some(Outline::read(root, file)?.symbols());
        self.symbols.of(&root.join(file), read)?.get(symbol).map(|it| format!("{it:016x}"))
    }
}

/// Files of one sort that are kept in mind; one more, and all of them are made anew.
const MOST: usize = 512;

/// Something made of each of many files.
pub(crate) struct Kept<T>(Mutex<HashMap<PathBuf, (Stamp, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// What `make` says of a file, asked only where the file may have changed; `None` for one that is
    /// not there, or of which nothing can be made.
    pub(crate) fn of(&self, path: &Path, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        // Looked at before it is read: whoever writes meanwhile is seen by the next question.
        let now = source::stamp_behind(path)?;
        let known = self.lock().get(path).filter(|it| it.0.is_still(now)).map(|it| it.1.clone());
        if known.is_some() {
            return known;
        }
        let res = Arc::new(make()?);
        let mut all = self.lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(path.to_owned(), (now, res.clone()));
        Some(res)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Stamp, Arc<T>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Writes a file as if that had been long ago.
    fn write(path: &Path, text: &str, second: u64) {
        fs::write(path, text).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn a_file_is_read_again_when_it_may_have_changed_and_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let (kept, n_read) = (Kept::default(), Cell::new(0));
        let read = |path: &Path| {
            let read = || {
                n_read.set(n_read.get() + 1);
                fs::read_to_string(path).ok()
            };
            kept.of(path, read).map(|it| it.as_str().to_owned())
        };
        assert_eq!((read(&path), n_read.get()), (None, 0));
        write(&path, "one", 1);
        assert_eq!((read(&path), n_read.get()), (Some("one".to_owned()), 1));
        assert_eq!((read(&path), n_read.get()), (Some("one".to_owned()), 1));
        write(&path, "two", 2);
        assert_eq!((read(&path), n_read.get()), (Some("two".to_owned()), 2));
        // Written just now: it may be written again before its time changes.
        for text in ["six", "ten", "two"] {
            fs::write(&path, text).unwrap();
            assert_eq!(read(&path).as_deref(), Some(text));
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&path), None);
        #[cfg(unix)]
        {
            let link = dir.path().join("b");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            for (text, second) in [("one", 3), ("two", 4)] {
                write(&path, text, second);
                assert_eq!(read(&link).as_deref(), Some(text));
            }
        }
    }
}
