//! Properties that hold for every row of the host table: unique names, idempotent installation,
//! rejection of foreign messages, one parse per message.

use super::*;
use crate::hook_message::tests::N_PARSES;

const SETUP: HostSetup<'_> = HostSetup { program: "/opt/my tools/waylore", version: None };
/// Inputs that are no message of any host.
const INVALID_MESSAGES: &[&str] = &[
    "",
    "{",
    "[]",
    "null",
    "\"text\"",
    "{}",
    "{\"hook_event_name\":7}",
    "{\"hook_event_name\":\"Stop\"}",
    "{\"session_id\":\"s\",\"cwd\":\"/p\"}",
];

#[test]
fn host_names_aliases_and_backup_names_are_unique() {
    let names = |it: &Host| [&[it.name], it.aliases].concat();
    let all: Vec<&str> = HOSTS.iter().flat_map(names).collect();
    for (i, name) in all.iter().enumerate() {
        assert!(!all[..i].contains(name), "{name}");
        assert!(find_host(name).is_some());
    }
    let backups: Vec<&str> =
        HOSTS.iter().flat_map(|it| it.files).map(|it| it.backup_name).collect();
    for (i, name) in backups.iter().enumerate() {
        assert!(!backups[..i].contains(name), "{name}");
    }
}

#[test]
fn installing_is_idempotent_and_uninstalling_leaves_no_trace() {
    for host in HOSTS {
        for file in host.files {
            // Installing a second time changes nothing.
            let with = (file.install)("", &SETUP).unwrap();
            assert!(with.contains("waylore"), "{}: {with}", host.name);
            assert_eq!((file.install)(&with, &SETUP).unwrap(), with, "{}: once", host.name);

            // Neither does uninstalling a second time.
            let without = (file.uninstall)(&with).unwrap();
            assert!(!without.contains("waylore"), "{}: {without}", host.name);
            assert_eq!((file.uninstall)(&without).unwrap(), without, "{}", host.name);

            // Installing another path of the program replaces the first.
            let moved =
                (file.install)(&with, &HostSetup { program: "/bin/waylore", version: None })
                    .unwrap();
            assert!(!moved.contains(SETUP.program), "{}: {moved}", host.name);
        }
    }
}

/// The forms in which earlier versions wrote our hooks: without a shell, and as a command that fails
/// without the program.
#[test]
fn hooks_of_an_earlier_version_are_replaced_and_removed() {
    const OLD_HOOKS: &[(&str, &str, &str)] = &[
        (
            "claude-code",
            "settings.json",
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/waylore","args":["hook","claude-code"],"timeout":5}]}]}}"#,
        ),
        (
            "codex",
            "hooks.json",
            r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"/old/waylore hook codex","timeout":3}]}]}}"#,
        ),
        (
            "gemini",
            "settings.json",
            r#"{"hooks":{"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","name":"waylore","command":"/old/waylore hook gemini"}]}]}}"#,
        ),
        (
            "copilot",
            "hooks/waylore.json",
            r#"{"version":1,"hooks":{"sessionEnd":[{"type":"command","bash":"/old/waylore hook copilot sessionEnd"}]}}"#,
        ),
    ];
    for (name, path, old) in OLD_HOOKS {
        let host = find_host(name).unwrap();
        let file = host.files.iter().find(|it| it.is_in_folder(path)).unwrap();
        let new = (file.install)(old, &SETUP).unwrap();
        assert!(!new.contains("/old/") && new.contains("|| cat"), "{name}: {new}");
        let without = (file.uninstall)(old).unwrap();
        assert!(!without.contains("waylore"), "{name}: {without}");
    }
}

#[test]
fn invalid_messages_are_rejected() {
    for host in HOSTS {
        for input in INVALID_MESSAGES {
            assert_eq!(host.parse_message(input.as_bytes(), None), None, "{} {input}", host.name);
        }
    }
}

