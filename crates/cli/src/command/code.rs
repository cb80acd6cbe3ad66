//! What the commands about code print alike.

use engine::{Freshness, Mention, Symbol};

use crate::output::{BOLD, DIM, Output, count};

/// `path:line  name`, with what it is.
pub(crate) fn place(it: &Symbol) -> String {
    let kind = it.kind.map_or("file", engine::DefKind::slug);
    let is_said = it.kind == Some(engine::DefKind::Test);
    let test = if it.is_test && !is_said { ", test" } else { "" };
    if it.name.is_empty() {
        return format!("{BOLD}{}{BOLD:#}  {DIM}file{test}{DIM:#}", it.path);
    }
    format!("{BOLD}{}:{}{BOLD:#}  {DIM}{kind}{test}, line {}{DIM:#}", it.path, it.name, it.lines.0)
}

/// Rings of an answer, nearest first.
pub(crate) fn rings(out: &Output, mentions: &[Mention], limit: usize) {
    let mut depth = 0;
    for it in mentions.iter().take(limit) {
        if it.depth != depth {
            depth = it.depth;
            let n = mentions.iter().filter(|it| it.depth == depth).count();
            out.line(&format!("{} away: {n}", count(depth as usize, "step", "steps")));
        }
        let guess = match it.how {
            engine::How::Unique => ", a guess by its name",
            engine::How::Overload => ", or another of its name",
            _ => "",
        };
        let via = if it.depth > 1 { format!(" through {}", it.via) } else { String::new() };
        out.line(&format!(
            "  {}  {DIM}{} (line {}{via}{guess}){DIM:#}",
            place(&it.symbol),
            it.kind,
            it.line
        ));
    }
    if mentions.len() > limit {
        out.line(&format!("  … and {} more; -n shows more", mentions.len() - limit));
    }
}

/// Says what an answer may lack.
pub(crate) fn doubts(out: &Output, freshness: &Freshness) {
    if freshness.is_partial {
        let waiting = count(freshness.n_waiting, "file waits", "files wait");
        out.warn(&format!("the index is not complete ({waiting}); something may be missing"));
        out.hint("`waylore index` goes on where it was broken off");
    }
    if !freshness.changed.is_empty() {
        let shown: Vec<&str> = freshness.changed.iter().take(3).map(String::as_str).collect();
        let files =
            count(freshness.changed.len(), "file of this answer has", "files of this answer have");
        out.warn(&format!("{files} changed since it was indexed: {}", shown.join(", ")));
        out.hint("`waylore index` brings it up to date");
    }
}
