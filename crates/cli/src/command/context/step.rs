//! `waylore context step`: previews the note that a hook (the call of Waylore by an agent's host) would inject
//! between two steps of the agent. The options describe the step: its number, files and searches. The engine
//! selects at most one note, and lists the candidates that it withheld with the reasons.

use std::path::PathBuf;

use engine::StepRequest;
use model::{Timestamp, TrustLevel};

use crate::command::CommandContext;
use crate::output::{DIM_STYLE, escape_controls};
use crate::wire::OutputDetail;
use crate::wire::context::step_json;

/// Print the note injected between two steps
///
/// At most one note: about a touched file, a recorded note, a known answer to a search, or the next step of a recipe. It
/// is not recorded as shown.
#[derive(clap::Args, Debug)]
pub(super) struct StepArgs {
    /// File touched in this step; repeatable
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// File touched in an earlier step; repeatable
    #[arg(long, value_name = "PATH")]
    touched: Vec<PathBuf>,
    /// Search of this step; repeatable
    #[arg(long, value_name = "TEXT")]
    search: Vec<String>,
    /// Task of the session
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Number of the step, counted from 1
    #[arg(long, value_name = "N", default_value_t = 5)]
    step: u32,
    /// Session id of the host; notes it has already seen are left out
    #[arg(long, value_name = "NAME", default_value = "")]
    session: String,
    /// Trust level [default: that of the project]
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Age in seconds up to which notes count as recorded in this step
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    recent: u32,
    /// Show withheld notes with their reasons
    #[arg(long)]
    explain: bool,
}

pub(super) async fn run(args: &StepArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let (project, out) = (&command.project, command.output);
    let level = args.level.as_deref().unwrap_or(command.settings.get("trust.level"));
    let to_project_paths = |paths: &[PathBuf]| -> Result<Vec<_>, engine::Error> {
        paths.iter().map(|it| project.project_path(it, &command.base)).collect()
    };
    let step_files = to_project_paths(&args.file)?;
    // The files of the session include those of this step.
    let mut session_files = to_project_paths(&args.touched)?;
    session_files.extend(step_files.iter().cloned());
    let step = StepRequest {
        session: args.session.clone(),
        session_id: engine::derive_session_id(&args.session),
        host: String::new(),
        step_number: args.step,
        trust_level: TrustLevel::parse(level).map_err(engine::Error::from)?,
        task: args.task.clone().unwrap_or_default(),
        step_files,
        session_files,
        searches: args.search.clone(),
        // Times are in milliseconds.
        notes_since: Timestamp(command.environment.now.0 - i64::from(args.recent) * 1_000),
    };
    // Unlike a hook, this does not record the note as shown.
    let context = project.injector().step_context(&step).await?;
    let code = u8::from(context.text.is_empty());
    if out.json {
        out.print_json("step", step_json(&context, OutputDetail::from_explain_flag(args.explain)));
        return Ok(code);
    }
    if !context.text.is_empty() {
        out.print_line(context.text.trim_end());
    }
    if args.explain {
        out.say(&match context.reason {
            Some(reason) => format!("{} tokens: {}", context.used_tokens, reason.description()),
            None => format!("nothing relevant, {} tokens injected before", context.spent_tokens),
        });
        for (candidate, why) in &context.withheld {
            let text = escape_controls(&candidate.line);
            out.say(&format!("{DIM_STYLE}{text}  {}{DIM_STYLE:#}", why.description()));
        }
    } else if context.text.is_empty() {
        out.say("nothing relevant");
        if !context.withheld.is_empty() {
            out.hint("--explain shows what was left out, and why");
        }
    }
    Ok(code)
}
