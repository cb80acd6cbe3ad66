//! `waylore context`.

mod pipeline;
mod step;

use std::path::PathBuf;

use engine::{Context, Occasion, Omitted, PaidBy, Pipeline};
use model::Phase;
use serde_json::json;

use super::Session;
use super::answer::{AskingArgs, row, say_columns, say_verdict};
use crate::output::{DIM, visible};
use crate::wire::context::context_json;

/// Print what an agent should know, ready to paste
///
/// Only what nobody has doubts about, within a budget of tokens, each memory with its id. Says
/// nothing when nothing is worth saying; --explain shows why.
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

/// Print what an agent should know when it begins
///
/// With --task, what relates to it, and nothing when nothing does; without, what counts most, and what
/// failed in earlier sessions here.
#[derive(clap::Args, Debug)]
struct StartArgs {
    /// What is about to be done
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// A file at hand, whose warnings come first; may be given again
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    #[command(flatten)]
    packing: PackingArgs,
}

/// Print what an agent should know about some files
///
/// Gotchas, error patterns and dead ends come first.
#[derive(clap::Args, Debug)]
struct FileArgs {
    /// The files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    packing: PackingArgs,
}

/// Print the files a task will probably touch, likeliest first
///
/// From what past sessions and commits touched together, the words of the task, and the neighbourhood
/// of a file at hand. Empty when nothing is known.
#[derive(clap::Args, Debug)]
struct FilesArgs {
    /// What is about to be done
    #[arg(long, value_name = "TEXT")]
    task: String,
    /// A file at hand
    #[arg(short, long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Print what the siblings of a subagent have noted so far
///
/// Of sessions that are still going on and have the same parent. They are read, never written.
#[derive(clap::Args, Debug)]
struct SiblingsArgs {
    /// The subagent's own session
    #[arg(value_name = "SESSION")]
    session: model::SessionId,
}

/// How a context is packed.
#[derive(clap::Args, Debug)]
struct PackingArgs {
    /// At most this many tokens; what the phase asks for when not given
    #[arg(long, value_name = "N")]
    budget: Option<u32>,
    /// Whole texts instead of summaries
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    asking: AskingArgs,
}

impl PackingArgs {
    /// The occasion these options describe; a phase that nobody names is `usual`.
    fn occasion(
        &self,
        paths: &[PathBuf],
        usual: Phase,
        session: &Session<'_>,
    ) -> anyhow::Result<Occasion> {
        let mut res = Occasion::of(self.asking.phase()?.unwrap_or(usual));
        for path in paths {
            res.files.push(session.engine.path(path, &session.base)?);
        }
        (res.budget, res.full, res.without) = (self.budget, self.full, self.asking.without()?);
        Ok(res)
    }
}

pub(crate) async fn run(args: ContextArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let (context, packing) = match &args.which {
        WhichContext::Start(args) => {
            let mut occasion = args.packing.occasion(&args.file, Phase::Explore, session)?;
            occasion.task = args.task.clone().unwrap_or_default();
            (session.engine.context_start(&occasion).await?, &args.packing)
        }
        WhichContext::File(args) => {
            let occasion = args.packing.occasion(&args.paths, Phase::Implement, session)?;
            (session.engine.context_file(&occasion).await?, &args.packing)
        }
        WhichContext::Files(args) => return files(args, session).await,
        WhichContext::Siblings(args) => return siblings(args, session),
        WhichContext::Plan(args) => {
            args.about.context(Pipeline::Plan, String::new(), session).await?
        }
        WhichContext::Qa(args) => args.about.context(Pipeline::Qa, String::new(), session).await?,
        WhichContext::Recovery(args) => {
            args.about.context(Pipeline::Recovery, args.report()?, session).await?
        }
        WhichContext::Spec(args) => {
            args.about.context(Pipeline::Spec, String::new(), session).await?
        }
        WhichContext::Step(args) => return step::run(args, session).await,
    };
    for notice in &context.notices {
        session.output.warn(notice);
    }
    let code = u8::from(context.text.is_empty());
    let explain = packing.asking.explain;
    if session.output.json {
        session.output.data_json("context", context_json(&context, explain));
        return Ok(code);
    }
    if !context.text.is_empty() {
        session.output.line(context.text.trim_end());
    }
    if explain {
        render_reasons(&context, session);
    } else if context.text.is_empty() {
        session.output.say("nothing worth saying");
        if !context.left_out.is_empty() {
            session.output.hint("--explain shows what was left out, and why");
        }
    }
    Ok(code)
}

async fn files(args: &FilesArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let (engine, out) = (&session.engine, session.output);
    let first = args.file.as_ref().map(|it| engine.path(it, &session.base)).transpose()?;
    let first = first.as_ref().map(model::ProjectPath::as_str);
    let files = engine.files_for(&args.task, first, args.limit).await?;
    let costs = engine.read_costs(&files).await?;
    if out.json {
        out.data_json("files", json!({ "files": files, "costs": costs }));
    } else {
        for it in &files {
            out.line(&visible(it));
        }
        for (file, tokens) in &costs {
            out.hint(&format!("reading `{}` whole costs about {tokens} tokens", visible(file)));
        }
    }
    Ok(u8::from(files.is_empty()))
}

fn siblings(args: &SiblingsArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let notes = session.engine.sibling_notes(args.session)?;
    let out = session.output;
    if out.json {
        let row = |it: &engine::SiblingNote| json!({ "session": it.session, "type": it.note.kind.slug(), "content": it.note.content, "files": it.note.files });
        let rows: Vec<_> = notes.iter().map(row).collect();
        out.data_json("siblings", json!({ "notes": rows }));
    } else if !notes.is_empty() {
        out.line(&engine::framed_notes(&notes));
    }
    Ok(u8::from(notes.is_empty()))
}

fn render_reasons(context: &Context, session: &Session<'_>) {
    let out = session.output;
    out.say("");
    let Context { used, budget, phase, .. } = context;
    out.say(&format!("{used} of {budget} tokens, phase `{phase}`"));
    say_verdict(context.verdict, session);
    say_columns(session);
    for it in &context.placed {
        let paid = match it.paid_by {
            PaidBy::Share => "the share of its type",
            PaidBy::Rest => "what others left",
        };
        out.say(&format!("{}  {} tokens from {paid}", row(&it.hit), it.cost));
    }
    for (hit, why) in &context.left_out {
        let detail = match why {
            Omitted::OverBudget { cost, left } => format!(" ({cost} tokens, {left} left)"),
            Omitted::PassedOver(_) => String::new(),
        };
        out.say(&format!("{DIM}{}  {}{detail}{DIM:#}", row(hit), why.reading()));
    }
}
