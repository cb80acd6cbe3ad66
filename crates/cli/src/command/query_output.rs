//! Shared by `search`, `ask` and `context`: the query options, the list of hits, and the table of
//! `--explain`, which has one line per hit with all its scores.
//!
//! A *hit* is a memory that a search found, on one or more *paths*: `Dense` (by meaning, with vectors),
//! `Keyword`, `Graph` (memories about files near the current ones). The scores of the paths are fused to a
//! relevance, which is combined with recency, frequency, phase of work, trust and confidence. The search has
//! *stages* that `--without` switches off. At the end it gives a *verdict*: the best hit is strong enough, or
//! nothing is relevant.

use engine::{
    DisabledStages, MemoryFilter, NotebookScope, PathTrace, RankingStage, RejectionReason,
    RelevanceVerdict, RetrievalPath, SearchHit, SearchPurpose, SearchQuery, SearchResults,
};
use model::Phase;

use super::CommandContext;
use super::shared::{SUMMARY_COLUMN, format_memory};
use crate::output::DIM_STYLE;

/// Query options.
#[derive(clap::Args, Debug)]
pub(crate) struct QueryArgs {
    /// Phase of work: define, implement, validate, refine, explore, reflect
    #[arg(long, value_name = "PHASE")]
    pub(crate) phase: Option<String>,
    /// Show all factors of all hits, and excluded memories with their reasons
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long, value_name = "STAGE", value_delimiter = ',', help = stage_names())]
    without: Vec<String>,
}

impl QueryArgs {
    /// True if no option was given that changes the result. `--explain` does not: it only prints more.
    pub(crate) fn is_default(&self) -> bool {
        self.phase.is_none() && self.without.is_empty()
    }

    /// The query of these options. `notebook_scope` limits it to one notebook.
    pub(crate) fn search_query(
        &self,
        text: String,
        filter: MemoryFilter,
        notebook_scope: Option<NotebookScope>,
    ) -> Result<SearchQuery, engine::Error> {
        Ok(SearchQuery {
            text,
            // A command has no session, so there are no recent files.
            files: Vec::new(),
            filter,
            scope: notebook_scope,
            phase: self.parse_phase()?,
            purpose: SearchPurpose::Search,
            disabled_stages: self.disabled_stages()?,
        })
    }

    pub(crate) fn parse_phase(&self) -> Result<Option<Phase>, engine::Error> {
        Ok(self.phase.as_deref().map(Phase::parse).transpose()?)
    }

    pub(crate) fn disabled_stages(&self) -> Result<DisabledStages, engine::Error> {
        let stages: Result<Vec<RankingStage>, _> =
            self.without.iter().map(|it| RankingStage::parse(it)).collect();
        Ok(DisabledStages(stages?))
    }
}

/// Help of `--without`, from the table of stages.
fn stage_names() -> String {
    let slugs: Vec<&str> = RankingStage::ALL.iter().map(|it| it.slug()).collect();
    format!("Leave stages out: {}", slugs.join(", "))
}

/// Prints the hits, best first, each with its reasons.
pub(crate) fn print_hits(hits: &[SearchHit], command: &CommandContext<'_>) {
    for hit in hits {
        let memory = format_memory(&hit.rated, &command.settings.types);
        let reasons = format_reasons(hit);
        let line = format!("{memory}  {DIM_STYLE}({reasons}){DIM_STYLE:#}");
        command.output.print_row(SUMMARY_COLUMN, &line);
    }
}

/// Most candidates that are shown although they are not relevant enough, and most symbols.
const MAX_NEAREST: usize = 3;
const MAX_SYMBOLS: usize = 5;

/// Shows a person the nearest memories of a search without a hit. On stderr: they are no result.
pub(crate) fn say_nearest(results: &SearchResults, command: &CommandContext<'_>) {
    let irrelevant = |it: &&(SearchHit, RejectionReason)| it.1 == RejectionReason::Irrelevant;
    for (hit, _) in results.excluded.iter().filter(irrelevant).take(MAX_NEAREST) {
        let memory = format_memory(&hit.rated, &command.settings.types);
        command.output.say(&format!("{DIM_STYLE}not sure:{DIM_STYLE:#} {memory}"));
    }
    if !results.excluded.is_empty() {
        command.output.hint("--explain shows all candidates with their scores");
    }
}

