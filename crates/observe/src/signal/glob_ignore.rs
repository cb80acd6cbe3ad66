//! Detects the signal `glob_ignore`: a long file list of which the session used few files. The next
//! session can open those directly.
//!
//! Input is the scratchpad, the log of one session. Each such list becomes a sighting: the key, by which
//! sessions are compared, is the glob pattern; the evidence has the used files. Example: `**/*.rs` lists 30
//! files, of which only `src/f7.rs` is read.

use std::collections::HashSet;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_paths};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Shorter lists cost little.
const MIN_LISTED_FILES: usize = 20;
/// A list was mostly unused if it is longer than this multiple of the used files.
const UNUSED_FACTOR: usize = 10;
/// Used files that are recorded.
const MAX_USED_FILES: usize = 4;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for listing in pad.listings.iter().filter(|it| it.files.len() >= MIN_LISTED_FILES) {
        let listed: HashSet<StringId> = listing.files.iter().copied().collect();
        let mut used: Vec<StringId> = Vec::new();
        let later = pad.successful_touches().filter(|it| it.call > listing.call);
        for touch in later.filter(|it| listed.contains(&it.file)) {
            if !used.contains(&touch.file) {
                used.push(touch.file);
            }
        }
        // A list of which nothing was used does not show what to open instead.
        if used.is_empty() {
            continue;
        }
        // A list of which much was used was worth its tokens.
        if used.len() * UNUSED_FACTOR >= listed.len() {
            continue;
        }
        let pattern = pad.strings.text(listing.pattern).to_owned();
        let key = PatternKey::glob_ignore(&pattern);
        let evidence = Evidence::GlobIgnore {
            pattern,
            used_files: to_paths(pad, used.into_iter().take(MAX_USED_FILES)),
            n_listed: listed.len() as u64,
        };
        acc.push(Sighting::new(key, evidence));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::GlobIgnore;

    #[test]
    fn a_long_list_points_to_the_files_used() {
        let files: Vec<String> = (0..30).map(|it| format!("src/f{it}.rs")).collect();
        check(
            GlobIgnore,
            &format!("list **/*.rs → {}\nread src/f7.rs", files.join(" ")),
            expect![[r#"
                **/*.rs ×1 {"files":["src/f7.rs"],"query":"**/*.rs","number":30}
            "#]],
        );
        // No listed file was used; the list is short.
        check(GlobIgnore, &format!("list **/*.rs → {}", files.join(" ")), expect![""]);
        check(GlobIgnore, "list *.rs → a.rs b.rs\nread a.rs", expect![""]);
    }
}
