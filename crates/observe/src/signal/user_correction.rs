//! Detects the signal `user_correction`: the user stated a preference that holds from now on.
//!
//! The scratchpad (the log of one session) has found the sentences already. Each becomes a sighting: the
//! key, by which sessions are compared, is a hash of the sentence; the evidence quotes it. Example: "please
//! always run `mise run fmt` before committing".

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::StatementKind;
use crate::sighting::{Sighting, find_named_files};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for statement in pad.statements.iter().filter(|it| it.kind == StatementKind::Preference) {
        let evidence = Evidence::UserCorrection {
            files: find_named_files(pad, &statement.text),
            sentence: statement.text.clone(),
        };
        let key = PatternKey::user_correction(&statement.text);
        let sighting = Sighting::new(key, evidence).seen_at(pad, statement.order);
        // Not tainted (derived from text outside the project): the user typed it, whatever the agent has
        // read before. The messages to a subagent are written by the agent that started it.
        let tainted = sighting.tainted && pad.parent.is_some();
        acc.push(Sighting { tainted, ..sighting });
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::UserCorrection;

    #[test]
    fn a_standing_preference_is_a_sighting() {
        // Text from the web taints what the agent derives later, but not what the user types.
        check(
            UserCorrection,
            "web https://x.test\nuser please always run `mise run fmt` before committing",
            expect![[r#"
                e8b2b8e8e5495ab3 ×1 {"text":"please always run `mise run fmt` before committing"}
            "#]],
        );
        check(UserCorrection, "user fix the build please", expect![""]);
    }
}
