//! `waylore ask`: a search whose hits a text model turns into an answer. Without a text provider (a model that
//! the user configured) it prints the hits like `search`.

use super::CommandContext;
use super::list::MemoryFilterArgs;
use super::query_output::{QueryArgs, explain_results, print_hits, say_nearest, say_symbols_named};
use super::shared::{names_stdin, text_or_stdin};
use crate::wire::OutputDetail;
use crate::wire::search_results::answered_json;

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
    filter_args: MemoryFilterArgs,
    #[command(flatten)]
    query_args: QueryArgs,
}

impl AskArgs {
    /// True if the text is asked for or read from standard input.
    pub(crate) fn reads_input(&self) -> bool {
        names_stdin(&self.question)
    }
}

pub(crate) async fn run(args: AskArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.question)?;
    let (filter, notebook_scope) = args.filter_args.to_filter(command)?;
    let query = args.query_args.search_query(text, filter, notebook_scope)?;
    // Memories written a moment ago have no vector yet; a failure is only a notice.
    let notice = command.project.embedding_indexer().embed_new_memories().await;
    let mut answer = command.project.retriever().ask(&query).await?;
    answer.results.notices.extend(notice);
    for notice in &answer.results.notices {
        command.output.warn(notice);
    }
    let code = u8::from(answer.results.hits.is_empty());
    if command.output.json {
        let detail = OutputDetail::from_explain_flag(args.query_args.explain);
        let body = answered_json(&query.text, &answer, detail);
        command.output.print_json("reply", body);
        return Ok(code);
    }
    if let Some(generated) = &answer.generated {
        command.output.print_line(&generated.text);
        command.output.print_line("");
    }
    // The evidence, below the generated text or alone.
    print_hits(&answer.results.hits, command);
    if args.query_args.explain {
        explain_results(&answer.results, command);
    } else if answer.results.hits.is_empty() {
        command.output.say("no memory answers this");
        say_nearest(&answer.results, command);
        say_symbols_named(&query.text, command).await;
    }
    Ok(code)
}
