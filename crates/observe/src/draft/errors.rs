//! Drafts about errors: the command, the message and what ended the error.
//!
//! The input is the sightings of one error, one per session, whose evidence has the failed command, the
//! message, and the fix if there was one (see `episode`). An error is worth a memory only with a fix that
//! another agent can repeat:
//!
//! ```text
//! Use `python -m pytest` instead of `pytest`, which fails here with “command not found”.
//! `npm test` fails here with “Cannot find module dist/a.js” (3 sessions): run `npm run build` first.
//! `npm test` fails here with “vi is not defined”. It was fixed in `src/a.test.ts` (`vi`, `vitest`).
//! ```
//!
//! Another command and a missing step are confirmed by the success that followed, so that one session is
//! enough, unless the command belongs to its moment (a commit, a branch, a folder). A person's remedy needs a
//! second session. So does an edit, and then it is kept only if it teaches a rule: the agent explained it, or a
//! linter names the rule; a changed configuration is enough by itself. An error of half-done work that the
//! next edit ends (an unknown name, a wrong type) says nothing to a later session; it is told only where the
//! very same error occurs again.

use model::{ErrorPattern, MemoryKind, Payload, ProjectPath};

use super::{MemoryDraft, SessionSighting, count_sessions, quote_paths};
use crate::episode::{self, CommandIntent, EndingKind};
use crate::error_line::is_generic_message;
use crate::evidence::{CommandFix, Evidence};
use crate::statements;

/// The longest command that is recommended as a fix, in bytes.
const MAX_FIX_BYTES: usize = 120;
/// Identifiers of an edit that are named.
const MAX_NAMES: usize = 3;
/// From so many sessions on, the number in a draft is rounded down to tens: a memory is reworded whenever
/// its draft changes.
const MIN_ROUNDED_SESSIONS: u32 = 10;
/// Share of an explanation's words that are in the message, in per cent. From here on it adds nothing.
const REPEATED_PERCENT: usize = 60;
/// The shortest name of a commit, in bytes.
const MIN_COMMIT_BYTES: usize = 7;
/// The longest list marker, in bytes: `12. **`.
const MAX_LIST_MARKER_BYTES: usize = 6;

/// An error with its fix; `None` while no fix is known that can be described.
pub(super) fn draft_fixed_error(
    fingerprint: &str,
    seen: &[SessionSighting],
) -> Option<MemoryDraft> {
    let Evidence::ErrorRetry { message: newest_message, normalised_message, .. } =
        &seen.last()?.evidence
    else {
        return None;
    };
    // A message that says only that something failed does not show which error was fixed. One with an
    // address comes from outside the project, or leads there.
    if is_generic_message(newest_message) || newest_message.contains("://") {
        return None;
    }
    let fixes = usable_fixes(seen);
    let described = fixes.iter().find_map(|it| it.describe(count_sessions(seen)))?;
    let payload = Payload::ErrorPattern(ErrorPattern {
        fingerprint: fingerprint.to_owned(),
        tool: "shell".to_owned(),
        message: normalised_message.clone().unwrap_or_else(|| newest_message.clone()),
        resolution: Some(described.resolution),
    });
    let mut draft = MemoryDraft::new(MemoryKind::ErrorPattern, described.content);
    draft.is_confirmed = described.is_confirmed;
    Some(draft.with_files(described.files).with_payload(payload))
}

/// An error that was fixed in its session.
struct FixedError<'a> {
    kind: EndingKind,
    command: &'a str,
    message: &'a str,
    explanation: Option<&'a str>,
    fix: &'a CommandFix,
}

/// The wording of a fix.
struct FixDescription {
    content: String,
    resolution: String,
    files: Vec<ProjectPath>,
    is_confirmed: bool,
}

/// The fixes that no later session refuted: those by a command first, the latest first among equals.
fn usable_fixes(seen: &[SessionSighting]) -> Vec<FixedError<'_>> {
    let mut acc: Vec<FixedError<'_>> = Vec::new();
    for (nth, sighting) in seen.iter().enumerate().rev() {
        // A session without a fix cannot describe one.
        let Evidence::ErrorRetry { command, message, explanation, fix: Some(fix), .. } =
            &sighting.evidence
        else {
            continue;
        };
        let Some(kind) = fix.kind.or_else(|| kind_of_early_row(command, fix)) else { continue };
        if !seen[nth + 1..].iter().any(|it| it.evidence.refutes_fix_of(&sighting.evidence)) {
            let explanation = explanation.as_deref();
            acc.push(FixedError { kind, command, message, explanation, fix });
        }
    }
    // The sort is stable. A command can be repeated as it is; an edit must be understood.
    acc.sort_by_key(|it| matches!(it.kind, EndingKind::Edit));
    acc
}

