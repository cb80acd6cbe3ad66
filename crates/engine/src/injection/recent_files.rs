//! The files that a session touched, recorded in its shown log (a file per session, which also lists
//! the notes it was shown). The next prompt is probably about these files, so searches and context
//! blocks prefer memories about the latest ones.

use std::collections::HashSet;

use model::{ProjectPath, Timestamp};
use store::ShownEntry;

/// Most files that are recorded per session, so that the log stays small.
const MAX_RECORDED_FILES: usize = 400;
/// Latest files whose surroundings a search looks at. The daemon has the same limit for the files that
/// it keeps in memory (`serve/live_session.rs`).
const MAX_RECENT_FILES: usize = 8;

/// The entries for files that the session touches for the first time.
pub(super) fn first_touch_entries(
    files: &[ProjectPath],
    shown: &HashSet<ShownEntry>,
    now: Timestamp,
) -> Vec<ShownEntry> {
    let touched = shown.iter().filter_map(touched_file);
    let known: HashSet<&ProjectPath> = touched.map(|(_, path)| path).collect();
    let n_free = MAX_RECORDED_FILES.saturating_sub(known.len());
    let new = files.iter().filter(|it| !known.contains(it)).take(n_free);
    new.map(|it| ShownEntry::FileTouched { at: now, path: it.clone() }).collect()
}

/// The files a session touched last, the latest first.
pub(super) fn recent_files(shown: &HashSet<ShownEntry>) -> Vec<ProjectPath> {
    let mut files: Vec<(Timestamp, &ProjectPath)> = shown.iter().filter_map(touched_file).collect();
    // The latest first, ties by path.
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.into_iter().take(MAX_RECENT_FILES).map(|(_, path)| path.clone()).collect()
}

fn touched_file(entry: &ShownEntry) -> Option<(Timestamp, &ProjectPath)> {
    match entry {
        ShownEntry::FileTouched { at, path } => Some((*at, path)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_files_come_first_and_each_is_recorded_once() {
        let path = |it: &str| ProjectPath::parse(it).unwrap();
        let mut shown = HashSet::new();
        // `a b.rs` is touched twice; only its first touch is recorded.
        for (at, file) in [(5, "a b.rs"), (7, "c.rs"), (9, "a b.rs")] {
            shown.extend(first_touch_entries(&[path(file)], &shown, Timestamp(at)));
        }
        // An entry that is no file is ignored.
        shown.insert(ShownEntry::ExpectedErrors);
        assert_eq!(recent_files(&shown), [path("c.rs"), path("a b.rs")]);
        assert_eq!(shown.len(), 3);
    }
}
