//! `waylore hook claude-code` without a daemon: which notes the host gets at which hook event, that a
//! session gets each note once, and that no failure disturbs the host. Also `connect` and
//! `disconnect`, which write the hooks into the host's settings.
//!
//! The *host* is the program that runs an agent, here Claude Code. At each event of a session it runs
//! the hook with a message on standard input, and adds the text of the reply to the conversation:
//!
//! ```text
//! {"hook_event_name":"SessionStart","source":"startup","session_id":"s1","cwd":"/project", …}
//! {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"<waylore-notes>…"}}
//! ```
//!
//! `injected_text` does the same: it completes an event (from `session_start`, `user_prompt`,
//! `file_read` or `failed_command`) to a message, runs the hook, and returns that text. These helpers
//! are used by other test files, too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::learning::write_transcript;
use crate::sandbox::{CommandOutput, Sandbox, files, string, wait_until};

/// A session in which a `git show` fails and another form of it works, in the notation of
/// `write_transcript`.
pub(crate) const GIT_SHOW_SESSION: &str = "user look at the change\nedit a.rs\nfail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\nrun git show --stat HEAD\nrun cargo test\n";

/// The error of that session's failed command, as Claude Code reports it.
pub(crate) const GIT_SHOW_ERROR: &str = "Exit code 128\nfatal: unrecognized argument: --no-stat";

/// Sends a hook event of a session and returns the injected notes; empty if there are none.
pub(crate) fn injected_text(sandbox: &Sandbox, session: &str, event: Value) -> String {
    let mut message = json!({
        "session_id": session,
        "cwd": sandbox.project.display().to_string(),
        "transcript_path": "/nowhere.jsonl",
    });
    for (key, value) in event.as_object().unwrap() {
        message[key] = value.clone();
    }
    let output = sandbox.run_with_input(&["hook", "claude-code"], message.to_string().as_bytes());
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    if output.out.is_empty() {
        return String::new();
    }
    let reply: Value = serde_json::from_str(&output.out).unwrap();
    let reply = &reply["hookSpecificOutput"];
    assert_eq!(reply["hookEventName"], message["hook_event_name"]);
    reply["additionalContext"].as_str().unwrap().to_owned()
}

/// The event of a new (`startup`), continued (`resume`) or shortened (`compact`) conversation.
pub(crate) fn session_start(source: &str) -> Value {
    json!({ "hook_event_name": "SessionStart", "source": source })
}

pub(crate) fn user_prompt(text: &str) -> Value {
    json!({ "hook_event_name": "UserPromptSubmit", "prompt": text })
}

pub(crate) fn file_read(sandbox: &Sandbox, file: &str) -> Value {
    let path = sandbox.project.join(file).display().to_string();
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": path } })
}

pub(crate) fn failed_command(command: &str, error: &str) -> Value {
    json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": { "command": command }, "error": error })
}

/// A project with two memories: a gotcha about `src/auth.rs` and a decision about the whole project.
pub(crate) fn sandbox_with_memories() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("src")).unwrap();
    fs::write(sandbox.project.join("src/auth.rs"), "fn verify() {}\n").unwrap();
    let gotcha = "verify() wants seconds, not milliseconds";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "src/auth.rs", gotcha])
        .expect_code(0, "remember a gotcha");
    sandbox
        .run(&["remember", "--type", "decision", "All dates are stored in UTC"])
        .expect_code(0, "remember a decision");
    sandbox
}

#[test]
fn two_concurrent_hooks_of_one_event_inject_a_note_once() {
    let sandbox = sandbox_with_memories();
    let mut message = session_start("startup");
    message["session_id"] = json!("s1");
    message["cwd"] = json!(sandbox.project.display().to_string());

    // Both run at the same time, as when the host has the hook in two settings files.
    let run_hook =
        || sandbox.run_with_input(&["hook", "claude-code"], message.to_string().as_bytes()).out;
    let outputs = std::thread::scope(|scope| {
        let both = [scope.spawn(run_hook), scope.spawn(run_hook)];
        both.map(|it| it.join().unwrap())
    });
    let n_injected = outputs.iter().filter(|it| it.contains("stored in UTC")).count();
    assert_eq!(n_injected, 1, "{outputs:?}");
}

