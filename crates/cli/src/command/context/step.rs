//! `waylore context step`: what would be said between two steps.

use std::path::PathBuf;

use engine::StepAsked;
use model::{Timestamp, TrustLevel};

use crate::command::Session;
use crate::output::{DIM, visible};
use crate::wire::context::step_json;

/// Print what an agent would be told between two steps
///
/// At most one note: about a file just touched, something just recorded, something searched for that is
/// known, or the next step of a recipe. Nothing is noted as shown.
#[derive(clap::Args, Debug)]
pub(super) struct StepArgs {
    /// A file this step touched; may be given again
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// A file touched in an earlier step; may be given again
    #[arg(long, value_name = "PATH")]
    touched: Vec<PathBuf>,
    /// Something this step searched for; may be given again
    #[arg(long, value_name = "TEXT")]
    search: Vec<String>,
    /// What the session is about
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The step, counted from 1
    #[arg(long, value_name = "N", default_value_t = 5)]
    step: u32,
    /// The host's name for the session: what it was shown is not said again
    #[arg(long, value_name = "NAME", default_value = "")]
    session: String,
    /// The trust level; the project's when not given
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Notes recorded in the last so many seconds count as recorded in this step
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    recent: u32,
    /// Show what was left out, and why
    #[arg(long)]
    explain: bool,
}

pub(super) async fn run(args: &StepArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let (engine, out) = (&session.engine, session.output);
    let level = args.level.as_deref().unwrap_or(session.settings.get("trust.level"));
    let paths = |given: &[PathBuf]| -> Result<Vec<_>, engine::Error> {
        given.iter().map(|it| engine.path(it, &session.base)).collect()
    };
    let files = paths(&args.file)?;
    let mut touched = paths(&args.touched)?;
    touched.extend(files.iter().cloned());
    let asked = StepAsked {
        session: args.session.clone(),
        number: args.step,
        level: TrustLevel::parse(level).map_err(engine::Error::from)?,
        task: args.task.clone().unwrap_or_default(),
        files,
        touched,
        searches: args.search.clone(),
        since: Timestamp(session.environment.now.0 - i64::from(args.recent) * 1_000),
    };
    let context = engine.context_step(&asked).await?;
    let code = u8::from(context.text.is_empty());
    if out.json {
        out.data_json("step", step_json(&context, args.explain));
        return Ok(code);
    }
    if !context.text.is_empty() {
        out.line(context.text.trim_end());
    }
    if args.explain {
        out.say(&match context.ground {
            Some(ground) => format!("{} tokens: {}", context.used, ground.reading()),
            None => format!("nothing worth saying, {} tokens said before", context.spent),
        });
        for (offer, why) in &context.left_out {
            let text = visible(&offer.line);
            out.say(&format!("{DIM}{text}  {}{DIM:#}", why.reading()));
        }
    } else if context.text.is_empty() {
        out.say("nothing worth saying");
        if !context.left_out.is_empty() {
            out.hint("--explain shows what was left out, and why");
        }
    }
    Ok(code)
}
