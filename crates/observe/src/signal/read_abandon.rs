//! Detects the signal `read_abandon`: a file was read repeatedly and never edited; another file was edited
//! instead.
//!
//! Input is the scratchpad, the log of one session. Each such file becomes a sighting, whose key, by which
//! sessions are compared, has both paths. Example: `a.rs` is read twice, then `b.rs` is edited: the key is
//! `a.rs→b.rs`.

use crate::evidence::Evidence;
use crate::facts::file_uses;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path_pair};
use crate::{ModuleLookup, Scratchpad};

/// One read is an ordinary look; from the second on the file was expected to matter.
const MIN_READS: u32 = 2;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for (file, file_use) in file_uses(pad) {
        if file_use.n_reads < MIN_READS || file_use.n_edits > 0 {
            continue;
        }
        // Always set, because the file was read.
        let Some(first_read) = file_use.first_read else { continue };
        // The first edit after the read is where the work was done. Without one, nothing was done instead.
        let mut later_edits =
            pad.successful_touches().filter(|it| it.is_write && it.call > first_read);
        let Some(edit) = later_edits.next() else { continue };
        let Some((read, edited)) = to_path_pair(pad, file, edit.file) else { continue };
        let key = PatternKey::read_abandon(&read, &edited);
        let evidence = Evidence::ReadAbandon { read, edited };
        acc.push(Sighting::new(key, evidence).with_occurrences(file_use.n_reads));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

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
