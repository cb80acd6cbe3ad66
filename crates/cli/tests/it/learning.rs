//! Learning from past sessions: found by itself, oldest first, once, explained, and erased for good.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{Desk, string};

/// A transcript as Claude Code keeps it; one call or message a line of the script.
fn transcript(desk: &Desk, session: u8, day: u8, script: &str) -> String {
    let id = format!("019a0000-0000-7000-8000-0000000000{session:02}");
    let cwd = desk.project.display().to_string();
    let mut lines = Vec::new();
    for (nth, line) in script.lines().map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        let at = format!("2026-01-{day:02}T10:00:{nth:02}.000Z");
        let record = |kind: &str, content: Value| {
            json!({ "type": kind, "sessionId": id, "uuid": format!("{session}-{nth}-{kind}"), "cwd": cwd, "timestamp": at,
                "message": { "id": format!("m{nth}"), "content": content } })
            .to_string()
        };
        let (verb, rest) = line.split_once(' ').unwrap();
        let call = format!("t{session}-{nth}");
        let mut tool = |name: &str, input: Value, failed: Option<&str>| {
            lines.push(record(
                "assistant",
                json!([{ "type": "tool_use", "id": call, "name": name, "input": input }]),
            ));
            let text = failed.unwrap_or("ok");
            lines.push(record("user", json!([{ "type": "tool_result", "tool_use_id": call, "is_error": failed.is_some(), "content": text }])));
        };
        match verb {
            "user" => lines.push(record("user", json!(rest))),
            "say" => lines.push(record("assistant", json!([{ "type": "text", "text": rest }]))),
            "edit" => tool("Edit", json!({ "file_path": format!("{cwd}/{rest}") }), None),
            "read" => tool("Read", json!({ "file_path": format!("{cwd}/{rest}") }), None),
            "run" => tool("Bash", json!({ "command": rest }), None),
            "fail" => {
                let (command, message) = rest.split_once(": ").unwrap();
                tool("Bash", json!({ "command": command }), Some(message));
            }
            other => panic!("unknown verb {other}"),
        }
    }
    lines.join("\n") + "\n"
}

/// Puts a transcript where the host keeps it.
pub(crate) fn put(desk: &Desk, session: u8, day: u8, script: &str) {
    let dashed: String = desk
        .project
        .display()
        .to_string()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    let folder = desk.root.join(".claude/projects").join(dashed);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{session}.jsonl")), transcript(desk, session, day, script))
        .unwrap();
}

const PAIR: &str = "user change the wire\nedit src/api.rs\nedit web/wire.ts\nrun cargo test\n";
const FLAG: &str = "user look at the change\nedit a.rs\nfail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\nrun git show --stat HEAD\nrun cargo test\n";

