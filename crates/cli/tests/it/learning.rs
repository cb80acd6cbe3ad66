//! Tests of `waylore learn`: past sessions of Claude Code become memories.
//!
//! `learn` finds the transcripts in the host's folder, reads each session once and in order of time,
//! and stores what several sessions support; `explain` shows the evidence. The sessions here are
//! written as short scripts, which `claude_transcript` turns into transcripts. The decisions
//! themselves are tested in `observe` and `promote`.
//!
//! Terms. A *signal* is a kind of pattern that sessions are searched for, such as `error_retry`: a
//! command fails, and another form of it works. A *sighting* is one occurrence of a pattern in one
//! session. A session is *validated* when something shows that its work is right: a passing test
//! (`run cargo test`) or a later commit of its edits. Until then it is *waiting*, and its sightings
//! do not become memories. What an agent states after it has read external content, such as a web
//! page, is *tainted*, and not learned.
//!
//! `learn --json` prints, among others, `sessions` (read now), `known` (read before), `waiting` (not
//! validated), `dropped` (sightings that became no memory, by reason) and `memories` (stored now).

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::hooks::GIT_SHOW_SESSION;
use crate::sandbox::{Sandbox, string};

/// A session that changes two files together.
const CO_CHANGE_SESSION: &str =
    "user change the wire\nedit src/api.rs\nedit web/wire.ts\nrun cargo test\n";

/// A statement, but without a passing test: nothing shows that the work is right.
const UNVALIDATED_SESSION: &str = "user change the wire\nedit src/api.rs\nsay Actually, `src/api.rs` rounds per line, never on the sum.\nedit web/wire.ts\n";

/// A transcript in the format of Claude Code, for session number `session` on day `day` of January
/// 2026. Each line of the script is one message or tool call:
///
/// - `user TEXT`, `say TEXT`: a message of the user or of the assistant
/// - `edit PATH`, `read PATH`, `run COMMAND`: a successful tool call
/// - `call TOOL`: a successful call of a tool by the host's name for it
/// - `fail COMMAND: MESSAGE`: a command that fails with this message
pub(crate) fn claude_transcript(sandbox: &Sandbox, session: u8, day: u8, script: &str) -> String {
    let id = format!("019a0000-0000-7000-8000-0000000000{session:02}");
    let cwd = sandbox.project.display().to_string();
    let mut lines = Vec::new();
    for (nth, line) in script.lines().map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        // One second between lines.
        let timestamp = format!("2026-01-{day:02}T10:00:{nth:02}.000Z");
        let record = |kind: &str, content: Value| {
            json!({ "type": kind, "sessionId": id, "uuid": format!("{session}-{nth}-{kind}"), "cwd": cwd, "timestamp": timestamp,
                "message": { "id": format!("m{nth}"), "content": content } })
            .to_string()
        };
        let call_id = format!("t{session}-{nth}");
        // A call and its result are two records.
        let mut push_tool_call = |name: &str, input: Value, error: Option<&str>| {
            let tool_use =
                json!([{ "type": "tool_use", "id": call_id, "name": name, "input": input }]);
            lines.push(record("assistant", tool_use));
            let tool_result = json!([{ "type": "tool_result", "tool_use_id": call_id,
                "is_error": error.is_some(), "content": error.unwrap_or("ok") }]);
            lines.push(record("user", tool_result));
        };

        let (verb, rest) = line.split_once(' ').unwrap();
        let file_path = || json!({ "file_path": format!("{cwd}/{rest}") });
        match verb {
            "user" => lines.push(record("user", json!(rest))),
            "say" => lines.push(record("assistant", json!([{ "type": "text", "text": rest }]))),
            "edit" => push_tool_call("Edit", file_path(), None),
            "read" => push_tool_call("Read", file_path(), None),
            "run" => push_tool_call("Bash", json!({ "command": rest }), None),
            "call" => push_tool_call(rest, json!({}), None),
            "fail" => {
                let (command, message) = rest.split_once(": ").unwrap();
                push_tool_call("Bash", json!({ "command": command }), Some(message));
            }
            other => panic!("unknown verb {other}"),
        }
    }
    lines.join("\n") + "\n"
}

