//! Tests of the interface that scripts rely on: versioned JSON with a kind, exit codes, abbreviated
//! ids, no colour in pipes, and secrets that are never printed.
//!
//! Exit codes: 0 success, 1 a finding or no result, 2 wrong usage, 3 a problem of the machine.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{
    Sandbox, binary, files_containing, has_program, id_of, record, run_command, skip, string,
};

#[test]
fn every_command_answers_in_versioned_json() {
    let sandbox = Sandbox::new();
    let (id, spare) = (sandbox.remember("a thing"), sandbox.remember("another thing"));
    let file = sandbox.root.join("out.json");
    let out = file.to_str().unwrap();
    // The `kind` of the answer, and the command. Later commands use the results of earlier ones.
    let commands: [(&str, &[&str]); 29] = [
        ("remembered", &["remember", "--new", "one more"]),
        ("memories", &["list"]),
        ("hits", &["search", "thing"]),
        ("memory", &["show", &id]),
        ("edited", &["edit", &id, "--text", "a thing, changed"]),
        ("pinned", &["pin", &id]),
        ("flagged", &["flag", &id, "ok"]),
        ("forgotten", &["forget", &id]),
        ("restored", &["restore", &id]),
        ("history", &["history", &id]),
        ("undone", &["undo"]),
        ("export", &["export"]),
        ("exported", &["export", "-o", out]),
        ("imported", &["import", out]),
        ("backups", &["backup"]),
        ("backups", &["restore-backup"]),
        ("maintained", &["maintain"]),
        ("health", &["doctor"]),
        ("stats", &["stats"]),
        ("config", &["config"]),
        ("setting", &["config", "get", "list.limit"]),
        ("set", &["config", "set", "list.limit", "7"]),
        ("set", &["config", "unset", "list.limit"]),
        ("providers", &["config", "test-provider"]),
        ("embedded", &["embed"]),
        ("licenses", &["licenses"]),
        ("completions", &["completions", "bash"]),
        ("purged", &["purge", "--yes", &spare]),
        ("purged", &["purge", "--yes", "--everything"]),
    ];
    for (kind, args) in commands {
        let output = sandbox.json(args);
        assert_eq!(output["kind"], kind, "{args:?}");
    }
}

#[test]
fn failures_have_a_kind_and_an_exit_code() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("a thing");
    // Exit code, kind of the error, and the command.
    let failing: [(i32, &str, &[&str]); 8] = [
        (1, "finding", &["show", "00000000"]),
        (2, "usage", &["show", "xyz"]),
        (2, "usage", &["edit", &id]),
        (2, "usage", &["config", "set", "list.limits", "3"]),
        (2, "usage", &["config", "set", "list.limit", "many"]),
        (2, "usage", &["remember", "--type", "nonsense", "text"]),
        (2, "usage", &["remember", "--file", "../outside", "text"]),
        (2, "usage", &["restore-backup", "nonsense", "--yes"]),
    ];
    for (code, kind, args) in failing {
        let output =
            sandbox.run(&[&["--json"], args].concat()).expect_code(code, &format!("{args:?}"));
        assert_eq!(output.json()["error"]["kind"], kind, "{output:?}");
        let output = sandbox.run(args).expect_code(code, &format!("{args:?}"));
        assert!(output.err.starts_with("error: ") && output.out.is_empty(), "{output:?}");
    }
    // Rejected by the parser of the arguments.
    for args in [&[][..], &["nonsense"], &["list", "--nonsense"], &["completions", "nonsense"]] {
        sandbox.run(args).expect_code(2, &format!("{args:?}"));
    }
    sandbox.run(&["--help"]).expect_code(0, "help");
    sandbox.run(&["--version"]).expect_code(0, "version");
}

#[test]
fn an_ambiguous_id_is_rejected() {
    let sandbox = Sandbox::new();
    let file = sandbox.root.join("twins.json");
    // An abbreviated id is the start of the last eight digits. Those of the twins, `abcd0001` and
    // `abcd0002`, start alike.
    let twins = [record(&id_of(1, 0xabcd_0001), "one"), record(&id_of(2, 0xabcd_0002), "two")];
    fs::write(&file, serde_json::to_vec(&twins).unwrap()).unwrap();
    sandbox.json(&["import", "--trust", file.to_str().unwrap()]);
    let output = sandbox.run(&["show", "abcd"]).expect_code(2, "ambiguous");
    for id in [id_of(1, 0xabcd_0001), id_of(2, 0xabcd_0002)] {
        assert!(output.err.contains(&id), "{id} is not named: {output:?}");
    }
    sandbox.run(&["show", "abcd0001"]).expect_code(0, "unambiguous");
    sandbox.run(&["show", "abc"]).expect_code(2, "shorter than four digits");

    // One unknown id among several: none is forgotten.
    sandbox.run(&["forget", "abcd0001", "00000000"]).expect_code(1, "one unknown id");
    assert!(sandbox.memories().iter().all(|it| it["deleted_at"].is_null()));
}

