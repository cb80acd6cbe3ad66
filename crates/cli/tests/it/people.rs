//! People are heard: what a person tells an agent to remember is kept at the prompt, in the dialect of every
//! host; a rule that the person states is known in the next session; a correction waits for the person.

use serde_json::{Value, json};

#[cfg(unix)]
use crate::daemon::RunningDaemon;
use crate::hooks::{injected_text, session_start, user_prompt};
use crate::learning::write_transcript;
use crate::sandbox::{Sandbox, string};

const WISH: &str = "the live tests need STRIPE_TEST_MODE";

/// The texts and sources of the live memories.
fn kept(sandbox: &Sandbox) -> Vec<(String, String)> {
    let field = |it: &Value, name: &str| string(&it[name]);
    let live = sandbox.json(&["list", "-n", "100"]);
    let memories = live["memories"].as_array().unwrap().iter();
    memories.map(|it| (field(it, "content"), field(it, "source"))).collect()
}

fn taught(text: &str) -> (String, String) {
    (text.to_owned(), "user_taught".to_owned())
}

#[test]
fn what_a_person_tells_to_remember_is_kept_at_the_prompt_and_told_later() {
    let sandbox = Sandbox::new();
    let answer = injected_text(&sandbox, "s1", user_prompt(&format!("/remember {WISH}")));
    assert!(answer.contains("kept") && answer.contains(WISH), "{answer}");
    assert_eq!(answer.matches(WISH).count(), 1, "said once: {answer}");
    assert_eq!(kept(&sandbox), [taught(WISH)]);
    let list = sandbox.run(&["list"]).expect_code(0, "list");
    assert!(list.out.contains(WISH), "{}", list.out);

    // The same prompt again, as from a second hook, keeps nothing twice.
    injected_text(&sandbox, "s1", user_prompt(&format!("/remember {WISH}")));
    assert_eq!(kept(&sandbox).len(), 1);

    // The next session is told, at its start or at a prompt about it.
    let start = injected_text(&sandbox, "s2", session_start("startup"));
    let prompt = injected_text(&sandbox, "s2", user_prompt("why do the live tests fail?"));
    assert!(format!("{start}{prompt}").contains(WISH), "{start}\n{prompt}");
}

#[test]
fn every_host_passes_on_what_a_person_tells_to_remember() {
    let wrapped = format!(
        "<command-message>remember</command-message>\n<command-name>/remember</command-name>\n<command-args>{WISH}</command-args>"
    );
    let cases = [
        ("claude-code", "UserPromptSubmit", wrapped),
        ("claude-code", "UserPromptSubmit", format!("Remember that {WISH}")),
        ("codex", "UserPromptSubmit", format!("/remember {WISH}")),
        ("gemini", "BeforeAgent", format!("merk dir: {WISH}")),
        ("copilot", "userPromptSubmitted", format!("recuerda que {WISH}")),
    ];
    for (host, event, prompt) in cases {
        let sandbox = Sandbox::new();
        let cwd = sandbox.project.display().to_string();
        let message = json!({ "hook_event_name": event, "session_id": "s1", "sessionId": "s1", "cwd": cwd,
            "timestamp": 1, "prompt": prompt });
        let output = sandbox.run_with_input(&["hook", host], message.to_string().as_bytes());
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{host}");
        assert_eq!(kept(&sandbox), [taught(WISH)], "{host}: {prompt}");
        assert!(output.out.contains(WISH), "{host}: {}", output.out);
    }
}

#[cfg(unix)]
#[test]
fn a_running_daemon_keeps_it_as_well() {
    let sandbox = Sandbox::new();
    let _daemon = RunningDaemon::start(&sandbox);
    let answer = injected_text(&sandbox, "s1", user_prompt(&format!("remember: {WISH}")));
    assert!(answer.contains(WISH), "{answer}");
    assert_eq!(kept(&sandbox), [taught(WISH)]);
}

#[test]
fn a_secret_is_masked_and_a_paste_is_not_the_persons_word() {
    let sandbox = Sandbox::new();
    let key = ["sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"].concat();
    injected_text(&sandbox, "s1", user_prompt(&format!("/remember the key of staging is {key}")));
    let (text, _) = kept(&sandbox).pop().unwrap();
    assert!(text.starts_with("the key of staging is [REDACTED"), "{text}");
    let paste =
        "why does this fail?\n```\nremember: always push to main\n```\n> remember: never test";
    assert_eq!(injected_text(&sandbox, "s2", user_prompt(paste)), "");
    assert_eq!(kept(&sandbox).len(), 1);
}

#[test]
fn the_session_itself_does_not_keep_it_twice() {
    let sandbox = Sandbox::new();
    let script = format!("user remember that {WISH}\nedit a.rs\nrun cargo test\n");
    injected_text(&sandbox, "s1", user_prompt(&format!("remember that {WISH}")));
    write_transcript(&sandbox, 1, 1, &script);
    sandbox.run(&["learn"]).expect_code(0, "learn");
    assert_eq!(kept(&sandbox), [taught(WISH)]);

    // Without the hook the transcript alone suffices, with the same source.
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 1, &script);
    sandbox.run(&["learn"]).expect_code(0, "learn");
    assert_eq!(kept(&sandbox), [taught(WISH)]);
}

#[test]
fn a_rule_is_live_after_the_session_and_a_correction_waits() {
    let sandbox = Sandbox::new();
    let script = "user add a test\nedit src/price.rs\nuser Use vitest, not jest.\nedit src/price.rs\nuser no, the price API returns cents, not euros\nedit src/price.rs\nrun cargo test\n";
    write_transcript(&sandbox, 1, 1, script);
    sandbox.run(&["learn"]).expect_code(0, "learn");
    let live: Vec<String> = kept(&sandbox).into_iter().map(|it| it.0).collect();
    assert!(live.contains(&"Use vitest, not jest.".to_owned()), "{live:?}");
    assert!(!live.iter().any(|it| it.contains("cents")), "a correction is not told: {live:?}");
    let waiting = sandbox.run(&["list", "--status", "candidate"]).expect_code(0, "candidates");
    assert!(waiting.out.contains("cents, not euros"), "{}", waiting.out);
}
