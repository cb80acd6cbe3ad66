//! Detects the signal `co_access`: two files were edited in the session, and touched (read or edited) within
//! a few touches of each other.
//!
//! Input is the scratchpad, the log of one session. Each pair becomes a sighting: the key, by which sessions
//! are compared, has both paths in ascending order; the evidence has them in the order of the touches.
//! Example: edits of `b.rs` and then `a.rs` have the key `a.rs|b.rs` and the evidence `b.rs`, `a.rs`.

use std::collections::BTreeSet;

use crate::evidence::Evidence;
use crate::facts::{co_accessed, co_edited};
use crate::path_rules::is_test_pair;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path_pair};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    // How often the second file of a pair was touched soon after the first.
    let counts = co_accessed(pad);
    let count_in_order = |first, second| counts.get(&(first, second)).copied().unwrap_or(0);
    let edited_pairs: BTreeSet<_> = co_edited(pad).into_iter().collect();
    for (a, b) in edited_pairs {
        let (n_forward, n_backward) = (count_in_order(a, b), count_in_order(b, a));
        let n_together = n_forward + n_backward;
        let (path_a, path_b) = (pad.strings.text(a), pad.strings.text(b));
        // Both were edited, but far apart.
        if n_together == 0 {
            continue;
        }
        // A file and its test belong together by their names; nothing has to be learned.
        if is_test_pair(path_a, path_b) {
            continue;
        }
        // In the evidence, the file that is usually touched first comes first; the key has no order.
        let (first, second) = if n_forward >= n_backward { (a, b) } else { (b, a) };
        let Some((first, second)) = to_path_pair(pad, first, second) else { continue };
        let evidence = Evidence::CoAccess { first, second };
        let key = PatternKey::co_access(path_a, path_b);
        acc.push(Sighting::new(key, evidence).with_occurrences(n_together));
    }
    // The most frequent pairs first, because only the first sightings of a signal are kept.
    acc.sort_by(|a, b| b.occurrences.cmp(&a.occurrences).then_with(|| a.key.cmp(&b.key)));
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::CoAccess;

    #[test]
    fn files_edited_within_a_few_touches_are_a_pair() {
        check(
            CoAccess,
            "edit a.rs\nedit b.rs\nread c.rs",
            expect![[r#"
                a.rs|b.rs ×1 {"files":["a.rs","b.rs"]}
            "#]],
        );
        // A file and its test.
        check(CoAccess, "edit a.rs\nedit a_test.rs", expect![""]);
        // Too many other touches lie between the two edits.
        check(
            CoAccess,
            "edit a.rs\nread 1.rs\nread 2.rs\nread 3.rs\nread 4.rs\nread 5.rs\nread 6.rs\nedit b.rs",
            expect![""],
        );
    }
}
