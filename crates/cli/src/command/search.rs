//! `waylore search`.

use super::Session;
use super::answer::{AskingArgs, explain, reasons};
use super::list::Which;
use super::shared::{line, text_or_stdin};
use crate::output::DIM;
use crate::wire::answer::answer_json;

/// Find memories by what they mean and by their words
///
/// Ask as you would ask a colleague. `verifyJwt` is also found by `jwt`. Says nothing when nothing is
/// relevant; --explain shows what was looked at.
#[derive(clap::Args, Debug)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    words: Vec<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    asking: AskingArgs,
}

pub(crate) async fn run(args: SearchArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.words)?;
    let (filter, reach) = args.which.filter(session)?;
    let question = args.asking.question(text, filter, reach)?;
    let answer = session.engine.recall(&question).await?;
    for notice in &answer.notices {
        session.output.warn(notice);
    }
    let code = u8::from(answer.hits.is_empty());
    if session.output.json {
        let body = answer_json(&question.text, &answer, args.asking.explain);
        session.output.data_json("hits", body);
        return Ok(code);
    }
    for hit in &answer.hits {
        let line = line(&hit.shown, &session.settings.types);
        session.output.line(&format!("{line}  {DIM}({}){DIM:#}", reasons(hit)));
    }
    if args.asking.explain {
        explain(&answer, session);
    } else if answer.hits.is_empty() {
        session.output.say("nothing relevant");
        if !answer.passed_over.is_empty() {
            session
                .output
                .hint("--explain shows what came nearest, --without abstain shows it all");
        }
    }
    Ok(code)
}
