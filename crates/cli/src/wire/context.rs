//! Contexts in JSON (`context --json`): the text for the agent, and for every memory whether it was placed
//! and why.

use engine::{
    BudgetSource, ContextBlock, ContextPlacement, FilePrediction, OmissionReason, PredictedFile,
    StepCandidate, StepContext,
};
use serde_json::{Value, json};

use super::JsonDetail;
use super::answer::{hit_json, rejection_json, verdict_json};

/// Fields of a context. Excluded memories are included only with `--explain`.
pub(crate) fn context_json(context: &ContextBlock, detail: JsonDetail) -> Value {
    let placed: Vec<Value> = context.placed.iter().map(placement_json).collect();
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        "budget": context.token_budget,
        "phase": context.phase.slug(),
        "expected_errors": context.expected_errors,
        "files": context.predicted_files.as_ref().map(prediction_json),
        "placed": placed,
        "class": context.query_class.map(engine::QueryClass::slug),
        "verdict": verdict_json(context.verdict),
        "notices": context.notices,
    });
    if detail == JsonDetail::Explained {
        let omitted = context.omitted.iter().map(|(hit, why)| {
            let mut omitted_hit = hit_json(hit);
            omitted_hit["omitted"] = omission_json(*why);
            omitted_hit
        });
        res["omitted"] = omitted.collect();
    }
    res
}

fn prediction_json(prediction: &FilePrediction) -> Value {
    let file_json = |it: &PredictedFile| json!({ "path": it.path, "sessions": it.n_sessions });
    json!({
        "files": prediction.files.iter().map(file_json).collect::<Vec<_>>(),
        "similar_sessions": prediction.n_similar,
        "known_sessions": prediction.n_known,
    })
}

/// Fields of a step note.
pub(crate) fn step_json(context: &StepContext, detail: JsonDetail) -> Value {
    let candidate_json =
        |it: &StepCandidate| json!({ "entry": it.entry.to_string(), "reason": it.reason.slug() });
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        "tokens_spent": context.spent_tokens,
        "reason": context.reason.map(engine::StepReason::slug),
        "selected": context.selected.iter().map(candidate_json).collect::<Vec<_>>(),
    });
    if detail == JsonDetail::Explained {
        let withheld = context.withheld.iter().map(|(candidate, why)| {
            let mut withheld_candidate = candidate_json(candidate);
            withheld_candidate["why"] = json!(why.slug());
            withheld_candidate
        });
        res["omitted"] = withheld.collect();
    }
    res
}

fn placement_json(placement: &ContextPlacement) -> Value {
    let mut res = hit_json(&placement.hit);
    res["file"] = json!(placement.file.as_ref().map(model::ProjectPath::as_str));
    res["section"] = json!(placement.section);
    res["tokens"] = json!(placement.tokens);
    // `share`: the part of the budget for its kind. `rest`: what other kinds did not use.
    res["paid_by"] = json!(match placement.paid_by {
        BudgetSource::Share => "share",
        BudgetSource::Rest => "rest",
    });
    res
}

fn omission_json(why: OmissionReason) -> Value {
    match why {
        OmissionReason::Excluded(why) => rejection_json(why),
        OmissionReason::OverBudget { cost, left } => {
            json!({ "why": why.slug(), "tokens": cost, "left": left })
        }
    }
}
