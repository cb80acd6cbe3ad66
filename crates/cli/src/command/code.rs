//! Output shared by the commands about code (`impact`, `deps`, `path`, `symbols`, `neighbours`).

use engine::{IndexFreshness, ReachedSymbol, SymbolInfo};

use crate::output::{BOLD_STYLE, DIM_STYLE, Output, format_count};

/// Changed files named in a warning.
const MAX_NAMED_FILES: usize = 3;

/// Formats a symbol as `path:name` with its kind and line.
pub(crate) fn format_symbol(symbol: &SymbolInfo) -> String {
    let kind = symbol.kind.map_or("file", engine::DefKind::slug);
    // A symbol of the kind `test` is marked by its kind already.
    let is_marked = symbol.kind == Some(engine::DefKind::Test);
    let test = if symbol.is_test && !is_marked { ", test" } else { "" };
    let path = &symbol.path;
    // The symbol of a whole file has no name.
    if symbol.name.is_empty() {
        return format!("{BOLD_STYLE}{path}{BOLD_STYLE:#}  {DIM_STYLE}file{test}{DIM_STYLE:#}");
    }
    let (first_line, _) = symbol.lines;
    format!(
        "{BOLD_STYLE}{path}:{}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{test}, line {first_line}{DIM_STYLE:#}",
        symbol.name
    )
}

/// Prints reached symbols by depth, nearest first.
pub(crate) fn print_by_depth(out: &Output, reached: &[ReachedSymbol], limit: usize) {
    let mut depth = 0;
    for it in reached.iter().take(limit) {
        // A heading at each new depth.
        if it.depth != depth {
            depth = it.depth;
            let n_at_depth = reached.iter().filter(|it| it.depth == depth).count();
            let steps = format_count(depth as usize, "step", "steps");
            out.print_line(&format!("{steps} away: {n_at_depth}"));
        }
        // An edge without scope or type information may be wrong.
        let guess = match it.resolution {
            engine::ResolutionKind::Unique => ", guessed by name",
            engine::ResolutionKind::Overload => ", ambiguous by name",
            _ => "",
        };
        let via = if it.depth > 1 { format!(" through {}", it.via) } else { String::new() };
        out.print_line(&format!(
            "  {}  {DIM_STYLE}{} (line {}{via}{guess}){DIM_STYLE:#}",
            format_symbol(&it.symbol),
            it.kind,
            it.line
        ));
    }
    if reached.len() > limit {
        out.print_line(&format!("  … and {} more; -n shows more", reached.len() - limit));
    }
}

/// Warns if the index is incomplete or stale.
pub(crate) fn warn_if_stale(out: &Output, freshness: &IndexFreshness) {
    if freshness.is_partial {
        let waiting = format_count(freshness.n_unresolved, "file waits", "files wait");
        out.warn(&format!("the index is incomplete ({waiting}); results may be missing"));
        out.hint("`waylore index` continues where it was interrupted");
    }
    if !freshness.changed_files.is_empty() {
        let named = freshness.changed_files.iter().take(MAX_NAMED_FILES);
        let named: Vec<&str> = named.map(String::as_str).collect();
        let files = format_count(
            freshness.changed_files.len(),
            "file in these results has",
            "files in these results have",
        );
        out.warn(&format!("{files} changed since it was indexed: {}", named.join(", ")));
        out.hint("`waylore index` updates the index");
    }
}
