//! Notes as an agent and a user meet them: the id of a fix can be shown, explained and
//! rejected; a plan finds the file that a bare name means; a prompt brings no empty note; the tools of the
//! MCP server say when to use them. Also which memories a renamed file brings, and that a transcript from
//! elsewhere brings none.

use std::fs;

use serde_json::{Value, json};

#[cfg(unix)]
use crate::daemon::{DaemonClient, RunningDaemon};
use crate::hooks::{
    GIT_SHOW_ERROR, GIT_SHOW_SESSION, failed_command, file_read, injected_text, user_prompt,
};
use crate::learning::{claude_transcript, write_transcript};
use crate::mcp::{answer_text, rpc_request, run_server, tool_call};
use crate::sandbox::Sandbox;

fn failed_git_show() -> Value {
    failed_command("git show --no-stat HEAD~3", GIT_SHOW_ERROR)
}

/// A sandbox in which one session found the fix of an error, and the id in the note about it.
fn sandbox_with_fix() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    sandbox.json(&["learn"]);
    let note = injected_text(&sandbox, "s1", failed_git_show());
    assert!(note.contains("--stat HEAD"), "{note}");
    let id = note.split("[#").nth(1).and_then(|it| it.split(']').next()).unwrap().to_owned();
    (sandbox, id)
}

#[test]
fn the_id_in_a_note_about_a_fix_can_be_shown_and_rejected() {
    let (sandbox, id) = sandbox_with_fix();
    for command in ["show", "explain"] {
        let shown = sandbox.run(&[command, &id]).expect_code(0, command);
        assert!(shown.out.contains("git show"), "{shown:?}");
    }
    // `undo` takes a rejection back.
    sandbox.run(&["flag", &id, "outdated"]).expect_code(0, "flag");
    assert_eq!(injected_text(&sandbox, "s2", failed_git_show()), "");
    sandbox.run(&["undo"]).expect_code(0, "undo");
    assert!(injected_text(&sandbox, "s3", failed_git_show()).contains("--stat HEAD"));
}

#[test]
fn an_agent_can_reject_a_fix_by_the_id_in_its_note() {
    let (sandbox, id) = sandbox_with_fix();
    let flag = |id: &str| {
        let arguments = json!({ "memory": id, "reason": "the flag is --no-patch" });
        let answers = run_server(&sandbox, &["mcp"], &[tool_call(1, "flag_memory", arguments)]);
        answer_text(&answers[1]).to_owned()
    };
    let answer = flag(&id);
    assert!(answer.contains("no longer"), "{answer}");
    assert_eq!(injected_text(&sandbox, "s2", failed_git_show()), "");
    let unknown = flag("0123abcd");
    assert!(unknown.contains("search_memory shows the ids"), "{unknown}");
}

#[test]
fn a_plan_finds_the_file_that_a_bare_name_means() {
    let sandbox = Sandbox::new();
    for file in ["src/jobs/queue.ts", "src/a/util.ts"] {
        let path = sandbox.project.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let teach = |file: &str, text: &str| {
        sandbox
            .run(&["remember", "--type", "gotcha", "--file", file, text])
            .expect_code(0, "remember");
    };
    teach("src/jobs/queue.ts", "Close the lease before acknowledging");
    teach("src/a/util.ts", "Alpha rounds to even");
    for (stage, task) in
        [("plan", "fix queue.ts"), ("qa", "check `queue.ts`."), ("plan", "see jobs/queue.ts")]
    {
        let context = sandbox.run(&["context", stage, "--task", task]).expect_code(0, stage);
        assert!(context.out.contains("Close the lease"), "{task}: {}", context.out);
        assert!(!context.out.contains("Alpha rounds"), "{task}: {}", context.out);
    }
}

#[test]
fn a_prompt_never_gets_a_note_with_only_the_name_of_a_module() {
    let sandbox = Sandbox::new();
    for folder in ["billing", "shipping", "catalogue"] {
        fs::create_dir(sandbox.project.join(folder)).unwrap();
        for file in ["one.py", "two.py"] {
            fs::write(sandbox.project.join(folder).join(file), "def go():\n    pass\n").unwrap();
        }
    }
    sandbox.run(&["index"]).expect_code(0, "index");
    let note = injected_text(&sandbox, "s1", user_prompt("make the shipping faster"));
    let is_bare = |it: &str| it.trim().trim_start_matches("- ").trim_matches('`') == "shipping";
    assert!(!note.lines().any(is_bare), "{note}");
}

#[test]
fn every_tool_says_when_to_use_it() {
    let sandbox = Sandbox::new();
    let answers = run_server(&sandbox, &["mcp"], &[rpc_request(1, "tools/list", json!({}))]);
    for tool in answers[1]["result"]["tools"].as_array().unwrap() {
        let text = tool["description"].as_str().unwrap();
        let says_when = ["before", "when", "after"].iter().any(|it| {
            text.to_lowercase().split(|it: char| !it.is_alphabetic()).any(|word| word == *it)
        });
        assert!(says_when, "{}: {text}", tool["name"]);
    }
    let guide = answers[0]["result"]["instructions"].as_str().unwrap();
    assert!(guide.contains("call record_memory"), "{guide}");
}

/// Runs git in the project.
fn git(sandbox: &Sandbox, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@x.test"];
    let mut command = std::process::Command::new("git");
    sandbox.set_environment(&mut command);
    let status = command.args(identity).args(args).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

#[test]
fn a_memory_is_found_by_the_new_name_of_its_file() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("old")).unwrap();
    fs::write(sandbox.project.join("old/a.rs"), "fn pay() {}\n".repeat(20)).unwrap();
    git(&sandbox, &["init", "-q", "-b", "main"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "old/a.rs", "pay() rounds half up"])
        .expect_code(0, "remember");
    fs::create_dir(sandbox.project.join("new")).unwrap();
    git(&sandbox, &["mv", "old/a.rs", "new/b.rs"]);

    // The rename counts before it is committed.
    let listed = sandbox.run(&["list", "-f", "new/b.rs"]).expect_code(0, "list");
    assert!(listed.out.contains("rounds half up"), "{listed:?}");
    let note = injected_text(&sandbox, "s0", file_read(&sandbox, "new/b.rs"));
    assert!(note.contains("rounds half up"), "{note}");
    git(&sandbox, &["commit", "-qm", "move"]);

    for args in [
        vec!["list", "-f", "new/b.rs"],
        vec!["search", "rounds half up", "-f", "new/b.rs"],
        vec!["context", "file", "new/b.rs"],
        vec!["context", "plan", "--task", "rewrite new/b.rs"],
    ] {
        let output = sandbox.run(&args).expect_code(0, &args.join(" "));
        assert!(output.out.contains("rounds half up"), "{args:?}: {output:?}");
    }
    let plan = json!({ "stage": "plan", "task": "rewrite it", "files": ["new/b.rs"] });
    let answers = run_server(&sandbox, &["mcp"], &[tool_call(1, "get_context", plan)]);
    let context = answer_text(&answers[1]);
    assert!(context.contains("rounds half up"), "{context}");
    let note = injected_text(&sandbox, "s1", file_read(&sandbox, "new/b.rs"));
    assert!(note.contains("rounds half up"), "{note}");

    // The file gets its old name back.
    fs::create_dir_all(sandbox.project.join("old")).unwrap();
    git(&sandbox, &["mv", "new/b.rs", "old/a.rs"]);
    git(&sandbox, &["commit", "-qm", "move back"]);
    let note = injected_text(&sandbox, "s2", file_read(&sandbox, "old/a.rs"));
    assert!(note.contains("rounds half up"), "{note}");
}

