//! Tools for the code graph: the code affected by a change, and the dependencies of code. The text of a
//! result is for the model, the JSON beside it for programs.
//!
//! The graph has *symbols* (a function, a type, a whole file) and *edges* (one symbol calls or imports
//! another). Both tools follow edges from a target up to a depth. The text for the target `src/auth.rs`:
//!
//! ```text
//! A change to src/auth.rs affects:
//! - src/login.rs:check (depth 1, calls, line 12)
//! ```

use engine::model_text::neutralize_foreign_text;
use engine::{IndexFreshness, ReachedSymbol, SymbolInfo, format_count};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

/// Depth of the search along edges: the default and the maximum.
const DEFAULT_DEPTH: u32 = 3;
const MAX_DEPTH: u32 = 10;
/// Symbols listed by name; further ones are only counted.
const MAX_LISTED_SYMBOLS: usize = 60;

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
    let args: GraphArgs = parse_arguments(call.arguments)?;
    let report = call.project.code_graph().impact(&args.target, args.depth()).await?;
    let head = format!("A change to {} affects", symbol_names(&report.targets));
    // Tests come last: what is cut off at the limit is a test first.
    let (tests, code): (Vec<&ReachedSymbol>, Vec<&ReachedSymbol>) =
        report.reached.iter().partition(|it| it.symbol.is_test);
    let ordered: Vec<ReachedSymbol> = code.into_iter().chain(tests).cloned().collect();
    let mut text = format_reached(&head, &ordered, &report.freshness);
    let n_unknown = report.unknown_receivers.n_calls();
    if n_unknown > 0 {
        let name = neutralize_foreign_text(&report.unknown_receivers.name);
        let n_files = report.unknown_receivers.files.len();
        text.push_str(&format_unknown_receivers(&name, n_unknown, n_files));
    }
    let mut data = json!({
        "targets": report.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "affected": reached_symbols_json(&ordered),
        "unknown_receivers": n_unknown,
        "n_affected": report.reached.len(),
        "lacks": freshness_warnings(&report.freshness),
    });
    // Memories about the affected code.
    let injector = call.project.injector();
    let lines: Vec<String> =
        report.memories.iter().map(|it| injector.format_note(&it.memory)).collect();
    let notes = frame_notes(&lines);
    if !notes.is_empty() {
        text = format!("{text}\n{notes}");
        data["notes"] = json!(notes);
    }
    Ok(ToolOutput { text, data })
}

pub(super) async fn get_dependencies(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let args: GraphArgs = parse_arguments(call.arguments)?;
    let report = call.project.code_graph().dependencies(&args.target, args.depth()).await?;
    let head = format!("{} depends on", symbol_names(&report.targets));
    let text = format_reached(&head, &report.reached, &report.freshness);
    let data = json!({
        "targets": report.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "needs": reached_symbols_json(&report.reached),
        "n_needs": report.reached.len(),
        "lacks": freshness_warnings(&report.freshness),
    });
    Ok(ToolOutput { text, data })
}

/// Formats reached symbols below a heading, one per line, with warnings about a stale index.
fn format_reached(head: &str, reached: &[ReachedSymbol], freshness: &IndexFreshness) -> String {
    let first_line = if reached.is_empty() {
        format!("{head} nothing in the index.")
    } else {
        format!("{head}:")
    };
    let mut lines = vec![first_line];
    for symbol in reached.iter().take(MAX_LISTED_SYMBOLS) {
        let ReachedSymbol { depth, line, .. } = symbol;
        let (name, edge) = (symbol_name(&symbol.symbol), symbol.kind.slug());
        lines.push(format!("- {name} (depth {depth}, {edge}, line {line})"));
    }
    if reached.len() > MAX_LISTED_SYMBOLS {
        lines.push(format!("- and {} more", reached.len() - MAX_LISTED_SYMBOLS));
    }
    lines.extend(freshness_warnings(freshness));
    lines.join("\n")
}

/// The line about calls that may reach the target although their receiver is unknown.
fn format_unknown_receivers(name: &str, n_calls: u32, n_files: usize) -> String {
    let calls = format_count(n_calls as usize, "more call", "more calls");
    let files = format_count(n_files, "file", "files");
    format!(
        "\nOn receivers of unknown type: {calls} of `{name}` in {files}, possibly users, too; search for `.{name}(`."
    )
}

/// Warnings if the index is incomplete or stale.
fn freshness_warnings(freshness: &IndexFreshness) -> Vec<String> {
    let mut res = Vec::new();
    if freshness.is_partial {
        res.push("The index is incomplete; the user can run `waylore index`.".to_owned());
    }
    if !freshness.changed_files.is_empty() {
        let changed: Vec<String> =
            freshness.changed_files.iter().map(|it| neutralize_foreign_text(it)).collect();
        res.push(format!("Changed since indexing: {}.", changed.join(", ")));
    }
    if freshness.n_partly_parsed > 0 {
        let n = freshness.n_partly_parsed;
        let files = format_count(n, "file", "files");
        res.push(format!("Understood in part (syntax errors): {files} of the index."));
    }
    res
}

fn symbol_names(symbols: &[SymbolInfo]) -> String {
    symbols.iter().map(symbol_name).collect::<Vec<_>>().join(", ")
}

/// `path:name`. Names in code are untrusted text, so they are neutralised: nothing in them can pass for
/// the header or footer of a note block.
fn symbol_name(symbol: &SymbolInfo) -> String {
    let path = neutralize_foreign_text(&symbol.path);
    // The symbol of a whole file has no name.
    if symbol.name.is_empty() {
        path
    } else {
        format!("{path}:{}", neutralize_foreign_text(&symbol.name))
    }
}

fn symbol_json(symbol: &SymbolInfo) -> Value {
    json!({
        "path": neutralize_foreign_text(&symbol.path),
        "symbol": neutralize_foreign_text(&symbol.name),
    })
}

fn reached_symbols_json(reached: &[ReachedSymbol]) -> Vec<Value> {
    let reached_json = |it: &ReachedSymbol| {
        let mut res = symbol_json(&it.symbol);
        res["depth"] = json!(it.depth);
        res["line"] = json!(it.line);
        res["edge"] = json!(it.kind.slug());
        res
    };
    reached.iter().take(MAX_LISTED_SYMBOLS).map(reached_json).collect()
}
