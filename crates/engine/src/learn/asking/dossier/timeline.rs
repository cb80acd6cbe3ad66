//! Edits, checks and commits of a session in order, to say what came of a sentence or a failure.

use std::fmt::Write as _;

use observe::{CallEffects, CallState, Scratchpad, shell};

use super::super::session_texts::{SessionTexts, Speaker};
use super::{DossierItem, ItemKind, ItemPart, one_line};

/// Files that an aside names.
const MAX_NAMED_FILES: usize = 3;
/// The longest message of a commit, in characters.
const MAX_COMMIT_CHARS: usize = 300;
/// The longest command in an aside, in characters.
const MAX_ASIDE_COMMAND_CHARS: usize = 80;

/// The calls of a session that change or check something.
pub(super) struct Timeline<'a> {
    pub(super) pad: &'a Scratchpad,
    texts: &'a SessionTexts,
    /// Successful edits: number of the call, file.
    pub(super) edits: Vec<(u32, &'a str)>,
    /// Tests, builds and linters.
    pub(super) checks: Vec<CheckRun>,
    /// Numbers of the calls that made a commit.
    pub(super) commits: Vec<u32>,
    /// Number of calls before each message of a person.
    turns: Vec<u32>,
}

/// One run of a test, build or linter.
pub(super) struct CheckRun {
    pub(super) call: u32,
    pub(super) command: String,
    pub(super) has_passed: bool,
}

/// The events that followed a moment of the session.
#[derive(Default)]
pub(super) struct Aftermath {
    /// Files edited before the next message of a person, each once.
    pub(super) edited: Vec<String>,
    /// The first check after the first of these edits.
    pub(super) check: Option<(String, bool)>,
    pub(super) is_committed: bool,
    /// One of these edits was taken back later.
    pub(super) is_reverted: bool,
}

impl<'a> Timeline<'a> {
    pub(super) fn new(pad: &'a Scratchpad, texts: &'a SessionTexts) -> Self {
        let (mut edits, mut checks, mut commits) = (Vec::new(), Vec::new(), Vec::new());
        for (nth, call) in pad.calls.iter().enumerate() {
            let number = u32::try_from(nth).unwrap_or(u32::MAX);
            if call.state == CallState::Ok {
                for touch in pad.touches_of_call(call).iter().filter(|it| it.is_write) {
                    edits.push((number, pad.strings.text(touch.file)));
                }
            }
            let is_check = call.effects.has_any(CallEffects::RUNS_TEST | CallEffects::RUNS_CHECK);
            if is_check && (call.has_succeeded() || call.has_failed()) {
                let command = call_command(pad, texts, number);
                checks.push(CheckRun { call: number, command, has_passed: call.has_succeeded() });
            }
            if call.effects.has_any(CallEffects::MAKES_COMMIT) && call.has_succeeded() {
                commits.push(number);
            }
        }
        let is_person = |speaker: &Speaker| matches!(speaker, Speaker::Person { .. });
        let turns = texts.spoken.iter().filter(|it| is_person(&it.speaker)).map(|it| it.call);
        Self { pad, texts, edits, checks, commits, turns: turns.collect() }
    }

    /// The command of a call as a person would type it.
    pub(super) fn command(&self, call: u32) -> String {
        call_command(self.pad, self.texts, call)
    }

    /// Collects the events that followed the moment before this call.
    pub(super) fn aftermath(&self, call: u32) -> Aftermath {
        let turn_end = self.turns.iter().copied().find(|it| *it > call).unwrap_or(u32::MAX);
        let mut acc = Aftermath::default();
        let mut first_edit = None;
        for (number, file) in self.edits.iter().filter(|it| it.0 >= call && it.0 < turn_end) {
            first_edit = first_edit.or(Some(*number));
            if !acc.edited.iter().any(|it| it == file) {
                acc.edited.push((*file).to_owned());
            }
        }
        let Some(first_edit) = first_edit else { return acc };
        let check = self.checks.iter().find(|it| it.call > first_edit);
        acc.check = check.map(|it| (it.command.clone(), it.has_passed));
        acc.is_committed = self.commits.iter().any(|it| *it > first_edit);
        // A file that is edited often has some edit taken back; the work is, if most of its files are.
        let is_taken_back = |file: &&String| {
            let reverted = self.pad.reverted_edits.iter().filter(|it| it.call > first_edit);
            reverted.map(|it| self.pad.strings.text(it.file)).any(|it| it == file.as_str())
        };
        let n_reverted = acc.edited.iter().filter(is_taken_back).count();
        acc.is_reverted = n_reverted * 2 > acc.edited.len();
        acc
    }

