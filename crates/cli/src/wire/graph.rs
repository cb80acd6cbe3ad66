//! Symbols and edges in JSON. Lines count from 1, fractions are between 0 and 1.

use engine::{
    CodeChunk, HistoryReport, IndexFreshness, IndexReport, NeighbourFile, ReachedSymbol,
    RefineReport, SymbolInfo,
};
use serde_json::{Value, json};

pub(crate) fn symbol_json(it: &SymbolInfo) -> Value {
    json!({
        "path": it.path,
        "name": it.name,
        "kind": it.kind.map_or("file", engine::DefKind::slug),
        "line": it.lines.0,
        "end_line": it.lines.1,
        "test": it.is_test,
        "exported": it.is_exported,
        "meaning": format!("{:016x}", it.structural_hash),
    })
}

pub(crate) fn reached_json(it: &ReachedSymbol) -> Value {
    json!({
        "symbol": symbol_json(&it.symbol),
        "depth": it.depth,
        "edge": it.kind.slug(),
        "resolved_by": it.resolution.slug(),
        "via": it.via,
        "line": it.line,
        "weight": f64::from(it.weight) / 1000.0,
    })
}

pub(crate) fn freshness_json(it: &IndexFreshness) -> Value {
    json!({ "complete": !it.is_partial && it.n_unresolved == 0, "waiting": it.n_unresolved, "changed": it.changed_files })
}

pub(crate) fn neighbour_json(it: &NeighbourFile) -> Value {
    json!({ "path": it.path, "out": it.n_outgoing, "in": it.n_incoming })
}

pub(crate) fn chunk_json(it: &CodeChunk) -> Value {
    json!({
        "title": it.title,
        "symbol": it.symbol,
        "line": it.lines.0,
        "end_line": it.lines.1,
        "meaning": it.structural_hash.map(|it| format!("{it:016x}")),
        "text": it.text,
    })
}

pub(crate) fn index_json(it: &IndexReport) -> Value {
    let passed: Vec<Value> =
        it.skipped.iter().map(|(why, n)| json!({ "why": why, "files": n })).collect();
    json!({
        "files": it.n_files, "symbols": it.n_symbols, "edges": it.n_edges, "read": it.n_read, "bytes": it.n_bytes,
        "gone": it.n_removed, "resolved": it.n_resolved, "unresolved_calls": it.n_unresolved,
        "foreign_calls": it.n_foreign, "skipped": passed, "complete": !it.is_partial, "database_bytes": it.size,
    })
}

pub(crate) fn history_json(it: &HistoryReport) -> Value {
    json!({ "new": it.n_new, "commits": it.n_commits, "anew": it.was_rewritten, "complete": !it.is_partial })
}

pub(crate) fn refine_json(it: &RefineReport) -> Value {
    json!({ "files": it.n_files, "references": it.n_references, "changed_since": it.changed_files, "unknown": it.n_unknown })
}
