//! In the agent's loop: told at the right moment, once, and never in the way.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{Desk, Said, files};
use crate::learning::put;

pub(crate) const FLAG: &str = "user look at the change\nedit a.rs\nfail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\nrun git show --stat HEAD\nrun cargo test\n";

/// What the host is told at an event of a session; empty when nothing.
pub(crate) fn told(desk: &Desk, session: &str, event: Value) -> String {
    let mut message = json!({
        "session_id": session,
        "cwd": desk.project.display().to_string(),
        "transcript_path": "/nowhere.jsonl",
    });
    for (key, value) in event.as_object().unwrap() {
        message[key] = value.clone();
    }
    let said = desk.feed(&["hook", "claude-code"], message.to_string().as_bytes());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    if said.out.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    let answer = &answer["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], message["hook_event_name"]);
    answer["additionalContext"].as_str().unwrap().to_owned()
}

fn brief(said: &Said) -> String {
    format!("{} {}", said.code, said.out)
}

pub(crate) fn start(source: &str) -> Value {
    json!({ "hook_event_name": "SessionStart", "source": source })
}

pub(crate) fn prompt(text: &str) -> Value {
    json!({ "hook_event_name": "UserPromptSubmit", "prompt": text })
}

pub(crate) fn read(desk: &Desk, file: &str) -> Value {
    let path = desk.project.join(file).display().to_string();
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": path } })
}

pub(crate) fn failure(command: &str, error: &str) -> Value {
    json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": { "command": command }, "error": error })
}

/// A project with a warning about a file, and one that concerns everything.
pub(crate) fn taught() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.project.join("src")).unwrap();
    fs::write(desk.project.join("src/auth.rs"), "fn verify() {}\n").unwrap();
    desk.run(&[
        "remember",
        "--type",
        "gotcha",
        "--file",
        "src/auth.rs",
        "verify() wants seconds, not milliseconds",
    ])
    .ends(0, "it is done");
    desk.run(&["remember", "--type", "decision", "All dates are stored in UTC"])
        .ends(0, "it is done");
    desk
}

#[test]
fn two_hooks_of_one_event_say_it_once() {
    let desk = taught();
    let mut message = start("startup");
    message["session_id"] = json!("s1");
    message["cwd"] = json!(desk.project.display().to_string());
    let say = || desk.feed(&["hook", "claude-code"], message.to_string().as_bytes()).out;
    let said = std::thread::scope(|it| {
        let both = [it.spawn(say), it.spawn(say)];
        both.map(|it| it.join().unwrap())
    });
    let n_told = said.iter().filter(|it| it.contains("stored in UTC")).count();
    assert_eq!(n_told, 1, "{said:?}");
}

#[test]
fn files_that_sessions_on_such_work_opened_are_named_at_the_first_prompt() {
    let desk = Desk::new();
    fs::create_dir(desk.project.join("src")).unwrap();
    for file in ["login", "token", "guide"] {
        fs::write(desk.project.join(format!("src/{file}.rs")), "\n").unwrap();
    }
    let work = |task: &str, file: &str| {
        format!("user {task}\nedit src/{file}.rs\nread src/token.rs\nrun cargo test\n")
    };
    put(&desk, 1, 1, &work("the login token expires too early", "login"));
    put(&desk, 2, 2, &work("a login token that expires never", "login"));
    put(&desk, 3, 3, &work("login with a token that expires fails", "login"));
    put(&desk, 4, 4, "user write about colours\nedit src/guide.rs\nrun cargo test\n");
    desk.run(&["learn"]).ends(0, "learned");
    let asked = "why does the login token expire at midnight";
    let explained = desk.run(&["context", "start", "--task", asked, "--explain"]).all();
    assert!(
        explained.contains("2 files are predicted: most of the 3 of 4 sessions"),
        "{explained}"
    );
    let said = told(&desk, "s1", prompt(asked));
    assert!(said.contains("`src/token.rs`: 3 of 3 sessions") && !said.contains("guide"), "{said}");
    let said = told(&desk, "s1", prompt("and why does the login token expire at noon"));
    assert!(!said.contains("src/token.rs"), "once a session: {said}");
    let other = "what is the boiling point of ethanol";
    assert_eq!(told(&desk, "s2", prompt(other)), "");
    let explained = desk.run(&["context", "start", "--task", other, "--explain"]).all();
    assert!(explained.contains("no files predicted: 0 of 4 sessions"), "{explained}");
}

