//! Dossiers of small sessions, told by a script.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use model::{
    AgentReasoning, Event, EventEnvelope, ProjectPath, SessionId, SessionStart, TextExcerpt,
    Timestamp, Tool, ToolArgs, ToolCall, ToolResult, UserMessage, UserMessageKind, ValidationBasis,
    ValidationKind, ValidationResult,
};
use observe::Scratchpad;

use super::super::session_texts::SessionTexts;
use super::timeline::Timeline;
use super::{
    DossierContext, DossierItem, ItemKind, SessionDossier, compose_dossier, final_state,
    least_needed,
};

/// The events of a script, one per line: `person TEXT`, `refuses TEXT`, `answers QUESTION | TEXT`,
/// `plan TEXT`, `agent TEXT`, `edit PATH`, `fetch URL`, `run COMMAND`, `fails COMMAND => OUTPUT`, and
/// `reports VALIDATION` and `denies VALIDATION` of the host.
fn script_events(script: &str) -> Vec<Event> {
    let mut acc = vec![start_event()];
    for (nth, line) in script.lines().map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        let (verb, rest) = line.split_once(' ').unwrap();
        let id = format!("c{nth}");
        match verb {
            "person" => acc.push(person(rest, UserMessageKind::Prompt, None)),
            "refuses" => acc.push(person(rest, UserMessageKind::Refusal, Some("c"))),
            "answers" => {
                let (question, answer) = rest.split_once(" | ").unwrap();
                acc.push(person(answer, UserMessageKind::Answer, Some(question)));
            }
            "plan" => acc.push(person(rest, UserMessageKind::AcceptedPlan, None)),
            "agent" => {
                let text = rest.to_owned();
                acc.push(Event::Reasoning(AgentReasoning { text, thinking: false, step: None }));
            }
            "edit" => {
                let paths = vec![ProjectPath::parse(rest).unwrap()];
                let args = ToolArgs { paths, ..ToolArgs::default() };
                acc.extend(call(&id, Tool::Edit, args, true, ""));
            }
            "fetch" => {
                let args = ToolArgs { url: Some(rest.to_owned()), ..ToolArgs::default() };
                acc.extend(call(&id, Tool::WebFetch, args, true, "a page"));
            }
            "run" => acc.extend(call(&id, Tool::Shell, shell(rest), true, "ok")),
            "fails" => {
                let (command, output) = rest.split_once(" => ").unwrap();
                let output = output.replace("\\n", "\n");
                acc.extend(call(&id, Tool::Shell, shell(command), false, &output));
            }
            "reports" | "denies" => {
                let kind = ValidationKind::from_slug(rest).unwrap();
                let report = ValidationResult { kind, ok: verb == "reports", work_unit: None };
                acc.push(Event::Validation(report));
            }
            _ => panic!("unknown verb in `{line}`"),
        }
    }
    acc
}

fn start_event() -> Event {
    Event::SessionStart(SessionStart {
        project_root: "/p".to_owned(),
        agent: "claude_code".to_owned(),
        host_session: None,
        session_type: None,
        task: None,
        planned_steps: None,
        phase: None,
        role: None,
        parent: None,
        work_unit: None,
        transcript: None,
    })
}

fn person(text: &str, kind: UserMessageKind, reply_to: Option<&str>) -> Event {
    let (text, reply_to) = (text.to_owned(), reply_to.map(str::to_owned));
    Event::UserMessage(UserMessage { text, interrupts: false, kind, reply_to })
}

fn shell(command: &str) -> ToolArgs {
    ToolArgs { command: Some(command.to_owned()), ..ToolArgs::default() }
}

fn call(id: &str, kind: Tool, args: ToolArgs, ok: bool, output: &str) -> [Event; 2] {
    let (call_id, tool) = (id.to_owned(), kind);
    let result = ToolResult {
        call_id: call_id.clone(),
        tool: tool.clone(),
        ok,
        rejected: false,
        duration_ms: None,
        size: None,
        excerpt: TextExcerpt::new(output),
        paths: Vec::new(),
        matches: None,
    };
    let call = ToolCall { call_id, tool, args, step: None, planning: false };
    [Event::ToolCall(call), Event::ToolResult(result)]
}