/// Points to symbols of the code that have a word of the query as their name, for a search without a hit.
pub(crate) async fn say_symbols_named(query: &str, command: &CommandContext<'_>) {
    let is_name =
        |it: &&str| it.len() > 2 && it.chars().all(|it| it.is_alphanumeric() || "_.".contains(it));
    for word in query.split_whitespace().filter(is_name) {
        // Without an index, or without a symbol of this name, there is nothing to point to.
        let named = command.project.code_graph().symbols_named(word).await;
        let Ok((found, _)) = named else { continue };
        for symbol in found.iter().take(MAX_SYMBOLS) {
            command.output.say(&format!(
                "{DIM_STYLE}code:{DIM_STYLE:#} {}:{} {}",
                symbol.path, symbol.lines.0, symbol.name
            ));
        }
        if !found.is_empty() {
            command.output.hint(&format!("`waylore symbols {word}` lists where it is defined"));
        }
    }
}

/// Short reasons for a hit: `meaning 0.62 · words jwt token`.
fn format_reasons(hit: &SearchHit) -> String {
    let explanation = &hit.explanation;
    // The text of this memory did not match; a related memory brought it in.
    if let Some(linked_from) = explanation.linked_from {
        return format!("belongs to #{}", linked_from.short());
    }
    let mut res = Vec::new();
    for trace in &explanation.traces {
        res.push(match trace.path {
            RetrievalPath::Dense => format!("meaning {:.2}", trace.score),
            // The index compares stems (`tests` finds `testing`), so the term itself may not occur.
            RetrievalPath::Keyword if explanation.matched_terms.is_empty() => "words".to_owned(),
            RetrievalPath::Keyword => format!("words {}", explanation.matched_terms.join(" ")),
            RetrievalPath::Graph => "nearby files".to_owned(),
        });
    }
    if explanation.neighbour_boost > 0.0 {
        res.push("recorded next to it".to_owned());
    }
    if explanation.file_boost > 0.0 {
        res.push("near the files of better hits".to_owned());
    }
    res.extend(explanation.caveats.iter().cloned());
    res.join(" · ")
}

/// Prints all factors of hits and excluded memories.
pub(crate) fn explain_results(results: &SearchResults, command: &CommandContext<'_>) {
    let out = command.output;
    out.say("");
    out.say(&format!("query class `{}`", results.query_class));
    say_verdict(results.verdict, command);
    say_columns(command);
    for hit in &results.hits {
        out.say(&format_hit(hit));
    }
    for (hit, why) in &results.excluded {
        out.say(&format!("{DIM_STYLE}{}  {}{DIM_STYLE:#}", format_hit(hit), why.description()));
    }
}

/// Prints the relevance verdict with its numbers.
pub(crate) fn say_verdict(verdict: RelevanceVerdict, command: &CommandContext<'_>) {
    command.output.say(&match verdict {
        RelevanceVerdict::Answered { strength, needed } => {
            format!("relevant: strength {strength:.2}, required {needed:.2}")
        }
        RelevanceVerdict::Nothing { strength, needed } => {
            format!("nothing relevant: strength {strength:.2}, required {needed:.2}")
        }
        RelevanceVerdict::Open => "relevance was not judged".to_owned(),
    });
}

/// Header of the table that [`format_hit`] fills: relevance, recency, frequency, phase, trust, confidence.
pub(crate) fn say_columns(command: &CommandContext<'_>) {
    command.output.say("id         score   rel   rec  freq phase trust  conf  paths");
}

/// All factors of a hit in one line.
pub(crate) fn format_hit(hit: &SearchHit) -> String {
    let explanation = &hit.explanation;
    let mut paths = Vec::new();
    for PathTrace { path, score, rank, contribution } in &explanation.traces {
        paths.push(format!("{path} {score:.3} (rank {rank}, adds {contribution:.2})"));
    }
    if explanation.neighbour_boost > 0.0 {
        paths.push(format!("neighbours add {:.2}", explanation.neighbour_boost));
    }
    if explanation.file_boost > 0.0 {
        paths.push(format!("boost adds {:.2}", explanation.file_boost));
    }
    if let Some(score) = explanation.rerank_score {
        paths.push(format!("reranked {score:.2}"));
    }
    paths.extend(explanation.caveats.iter().cloned());
    let factors = explanation.factors;
    // The widths fit the header of `say_columns`.
    format!(
        "#{}  {:>5.3} {:>5.2} {:>5.2} {:>5.2} {:>5.2} {:>5.2} {:>5.2}  {}",
        hit.rated.memory.id.short(),
        hit.score,
        factors.relevance,
        factors.recency,
        factors.frequency,
        factors.phase,
        factors.trust,
        factors.confidence,
        paths.join(", ")
    )
}
