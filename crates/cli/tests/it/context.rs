//! `waylore context` and `ask`: the context is the only text on standard output, it equals what a hook
//! would inject, and nothing relevant means no output and exit code 1.
//!
//! A *hook* is the call by which an agent host reports an event; the text of the reply is *injected*
//! into the conversation, between `<waylore-notes>` tags. The *trust level* is the setting that decides
//! how much is injected without being asked for.

use crate::hooks::{file_read, injected_text, sandbox_with_memories, session_start, user_prompt};
use crate::sandbox::Sandbox;

const WEBHOOK_NOTE: &str = "The payment webhook arrives twice, so charges need an idempotency key";

#[test]
fn standard_output_contains_only_the_context() {
    let sandbox = Sandbox::new();
    sandbox.remember(WEBHOOK_NOTE);
    let args = ["context", "start", "--task", "why does the payment webhook arrive twice"];
    let output = sandbox.run(&args).expect_code(0, "context");
    // A note is a line that ends with details in brackets.
    assert!(output.out.starts_with("<waylore-notes>\n"), "{output:?}");
    assert!(output.out.ends_with("]\n</waylore-notes>\n"), "{output:?}");

    // With `--explain`, the context is the same.
    let explain = [&args[..], &["--explain"]].concat();
    let explained = sandbox.run(&explain).expect_code(0, "context with an explanation");
    assert_eq!(explained.out, output.out, "the explanation goes to standard error");
    assert!(explained.err.contains("tokens from"), "{explained:?}");
    let json = sandbox.json(&explain);
    assert_eq!(json["text"].as_str().unwrap().trim_end(), output.out.trim_end());
    assert!(json["tokens"].as_u64().unwrap() <= json["budget"].as_u64().unwrap(), "{json}");
    assert_eq!(json["placed"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn nothing_relevant_prints_nothing_and_exits_with_1() {
    let sandbox = Sandbox::new();
    sandbox.remember(WEBHOOK_NOTE);
    // An unrelated task, a budget of three tokens, a file without notes, an unrelated question.
    let commands: [&[&str]; 4] = [
        &["context", "start", "--task", "how do I bake sourdough bread"],
        &["context", "start", "--budget", "3"],
        &["context", "file", "src/none.rs"],
        &["ask", "what is the capital of Mongolia"],
    ];
    for args in commands {
        let output = sandbox.run(args).expect_code(1, args[0]);
        assert_eq!(output.out, "", "{args:?}: {output:?}");
    }
}

#[test]
fn a_question_is_answered_with_the_matching_memories() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("The session cache lives in redis");
    let question = ["ask", "where is the session cache kept"];
    let answer = sandbox.json(&question);
    assert_eq!(answer["hits"][0]["memory"]["id"], id.as_str(), "{answer}");
    assert!(answer["prose"].is_null(), "no text generator is configured: {answer}");
    let output = sandbox.run(&question).expect_code(0, "ask");
    assert!(output.out.contains("lives in redis"), "{output:?}");
}

#[test]
fn invalid_arguments_exit_with_2() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str], what: &str| sandbox.run(args).expect_code(2, what);
    run(&["context", "start", "--phase", "implementing"], "an unknown phase");
    run(&["context", "start", "--without", "everything"], "an unknown ranking stage");
    run(&["context", "file", "../outside.rs"], "a path outside the project");
    run(&["context"], "no kind of context");
}

#[test]
fn a_context_equals_what_a_hook_injects() {
    let sandbox = sandbox_with_memories();
    let injected = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    let file_context = ["context", "file", "src/auth.rs"];
    let output = sandbox
        .run(&[&file_context[..], &["--explain"]].concat())
        .expect_code(0, "context of a file");
    assert_eq!(output.out.trim_end(), injected);
    assert!(output.err.contains("injected, with confidence"), "{output:?}");

    // The session and the trust level limit a context as they limit a hook.
    let output = sandbox
        .run(&[&file_context[..], &["--explain", "--session", "s1"]].concat())
        .expect_code(1, "this session has the note already");
    assert!(output.err.contains("was shown in this session already"), "{output:?}");
    let output = sandbox
        .run(&[&file_context[..], &["--level", "cautious"]].concat())
        .expect_code(1, "this level injects no notes at files");
    assert!(output.err.contains("the trust level does not allow notes"), "{output:?}");

    // The start of a session, without and with a task.
    for task in [None, Some("does verify() want seconds or milliseconds?")] {
        let event = match task {
            None => session_start("startup"),
            Some(task) => user_prompt(task),
        };
        let injected = injected_text(&sandbox, &format!("{task:?}"), event);
        let mut args = vec!["context", "start"];
        if let Some(task) = task {
            args.extend(["--task", task]);
        }
        let output = sandbox.run(&args);
        assert_eq!(output.out.trim_end(), injected.trim_end(), "{task:?}");
        assert!(!injected.is_empty());
    }

    sandbox.run(&["config", "set", "trust.level", "cautious"]).expect_code(0, "set the level");
    let injected = injected_text(&sandbox, "s9", file_read(&sandbox, "src/auth.rs"));
    assert_eq!(injected, "", "the configured level applies to hooks");
}
