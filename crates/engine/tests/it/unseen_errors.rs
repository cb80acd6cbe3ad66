//! Recurring errors of fifteen ecosystems, written without knowledge of the rules that recognise them, and a
//! hundred other failures that must not be answered. The notation of the file is in its head.

use std::fs;

use crate::recurring_errors::{Step, TaughtProject};

const DATA: &str = include_str!("../fixtures/unseen_errors.txt");

/// Files that the commands of the sessions name. A fix that names a missing file is withheld.
const FILES: &[&str] = &[
    "bin/rails",
    "db/seeds.sql",
    "env/staging.tfvars",
    "gradlew",
    "services/ledger/go.mod",
    "spec/models/order_spec.rb",
    "src/billing/config.py",
    "test/order_test.dart",
    "tests/test_config.py",
];

/// Cases that are not answered yet, with the reason.
const SILENT: &[(&str, &str)] = &[
    (
        "the project has another package manager",
        "`npm install` and `npm install PACKAGE` are two intents, although the error is of the project; \
         `workspace:*` and `workspace:^` are two errors",
    ),
    ("an import has moved", "a message with an address is not learned"),
    (
        "the interpreter has the wrong version",
        "two tasks of Gradle are two intents, although no task was started",
    ),
    ("code must be generated first", "the name of the generated file is part of the error"),
    ("a library must be built first", "a target of make with an unknown name counts as a check"),
];

/// A failing command and its output.
struct Failure {
    command: &'static str,
    output: &'static str,
}

/// An error of two sessions.
struct UnseenError {
    name: &'static str,
    first_session: Vec<Step>,
    second_failure: Failure,
    /// A part of the answer to the second failure.
    answer: &'static str,
    /// Failures that are not answered.
    others: Vec<Failure>,
}

/// A line of the data that begins with a keyword, and the indented text below it.
struct Entry {
    keyword: &'static str,
    rest: &'static str,
    text: &'static str,
}

fn parse_entries() -> Vec<Entry> {
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in DATA.lines().filter(|it| !it.starts_with('#')) {
        let indented = line.strip_prefix("  ");
        match (indented, entries.last_mut()) {
            (Some(text), Some((_, lines))) => lines.push(text),
            // An empty line belongs to the text above it, or separates two cases.
            _ if line.is_empty() => {
                if let Some((_, lines)) = entries.last_mut() {
                    lines.push("");
                }
            }
            _ => entries.push((line, Vec::new())),
        }
    }
    let entry = |(head, lines): (&'static str, Vec<&str>)| {
        let (keyword, rest) = head.split_once(' ').unwrap();
        Entry { keyword, rest, text: lines.join("\n").trim_end().to_owned().leak() }
    };
    entries.into_iter().map(entry).collect()
}

/// The names in the changed lines of an edit, as a host's transcript has them.
fn changed_names(text: &'static str) -> &'static [&'static str] {
    let is_separator = |it: char| !it.is_alphanumeric() && it != '_';
    let mut acc: Vec<&str> = Vec::new();
    for name in text.split(is_separator).filter(|it| it.len() > 2) {
        if !acc.contains(&name) {
            acc.push(name);
        }
    }
    // Names of several words come first.
    let is_plain = |it: &&str| it.bytes().all(|it| it.is_ascii_lowercase());
    acc.sort_by_key(is_plain);
    acc.leak()
}

fn parse_cases() -> Vec<UnseenError> {
    let mut cases: Vec<UnseenError> = Vec::new();
    for Entry { keyword, rest, text } in parse_entries() {
        if keyword == "case" {
            let none = Failure { command: "", output: "" };
            cases.push(UnseenError {
                name: rest,
                first_session: Vec::new(),
                second_failure: none,
                answer: "",
                others: Vec::new(),
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        match keyword {
            "fail" => case.first_session.push(Step::Fail(rest, text)),
            "run" => case.first_session.push(Step::Print(rest, text)),
            "edit" => case.first_session.push(Step::Edit(rest, changed_names(text))),
            "again" => case.second_failure = Failure { command: rest, output: text },
            "answer" => case.answer = rest,
            "other" => case.others.push(Failure { command: rest, output: text }),
            _ => panic!("unknown keyword {keyword}"),
        }
    }
    cases
}

/// A project that has learned the first session of a case.
fn teach(case: &UnseenError) -> TaughtProject {
    let mut project = TaughtProject::new(&[]);
    for file in FILES {
        let path = project.fixture.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text\n").unwrap();
    }
    project.learn(1, &case.first_session);
    project
}

#[test]
fn the_second_meeting_of_an_unseen_error_is_answered() {
    let cases = parse_cases();
    assert_eq!(cases.len(), 15);
    let mut unexpected = Vec::new();
    for case in &cases {
        let Failure { command, output } = case.second_failure;
        let answer = teach(case).answer(command, output);
        let is_silent = SILENT.iter().any(|it| it.0 == case.name);
        // A case that is answered now must be taken out of the list.
        if answer.contains(case.answer) == is_silent {
            unexpected.push(format!("{}: {answer}", case.name));
        }
    }
    assert!(unexpected.is_empty(), "{} unexpected:\n{}", unexpected.len(), unexpected.join("\n"));
}

#[test]
fn other_failures_are_not_answered() {
    let cases = parse_cases();
    let others = || cases.iter().flat_map(|it| &it.others);
    assert_eq!(others().count(), 100);
    let mut wrong = Vec::new();
    for case in &cases {
        let project = teach(case);
        let unrelated = cases.iter().filter(|it| it.name != case.name).map(|it| &it.second_failure);
        for Failure { command, output } in others().chain(unrelated) {
            let answer = project.answer(command, output);
            if !answer.is_empty() {
                wrong.push(format!("{}: {command} ⇒ {output}\n{answer}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} answered:\n{}", wrong.len(), wrong.join("\n\n"));
}