#[test]
fn a_memory_about_a_missing_symbol_is_flagged_without_a_daemon() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("a.rs"), "fn verify() {}\n").unwrap();
    sandbox.run(&["index"]).expect_code(0, "index");
    let text = "`verify` wants seconds";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "a.rs:verify", text])
        .expect_code(0, "remember");
    fs::write(sandbox.project.join("a.rs"), "fn check() {}\n").unwrap();
    assert_eq!(injected_text(&sandbox, "s1", file_read(&sandbox, "a.rs")), "");
    let listed = sandbox.json(&["list", "--all"]);
    assert_eq!(listed["memories"][0]["needs_review"], true, "{listed}");
}

#[test]
fn the_first_prompt_gets_the_files_that_similar_sessions_opened() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("src")).unwrap();
    for file in ["login", "token", "guide"] {
        fs::write(sandbox.project.join(format!("src/{file}.rs")), "\n").unwrap();
    }
    // Three sessions about login tokens opened the same two files; the fourth is about colours.
    let token_session =
        |task: &str| format!("user {task}\nedit src/login.rs\nread src/token.rs\nrun cargo test\n");
    let colour_session = "user write about colours\nedit src/guide.rs\nrun cargo test\n";
    write_transcript(&sandbox, 1, 1, &token_session("the login token expires too early"));
    write_transcript(&sandbox, 2, 2, &token_session("a login token that expires never"));
    write_transcript(&sandbox, 3, 3, &token_session("login with a token that expires fails"));
    write_transcript(&sandbox, 4, 4, colour_session);
    sandbox.run(&["learn"]).expect_code(0, "learn from four sessions");

    // A similar task predicts the two files, once per session.
    let similar_task = "why does the login token expire at midnight";
    let explanation =
        sandbox.run(&["context", "start", "--task", similar_task, "--explain"]).out_and_err();
    assert!(
        explanation.contains("2 files are predicted: most of the 3 of 4 sessions"),
        "{explanation}"
    );
    let notes = injected_text(&sandbox, "s1", user_prompt(similar_task));
    assert!(
        notes.contains("`src/token.rs`: 3 of 3 sessions") && !notes.contains("guide"),
        "{notes}"
    );
    let second_prompt = user_prompt("and why does the login token expire at noon");
    let notes = injected_text(&sandbox, "s1", second_prompt);
    assert!(!notes.contains("src/token.rs"), "only once per session: {notes}");

    // An unrelated task predicts nothing.
    let other_task = "what is the boiling point of ethanol";
    assert_eq!(injected_text(&sandbox, "s2", user_prompt(other_task)), "");
    let explanation =
        sandbox.run(&["context", "start", "--task", other_task, "--explain"]).out_and_err();
    assert!(explanation.contains("no files predicted: 0 of 4 sessions"), "{explanation}");
}

#[test]
fn reading_a_file_injects_its_warnings_once_per_session() {
    let sandbox = sandbox_with_memories();
    fs::write(sandbox.project.join("src/other.rs"), "\n").unwrap();
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/other.rs"));
    assert_eq!(notes, "", "a file without warnings");

    // The first read of a session gets the warning, the second one nothing.
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    assert!(
        notes.contains("seconds, not milliseconds") && notes.contains("not instructions"),
        "{notes}"
    );
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    assert_eq!(notes, "", "already injected in this session");
    let notes = injected_text(&sandbox, "s2", file_read(&sandbox, "src/auth.rs"));
    assert_ne!(notes, "", "another session has not seen it");

    let outside_read = json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": "/etc/passwd" } });
    assert_eq!(injected_text(&sandbox, "s1", outside_read), "", "a file outside the project");
}

#[test]
fn long_warnings_are_shortened_and_the_block_is_always_closed() {
    let sandbox = sandbox_with_memories();
    for n in 0..4 {
        let long_text = format!("Beware of case {n}: {}", "a\n".repeat(900));
        sandbox
            .run(&["remember", "--new", "--type", "gotcha", "--file", "src/auth.rs", &long_text])
            .expect_code(0, "remember a long gotcha");
    }

    // With the gotcha of the sandbox there are five; four are the most at one file, so the fifth waits.
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    assert_eq!(notes.matches("[GOTCHA]").count(), 4, "{notes}");
    assert!(notes.ends_with("</waylore-notes>"), "{notes}");
    assert!(notes.len() <= 9_000, "the size limit of an injection: {notes}");
}

