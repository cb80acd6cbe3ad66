//! Symbols and edges on the wire. Lines count from 1, fractions lie between 0 and 1.

use engine::{Chunk, Freshness, HistoryRead, Indexed, Mention, Neighbour, Refined, Symbol};
use serde_json::{Value, json};

pub(crate) fn symbol(it: &Symbol) -> Value {
    json!({
        "path": it.path,
        "name": it.name,
        "kind": it.kind.map_or("file", engine::DefKind::slug),
        "line": it.lines.0,
        "end_line": it.lines.1,
        "test": it.is_test,
        "exported": it.is_exported,
        "meaning": format!("{:016x}", it.meaning),
    })
}

pub(crate) fn mention(it: &Mention) -> Value {
    json!({
        "symbol": symbol(&it.symbol),
        "depth": it.depth,
        "edge": it.kind.slug(),
        "resolved_by": it.how.slug(),
        "via": it.via,
        "line": it.line,
        "weight": f64::from(it.weight) / 1000.0,
    })
}

pub(crate) fn freshness(it: &Freshness) -> Value {
    json!({ "complete": !it.is_partial && it.n_waiting == 0, "waiting": it.n_waiting, "changed": it.changed })
}

pub(crate) fn neighbour(it: &Neighbour) -> Value {
    json!({ "path": it.path, "out": it.n_out, "in": it.n_into })
}

pub(crate) fn chunk(it: &Chunk) -> Value {
    json!({
        "title": it.title,
        "symbol": it.symbol,
        "line": it.lines.0,
        "end_line": it.lines.1,
        "meaning": it.meaning.map(|it| format!("{it:016x}")),
        "text": it.text,
    })
}

pub(crate) fn indexed(it: &Indexed) -> Value {
    let passed: Vec<Value> =
        it.passed.iter().map(|(why, n)| json!({ "why": why, "files": n })).collect();
    json!({
        "files": it.n_files, "symbols": it.n_symbols, "edges": it.n_edges, "read": it.n_read, "bytes": it.n_bytes,
        "gone": it.n_gone, "resolved": it.n_resolved, "unresolved_calls": it.n_unresolved,
        "foreign_calls": it.n_foreign, "passed_over": passed, "complete": !it.is_partial, "database_bytes": it.size,
    })
}

pub(crate) fn history(it: &HistoryRead) -> Value {
    json!({ "new": it.n_new, "commits": it.n_commits, "anew": it.anew, "complete": !it.is_partial })
}

pub(crate) fn refined(it: &Refined) -> Value {
    json!({ "files": it.n_files, "references": it.n_sites, "changed_since": it.stale, "unknown": it.n_unknown })
}