/// The kind of a fix that was stored without one.
fn kind_of_early_row(command: &str, fix: &CommandFix) -> Option<EndingKind> {
    if !fix.edited_files.is_empty() {
        return Some(EndingKind::Edit);
    }
    let failed = CommandIntent::main_of_line(command)?;
    let passed = CommandIntent::main_of_line(&fix.command)?;
    episode::is_variant(&failed, &passed).then_some(EndingKind::OtherCommand)
}

impl FixedError<'_> {
    /// Words the fix; `None` if it cannot be repeated elsewhere.
    fn describe(&self, n_sessions: u32) -> Option<FixDescription> {
        let failure = self.failure(n_sessions);
        let command = &self.fix.command;
        let (content, resolution) = match self.kind {
            EndingKind::OtherCommand => {
                if *command == self.command {
                    return None;
                }
                let resolution = format!("Use `{}` instead.", repeatable(command)?);
                let content = format!("Use `{command}` instead of {}.", self.subject(n_sessions));
                (content, resolution)
            }
            EndingKind::MissingStep => {
                let steps: Option<Vec<String>> = self
                    .fix
                    .steps
                    .iter()
                    .map(|it| Some(format!("`{}`", repeatable(it)?)))
                    .collect();
                let steps = steps?.join(" and ");
                let then = match repeatable(command).filter(|it| *it != self.command) {
                    Some(command) => format!(", then `{command}`"),
                    None => String::new(),
                };
                let step = format!("run {steps} first{then}.");
                (format!("{failure}: {step}"), capitalise(&step))
            }
            EndingKind::Remedy => {
                let remedy = end_sentence(self.fix.remedy.as_deref()?);
                (format!("{failure}. A person said what helps: “{remedy}”"), remedy)
            }
            EndingKind::Edit => return self.describe_edit(&failure, n_sessions),
        };
        let files = self.fix.edited_files.clone();
        let is_confirmed = self.kind != EndingKind::Remedy && !self.is_momentary();
        Some(FixDescription { content, resolution, files, is_confirmed })
    }

    /// An edit says what to do the next time by the agent's explanation, by the names it added, or by the
    /// configuration it changed; else only by the same files in several sessions.
    fn describe_edit(&self, failure: &str, n_sessions: u32) -> Option<FixDescription> {
        let files = &self.fix.edited_files;
        let mut place = format!("It was fixed in {}", quote_paths(files));
        let missed: Vec<&String> =
            self.fix.names.iter().filter(|it| names_word(self.message, it)).collect();
        let names: Vec<&String> =
            if missed.is_empty() { self.fix.names.iter().collect() } else { missed.clone() };
        if !names.is_empty() {
            let names: Vec<String> =
                names.iter().take(MAX_NAMES).map(|it| format!("`{it}`")).collect();
            place = format!("{place} ({})", names.join(", "));
        }
        let reason = self.explanation.map(strip_list_marker);
        let reason = reason.filter(|it| explains_error(it, self.message)).map(end_sentence);
        let is_configured = !files.is_empty() && files.iter().all(is_setting);
        let teaches_rule = reason.is_some() || is_configured || names_lint_rule(self.message);
        // One session: the fix is told at the very same error, if the edit shows what the error misses.
        let is_telling = n_sessions < 2 && !missed.is_empty();
        if !teaches_rule && !is_telling {
            return None;
        }
        let resolution = match reason {
            Some(reason) => format!("{reason} {place}."),
            None => format!("{place}."),
        };
        let content = format!("{failure}. {resolution}");
        let files = files.clone();
        Some(FixDescription { content, resolution, files, is_confirmed: is_configured })
    }

    /// Returns whether the failed command belongs to its moment, so that the difference to the command that
    /// worked is no rule: it looks at something, names a commit, or ran in another folder.
    fn is_momentary(&self) -> bool {
        let is_commit = |it: &str| {
            it.len() >= MIN_COMMIT_BYTES
                && it.bytes().all(|byte| byte.is_ascii_hexdigit())
                && it.bytes().any(|byte| byte.is_ascii_digit())
        };
        let mut words = self.command.split(|it: char| !it.is_ascii_alphanumeric());
        let is_git_move = ["git checkout", "git switch", "git branch", "git worktree", "git stash"]
            .iter()
            .any(|it| self.command.contains(it));
        // `cd src && …` fails because the shell is there already.
        let is_elsewhere = self.command.starts_with("cd ");
        let is_look = ["git log", "git show", "git diff", "ls ", "cat ", "grep ", "rg ", "find "]
            .iter()
            .any(|it| self.command.starts_with(it));
        words.any(is_commit) || is_git_move || is_elsewhere || is_look
    }

    /// The command with its error, at the beginning of a sentence.
    fn failure(&self, n_sessions: u32) -> String {
        let (command, message) = (self.command, self.message);
        format!("`{command}` fails here with “{message}”{}", session_count(n_sessions))
    }

    /// The command with its error, inside a sentence.
    fn subject(&self, n_sessions: u32) -> String {
        let (command, message) = (self.command, self.message);
        format!("`{command}`, which fails here with “{message}”{}", session_count(n_sessions))
    }
}

