//! Failure episodes: a command fails, and later the same intent succeeds. What ended the failure is the fix.
//!
//! The input is the scratchpad, the log of one session. An episode opens at a call whose output names an
//! error, openly or behind a pipe, and closes at the next success of the same *intent* (see `intent`). What
//! lies between decides the [`EndingKind`]:
//!
//! ```text
//! pytest → python -m pytest                       other command   the difference of the two lines is the fix
//! npm test → npm run build → npm test             missing step    the command in between is the fix
//! npm test → edit src/a.ts → npm test             edit            the edited files are the fix
//! npm test → user: "start the database" → npm test  remedy        the person's words are the fix
//! ```
//!
//! Without a success in a bounded number of calls, the episode is unresolved. An ending counts only if the
//! session does not meet the error again after it applied the fix. Read by the detector of `error_retry`;
//! the drafts word the endings, the injector tells them at the next failure of the same intent.

mod command_tables;
mod ending;
mod host_tools;
mod intent;
mod nature;
mod steps;

use std::collections::HashMap;

use model::{ProjectPath, ToolKind, closed};

use crate::error_line::{
    ErrorKind, RecognisedError, ran_nothing, recognise_empty_run, recognise_error,
};
use crate::scratchpad::{CallEffects, ErrorOccurrence, LoggedCall, Scratchpad};
use crate::sighting::to_path;
use crate::strings::StringId;
use ending::{covers_scope, is_other_command, is_same_command};
pub use intent::{CommandIntent, command_family};
pub(crate) use nature::FailureCause;
use nature::{FailureNature, is_missing_program};
use steps::{choose_steps, is_inspection};

/// Calls after a failure within which it must end.
const MAX_EPISODE_CALLS: usize = 40;
/// Calls after a missing test program within which another one must pass to count as its replacement.
const MAX_REPLACEMENT_CALLS: usize = 6;
/// Calls before a failure whose commands are recorded with it.
const PRECEDING_CALLS: usize = 6;
/// Commands before a failure that are recorded.
const MAX_PRECEDING_COMMANDS: usize = 3;
/// Files edited before the success that are recorded.
const MAX_EDITED_FILES: usize = 4;
/// Identifiers in these edits that are recorded.
const MAX_NAMES: usize = 12;
/// The longest message of a person that is quoted as a remedy, in bytes.
const MAX_REMEDY_BYTES: usize = 240;
/// Words of a remedy must have so many bytes to connect it with the failure.
const MIN_SHARED_WORD_BYTES: usize = 4;

closed! {
    /// The kind of event that ended a failure.
    pub enum EndingKind : "ending" {
        /// Another command for the same succeeded.
        OtherCommand = "other_command",
        /// Another command ran first, then the same one succeeded, with no edit between.
        MissingStep = "missing_step",
        /// Files were edited, then the same command succeeded.
        Edit = "edit",
        /// A person said what to do, then the same command succeeded.
        Remedy = "remedy",
    }
}

/// The end of a failure episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeEnding {
    pub kind: EndingKind,
    /// The number of the call that succeeded.
    pub call: u32,
    /// The command that succeeded.
    pub command: String,
    /// The commands that ran before it and prepared it.
    pub steps: Vec<String>,
    pub edited_files: Vec<ProjectPath>,
    /// Identifiers in the text that the edits added or removed.
    pub names: Vec<String>,
    /// The words of a person between the failure and the success.
    pub remedy: Option<String>,
}

/// A failure of a session, with what ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureEpisode<'a> {
    pub(crate) error: &'a ErrorOccurrence,
    /// The command that failed.
    pub(crate) command: String,
    /// Commands that succeeded shortly before the failure. A fix among them did not help.
    pub(crate) preceding: Vec<String>,
    pub(crate) ending: Option<EpisodeEnding>,
}

