//! Tests of `learn --ask`: one question per session to a language model, its claims checked and stored with
//! their quotes. The model is a provider on the loopback address, or a program that stands in for an agent's
//! command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::http_server::{ServerReply, TestServer};
use crate::sandbox::{Sandbox, run_command, string};

const GOOD_CLAIM: &str =
    "`make lint` fails with `unused import` at first, and passes when it is repeated.";

/// The journal of a session in which a command failed until another one was run, and the person gave rules.
fn write_session(sandbox: &Sandbox) -> PathBuf {
    write_session_of_day(sandbox, 1)
}

fn write_session_of_day(sandbox: &Sandbox, day: u64) -> PathBuf {
    let session = format!("019a0000-0000-7000-8000-00000000000{day}");
    let start = 1_760_000_000_000 + day * 86_400_000;
    let mut lines = Vec::new();
    let mut push = |event: Value| {
        let n = lines.len();
        let mut line =
            json!({ "event_id": format!("e{n}"), "session_id": session, "at": start + n as u64 });
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        lines.push(line.to_string());
    };
    push(
        json!({ "event": "session_start", "project_root": sandbox.project, "agent": "claude_code" }),
    );
    push(json!({ "event": "user_message", "text": "make the tests pass" }));
    let run = |push: &mut dyn FnMut(Value), command: &str, output: &str, ok: bool| {
        let id = format!("c{command}{ok}");
        push(
            json!({ "event": "tool_call", "call_id": id, "tool": "shell", "args": { "command": command } }),
        );
        push(
            json!({ "event": "tool_result", "call_id": id, "tool": "shell", "ok": ok, "excerpt": output }),
        );
    };
    run(&mut push, "make test", "error: connection refused", false);
    push(
        json!({ "event": "reasoning", "text": "The tests must have the database, because `make test` does not start it." }),
    );
    run(&mut push, "make db", "started", true);
    run(&mut push, "make test", "ok", true);
    for text in [
        "never start the database in the tests themselves",
        "and keep the ports of the compose file as they are",
    ] {
        push(json!({ "event": "user_message", "text": text }));
        push(json!({ "event": "reasoning", "text": "Understood." }));
    }
    run(&mut push, "make lint", "error: unused import", false);
    run(&mut push, "make lint", "ok", true);
    push(json!({ "event": "session_end", "outcome": "success" }));
    let path = sandbox.project.join(format!("session{day}.jsonl"));
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// An answer with a good claim and one that names a command which does not exist.
fn answer() -> String {
    let claim = |text: &str| {
        json!({
            "type": "error_pattern",
            "text": text,
            "quotes": [{ "n": 7, "text": "make lint" }, { "n": 8, "text": "error: unused import" }],
            "files": [],
            "when": "make lint",
            "scope": "repository",
            "sure": 0.95,
            "worth": 0.8,
        })
    };
    let invented = claim("`make lint` fails with `unused import` until `make world` was run.");
    format!("```json\n{}\n```", json!([claim(GOOD_CLAIM), invented]))
}

fn start_model(answer: String) -> TestServer {
    TestServer::start(move |_| {
        ServerReply::Json(json!({ "choices": [{ "message": { "content": answer } }] }))
    })
}

fn use_provider(sandbox: &Sandbox, url: &str) {
    for (key, value) in [
        ("text.provider", "compatible"),
        ("text.url", url),
        ("text.model", "m"),
        ("learn.model", "provider"),
    ] {
        sandbox.json(&["config", "set", key, value]);
    }
}

fn learn(sandbox: &Sandbox, transcript: &std::path::Path) -> Value {
    sandbox.json(&["learn", "--ask", "--trust", "--from", transcript.to_str().unwrap()])
}

#[test]
fn a_checked_claim_becomes_a_memory_with_its_quotes_and_a_session_is_asked_about_once() {
    let sandbox = Sandbox::new();
    let transcript = write_session(&sandbox);
    let model = start_model(answer());
    use_provider(&sandbox, &model.url());
    let learned = learn(&sandbox, &transcript);
    let asked = &learned["asked"]["sessions"][0];
    assert_eq!(asked["memories"][0]["content"], GOOD_CLAIM, "{learned:#}");
    let refused = string(&asked["refused"][0]["why"]);
    assert!(refused.contains("`make world`"), "{refused}");

    // The model saw the person's words, numbered.
    let request = model.requests()[0].body.to_string();
    assert!(request.contains("] step 3: never start the database"), "{request}");

    // The memory explains itself by its quotes, the session also by what was refused.
    let id = string(&asked["memories"][0]["id"]);
    let explained = sandbox.run(&["explain", &id]).out_and_err();
    assert!(explained.contains("error: unused import"), "{explained}");
    let session = string(&asked["session"]);
    let explained = sandbox.run(&["explain", &session]).out_and_err();
    assert!(explained.contains("make world"), "{explained}");

    // A second run sends nothing.
    let again = learn(&sandbox, &transcript);
    assert_eq!((&again["asked"]["calls"], model.requests().len()), (&json!(0), 1));
    let stats = sandbox.json(&["stats"]);
    let counts = &stats["activity"]["asked"];
    assert_eq!(
        (&counts["calls"], &counts["kept"], &counts["refused"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[test]
fn a_claim_replaces_a_memory_that_no_longer_holds() {
    let sandbox = Sandbox::new();
    let model = TestServer::start(|request| {
        let dossier = request.body.to_string();
        // The model is shown what is known, with its id.
        let known = dossier.rsplit("KNOWN ALREADY").next().unwrap_or_default();
        let known = known.split('#').find(|it| it.contains("passes when it is repeated"));
        let mut claim = json!({
            "type": "error_pattern",
            "text": GOOD_CLAIM,
            "quotes": [{ "n": 7, "text": "make lint" }, { "n": 8, "text": "error: unused import" }],
            "files": [], "when": "make lint", "scope": "repository", "sure": 0.95, "worth": 0.8,
        });
        if let Some(known) = known {
            claim["text"] =
                json!("`make lint` fails with `unused import` and passes after `make db`.");
            claim["replaces"] = json!(format!("#{}", &known[..8]));
        }
        let content = json!([claim]).to_string();
        ServerReply::Json(json!({ "choices": [{ "message": { "content": content } }] }))
    });
    use_provider(&sandbox, &model.url());
    let first = learn(&sandbox, &write_session_of_day(&sandbox, 1));
    let old = string(&first["asked"]["sessions"][0]["memories"][0]["id"]);
    let second = learn(&sandbox, &write_session_of_day(&sandbox, 2));
    let asked = &second["asked"]["sessions"][0];
    assert!(asked["memories"][0].is_object(), "{asked:#}");
    let new = string(&asked["memories"][0]["id"]);
    let status = |id: &str| string(&sandbox.json(&["show", id])["memory"]["status"]);
    assert_eq!((status(&old), status(&new)), ("deprecated".to_owned(), "live".to_owned()));
}

#[test]
fn a_failed_call_is_a_notice_and_is_tried_again() {
    let sandbox = Sandbox::new();
    let transcript = write_session(&sandbox);
    let silly = start_model("I found nothing of interest.".to_owned());
    use_provider(&sandbox, &silly.url());
    let learned = learn(&sandbox, &transcript);
    assert_eq!(learned["asked"]["failed"], 1, "{learned:#}");
    let model = start_model(answer());
    use_provider(&sandbox, &model.url());
    let learned = learn(&sandbox, &transcript);
    assert_eq!(learned["asked"]["sessions"][0]["memories"][0]["content"], GOOD_CLAIM);
}

#[test]
fn the_limit_of_a_day_holds_and_without_a_model_nothing_is_sent() {
    let sandbox = Sandbox::new();
    let transcript = write_session(&sandbox);
    let path = transcript.to_str().unwrap();
    let refused =
        sandbox.run(&["learn", "--ask", "--trust", "--from", path]).expect_code(2, "no model");
    assert!(refused.out_and_err().contains("learn.model"), "{}", refused.out_and_err());
    let model = start_model("nonsense".to_owned());
    use_provider(&sandbox, &model.url());
    sandbox.json(&["config", "set", "learn.daily_calls", "1"]);
    learn(&sandbox, &transcript);
    let second = learn(&sandbox, &transcript);
    assert_eq!((&second["asked"]["waiting"], model.requests().len()), (&json!(1), 1));
}

#[test]
fn an_agent_program_is_run_outside_the_project_with_a_marker_that_silences_hooks() {
    let sandbox = Sandbox::new();
    let transcript = write_session(&sandbox);
    let programs = sandbox.project.join("bin");
    fs::create_dir_all(&programs).unwrap();
    let reply = json!({ "is_error": false, "result": answer(), "usage": { "input_tokens": 4000, "output_tokens": 300 } });
    fs::write(programs.join("reply.json"), reply.to_string()).unwrap();
    let folder = programs.display();
    let script = format!(
        "#!/bin/sh\npwd > {folder}/cwd\necho \"$WAYLORE_DISTILL\" > {folder}/marker\necho \"$@\" > {folder}/args\ncat > {folder}/stdin\ncat {folder}/reply.json\n"
    );
    fs::write(programs.join("claude"), script).unwrap();
    fs::set_permissions(programs.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.json(&["config", "set", "learn.model", "claude"]);
    let mut command = sandbox.command(&[
        "--json",
        "learn",
        "--ask",
        "--trust",
        "--from",
        transcript.to_str().unwrap(),
    ]);
    let path = format!("{}:/usr/bin:/bin", programs.display());
    command.env("PATH", path);
    let learned = run_command(command).expect_code(0, "learn").json();
    assert_eq!(learned["asked"]["sessions"][0]["tokens"], 4300, "{learned:#}");

    let read = |name: &str| fs::read_to_string(programs.join(name)).unwrap();
    assert_eq!(read("marker").trim(), "1");
    assert!(read("cwd").trim().ends_with("ask/claude"), "{}", read("cwd"));
    let args = read("args");
    for flag in ["--safe-mode", "--strict-mcp-config", "--no-session-persistence", "--max-turns 1"]
    {
        assert!(args.contains(flag), "{args}");
    }
    assert!(read("stdin").starts_with("SESSION of claude_code"));

    // The marker silences a hook: nothing is printed, and nothing is journalled.
    let mut hook = sandbox.command(&["hook", "claude-code"]);
    hook.env("WAYLORE_DISTILL", "1");
    let printed = run_command(hook).expect_code(0, "hook");
    assert_eq!(printed.out_and_err(), "");
}

#[test]
fn doctor_names_a_missing_agent_program() {
    let sandbox = Sandbox::new();
    sandbox.json(&["config", "set", "learn.model", "opencode"]);
    let mut command = sandbox.command(&["doctor"]);
    command.env("PATH", "/usr/bin:/bin");
    let printed = run_command(command).out_and_err();
    assert!(printed.contains("`learn.model` is `opencode`"), "{printed}");
}