/// Writes a transcript (see `claude_transcript`) into the folder where Claude Code keeps them.
pub(crate) fn write_transcript(sandbox: &Sandbox, session: u8, day: u8, script: &str) {
    let folder = transcript_folder(sandbox);
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join(format!("{session}.jsonl")),
        claude_transcript(sandbox, session, day, script),
    )
    .unwrap();
}

/// Claude Code names the folder after the project's path, with `-` for every special character.
fn transcript_folder(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.project.display().to_string();
    let name = path.replace(|it: char| !it.is_ascii_alphanumeric(), "-");
    sandbox.root.join(".claude/projects").join(name)
}

/// The texts of the memories in the JSON output of `learn`, sorted.
fn learned_texts(learned: &Value) -> Vec<String> {
    let memories = learned["memories"].as_array().unwrap();
    let mut res: Vec<String> = memories.iter().map(|it| string(&it["memory"]["content"])).collect();
    res.sort();
    res
}

#[test]
fn an_error_of_several_sessions_becomes_a_memory_and_behaviour_a_statistic() {
    let sandbox = Sandbox::new();
    // Written in another order than that of their dates.
    for (session, day) in [(1, 3), (2, 1), (3, 2)] {
        write_transcript(&sandbox, session, day, CO_CHANGE_SESSION);
    }
    write_transcript(&sandbox, 4, 4, GIT_SHOW_SESSION);
    write_transcript(&sandbox, 5, 5, GIT_SHOW_SESSION);

    // Two sessions teach the fix of an error. That three sessions changed the same two files is only
    // counted.
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned["sessions"], 5, "{learned}");
    assert_eq!(
        learned_texts(&learned),
        [
            "Use `git show --stat HEAD` instead of `git show --no-stat HEAD`, which fails here with “unrecognized argument: --no-stat” (2 sessions).",
        ]
    );
    let session = learned_session(&sandbox, "change the wire");
    let output = sandbox.run(&["explain", &session, "--all"]).expect_code(0, "explain");
    assert!(output.out.contains("told at its moment, not stored"), "{output:?}");

    // A learned memory is found by its error message and carries the fix as structured data.
    let found = sandbox.json(&["search", "git show unrecognized argument"]);
    assert!(string(&found["hits"][0]["memory"]["content"]).contains("--stat HEAD"), "{found}");
    let payload = &found["hits"][0]["memory"]["payload"];
    assert_eq!(payload["resolution"], "Use `git show --stat HEAD` instead.", "{found}");
}

/// The id of the first learned session with this beginning of a task.
fn learned_session(sandbox: &Sandbox, task: &str) -> String {
    let explained = sandbox.json(&["explain"]);
    let sessions = explained["sessions"].as_array().unwrap();
    let found = sessions.iter().find(|it| string(&it["task"]).starts_with(task));
    string(&found.unwrap_or_else(|| panic!("{explained}"))["id"])
}

#[test]
fn learning_is_idempotent_and_continues_with_new_sessions() {
    let sandbox = Sandbox::new();
    for session in 1..=3 {
        write_transcript(&sandbox, session, session, GIT_SHOW_SESSION);
    }
    sandbox.json(&["learn"]);

    // A second run reads nothing and changes nothing.
    let before = sandbox.json(&["export"]);
    let repeated = sandbox.json(&["learn"]);
    assert_eq!(repeated["sessions"], 0, "{repeated}");
    assert_eq!(repeated["known"], 3, "{repeated}");
    assert_eq!(sandbox.json(&["export"])["memories"], before["memories"]);

    // A fourth session confirms the memory of the first three.
    write_transcript(&sandbox, 4, 4, GIT_SHOW_SESSION);
    let continued = sandbox.json(&["learn"]);
    assert_eq!(continued["sessions"], 1, "{continued}");
    assert_eq!(continued["known"], 3, "{continued}");
    assert_ne!(continued["memories"][0]["how"], "new", "{continued}");
    assert_eq!(sandbox.contents().len(), 1);
}

#[test]
fn a_dry_run_stores_nothing() {
    let sandbox = Sandbox::new();
    for session in 1..=3 {
        write_transcript(&sandbox, session, session, GIT_SHOW_SESSION);
    }
    let learned = sandbox.json(&["learn", "--dry-run"]);
    assert_eq!(learned_texts(&learned).len(), 1, "{learned}");
    assert_eq!(sandbox.contents(), Vec::new());
    assert!(!sandbox.home.join("data").exists(), "the dry run created the data folder");
}