/// A message of each event, with the fields of all hosts side by side.
fn sample_messages() -> Vec<String> {
    const EVENTS: &[&str] = &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SessionEnd",
        "BeforeAgent",
        "AfterTool",
        "sessionStart",
        "userPromptSubmitted",
        "postToolUse",
        "sessionEnd",
        "session.start",
        "chat.message",
        "tool.execute.after",
        "step.end",
        "session.end",
    ];
    let message = |event: &&str| {
        serde_json::json!({
            "hook_event_name": event,
            "session_id": "s", "sessionId": "s", "sessionID": "s",
            "cwd": "/p", "directory": "/p",
            "prompt": "fix it", "text": "fix it", "partID": "prt_1",
            "tool_name": "Bash", "toolName": "bash", "tool": "bash",
            "tool_use_id": "t1", "callID": "t1",
            "tool_input": { "command": "make" }, "toolArgs": { "command": "make" },
            "args": { "command": "make" },
            "tool_response": { "llmContent": "Output: boom\nExit Code: 3" }, "output": "boom",
            "tool_calls": [{ "tool_name": "Read", "tool_use_id": "t2", "tool_input": { "file_path": "/p/a" } }],
            "calls": [{ "tool": "read", "args": { "filePath": "/p/a" } }],
        })
        .to_string()
    };
    EVENTS.iter().map(message).collect()
}

/// Covers everything a process does with a message: the event, the journal, the answer, the request
/// to the daemon and the recognition of repetitions.
#[test]
fn a_message_is_parsed_once_whatever_is_done_with_it() {
    for host in HOSTS.iter().filter(|it| it.hook_protocol.is_some()) {
        let mut n_events = 0;
        for input in sample_messages() {
            let before = N_PARSES.get();
            let message = host.parse_message(input.as_bytes(), Some("SessionStart")).unwrap();
            n_events += host.build_journal_events(&message, Some("/p"), Timestamp(7)).len();
            assert!(!host.render_answer(&message, "a note").is_empty());
            assert_eq!(message.body()["cwd"], "/p");
            assert_eq!(message.content_hash(), message.clone().content_hash());
            assert_eq!(N_PARSES.get() - before, 1, "{}: {input}", host.name);
        }
        assert!(n_events > sample_messages().len(), "{}: more than session starts", host.name);
    }
}

#[test]
fn a_folder_from_the_environment_takes_precedence_over_home() {
    let claude = find_host("claude-code").unwrap();
    let home = Path::new("/home/user");
    let own = PathBuf::from("/own");
    let from_variable = claude.settings_folder(Some(home), |_| Some(own.clone()));
    assert_eq!(from_variable, Some((own.clone(), own.clone())), "root and folder are the same");
    let below_home = (home.to_owned(), home.join(".claude"));
    assert_eq!(claude.settings_folder(Some(home), |_| None), Some(below_home));
    assert_eq!(claude.settings_folder(None, |_| None), None);
}

#[test]
fn our_program_is_recognised_by_its_name_in_any_folder() {
    for ours in ["waylore", "/opt/my tools/waylore", "C:\\x\\waylore.exe", "/x/waylore-0.2.1"] {
        assert!(is_waylore_program(ours), "{ours}");
    }
    for other in ["", "way", "/x/waylores", "/waylore/other", "my-waylore"] {
        assert!(!is_waylore_program(other), "{other}");
    }
    for host in HOSTS {
        for file in host.files {
            let setup = HostSetup { program: "/x/waylore-0.2", version: None };
            let with = (file.install)("", &setup).unwrap();
            let without = (file.uninstall)(&with).unwrap();
            assert!(!without.contains("waylore"), "{}: {without}", host.name);
        }
    }
}

#[test]
fn a_version_is_found_in_the_output_of_a_program() {
    for (output, version) in [
        ("2.1.325 (Claude Code)\n", Some((2, 1, 325))),
        ("v1.0.2-beta.3", Some((1, 0, 2))),
        ("tool 0.166.0", Some((0, 166, 0))),
        ("2.1", None),
        ("a.b.c", None),
        ("", None),
        ("99999999999.1.1", None),
    ] {
        assert_eq!(parse_version(output), version, "{output}");
    }
}
