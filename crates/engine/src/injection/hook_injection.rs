//! Injection at hook events: the notes that an agent gets without asking.
//!
//! [`select_injection`] selects the notes for a parsed hook message, [`inject`] selects and records
//! them as shown. The steps are: find the tier of the event, stop if the trial group or the trust level
//! forbids it, then select by the kind of event: a context block at the start and at a prompt, warnings
//! at files, a fix at errors. An event without notes carries the reason for its silence. Called by the
//! daemon (`serve/requests/hook.rs`), and by the hook process if no daemon runs. Errors go to the
//! caller; a hook then injects nothing.
//!
//! Words: the *tier* is the occasion of an injection (start, tool result …). The *trust level*, 1 to 4,
//! is the user's setting of how much memory may inject unasked. A *trial* is an A/B test in which some
//! sessions, by their *trial group*, get fewer notes. The *shown log* of a session lists what it was
//! shown. A *compaction* replaces a conversation by a summary, so the agent loses its notes. A note is
//! *withheld* in this file if the code that it refers to is missing; `RejectionReason::Withheld` is another
//! reason, a text that reads like an instruction.

use std::collections::HashSet;

use agents::{HookEvent, HookMessage, PathResolver, RefusedCall};
use model::{
    ContentChannel, InjectionMoment, InjectionTier, MemoryId, Phase, ProjectPath, TrustLevel,
};
use observe::shell::{self, ShellEffect};
use recall::{SilenceReason, estimate_tokens};
use store::ShownEntry;

use super::context_builder::is_trusted;
use super::context_request::{ContextBlock, ContextRequest, MemoryBreadth, OmissionReason};
use super::edit_notes::compute_edit_notes;
use super::error_fix::{ToolFailure, select_fix};
use super::file_warnings::{WarningSelection, find_file_warnings};
use super::injection_log::GivenBlock;
use super::missing_references::reject_missing_references;
use super::note_format::format_capped;
use super::recent_files::first_touch_entries;
use super::session_context::build_start_context;
use super::shown_notes::{
    context_entries, context_memory_tokens, exclude_shown, mark_conversation_lost, memory_entries,
    open_shown_log, record_block, shown_memory_ids,
};
use super::trial_group::{record_trial_group, trial_group};
use crate::model_text;
use crate::retrieval::RejectionReason;
use crate::rules::rules_read_by_host;
use crate::{Error, ProjectReader, RatedMemory};

/// Token budget at the start of a session.
const START_TOKENS: u32 = 1_000;
/// Token budget at a prompt.
const PROMPT_TOKENS: u32 = 800;
/// Bytes up to which a prompt is too short to search with: `go on`, `yes please`.
const MAX_TRIVIAL_PROMPT_BYTES: usize = 12;
/// The tool of an event that is about a command.
const SHELL_TOOL: &str = "shell";
/// Warnings per event.
const MAX_WARNINGS: usize = 4;

/// The notes for a hook event, or the reason why there are none.
#[derive(Clone, Debug)]
pub struct Injection {
    /// The whole block; empty if nothing is injected.
    pub text: String,
    /// The reason why nothing is injected.
    pub silence: Option<SilenceReason>,
    /// The block with its explanation, at the start and at a prompt.
    pub context: Option<ContextBlock>,
    /// The warnings with those that were excluded, at files.
    pub warnings: Option<WarningSelection>,
    /// The fix of an error that was withheld, because the code it refers to is missing. `select_fix` sets it,
    /// [`Self::withheld`] reports it.
    pub(super) withheld_fix: Option<(MemoryId, RejectionReason)>,
    /// The entries to record once the text is injected.
    pub(super) entries: Vec<ShownEntry>,
    /// The tokens of each memory in the text.
    pub(super) memory_tokens: Vec<(MemoryId, u32)>,
}

impl Injection {
    pub(super) fn silent_because(reason: SilenceReason) -> Self {
        Self { silence: Some(reason), ..Self::silent() }
    }

    /// Nothing at all, to be completed: the base of struct updates. It has no reason for its silence, so a
    /// caller sets either `silence` or `text`.
    const fn silent() -> Self {
        Self {
            text: String::new(),
            silence: None,
            context: None,
            warnings: None,
            withheld_fix: None,
            entries: Vec::new(),
            memory_tokens: Vec::new(),
        }
    }

    /// Frames notes as a block; silent if there are none. The entries of the notes are in the order of
    /// the lines.
    pub(super) fn from_lines(lines: &[String], entries: Vec<ShownEntry>) -> Self {
        if lines.is_empty() {
            return Self::silent_because(SilenceReason::NoRelevantMemory);
        }
        let (header, footer) = (model_text::NOTES_HEADER, model_text::NOTES_FOOTER);
        let text = format!("{header}\n{}\n{footer}", lines.join("\n"));
        // `memory_entries` makes two entries per memory, of which only the first is content. So there is
        // one content entry per line, in the same order.
        let notes = entries.iter().filter(|it| it.is_content()).zip(lines);
        let memory_tokens = notes
            .filter_map(|(entry, line)| Some((entry.memory_id()?, estimate_tokens(line))))
            .collect();
        Self { text, entries, memory_tokens, silence: None, ..Self::silent() }
    }

