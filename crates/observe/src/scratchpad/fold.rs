//! Adds events to the scratchpad, the log of one session: one function per kind of event, called by
//! `Scratchpad::observe`.
//!
//! A tool call and its result are two events. The call adds a pending [`LoggedCall`] with the files it
//! names; the result completes it and adds errors, listings and followed imports. Example: the call
//! `make test` is logged as a pending test run; its result "error: no rule" makes it a failed one, and adds
//! the error.

use model::{
    ProjectPath, SessionStart, Timestamp, Tool, ToolCall, ToolKind, ToolResult, ValidationKind,
    ValidationResult,
};

use super::external_text::{mark_external, mark_external_result};
use super::message::{MAX_TASK_BYTES, add_rejected_call};
use super::{
    CallEffects, CallState, ErrorOccurrence, FailedCall, FileListing, LoggedCall, LoggedTouch,
    MAX_CALLS, MAX_EDIT_NAMES, MAX_ERRORS, MAX_IMPORT_CHASES, MAX_LISTINGS, MAX_PENDING_CALLS,
    MAX_REMEMBERED_EDITS, MAX_REVERTED_EDITS, MAX_STATEMENTS, MAX_SUBTASKS, MAX_VALIDATIONS,
    RecentRead, RevertedEdit, Scratchpad, SessionStatement, StatementKind, hash_text,
};
use crate::episode::recognise_failure;
use crate::error_line::{finds_nothing, reports_failure};
use crate::sentences::split_sentences;
use crate::shell::{self, ShellEffect};
use crate::statements::{self, MAX_SENTENCE_BYTES};
use crate::strings::StringId;
use crate::{expected_errors, import_words, memory_use};

/// Files that one call may touch.
const MAX_TOUCHED_FILES: usize = 50;
/// Calls after a read within which the read of an import counts as following it.
const IMPORT_WINDOW_CALLS: u32 = 4;
/// Calls after an error within which a sentence of the agent counts as its explanation.
const EXPLANATION_WINDOW_CALLS: u32 = 3;
/// The part of a text that is searched for an explanation, in bytes.
const MAX_EXPLANATION_BYTES: usize = 4_096;
/// The shortest sentence that counts as an explanation, in bytes: "That fails." explains nothing.
const MIN_EXPLANATION_BYTES: usize = 26;
/// Citations recorded per session.
const MAX_CITED_IDS: usize = 200;
/// Touches searched backwards for the edit that a command restores.
const RESTORE_WINDOW_TOUCHES: usize = 2_000;

pub(super) fn add_session_start(pad: &mut Scratchpad, start: &SessionStart) {
    // A resumed session starts again; its first start decides.
    if pad.agent.is_empty() {
        start.agent.clone_into(&mut pad.agent);
        start.project_root.trim_end_matches('/').clone_into(&mut pad.root);
        pad.parent = start.parent;
        pad.work_unit.clone_from(&start.work_unit);
        pad.host_session.clone_from(&start.host_session);
    }
    pad.declared_type = pad.declared_type.or(start.session_type);
    pad.planned_steps = pad.planned_steps.or(start.planned_steps);
    if let Some(task) = start.task.as_ref().filter(|_| pad.task.is_empty()) {
        pad.task = truncate(task, MAX_TASK_BYTES);
    }
}

/// Adds a validation. The success of a subtask is kept apart, because it validates only the work before
/// it; the failure of a subtask is not recorded.
pub(super) fn add_validation(pad: &mut Scratchpad, validation: &ValidationResult) {
    if validation.kind == ValidationKind::SubtaskSucceeded {
        if validation.ok && pad.succeeded_subtasks.len() < MAX_SUBTASKS {
            pad.succeeded_subtasks.push(pad.n_events);
        }
    } else if pad.validations.len() < MAX_VALIDATIONS {
        pad.validations.push(validation.clone());
    }
}

