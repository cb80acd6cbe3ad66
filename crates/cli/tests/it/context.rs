//! A context is a text to paste: alone on standard output, empty when there is nothing to say.

use crate::hooks::{prompt, read, start, taught, told};
use crate::kit::Desk;

#[test]
fn a_context_is_all_there_is_on_standard_output() {
    let desk = Desk::new();
    desk.remember("The payment webhook arrives twice, so charges need an idempotency key");
    let task = "why does the payment webhook arrive twice";
    let said = desk.run(&["context", "start", "--task", task]).ends(0, "start");
    assert!(said.out.starts_with("<waylore-notes>\n"), "{said:?}");
    assert!(said.out.ends_with("]\n</waylore-notes>\n"), "{said:?}");
    let explained = desk.run(&["context", "start", "--task", task, "--explain"]).ends(0, "why");
    assert_eq!(explained.out, said.out, "reasons are talk");
    assert!(explained.err.contains("tokens from"), "{explained:?}");
    let json = desk.json(&["context", "start", "--task", task, "--explain"]);
    assert_eq!(json["text"].as_str().unwrap().trim_end(), said.out.trim_end());
    assert!(json["tokens"].as_u64().unwrap() <= json["budget"].as_u64().unwrap(), "{json}");
    assert_eq!(json["placed"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn an_empty_context_prints_nothing_and_says_so() {
    let desk = Desk::new();
    desk.remember("The payment webhook arrives twice, so charges need an idempotency key");
    let args: [&[&str]; 4] = [
        &["context", "start", "--task", "how do I bake sourdough bread"],
        &["context", "start", "--budget", "3"],
        &["context", "file", "src/none.rs"],
        &["ask", "what is the capital of Mongolia"],
    ];
    for args in args {
        let said = desk.run(args).ends(1, args[0]);
        assert_eq!(said.out, "", "{args:?}: {said:?}");
    }
}

#[test]
fn a_question_is_answered_with_evidence() {
    let desk = Desk::new();
    let id = desk.remember("The session cache lives in redis");
    let reply = desk.json(&["ask", "where is the session cache kept"]);
    assert_eq!(reply["hits"][0]["memory"]["id"], id.as_str(), "{reply}");
    assert!(reply["prose"].is_null(), "{reply}");
    let said = desk.run(&["ask", "where is the session cache kept"]).ends(0, "ask");
    assert!(said.out.contains("lives in redis"), "{said:?}");
}

#[test]
fn a_slip_is_answered_with_what_would_be_right() {
    let desk = Desk::new();
    desk.run(&["context", "start", "--phase", "implementing"]).ends(2, "phase");
    desk.run(&["context", "start", "--without", "everything"]).ends(2, "stage");
    desk.run(&["context", "file", "../outside.rs"]).ends(2, "path");
    desk.run(&["context"]).ends(2, "which");
}

#[test]
fn what_is_explained_is_what_a_hook_says() {
    let desk = taught();
    let hook = told(&desk, "s1", read(&desk, "src/auth.rs"));
    let said = desk.run(&["context", "file", "src/auth.rs", "--explain"]).ends(0, "said");
    assert_eq!(said.out.trim_end(), hook, "word by word");
    assert!(said.err.contains("injected, with confidence"), "{said:?}");
    let again = ["context", "file", "src/auth.rs", "--explain", "--session", "s1"];
    let said = desk.run(&again).ends(1, "it was told");
    assert!(said.err.contains("was shown in this session already"), "{said:?}");
    let careful = ["context", "file", "src/auth.rs", "--level", "cautious"];
    let said = desk.run(&careful).ends(1, "not at files");
    assert!(said.err.contains("the trust level does not allow notes"), "{said:?}");
    for task in [None, Some("does verify() want seconds or milliseconds?")] {
        let event = task.map_or_else(|| start("startup"), prompt);
        let hook = told(&desk, &format!("{task:?}"), event);
        let mut args = vec!["context", "start"];
        args.extend(task.iter().flat_map(|it| ["--task", *it]));
        let said = desk.run(&args);
        assert_eq!(said.out.trim_end(), hook.trim_end(), "{task:?}");
        assert!(!hook.is_empty());
    }
    desk.run(&["config", "set", "trust.level", "cautious"]).ends(0, "it is done");
    assert_eq!(told(&desk, "s9", read(&desk, "src/auth.rs")), "", "the project's own level counts");
}