    /// The text, if anything is injected.
    pub fn into_text(self) -> Option<String> {
        (!self.text.is_empty()).then_some(self.text)
    }

    /// The memories in the text.
    pub fn memories(&self) -> Vec<MemoryId> {
        self.entries.iter().filter_map(ShownEntry::memory_id).collect()
    }

    /// The memories that were withheld because their files or symbols are missing. The caller flags
    /// them for review, with `NotebookEditor::flag_missing_references`.
    pub fn withheld(&self) -> Vec<(MemoryId, RejectionReason)> {
        let mut rejected: Vec<(MemoryId, RejectionReason)> = Vec::new();
        if let Some(warnings) = &self.warnings {
            for (rated, reason) in &warnings.excluded {
                rejected.push((rated.memory.id, *reason));
            }
        }
        if let Some(context) = &self.context {
            for (hit, reason) in &context.omitted {
                if let OmissionReason::Excluded(reason) = reason {
                    rejected.push((hit.rated.memory.id, *reason));
                }
            }
        }
        rejected.retain(|(_, reason)| {
            matches!(reason, RejectionReason::FilesMissing | RejectionReason::SymbolsMissing)
        });
        rejected.extend(self.withheld_fix);
        rejected
    }
}

/// A hook event with what the selection depends on.
struct EventContext<'a> {
    reader: &'a ProjectReader,
    message: &'a HookMessage,
    level: TrustLevel,
    /// Everything the session was shown before.
    shown: HashSet<ShownEntry>,
}

/// Selects the notes for a hook event and records them as shown.
pub(crate) async fn inject(
    reader: &ProjectReader,
    message: &HookMessage,
) -> Result<Injection, Error> {
    // The summary of a compacted conversation does not hold the notes.
    if message.event == (HookEvent::SessionStart { compacted: true }) {
        mark_conversation_lost(reader, &message.host_session)?;
    }
    let injection = select_injection(reader, message, reader.policy.injection.level).await?;
    // Recorded for silent sessions too: the trial compares the groups.
    record_trial_group(reader, &message.host_session)?;
    let block = GivenBlock {
        session: &message.host_session,
        host: message.host.unwrap_or_default(),
        moment: injection_moment(message, &injection),
        tokens: estimate_tokens(&injection.text),
        memory_tokens: &injection.memory_tokens,
    };
    record_block(reader, &block, &injection.entries)?;
    Ok(injection)
}

/// The moment of an event, for the injection log. A command or a step that ended can be either: an access to
/// files if its files were searched for warnings, else a failure, whose fix was selected.
fn injection_moment(message: &HookMessage, injection: &Injection) -> InjectionMoment {
    match message.event {
        HookEvent::Prompt { .. } => InjectionMoment::Prompt,
        HookEvent::CallFailed { .. } => InjectionMoment::Failure,
        HookEvent::CommandEnded { .. } | HookEvent::StepEnded { .. }
            if injection.warnings.is_none() =>
        {
            InjectionMoment::Failure
        }
        HookEvent::FilesTouched { .. }
        | HookEvent::CommandEnded { .. }
        | HookEvent::StepEnded { .. } => InjectionMoment::File,
        // The last two inject nothing.
        HookEvent::SessionStart { .. } | HookEvent::SessionEnd | HookEvent::Other => {
            InjectionMoment::Start
        }
    }
}

/// Selects the notes for a hook event at a trust level. Records nothing.
pub(crate) async fn select_injection(
    reader: &ProjectReader,
    message: &HookMessage,
    level: TrustLevel,
) -> Result<Injection, Error> {
    let tier = match injection_tier(&message.event) {
        Ok(tier) => tier,
        Err(reason) => return Ok(Injection::silent_because(reason)),
    };
    if !trial_group(reader, &message.host_session).receives_tier(tier) {
        return Ok(Injection::silent_because(SilenceReason::TrialGroup));
    }
    let shown = open_shown_log(reader, &message.host_session).read_entries();
    let event = EventContext { reader, message, level, shown };

    // The fix of the error at hand is injected at every trust level, because it is how memory earns
    // trust. That happens in two places: here for a command that ended, which may turn out not to
    // have failed, and in `select_notes` for a reported failure, which skips the check of the level.
    let command_fix = fix_of_ended_command(&event).await?;
    if !command_fix.text.is_empty() {
        return Ok(command_fix);
    }

    // A refused call is one that the host rejected without running it.
    let is_failure = matches!(
        message.event,
        HookEvent::CallFailed { .. } | HookEvent::StepEnded { refused: Some(_), .. }
    );
    // `proactive` lists the tiers at which the level allows notes without a request.
    if !is_failure && !level.row().proactive.contains(&tier) {
        let silent = Injection::silent_because(SilenceReason::TrustLevelTooLow);
        return Ok(Injection { withheld_fix: command_fix.withheld_fix, ..silent });
    }
    let notes = select_notes(&event).await?;

    // The fix of an ended command that was withheld above stays in the report, for the user's review.
    Ok(Injection { withheld_fix: notes.withheld_fix.or(command_fix.withheld_fix), ..notes })
}