pub(super) fn add_reasoning(pad: &mut Scratchpad, event: &str, text: &str) {
    // The last error has no explanation yet and is recent: this text may explain it.
    // Further texts are searched until one does.
    if let Some(last) = pad.errors.last_mut()
        && last.explanation.is_empty()
        && pad.n_calls.saturating_sub(last.call) <= EXPLANATION_WINDOW_CALLS
    {
        last.explanation = truncate(find_explanation(text).unwrap_or_default(), MAX_SENTENCE_BYTES);
        last.explained_at = pad.n_events;
    }
    // Everything below is linear in the text; the bound keeps a single event cheap.
    let text = &text[..text.floor_char_boundary(statements::MAX_TEXT_BYTES)];
    // The agent cites a memory as `#0badcafe`.
    let n_more_ids = MAX_CITED_IDS.saturating_sub(pad.cited_ids.len());
    pad.cited_ids.extend(memory_use::cited_short_ids(text).take(n_more_ids).map(str::to_owned));
    let sentences = split_sentences(text);
    for (nth, sentence) in sentences.iter().enumerate() {
        if statements::is_correction(sentence) {
            let sentence_at = |nth: usize| sentences.get(nth).copied().unwrap_or_default();
            let context = [sentence_at(nth + 1), sentence_at(nth + 2)];
            add_statement(pad, StatementKind::Correction, event, sentence, context);
        }
    }
    for [before, sentence, after] in statements::dead_ends(text) {
        add_statement(pad, StatementKind::DeadEnd, event, sentence, [before, after]);
    }
    for it in statements::causal_statements(text) {
        add_statement(pad, StatementKind::Causal, event, it.text, [it.from, it.to]);
    }
    // If the next call reverts an edit, this sentence is the reason.
    let last_sentence = sentences.last().copied().unwrap_or_default();
    pad.last_sentence = truncate(last_sentence, MAX_SENTENCE_BYTES);
}

fn add_statement(
    pad: &mut Scratchpad,
    kind: StatementKind,
    event: &str,
    text: &str,
    context: [&str; 2],
) {
    if pad.statements.len() < MAX_STATEMENTS {
        pad.statements.push(SessionStatement {
            kind,
            call: pad.n_calls,
            order: pad.n_events,
            event: event.to_owned(),
            text: truncate(text, MAX_SENTENCE_BYTES),
            context: context.map(|it| truncate(it, MAX_SENTENCE_BYTES)),
        });
    }
}

pub(super) fn add_call(pad: &mut Scratchpad, call: &ToolCall, at: Timestamp) {
    // Numbers are given to all calls, also to those that are not logged.
    let call_number = pad.n_calls;
    pad.n_calls += 1;
    let shell_effects = match (&call.tool, &call.args.command) {
        (Tool::Shell, Some(command)) => shell::find_effects(command),
        _ => Vec::new(),
    };
    let effects = CallEffects(shell_effects.iter().fold(0, |acc, it| acc | effect_bit(it)));
    // Taint is recorded for every call, also for those beyond the limit.
    mark_external(pad, call, &shell_effects, at);
    if pad.calls.len() >= MAX_CALLS {
        pad.anomalies.calls_over_limit += 1;
        return;
    }
    // The files that the call touches become one range of touches.
    let first_touch = u32::try_from(pad.touches.len()).unwrap_or(u32::MAX);
    add_named_touches(pad, call, call_number);
    add_command_touches(pad, &shell_effects, call_number);
    let n_touches = pad.touches.len() - first_touch as usize;
    // A search in the shell has its query in the command line.
    let shell_query = shell_effects.iter().find_map(|it| match it {
        ShellEffect::Search(query) => Some(query.as_str()),
        _ => None,
    });
    let query = call.args.query.as_deref().or(shell_query);
    let command = call.args.command.as_deref().map(shell::normalise_command);
    pad.calls.push(LoggedCall {
        at,
        order: pad.n_events,
        command: command.map(|it| pad.strings.intern(&it)),
        query: query.map(|it| pad.strings.intern(it)),
        only_hit: None,
        n_matches: None,
        took_ms: 0,
        output_bytes: 0,
        first_touch,
        // At most `MAX_TOUCHED_FILES` of each kind, so that it always fits.
        n_touches: u16::try_from(n_touches).unwrap_or(0),
        tool: call.tool.kind(),
        state: CallState::Pending,
        effects,
        in_plan_mode: call.planning,
        has_hidden_failure: false,
        is_empty_run: false,
    });
    for name in &call.args.names {
        if pad.edit_names.len() < MAX_EDIT_NAMES {
            let name = pad.strings.intern(name);
            pad.edit_names.push((call_number, name));
        }
    }
    // An id that is used again before its result names the later call.
    pad.pending_calls.insert(call.call_id.clone(), call_number);
    // So many pending calls mean that the host reports no results; dropping all is cheap and loses little.
    if pad.pending_calls.len() > MAX_PENDING_CALLS {
        pad.pending_calls.clear();
    }
}

