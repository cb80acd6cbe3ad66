//! Contexts in JSON: the text, and the result for every candidate.

use engine::{
    BudgetSource, ContextBlock, ContextPlacement, FilePrediction, OmissionReason, PredictedFile,
    StepCandidate, StepContext,
};
use serde_json::{Value, json};

use super::JsonDetail;
use super::answer::{hit_json, passed_over_json, verdict_json};

/// Fields of a context. Excluded memories are included only with `--explain`.
pub(crate) fn context_json(context: &ContextBlock, detail: JsonDetail) -> Value {
    let placed: Vec<Value> = context.placed.iter().map(placement_json).collect();
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        "budget": context.token_budget,
        "phase": context.phase.slug(),
        "expected_errors": context.expected_errors,
        "files": context.predicted_files.as_ref().map(foreseen_json),
        "placed": placed,
        "class": context.query_class.map(engine::QueryClass::slug),
        "verdict": verdict_json(context.verdict),
        "notices": context.notices,
    });
    if detail == JsonDetail::Explained {
        let left_out = context.omitted.iter().map(|(hit, why)| {
            let mut res = hit_json(hit);
            res["omitted"] = omitted_json(*why);
            res
        });
        res["omitted"] = left_out.collect();
    }
    res
}

fn foreseen_json(it: &FilePrediction) -> Value {
    let file = |it: &PredictedFile| json!({ "path": it.path, "sessions": it.n_sessions });
    let files: Vec<Value> = it.files.iter().map(file).collect();
    json!({ "files": files, "similar_sessions": it.n_similar, "known_sessions": it.n_known })
}

/// Fields of a step note.
pub(crate) fn step_json(context: &StepContext, detail: JsonDetail) -> Value {
    let offer =
        |it: &StepCandidate| json!({ "entry": it.entry.to_string(), "reason": it.reason.slug() });
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        "tokens_spent": context.spent_tokens,
        "reason": context.reason.map(engine::StepReason::slug),
        "selected": context.selected.iter().map(offer).collect::<Vec<_>>(),
    });
    if detail == JsonDetail::Explained {
        let left_out = context.withheld.iter().map(|(it, why)| {
            let mut res = offer(it);
            res["why"] = json!(why.slug());
            res
        });
        res["omitted"] = left_out.collect();
    }
    res
}

fn placement_json(placement: &ContextPlacement) -> Value {
    let mut res = hit_json(&placement.hit);
    res["file"] = json!(placement.file.as_ref().map(model::ProjectPath::as_str));
    res["section"] = json!(placement.section);
    res["tokens"] = json!(placement.tokens);
    res["paid_by"] = json!(match placement.paid_by {
        BudgetSource::Share => "share",
        BudgetSource::Rest => "rest",
    });
    res
}

fn omitted_json(why: OmissionReason) -> Value {
    match why {
        OmissionReason::Excluded(why) => passed_over_json(why),
        OmissionReason::OverBudget { cost, left } => {
            json!({ "why": why.slug(), "tokens": cost, "left": left })
        }
    }
}
