//! The engine by scripts: one binary, one module per promise. The notation is testkit's.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its answers with them")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod finding;
mod lasting;
mod learning;
mod readback;
mod teaching;
mod telling;

mod aftermath;
mod anchoring;
mod asking;
mod context;
mod overriding;
mod recalling;
mod staleness;
mod step;

mod secrets;
mod strangers;
mod synthesis;

mod correcting;
mod editing;
mod forgetting;
mod keeping_out;

mod too_late;
mod undoing;

mod clocks;
mod fading;

mod carrying;
mod known;
mod purging;
mod rules;

mod damage;
mod places;

mod simulation;

use expect_test::Expect;

/// Plays a script in a fresh world and compares every answer.
fn check(script: &str, expect: Expect) {
    expect.assert_eq(&testkit::play(script));
}
