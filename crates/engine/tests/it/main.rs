//! Tests of the engine by scripts: one binary, one module per topic. The notation is testkit's.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its answers with them")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod determinism;
mod injection;
mod learned_patterns;
mod learning;
mod lookup;
mod remembering;

mod context;
mod contradictions;
mod edit_outcome;
mod file_warnings;
mod generated_answers;
mod search;
mod staleness;
mod symbol_anchors;

mod secrets;
mod synthesis;
mod untrusted_imports;

mod correcting;
mod editing;
mod exclusion;
mod forgetting;

mod undo_limits;
mod undoing;

mod clocks;
mod decay;

mod export_import;
mod purging;
mod repeated_import;
mod rules;

mod damage;
mod project_boundaries;

mod simulation;

use expect_test::Expect;

/// Plays a script in a fresh world and compares every answer.
fn check(script: &str, expect: Expect) {
    expect.assert_eq(&testkit::run_script(script));
}
