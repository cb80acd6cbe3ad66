//! `make run` shows the whole promise: an error, what was learned from it, and the next session being told.

use std::process::Command;

use crate::sandbox::{Sandbox, binary, has_program, run_command, skip, workspace};

/// A screen or two; longer output is not read.
const MAX_LINES: usize = 60;

#[test]
fn the_demo_shows_error_lesson_and_note() {
    let sandbox = Sandbox::new();
    if !has_program("git") || !has_program("bash") {
        return skip("the demo", "git or bash is absent");
    }
    let mut command = Command::new("bash");
    sandbox.set_environment(&mut command);
    command.arg(workspace().join("scripts/demo"));
    // An agent may start it as well.
    command
        .env("CLAUDECODE", "1")
        .env("WAYLORE_BIN", binary())
        .env("WAYLORE_DEMO", sandbox.root.join("demo"));
    let output = run_command(command).expect_code(0, "scripts/demo");

    let text = output.out_and_err();
    assert!(text.lines().count() <= MAX_LINES, "{}: {text}", text.lines().count());
    let learned = output.out.find("Use `go test -tags integration ./integration` instead");
    let blocks: Vec<&str> = output.out.split("<waylore-notes>").collect();
    let [before, at_prompt, at_error] = &blocks[..] else {
        panic!("two sessions are told: {text}")
    };
    assert!(learned.is_some_and(|it| it < before.len()), "learned first: {text}");
    for block in [at_prompt, at_error] {
        assert!(block.contains("go test -tags integration ./integration"), "{text}");
        assert!(block.contains("</waylore-notes>"), "{text}");
    }
}