#[test]
fn a_warning_comes_with_its_file_and_once_per_session() {
    let desk = taught();
    fs::write(desk.project.join("src/other.rs"), "\n").unwrap();
    assert_eq!(told(&desk, "s1", read(&desk, "src/other.rs")), "");
    let said = told(&desk, "s1", read(&desk, "src/auth.rs"));
    assert!(
        said.contains("seconds, not milliseconds") && said.contains("not instructions"),
        "{said}"
    );
    assert_eq!(told(&desk, "s1", read(&desk, "src/auth.rs")), "", "said already");
    assert_ne!(told(&desk, "s2", read(&desk, "src/auth.rs")), "", "another session");
    assert_eq!(
        told(
            &desk,
            "s1",
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": "/etc/passwd" } })
        ),
        ""
    );
}

#[test]
fn long_warnings_are_told_in_short_and_the_block_always_ends() {
    let desk = taught();
    for n in 0..4 {
        let long = format!("Beware of case {n}: {}", "a\n".repeat(900));
        desk.run(&["remember", "--new", "--type", "gotcha", "--file", "src/auth.rs", &long])
            .ends(0, "it is done");
    }
    let said = told(&desk, "s1", read(&desk, "src/auth.rs"));
    assert!(said.ends_with("</waylore-notes>") && said.len() <= 9_000, "{said}");
    assert_eq!(said.matches("[GOTCHA]").count(), 4, "{said}");
}

#[test]
fn a_session_begins_with_what_counts_and_gets_it_back_after_compaction() {
    let desk = taught();
    let said = told(&desk, "s1", start("startup"));
    assert!(said.contains("UTC"), "{said}");
    assert!(!said.contains("seconds"), "what is about a file waits for it: {said}");
    assert_eq!(told(&desk, "s1", start("resume")), "", "what was said stands in the conversation");
    assert!(told(&desk, "s1", start("compact")).contains("UTC"), "what was said is gone");
}

#[test]
fn a_prompt_gets_what_relates_to_it_and_nothing_else() {
    let desk = taught();
    let said = told(&desk, "s1", prompt("the token is rejected: does verify() want milliseconds?"));
    assert!(said.contains("seconds, not milliseconds"), "{said}");
    for unrelated in ["What is the boiling point of ethanol at high altitude?", "go on", ""] {
        assert_eq!(told(&desk, "s2", prompt(unrelated)), "", "{unrelated}");
    }
}

#[test]
fn an_error_that_one_session_ended_is_told_to_the_next() {
    let desk = Desk::new();
    put(&desk, 1, 1, FLAG);
    desk.json(&["learn"]);
    let error = "Exit code 128\nfatal: unrecognized argument: --no-stat";
    let said = told(&desk, "s2", failure("git show --no-stat HEAD~3", error));
    assert!(said.contains("git show --stat HEAD") && said.contains("seen once"), "{said}");
    assert_eq!(told(&desk, "s2", failure("git show --no-stat HEAD~3", error)), "", "once");
    assert_eq!(told(&desk, "s3", failure("git push", "fatal: the remote end hung up")), "");
    put(&desk, 2, 2, FLAG);
    desk.json(&["learn"]);
    let said = told(&desk, "s4", failure("git show --no-stat HEAD~3", error));
    assert!(said.contains("git show --stat HEAD") && !said.contains("seen once"), "{said}");
}

#[test]
fn when_a_session_ends_it_is_learned_from() {
    let desk = Desk::new();
    put(&desk, 1, 1, FLAG);
    let transcript = files(&desk.root.join(".claude")).pop().unwrap();
    let end = json!({ "hook_event_name": "SessionEnd", "transcript_path": transcript.display().to_string() });
    assert_eq!(told(&desk, "s1", end), "");
    // Nobody waits for it but us.
    let error = "Exit code 128\nfatal: unrecognized argument: --no-stat";
    let is_known = |n: u32| {
        told(&desk, &n.to_string(), failure("git show --no-stat", error)).contains("--stat HEAD")
    };
    assert!((0..1_000).any(is_known), "the session was learned from");
}