    /// Returns whether a check passed after this call.
    pub(super) fn passes_later(&self, call: u32) -> bool {
        self.checks.iter().any(|it| it.call >= call && it.has_passed)
    }

    /// The messages of the commits.
    pub(super) fn commit_items(&self) -> Vec<DossierItem> {
        let mut acc = Vec::new();
        for number in &self.commits {
            let command = self.texts.calls.get(number).map(|it| it.command.as_str());
            let Some(message) = command.and_then(commit_message) else { continue };
            acc.push(DossierItem {
                kind: ItemKind::Commit,
                order: self.pad.calls[*number as usize].order,
                worth: i32::try_from(*number).unwrap_or(i32::MAX),
                parts: vec![ItemPart {
                    label: format!("commit, step {number}"),
                    text: one_line(&message, MAX_COMMIT_CHARS),
                }],
                aside: String::new(),
                confirmed: true,
            });
        }
        acc
    }
}

impl Aftermath {
    /// An edit followed, a check passed after it or it was committed, and it was not taken back.
    pub(super) fn is_confirmed(&self) -> bool {
        let has_passed = self.check.as_ref().is_some_and(|it| it.1);
        !self.edited.is_empty() && (has_passed || self.is_committed) && !self.is_reverted
    }

    /// The edits in words; empty if nothing followed.
    pub(super) fn describe_edits(&self) -> String {
        match self.edited.as_slice() {
            [] => String::new(),
            edited => format!("then edited {}", list_files(edited)),
        }
    }

    /// The aftermath in words; empty if nothing followed.
    pub(super) fn describe(&self) -> String {
        let mut acc = self.describe_edits();
        if acc.is_empty() {
            return acc;
        }
        if let Some((command, has_passed)) = &self.check {
            let verb = if *has_passed { "passed" } else { "failed" };
            let _ = write!(acc, "; `{command}` {verb}");
        }
        if self.is_committed {
            acc.push_str("; committed later");
        }
        if self.is_reverted {
            acc.push_str("; taken back later");
        }
        acc
    }
}

/// The first files of a list, and how many more there are.
pub(super) fn list_files(files: &[String]) -> String {
    let named = files.iter().take(MAX_NAMED_FILES).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(MAX_NAMED_FILES) {
        0 => named,
        n_more => format!("{named} and {n_more} more"),
    }
}

fn call_command(pad: &Scratchpad, texts: &SessionTexts, number: u32) -> String {
    let raw = texts.calls.get(&number).map(|it| it.command.as_str()).unwrap_or_default();
    let essential = shell::essential_command(raw);
    if !essential.is_empty() {
        return one_line(&essential, MAX_ASIDE_COMMAND_CHARS * 2);
    }
    let call = pad.calls.get(number as usize);
    let logged = call.and_then(|it| it.command).map(|it| pad.strings.text(it));
    logged.unwrap_or_default().to_owned()
}

/// The message of a `git commit` command: the value of `-m`, or a here-document.
fn commit_message(command: &str) -> Option<String> {
    if let Some((_, rest)) = command.split_once("<<") {
        let body = rest.split_once('\n')?.1;
        // The message ends before the word that closes the here-document.
        let lines: Vec<&str> = body.lines().take_while(|it| !is_here_end(it)).collect();
        return Some(lines.join(" ")).filter(|it| !it.trim().is_empty());
    }
    let simple = shell::split_commands(command);
    let commit = simple.iter().find(|it| it.words.iter().any(|word| word == "commit"))?;
    let mut words = commit.words.iter();
    while let Some(word) = words.next() {
        // `-m`, `-am`, `--message`.
        let is_flag = word == "--message"
            || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('m'));
        if is_flag {
            return words.next().cloned();
        }
    }
    None
}

/// A line that closes a here-document: one word in capitals.
fn is_here_end(line: &str) -> bool {
    let word = line.trim();
    word.len() >= 2 && word.chars().all(|it| it.is_ascii_uppercase() || it == '_')
}
