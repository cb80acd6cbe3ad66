//! Detects the signal `backtrack`: an edit was reverted, by a second edit or by a command such as
//! `git checkout`.
//!
//! The scratchpad (the log of one session) has recognised the reversals already. Each becomes a sighting:
//! the key, by which sessions are compared, is the file; the evidence is the file and the agent's last
//! sentence before the reversal. Example: an edit of `a.rs`, "The cache must stay, so I revert this.", and
//! the reverse edit give the key `a.rs` with that sentence as the reason.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    // A reversal that failed or was refused changed nothing.
    let has_succeeded = |call: u32| pad.calls[call as usize].has_succeeded();
    for edit in pad.reverted_edits.iter().filter(|it| has_succeeded(it.call)) {
        // A path too long for the scratchpad was truncated and names no file.
        let Some(file) = to_path(pad, edit.file) else { continue };
        let key = PatternKey::backtrack(&file);
        let reason = Some(edit.reason.clone()).filter(|it| !it.is_empty());
        let evidence = Evidence::Backtrack { file, reason };
        acc.push(Sighting::new(key, evidence).seen_at(pad, edit.order));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::Backtrack;

    #[test]
    fn an_edit_and_its_reversal_are_a_backtrack() {
        check(
            Backtrack,
            "swap a.rs one two\nsay The cache must stay, so I revert this.\nswap a.rs two one",
            expect![[r#"
                a.rs ×1 {"files":["a.rs"],"text":"The cache must stay, so I revert this."}
            "#]],
        );
        check(
            Backtrack,
            "edit a.rs\nrun git checkout -- a.rs",
            expect![[r#"
            a.rs ×1 {"files":["a.rs"]}
        "#]],
        );
        // The reverse edit is in another file, and no command resets a file that was edited: `git stash`
        // deliberately does not count, because it keeps the edit for later.
        check(
            Backtrack,
            "swap a.rs one two\nswap b.rs two one\nrun git stash\nrun git checkout -- c.rs",
            expect![""],
        );
    }
}
