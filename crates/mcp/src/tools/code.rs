//! Tools for the code graph.

use engine::{IndexFreshness, ReachedSymbol, SymbolInfo, frame};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

/// Default and largest depth.
const DEFAULT_DEPTH: u32 = 3;
const MAX_DEPTH: u32 = 10;
/// Symbols listed by name; the rest is counted.
const MAX_LISTED: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphArgs {
    target: String,
    depth: Option<u32>,
}

impl GraphArgs {
    fn depth(&self) -> u32 {
        self.depth.unwrap_or(DEFAULT_DEPTH).clamp(1, MAX_DEPTH)
    }
}

pub(super) async fn analyze_impact(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let about: GraphArgs = parse_arguments(call.arguments)?;
    let found = call.project.code_graph().impact(&about.target, about.depth()).await?;
    let lines: Vec<String> =
        found.memories.iter().map(|it| call.project.injector().format_note(&it.memory)).collect();
    let notes = frame_notes(&lines);
    let head = format!("A change to {} affects", symbol_names(&found.targets));
    let mut text = format_reached(&head, "nothing in the index", &found.reached, &found.freshness);
    if !notes.is_empty() {
        text = format!("{text}\n{notes}");
    }
    let mut data = json!({
        "targets": found.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "affected": mentions_json(&found.reached),
        "n_affected": found.reached.len(),
        "lacks": freshness_warnings(&found.freshness),
    });
    if !notes.is_empty() {
        data["notes"] = json!(notes);
    }
    Ok(ToolOutput { text, data })
}

pub(super) async fn get_dependencies(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let about: GraphArgs = parse_arguments(call.arguments)?;
    let found = call.project.code_graph().dependencies(&about.target, about.depth()).await?;
    let head = format!("{} depends on", symbol_names(&found.targets));
    let text = format_reached(&head, "nothing in the index", &found.reached, &found.freshness);
    let data = json!({
        "targets": found.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "needs": mentions_json(&found.reached),
        "n_needs": found.reached.len(),
        "lacks": freshness_warnings(&found.freshness),
    });
    Ok(ToolOutput { text, data })
}

/// Formats reached symbols, one per line, with warnings about a stale index.
fn format_reached(
    head: &str,
    none: &str,
    mentions: &[ReachedSymbol],
    freshness: &IndexFreshness,
) -> String {
    let mut res = if mentions.is_empty() { format!("{head} {none}.") } else { format!("{head}:") };
    for it in mentions.iter().take(MAX_LISTED) {
        let name = symbol_name(&it.symbol);
        res = format!("{res}\n- {name} (depth {}, {}, line {})", it.depth, it.kind.slug(), it.line);
    }
    if mentions.len() > MAX_LISTED {
        res = format!("{res}\n- and {} more", mentions.len() - MAX_LISTED);
    }
    freshness_warnings(freshness).into_iter().fold(res, |acc, it| format!("{acc}\n{it}"))
}

/// Warnings if the index is incomplete or stale.
fn freshness_warnings(freshness: &IndexFreshness) -> Vec<String> {
    let mut res = Vec::new();
    if freshness.is_partial {
        res.push("The index is incomplete; the user can run `waylore index`.".to_owned());
    }
    if !freshness.changed_files.is_empty() {
        let changed: Vec<String> =
            freshness.changed_files.iter().map(|it| frame::neutralize_text(it)).collect();
        res.push(format!("Changed since indexing: {}.", changed.join(", ")));
    }
    res
}

fn symbol_names(symbols: &[SymbolInfo]) -> String {
    symbols.iter().map(symbol_name).collect::<Vec<_>>().join(", ")
}

/// The name for output; names in code are untrusted text.
fn symbol_name(symbol: &SymbolInfo) -> String {
    let path = frame::neutralize_text(&symbol.path);
    if symbol.name.is_empty() {
        path
    } else {
        format!("{path}:{}", frame::neutralize_text(&symbol.name))
    }
}

fn symbol_json(symbol: &SymbolInfo) -> Value {
    json!({ "path": symbol.path, "symbol": symbol.name })
}

fn mentions_json(mentions: &[ReachedSymbol]) -> Vec<Value> {
    let row = |it: &ReachedSymbol| {
        let mut res = symbol_json(&it.symbol);
        res["depth"] = json!(it.depth);
        res["line"] = json!(it.line);
        res["edge"] = json!(it.kind.slug());
        res
    };
    mentions.iter().take(MAX_LISTED).map(row).collect()
}