/// Adds the touches of the paths that the call itself names.
fn add_named_touches(pad: &mut Scratchpad, call: &ToolCall, call_number: u32) {
    let is_write = match call.tool {
        Tool::Read => false,
        Tool::Edit | Tool::Write => true,
        // The paths of a search or a list are where it looked, not files that were opened.
        _ => return,
    };
    for path in call.args.paths.iter().take(MAX_TOUCHED_FILES) {
        let file = pad.strings.intern(path.as_str());
        if let (Some(removed), Some(added)) = (&call.args.removed, &call.args.added) {
            let (removed, added) = (hash_text(removed), hash_text(added));
            // The edit that this one reverts removed what this one adds, and the reverse.
            if pad.edits_by_text.contains(&(file, added, removed)) {
                add_reverted_edit(pad, call_number, file);
            }
            if pad.edits_by_text.len() < MAX_REMEMBERED_EDITS {
                pad.edits_by_text.insert((file, removed, added));
            }
        }
        pad.touches.push(LoggedTouch { call: call_number, file, is_write });
    }
}

/// Adds the touches of the files that a command line reads, edits or restores.
fn add_command_touches(pad: &mut Scratchpad, effects: &[ShellEffect], call_number: u32) {
    for effect in effects.iter().take(MAX_TOUCHED_FILES) {
        let (path, is_write) = match effect {
            ShellEffect::Read(path) => (path, false),
            ShellEffect::Edit(path) => (path, true),
            ShellEffect::Restore(path) => {
                add_restored_file(pad, path, call_number);
                continue;
            }
            // The other effects touch no single file.
            _ => continue,
        };
        // Paths outside the project are no touches.
        if let Some(path) = to_project_path(&pad.root, path) {
            let file = pad.strings.intern(&path);
            pad.touches.push(LoggedTouch { call: call_number, file, is_write });
        }
    }
}

/// Adds the reversal of a file that the session edited and a command such as `git restore` resets.
fn add_restored_file(pad: &mut Scratchpad, path: &str, call_number: u32) {
    let Some(path) = to_project_path(&pad.root, path) else { return };
    let file = pad.strings.intern(&path);
    let mut recent = pad.touches.iter().rev().take(RESTORE_WINDOW_TOUCHES);
    if recent.any(|it| it.is_write && it.file == file) {
        add_reverted_edit(pad, call_number, file);
    }
}

fn add_reverted_edit(pad: &mut Scratchpad, call_number: u32, file: StringId) {
    if pad.reverted_edits.len() < MAX_REVERTED_EDITS {
        let (order, reason) = (pad.n_events, pad.last_sentence.clone());
        pad.reverted_edits.push(RevertedEdit { call: call_number, order, file, reason });
    }
}

