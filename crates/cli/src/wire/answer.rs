//! Search results in JSON, with all score factors: the output of `search` and `ask` with `--json`.

use engine::{
    AnsweredQuery, HitExplanation, RejectionReason, RelevanceVerdict, SearchHit, SearchResults,
};
use serde_json::{Value, json};

use super::{JsonDetail, MemoryWire};

/// Fields of search results. Excluded memories are included only with `--explain`.
pub(crate) fn results_json(query: &str, results: &SearchResults, detail: JsonDetail) -> Value {
    let hits: Vec<Value> = results.hits.iter().map(hit_json).collect();
    let mut res = json!({
        "query": query,
        "hits": hits,
        "class": results.query_class.slug(),
        "verdict": verdict_json(results.verdict),
        "notices": results.notices,
    });
    if detail == JsonDetail::Explained {
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
pub(crate) fn answered_json(question: &str, answer: &AnsweredQuery, detail: JsonDetail) -> Value {
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
    let paths = explanation.traces.iter().map(|it| {
        json!({
            "path": it.path.slug(),
            "rank": it.rank,
            "score": it.score,
            "share": it.contribution,
        })
    });
    let factors = explanation.factors;
    json!({
        "paths": paths.collect::<Vec<_>>(),
        "words": explanation.matched_terms,
        "neighbours": explanation.neighbour_boost,
        "boost": explanation.file_boost,
        "relevance": factors.relevance,
        "recency": factors.recency,
        "frequency": factors.frequency,
        "phase": factors.phase,
        "trust": factors.trust,
        "confidence": factors.confidence,
        "reranked": explanation.rerank_score,
        "pulled_by": explanation.linked_from,
        "caveats": explanation.caveats,
    })
}

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
