//! `waylore search`.

use super::CommandSession;
use super::answer::{AskingArgs, explain_results, format_reasons};
use super::list::ListFilterArgs;
use super::shared::{format_memory, text_or_stdin};
use crate::output::DIM_STYLE;
use crate::wire::JsonDetail;
use crate::wire::answer::answer_json;

/// Search memories by meaning and keywords
///
/// Accepts questions, keywords and identifiers (`jwt` finds `verifyJwt`). Prints nothing if nothing is relevant;
/// --explain shows all candidates with their scores.
#[derive(clap::Args, Debug)]
pub(crate) struct SearchArgs {
    /// Search text
    #[arg(required = true)]
    words: Vec<String>,
    #[command(flatten)]
    which: ListFilterArgs,
    #[command(flatten)]
    asking: AskingArgs,
}

pub(crate) async fn run(args: SearchArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.words)?;
    let (filter, reach) = args.which.to_filter(session)?;
    let question = args.asking.search_query(text, filter, reach)?;
    let notice = session.project.embedding_indexer().embed_before_search().await;
    let mut answer = session.project.retriever().search(&question).await?;
    answer.notices.extend(notice);
    for notice in &answer.notices {
        session.output.warn(notice);
    }
    let code = u8::from(answer.hits.is_empty());
    if session.output.json {
        let body = answer_json(
            &question.text,
            &answer,
            JsonDetail::from_explain_flag(args.asking.explain),
        );
        session.output.data_json("hits", body);
        return Ok(code);
    }
    for hit in &answer.hits {
        let line = format_memory(&hit.rated, &session.settings.types);
        session
            .output
            .print_line(&format!("{line}  {DIM_STYLE}({}){DIM_STYLE:#}", format_reasons(hit)));
    }
    if args.asking.explain {
        explain_results(&answer, session);
    } else if answer.hits.is_empty() {
        session.output.say("nothing relevant");
        if !answer.excluded.is_empty() {
            session
                .output
                .hint("--explain shows the nearest candidates, --without abstain shows them all");
        }
    }
    Ok(code)
}
