//! Contexts on the wire: the text, and what became of every memory that was looked at.

use engine::{Context, Expected, Foreseen, Omitted, PaidBy, Placement, StepContext, StepOffer};
use serde_json::{Value, json};

use super::answer::{hit_json, passed_over_json, verdict_json};

/// The fields of a context. What was left out is only told to those who want an explanation.
pub(crate) fn context_json(context: &Context, explain: bool) -> Value {
    let placed: Vec<Value> = context.placed.iter().map(placement_json).collect();
    let mut res = json!({
        "text": context.text,
        "used": context.used,
        "budget": context.budget,
        "phase": context.phase.slug(),
        "outlook": context.outlook,
        "files": context.foreseen.as_ref().map(foreseen_json),
        "placed": placed,
        "class": context.class.map(engine::Class::slug),
        "verdict": verdict_json(context.verdict),
        "notices": context.notices,
    });
    if explain {
        let left_out = context.left_out.iter().map(|(hit, why)| {
            let mut res = hit_json(hit);
            res["left_out"] = omitted_json(*why);
            res
        });
        res["left_out"] = left_out.collect();
    }
    res
}

fn foreseen_json(it: &Foreseen) -> Value {
    let file = |it: &Expected| json!({ "path": it.path, "sessions": it.sessions });
    let files: Vec<Value> = it.files.iter().map(file).collect();
    json!({ "named": files, "alike": it.alike, "sessions": it.known })
}

/// The fields of what is said between two steps.
pub(crate) fn step_json(context: &StepContext, explain: bool) -> Value {
    let offer = |it: &StepOffer| json!({ "word": it.word, "ground": it.ground.slug() });
    let mut res = json!({
        "text": context.text,
        "used": context.used,
        "spent": context.spent,
        "ground": context.ground.map(engine::Ground::slug),
        "said": context.said.iter().map(offer).collect::<Vec<_>>(),
    });
    if explain {
        let left_out = context.left_out.iter().map(|(it, why)| {
            let mut res = offer(it);
            res["why"] = json!(why.slug());
            res
        });
        res["left_out"] = left_out.collect();
    }
    res
}

fn placement_json(placement: &Placement) -> Value {
    let mut res = hit_json(&placement.hit);
    res["under_file"] = json!(placement.file.as_ref().map(model::ProjectPath::as_str));
    res["under_heading"] = json!(placement.section);
    res["tokens"] = json!(placement.cost);
    res["paid_by"] = json!(match placement.paid_by {
        PaidBy::Share => "share",
        PaidBy::Rest => "rest",
    });
    res
}

fn omitted_json(why: Omitted) -> Value {
    match why {
        Omitted::PassedOver(why) => passed_over_json(why),
        Omitted::OverBudget { cost, left } => {
            json!({ "why": why.slug(), "tokens": cost, "left": left })
        }
    }
}
