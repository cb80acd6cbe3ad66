//! The engine by scripts: one binary, one module per promise. The notation is testkit's.

use expect_test::Expect;

mod smoke;

/// Plays a script in a fresh world and compares every answer.
fn check(script: &str, expect: Expect) {
    expect.assert_eq(&testkit::play(script));
}
