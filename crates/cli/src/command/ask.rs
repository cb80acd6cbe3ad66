//! `waylore ask`.

use super::Session;
use super::answer::{AskingArgs, explain, reasons};
use super::list::Which;
use super::shared::{line, text_or_stdin};
use crate::output::DIM;
use crate::wire::answer::reply_json;

/// Ask a question and get an answer with its evidence
///
/// Where a text provider is configured, the answer is written from the evidence and names it;
/// otherwise the evidence is the answer. When nothing is relevant, nothing is sent anywhere.
#[derive(clap::Args, Debug)]
pub(crate) struct AskArgs {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    asking: AskingArgs,
}

pub(crate) async fn run(args: AskArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.question)?;
    let (filter, reach) = args.which.filter(session)?;
    let question = args.asking.question(text, filter, reach)?;
    let reply = session.engine.ask(&question).await?;
    for notice in &reply.answer.notices {
        session.output.warn(notice);
    }
    let code = u8::from(reply.answer.hits.is_empty());
    if session.output.json {
        let body = reply_json(&question.text, &reply, args.asking.explain);
        session.output.data_json("reply", body);
        return Ok(code);
    }
    if let Some(prose) = &reply.prose {
        session.output.line(&prose.text);
        session.output.line("");
    }
    for hit in &reply.answer.hits {
        let line = line(&hit.shown, &session.settings.types);
        session.output.line(&format!("{line}  {DIM}({}){DIM:#}", reasons(hit)));
    }
    if args.asking.explain {
        explain(&reply.answer, session);
    } else if reply.answer.hits.is_empty() {
        session.output.say("nothing that is remembered answers this");
    }
    Ok(code)
}