#[test]
fn pipes_get_no_colour_and_may_close_early() {
    let sandbox = Sandbox::new();
    let records: Vec<Value> = (0..300)
        .map(|it| record(&id_of(5, it), &format!("thing {it} {}", "and so on ".repeat(40))))
        .collect();
    sandbox
        .run_with_input(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap())
        .expect_code(0, "import");

    // Without a terminal there are no escape sequences.
    for args in [
        &["list"][..],
        &["search", "thing"],
        &["doctor"],
        &["stats"],
        &["config"],
        &["show", "nonsense"],
        &["--help"],
    ] {
        let output = sandbox.run(args).expect_no_panic("piped");
        assert!(!output.out_and_err().contains('\u{1b}'), "{args:?}: {output:?}");
    }

    // The reader closes the pipe after the first line, like `head -1`: a normal end, not an error.
    for args in [
        &["list", "-n", "1000"][..],
        &["list", "-n", "1000", "--json"],
        &["export"],
        &["export", "--format", "markdown"],
        &["completions", "bash"],
    ] {
        let mut child =
            sandbox.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first_line = String::new();
        // A small buffer, so that the pipe stays full and the writer notices that it is closed.
        let mut stdout = BufReader::with_capacity(16, child.stdout.take().unwrap());
        stdout.read_line(&mut first_line).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            !first_line.is_empty() && !err.contains("panicked") && !err.contains("error"),
            "{args:?}: {err}"
        );
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn colour_is_used_on_terminals_unless_no_color_is_set() {
    if !has_program("script") {
        return skip("colour on a terminal", "script is absent");
    }
    let sandbox = Sandbox::new();
    // A memory with escape sequences: a window title and blinking text.
    let id = sandbox.remember("a thing with \u{1b}]0;owned\u{7} and \u{1b}[5m");
    // `script` runs a shell line on a pseudo-terminal. `W` is the path of the program.
    let on_terminal = |shell_line: &str, no_color: Option<&str>| {
        let mut command = Command::new("script");
        sandbox.set_environment(&mut command);
        command.args(["-qec", shell_line, "/dev/null"]).env("TERM", "xterm").env("W", binary());
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        run_command(command).out
    };
    assert!(on_terminal("\"$W\" list", None).contains('\u{1b}'));
    assert!(!on_terminal("\"$W\" list", Some("1")).contains('\u{1b}'));
    // The sequences of the memory are not passed on, or its text would control the terminal.
    let shown = on_terminal(&format!("\"$W\" show {id}"), None);
    assert!(!shown.contains("\u{1b}]0") && !shown.contains("\u{1b}[5m"), "{shown:?}");
}

#[test]
fn a_secret_is_rejected_and_never_printed() {
    let sandbox = Sandbox::new();
    // In parts, so that secret scanners do not report this file.
    let secret_part = ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let secret = format!("ghp_{secret_part}");
    let id = sandbox.remember("a harmless thing");
    let text = format!("first line\nthe token is {secret}");
    let output = sandbox.run_with_input(&["remember"], text.as_bytes()).expect_code(1, "a secret");
    assert!(output.err.contains("line 2"), "the line is not named: {output:?}");
    // Every argument that is stored is checked.
    let commands: [&[&str]; 5] = [
        &["remember", "--json", &text],
        &["edit", &id, "--text", &text],
        &["flag", &id, "incorrect", "--text", &text],
        &["remember", "tagged", "--tag", &secret],
        &["remember", "in a module", "--module", &secret],
    ];
    for args in commands {
        let output = sandbox.run(args).expect_code(1, "a secret");
        assert!(!output.out_and_err().contains(&secret_part), "{output:?}");
    }
    assert_eq!(sandbox.contents().len(), 1);

    // `--redact` stores the text without the secret.
    let redacted = sandbox.json(&["remember", "--redact", &text]);
    assert_eq!(redacted["redacted"], 1);
    assert!(string(&redacted["memory"]["content"]).contains("[REDACTED"), "{redacted}");
    assert_eq!(files_containing(&sandbox.home, &secret_part), Vec::<PathBuf>::new());
}