#[test]
fn explain_gives_reasons_and_evidence() {
    let sandbox = Sandbox::new();
    // After one session, the pattern is dropped because it was seen only once.
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    sandbox.json(&["learn"]);
    let session = sandbox.json(&["explain"])["sessions"][0]["id"].clone();
    let explained = sandbox.json(&["explain", &string(&session)]);
    let sightings = explained["seen"].as_array().unwrap();
    let error_retry = sightings.iter().find(|it| it["signal"] == "error_retry").unwrap();
    assert_eq!(error_retry["dropped"]["reason"], "frequency", "{explained}");

    // After the second one it is a memory, explained by both sessions.
    write_transcript(&sandbox, 2, 2, GIT_SHOW_SESSION);
    let learned = sandbox.json(&["learn"]);
    let id = string(&learned["memories"][0]["memory"]["id"]);
    let explained = sandbox.json(&["explain", &id]);
    assert_eq!(explained["evidence"].as_array().unwrap().len(), 2, "{explained}");
    let output = sandbox.run(&["explain", &id]).expect_code(0, "explain");
    assert!(
        output.out.contains("unrecognized argument: --no-stat")
            && output.out.contains("look at the change"),
        "{output:?}"
    );
}

#[test]
fn an_unvalidated_session_is_held_back() {
    let sandbox = Sandbox::new();
    for session in 1..=3 {
        write_transcript(&sandbox, session, session, UNVALIDATED_SESSION);
    }
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned_texts(&learned).len(), 0, "{learned}");
    assert_eq!(learned["waiting"], 3, "sessions: {learned}");
    assert_eq!(learned["dropped"]["waiting"], 3, "sightings, one per session: {learned}");
}

#[test]
fn external_content_taints_later_statements_and_secrets_are_masked() {
    let sandbox = Sandbox::new();
    // In two parts, so that secret scanners do not report this file.
    let secret = ["ghp_", "x7Kq2Lm9Pz4Rt6Vw8Yb1Nc3Df5Gh0Jk2Ls4A"].concat();
    let script = format!(
        "user fix the total\nedit src/total.ts\nsay Actually, `src/total.ts` rounds per line, never on the sum of `{secret}`.\nrun cargo test\n"
    );
    write_transcript(&sandbox, 1, 1, &script);
    sandbox.json(&["learn"]);

    // The statement is learned, without the secret in it.
    let memories = sandbox.contents();
    let any_contains = |part: &str| memories.iter().any(|(_id, text)| text.contains(part));
    assert!(any_contains("rounds per line"), "{memories:?}");
    assert!(!any_contains(&secret), "{memories:?}");

    // The agent fetches a web page first, so its statement may come from there.
    write_transcript(
        &sandbox,
        2,
        2,
        "user fix it\nrun curl https://example.test/x\nsay Actually, `src/sum.ts` rounds per item, never on the whole.\nedit src/sum.ts\nrun cargo test\n",
    );
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned_texts(&learned).len(), 0, "{learned}");
}

#[test]
fn a_purged_memory_leaves_no_evidence_and_is_not_learned_again() {
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    write_transcript(&sandbox, 2, 2, GIT_SHOW_SESSION);
    let learned = sandbox.json(&["learn"]);
    let id = string(&learned["memories"][0]["memory"]["id"]);

    // The transcripts are still there, but are not read again.
    sandbox.run(&["purge", &id, "--yes"]).expect_code(0, "purge");
    sandbox.json(&["learn"]);
    assert_eq!(sandbox.contents(), Vec::new());
    assert!(sandbox.run(&["explain", &id]).code != 0);
}

#[test]
fn other_files_are_skipped_and_damaged_lines_are_counted() {
    let sandbox = Sandbox::new();
    let folder = sandbox.root.join("mixed");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.md"), "# Notes\n").unwrap();
    fs::write(folder.join("config.json"), "{\"a\":1}").unwrap();
    // A valid transcript, then a truncated line with invalid UTF-8, an empty line and an empty object.
    let mut text = claude_transcript(&sandbox, 1, 1, CO_CHANGE_SESSION).into_bytes();
    text.extend_from_slice(b"{\"type\":\"user\",\"mess\xff\x00\n\n{}\n");
    fs::write(folder.join("session.jsonl"), text).unwrap();

    let learned = sandbox.json(&["learn", "--from", &folder.display().to_string()]);
    assert_eq!(learned["sessions"], 1, "{learned}");
    assert_eq!(learned["damaged_lines"], 1, "{learned}");

    let missing = sandbox.run(&["learn", "--from", "/no/such/folder"]);
    assert_ne!(missing.code, 0, "{missing:?}");
}