pub(super) fn add_result(pad: &mut Scratchpad, result: &ToolResult, at: Timestamp) {
    let Some(call_number) = pad.pending_calls.remove(&result.call_id) else {
        pad.anomalies.orphan_results += 1;
        return;
    };
    // Only logged calls are pending, so that the call is always found.
    let Some(call) = pad.calls.get_mut(call_number as usize) else { return };
    // Complete the logged call.
    let is_check = call.effects.has_any(CallEffects::RUNS_TEST | CallEffects::RUNS_CHECK);
    let output = result.excerpt.as_str();
    call.has_hidden_failure = result.ok && is_check && reports_failure(output);
    call.is_empty_run = result.ok && is_check && !call.has_hidden_failure && finds_nothing(output);
    call.state = if result.ok {
        CallState::Ok
    } else if result.rejected {
        CallState::Rejected
    } else {
        CallState::Failed
    };
    // Without a reported duration, the time between the two events counts; a clock that ran backwards
    // gives 0.
    let took = result.duration_ms.unwrap_or(u64::try_from(at.millis_since(call.at)).unwrap_or(0));
    call.took_ms = u32::try_from(took).unwrap_or(u32::MAX);
    call.output_bytes = u32::try_from(result.size.unwrap_or(0)).unwrap_or(u32::MAX);
    call.n_matches = result.matches;
    // Only a search whose matches are all in one file shows where something is.
    call.only_hit = match result.paths.split_first() {
        Some((first, others))
            if call.tool == ToolKind::Search && others.iter().all(|it| it == first) =>
        {
            Some(pad.strings.intern(first.as_str()))
        }
        _ => None,
    };
    // Add what the result shows.
    let call = *call;
    mark_external_result(pad, call, result, at);
    match call.state {
        CallState::Rejected => add_rejected_call(pad, result),
        CallState::Failed => add_failure(pad, call_number, call, result),
        CallState::Ok if call.has_hidden_failure || call.is_empty_run => {
            add_failure(pad, call_number, call, result);
        }
        CallState::Ok if call.tool == ToolKind::List => add_listing(pad, call_number, call, result),
        CallState::Ok if call.tool == ToolKind::Read => {
            track_imports(pad, call_number, call, result);
        }
        // The output of other tools is not searched. The state was set above, so it is not pending.
        CallState::Ok | CallState::Pending => {}
    }
}

fn add_listing(pad: &mut Scratchpad, call_number: u32, call: LoggedCall, result: &ToolResult) {
    if pad.listings.len() >= MAX_LISTINGS {
        return;
    }
    let files = result.paths.iter().map(|it| pad.strings.intern(it.as_str())).collect();
    if let Some(pattern) = call.query {
        pad.listings.push(FileListing { call: call_number, pattern, files });
    }
}

/// Adds a failed call, and the error that its output names, if it names one.
fn add_failure(pad: &mut Scratchpad, call_number: u32, call: LoggedCall, result: &ToolResult) {
    if pad.errors.len() >= MAX_ERRORS || pad.failed_calls.len() >= MAX_ERRORS {
        return;
    }
    let command = call.command.map(|it| pad.strings.text(it));
    let tool = || result.tool.slug().into_owned();
    let output = result.excerpt.as_str();
    let head = command.map_or_else(tool, |it| expected_errors::call_head(it, output));
    let error = recognise_failure(&result.tool.slug(), command, output);
    // The message is told to later sessions as it is, so external text must not be in it. A run of nothing
    // succeeded, and the next one names another test.
    if !pad.is_tainted(pad.n_events) && !call.is_empty_run {
        let line = error.as_ref().map(|it| it.display_line.clone());
        let message = line.unwrap_or_else(|| expected_errors::first_message(output));
        pad.failed_calls.push(FailedCall { at: call.at, head, message });
    }
    if let Some(error) = error {
        pad.errors.push(ErrorOccurrence {
            call: call_number,
            order: pad.n_events,
            fingerprint: error.fingerprint,
            normalised_message: error.normalised_message,
            display_line: error.display_line,
            family: error.family,
            kind: error.kind,
            subject: error.subject,
            explanation: String::new(),
            explained_at: 0,
        });
    }
}