/// Recognises the error of a failed call. Its fingerprint is that of the error and the intent together: the
/// same message of two intents can have two fixes. `command` is the command line of a shell tool.
pub fn recognise_failure(
    tool: &str,
    command: Option<&str>,
    output: &str,
) -> Option<RecognisedError> {
    let family = command.map_or_else(|| tool.to_owned(), command_family);
    let empty_run = command
        .filter(|it| ran_nothing(it, output))
        .and_then(|_| recognise_empty_run(&family, output));
    let error = empty_run.or_else(|| recognise_error(&family, output))?;
    let scope = failure_scope(command, &family, &error);
    let fingerprint = model::fingerprint_text(&format!("{scope}\n{}", error.fingerprint));
    Some(RecognisedError { fingerprint, ..error })
}

/// The part of a command by which its failures are told apart. A program that is missing is missing whatever
/// it was to run (`python` of `python a.py`), and one that cannot start fails so with every subcommand
/// (`gradle` of `gradle test`).
fn failure_scope<'a>(
    command: Option<&str>,
    family: &'a str,
    error: &'a RecognisedError,
) -> &'a str {
    let is_called = |program: &&String| {
        let launcher = command.and_then(CommandIntent::main_of_line).map(|it| it.launcher);
        launcher.is_some_and(|it| it.first() == Some(*program))
    };
    match error.kind {
        ErrorKind::MissingCommand | ErrorKind::MissingVariable => {
            let program = error.subject.as_ref().filter(is_called).map(String::as_str);
            program.unwrap_or_else(|| family.split(' ').next().unwrap_or(family))
        }
        _ => family,
    }
}

/// The intents of the command lines of a session, read once.
#[derive(Default)]
pub(crate) struct LineIntents(HashMap<StringId, Vec<CommandIntent>>);

impl LineIntents {
    fn of_call(&mut self, pad: &Scratchpad, call: &LoggedCall) -> &[CommandIntent] {
        let Some(command) = call.command.filter(|_| call.tool == ToolKind::Shell) else {
            return &[];
        };
        self.0.entry(command).or_insert_with(|| CommandIntent::of_line(pad.strings.text(command)))
    }
}

/// The episodes of errors, in order: those of commands, and of the host's tools that edit.
pub(crate) fn find_episodes(pad: &Scratchpad) -> Vec<FailureEpisode<'_>> {
    let mut intents = LineIntents::default();
    let mut acc: Vec<FailureEpisode<'_>> = Vec::new();
    for error in &pad.errors {
        let call = &pad.calls[error.call as usize];
        if let Some(episode) = host_tools::find_episode(pad, error, call) {
            acc.push(episode);
            continue;
        }
        let Some(failed) = intents.of_call(pad, call).last().cloned() else { continue };
        let preceding = preceding_commands(pad, &mut intents, error.call);
        let ending = find_ending(pad, &mut intents, error, &failed, &preceding);
        acc.push(FailureEpisode { error, command: failed.text, preceding, ending });
    }
    drop_refuted_endings(&mut acc);
    acc
}

/// Calls from a failed one to the success that ended it; `None` if it is unresolved.
pub(crate) fn calls_until_fixed(pad: &Scratchpad, error: &ErrorOccurrence) -> Option<u32> {
    let mut intents = LineIntents::default();
    let call = pad.calls.get(error.call as usize)?;
    let failed = intents.of_call(pad, call).last().cloned()?;
    let ending = find_ending(pad, &mut intents, error, &failed, &[])?;
    Some(ending.call - error.call)
}

/// Removes the endings that the session itself refuted: it met the error again although the fix was in
/// place.
fn drop_refuted_endings(episodes: &mut [FailureEpisode<'_>]) {
    for nth in 0..episodes.len() {
        let Some(ending) = &episodes[nth].ending else { continue };
        let later = &episodes[nth + 1..];
        let is_again = |it: &&FailureEpisode<'_>| {
            it.error.fingerprint == episodes[nth].error.fingerprint && it.error.call > ending.call
        };
        if later.iter().filter(is_again).any(|it| refutes(ending, it)) {
            episodes[nth].ending = None;
        }
    }
}

/// Returns whether a later failure shows that an ending does not help.
fn refutes(ending: &EpisodeEnding, later: &FailureEpisode<'_>) -> bool {
    is_refuted(ending.kind, &ending.command, &ending.steps, &later.command, &later.preceding)
}

