//! Questions to the code graph.

use engine::{Freshness, Mention, Symbol, frame};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Said, Wrong, arguments, framed};

/// How far is looked when nobody says, and at most.
const USUAL: u32 = 3;
const MOST: u32 = 10;
/// How many are named; the rest is counted.
const NAMED: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    target: String,
    depth: Option<u32>,
}

impl About {
    fn depth(&self) -> u32 {
        self.depth.unwrap_or(USUAL).clamp(1, MOST)
    }
}

pub(super) async fn impact(call: Call<'_>) -> Result<Said, Wrong> {
    let about: About = arguments(call.arguments)?;
    let found = call.engine.impact(&about.target, about.depth()).await?;
    let lines: Vec<String> =
        found.memories.iter().map(|it| call.engine.framed_note(&it.memory)).collect();
    let notes = framed(&lines);
    let head = format!("A change of {} is noticed by", names(&found.targets));
    let mut text = told(&head, "nobody in the index", &found.mentions, &found.freshness);
    if !notes.is_empty() {
        text = format!("{text}\n{notes}");
    }
    let mut data = json!({
        "targets": found.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "affected": mentions_json(&found.mentions),
        "n_affected": found.mentions.len(),
        "lacks": lacks(&found.freshness),
    });
    if !notes.is_empty() {
        data["notes"] = json!(notes);
    }
    Ok(Said { text, data })
}

pub(super) async fn dependencies(call: Call<'_>) -> Result<Said, Wrong> {
    let about: About = arguments(call.arguments)?;
    let found = call.engine.dependencies(&about.target, about.depth()).await?;
    let head = format!("{} needs", names(&found.targets));
    let text = told(&head, "nothing in the index", &found.mentions, &found.freshness);
    let data = json!({
        "targets": found.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "needs": mentions_json(&found.mentions),
        "n_needs": found.mentions.len(),
        "lacks": lacks(&found.freshness),
    });
    Ok(Said { text, data })
}

/// What was found, one a line, and what the answer may lack.
fn told(head: &str, none: &str, mentions: &[Mention], freshness: &Freshness) -> String {
    let mut res = if mentions.is_empty() { format!("{head} {none}.") } else { format!("{head}:") };
    for it in mentions.iter().take(NAMED) {
        let name = name(&it.symbol);
        res = format!("{res}\n- {name} (depth {}, {}, line {})", it.depth, it.kind.slug(), it.line);
    }
    if mentions.len() > NAMED {
        res = format!("{res}\n- and {} more", mentions.len() - NAMED);
    }
    lacks(freshness).into_iter().fold(res, |acc, it| format!("{acc}\n{it}"))
}

/// What an answer may lack.
fn lacks(freshness: &Freshness) -> Vec<String> {
    let mut res = Vec::new();
    if freshness.is_partial {
        res.push("The index is not complete; a person can run `waylore index`.".to_owned());
    }
    if !freshness.changed.is_empty() {
        let changed: Vec<String> = freshness.changed.iter().map(|it| frame::neutral(it)).collect();
        res.push(format!("Changed since they were indexed: {}.", changed.join(", ")));
    }
    res
}

fn names(symbols: &[Symbol]) -> String {
    symbols.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Names in code are somebody else's text.
fn name(symbol: &Symbol) -> String {
    let path = frame::neutral(&symbol.path);
    if symbol.name.is_empty() { path } else { format!("{path}:{}", frame::neutral(&symbol.name)) }
}

fn symbol_json(symbol: &Symbol) -> Value {
    json!({ "path": symbol.path, "symbol": symbol.name })
}

fn mentions_json(mentions: &[Mention]) -> Vec<Value> {
    let row = |it: &Mention| {
        let mut res = symbol_json(&it.symbol);
        res["depth"] = json!(it.depth);
        res["line"] = json!(it.line);
        res["edge"] = json!(it.kind.slug());
        res
    };
    mentions.iter().take(NAMED).map(row).collect()
}
