//! Detects the signal `read_abandon`: a file was read repeatedly and never edited. The file that was
//! edited instead is recorded.

use crate::evidence::Evidence;
use crate::facts::{FileUse, file_uses};
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path_pair};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    let is_abandoned = |it: &FileUse| it.n_reads >= 2 && it.n_edits == 0;
    for (file, file_use) in file_uses(pad).into_iter().filter(|it| is_abandoned(&it.1)) {
        let Some(first_read) = file_use.first_read else { continue };
        // The first edit after the read is where the work was done.
        let edited = pad.successful_touches().find(|it| it.is_write && it.call > first_read);
        let Some((read, edited)) = edited.and_then(|it| to_path_pair(pad, file, it.file)) else {
            continue;
        };
        let key = PatternKey::read_abandon(&read, &edited);
        let evidence = Evidence::ReadAbandon { read, edited };
        acc.push(Sighting::new(key, evidence).with_occurrences(file_use.n_reads));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ReadAbandon;

    #[test]
    fn a_file_read_twice_and_never_edited_points_to_the_edited_one() {
        check(
            ReadAbandon,
            "read a.rs\nread a.rs\nedit b.rs",
            expect![[r#"
                a.rs→b.rs ×2 {"files":["a.rs","b.rs"]}
            "#]],
        );
        check(ReadAbandon, "read a.rs\nedit b.rs", expect![""]);
        check(ReadAbandon, "read a.rs\nread a.rs\nedit a.rs", expect![""]);
        check(ReadAbandon, "read a.rs\nread a.rs", expect![""]);
    }
}
