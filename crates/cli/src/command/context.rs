//! `waylore context`: prints the notes that an agent would get.
//!
//! A *hook* is the call of Waylore by an agent's host at an event (session start, prompt, touched file); an
//! *injection* is the text that it adds to the session. With the options that a hook has, `start` and `file`
//! preview the injection by the same code, but record nothing as shown to the session. With any other option
//! (`--budget`, `--phase`, `--full`, `--without`, `--all`) they build a [`ContextRequest`] of their own: the
//! memories to consider and the token budget to pack them into. The result of that is a [`ContextBlock`].

mod files;
mod pipeline;
mod siblings;
mod step;
mod warnings;

use std::path::PathBuf;

use engine::{
    BudgetSource, ContextBlock, ContextRequest, FilePrediction, HookEvent, HookMessage, Host,
    Injection, MIN_SIMILAR_SESSIONS, NoteDetail, OmissionReason, PipelineContext, SilenceReason,
};
use model::{Phase, TrustLevel};
use serde_json::json;

use super::query_output::{QueryArgs, format_hit, say_columns, say_verdict};
use super::{CommandContext, connect};
use crate::output::{DIM_STYLE, format_count};
use crate::wire::OutputDetail;
use crate::wire::context::context_json;

/// Print notes for an agent
///
/// Only live memories, within a token budget, each with its id. Prints nothing if there is nothing relevant; --explain
/// shows why.
#[derive(clap::Args, Debug)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    which: WhichContext,
}

impl ContextArgs {
    /// True if a text is read from standard input.
    pub(crate) fn reads_input(&self) -> bool {
        matches!(&self.which, WhichContext::Recovery(args) if args.reads_input())
    }
}

#[derive(clap::Subcommand, Debug)]
enum WhichContext {
    Start(StartArgs),
    File(FileArgs),
    Files(files::FilesArgs),
    Siblings(siblings::SiblingsArgs),
    Plan(pipeline::PlanArgs),
    Qa(pipeline::QaArgs),
    Recovery(pipeline::RecoveryArgs),
    Spec(pipeline::SpecArgs),
    Step(step::StepArgs),
}

/// Print the notes injected at session start
///
/// Exactly what a hook would inject, with --explain the reasons. With --task, notes related to it; without, general notes
/// and errors of earlier sessions. --budget, --phase, --full and --without deviate from the hook.
#[derive(clap::Args, Debug)]
struct StartArgs {
    /// The task
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Current file, whose warnings come first; repeatable
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    #[command(flatten)]
    hook_args: SimulatedHookArgs,
    #[command(flatten)]
    packing: PackingArgs,
}

impl StartArgs {
    /// True if a hook has the same options; it knows no current files at session start.
    fn matches_hook(&self) -> bool {
        self.file.is_empty() && self.packing.is_hook_default()
    }
}

/// Print the notes injected at files
///
/// Exactly what a hook would inject: a few gotchas, error patterns and dead ends of these files; with --explain the
/// reasons. With --all, everything about them within a budget, warnings first.
#[derive(clap::Args, Debug)]
struct FileArgs {
    /// Files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// All memories about the files
    #[arg(short, long)]
    all: bool,
    #[command(flatten)]
    hook_args: SimulatedHookArgs,
    #[command(flatten)]
    packing: PackingArgs,
}

impl FileArgs {
    /// True if a hook has the same options; it injects a few warnings, never all memories.
    fn matches_hook(&self) -> bool {
        !self.all && self.packing.is_hook_default()
    }
}

/// The session and trust level of a simulated hook.
#[derive(clap::Args, Debug)]
struct SimulatedHookArgs {
    /// Session id of the host; notes it has already seen are left out
    #[arg(long, value_name = "NAME", default_value = "")]
    session: String,
    /// Trust level [default: that of the project]
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Host that would get the notes; rules that it reads from its own rule file are left out [default: the first connected host]
    #[arg(long, value_name = "HOST", value_parser = connect::host_parser())]
    host: Option<&'static Host>,
}