fn contents(learned: &Value) -> Vec<String> {
    let mut res: Vec<String> = learned["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| string(&it["memory"]["content"]))
        .collect();
    res.sort();
    res
}

#[test]
fn patterns_of_several_sessions_become_memories() {
    let desk = Desk::new();
    for (session, day) in [(1, 3), (2, 1), (3, 2)] {
        put(&desk, session, day, PAIR);
    }
    put(&desk, 4, 4, FLAG);
    put(&desk, 5, 5, FLAG);
    let learned = desk.json(&["learn"]);
    assert_eq!(learned["sessions"], 5, "{learned}");
    assert_eq!(
        contents(&learned),
        [
            "A change to `src/api.rs` usually needs one in `web/wire.ts` as well: 3 of the 3 sessions that edited `src/api.rs` edited both. Check `web/wire.ts` before you finish.",
            "`git show --no-stat HEAD` fails with “fatal: unrecognized argument: --no-stat”. What worked: `git show --stat HEAD`.",
        ]
    );
    let found = desk.json(&["search", "git show unrecognized argument"]);
    assert!(string(&found["hits"][0]["memory"]["content"]).contains("--stat HEAD"), "{found}");
    let payload = &found["hits"][0]["memory"]["payload"];
    assert_eq!(payload["resolution"], "What worked: `git show --stat HEAD`.", "{found}");
}

#[test]
fn learning_again_changes_nothing_and_goes_on_with_what_is_new() {
    let desk = Desk::new();
    for session in 1..=3 {
        put(&desk, session, session, PAIR);
    }
    desk.json(&["learn"]);
    let before = desk.json(&["export"]);
    let again = desk.json(&["learn"]);
    assert_eq!((&again["sessions"], &again["known"]), (&json!(0), &json!(3)), "{again}");
    assert_eq!(desk.json(&["export"])["memories"], before["memories"]);
    put(&desk, 4, 4, PAIR);
    let more = desk.json(&["learn"]);
    assert_eq!((&more["sessions"], &more["known"]), (&json!(1), &json!(3)));
    assert_eq!(more["memories"][0]["how"], "updated", "{more}");
    assert!(contents(&more)[0].contains("4 of the 4 sessions"), "{more}");
}

#[test]
fn a_dry_run_shows_and_keeps_nothing() {
    let desk = Desk::new();
    for session in 1..=3 {
        put(&desk, session, session, PAIR);
    }
    let learned = desk.json(&["learn", "--dry-run"]);
    assert_eq!(contents(&learned).len(), 1, "{learned}");
    assert_eq!(desk.contents(), Vec::new());
    assert!(!desk.home.join("data").exists(), "nothing is created by a dry run");
}

#[test]
fn what_is_dropped_says_why_and_what_is_kept_shows_its_evidence() {
    let desk = Desk::new();
    put(&desk, 1, 1, FLAG);
    desk.json(&["learn"]);
    let session = desk.json(&["explain"])["sessions"][0]["id"].clone();
    let told = desk.json(&["explain", &string(&session)]);
    let dropped =
        told["seen"].as_array().unwrap().iter().find(|it| it["signal"] == "error_retry").unwrap();
    assert_eq!(dropped["dropped"]["reason"], "frequency", "{told}");
    put(&desk, 2, 2, FLAG);
    let learned = desk.json(&["learn"]);
    let id = string(&learned["memories"][0]["memory"]["id"]);
    let explained = desk.json(&["explain", &id]);
    assert_eq!(explained["evidence"].as_array().unwrap().len(), 2, "{explained}");
    let said = desk.run(&["explain", &id]).ends(0, "explain");
    assert!(
        said.out.contains("unrecognized argument: --no-stat")
            && said.out.contains("look at the change"),
        "{said:?}"
    );
}

#[test]
fn a_session_that_nothing_speaks_for_teaches_nothing_yet() {
    let desk = Desk::new();
    for session in 1..=3 {
        put(&desk, session, session, "user change the wire\nedit src/api.rs\nedit web/wire.ts\n");
    }
    let learned = desk.json(&["learn"]);
    assert_eq!((contents(&learned).len(), &learned["waiting"]), (0, &json!(3)), "{learned}");
    assert_eq!(learned["dropped"]["waiting"], 3, "{learned}");
}

#[test]
fn text_from_outside_taints_what_is_said_after_it_and_secrets_are_masked() {
    let desk = Desk::new();
    let secret = ["ghp_", "x7Kq2Lm9Pz4Rt6Vw8Yb1Nc3Df5Gh0Jk2Ls4A"].concat();
    let script = format!(
        "user fix the total\nedit src/total.ts\nsay Actually, `src/total.ts` rounds per line, never on the sum of `{secret}`.\nrun cargo test\n"
    );
    put(&desk, 1, 1, &script);
    desk.json(&["learn"]);
    let kept = desk.contents();
    assert!(kept.iter().any(|it| it.1.contains("rounds per line")), "{kept:?}");
    assert!(kept.iter().all(|it| !it.1.contains(&secret)), "{kept:?}");
    put(
        &desk,
        2,
        2,
        "user fix it\nrun curl https://example.test/x\nsay Actually, `src/sum.ts` rounds per item, never on the whole.\nedit src/sum.ts\nrun cargo test\n",
    );
    let learned = desk.json(&["learn"]);
    assert_eq!(contents(&learned).len(), 0, "a stranger's words are not kept: {learned}");
}

#[test]
fn an_erased_memory_leaves_no_evidence_and_does_not_come_back() {
    let desk = Desk::new();
    put(&desk, 1, 1, FLAG);
    put(&desk, 2, 2, FLAG);
    let learned = desk.json(&["learn"]);
    let id = string(&learned["memories"][0]["memory"]["id"]);
    desk.run(&["purge", &id, "--yes"]).ends(0, "purge");
    desk.json(&["learn"]);
    assert_eq!(desk.contents(), Vec::new());
    assert!(desk.run(&["explain", &id]).code != 0);
}

#[test]
fn what_is_no_transcript_is_left_and_damage_is_counted() {
    let desk = Desk::new();
    let folder = desk.root.join("mixed");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.md"), "# Notes\n").unwrap();
    fs::write(folder.join("config.json"), "{\"a\":1}").unwrap();
    let mut text = transcript(&desk, 1, 1, PAIR).into_bytes();
    text.extend_from_slice(b"{\"type\":\"user\",\"mess\xff\x00\n\n{}\n");
    fs::write(folder.join("session.jsonl"), text).unwrap();
    let learned = desk.json(&["learn", "--from", &folder.display().to_string()]);
    assert_eq!(
        (&learned["sessions"], &learned["damaged_lines"]),
        (&json!(1), &json!(1)),
        "{learned}"
    );
    let missing = desk.run(&["learn", "--from", "/no/such/folder"]);
    assert_ne!(missing.code, 0, "{missing:?}");
}

#[test]
fn subagents_that_edit_one_file_are_a_trap_worth_knowing() {
    let desk = Desk::new();
    put(&desk, 1, 1, "user do both\nedit main.rs\nrun cargo test\n");
    let dashed: String = desk
        .project
        .display()
        .to_string()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    let folder = desk.root.join(".claude/projects").join(dashed).join("1/subagents");
    fs::create_dir_all(&folder).unwrap();
    for name in ["agent-a", "agent-b"] {
        // Subagents carry the session of their parent, and mark every record as a sidechain.
        let text = transcript(&desk, 1, 2, "user your part\nedit src/router.rs\n");
        let text = text.replace("\"type\":\"user\"", "\"isSidechain\":true,\"type\":\"user\"");
        fs::write(folder.join(format!("{name}.jsonl")), text.replace("t1-", name)).unwrap();
    }
    let learned = desk.json(&["learn"]);
    assert_eq!(learned["sessions"], 3, "{learned}");
    let kept = contents(&learned);
    assert!(
        kept.iter().any(|it| it.contains("two subagents") && it.contains("src/router.rs")),
        "{kept:?}"
    );
}

#[test]
fn edits_that_were_committed_later_speak_for_a_session() {
    let desk = Desk::new();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        desk.surround(&mut command);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-01-04T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-04T00:00:00Z");
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.test"];
        assert!(command.args(who).args(args).output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    for path in ["src/api.rs", "web/wire.ts"] {
        let path = desk.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    for session in 1..=3 {
        put(&desk, session, session, "user change the wire\nedit src/api.rs\nedit web/wire.ts\n");
    }
    put(&desk, 4, 20, "user much later\nedit src/api.rs\nedit web/wire.ts\n");
    let learned = desk.json(&["learn"]);
    assert_eq!((contents(&learned).len(), &learned["waiting"]), (1, &json!(1)), "{learned}");
}

#[test]
fn the_files_of_a_task_are_those_of_sessions_like_it() {
    let desk = Desk::new();
    for path in ["src/api.rs", "web/wire.ts", "docs/guide.md"] {
        let path = desk.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    assert_eq!(desk.run(&["context", "files", "--task", "the wire"]).code, 1);
    put(&desk, 1, 1, PAIR);
    put(
        &desk,
        2,
        2,
        "user write the guide\nedit docs/guide.md\nedit src/gone.rs\nrun cargo test\n",
    );
    desk.json(&["learn"]);
    let told =
        desk.json(&["context", "files", "--task", "change the wire", "--file", "src/api.rs"]);
    assert_eq!(told["files"], json!(["web/wire.ts", "docs/guide.md"]), "{told}");
}
