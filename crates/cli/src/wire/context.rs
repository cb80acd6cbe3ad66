//! Contexts in JSON (`context --json`). A *context* is a block of notes for an agent within a token budget: the
//! text, the memories *placed* in it, and the memories *omitted* with the reason. A *step note* is the shorter
//! form between two steps of an agent: at most one note, chosen among candidates.

use engine::{
    BudgetSource, ContextBlock, ContextPlacement, FilePrediction, OmissionReason, PredictedFile,
    StepCandidate, StepContext,
};
use serde_json::{Value, json};

use super::OutputDetail;
use super::search_results::{hit_json, rejection_json, verdict_json};

/// Fields of a context. Omitted memories are included only with `--explain`.
pub(crate) fn context_json(context: &ContextBlock, detail: OutputDetail) -> Value {
    let placed: Vec<Value> = context.placed.iter().map(placement_json).collect();
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        "budget": context.token_budget,
        // The kind of work, which sets the budget and the kinds of memories: explore, implement …
        "phase": context.phase.slug(),
        // The section about errors of earlier sessions.
        "expected_errors": context.expected_errors,
        "files": context.predicted_files.as_ref().map(prediction_json),
        "placed": placed,
        // The class of the task as a search query; null without a task.
        "class": context.query_class.map(engine::QueryClass::slug),
        "verdict": verdict_json(context.verdict),
        // Problems that lower the quality, such as a provider that does not answer.
        "notices": context.notices,
    });
    if detail == OutputDetail::Explained {
        let omitted = context.omitted.iter().map(|(hit, why)| {
            let mut omitted_hit = hit_json(hit);
            omitted_hit["omitted"] = omission_json(*why);
            omitted_hit
        });
        res["omitted"] = omitted.collect();
    }
    res
}

/// Files that past sessions with similar tasks opened.
fn prediction_json(prediction: &FilePrediction) -> Value {
    let file_json = |it: &PredictedFile| json!({ "path": it.path, "sessions": it.n_sessions });
    json!({
        "files": prediction.files.iter().map(file_json).collect::<Vec<_>>(),
        "similar_sessions": prediction.n_similar,
        "known_sessions": prediction.n_known,
    })
}

/// Fields of a step note.
pub(crate) fn step_json(context: &StepContext, detail: OutputDetail) -> Value {
    let candidate_json =
        |it: &StepCandidate| json!({ "entry": it.entry.to_string(), "reason": it.reason.slug() });
    let mut res = json!({
        "text": context.text,
        "tokens": context.used_tokens,
        // Between earlier steps of the session.
        "tokens_spent": context.spent_tokens,
        "reason": context.reason.map(engine::StepReason::slug),
        "selected": context.selected.iter().map(candidate_json).collect::<Vec<_>>(),
    });
    if detail == OutputDetail::Explained {
        let withheld = context.withheld.iter().map(|(candidate, why)| {
            let mut withheld_candidate = candidate_json(candidate);
            withheld_candidate["why"] = json!(why.slug());
            withheld_candidate
        });
        res["omitted"] = withheld.collect();
    }
    res
}

/// A memory with its place in the text: the headings it is under, and the tokens it needed.
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

fn omission_json(reason: OmissionReason) -> Value {
    match reason {
        OmissionReason::Excluded(rejection) => rejection_json(rejection),
        // It needs `cost` tokens, and only `left` were left.
        OmissionReason::OverBudget { cost, left } => {
            json!({ "why": reason.slug(), "tokens": cost, "left": left })
        }
    }
}
