//! What changed together: a fold over commits, and the ties between files that follow from it.
//!
//! Files are known by number, so that a rename changes one name and no commit. What a commit said is kept
//! as the hashes of its words: enough to know a like one again.

mod alike;
mod code;
mod ties;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use model::words;

use crate::fast::{Fast, FastHasher};
pub use code::{decode_past, decode_ties, encode_past, encode_ties};
pub use ties::{Tie, Ties, decay};

/// Commits that change more files than this are sweeps: nothing follows from them but renames.
const SWEEP: usize = 50;

/// A file of a commit.
#[derive(Clone, Copy, Debug)]
pub struct Touched<'a> {
    pub path: &'a str,
    /// What it was called before, when that was something else.
    pub before: Option<&'a str>,
    pub is_new: bool,
}

/// A commit as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// In seconds.
    pub at: i64,
    /// Hashes of the words of its subject, sorted.
    pub words: Vec<u32>,
    /// Numbers of files, sorted.
    pub files: Vec<u32>,
}

/// A name that a file has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub path: String,
    pub file: u32,
    /// Whether the file is still called so.
    pub is_current: bool,
}

/// Everything that is known of a repository's past, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The name of each file now; none for a file whose place another has taken.
    paths: Vec<Option<Box<str>>>,
    by_name: HashMap<Box<str>, u32, FastHasher>,
    pub commits: Vec<Past>,
}

impl History {
    /// Puts together what was kept.
    pub fn restore(names: Vec<Name>, commits: Vec<Past>) -> Self {
        let mut res = Self { commits, ..Self::default() };
        for it in names {
            let at = it.file as usize;
            if at >= res.paths.len() {
                res.paths.resize(at + 1, None);
            }
            if it.is_current {
                res.paths[at] = Some(it.path.as_str().into());
            }
            res.by_name.insert(it.path.into(), it.file);
        }
        // A number that no name was kept for belongs to nobody.
        let n_files = res.paths.len();
        for it in &mut res.commits {
            it.files.retain(|it| (*it as usize) < n_files);
        }
        res
    }

    /// Every name that leads to a file, in order.
    pub fn names(&self) -> Vec<Name> {
        let mut res: Vec<Name> =
            self.by_name.iter().map(|(path, file)| self.name(path, *file)).collect();
        res.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        res
    }

    fn name(&self, path: &str, file: u32) -> Name {
        let is_current = self.path(file) == Some(path);
        Name { path: path.to_owned(), file, is_current }
    }

    /// What a file is called now.
    pub fn path(&self, file: u32) -> Option<&str> {
        self.paths.get(file as usize)?.as_deref()
    }

    pub fn file(&self, path: &str) -> Option<u32> {
        self.by_name.get(path).copied().filter(|it| self.path(*it) == Some(path))
    }

    pub fn n_files(&self) -> usize {
        self.paths.len()
    }