/// The tier of an event, by which trial groups and trust levels allow or forbid injection; or the
/// reason why the event never injects anything. The tier `Files` (the files to read first) belongs to no
/// event: predicted files are a section of the block for a prompt, and the prompt is of the tier `Start`.
fn injection_tier(event: &HookEvent) -> Result<InjectionTier, SilenceReason> {
    match event {
        HookEvent::SessionStart { .. } => Ok(InjectionTier::Start),
        HookEvent::Prompt { .. } if has_search_text(event) => Ok(InjectionTier::Start),
        HookEvent::Prompt { .. } => Err(SilenceReason::PromptTooShort),
        HookEvent::FilesTouched { .. }
        | HookEvent::CallFailed { .. }
        | HookEvent::CommandEnded { .. }
        | HookEvent::StepEnded { .. } => Ok(InjectionTier::ToolResult),
        HookEvent::SessionEnd | HookEvent::Other => Err(SilenceReason::EventWithoutNotes),
    }
}

/// True if the notes for an event are searched by text: it is a prompt that is long enough.
pub(crate) fn has_search_text(event: &HookEvent) -> bool {
    matches!(event, HookEvent::Prompt { text } if text.trim().len() > MAX_TRIVIAL_PROMPT_BYTES)
}

/// The fix of a command that ended in a known error; silent for other events and other commands. The
/// host does not report exit codes with this event, so the output decides if the command failed.
async fn fix_of_ended_command(event: &EventContext<'_>) -> Result<Injection, Error> {
    match &event.message.event {
        HookEvent::CommandEnded { command, output } if may_have_failed(command) => {
            let failed = ToolFailure { tool: SHELL_TOOL, command: Some(command), output };
            select_fix(event.reader, failed, &event.shown).await
        }
        _ => Ok(Injection::silent_because(SilenceReason::NoRelevantMemory)),
    }
}

/// Selects the notes by the kind of event.
async fn select_notes(event: &EventContext<'_>) -> Result<Injection, Error> {
    let EventContext { reader, message, level, shown } = event;
    match &message.event {
        HookEvent::FilesTouched { paths } => select_warnings(event, paths).await,
        // `select_injection` found no fix to show, so warnings about the command's files are left.
        HookEvent::CommandEnded { command, .. } => {
            let (paths, _) = shell_files_and_searches(std::slice::from_ref(command));
            select_warnings(event, &paths).await
        }
        HookEvent::StepEnded { refused: Some(RefusedCall { tool, output }), .. } => {
            select_fix(reader, ToolFailure { tool, command: None, output }, shown).await
        }
        // The files of its tools had an event of their own; those of its commands did not.
        HookEvent::StepEnded { refused: None, commands, .. } => {
            let (paths, _) = shell_files_and_searches(commands);
            select_warnings(event, &paths).await
        }
        HookEvent::CallFailed { tool, command, output } => {
            let failed = ToolFailure { tool, command: command.as_deref(), output };
            select_fix(reader, failed, shown).await
        }
        HookEvent::Prompt { text } => {
            let request = build_context_request(text, *level);
            select_context(event, ContextRequest { host: message.host, ..request }).await
        }
        HookEvent::SessionStart { compacted } => {
            // After a compaction the agent gets back what it was shown before.
            let lost = compacted.then(|| open_shown_log(reader, &message.host_session).read_lost());
            let reinject = shown_memory_ids(&lost.unwrap_or_default());
            let request = build_context_request("", *level);
            select_context(event, ContextRequest { host: message.host, reinject, ..request }).await
        }
        // They have no tier, so they do not get here.
        HookEvent::SessionEnd | HookEvent::Other => {
            Ok(Injection::silent_because(SilenceReason::EventWithoutNotes))
        }
    }
}

/// Builds the block for the start of a session or for a prompt.
async fn select_context(
    event: &EventContext<'_>,
    request: ContextRequest,
) -> Result<Injection, Error> {
    let request = exclude_shown(request, event.shown.clone());
    let context = build_start_context(event.reader, &request).await?;
    let silence = context.text.is_empty().then_some(SilenceReason::NoRelevantMemory);
    let (text, entries) = (context.text.clone(), context_entries(event.reader, &context));
    let memory_tokens = context_memory_tokens(&context);
    let context = Some(context);
    Ok(Injection { text, silence, context, entries, memory_tokens, ..Injection::silent() })
}