impl SimulatedHookArgs {
    /// Name of the host that would get the notes; `None` if none is connected.
    fn host_name(&self, command: &CommandContext<'_>) -> Option<&'static str> {
        let host = self.host.or_else(|| connect::first_connected_host(&command.environment))?;
        Some(host.name)
    }

    /// The level that decides which events inject notes.
    fn trust_level(&self, command: &CommandContext<'_>) -> anyhow::Result<TrustLevel> {
        match &self.level {
            Some(word) => Ok(TrustLevel::parse(word).map_err(engine::Error::from)?),
            None => Ok(command.project.policy.injection.level),
        }
    }

    /// The injection of a hook at this event: the text, or the reason for silence, and how it was selected.
    async fn preview_injection(
        &self,
        event: HookEvent,
        command: &CommandContext<'_>,
    ) -> anyhow::Result<Injection> {
        let root = command.project.place.root.to_string_lossy().into_owned();
        let mut message = HookMessage::from_program(self.session.clone(), root, event);
        message.host = self.host_name(command);
        let injector = command.project.injector();
        // Memories written a moment ago have no vector yet; a failure is only a notice.
        let notice = if injector.has_search_text(&message) {
            command.project.embedding_indexer().embed_new_memories().await
        } else {
            None
        };
        let mut injection = injector.preview(&message, self.trust_level(command)?).await?;
        if let Some(context) = &mut injection.context {
            context.notices.extend(notice);
        }
        Ok(injection)
    }
}

/// Packing options.
#[derive(clap::Args, Debug)]
struct PackingArgs {
    /// Token budget [default: that of the phase]
    #[arg(long, value_name = "N")]
    budget: Option<u32>,
    /// Full texts instead of summaries
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    query_args: QueryArgs,
}

impl PackingArgs {
    /// True if the options match those of a hook.
    fn is_hook_default(&self) -> bool {
        self.budget.is_none() && !self.full && self.query_args.is_default()
    }