#[test]
fn a_file_edited_by_two_subagents_becomes_a_gotcha() {
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 1, "user do both\nedit main.rs\nrun cargo test\n");
    let folder = transcript_folder(&sandbox).join("1/subagents");
    fs::create_dir_all(&folder).unwrap();
    for name in ["agent-a", "agent-b"] {
        // Subagents have the session id of their parent and mark every record as a sidechain.
        let text = claude_transcript(&sandbox, 1, 2, "user your part\nedit src/router.rs\n");
        let text = text.replace("\"type\":\"user\"", "\"isSidechain\":true,\"type\":\"user\"");
        // The ids of tool calls (`t1-0` …) must differ between the two.
        fs::write(folder.join(format!("{name}.jsonl")), text.replace("t1-", name)).unwrap();
    }

    // The parent and its two subagents count as three sessions.
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned["sessions"], 3, "{learned}");
    let texts = learned_texts(&learned);
    assert!(
        texts.iter().any(|it| it.contains("two subagents") && it.contains("src/router.rs")),
        "{texts:?}"
    );
}

#[test]
fn edits_committed_later_validate_a_session() {
    let sandbox = Sandbox::new();
    // Both files are committed on 4 January.
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        sandbox.set_environment(&mut command);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-01-04T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-04T00:00:00Z");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.test"];
        assert!(command.args(identity).args(args).output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    for path in ["src/api.rs", "web/wire.ts"] {
        let path = sandbox.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);

    // The commit validates the three sessions before it, but not the one two weeks later.
    for session in 1..=3 {
        write_transcript(&sandbox, session, session, UNVALIDATED_SESSION);
    }
    write_transcript(&sandbox, 4, 20, "user much later\nedit src/api.rs\nedit web/wire.ts\n");
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned_texts(&learned).len(), 1, "{learned}");
    assert_eq!(learned["waiting"], 1, "{learned}");
}

#[test]
fn files_for_a_task_come_from_similar_sessions() {
    let sandbox = Sandbox::new();
    for path in ["src/api.rs", "web/wire.ts", "docs/guide.md"] {
        let path = sandbox.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    sandbox.run(&["context", "files", "--task", "the wire"]).expect_code(1, "before any session");

    write_transcript(&sandbox, 1, 1, CO_CHANGE_SESSION);
    write_transcript(
        &sandbox,
        2,
        2,
        "user write the guide\nedit docs/guide.md\nedit src/gone.rs\nrun cargo test\n",
    );
    sandbox.json(&["learn"]);

    // The file named in the query and the file that does not exist are left out.
    let predicted =
        sandbox.json(&["context", "files", "--task", "change the wire", "--file", "src/api.rs"]);
    assert_eq!(predicted["files"], json!(["web/wire.ts", "docs/guide.md"]), "{predicted}");
}

/// The results of an MCP server are external text, until the user (not the project) trusts the server.
#[test]
fn a_server_that_the_user_trusts_does_not_hold_back_what_is_learned_after_it() {
    let script = "user round the totals\nedit src/total.rs\ncall mcp__docs__search\n\
        say Actually, `src/total.rs` rounds per line, never on the sum.\nrun cargo test\n";
    let untainted_after = |is_trusted: bool| {
        let sandbox = Sandbox::new();
        let set = ["config", "set", "trust.mcp_servers", "docs"];
        sandbox.run(&[&set[..], &["--for-project"]].concat()).expect_code(2, "not by a project");
        if is_trusted {
            sandbox.run(&set).expect_code(0, "by the user");
        }
        write_transcript(&sandbox, 1, 1, script);
        sandbox.run(&["learn"]).expect_code(0, "learn");
        // What the agent states waits for a confirmation; what external text taints has another status.
        sandbox.json(&["list", "--status", "candidate"])["memories"].as_array().unwrap().len()
    };
    assert_eq!((untainted_after(false), untainted_after(true)), (0, 1));
}
