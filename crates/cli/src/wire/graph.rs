//! Results of the code commands in JSON: symbols, edges, chunks, and reports of indexing. Lines count from
//! 1, fractions are between 0 and 1.

use engine::{
    CodeChunk, HistoryReport, IndexFreshness, IndexReport, NeighbourFile, ReachedSymbol,
    RefineReport, SymbolInfo,
};
use serde_json::{Value, json};

pub(crate) fn symbol_json(symbol: &SymbolInfo) -> Value {
    json!({
        "path": symbol.path,
        "name": symbol.name,
        "kind": symbol.kind.map_or("file", engine::DefKind::slug),
        "line": symbol.lines.0,
        "end_line": symbol.lines.1,
        "test": symbol.is_test,
        "exported": symbol.is_exported,
        "meaning": format!("{:016x}", symbol.structural_hash),
    })
}

pub(crate) fn reached_json(reached: &ReachedSymbol) -> Value {
    json!({
        "symbol": symbol_json(&reached.symbol),
        "depth": reached.depth,
        "edge": reached.kind.slug(),
        "resolved_by": reached.resolution.slug(),
        "via": reached.via,
        "line": reached.line,
        // Per mille inside.
        "weight": f64::from(reached.weight) / 1000.0,
    })
}

pub(crate) fn freshness_json(freshness: &IndexFreshness) -> Value {
    json!({
        "complete": !freshness.is_partial && freshness.n_unresolved == 0,
        "waiting": freshness.n_unresolved,
        "changed": freshness.changed_files,
    })
}

pub(crate) fn neighbour_json(neighbour: &NeighbourFile) -> Value {
    json!({ "path": neighbour.path, "out": neighbour.n_outgoing, "in": neighbour.n_incoming })
}

pub(crate) fn chunk_json(chunk: &CodeChunk) -> Value {
    json!({
        "title": chunk.title,
        "symbol": chunk.symbol,
        "line": chunk.lines.0,
        "end_line": chunk.lines.1,
        "meaning": chunk.structural_hash.map(|hash| format!("{hash:016x}")),
        "text": chunk.text,
    })
}

pub(crate) fn index_json(report: &IndexReport) -> Value {
    let skipped: Vec<Value> =
        report.skipped.iter().map(|(why, n)| json!({ "why": why, "files": n })).collect();
    json!({
        "files": report.n_files,
        "symbols": report.n_symbols,
        "edges": report.n_edges,
        "read": report.n_read,
        "bytes": report.n_bytes,
        "gone": report.n_removed,
        "resolved": report.n_resolved,
        "unresolved_calls": report.n_unresolved,
        "foreign_calls": report.n_foreign,
        "skipped": skipped,
        "complete": !report.is_partial,
        "database_bytes": report.size,
    })
}

pub(crate) fn history_json(report: &HistoryReport) -> Value {
    json!({
        "new": report.n_new,
        "commits": report.n_commits,
        "anew": report.was_rewritten,
        "complete": !report.is_partial,
    })
}

pub(crate) fn refine_json(report: &RefineReport) -> Value {
    json!({
        "files": report.n_files,
        "references": report.n_references,
        "changed_since": report.changed_files,
        "unknown": report.n_unknown,
    })
}