/// Learns a note about `a.rs` from a session whose work was validated, `at` this time in milliseconds.
#[cfg(unix)]
fn learn_note_about_a(sandbox: &Sandbox, content: &str, at: i64) {
    const SESSION_ID: &str = "018f0000-0000-7000-8000-0000000000ad";
    let _daemon = RunningDaemon::start(sandbox);
    let mut client = DaemonClient::connect(sandbox);
    let start = json!({ "event": "session_start", "event_id": "e1", "session_id": SESSION_ID, "at": at,
        "project_root": sandbox.project, "agent": "tester", "type": "build" });
    client.send_line(&start.to_string());
    for request in [
        json!({ "request": "record", "type": "gotcha", "content": content, "files": ["a.rs"] }),
        json!({ "request": "validate", "kind": "qa_passed", "ok": true }),
        json!({ "request": "finish", "outcome": "success", "wait": true }),
    ] {
        let mut request = request;
        (request["id"], request["session_id"]) = (json!(1), json!(SESSION_ID));
        let answer = client.request(request);
        assert!(answer["error"].is_null(), "{answer}");
    }
}

#[cfg(unix)]
#[test]
fn a_learned_memory_is_found_by_the_new_name_of_its_file() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("a.rs"), "fn pay() {}\n".repeat(20)).unwrap();
    git(&sandbox, &["init", "-q", "-b", "main"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    // The session begins a second after the commit, whose time the reflog has in seconds.
    let log = fs::read_to_string(sandbox.project.join(".git/logs/HEAD")).unwrap();
    let seconds: i64 = log.split("> ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    learn_note_about_a(&sandbox, "pay() locks the ledger", (seconds + 1) * 1000);
    git(&sandbox, &["mv", "a.rs", "b.rs"]);

    let listed = sandbox.run(&["list", "-f", "b.rs"]).expect_code(0, "list");
    assert!(listed.out.contains("locks the ledger"), "{listed:?}");
    let note = injected_text(&sandbox, "s1", file_read(&sandbox, "b.rs"));
    assert!(note.contains("locks the ledger"), "{note}");
    let _daemon = RunningDaemon::start(&sandbox);
    let request = json!({ "id": 1, "request": "file_context", "files": ["b.rs"],
        "project": sandbox.project });
    let answer = DaemonClient::connect(&sandbox).request(request);
    assert!(answer["ok"].to_string().contains("locks the ledger"), "{answer}");
}

#[test]
fn a_transcript_from_elsewhere_teaches_nothing_without_review() {
    let sandbox = Sandbox::new();
    let folder = sandbox.project.join("sessions");
    fs::create_dir(&folder).unwrap();
    for nth in [1, 2] {
        let text = claude_transcript(&sandbox, nth, nth, GIT_SHOW_SESSION);
        fs::write(folder.join(format!("{nth}.jsonl")), text).unwrap();
    }
    let path = folder.display().to_string();
    sandbox.json(&["learn", "--from", &path]);
    assert_eq!(injected_text(&sandbox, "s1", failed_git_show()), "");
    let statuses: Vec<Value> = sandbox.memories().iter().map(|it| it["status"].clone()).collect();
    assert!(statuses.iter().all(|it| it == "tainted"), "{statuses:?}");

    // The user vouches for copies of their own.
    let vouched = Sandbox::new();
    for nth in [1, 2] {
        let text = claude_transcript(&vouched, nth, nth, GIT_SHOW_SESSION);
        fs::write(vouched.root.join(format!("{nth}.jsonl")), text).unwrap();
    }
    let files: Vec<String> =
        [1, 2].map(|nth| vouched.root.join(format!("{nth}.jsonl")).display().to_string()).into();
    vouched.json(&["learn", "--trust", "--from", &files[0], &files[1]]);
    assert!(injected_text(&vouched, "s1", failed_git_show()).contains("git show --stat HEAD"));
}