    /// The context request of these options about these files.
    fn context_request(
        &self,
        paths: &[PathBuf],
        default_phase: Phase,
        command: &CommandContext<'_>,
    ) -> anyhow::Result<ContextRequest> {
        let to_project_path = |it: &PathBuf| command.project.project_path(it, &command.base);
        let files: Result<Vec<_>, engine::Error> = paths.iter().map(to_project_path).collect();
        let phase = self.query_args.parse_phase()?.unwrap_or(default_phase);
        Ok(ContextRequest {
            files: files?,
            detail: if self.full { NoteDetail::Full } else { NoteDetail::Summary },
            token_budget: self.budget,
            disabled_stages: self.query_args.disabled_stages()?,
            ..ContextRequest::new(phase)
        })
    }
}

pub(crate) async fn run(args: ContextArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    // Most subcommands build a context, which is printed below with their options; the others print by
    // themselves and return.
    let (context, packing) = match &args.which {
        WhichContext::Start(args) if args.matches_hook() => {
            let event = match &args.task {
                Some(text) => HookEvent::Prompt { text: text.clone() },
                None => HookEvent::SessionStart { compacted: false },
            };
            let injection = args.hook_args.preview_injection(event, command).await?;
            match injection.context {
                Some(context) => (context, &args.packing),
                // The hook would not even search: the trust level forbids it, the session is in a trial
                // group without notes, or the prompt is too short.
                None => return Ok(print_silence_reason(&injection, command)),
            }
        }
        WhichContext::Start(args) => (start_context(args, command).await?, &args.packing),
        WhichContext::File(args) if args.matches_hook() => {
            return preview_file_notes(args, command).await;
        }
        WhichContext::File(args) => {
            let request = args.packing.context_request(&args.paths, Phase::Implement, command)?;
            (command.project.injector().file_context(&request).await?, &args.packing)
        }
        WhichContext::Files(args) => return files::run(args, command).await,
        WhichContext::Siblings(args) => return siblings::run(args, command),
        WhichContext::Plan(args) => {
            args.stage_args.pipeline_context(PipelineContext::Plan, String::new(), command).await?
        }
        WhichContext::Qa(args) => {
            args.stage_args.pipeline_context(PipelineContext::Qa, String::new(), command).await?
        }
        WhichContext::Recovery(args) => {
            let report = args.read_report()?;
            args.stage_args.pipeline_context(PipelineContext::Recovery, report, command).await?
        }
        WhichContext::Spec(args) => {
            args.stage_args.pipeline_context(PipelineContext::Spec, String::new(), command).await?
        }
        WhichContext::Step(args) => return step::run(args, command).await,
    };
    let detail = OutputDetail::from_explain_flag(packing.query_args.explain);
    Ok(print_context(&context, detail, command))
}

/// The context at session start, with options that a hook does not have.
async fn start_context(
    args: &StartArgs,
    command: &CommandContext<'_>,
) -> anyhow::Result<ContextBlock> {
    let mut request = args.packing.context_request(&args.file, Phase::Explore, command)?;
    request.task = args.task.clone().unwrap_or_default();
    let notice = embed_if_searching(&request, command).await;
    let mut context = command.project.injector().start_context(&request).await?;
    context.notices.extend(notice);
    Ok(context)
}

/// Prints what a hook would inject at these files.
async fn preview_file_notes(args: &FileArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let mut paths = Vec::new();
    for path in &args.paths {
        let project_path = command.project.project_path(path, &command.base)?;
        paths.push(project_path.as_str().to_owned());
    }
    let event = HookEvent::FilesTouched { paths };
    let injection = args.hook_args.preview_injection(event, command).await?;
    let detail = OutputDetail::from_explain_flag(args.packing.query_args.explain);
    Ok(warnings::print_warnings(&injection, detail, command))
}

/// Prints a context; exit code 1 if it is empty.
fn print_context(context: &ContextBlock, detail: OutputDetail, command: &CommandContext<'_>) -> u8 {
    for notice in &context.notices {
        command.output.warn(notice);
    }
    let code = u8::from(context.text.is_empty());
    if command.output.json {
        command.output.print_json("context", context_json(context, detail));
        return code;
    }
    if !context.text.is_empty() {
        command.output.print_verbatim(context.text.trim_end());
    }
    if detail == OutputDetail::Explained {
        print_reasons(context, command);
    } else if context.text.is_empty() {
        command.output.say("nothing relevant");
        if !context.omitted.is_empty() {
            command.output.hint("--explain shows what was left out, and why");
        }
    }
    code
}

/// Embeds new memories if the request searches by text. Returns a notice if that failed.
async fn embed_if_searching(
    request: &ContextRequest,
    command: &CommandContext<'_>,
) -> Option<String> {
    if !request.has_search_text() {
        return None;
    }
    command.project.embedding_indexer().embed_new_memories().await
}

/// Prints the reason for an empty injection.
fn print_silence_reason(injection: &Injection, command: &CommandContext<'_>) -> u8 {
    let silence = injection.silence.unwrap_or(SilenceReason::NoRelevantMemory);
    if command.output.json {
        command.output.print_json("context", json!({ "text": "", "silence": silence.slug() }));
    } else {
        command.output.say(silence.description());
    }
    1
}

/// The reason for predicted files, or for none.
fn describe_prediction(prediction: &FilePrediction) -> String {
    // `n_similar` of the `n_known` past sessions had a similar task.
    let FilePrediction { files, n_similar, n_known } = prediction;
    let sessions = format_count(*n_known as usize, "session", "sessions");
    if *n_similar < MIN_SIMILAR_SESSIONS {
        format!(
            "no files predicted: {n_similar} of {sessions} had a similar task, {MIN_SIMILAR_SESSIONS} are required"
        )
    } else if files.is_empty() {
        format!("no files predicted: the {n_similar} of {sessions} with a similar task share none")
    } else {
        let files = format_count(files.len(), "file is", "files are");
        format!(
            "{files} predicted: most of the {n_similar} of {sessions} with a similar task opened them"
        )
    }
}

/// Prints budget, verdict and scores of a context, and why memories were left out.
fn print_reasons(context: &ContextBlock, command: &CommandContext<'_>) {
    let out = command.output;
    out.say("");
    let ContextBlock { used_tokens: used, token_budget: budget, phase, .. } = context;
    out.say(&format!("{used} of {budget} tokens, phase `{phase}`"));
    say_verdict(context.verdict, command);
    if let Some(prediction) = &context.predicted_files {
        out.say(&describe_prediction(prediction));
    }
    say_columns(command);
    for it in &context.placed {
        // Each kind of memory has a share of the budget; what a kind does not use goes to the others.
        let paid = match it.paid_by {
            BudgetSource::Share => "the share of its kind",
            BudgetSource::Rest => "unused shares",
        };
        out.say(&format!("{}  {} tokens from {paid}", format_hit(&it.hit), it.tokens));
    }
    for (hit, why) in &context.omitted {
        let detail = match why {
            OmissionReason::OverBudget { cost, left } => format!(" ({cost} tokens, {left} left)"),
            OmissionReason::Excluded(_) => String::new(),
        };
        out.say(&format!(
            "{DIM_STYLE}{}  {}{detail}{DIM_STYLE:#}",
            format_hit(hit),
            why.description()
        ));
    }
}
