//! Search results in JSON, with all score factors.

use engine::{
    AnsweredQuery, HitExplanation, RejectionReason, RelevanceVerdict, SearchHit, SearchResults,
};
use serde_json::{Value, json};

use super::{JsonDetail, MemoryWire};

/// Fields of search results. Excluded memories are included only with `--explain`.
pub(crate) fn answer_json(query: &str, answer: &SearchResults, detail: JsonDetail) -> Value {
    let hits: Vec<Value> = answer.hits.iter().map(hit_json).collect();
    let mut res = json!({
        "query": query,
        "hits": hits,
        "class": answer.query_class.slug(),
        "verdict": verdict_json(answer.verdict),
        "notices": answer.notices,
    });
    if detail == JsonDetail::Explained {
        let passed_over: Vec<Value> = answer
            .excluded
            .iter()
            .map(|(hit, why)| {
                let mut res = hit_json(hit);
                res["excluded"] = passed_over_json(*why);
                res
            })
            .collect();
        res["excluded"] = Value::Array(passed_over);
    }
    res
}

/// Fields of `ask`: search results and the generated text; `prose` is null without one.
pub(crate) fn reply_json(question: &str, reply: &AnsweredQuery, detail: JsonDetail) -> Value {
    let mut res = answer_json(question, &reply.results, detail);
    let prose = reply.generated.as_ref();
    res["prose"] = json!(prose.map(|it| json!({ "text": it.text, "cited": it.cited_memories })));
    res
}

pub(crate) fn hit_json(hit: &SearchHit) -> Value {
    json!({
        "memory": MemoryWire::from(&hit.rated),
        "score": hit.score,
        "because": because_json(&hit.explanation),
    })
}

fn because_json(because: &HitExplanation) -> Value {
    let paths: Vec<Value> = because
        .traces
        .iter()
        .map(|it| json!({ "path": it.path.slug(), "rank": it.rank, "score": it.score, "share": it.contribution }))
        .collect();
    let factors = because.factors;
    json!({
        "paths": paths,
        "words": because.matched_terms,
        "neighbours": because.neighbour_boost,
        "boost": because.file_boost,
        "relevance": factors.relevance,
        "recency": factors.recency,
        "frequency": factors.frequency,
        "phase": factors.phase,
        "trust": factors.trust,
        "confidence": factors.confidence,
        "reranked": because.rerank_score,
        "pulled_by": because.linked_from,
        "caveats": because.caveats,
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
        RelevanceVerdict::Open => json!({ "answered": null }),
    }
}

pub(crate) fn passed_over_json(why: RejectionReason) -> Value {
    match why {
        RejectionReason::Duplicate(of) => json!({ "why": why.slug(), "of": of }),
        _ => json!({ "why": why.slug() }),
    }
}
