//! Drafts about errors: the command, the message and what ended the error.
//!
//! The input is the sightings of one error, one per session, whose evidence has the failed command, the
//! message, and the fix if there was one (see `episode`). An error is worth a memory only with a fix that
//! another agent can repeat:
//!
//! ```text
//! Use `python -m pytest` instead of `pytest`, which fails here with “command not found”.
//! `golangci-lint run` does not know `--out-format` here (“unknown flag: --out-format”): run it without.
//! `npm test` fails here with “Cannot find module dist/a.js” (3 sessions): run `npm run build` first.
//! Keep to the rule `nilerr` of `make lint`: “error is not nil but it returns nil” (5 sessions). It was …
//! `docker` is missing here (“docker: command not found”, 3 sessions), and no session got past it: …
//! ```
//!
//! Another command and a missing step are confirmed by the success that followed, so that one session is
//! enough, unless the command belongs to its moment (a commit, a branch, a folder). A person's remedy needs a
//! second session. So does an edit, and then it is kept only if it teaches a rule: the agent explained it, a
//! linter names the rule, or it changed configuration. An edit of a file that is not shared (`.env.local`) must be
//! made again on every machine, so that it is confirmed by itself. An error of half-done work that the
//! next edit ends (an unknown name, a wrong type) says nothing to a later session; it is told only where the
//! very same error occurs again. All sessions that met the error count, also those without a fix.

mod command_difference;
mod phrases;
mod rule_wording;

use model::{ErrorPattern, MemoryKind, Payload, ProjectPath, ToolKind};

use super::{MemoryDraft, SessionSighting, count_sessions, quote_paths};
use crate::episode::{self, CommandIntent, EndingKind};
use crate::error_line::{ErrorKind, classify_message, is_generic_message};
use crate::evidence::{CommandFix, Evidence};
use command_difference::CommandDifference;
use phrases::{
    capitalise, count_label, end_sentence, explains_error, has_local_path, listed_count,
    names_word, repeatable, session_count, strip_list_marker,
};

/// The longest command that is recommended as a fix, in bytes.
const MAX_FIX_BYTES: usize = 120;
/// The share of the sessions with an error of the host's tools that a step must have ended, in per cent.
const MIN_STEP_PERCENT: u32 = 80;
/// Identifiers of an edit that are named.
const MAX_NAMES: usize = 3;
/// The shortest name of a commit, in bytes.
const MIN_COMMIT_BYTES: usize = 7;
/// Fewest sessions with an error of a tool of the host, or with one that no session got past.
const MIN_LOUD_SESSIONS: u32 = 3;

/// An error with its fix; `None` while nothing is known that an agent could do.
pub(super) fn draft_fixed_error(
    fingerprint: &str,
    seen: &[SessionSighting],
) -> Option<MemoryDraft> {
    let Evidence::ErrorRetry { command, message: newest_message, normalised_message, .. } =
        &seen.last()?.evidence
    else {
        return None;
    };
    // A message that says only that something failed does not show which error was fixed. One with an
    // address comes from outside the project, or leads there.
    if is_generic_message(newest_message) || newest_message.contains("://") {
        return None;
    }
    let (fixes, n_sessions) = (usable_fixes(seen), count_sessions(seen));
    let described = fixes.iter().find_map(|it| it.describe(n_sessions, &fixes));
    let described = described.or_else(|| describe_unavailable(seen, n_sessions))?;
    let tool = host_tool(command).map_or("shell", ToolKind::slug);
    let payload = Payload::ErrorPattern(ErrorPattern {
        fingerprint: fingerprint.to_owned(),
        tool: tool.to_owned(),
        message: normalised_message.clone().unwrap_or_else(|| newest_message.clone()),
        resolution: Some(described.resolution),
    });
    let mut draft = MemoryDraft::new(MemoryKind::ErrorPattern, described.content);
    draft.is_confirmed = described.is_confirmed;
    Some(draft.with_files(described.files).with_payload(payload))
}

/// The tool of the host that failed; `None` for commands.
fn host_tool(command: &str) -> Option<ToolKind> {
    ToolKind::from_slug(command).filter(|it| matches!(it, ToolKind::Edit | ToolKind::Write))
}