/// Records that a file was read soon after one that imports it, and remembers its own imports.
fn track_imports(pad: &mut Scratchpad, call_number: u32, call: LoggedCall, result: &ToolResult) {
    let Some(file) = pad.touches_of_call(&call).first().map(|it| it.file) else { return };
    let path = pad.strings.text(file);
    // Results of parallel calls come in any order, so that the earlier read can have the higher number.
    let is_importer = |read: &&RecentRead| {
        call_number.abs_diff(read.call) <= IMPORT_WINDOW_CALLS
            && read.file != file
            && import_words::words_name_file(&read.import_words, path)
    };
    let importer = pad.recent_reads.iter().find(is_importer).map(|it| it.file);
    if let Some(importer) = importer
        && pad.import_chases.len() < MAX_IMPORT_CHASES
    {
        pad.import_chases.push((importer, file));
    }
    // Remembered after the search, so that a file is not its own importer.
    let import_words = import_words::imported_words(result.excerpt.as_str());
    pad.recent_reads.push_back(RecentRead { call: call_number, file, import_words });
    // Older reads are outside the window.
    if pad.recent_reads.len() > IMPORT_WINDOW_CALLS as usize {
        pad.recent_reads.pop_front();
    }
}

/// The first sentence that explains an error, recognised by its words.
fn find_explanation(text: &str) -> Option<&str> {
    const EXPLANATION_WORDS: &[&str] = &[
        "need",
        "because",
        "missing",
        "must",
        "should",
        "expects",
        "requires",
        "instead",
        "is not",
        "isn't",
        "doesn't",
        "wrong",
        "unused",
        "undefined",
        "the issue",
        "the problem",
        "the error",
        "fails",
        "caused",
    ];
    // The explanation follows the error closely; the rest of a long text is about the next step.
    let start = &text[..text.floor_char_boundary(MAX_EXPLANATION_BYTES)];
    let explains = |it: &&str| {
        let lower = it.to_ascii_lowercase();
        it.len() >= MIN_EXPLANATION_BYTES
            && EXPLANATION_WORDS.iter().any(|word| lower.contains(word))
    };
    split_sentences(start).into_iter().find(explains)
}

/// The bit of an effect in [`CallEffects`].
const fn effect_bit(effect: &ShellEffect) -> u8 {
    match effect {
        ShellEffect::Test => CallEffects::RUNS_TEST,
        ShellEffect::Check => CallEffects::RUNS_CHECK,
        ShellEffect::Commit => CallEffects::MAKES_COMMIT,
        ShellEffect::Review => CallEffects::READS_REVIEW,
        ShellEffect::Fetch(_) => CallEffects::FETCHES_WEB,
        ShellEffect::Restore(_) => CallEffects::RESTORES_FILES,
        ShellEffect::Search(_) => CallEffects::RUNS_SEARCH,
        ShellEffect::List(_) => CallEffects::LISTS_FILES,
        // Reads and edits are recorded as touches.
        ShellEffect::Read(_) | ShellEffect::Edit(_) | ShellEffect::Other => 0,
    }
}

/// A path of a command line as a project path; `None` if it lies outside the project.
fn to_project_path(root: &str, path: &str) -> Option<String> {
    let relative = if root.is_empty() {
        path
    } else {
        path.strip_prefix(root).and_then(|it| it.strip_prefix('/')).unwrap_or(path)
    };
    ProjectPath::parse(relative).ok().map(|it| it.as_str().to_owned())
}

pub(super) fn truncate(text: &str, limit: usize) -> String {
    text[..text.floor_char_boundary(limit)].to_owned()
}