    /// Takes in the next commit.
    pub fn take(&mut self, at: i64, subject: &str, files: &[Touched<'_>]) {
        // All files leave before any arrives: two that swap their names keep what is theirs.
        let moved: Vec<Option<u32>> = files
            .iter()
            .map(|it| it.before.filter(|_| !it.is_new).map(|it| self.known(it)))
            .collect();
        let mut numbers: Vec<u32> = Vec::new();
        for (it, moved) in files.iter().zip(moved) {
            numbers.push(match moved {
                Some(file) => self.rename(file, it.path),
                None if it.is_new => self.arrive(it.path),
                None => self.known(it.path),
            });
        }
        if numbers.is_empty() || numbers.len() > SWEEP {
            return;
        }
        numbers.sort_unstable();
        numbers.dedup();
        self.commits.push(Past { at, words: hashes(subject), files: numbers });
    }

    /// The file behind a name, also behind one it had before: a branch may not have heard of a rename.
    fn known(&mut self, path: &str) -> u32 {
        match self.by_name.get(path) {
            Some(file) => *file,
            None => self.fresh(path),
        }
    }

    /// A file that was not there. One that was deleted and comes back is the same; where the name's last
    /// bearer goes by another name now, it is a new one.
    fn arrive(&mut self, path: &str) -> u32 {
        match self.file(path) {
            Some(file) => file,
            None => self.fresh(path),
        }
    }

    fn fresh(&mut self, path: &str) -> u32 {
        let file = crate::sketch::index(self.paths.len());
        self.paths.push(Some(path.into()));
        self.by_name.insert(path.into(), file);
        file
    }

    fn rename(&mut self, file: u32, to: &str) -> u32 {
        if let Some(other) = self.file(to).filter(|it| *it != file) {
            self.paths[other as usize] = None;
        }
        self.paths[file as usize] = Some(to.into());
        self.by_name.insert(to.into(), file);
        file
    }
}

/// The words of a text as numbers, sorted.
pub fn hashes(text: &str) -> Vec<u32> {
    let hash = |it: &String| {
        let mut hasher = Fast::default();
        it.hash(&mut hasher);
        let wide = hasher.finish();
        u32::try_from((wide ^ (wide >> 32)) & u64::from(u32::MAX)).unwrap_or_default()
    };
    let mut res: Vec<u32> = words::keywords(text).iter().map(hash).collect();
    res.sort_unstable();
    res.dedup();
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One commit a line: `+new kept old>new`.
    fn history(lines: &[&str]) -> History {
        let mut res = History::default();
        play(&mut res, lines);
        res
    }

    fn play(acc: &mut History, lines: &[&str]) {
        for (at, line) in (0..).zip(lines) {
            let touched = |word| {
                let (before, path) = str::split_once(word, '>').unzip();
                let path = path.unwrap_or_else(|| word.trim_start_matches('+'));
                Touched { path, before, is_new: word.starts_with('+') }
            };
            let files: Vec<Touched<'_>> = line.split(' ').map(touched).collect();
            acc.take(at, "a change", &files);
        }
    }

    /// The files of each commit by their names now.
    fn told(history: &History) -> Vec<String> {
        let name = |it: &u32| history.path(*it).unwrap_or("?").to_owned();
        let line = |it: &Past| it.files.iter().map(name).collect::<Vec<_>>().join(" ");
        history.commits.iter().map(line).collect()
    }

    #[test]
    fn a_renamed_file_keeps_its_past() {
        let it = history(&["+a +b", "a b", "a>c", "c b"]);
        assert_eq!(told(&it), ["c b", "c b", "c", "c b"]);
        assert_eq!((it.file("a"), it.file("c").is_some()), (None, true));
    }

    #[test]
    fn a_branch_that_has_not_heard_of_a_rename_means_the_same_file() {
        assert_eq!(told(&history(&["+a +b", "a>c", "a b"])), ["c b", "c", "c b"]);
    }

    #[test]
    fn a_new_file_under_an_old_name_is_another() {
        let it = history(&["+a", "a>c", "+a", "a c"]);
        assert_eq!(told(&it), ["c", "c", "a", "c a"]);
    }

    #[test]
    fn what_was_kept_goes_on_where_it_was() {
        let lines = ["+a +b", "a>c", "+a c", "b>a a>d", "d a c"];
        for at in 0..lines.len() {
            let mut it = history(&lines[..at]);
            it = History::restore(it.names(), it.commits);
            play(&mut it, &lines[at..]);
            assert_eq!(told(&it), ["c a", "c", "c d", "a d", "c a d"], "broken off at {at}");
        }
    }

    #[test]
    fn sweeps_only_rename() {
        let many: Vec<String> = (0..60).map(|it| format!("+f{it}")).collect();
        let it = history(&["+a", &format!("{} a>b", many.join(" ")), "b"]);
        assert_eq!(told(&it), ["b", "b"]);
    }
}
