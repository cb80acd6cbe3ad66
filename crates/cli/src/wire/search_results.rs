//! Search results in JSON: the output of `search` and `ask` with `--json`. Each hit is a memory with its score
//! and the explanation of the score.
//!
//! A memory is found on up to three *paths* (vectors, keywords, files near the current ones). The scores of the
//! paths are fused to the relevance, and the other factors raise or lower it. If the best hit is too weak,
//! the *verdict* is that nothing is relevant.

use engine::{
    AnsweredQuery, HitExplanation, PathTrace, RejectionReason, RelevanceVerdict, SearchHit,
    SearchResults,
};
use serde_json::{Value, json};

use super::{MemoryWire, OutputDetail};

/// Fields of search results. Excluded memories are included only with `--explain`.
pub(crate) fn results_json(query: &str, results: &SearchResults, detail: OutputDetail) -> Value {
    let hits: Vec<Value> = results.hits.iter().map(hit_json).collect();
    let mut res = json!({
        "query": query,
        "hits": hits,
        // The form of the query (a question, an identifier …), which sets the weights of the paths.
        "class": results.query_class.slug(),
        "verdict": verdict_json(results.verdict),
        // Problems that lower the quality, such as a provider that does not answer.
        "notices": results.notices,
    });
    if detail == OutputDetail::Explained {
        let excluded = results.excluded.iter().map(|(hit, why)| {
            let mut excluded_hit = hit_json(hit);
            excluded_hit["excluded"] = rejection_json(*why);
            excluded_hit
        });
        res["excluded"] = excluded.collect();
    }
    res
}

/// Fields of `ask`: search results and the generated text; `prose` is null without one.
pub(crate) fn answered_json(question: &str, answer: &AnsweredQuery, detail: OutputDetail) -> Value {
    let mut res = results_json(question, &answer.results, detail);
    res["prose"] = match &answer.generated {
        Some(it) => json!({ "text": it.text, "cited": it.cited_memories }),
        None => Value::Null,
    };
    res
}

pub(crate) fn hit_json(hit: &SearchHit) -> Value {
    json!({
        "memory": MemoryWire::from(&hit.rated),
        "score": hit.score,
        "because": explanation_json(&hit.explanation),
    })
}

fn explanation_json(explanation: &HitExplanation) -> Value {
    let path_json = |it: &PathTrace| {
        json!({
            "path": it.path.slug(),
            "rank": it.rank,
            "score": it.score,
            // The part of the fused score that comes from this path.
            "share": it.contribution,
        })
    };
    let paths: Vec<Value> = explanation.traces.iter().map(path_json).collect();
    let factors = explanation.factors;
    json!({
        "paths": paths,
        "words": explanation.matched_terms,
        // Gained from memories that were written right before and after it.
        "neighbours": explanation.neighbour_boost,
        // Gained because its files are near those of the best hits.
        "boost": explanation.file_boost,
        "relevance": factors.relevance,
        "recency": factors.recency,
        "frequency": factors.frequency,
        "phase": factors.phase,
        "trust": factors.trust,
        "confidence": factors.confidence,
        "reranked": explanation.rerank_score,
        // The hit that links to it, if the search itself did not find it.
        "pulled_by": explanation.linked_from,
        // Reasons for doubt that do not exclude it.
        "caveats": explanation.caveats,
    })
}

/// `strength` is that of the best hit; below `needed` nothing is relevant.
pub(crate) fn verdict_json(verdict: RelevanceVerdict) -> Value {
    match verdict {
        RelevanceVerdict::Answered { strength, needed } => {
            json!({ "answered": true, "strength": strength, "needed": needed })
        }
        RelevanceVerdict::Nothing { strength, needed } => {
            json!({ "answered": false, "strength": strength, "needed": needed })
        }
        // Not judged: the stage is disabled, or the query has no text.
        RelevanceVerdict::Open => json!({ "answered": null }),
    }
}

pub(crate) fn rejection_json(why: RejectionReason) -> Value {
    match why {
        // The only reason that names another memory.
        RejectionReason::Duplicate(of) => json!({ "why": why.slug(), "of": of }),
        _ => json!({ "why": why.slug() }),
    }
}
