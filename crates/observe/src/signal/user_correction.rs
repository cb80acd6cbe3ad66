//! Detects the signal `user_correction`: a person wants something to be remembered.
//!
//! The scratchpad (the log of one session) has found the sentences already (`person.rs`). Each becomes a
//! sighting: the key, by which sessions are compared, is a hash of the sentence; the evidence quotes it.
//! Example: "please always run `mise run fmt` before committing". Its place is the files that it names; of a
//! correction that names none, those that the agent edited just before.

use std::collections::BTreeSet;

use model::ProjectPath;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::person::WishKind;
use crate::scratchpad::{SessionStatement, StatementKind};
use crate::sighting::{Sighting, find_named_files, to_paths};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Calls before a correction whose edits it may be about.
const CORRECTED_CALLS: u32 = 6;
/// Files that a correction may be about; more edits were no single mistake.
const MAX_CORRECTED_FILES: usize = 3;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for statement in &pad.statements {
        let StatementKind::Wish(kind) = statement.kind else { continue };
        let mut files = find_named_files(pad, &statement.text);
        if files.is_empty() && kind == WishKind::Correction {
            files = corrected_files(pad, statement);
        }
        let evidence = Evidence::UserCorrection { files, sentence: statement.text.clone(), kind };
        let key = PatternKey::user_correction(&statement.text);
        let sighting = Sighting::new(key, evidence).seen_at(pad, statement.order);
        // Not tainted (derived from text outside the project): the person typed it, whatever the agent has
        // read before.
        acc.push(Sighting { tainted: false, ..sighting });
    }
}

/// The files that the agent edited shortly before a statement; none if they are many.
fn corrected_files(pad: &Scratchpad, statement: &SessionStatement) -> Vec<ProjectPath> {
    let first_call = statement.call.saturating_sub(CORRECTED_CALLS);
    let is_recent = |call: u32| (first_call..statement.call).contains(&call);
    let edited: BTreeSet<StringId> = pad
        .touches
        .iter()
        .filter(|it| it.is_write && is_recent(it.call))
        .map(|it| it.file)
        .collect();
    if edited.len() > MAX_CORRECTED_FILES {
        return Vec::new();
    }
    to_paths(pad, edited)
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use crate::test_script::events_from_script;
    use crate::{ModuleLookup, Scratchpad};
    use expect_test::expect;
    use model::SignalKind::UserCorrection;
    use model::{Event, EventEnvelope, SessionId, Timestamp};

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

    #[test]
    fn a_correction_is_about_the_files_edited_just_before() {
        check(
            UserCorrection,
            "user fix it\nedit src/price.rs\nuser no, the API returns cents, not euros",
            expect![[r#"
                8917c4c92d60857b ×1 {"files":["src/price.rs"],"text":"the API returns cents, not euros","wish":"correction"}
            "#]],
        );
    }

    #[test]
    fn the_messages_to_a_subagent_are_not_the_persons() {
        let mut events = events_from_script("user we never mock the database");
        let detect = |events: &[EventEnvelope]| {
            let mut pad = Scratchpad::new();
            for it in events {
                pad.observe(it);
            }
            let mut acc = Vec::new();
            super::detect(&mut acc, &pad, &ModuleLookup::default());
            acc.len()
        };
        assert_eq!(detect(&events), 1);
        if let Event::SessionStart(start) = &mut events[0].event {
            start.parent = Some(SessionId::new(Timestamp(1), [1; 10]));
        }
        assert_eq!(detect(&events), 0);
    }
}
