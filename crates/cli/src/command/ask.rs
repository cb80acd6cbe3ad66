//! `waylore ask`.

use super::CommandSession;
use super::answer::{AskingArgs, explain_results, format_reasons};
use super::list::ListFilterArgs;
use super::shared::{format_memory, text_or_stdin};
use crate::output::DIM_STYLE;
use crate::wire::JsonDetail;
use crate::wire::answer::reply_json;

/// Ask a question and get an answer with its evidence
///
/// With a text provider, the answer is generated from the memories found and cites them; without one, the memories are
/// printed. If nothing is relevant, nothing is sent.
#[derive(clap::Args, Debug)]
pub(crate) struct AskArgs {
    /// Question
    #[arg(required = true)]
    question: Vec<String>,
    #[command(flatten)]
    which: ListFilterArgs,
    #[command(flatten)]
    asking: AskingArgs,
}

pub(crate) async fn run(args: AskArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.question)?;
    let (filter, reach) = args.which.to_filter(session)?;
    let question = args.asking.search_query(text, filter, reach)?;
    let notice = session.project.embedding_indexer().embed_before_search().await;
    let mut reply = session.project.retriever().ask(&question).await?;
    reply.results.notices.extend(notice);
    for notice in &reply.results.notices {
        session.output.warn(notice);
    }
    let code = u8::from(reply.results.hits.is_empty());
    if session.output.json {
        let body =
            reply_json(&question.text, &reply, JsonDetail::from_explain_flag(args.asking.explain));
        session.output.data_json("reply", body);
        return Ok(code);
    }
    if let Some(prose) = &reply.generated {
        session.output.print_line(&prose.text);
        session.output.print_line("");
    }
    for hit in &reply.results.hits {
        let line = format_memory(&hit.rated, &session.settings.types);
        session
            .output
            .print_line(&format!("{line}  {DIM_STYLE}({}){DIM_STYLE:#}", format_reasons(hit)));
    }
    if args.asking.explain {
        explain_results(&reply.results, session);
    } else if reply.results.hits.is_empty() {
        session.output.say("no memory answers this");
    }
    Ok(code)
}
