//! `waylore context`.

mod pipeline;
mod step;

use std::path::PathBuf;

use engine::{
    BudgetSource, ContextBlock, ContextRequest, FilePrediction, HookEvent, HookMessage, Injection,
    MIN_SIMILAR_SESSIONS, NoteDetail, OmissionReason, PipelineContext, RatedMemory, SilenceReason,
};
use model::{Phase, TrustLevel};
use serde_json::json;

use super::CommandSession;
use super::answer::{AskingArgs, format_hit, say_columns, say_verdict};
use crate::output::{DIM_STYLE, escape_controls, format_count};
use crate::wire::context::context_json;
use crate::wire::{JsonDetail, MemoryWire};

/// Print notes for an agent
///
/// Only live memories, within a token budget, each with its id. Prints nothing if there is nothing relevant; --explain
/// shows why.
#[derive(clap::Args, Debug)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    which: WhichContext,
}

#[derive(clap::Subcommand, Debug)]
enum WhichContext {
    Start(StartArgs),
    File(FileArgs),
    Files(FilesArgs),
    Siblings(SiblingsArgs),
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
    listener: HookListener,
    #[command(flatten)]
    packing: PackingArgs,
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
    listener: HookListener,
    #[command(flatten)]
    packing: PackingArgs,
}

/// The session and trust level to simulate.
#[derive(clap::Args, Debug)]
struct HookListener {
    /// Session id of the host; notes it has already seen are left out
    #[arg(long, value_name = "NAME", default_value = "")]
    session: String,
    /// Trust level [default: that of the project]
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
}

impl HookListener {
    fn trust_level(&self, session: &CommandSession<'_>) -> anyhow::Result<TrustLevel> {
        match &self.level {
            Some(word) => Ok(TrustLevel::parse(word).map_err(engine::Error::from)?),
            None => Ok(session.project.policy.injection.level),
        }
    }

    /// The injection of a hook at this event.
    async fn preview_injection(
        &self,
        event: HookEvent,
        session: &CommandSession<'_>,
    ) -> Result<Injection, anyhow::Error> {
        let root = session.project.place.root.to_string_lossy().into_owned();
        let message = HookMessage::from_program(self.session.clone(), root, event);
        let (injector, level) = (session.project.injector(), self.trust_level(session)?);
        let notice = if injector.has_search_text(&message) {
            session.project.embedding_indexer().embed_before_search().await
        } else {
            None
        };
        let mut injection = injector.preview(&message, level).await?;
        injection.context.iter_mut().for_each(|it| it.notices.extend(notice.clone()));
        Ok(injection)
    }
}

/// Predict the files of a task, most likely first
///
/// From past sessions, commits, the words of the task and the neighbours of a known file. Empty if nothing is known.
#[derive(clap::Args, Debug)]
struct FilesArgs {
    /// The task
    #[arg(long, value_name = "TEXT")]
    task: String,
    /// A file that is already known
    #[arg(short, long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Most files to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Print the notes of a subagent's siblings
///
/// Notes of running sessions with the same parent session.
#[derive(clap::Args, Debug)]
struct SiblingsArgs {
    /// Session of the subagent
    #[arg(value_name = "SESSION")]
    session: model::SessionId,
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
    asking: AskingArgs,
}

impl PackingArgs {
    /// True if the options match those of a hook.
    fn is_plain(&self) -> bool {
        self.budget.is_none() && !self.full && self.asking.is_plain()
    }