/// Returns whether a fix did not prevent a failure: it was in place when `command` failed after
/// `preceding`. An edit or a remedy is in place from then on.
pub(crate) fn is_refuted(
    kind: EndingKind,
    fix: &str,
    steps: &[String],
    command: &str,
    preceding: &[String],
) -> bool {
    match kind {
        EndingKind::OtherCommand => fix == command,
        EndingKind::MissingStep => steps.iter().all(|it| preceding.contains(it)),
        EndingKind::Edit | EndingKind::Remedy => true,
    }
}

/// Returns whether the second command is another way to call what the first one calls wrongly.
pub(crate) fn is_variant(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let cause = FailureCause::new(ErrorKind::UsageError, "", None);
    is_other_command(failed, passed, &cause)
}

/// The calls since the last failure of an intent.
#[derive(Default)]
struct CallsBetween {
    edited_files: Vec<ProjectPath>,
    /// Identifiers in the edits, in order.
    names: Vec<String>,
    steps: Vec<CommandIntent>,
    /// The folder of a command that only changed it.
    folder: Option<String>,
}

impl CallsBetween {
    fn add(&mut self, pad: &Scratchpad, call: &LoggedCall, intents: &[CommandIntent]) {
        let written = pad.touches_of_call(call).iter().filter(|it| it.is_write);
        for file in written.filter_map(|it| to_path(pad, it.file)) {
            if self.edited_files.len() < MAX_EDITED_FILES && !self.edited_files.contains(&file) {
                self.edited_files.push(file);
            }
        }
        for name in pad.names_of_edit(call) {
            if self.names.len() < MAX_NAMES && !self.names.iter().any(|it| it == name) {
                self.names.push(name.to_owned());
            }
        }
        let is_step = |it: &&CommandIntent| !is_inspection(it);
        self.steps.extend(intents.iter().filter(is_step).cloned());
        if intents.is_empty()
            && let Some(line) = call.command.map(|it| pad.strings.text(it))
            && let Some(folder) = line.strip_prefix("cd ").filter(|it| !it.contains(' '))
        {
            self.folder = Some(relative_folder(pad, folder));
        }
    }
}

/// A folder as the project names it.
fn relative_folder(pad: &Scratchpad, folder: &str) -> String {
    let inside = folder.strip_prefix(pad.root.as_str()).filter(|_| !pad.root.is_empty());
    inside.map_or(folder, |it| it.trim_start_matches('/')).to_owned()
}

/// The end of the failure of a command: the next success of its intent, if that shows what helped.
fn find_ending(
    pad: &Scratchpad,
    intents: &mut LineIntents,
    error: &ErrorOccurrence,
    failed: &CommandIntent,
    preceding: &[String],
) -> Option<EpisodeEnding> {
    let cause = FailureCause::of_error(error);
    let first = error.call as usize + 1;
    let mut between = CallsBetween::default();
    for (number, call) in pad.calls.iter().enumerate().skip(first).take(MAX_EPISODE_CALLS) {
        let line = intents.of_call(pad, call).to_vec();
        let same = line.iter().rposition(|it| it.family == failed.family);
        let found = FoundSuccess { pad, error, failed, cause, number, preceding };
        if call.has_failed() {
            let Some(same) = same else { continue };
            let next = pad.errors.iter().find(|it| it.call as usize == number);
            match next {
                // The intent failed again, so that what was done before did not help.
                Some(it) if it.fingerprint == error.fingerprint => {
                    between = CallsBetween::default();
                }
                Some(it) if found.does_its_work(it) => {
                    if let Some(ending) = found.judge_progress(&between, &line, same) {
                        return Some(ending);
                    }
                }
                _ => {}
            }
            continue;
        }
        if !call.has_succeeded() {
            continue;
        }
        if let Some(same) = same {
            if let SuccessVerdict::Ends(end) = found.judge(&between, &line, same) {
                return end;
            }
        } else if found.replaces_test_program(call)
            && let Some(main) = line.last()
        {
            return Some(found.other_command(&main.text));
        } else {
            between.add(pad, call, &line);
        }
    }
    None
}

