//! Output shared by the commands about code (`impact`, `deps`, `path`, `symbols`, `neighbours`).
//!
//! A *symbol* is a definition in the code or a whole file; an *edge* is one reference from a symbol to another.
//! A traversal of the edges *reaches* symbols, each at a depth: the number of edges from its start. How an edge
//! was resolved tells how certain it is.

use engine::{IndexFreshness, ReachedSymbol, SymbolInfo};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, format_count};

/// Changed files named in a warning.
const MAX_NAMED_FILES: usize = 3;

/// Formats a symbol: `src/a.rs:Server.run  method, line 12`, or for a whole file `src/a.rs  file`.
pub(crate) fn format_symbol(symbol: &SymbolInfo) -> String {
    // Test code is marked, unless the kind of the symbol is `test` anyway.
    let has_test_kind = symbol.kind == Some(engine::DefKind::Test);
    let test = if symbol.is_test && !has_test_kind { ", test" } else { "" };
    let path = &symbol.path;
    // The symbol of a whole file has neither name nor kind.
    if symbol.name.is_empty() {
        return format!("{BOLD_STYLE}{path}{BOLD_STYLE:#}  {DIM_STYLE}file{test}{DIM_STYLE:#}");
    }
    let kind = symbol.kind.map_or("file", engine::DefKind::slug);
    let (first_line, _) = symbol.lines;
    format!(
        "{BOLD_STYLE}{path}:{}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{test}, line {first_line}{DIM_STYLE:#}",
        symbol.name
    )
}

/// A target as the engine takes it: a path that begins with `./` or `../` is meant from the folder in which the
/// command runs, not from the root of the project.
pub(super) fn from_working_folder(target: &str, command: &CommandContext<'_>) -> String {
    let is_relative = target == ".." || target.starts_with("./") || target.starts_with("../");
    if !is_relative {
        return target.to_owned();
    }
    command.base.join(target).display().to_string()
}

/// Prints reached symbols by file, the file with the nearest symbol first, at most `limit` symbols.
pub(crate) fn print_by_file(out: &Output, reached: &[&ReachedSymbol], limit: usize) {
    let mut files: Vec<&str> = Vec::new();
    for it in reached {
        let path = it.symbol.path.as_str();
        if !files.contains(&path) {
            files.push(path);
        }
    }
    let mut n_left = limit;
    for file in files {
        let in_file: Vec<&&ReachedSymbol> =
            reached.iter().filter(|it| it.symbol.path == file).collect();
        if n_left == 0 {
            break;
        }
        out.print_line(&format!("{BOLD_STYLE}{file}{BOLD_STYLE:#}  {}", in_file.len()));
        for it in in_file.iter().take(n_left) {
            out.print_line(&format!("  {}", format_reached(it)));
        }
        n_left = n_left.saturating_sub(in_file.len());
    }
    if reached.len() > limit {
        out.print_line(&format!("  … and {} more; -n shows more", reached.len() - limit));
    }
}

/// `Server.run  calls (line 12)`: a symbol below the heading of its file.
fn format_reached(reached: &ReachedSymbol) -> String {
    let name = if reached.symbol.name.is_empty() { "(file)" } else { &reached.symbol.name };
    let steps = match reached.depth {
        1 => String::new(),
        n => format!(", {n} steps through {}", reached.via),
    };
    let guess = guess_note(reached.resolution);
    let line = reached.line;
    format!("{name}  {DIM_STYLE}{} (line {line}{steps}{guess}){DIM_STYLE:#}", reached.kind)
}

/// The note beside an edge that is not certain.
fn guess_note(resolution: engine::ResolutionKind) -> &'static str {
    match resolution {
        // The only method with that name; the type of the value is not known.
        engine::ResolutionKind::Unique => ", guessed by name",
        // One of several overloads.
        engine::ResolutionKind::Overload => ", ambiguous by name",
        // By scope, import, type or a precise index: certain enough to say nothing.
        _ => "",
    }
}

/// Prints reached symbols by depth, nearest first, at most `limit` of them.
pub(crate) fn print_by_depth(out: &Output, reached: &[ReachedSymbol], limit: usize) {
    let mut heading_depth = 0;
    for it in reached.iter().take(limit) {
        // A heading at each new depth; depths begin with 1.
        if it.depth != heading_depth {
            heading_depth = it.depth;
            // The limit does not apply to the number in the heading.
            let n_at_depth = reached.iter().filter(|it| it.depth == heading_depth).count();
            let steps = format_count(heading_depth as usize, "step", "steps");
            out.print_line(&format!("{steps} away: {n_at_depth}"));
        }
        let guess = guess_note(it.resolution);
        // The symbol before it on the way; at depth 1 that is the target itself.
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
    if freshness.n_partly_parsed > 0 {
        let files = format_count(freshness.n_partly_parsed, "file", "files");
        out.say(&format!("{files} understood in part; references in them may be missing"));
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
