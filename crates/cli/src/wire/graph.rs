//! Results of the code commands in JSON: symbols, edges, chunks, and reports of indexing. A *symbol* is a
//! definition or a whole file, an *edge* one reference from a symbol to another, a *chunk* a piece of a file
//! cut at symbol boundaries. Lines count from 1, fractions are between 0 and 1.

use engine::{
    CodeChunk, HistoryReport, IndexFreshness, IndexReport, NeighbourFile, ReachedSymbol,
    RefineReport, SymbolInfo, UnknownReceivers,
};
use serde_json::{Value, json};

pub(crate) fn symbol_json(symbol: &SymbolInfo) -> Value {
    let (first_line, last_line) = symbol.lines;
    json!({
        "path": symbol.path,
        "name": symbol.name,
        // Only the symbol of a whole file has no kind.
        "kind": symbol.kind.map_or("file", engine::DefKind::slug),
        "line": first_line,
        "end_line": last_line,
        "test": symbol.is_test,
        "exported": symbol.is_exported,
        // A program wrote the file.
        "generated": symbol.is_generated,
        // The structural hash: stays the same if only white space or comments of the symbol change.
        "meaning": format!("{:016x}", symbol.structural_hash),
    })
}

/// A symbol that `impact` or `deps` reached from the target, with the last edge on the way.
pub(crate) fn reached_json(reached: &ReachedSymbol) -> Value {
    json!({
        "symbol": symbol_json(&reached.symbol),
        // Number of edges from the target.
        "depth": reached.depth,
        "edge": reached.kind.slug(),
        // The evidence for the edge: an import, a type, a unique name …
        "resolved_by": reached.resolution.slug(),
        // The symbol before it on the way; the target itself at depth 1.
        "via": reached.via,
        "line": reached.line,
        // Orders the symbols of one depth. Per mille in the engine.
        "weight": f64::from(reached.weight) / 1000.0,
    })
}

/// Calls of a method with the name of the target on values of unknown type: they may reach it.
pub(crate) fn unknown_receivers_json(unknown: &UnknownReceivers) -> Value {
    let files: Vec<Value> =
        unknown.files.iter().map(|(path, n)| json!({ "path": path, "calls": n })).collect();
    json!({ "name": unknown.name, "calls": unknown.n_calls(), "files": files })
}

/// Reasons why a result may be incomplete or outdated.
pub(crate) fn freshness_json(freshness: &IndexFreshness) -> Value {
    json!({
        "complete": !freshness.is_partial && freshness.n_unresolved == 0,
        // Files whose references are not resolved yet.
        "waiting": freshness.n_unresolved,
        // Files in the result that changed since they were indexed.
        "changed": freshness.changed_files,
        // Files of the index that the grammar could not parse completely.
        "understood_in_part": freshness.n_partly_parsed,
    })
}

/// A file with the number of edges to it (`out`, seen from the files of the query) and from it (`in`).
pub(crate) fn neighbour_json(neighbour: &NeighbourFile) -> Value {
    json!({ "path": neighbour.path, "out": neighbour.n_outgoing, "in": neighbour.n_incoming })
}

pub(crate) fn chunk_json(chunk: &CodeChunk) -> Value {
    let (first_line, last_line) = chunk.lines;
    json!({
        "title": chunk.title,
        "symbol": chunk.symbol,
        "line": first_line,
        "end_line": last_line,
        // As in `symbol_json`; null if the chunk is only a part of a symbol.
        "meaning": chunk.structural_hash.map(|hash| format!("{hash:016x}")),
        "text": chunk.text,
    })
}

/// The report of `index` and `watch`. The first three are totals; `read`, `gone` and `resolved` count the
/// files of this run.
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
        // Calls into libraries outside the project.
        "foreign_calls": report.n_foreign,
        // Files that the grammar could not parse completely.
        "understood_in_part": report.n_partly_parsed,
        "skipped": skipped,
        "complete": !report.is_partial,
        "database_bytes": report.size,
    })
}

/// The report about the commits of the git history.
pub(crate) fn history_json(report: &HistoryReport) -> Value {
    json!({
        "new": report.n_new,
        "commits": report.n_commits,
        // The history was rewritten, so all commits were read again.
        "anew": report.was_rewritten,
        "complete": !report.is_partial,
    })
}

/// The report of `index --scip`, which replaces edges by those of a precise index, written by a compiler.
pub(crate) fn refine_json(report: &RefineReport) -> Value {
    json!({
        "files": report.n_files,
        "references": report.n_references,
        // Files that changed after the precise index was made; their edges stay as they are.
        "changed_since": report.changed_files,
        // Files of the precise index that are not indexed here.
        "unknown": report.n_unknown,
    })
}