    /// The context request of these options; `usual` is the default phase.
    fn context_request(
        &self,
        paths: &[PathBuf],
        usual: Phase,
        session: &CommandSession<'_>,
    ) -> anyhow::Result<ContextRequest> {
        let mut res = ContextRequest::new(self.asking.parse_phase()?.unwrap_or(usual));
        for path in paths {
            res.files.push(session.project.project_path(path, &session.base)?);
        }
        res.detail = if self.full { NoteDetail::Full } else { NoteDetail::Summary };
        (res.token_budget, res.disabled_stages) = (self.budget, self.asking.disabled_stages()?);
        Ok(res)
    }
}

pub(crate) async fn run(args: ContextArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let (context, packing) = match &args.which {
        WhichContext::Start(args) if args.packing.is_plain() && args.file.is_empty() => {
            let event = match &args.task {
                Some(text) => HookEvent::Prompt { text: text.clone() },
                None => HookEvent::SessionStart { compacted: false },
            };
            let injection = args.listener.preview_injection(event, session).await?;
            match injection.context {
                Some(context) => (context, &args.packing),
                None => return Ok(print_silence(&injection, session)),
            }
        }
        WhichContext::Start(args) => (start_context(args, session).await?, &args.packing),
        WhichContext::File(args) if !args.all && args.packing.is_plain() => {
            return preview_file_notes(args, session).await;
        }
        WhichContext::File(args) => {
            let request = args.packing.context_request(&args.paths, Phase::Implement, session)?;
            (session.project.injector().file_context(&request).await?, &args.packing)
        }
        WhichContext::Files(args) => return print_files(args, session).await,
        WhichContext::Siblings(args) => return print_siblings(args, session),
        WhichContext::Plan(args) => {
            args.about.pipeline_context(PipelineContext::Plan, String::new(), session).await?
        }
        WhichContext::Qa(args) => {
            args.about.pipeline_context(PipelineContext::Qa, String::new(), session).await?
        }
        WhichContext::Recovery(args) => {
            let report = args.read_report()?;
            args.about.pipeline_context(PipelineContext::Recovery, report, session).await?
        }
        WhichContext::Spec(args) => {
            args.about.pipeline_context(PipelineContext::Spec, String::new(), session).await?
        }
        WhichContext::Step(args) => return step::run(args, session).await,
    };
    let detail = JsonDetail::from_explain_flag(packing.asking.explain);
    Ok(print_context(&context, detail, session))
}

/// The context at session start with options that a hook does not have.
async fn start_context(
    args: &StartArgs,
    session: &CommandSession<'_>,
) -> anyhow::Result<ContextBlock> {
    let mut request = args.packing.context_request(&args.file, Phase::Explore, session)?;
    request.task = args.task.clone().unwrap_or_default();
    let notice = embed_before(&request, session).await;
    let mut context = session.project.injector().start_context(&request).await?;
    context.notices.extend(notice);
    Ok(context)
}

/// Prints what a hook would inject at these files.
async fn preview_file_notes(args: &FileArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let paths: Result<Vec<_>, engine::Error> =
        args.paths.iter().map(|it| session.project.project_path(it, &session.base)).collect();
    let paths = paths?.iter().map(|it| it.as_str().to_owned()).collect();
    let event = HookEvent::FilesTouched { paths };
    let injection = args.listener.preview_injection(event, session).await?;
    let detail = JsonDetail::from_explain_flag(args.packing.asking.explain);
    Ok(print_warnings(&injection, detail, session))
}

/// Prints a context; exit code 1 if it is empty.
fn print_context(context: &ContextBlock, detail: JsonDetail, session: &CommandSession<'_>) -> u8 {
    for notice in &context.notices {
        session.output.warn(notice);
    }
    let code = u8::from(context.text.is_empty());
    if session.output.json {
        session.output.data_json("context", context_json(context, detail));
        return code;
    }
    if !context.text.is_empty() {
        session.output.print_line(context.text.trim_end());
    }
    if detail == JsonDetail::Explained {
        render_reasons(context, session);
    } else if context.text.is_empty() {
        session.output.say("nothing relevant");
        if !context.omitted.is_empty() {
            session.output.hint("--explain shows what was left out, and why");
        }
    }
    code
}

/// Embeds new memories if the request searches by text. Returns a notice if that failed.
async fn embed_before(request: &ContextRequest, session: &CommandSession<'_>) -> Option<String> {
    if !request.has_search_text() {
        return None;
    }
    session.project.embedding_indexer().embed_before_search().await
}

/// Prints the reason for an empty injection.
fn print_silence(injection: &Injection, session: &CommandSession<'_>) -> u8 {
    let silence = injection.silence.unwrap_or(SilenceReason::NoRelevantMemory);
    if session.output.json {
        session.output.data_json("context", json!({ "text": "", "silence": silence.slug() }));
    } else {
        session.output.say(silence.description());
    }
    1
}

/// Prints warnings about files, and the reasons for excluded ones.
fn print_warnings(injection: &Injection, detail: JsonDetail, session: &CommandSession<'_>) -> u8 {
    let explain = detail == JsonDetail::Explained;
    let (out, code) = (session.output, u8::from(injection.text.is_empty()));
    let Some(warned) = &injection.warnings else { return print_silence(injection, session) };
    if out.json {
        let row = |it: &RatedMemory| json!({ "memory": MemoryWire::from(&it.memory), "current": it.current_confidence.as_fraction() });
        let mut res = json!({ "text": injection.text, "silence": injection.silence.map(SilenceReason::slug),
            "selected": warned.selected.iter().map(row).collect::<Vec<_>>() });
        if explain {
            let left_out = warned.excluded.iter().map(|(it, why)| {
                let mut res = row(it);
                res["why"] = json!(why.slug());
                res
            });
            res["omitted"] = left_out.collect();
        }
        out.data_json("context", res);
        return code;
    }
    if !injection.text.is_empty() {
        out.print_line(injection.text.trim_end());
    }
    let format_line = |it: &RatedMemory| {
        let (id, sure) = (it.memory.id.short(), it.current_confidence);
        format!("#{id}  {}  {}", sure, escape_controls(&it.memory.summary))
    };
    if explain {
        out.say(injection.silence.map_or("injected, with confidence:", SilenceReason::description));
        warned.selected.iter().for_each(|it| out.say(&format_line(it)));
        for (it, why) in &warned.excluded {
            out.say(&format!("{DIM_STYLE}{}  {}{DIM_STYLE:#}", format_line(it), why.description()));
        }
    } else if injection.text.is_empty() {
        out.say("nothing relevant");
        if !warned.excluded.is_empty() {
            out.hint("--explain shows what was left out, and why");
        }
    }
    code
}

async fn print_files(args: &FilesArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let (engine, out) = (&session.project, session.output);
    let first = args.file.as_ref().map(|it| engine.project_path(it, &session.base)).transpose()?;
    let first = first.as_ref().map(model::ProjectPath::as_str);
    let files = engine.session_history().rank_task_files(&args.task, first, args.limit).await?;
    let costs = engine.session_history().read_costs(&files).await?;
    if out.json {
        out.data_json("files", json!({ "files": files, "costs": costs }));
    } else {
        for it in &files {
            out.print_line(&escape_controls(it));
        }
        for (file, tokens) in &costs {
            out.hint(&format!(
                "reading `{}` whole costs about {tokens} tokens",
                escape_controls(file)
            ));
        }
    }
    Ok(u8::from(files.is_empty()))
}

fn print_siblings(args: &SiblingsArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let notes = session.project.session_history().sibling_notes(args.session)?;
    let out = session.output;
    if out.json {
        let row = |it: &engine::SiblingNote| json!({ "session": it.session, "type": it.note.kind.slug(), "content": it.note.content, "files": it.note.files });
        let rows: Vec<_> = notes.iter().map(row).collect();
        out.data_json("siblings", json!({ "notes": rows }));
    } else if !notes.is_empty() {
        out.print_line(&engine::frame_sibling_notes(&notes));
    }
    Ok(u8::from(notes.is_empty()))
}

/// Prints the reasons for predicted files, or for none.
fn said_of_files(it: &FilePrediction) -> String {
    let FilePrediction { files, n_similar: alike, n_known: known } = it;
    let of = format_count(*known as usize, "session", "sessions");
    if *alike < MIN_SIMILAR_SESSIONS {
        format!(
            "no files predicted: {alike} of {of} had a similar task, {MIN_SIMILAR_SESSIONS} are required"
        )
    } else if files.is_empty() {
        format!("no files predicted: the {alike} of {of} with a similar task share none")
    } else {
        let named = format_count(files.len(), "file is", "files are");
        format!("{named} predicted: most of the {alike} of {of} with a similar task opened them")
    }
}

fn render_reasons(context: &ContextBlock, session: &CommandSession<'_>) {
    let out = session.output;
    out.say("");
    let ContextBlock { used_tokens: used, token_budget: budget, phase, .. } = context;
    out.say(&format!("{used} of {budget} tokens, phase `{phase}`"));
    say_verdict(context.verdict, session);
    if let Some(it) = &context.predicted_files {
        out.say(&said_of_files(it));
    }
    say_columns(session);
    for it in &context.placed {
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
