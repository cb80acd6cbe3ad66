//! `waylore search`: a search by meaning (vectors) and keywords. `engine::Retriever::search` does the work; this
//! file builds the query from the arguments and prints the hits.

use super::CommandContext;
use super::list::MemoryFilterArgs;
use super::query_output::{QueryArgs, explain_results, print_hits, say_nearest, say_symbols_named};
use super::shared::{names_stdin, text_or_stdin};
use crate::wire::OutputDetail;
use crate::wire::search_results::results_json;

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
    filter_args: MemoryFilterArgs,
    #[command(flatten)]
    query_args: QueryArgs,
}

impl SearchArgs {
    /// True if the text is asked for or read from standard input.
    pub(crate) fn reads_input(&self) -> bool {
        names_stdin(&self.words)
    }
}

pub(crate) async fn run(args: SearchArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let text = text_or_stdin(&args.words)?;
    let (filter, notebook_scope) = args.filter_args.to_filter(command)?;
    let query = args.query_args.search_query(text, filter, notebook_scope)?;
    // Memories written a moment ago have no vector yet; a failure is only a notice.
    let notice = command.project.embedding_indexer().embed_new_memories().await;
    let mut results = command.project.retriever().search(&query).await?;
    results.notices.extend(notice);
    for notice in &results.notices {
        command.output.warn(notice);
    }
    let code = u8::from(results.hits.is_empty());
    if command.output.json {
        let detail = OutputDetail::from_explain_flag(args.query_args.explain);
        let body = results_json(&query.text, &results, detail);
        command.output.print_json("hits", body);
        return Ok(code);
    }
    print_hits(&results.hits, command);
    if args.query_args.explain {
        explain_results(&results, command);
    } else if results.hits.is_empty() {
        command.output.say("nothing relevant");
        say_nearest(&results, command);
        say_symbols_named(&query.text, command).await;
    }
    Ok(code)
}
