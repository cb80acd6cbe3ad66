//! A long list of which little was read: there is a shorter way to those files.

use std::collections::HashSet;

use model::SignalKind;

use crate::names::Name;
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

/// Shorter lists cost nothing.
const LONG: usize = 20;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for listing in pad.listings.iter().filter(|it| it.files.len() >= LONG) {
        let listed: HashSet<Name> = listing.files.iter().copied().collect();
        let mut used: Vec<Name> = Vec::new();
        for touch in
            pad.good_touches().filter(|it| it.call > listing.call && listed.contains(&it.file))
        {
            if !used.contains(&touch.file) {
                used.push(touch.file);
            }
        }
        if !used.is_empty() && used.len() * 10 < listed.len() {
            let pattern = pad.names.text(listing.pattern).to_owned();
            let evidence = Evidence {
                files: paths(pad, used.into_iter().take(4)),
                query: Some(pattern.clone()),
                number: listed.len() as u64,
                ..Evidence::default()
            };
            acc.push(Sighting::new(SignalKind::GlobIgnore, pattern, evidence));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::GlobIgnore;

    #[test]
    fn a_long_list_points_to_what_was_used() {
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