/// An error that was fixed in its session.
struct FixedError<'a> {
    kind: EndingKind,
    command: &'a str,
    message: &'a str,
    error_kind: Option<ErrorKind>,
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
        let Evidence::ErrorRetry {
            command, message, explanation, error_kind, fix: Some(fix), ..
        } = &sighting.evidence
        else {
            continue;
        };
        let Some(kind) = fix.kind.or_else(|| kind_of_early_row(command, fix)) else { continue };
        if !seen[nth + 1..].iter().any(|it| it.evidence.refutes_fix_of(&sighting.evidence)) {
            let (explanation, error_kind) = (explanation.as_deref(), *error_kind);
            acc.push(FixedError { kind, command, message, error_kind, explanation, fix });
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

/// A program that is missing in all sessions: they should not try it again.
fn describe_unavailable(seen: &[SessionSighting], n_sessions: u32) -> Option<FixDescription> {
    let Evidence::ErrorRetry {
        command, message, error_kind: Some(ErrorKind::MissingCommand), ..
    } = &seen.last()?.evidence
    else {
        return None;
    };
    if n_sessions < MIN_LOUD_SESSIONS || seen.iter().any(|it| it.evidence.has_fix()) {
        return None;
    }
    // A program that a script starts can be installed with the packages of the project.
    let launcher = CommandIntent::main_of_line(command)?.launcher;
    let program = classify_message(message).1.filter(|it| launcher.contains(it))?;
    let resolution = format!("Do without `{program}`, or ask for it.");
    let content = format!(
        "`{program}` is missing here (“{message}”, {}), and no session got past it: do without it, or ask for it.",
        count_label(n_sessions)
    );
    Some(FixDescription { content, resolution, files: Vec::new(), is_confirmed: true })
}

impl FixedError<'_> {
    /// Words the fix; `None` if it cannot be repeated elsewhere. `all` are the fixes of all sessions.
    fn describe(&self, n_sessions: u32, all: &[Self]) -> Option<FixDescription> {
        if let Some(tool) = host_tool(self.command) {
            return self.describe_host_tool(tool, n_sessions, all.len());
        }
        match self.kind {
            EndingKind::OtherCommand => self.describe_other_command(n_sessions),
            EndingKind::MissingStep => self.describe_step(n_sessions),
            EndingKind::Remedy => {
                let remedy = end_sentence(self.fix.remedy.as_deref()?);
                let failure = self.failure(n_sessions);
                let content = format!("{failure}. A person said what helps: “{remedy}”");
                let files = self.fix.edited_files.clone();
                Some(FixDescription { content, resolution: remedy, files, is_confirmed: false })
            }
            EndingKind::Edit => rule_wording::describe_rule(self, n_sessions, all)
                .or_else(|| self.describe_edit(n_sessions)),
        }
    }

    /// A call of the host's tool that succeeded after another call of a tool for the same file.
    fn describe_host_tool(
        &self,
        tool: ToolKind,
        n_sessions: u32,
        n_fixed: usize,
    ) -> Option<FixDescription> {
        let step = self.fix.steps.first().filter(|_| n_sessions >= MIN_LOUD_SESSIONS)?;
        // Sessions that did without the step show that it was not what helped. A message that asks for the
        // step needs no memory: the host tells it to every agent.
        let share = u32::try_from(n_fixed * 100).ok()? / n_sessions.max(1);
        if share < MIN_STEP_PERCENT || names_word(&self.message.to_lowercase(), step) {
            return None;
        }
        let (tool, message) = (tool.slug(), self.message);
        let sessions = session_count(n_sessions);
        let content =
            format!("`{tool}` fails with “{message}”{sessions}: `{step}` the file first.");
        let resolution = format!("`{step}` the file first.");
        Some(FixDescription { content, resolution, files: Vec::new(), is_confirmed: true })
    }

    fn describe_other_command(&self, n_sessions: u32) -> Option<FixDescription> {
        let difference = CommandDifference::between(
            self.command,
            &self.fix.command,
            self.message,
            self.error_kind,
        )?;
        let message = self.message;
        let (content, resolution) = match &difference {
            CommandDifference::UnknownOption { command, option } => {
                let count = listed_count(n_sessions);
                (
                    format!(
                        "`{command}` does not know `{option}` here (“{message}”{count}): run it without."
                    ),
                    format!("Run `{command}` without `{option}`."),
                )
            }
            CommandDifference::OtherProgram { missing, used } => {
                let count = listed_count(n_sessions);
                (
                    format!(
                        "Use `{used}` instead of `{missing}`, which is missing here (“{message}”{count})."
                    ),
                    format!("Use `{used}` instead."),
                )
            }
            CommandDifference::OtherLine { failed, passed } => {
                let passed = repeatable(passed)?;
                let count = session_count(n_sessions);
                let fails = match self.error_kind {
                    Some(ErrorKind::NotRun) => "runs nothing here:",
                    _ => "fails here with",
                };
                (
                    format!(
                        "Use `{passed}` instead of `{failed}`, which {fails} “{message}”{count}."
                    ),
                    format!("Use `{passed}` instead."),
                )
            }
        };
        let (failed, passed) = (self.command, &self.fix.command);
        let is_clear =
            CommandDifference::is_confirmed_by_kind(failed, passed, message, self.error_kind);
        let is_confirmed = is_clear && !self.is_momentary();
        let files = self.fix.edited_files.clone();
        Some(FixDescription { content, resolution, files, is_confirmed })
    }

    fn describe_step(&self, n_sessions: u32) -> Option<FixDescription> {
        let steps = self.fix.steps.iter().map(|it| Some(format!("`{}`", repeatable(it)?)));
        let steps = steps.collect::<Option<Vec<String>>>()?.join(" and ");
        let then = repeatable(&self.fix.command).filter(|it| *it != self.command);
        let then = then.filter(|_| !self.is_git()).map(|it| format!(", then `{it}`"));
        let step = format!("run {steps} first{}.", then.unwrap_or_default());
        let content = format!("{}: {step}", self.failure(n_sessions));
        let files = self.fix.edited_files.clone();
        let is_confirmed = !self.is_momentary();
        Some(FixDescription { content, resolution: capitalise(&step), files, is_confirmed })
    }

    /// An edit says what to do the next time by the agent's explanation, by the names it added, or by the
    /// configuration it changed.
    fn describe_edit(&self, n_sessions: u32) -> Option<FixDescription> {
        let files = &self.fix.edited_files;
        let missed: Vec<&String> =
            self.fix.names.iter().filter(|it| names_word(self.message, it)).collect();
        let place = self.place_of_edit(&missed);
        let reason = self.explanation.map(strip_list_marker);
        let reason = reason.filter(|it| explains_error(it, self.message)).map(end_sentence);
        let is_configured = !files.is_empty() && files.iter().all(is_setting);
        // One session: the fix is told at the very same error, if the edit shows what the error misses.
        let is_telling = n_sessions < 2 && !missed.is_empty();
        if reason.is_none() && !is_configured && !is_telling {
            return None;
        }
        let resolution = match reason {
            Some(reason) => format!("{reason} {place}."),
            None => format!("{place}."),
        };
        let content = format!("{}. {resolution}", self.failure(n_sessions));
        let is_confirmed = is_configured && files.iter().all(is_unshared);
        Some(FixDescription { content, resolution, files: files.clone(), is_confirmed })
    }

    /// The edited files, and the names in the edits: those that the message names, else the first.
    fn place_of_edit(&self, missed: &[&String]) -> String {
        let place = format!("It was fixed in {}", quote_paths(&self.fix.edited_files));
        let all: Vec<&String> = self.fix.names.iter().collect();
        let names = if missed.is_empty() { &all } else { missed };
        if names.is_empty() {
            return place;
        }
        let names: Vec<String> = names.iter().take(MAX_NAMES).map(|it| format!("`{it}`")).collect();
        format!("{place} ({})", names.join(", "))
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
        let is_local = has_local_path(self.command);
        words.any(is_commit) || is_git_move || is_elsewhere || is_look || is_local
    }

    fn is_git(&self) -> bool {
        self.command.starts_with("git ")
    }

    /// The command as it is shown. What a commit or a push is about does not matter, unless it was called wrongly.
    fn shown_command(&self) -> String {
        let is_whole = self.command.len() <= MAX_FIX_BYTES
            && !self.command.contains('\n')
            && !self.command.ends_with('…');
        if is_whole && !(self.is_git() && self.error_kind != Some(ErrorKind::UsageError)) {
            return self.command.to_owned();
        }
        let intent = CommandIntent::main_of_line(self.command).map(|it| it.launcher.join(" "));
        intent.filter(|it| !it.is_empty()).unwrap_or_else(|| self.command.to_owned())
    }

    /// The command with its error, at the beginning of a sentence.
    fn failure(&self, n_sessions: u32) -> String {
        let (command, message) = (self.shown_command(), self.message);
        // git itself neither lints nor compiles.
        let is_finding = matches!(
            self.error_kind,
            Some(ErrorKind::LintRule | ErrorKind::CompileError | ErrorKind::AssertionFailure)
        );
        let hook = if self.is_git() && is_finding { " in a hook" } else { "" };
        format!("`{command}` fails here{hook} with “{message}”{}", session_count(n_sessions))
    }
}

/// Returns whether a file configures a tool or the environment.
fn is_setting(file: &ProjectPath) -> bool {
    let name = file.as_str().rsplit('/').next().unwrap_or_default();
    crate::is_config(file.as_str()) || name.starts_with(".env")
}

/// Returns whether a file is made for one machine and not shared, so that its edit must be made on each.
fn is_unshared(file: &ProjectPath) -> bool {
    let name = file.as_str().rsplit('/').next().unwrap_or_default();
    let is_example = name.contains("example") || name.contains("sample");
    (name.starts_with(".env") || name.contains(".local")) && !is_example
}

/// The right path of a file that was looked for in the wrong place.
pub(super) fn draft_moved_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::MovedFile { wrong, right } = &seen.last()?.evidence else { return None };
    let content = format!("There is no `{wrong}`; the file is `{right}`.");
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(vec![right.clone()]))
}
