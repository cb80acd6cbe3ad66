//! What scripts and terminals rely on: versioned JSON, exit codes, no colour in pipes, secrets that
//! are never printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::kit::{Desk, binary, finish, has, holding, id_of, record, skip, string};

#[test]
fn every_command_answers_in_versioned_json() {
    let desk = Desk::new();
    let (id, spare) = (desk.remember("a thing"), desk.remember("another thing"));
    let file = desk.root.join("out.json");
    let out = file.to_str().unwrap();
    let asked: [(&str, &[&str]); 29] = [
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
    for (kind, args) in asked {
        let said = desk.json(args);
        assert_eq!(said["kind"], kind, "{args:?}");
    }
}

#[test]
fn failures_have_a_kind_a_code_and_a_way_out() {
    let desk = Desk::new();
    let id = desk.remember("a thing");
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
        let said = desk.run(&[&["--json"], args].concat()).ends(code, &format!("{args:?}"));
        assert_eq!(said.json()["error"]["kind"], kind, "{said:?}");
        let said = desk.run(args).ends(code, &format!("{args:?}"));
        assert!(said.err.starts_with("error: ") && said.out.is_empty(), "{said:?}");
    }
    for args in [&[][..], &["nonsense"], &["list", "--nonsense"], &["completions", "nonsense"]] {
        desk.run(args).ends(2, &format!("{args:?}"));
    }
    desk.run(&["--help"]).ends(0, "help");
    desk.run(&["--version"]).ends(0, "version");
}

#[test]
fn an_id_that_means_several_is_not_guessed() {
    let desk = Desk::new();
    let file = desk.root.join("twins.json");
    let twins = [record(&id_of(1, 0xabcd_0001), "one"), record(&id_of(2, 0xabcd_0002), "two")];
    fs::write(&file, serde_json::to_vec(&twins).unwrap()).unwrap();
    desk.json(&["import", "--trust", file.to_str().unwrap()]);
    let said = desk.run(&["show", "abcd"]).ends(2, "ambiguous");
    for id in [id_of(1, 0xabcd_0001), id_of(2, 0xabcd_0002)] {
        assert!(said.err.contains(&id), "both are named: {said:?}");
    }
    desk.run(&["show", "abcd0001"]).ends(0, "one of them");
    desk.run(&["show", "abc"]).ends(2, "too short to be meant");
    desk.run(&["forget", "abcd0001", "00000000"]).ends(1, "one of several is unknown");
    assert!(desk.memories().iter().all(|it| it["deleted_at"].is_null()), "so none is forgotten");
}

#[test]
fn pipes_get_no_colour_and_may_close_early() {
    let desk = Desk::new();
    let records: Vec<Value> = (0..300)
        .map(|it| record(&id_of(5, it), &format!("thing {it} {}", "and so on ".repeat(40))))
        .collect();
    desk.feed(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap())
        .ends(0, "import");
    for args in [
        &["list"][..],
        &["search", "thing"],
        &["doctor"],
        &["stats"],
        &["config"],
        &["show", "nonsense"],
        &["--help"],
    ] {
        let said = desk.run(args).sound("piped");
        assert!(!said.all().contains('\u{1b}'), "{args:?}: {said:?}");
    }
    for args in [
        &["list", "-n", "1000"][..],
        &["list", "-n", "1000", "--json"],
        &["export"],
        &["export", "--format", "markdown"],
        &["completions", "bash"],
    ] {
        let mut child =
            desk.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            !first.is_empty() && !err.contains("panicked") && !err.contains("error"),
            "{args:?}: {err}"
        );
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    if !has("script") {
        return skip("colour on a terminal", "script is absent");
    }
    let desk = Desk::new();
    let id = desk.remember("a thing that says \u{1b}]0;owned\u{7} and \u{1b}[5m");
    let on_terminal = |line: &str, no_color: Option<&str>| {
        let mut command = Command::new("script");
        desk.surround(&mut command);
        command.args(["-qec", line, "/dev/null"]).env("TERM", "xterm").env("W", binary());
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        finish(command).out
    };
    assert!(on_terminal("\"$W\" list", None).contains('\u{1b}'));
    assert!(!on_terminal("\"$W\" list", Some("1")).contains('\u{1b}'));
    let shown = on_terminal(&format!("\"$W\" show {id}"), None);
    assert!(
        !shown.contains("\u{1b}]0") && !shown.contains("\u{1b}[5m"),
        "a memory is text: {shown:?}"
    );
}

#[test]
fn a_secret_is_refused_and_never_printed() {
    let desk = Desk::new();
    let tail = ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let secret = format!("ghp_{tail}");
    let id = desk.remember("a harmless thing");
    let text = format!("first line\nthe token is {secret}");
    let said = desk.feed(&["remember"], text.as_bytes()).ends(1, "a secret");
    assert!(said.err.contains("line 2"), "it says where: {said:?}");
    let doors: [&[&str]; 5] = [
        &["remember", "--json", &text],
        &["edit", &id, "--text", &text],
        &["flag", &id, "incorrect", "--text", &text],
        &["remember", "tagged", "--tag", &secret],
        &["remember", "in a module", "--module", &secret],
    ];
    for door in doors {
        let said = desk.run(door).ends(1, "a secret");
        assert!(!said.all().contains(&tail), "{said:?}");
    }
    assert_eq!(desk.contents().len(), 1);
    let kept = desk.json(&["remember", "--redact", &text]);
    assert_eq!(kept["redacted"], 1);
    assert!(string(&kept["memory"]["content"]).contains("[REDACTED"), "{kept}");
    assert_eq!(holding(&desk.home, &tail), Vec::<std::path::PathBuf>::new());
}
