//! Answers on the wire: hits with every factor of their place.

use engine::{Answer, Because, Hit, PassedOver, Reply, Verdict};
use serde_json::{Value, json};

use super::MemoryWire;

/// The fields of an answer. What was passed over is only told to those who want an explanation.
pub(crate) fn answer_json(query: &str, answer: &Answer, explain: bool) -> Value {
    let hits: Vec<Value> = answer.hits.iter().map(hit_json).collect();
    let mut res = json!({
        "query": query,
        "hits": hits,
        "class": answer.class.slug(),
        "verdict": verdict_json(answer.verdict),
        "notices": answer.notices,
    });
    if explain {
        let passed_over: Vec<Value> = answer
            .passed_over
            .iter()
            .map(|(hit, why)| {
                let mut res = hit_json(hit);
                res["passed_over"] = passed_over_json(*why);
                res
            })
            .collect();
        res["passed_over"] = Value::Array(passed_over);
    }
    res
}

/// The fields of an answer, with what was written from it; `prose` is null where nobody wrote.
pub(crate) fn reply_json(question: &str, reply: &Reply, explain: bool) -> Value {
    let mut res = answer_json(question, &reply.answer, explain);
    let prose = reply.prose.as_ref();
    res["prose"] = json!(prose.map(|it| json!({ "text": it.text, "cited": it.cited })));
    res
}

pub(crate) fn hit_json(hit: &Hit) -> Value {
    json!({
        "memory": MemoryWire::from(&hit.shown),
        "score": hit.score,
        "because": because_json(&hit.because),
    })
}

fn because_json(because: &Because) -> Value {
    let paths: Vec<Value> = because
        .traces
        .iter()
        .map(|it| json!({ "path": it.path.slug(), "rank": it.rank, "score": it.score, "share": it.share }))
        .collect();
    let factors = because.factors;
    json!({
        "paths": paths,
        "words": because.words,
        "neighbours": because.neighbours,
        "boost": because.boost,
        "relevance": factors.relevance,
        "recency": factors.recency,
        "frequency": factors.frequency,
        "phase": factors.phase,
        "trust": factors.trust,
        "confidence": factors.confidence,
        "reranked": because.reranked,
        "pulled_by": because.pulled_by,
        "doubts": because.doubts,
    })
}

pub(crate) fn verdict_json(verdict: Verdict) -> Value {
    match verdict {
        Verdict::Answered { strength, needed } => {
            json!({ "answered": true, "strength": strength, "needed": needed })
        }
        Verdict::Nothing { strength, needed } => {
            json!({ "answered": false, "strength": strength, "needed": needed })
        }
        Verdict::Open => json!({ "answered": null }),
    }
}

pub(crate) fn passed_over_json(why: PassedOver) -> Value {
    match why {
        PassedOver::Duplicate(of) => json!({ "why": why.slug(), "of": of }),
        _ => json!({ "why": why.slug() }),
    }
}
