//! Shared by `search`, `ask` and `context`: query options and explanations of results.

use engine::{
    DisabledStages, MemoryFilter, NotebookScope, RankingStage, RelevanceVerdict, RetrievalPath,
    SearchHit, SearchPurpose, SearchQuery, SearchResults,
};
use model::Phase;

use super::CommandSession;
use crate::output::DIM_STYLE;

/// Query options.
#[derive(clap::Args, Debug)]
pub(crate) struct AskingArgs {
    /// Phase of work: define, implement, validate, refine, explore, reflect
    #[arg(long, value_name = "PHASE")]
    pub(crate) phase: Option<String>,
    /// Show all factors of all hits, and excluded memories with their reasons
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long, value_name = "STAGE", value_delimiter = ',', help = stage_names())]
    without: Vec<String>,
}

impl AskingArgs {
    /// True if no option was given.
    pub(crate) fn is_plain(&self) -> bool {
        self.phase.is_none() && self.without.is_empty()
    }

    pub(crate) fn search_query(
        &self,
        text: String,
        filter: MemoryFilter,
        reach: Option<NotebookScope>,
    ) -> Result<SearchQuery, engine::Error> {
        let (phase, without) = (self.parse_phase()?, self.disabled_stages()?);
        let files = Vec::new();
        Ok(SearchQuery {
            text,
            files,
            filter,
            scope: reach,
            phase,
            purpose: SearchPurpose::Search,
            disabled_stages: without,
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

/// Short reasons for a hit.
pub(crate) fn format_reasons(hit: &SearchHit) -> String {
    let because = &hit.explanation;
    if let Some(by) = because.linked_from {
        return format!("belongs to #{}", by.short());
    }
    let mut res = Vec::new();
    for trace in &because.traces {
        match trace.path {
            RetrievalPath::Dense => res.push(format!("meaning {:.2}", trace.score)),
            RetrievalPath::Keyword if because.matched_terms.is_empty() => {
                res.push("words".to_owned());
            }
            RetrievalPath::Keyword => {
                res.push(format!("words {}", because.matched_terms.join(" ")));
            }
            RetrievalPath::Graph => res.push("nearby files".to_owned()),
        }
    }
    if because.neighbour_boost > 0.0 {
        res.push("recorded next to it".to_owned());
    }
    if because.file_boost > 0.0 {
        res.push("near the files of better hits".to_owned());
    }
    res.extend(because.caveats.iter().cloned());
    res.join(" · ")
}

/// Prints all factors of hits and excluded memories.
pub(crate) fn explain_results(answer: &SearchResults, session: &CommandSession<'_>) {
    let out = session.output;
    out.say("");
    out.say(&format!("query class `{}`", answer.query_class));
    say_verdict(answer.verdict, session);
    say_columns(session);
    for hit in &answer.hits {
        out.say(&format_hit(hit));
    }
    for (hit, why) in &answer.excluded {
        out.say(&format!("{DIM_STYLE}{}  {}{DIM_STYLE:#}", format_hit(hit), why.description()));
    }
}

/// Prints the relevance verdict with its numbers.
pub(crate) fn say_verdict(verdict: RelevanceVerdict, session: &CommandSession<'_>) {
    session.output.say(&match verdict {
        RelevanceVerdict::Answered { strength, needed } => {
            format!("relevant: strength {strength:.2}, required {needed:.2}")
        }
        RelevanceVerdict::Nothing { strength, needed } => {
            format!("nothing relevant: strength {strength:.2}, required {needed:.2}")
        }
        RelevanceVerdict::Open => "relevance was not judged".to_owned(),
    });
}

/// Header of the table that [`format_hit`] fills.
pub(crate) fn say_columns(session: &CommandSession<'_>) {
    session.output.say("id         score   rel   rec  freq phase trust  conf  paths");
}

/// All factors of a hit in one line.
pub(crate) fn format_hit(hit: &SearchHit) -> String {
    let factors = hit.explanation.factors;
    let mut paths: Vec<String> = hit
        .explanation
        .traces
        .iter()
        .map(|it| {
            format!("{} {:.3} (rank {}, adds {:.2})", it.path, it.score, it.rank, it.contribution)
        })
        .collect();
    if hit.explanation.neighbour_boost > 0.0 {
        paths.push(format!("neighbours add {:.2}", hit.explanation.neighbour_boost));
    }
    if hit.explanation.file_boost > 0.0 {
        paths.push(format!("boost adds {:.2}", hit.explanation.file_boost));
    }
    if let Some(score) = hit.explanation.rerank_score {
        paths.push(format!("reranked {score:.2}"));
    }
    paths.extend(hit.explanation.caveats.iter().cloned());
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