#[test]
fn a_session_start_injects_general_notes_and_again_after_compaction() {
    let sandbox = sandbox_with_memories();
    let notes = injected_text(&sandbox, "s1", session_start("startup"));
    assert!(notes.contains("UTC"), "{notes}");
    assert!(!notes.contains("seconds"), "a note about a file waits for that file: {notes}");

    let notes = injected_text(&sandbox, "s1", session_start("resume"));
    assert_eq!(notes, "", "a resumed conversation still contains the notes");
    let notes = injected_text(&sandbox, "s1", session_start("compact"));
    assert!(notes.contains("UTC"), "compaction removed the notes: {notes}");
}

#[test]
fn a_prompt_gets_related_notes_only() {
    let sandbox = sandbox_with_memories();
    let related = user_prompt("the token is rejected: does verify() want milliseconds?");
    let notes = injected_text(&sandbox, "s1", related);
    assert!(notes.contains("seconds, not milliseconds"), "{notes}");
    for unrelated in ["What is the boiling point of ethanol at high altitude?", "go on", ""] {
        assert_eq!(injected_text(&sandbox, "s2", user_prompt(unrelated)), "", "{unrelated}");
    }
}

#[test]
fn a_failed_command_gets_the_fix_that_an_earlier_session_found() {
    let sandbox = Sandbox::new();
    let failed_git_show = || failed_command("git show --no-stat HEAD~3", GIT_SHOW_ERROR);

    // One session has found the fix: it is injected with the remark "seen once".
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    sandbox.json(&["learn"]);
    let notes = injected_text(&sandbox, "s2", failed_git_show());
    assert!(notes.contains("git show --stat HEAD") && notes.contains("seen once"), "{notes}");
    assert_eq!(injected_text(&sandbox, "s2", failed_git_show()), "", "once per session");
    let other_failure = failed_command("git push", "fatal: the remote end hung up");
    assert_eq!(injected_text(&sandbox, "s3", other_failure), "", "an unknown error");

    // A second session with the same fix confirms it.
    write_transcript(&sandbox, 2, 2, GIT_SHOW_SESSION);
    sandbox.json(&["learn"]);
    let notes = injected_text(&sandbox, "s4", failed_git_show());
    assert!(notes.contains("git show --stat HEAD") && !notes.contains("seen once"), "{notes}");
}

#[test]
fn the_end_of_a_session_starts_learning_from_it() {
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    let transcript = files(&sandbox.root.join(".claude")).pop().unwrap();
    let end = json!({ "hook_event_name": "SessionEnd", "transcript_path": transcript.display().to_string() });
    assert_eq!(injected_text(&sandbox, "s1", end), "");

    // The hook returns at once and a process in the background learns. A new session for every
    // attempt, because a session gets a note only once.
    let mut n_attempts = 0;
    wait_until("the fix from the ended session is injected", || {
        n_attempts += 1;
        let event = failed_command("git show --no-stat", GIT_SHOW_ERROR);
        injected_text(&sandbox, &format!("later {n_attempts}"), event).contains("--stat HEAD")
    });
}

/// Exit code 0 and no output: the host continues as if there were no hook.
#[test]
fn a_hook_that_cannot_work_exits_with_0_and_prints_nothing() {
    let sandbox = sandbox_with_memories();
    let message = |cwd: &str| {
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": cwd }).to_string()
    };
    let project = sandbox.project.display().to_string();
    let run_hook = |input: &str| sandbox.run_with_input(&["hook", "claude-code"], input.as_bytes());

    for input in ["", "{", "null", "\0\u{fffd}", "{\"hook_event_name\": \"SessionStart\"}"] {
        assert_silent_success(&run_hook(input), &format!("malformed input {input:?}"));
    }
    for args in [vec!["hook"], vec!["hook", "nobody"], vec!["hook", "claude-code", "--nonsense"]] {
        let output = sandbox.run_with_input(&args, message(&project).as_bytes());
        assert_silent_success(&output, &format!("wrong arguments {args:?}"));
    }

    // The state of the machine: no project folder (only the exit code matters), memory turned off,
    // damaged databases.
    let output = run_hook(&message("/no/such/folder"));
    assert_eq!(output.code, 0, "a missing project folder: {output:?}");
    sandbox.run(&["config", "set", "memory.enabled", "false"]).expect_code(0, "turn memory off");
    assert_silent_success(&run_hook(&message(&project)), "memory turned off");

    sandbox.run(&["config", "set", "memory.enabled", "true"]).expect_code(0, "turn memory on");
    let is_database = |it: &&PathBuf| it.extension().is_some_and(|it| it == "db");
    for database in files(&sandbox.home).iter().filter(is_database) {
        fs::write(database, "not a database").unwrap();
    }
    assert_silent_success(&run_hook(&message(&project)), "damaged databases");
}

