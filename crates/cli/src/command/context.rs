//! `waylore context`.

mod pipeline;
mod step;

use std::path::PathBuf;

use engine::{
    Context, FEWEST_ALIKE, Foreseen, Heard, Moment, Occasion, Omitted, PaidBy, Pipeline, Shown,
    Silence, Telling,
};
use model::{Phase, TrustLevel};
use serde_json::json;

use super::Session;
use super::answer::{AskingArgs, row, say_columns, say_verdict};
use crate::output::{DIM, count, visible};
use crate::wire::MemoryWire;
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

/// Print what an agent is told when it begins
///
/// What a hook would say, word by word, and with --explain why, or why nothing. With --task, what relates to
/// it; without, what counts whatever is done, and what failed in earlier sessions here. --budget, --phase,
/// --full and --without ask for something else than a hook would say.
#[derive(clap::Args, Debug)]
struct StartArgs {
    /// What is about to be done
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// A file at hand, whose warnings come first; may be given again
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    #[command(flatten)]
    listener: Listener,
    #[command(flatten)]
    packing: PackingArgs,
}

/// Print what an agent is told when it touches some files
///
/// What a hook would say, word by word: a few gotchas, error patterns and dead ends of these very files; and
/// with --explain why, or why nothing. With --all, everything that is known about them, warnings first, within
/// a budget.
#[derive(clap::Args, Debug)]
struct FileArgs {
    /// The files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Everything that is known about them
    #[arg(short, long)]
    all: bool,
    #[command(flatten)]
    listener: Listener,
    #[command(flatten)]
    packing: PackingArgs,
}

/// Who would be told.
#[derive(clap::Args, Debug)]
struct Listener {
    /// The host's name for the session: what it was shown is not said again
    #[arg(long, value_name = "NAME", default_value = "")]
    session: String,
    /// The trust level; the project's when not given
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
}

impl Listener {
    fn level(&self, session: &Session<'_>) -> anyhow::Result<TrustLevel> {
        match &self.level {
            Some(word) => Ok(TrustLevel::parse(word).map_err(engine::Error::from)?),
            None => Ok(session.engine.manners.level),
        }
    }

    /// What a hook would say at this moment.
    async fn telling(
        &self,
        moment: Moment,
        session: &Session<'_>,
    ) -> Result<Telling, anyhow::Error> {
        let heard = Heard {
            host: None,
            event: String::new(),
            session: self.session.clone(),
            cwd: session.engine.place.root.to_string_lossy().into_owned(),
            transcript: None,
            moment,
        };
        Ok(session.engine.telling(&heard, self.level(session)?).await?)
    }
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
    /// Whether nothing is asked for that a hook would not say.
    fn is_plain(&self) -> bool {
        self.budget.is_none() && !self.full && self.asking.is_plain()
    }

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
        WhichContext::Start(args) if args.packing.is_plain() && args.file.is_empty() => {
            let moment = match &args.task {
                Some(text) => Moment::Prompt { text: text.clone() },
                None => Moment::Start { compacted: false },
            };
            let telling = args.listener.telling(moment, session).await?;
            match telling.context {
                Some(context) => (context, &args.packing),
                None => return Ok(silent(&telling, session)),
            }
        }
        WhichContext::Start(args) => {
            let mut occasion = args.packing.occasion(&args.file, Phase::Explore, session)?;
            occasion.task = args.task.clone().unwrap_or_default();
            (session.engine.context_start(&occasion).await?, &args.packing)
        }
        WhichContext::File(args) if !args.all && args.packing.is_plain() => {
            let paths: Result<Vec<_>, engine::Error> =
                args.paths.iter().map(|it| session.engine.path(it, &session.base)).collect();
            let paths = paths?.iter().map(|it| it.as_str().to_owned()).collect();
            let telling = args.listener.telling(Moment::Touched { paths }, session).await?;
            return Ok(warned(&telling, args.packing.asking.explain, session));
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

/// Says why a hook would say nothing.
fn silent(telling: &Telling, session: &Session<'_>) -> u8 {
    let silence = telling.silence.unwrap_or(Silence::Nothing);
    if session.output.json {
        session.output.data_json("context", json!({ "text": "", "silence": silence.slug() }));
    } else {
        session.output.say(silence.reading());
    }
    1
}

/// Warnings about files, and why others are none.
fn warned(telling: &Telling, explain: bool, session: &Session<'_>) -> u8 {
    let (out, code) = (session.output, u8::from(telling.text.is_empty()));
    let Some(warned) = &telling.warned else { return silent(telling, session) };
    if out.json {
        let row = |it: &Shown| json!({ "memory": MemoryWire::from(&it.memory), "current": it.current.fraction() });
        let mut res = json!({ "text": telling.text, "silence": telling.silence.map(Silence::slug),
            "said": warned.said.iter().map(row).collect::<Vec<_>>() });
        if explain {
            let left_out = warned.left_out.iter().map(|(it, why)| {
                let mut res = row(it);
                res["why"] = json!(why.slug());
                res
            });
            res["left_out"] = left_out.collect();
        }
        out.data_json("context", res);
        return code;
    }
    if !telling.text.is_empty() {
        out.line(telling.text.trim_end());
    }
    let told = |it: &Shown| {
        let (id, sure) = (it.memory.id.short(), it.current);
        format!("#{id}  {}  {}", sure, visible(&it.memory.summary))
    };
    if explain {
        out.say(telling.silence.map_or("said, with how sure it is:", Silence::reading));
        warned.said.iter().for_each(|it| out.say(&told(it)));
        for (it, why) in &warned.left_out {
            out.say(&format!("{DIM}{}  {}{DIM:#}", told(it), why.reading()));
        }
    } else if telling.text.is_empty() {
        out.say("nothing worth saying");
        if !warned.left_out.is_empty() {
            out.hint("--explain shows what was left out, and why");
        }
    }
    code
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

/// Why files are named, or none.
fn said_of_files(it: &Foreseen) -> String {
    let Foreseen { files, alike, known } = it;
    let of = count(*known as usize, "session", "sessions");
    if *alike < FEWEST_ALIKE {
        format!("no files are named: {alike} of {of} did such work, {FEWEST_ALIKE} are needed")
    } else if files.is_empty() {
        format!("no files are named: the {alike} of {of} that did such work agree on none")
    } else {
        let named = count(files.len(), "file is", "files are");
        format!("{named} named: most of the {alike} of {of} that did such work opened them")
    }
}

fn render_reasons(context: &Context, session: &Session<'_>) {
    let out = session.output;
    out.say("");
    let Context { used, budget, phase, .. } = context;
    out.say(&format!("{used} of {budget} tokens, phase `{phase}`"));
    say_verdict(context.verdict, session);
    if let Some(it) = &context.foreseen {
        out.say(&said_of_files(it));
    }
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