/// The meaning of a success after a failure for its episode.
enum SuccessVerdict {
    /// The same is still to be done.
    GoesOn,
    /// The episode is over; `None` if the success shows no fix.
    Ends(Option<EpisodeEnding>),
}

/// A success after a failure, with what is needed to judge it.
struct FoundSuccess<'a> {
    pad: &'a Scratchpad,
    error: &'a ErrorOccurrence,
    failed: &'a CommandIntent,
    cause: FailureCause<'a>,
    /// The number of the call that succeeded.
    number: usize,
    /// Commands that ran before the failure, and so were not missing.
    preceding: &'a [String],
}

impl FoundSuccess<'_> {
    /// Returns whether a later error shows that the command is called rightly now: it does its work and finds
    /// something else.
    fn does_its_work(&self, later: &ErrorOccurrence) -> bool {
        let is_call_error =
            matches!(self.cause.nature(), FailureNature::Usage | FailureNature::Missing);
        is_call_error && FailureCause::of_error(later).nature() == FailureNature::Work
    }

    /// The end of an error about the call, if the command works now although it finds something.
    fn judge_progress(
        &self,
        between: &CallsBetween,
        line: &[CommandIntent],
        same: usize,
    ) -> Option<EpisodeEnding> {
        let passed = &line[same];
        if self.edits_matter(between) {
            return None;
        }
        let steps = self.missing_steps(between, &line[..same]);
        if !steps.is_empty() && covers_scope(self.failed, passed) {
            return Some(self.ending(EndingKind::MissingStep, &passed.text, steps, Vec::new()));
        }
        is_other_command(self.failed, passed, &self.cause).then(|| self.other_command(&passed.text))
    }

    /// Decides what a success of the same family means for the episode.
    fn judge(&self, between: &CallsBetween, line: &[CommandIntent], same: usize) -> SuccessVerdict {
        let passed = &line[same];
        let steps = self.missing_steps(between, &line[..same]);
        let edits_matter = self.edits_matter(between);
        if is_other_command(self.failed, passed, &self.cause) && !edits_matter {
            let kind =
                if steps.is_empty() { EndingKind::OtherCommand } else { EndingKind::MissingStep };
            return SuccessVerdict::Ends(Some(self.ending(kind, &passed.text, steps, Vec::new())));
        }
        if !covers_scope(self.failed, passed) {
            return SuccessVerdict::GoesOn;
        }
        if !steps.is_empty() && !edits_matter {
            let ending = self.ending(EndingKind::MissingStep, &passed.text, steps, Vec::new());
            return SuccessVerdict::Ends(Some(ending));
        }
        if !between.edited_files.is_empty() {
            let kind = if self.remedy().is_some() { EndingKind::Remedy } else { EndingKind::Edit };
            // After a message that is no remedy, the session turned to something else.
            let turned = kind == EndingKind::Edit && self.has_message();
            let names = between.names.clone();
            let ending = self.ending(kind, &passed.text, steps, between.edited_files.clone());
            return SuccessVerdict::Ends((!turned).then_some(EpisodeEnding { names, ..ending }));
        }
        if let Some(folder) = &between.folder
            && !folder.is_empty()
            && !folder.starts_with(['/', '~', '.'])
            && matches!(self.cause.nature(), FailureNature::Usage | FailureNature::Missing)
        {
            let command = format!("cd {folder} && {}", passed.text);
            return SuccessVerdict::Ends(Some(self.other_command(&command)));
        }
        // The same command passed by itself, after a person said something or by chance.
        let is_same = is_same_command(self.failed, passed);
        let has_remedy = self.remedy().is_some() && is_same;
        let ending = || self.ending(EndingKind::Remedy, &passed.text, steps, Vec::new());
        SuccessVerdict::Ends(has_remedy.then(ending))
    }

    fn missing_steps(&self, between: &CallsBetween, in_line: &[CommandIntent]) -> Vec<String> {
        choose_steps(self.failed, &self.cause, in_line, &between.steps, self.preceding)
    }

    /// Returns whether the edits before a success can have helped. Those of a source file do not change how a
    /// command must be called, unless they are about the name that was missing; those of configuration do.
    fn edits_matter(&self, between: &CallsBetween) -> bool {
        let is_call_error =
            matches!(self.cause.nature(), FailureNature::Usage | FailureNature::Missing);
        let is_about = |it: &str| self.cause.is_about(it);
        let is_relevant = |it: &ProjectPath| crate::is_config(it.as_str()) || is_about(it.as_str());
        !between.edited_files.is_empty()
            && (!is_call_error
                || between.edited_files.iter().any(is_relevant)
                || between.names.iter().any(|it| is_about(it)))
    }

    /// Returns whether another test program passed soon after one that does not exist here.
    fn replaces_test_program(&self, call: &LoggedCall) -> bool {
        let failed = &self.pad.calls[self.error.call as usize];
        let is_test = |it: &LoggedCall| it.effects.has_any(CallEffects::RUNS_TEST);
        self.number - self.error.call as usize <= MAX_REPLACEMENT_CALLS
            && is_missing_program(self.error)
            && is_test(failed)
            && is_test(call)
    }

    fn other_command(&self, command: &str) -> EpisodeEnding {
        self.ending(EndingKind::OtherCommand, command, Vec::new(), Vec::new())
    }

    fn ending(
        &self,
        kind: EndingKind,
        command: &str,
        steps: Vec<String>,
        edited_files: Vec<ProjectPath>,
    ) -> EpisodeEnding {
        let call = u32::try_from(self.number).unwrap_or(u32::MAX);
        let remedy = self.remedy().filter(|_| kind == EndingKind::Remedy);
        let command = command.to_owned();
        EpisodeEnding { kind, call, command, steps, edited_files, names: Vec::new(), remedy }
    }

    /// The messages of the user between the failure and the success.
    fn messages(&self) -> impl Iterator<Item = &str> {
        let (failed, passed) = (self.error.call, self.number);
        let is_between =
            move |call: u32| call > failed && usize::try_from(call).is_ok_and(|it| it <= passed);
        let messages = self.pad.messages.iter().filter(move |it| is_between(it.call));
        messages.map(|it| it.text.trim()).filter(|it| !it.is_empty())
    }

    fn has_message(&self) -> bool {
        self.messages().next().is_some()
    }

    /// The first message of a person after the failure, if it is about it: short, no question, and it names
    /// something of the command or the error.
    fn remedy(&self) -> Option<String> {
        let message = self.messages().next()?;
        let context = format!("{} {}", self.failed.text, self.error.display_line).to_lowercase();
        let lower = message.to_lowercase();
        let names_it = lower
            .split(|it: char| !it.is_alphanumeric())
            .any(|it| it.len() >= MIN_SHARED_WORD_BYTES && context.contains(it));
        let is_short = message.len() <= MAX_REMEDY_BYTES && !message.contains('\n');
        (is_short && names_it && !message.ends_with('?') && !message.starts_with('/'))
            .then(|| message.to_owned())
    }
}

/// The commands that succeeded shortly before a call, the latest last.
fn preceding_commands(pad: &Scratchpad, intents: &mut LineIntents, call: u32) -> Vec<String> {
    let last = call as usize;
    let mut acc = Vec::new();
    for earlier in &pad.calls[last.saturating_sub(PRECEDING_CALLS)..last] {
        if earlier.has_succeeded() {
            let line = intents.of_call(pad, earlier);
            acc.extend(line.iter().filter(|it| !is_inspection(it)).map(|it| it.text.clone()));
        }
    }
    // In a line such as `npm ci && npm test`, the commands before the last one precede it.
    let line = intents.of_call(pad, &pad.calls[last]);
    if let Some((_, before)) = line.split_last() {
        acc.extend(before.iter().filter(|it| !is_inspection(it)).map(|it| it.text.clone()));
    }
    acc.drain(..acc.len().saturating_sub(MAX_PRECEDING_COMMANDS));
    acc
}
