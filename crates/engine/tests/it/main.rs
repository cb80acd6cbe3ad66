//! Tests of the engine's API: one binary, one module per topic.
//!
//! Most tests play a script and compare its output. A script has one command per line (`teach`
//! remembers a statement, `list` prints the active memories …); the header of the crate `testkit`
//! lists all commands. `m1`, `m2` … are the memories in the order of their creation. Tests of
//! learning write sessions as JSON events instead; their fixture is in `learning.rs`.
//!
//! The output of a script has one line per memory: name, type, current confidence (only where
//! memories are listed), text, labels and status. Commands without a result print nothing, queries
//! without a result print `nothing`. Words that are not obvious:
//!
//! | output | meaning |
//! |---|---|
//! | `new`, `again`, `merged`, `supersedes` | how a statement relates to the stored memories; `again` is a merge that keeps the text |
//! | `added`, `known`, `erased` | outcome of an imported record: stored, a duplicate, purged here before |
//! | `faded`, `unconfirmed`, `gone` | maintenance forgot a memory or a candidate, or removed one that was forgotten long ago |
//! | `never was` | the undone change had created the memory, which is forgotten now |
//! | `kept out of this project` | the user's memory is excluded from this project |
//! | `2 with a past` | number of exported memories that have earlier versions |
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its answers with them")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

// Stating and changing memories.
mod candidates;
mod correcting;
mod editing;
mod exclusion;
mod forgetting;
mod purging;
mod remembering;
mod secrets;
mod undo_limits;
mod undoing;

// Finding and injecting memories.
mod context;
mod contradictions;
mod file_warnings;
mod generated_answers;
mod injection;
mod lookup;
mod poisoning;
mod search;
mod sibling_notes;
mod staleness;
mod symbol_anchors;

// Learning from sessions and from git.
mod determinism;
mod edit_outcome;
mod failed_sessions;
mod history_index;
mod learned_patterns;
mod learned_places;
mod learning;
mod masking;
mod module_map;
mod recurring_errors;
mod synthesis;
mod taint;
mod unseen_errors;

// Files that come in and go out.
mod export_import;
mod repeated_import;
mod rules;
mod untrusted_imports;
mod words_of_people;

// Time, damage, and the limits of a project.
mod clocks;
mod damage;
mod decay;
mod project_boundaries;

// Random operations.
mod simulation;

use expect_test::Expect;

/// Plays a script in an empty data folder and compares the whole output, in which each command is
/// echoed after `>` before its own lines.
fn check(script: &str, expect: Expect) {
    expect.assert_eq(&testkit::run_script_with_echo(script));
}