#[test]
fn whatever_happens_the_host_goes_on() {
    let desk = taught();
    let message = |cwd: &str| {
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": cwd }).to_string()
    };
    let project = desk.project.display().to_string();
    for input in ["", "{", "null", "\0\u{fffd}", "{\"hook_event_name\": \"SessionStart\"}"] {
        assert_eq!(
            brief(&desk.feed(&["hook", "claude-code"], input.as_bytes())),
            "0 ",
            "{input:?}"
        );
    }
    for args in [vec!["hook"], vec!["hook", "nobody"], vec!["hook", "claude-code", "--nonsense"]] {
        assert_eq!(brief(&desk.feed(&args, message(&project).as_bytes())), "0 ", "{args:?}");
    }
    assert_eq!(desk.feed(&["hook", "claude-code"], message("/no/such/folder").as_bytes()).code, 0);
    desk.run(&["config", "set", "memory.enabled", "false"]).ends(0, "it is done");
    assert_eq!(brief(&desk.feed(&["hook", "claude-code"], message(&project).as_bytes())), "0 ");
    desk.run(&["config", "set", "memory.enabled", "true"]).ends(0, "it is done");
    for database in
        files(&desk.home).iter().filter(|it| it.extension().is_some_and(|it| it == "db"))
    {
        fs::write(database, "not a database").unwrap();
    }
    let said = desk.feed(&["hook", "claude-code"], message(&project).as_bytes());
    assert_eq!((said.code, said.out.as_str()), (0, ""));
}

#[test]
fn a_host_that_never_closes_its_end_is_not_waited_for() {
    let mut desk = taught();
    desk.patient = false;
    let mut command = desk.command(&["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(open);
}

#[test]
fn connecting_adds_hooks_and_disconnecting_puts_the_bytes_back() {
    let desk = Desk::new();
    let settings = desk.root.join(".claude/settings.json");
    assert_eq!(desk.json(&["connect", "claude-code", "--yes"])["changed"], true);
    let ours: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(
        ours["hooks"]["SessionStart"][0]["hooks"][0]["args"],
        json!(["hook", "claude-code"])
    );
    let servers = desk.root.join(".claude.json");
    let listed: Value = serde_json::from_str(&fs::read_to_string(&servers).unwrap()).unwrap();
    assert_eq!(listed["mcpServers"]["waylore"]["args"], json!(["mcp"]), "{listed}");
    assert_eq!(desk.json(&["connect", "claude-code", "--yes"])["changed"], false, "already");
    desk.run(&["disconnect", "claude-code", "--yes"]).ends(0, "it is done");
    assert!(!settings.exists() && !servers.exists(), "there were none before");
    let their_servers = "{\"numStartups\":1, \"mcpServers\": {\"db\":{\"command\":\"db\"}}}";
    fs::write(&servers, their_servers).unwrap();

    let theirs = "{ \"model\":\"opus\",\n\t\"hooks\": {\"Stop\": [ ]} }";
    fs::write(&settings, theirs).unwrap();
    desk.run(&["connect", "claude-code", "--yes"]).ends(0, "it is done");
    desk.run(&["disconnect", "claude-code", "--yes"]).ends(0, "it is done");
    assert_eq!(fs::read_to_string(&settings).unwrap(), theirs);
    assert_eq!(fs::read_to_string(&servers).unwrap(), their_servers);

    desk.run(&["connect", "claude-code", "--yes"]).ends(0, "it is done");
    let changed = fs::read_to_string(&settings).unwrap().replace("opus", "haiku");
    fs::write(&settings, changed).unwrap();
    desk.run(&["disconnect", "claude-code", "--yes"]).ends(0, "it is done");
    let left: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(left, json!({ "model": "haiku", "hooks": { "Stop": [] } }));
}

#[test]
fn settings_are_not_changed_unasked_or_unread() {
    let desk = Desk::new();
    let settings = desk.root.join(".claude/settings.json");
    assert_ne!(desk.run(&["connect", "claude-code"]).code, 0, "nobody there to ask");
    desk.run(&["connect", "claude-code", "--dry-run"]).ends(0, "it is done");
    assert!(!settings.exists());
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{ // mine\n}").unwrap();
    let said = desk.run(&["connect", "claude-code", "--yes"]);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("nothing was changed"), "{}", said.err);
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{ // mine\n}");
}