/// The number of sessions in brackets, if there are several.
fn session_count(n_sessions: u32) -> String {
    match n_sessions {
        0 | 1 => String::new(),
        it if it < MIN_ROUNDED_SESSIONS => format!(" ({it} sessions)"),
        it => format!(" ({}+ sessions)", it - it % MIN_ROUNDED_SESSIONS),
    }
}

/// A command that can be run elsewhere: short enough to be whole, without paths of one machine.
fn repeatable(command: &str) -> Option<&str> {
    let has_local_path =
        ["/Users/", "/home/", "/tmp/", "/var/", "C:\\"].iter().any(|it| command.contains(it));
    let is_whole =
        command.len() <= MAX_FIX_BYTES && !command.ends_with('…') && !command.contains('\n');
    (is_whole && !has_local_path && !command.is_empty()).then_some(command)
}

/// Returns whether a message contains a name as a whole word.
fn names_word(message: &str, name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    message.match_indices(name).any(|(start, _)| {
        !message[..start].ends_with(is_part) && !message[start + name.len()..].starts_with(is_part)
    })
}

/// Returns whether a message ends with the rule of a linter: `… (nilerr)`, `… [no-unused-vars]`.
fn names_lint_rule(message: &str) -> bool {
    let end = message.trim_end_matches(['.', ' ']);
    let rule = [('(', ')'), ('[', ']')].iter().find_map(|(open, close)| {
        let inner = end.strip_suffix(*close)?;
        inner.rsplit_once(*open).map(|it| it.1)
    });
    rule.is_some_and(|it| {
        it.len() > 2
            && it.bytes().all(|byte| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || matches!(byte, b'-' | b'_' | b'/' | b'@')
            })
    })
}

/// Returns whether a file configures a tool or the environment.
fn is_setting(file: &ProjectPath) -> bool {
    let name = file.as_str().rsplit('/').next().unwrap_or_default();
    crate::is_config(file.as_str()) || name.starts_with(".env")
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |it| it.to_uppercase().chain(chars).collect())
}

/// A sentence without the number or dash of a list before it: `2. **The …` becomes `The …`.
fn strip_list_marker(text: &str) -> &str {
    let bare = text.trim_start_matches(|it: char| {
        it.is_ascii_digit() || matches!(it, '.' | '-' | ' ' | '*' | ')')
    });
    // More than a few bytes are not a marker.
    if text.len() - bare.len() <= MAX_LIST_MARKER_BYTES { bare } else { text }
}

/// Returns whether a sentence gives the reason of an error, and is neither a plan nor a repetition of the
/// message.
fn explains_error(sentence: &str, message: &str) -> bool {
    const PLAN_OPENINGS: &[&str] = &[
        "let me",
        "i'll",
        "i need",
        "now ",
        "good",
        "great",
        "i see",
        "looking",
        "i was",
        "there ",
        "these ",
        "the test is",
        "the tests are",
        "i ",
        "we ",
    ];
    let lower = sentence.to_ascii_lowercase();
    if PLAN_OPENINGS.iter().any(|it| lower.starts_with(it)) {
        return false;
    }
    // A question, or the introduction of a list.
    if sentence.ends_with([':', '?']) {
        return false;
    }
    // Words of up to three bytes are articles and prepositions.
    let words: Vec<&str> = lower.split_whitespace().filter(|it| it.len() > 3).collect();
    let message = message.to_ascii_lowercase();
    let n_repeated = words.iter().filter(|it| message.contains(**it)).count();
    if n_repeated * 100 >= words.len() * REPEATED_PERCENT {
        return false;
    }
    // It must be clear without the sentences around it.
    statements::extract_fact(sentence).is_some()
}

fn end_sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// The right path of a file that was looked for in the wrong place.
pub(super) fn draft_moved_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::MovedFile { wrong, right } = &seen.last()?.evidence else { return None };
    let content = format!("There is no `{wrong}`; the file is `{right}`.");
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(vec![right.clone()]))
}