/// Selects a few warnings about touched files whose references exist, and computes notes about edited ones.
async fn select_warnings(event: &EventContext<'_>, paths: &[String]) -> Result<Injection, Error> {
    let EventContext { reader, message, level, shown } = event;
    let files = resolve_host_paths(reader, paths, &message.cwd);

    // All warnings about the files; the rest of the function limits them for this event.
    let found = find_file_warnings(reader, &files, &shown_memory_ids(shown)).await?;
    let WarningSelection { selected: candidates, mut excluded } = found;

    // Most files have no warning, and then the rule files need not be read.
    let rules = if candidates.is_empty() {
        HashSet::new()
    } else {
        rules_read_by_host(reader, message.host)
    };
    let mut selected: Vec<RatedMemory> = Vec::new();
    for rated in candidates {
        let rejection = if rules.contains(&rated.memory.content) {
            Some(RejectionReason::InHostRules)
        } else if !is_trusted(&rated, level.row().confidence_above) {
            Some(RejectionReason::BelowTrustLevel)
        } else if selected.len() == MAX_WARNINGS {
            Some(RejectionReason::BeyondLimit)
        } else {
            // Last, because it reads files.
            reject_missing_references(reader, &rated.memory).await
        };
        match rejection {
            Some(reason) => excluded.push((rated, reason)),
            None => selected.push(rated),
        }
    }
    let mut lines: Vec<String> =
        selected.iter().map(|it| format_capped(reader, &it.memory)).collect();
    let mut entries: Vec<ShownEntry> =
        selected.iter().flat_map(|it| memory_entries(reader, it.memory.id)).collect();
    // Statistics come after what was learned, within the same limit.
    let computed = compute_edit_notes(reader, message, *level, shown).await?;
    for (line, entry) in computed.into_iter().take(MAX_WARNINGS - selected.len()) {
        lines.push(line);
        entries.push(entry);
    }
    let warnings = Some(WarningSelection { selected, excluded });
    let mut injection = Injection { warnings, ..Injection::from_lines(&lines, entries) };

    // Files are recorded even if there is nothing to warn about: the next search looks around them.
    injection.entries.extend(first_touch_entries(&files, shown, reader.now));
    Ok(injection)
}

/// Converts paths as a host gives them into paths of the project. Paths outside are dropped.
pub(crate) fn resolve_host_paths(
    reader: &ProjectReader,
    paths: &[String],
    cwd: &str,
) -> Vec<ProjectPath> {
    let resolver = PathResolver::new(Some(&reader.place.root.to_string_lossy()), cwd);
    paths.iter().filter_map(|it| resolver.resolve(it)).collect()
}

/// The request for a prompt (`task`), or for the start of a session if `task` is empty.
fn build_context_request(task: &str, level: TrustLevel) -> ContextRequest {
    let (tokens, breadth) = if task.is_empty() {
        (START_TOKENS, MemoryBreadth::GeneralOnly)
    } else {
        (PROMPT_TOKENS, MemoryBreadth::All)
    };
    ContextRequest {
        task: task.to_owned(),
        token_budget: Some(tokens),
        breadth,
        min_confidence: level.row().confidence_above,
        ..ContextRequest::new(Phase::Implement)
    }
}

/// True if the output of a command can be an error. A command that only reads files prints their text,
/// which may quote any error.
fn may_have_failed(command: &str) -> bool {
    let only_reads = |it: &ShellEffect| {
        matches!(
            it,
            ShellEffect::Read(_)
                | ShellEffect::Search(_)
                | ShellEffect::List(_)
                | ShellEffect::Fetch(ContentChannel::VendoredFile)
        )
    };
    let effects = shell::find_effects(command);
    // A command that the parser does not know may do anything.
    effects.is_empty() || !effects.iter().all(only_reads)
}

/// The files that shell commands read or edit, and the texts they search for.
pub fn shell_files_and_searches(commands: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut files, mut searches) = (Vec::new(), Vec::new());
    for effect in commands.iter().flat_map(|it| shell::find_effects(it)) {
        match effect {
            ShellEffect::Read(path) | ShellEffect::Edit(path) => files.push(path),
            ShellEffect::Search(text) => searches.push(text),
            // The agent neither reads nor writes a file by these.
            ShellEffect::List(_)
            | ShellEffect::Test
            | ShellEffect::Check
            | ShellEffect::Commit
            | ShellEffect::Review
            | ShellEffect::Fetch(_)
            | ShellEffect::Restore(_)
            | ShellEffect::Other => {}
        }
    }
    (files, searches)
}
