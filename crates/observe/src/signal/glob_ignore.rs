//! Detects the signal `glob_ignore`: a long file list of which the session used few files. The next
//! session can open those directly.

use std::collections::HashSet;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_paths};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Shorter lists cost little.
const MIN_LISTED_FILES: usize = 20;
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
        // Less than a tenth of the list was used. A list of which nothing was used points nowhere.
        if !used.is_empty() && used.len() * 10 < listed.len() {
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
}

#[cfg(test)]
mod tests {
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
        check(GlobIgnore, &format!("list **/*.rs → {}", files.join(" ")), expect![""]);
        check(GlobIgnore, "list *.rs → a.rs b.rs\nread a.rs", expect![""]);
    }
}
