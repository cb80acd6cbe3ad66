//! Output shared by the commands about code.

use engine::{IndexFreshness, ReachedSymbol, SymbolInfo};

use crate::output::{BOLD_STYLE, DIM_STYLE, Output, format_count};

/// Formats a symbol as `path:line  name` with its kind.
pub(crate) fn format_symbol(it: &SymbolInfo) -> String {
    let kind = it.kind.map_or("file", engine::DefKind::slug);
    let is_said = it.kind == Some(engine::DefKind::Test);
    let test = if it.is_test && !is_said { ", test" } else { "" };
    if it.name.is_empty() {
        return format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}file{test}{DIM_STYLE:#}",
            it.path
        );
    }
    format!(
        "{BOLD_STYLE}{}:{}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{test}, line {}{DIM_STYLE:#}",
        it.path, it.name, it.lines.0
    )
}

/// Prints reached symbols by depth, nearest first.
pub(crate) fn print_by_depth(out: &Output, mentions: &[ReachedSymbol], limit: usize) {
    let mut depth = 0;
    for it in mentions.iter().take(limit) {
        if it.depth != depth {
            depth = it.depth;
            let n = mentions.iter().filter(|it| it.depth == depth).count();
            out.print_line(&format!("{} away: {n}", format_count(depth as usize, "step", "steps")));
        }
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
    if mentions.len() > limit {
        out.print_line(&format!("  … and {} more; -n shows more", mentions.len() - limit));
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
        let shown: Vec<&str> = freshness.changed_files.iter().take(3).map(String::as_str).collect();
        let files = format_count(
            freshness.changed_files.len(),
            "file in these results has",
            "files in these results have",
        );
        out.warn(&format!("{files} changed since it was indexed: {}", shown.join(", ")));
        out.hint("`waylore index` updates the index");
    }
}
