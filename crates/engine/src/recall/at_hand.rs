//! The files a session went over, noted beside what it was told: what it asks next is likely about them.

use std::collections::HashSet;

use model::{ProjectPath, Timestamp};

/// Stands before a file among what was shown.
pub(super) const TOUCHED: &str = "at ";
/// So many are noted, and so many of the last are looked around in.
const MOST: usize = 400;
const AT_HAND: usize = 8;

/// What is to be noted of files that are gone over now; of each, the first time.
pub(super) fn noted(
    files: &[ProjectPath],
    shown: &HashSet<String>,
    now: Timestamp,
) -> impl Iterator<Item = String> {
    let known: HashSet<&str> = shown.iter().filter_map(|it| read(it)).map(|it| it.1).collect();
    let room = MOST.saturating_sub(known.len());
    let fresh = files.iter().filter(|it| !known.contains(it.as_str())).take(room);
    let words: Vec<String> =
        fresh.map(|it| format!("{TOUCHED}{:013} {}", now.0, it.as_str())).collect();
    words.into_iter()
}

/// The files a session went over, the last first.
pub(super) fn at_hand(shown: &HashSet<String>) -> Vec<ProjectPath> {
    let mut res: Vec<(&str, &str)> = shown.iter().filter_map(|it| read(it)).collect();
    res.sort_unstable_by(|a, b| b.cmp(a));
    res.into_iter().take(AT_HAND).filter_map(|it| ProjectPath::parse(it.1).ok()).collect()
}

/// When a file was first gone over, and which.
fn read(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix(TOUCHED)?.split_once(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_files_come_first_and_each_is_noted_once() {
        let path = |it: &str| ProjectPath::parse(it).unwrap();
        let mut shown = HashSet::new();
        for (at, file) in [(5, "a b.rs"), (7, "c.rs"), (9, "a b.rs")] {
            let words: Vec<String> = noted(&[path(file)], &shown, Timestamp(at)).collect();
            shown.extend(words);
        }
        shown.insert("outlook".to_owned());
        assert_eq!(at_hand(&shown), [path("c.rs"), path("a b.rs")]);
        assert_eq!(shown.len(), 3);
    }
}