/// The dossier of a script.
fn compose(script: &str, context: &DossierContext) -> SessionDossier {
    let (pad, texts) = observe_script(script);
    let session = observe::summarise_session(&pad).unwrap();
    compose_dossier(&session, &pad, &texts, context)
}

/// The scratchpad of a session after the events of a script.
fn observe_script(script: &str) -> (Scratchpad, SessionTexts) {
    let session = SessionId::new(Timestamp(1_000), [1; 10]);
    let (mut pad, mut texts) = (Scratchpad::new(), SessionTexts::default());
    for (n, event) in script_events(script).into_iter().enumerate() {
        let envelope = EventEnvelope { id: format!("e{n}"), session, at: Timestamp(2_000), event };
        pad.observe(&envelope);
        texts.observe(&pad, &envelope);
    }
    (pad, texts)
}

fn check(script: &str, expect: Expect) {
    expect.assert_eq(&compose(script, &DossierContext::default()).text);
}

#[test]
fn a_dossier_tells_words_failures_and_conclusions_with_what_came_of_them() {
    check(
        "person Fix the flaky upload test
         fails go test ./upload => dial tcp 127.0.0.1:9000: connect: connection refused\\nFAIL upload
         agent The test does not start the `minio` container, because `TestMain` only runs in CI.
         run docker compose up -d minio
         run go test ./upload
         edit upload/main_test.go
         run go test ./...
         refuses never force-push here, open a pull request
         answers Which base branch? | always develop
         agent Done. The container is now started in `TestMain`, and the whole suite passes.",
        expect![[r"
            SESSION of claude_code: 5 tool calls, 1 files edited, 1 failures. Step numbers count tool calls.

            PERSON
            [1] task: Fix the flaky upload test
                (then edited upload/main_test.go)
            [2] step 5, refusing a call: never force-push here, open a pull request
                (the call: go test ./...)
            [3] step 5, answering a question: always develop
                (the question: Which base branch?)

            WHAT HAPPENED, IN ORDER
            [4] failed, step 0: go test ./upload
            [5] error: dial tcp 127.0.0.1:9000: connect: connection refused ⏎ FAIL upload
            [6] then worked, step 2: go test ./upload
                (between them ran `docker compose up -d minio`)
            [7] agent, end of its turn, step 1: The test does not start the `minio` container, because `TestMain` only runs in CI.
                (before it `go test ./upload` failed)
            [8] agent, step 5: The container is now started in `TestMain`, and the whole suite passes.

            STATE AT THE END
            - files edited: upload/main_test.go
            - last run of `go test ./...`: passed
            - last run of `go test ./upload`: passed
            - the work was not committed in the session; its checks passed
        "]],
    );
}

#[test]
fn the_state_of_the_work_names_the_evidence_for_it() {
    let work = |script: &str, basis: Option<ValidationBasis>| {
        let (pad, texts) = observe_script(script);
        let mut session = observe::summarise_session(&pad).unwrap();
        session.validation_basis = basis.or(session.validation_basis);
        let state = final_state::describe_state(&session, &Timeline::new(&pad, &texts));
        state.lines().last().unwrap().to_owned()
    };
    let uncommitted = "- the work was not committed in the session;";
    let rows = [
        ("edit a.rs\nrun cargo test", None, format!("{uncommitted} its checks passed")),
        (
            "edit a.rs\nfails cargo test => error\nreports qa_passed",
            None,
            format!("{uncommitted} the host reported that the whole work passed its checks"),
        ),
        (
            "reports spec_accepted",
            None,
            format!("{uncommitted} the host reported that the user accepted the plan"),
        ),
        (
            "edit a.rs\nrun cargo test\ndenies qa_passed",
            None,
            "- the work was not committed, and the host denied that the whole work passed its checks"
                .to_owned(),
        ),
        ("edit a.rs\nrun git commit -m x", None, "- the work was committed in the session".to_owned()),
        (
            "edit a.rs",
            Some(ValidationBasis::Deferred),
            "- the work was committed after the session".to_owned(),
        ),
        (
            "edit a.rs",
            Some(ValidationBasis::Observed),
            format!("{uncommitted} a check or a commit of its parent confirms it"),
        ),
        ("edit a.rs", None, "- the work was not committed, and no check confirms it".to_owned()),
    ];
    for (script, basis, expected) in rows {
        assert_eq!(work(script, basis), expected, "{script}");
    }
}

#[test]
fn what_follows_external_text_is_marked_except_the_persons_words() {
    check(
        "person Update the client
         fetch https://example.com/docs
         agent The `retry` option must be set, because `upload()` fails without it otherwise.
         person never set retry above 3 in this project",
        expect![[r"
            SESSION of claude_code: 1 tool calls, 0 files edited, 0 failures. Step numbers count tool calls.

            PERSON
            [1] task: Update the client
            [2] step 1: never set retry above 3 in this project
                (before it the agent said: The `retry` option must be set, because `upload()` fails without it otherwise.)

            WHAT HAPPENED, IN ORDER
            [3] agent, end of its turn, step 1 (external): The `retry` option must be set, because `upload()` fails without it otherwise.

            STATE AT THE END
            - the work was not committed, and no check confirms it
        "]],
    );
}

#[test]
fn a_dropped_task_does_not_hide_a_remark_from_the_count() {
    // More words than the budget of the person holds: the task, which has the least worth, is dropped.
    let mut script = String::from("person Do the work\n");
    for n in 0..90 {
        let remark =
            format!("remark number {n}: ") + &"keep the parts apart from the core ".repeat(6);
        let _ = writeln!(script, "person {remark}");
    }
    let dossier = compose(&script, &DossierContext::default());
    assert!(!dossier.text.contains("task: "), "{}", dossier.text);
    assert_eq!(dossier.n_moments, dossier.lines.len());
}

#[test]
fn the_words_of_the_person_are_dropped_last() {
    let item = |kind: ItemKind, worth: i32| DossierItem {
        kind,
        order: 0,
        worth,
        parts: Vec::new(),
        aside: String::new(),
        confirmed: false,
    };
    let mut items = vec![
        item(ItemKind::Person, 1),
        item(ItemKind::Failure, -5),
        item(ItemKind::Closing, 700),
        item(ItemKind::Commit, 90),
        item(ItemKind::Closing, 60),
    ];
    let mut dropped = Vec::new();
    while let Some(position) = least_needed(&items) {
        let item = items.remove(position);
        dropped.push((item.kind, item.worth));
    }
    let expected = [
        (ItemKind::Closing, 60),
        (ItemKind::Closing, 700),
        (ItemKind::Commit, 90),
        (ItemKind::Failure, -5),
        (ItemKind::Person, 1),
    ];
    assert_eq!(dropped, expected);
}

#[test]
fn a_long_session_stays_within_the_limit() {
    let mut script = String::from("person Do the work\n");
    for n in 0..120 {
        let _ = writeln!(
            script,
            "agent The file `part{n}.rs` must not import `core{n}` because it would be cyclic."
        );
        let _ = writeln!(script, "fails make check{n} => error: number {n} is wrong");
        let _ = writeln!(script, "edit src/part{n}.rs\nrun make check{n}");
        let _ = writeln!(
            script,
            "person remark number {n}: keep the parts apart from the core, as agreed"
        );
    }
    let rules = (0..200).map(|n| format!("Rule number {n} says that tests come first.")).collect();
    let dossier = compose(&script, &DossierContext { rules, known: Vec::new() });
    assert!(dossier.n_tokens <= 8_000, "{}", dossier.n_tokens);
    assert!(dossier.n_tokens > 4_000, "{}", dossier.n_tokens);
    // Numbers are those of the lines.
    for (nth, line) in dossier.lines.iter().enumerate() {
        assert_eq!(line.n as usize, nth + 1);
    }
}