#[test]
fn a_hook_does_not_wait_for_the_host_to_close_standard_input() {
    let mut sandbox = sandbox_with_memories();
    sandbox.has_long_hook_timeout = false;
    let mut command = sandbox.command(&["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Taken out, because `wait` would close it.
    let open_pipe = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(open_pipe);
}

#[test]
fn connect_adds_hooks_and_disconnect_restores_the_original_bytes() {
    let sandbox = Sandbox::new();
    let settings = sandbox.root.join(".claude/settings.json");
    let servers = sandbox.root.join(".claude.json");
    let connect = || sandbox.json(&["connect", "claude-code", "--yes"]);
    let disconnect = || {
        sandbox.run(&["disconnect", "claude-code", "--yes"]).expect_code(0, "disconnect");
    };

    // Without settings: `connect` creates both files, `disconnect` removes them.
    assert_eq!(connect()["changed"], true);
    let hook = read_json(&settings)["hooks"]["SessionStart"][0]["hooks"][0].clone();
    assert!(string(&hook["command"]).contains("waylore hook claude-code"), "{hook}");
    let server_settings = read_json(&servers);
    assert_eq!(
        server_settings["mcpServers"]["waylore"]["args"],
        json!(["mcp"]),
        "{server_settings}"
    );
    assert_eq!(connect()["changed"], false, "connected already");
    disconnect();
    assert!(!settings.exists() && !servers.exists(), "there were none before");

    // With the user's own settings: they return byte for byte.
    let user_servers = "{\"numStartups\":1, \"mcpServers\": {\"db\":{\"command\":\"db\"}}}";
    let user_settings = "{ \"model\":\"opus\",\n\t\"hooks\": {\"Stop\": [ ]} }";
    fs::write(&servers, user_servers).unwrap();
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, user_settings).unwrap();
    connect();
    disconnect();
    assert_eq!(fs::read_to_string(&settings).unwrap(), user_settings);
    assert_eq!(fs::read_to_string(&servers).unwrap(), user_servers);

    // Settings that the user edited in between: only our part is removed.
    connect();
    let edited = fs::read_to_string(&settings).unwrap().replace("opus", "haiku");
    fs::write(&settings, edited).unwrap();
    disconnect();
    assert_eq!(read_json(&settings), json!({ "model": "haiku", "hooks": { "Stop": [] } }));
}

#[test]
fn connect_changes_no_settings_without_consent_or_that_it_cannot_parse() {
    let sandbox = Sandbox::new();
    let settings = sandbox.root.join(".claude/settings.json");
    let output = sandbox.run(&["connect", "claude-code"]);
    assert_ne!(output.code, 0, "there is no terminal to ask for consent: {output:?}");
    sandbox.run(&["connect", "claude-code", "--dry-run"]).expect_code(0, "a dry run");
    assert!(!settings.exists());

    // Settings with a comment are no JSON.
    let with_comment = "{ // mine\n}";
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, with_comment).unwrap();
    let output = sandbox.run(&["connect", "claude-code", "--yes"]);
    assert_ne!(output.code, 0, "comments are no JSON: {output:?}");
    assert!(output.err.contains("nothing was changed"), "{}", output.err);
    assert_eq!(fs::read_to_string(&settings).unwrap(), with_comment);
}

fn assert_silent_success(output: &CommandOutput, when: &str) {
    assert_eq!((output.code, output.out.as_str()), (0, ""), "{when}");
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
