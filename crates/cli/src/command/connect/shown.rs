//! Display of settings changes: a full diff before asking, a summary if the user agreed before.

use engine::HostChange;

use crate::output::{DIM_STYLE, GOOD_STYLE, Output, format_count};

/// An added or removed line.
struct DiffLine {
    is_new: bool,
    text: String,
}

/// Prints the changes line by line.
pub(super) fn print_full_diff(plans: &[HostChange], output: &Output) {
    for plan in plans.iter().filter(|it| !it.is_empty()) {
        output.say(&format!("in `{}`:", plan.path.display()));
        for DiffLine { is_new, text } in diff_lines(plan) {
            output.say(&if is_new {
                format!("{GOOD_STYLE}+ {text}{GOOD_STYLE:#}")
            } else {
                format!("{DIM_STYLE}- {text}{DIM_STYLE:#}")
            });
        }
    }
}

/// Prints the number of changed lines by file.
pub(super) fn print_summary(plans: &[HostChange], output: &Output) {
    for plan in plans.iter().filter(|it| !it.is_empty()) {
        let lines = diff_lines(plan);
        let n_new = lines.iter().filter(|it| it.is_new).count();
        let (more, fewer) = (format_count(n_new, "line", "lines"), lines.len() - n_new);
        let gone = if fewer > 0 { format!(", {fewer} gone") } else { String::new() };
        output.say(&format!("agents: {more} more in `{}`{gone}", plan.path.display()));
    }
}

/// Removed and added lines. Our entries are contiguous, so common prefix and suffix are enough.
fn diff_lines(plan: &HostChange) -> Vec<DiffLine> {
    let lines = |it: &Option<String>| -> Vec<String> {
        it.as_deref().unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(&plan.before), lines(&plan.after));
    let line = |is_new: bool, text: &String| DiffLine { is_new, text: text.clone() };
    let mut res = Vec::new();
    let (mut b, mut a) = (0, 0);
    while b < before.len() || a < after.len() {
        if b < before.len() && a < after.len() && before[b] == after[a] {
            (b, a) = (b + 1, a + 1);
        } else if let Some(known) = before.get(b)
            && let Some(skip) = after[a..].iter().position(|it| it == known)
        {
            res.extend(after[a..a + skip].iter().map(|it| line(true, it)));
            a += skip;
        } else if b < before.len() {
            res.push(line(false, &before[b]));
            b += 1;
        } else {
            res.push(line(true, &after[a]));
            a += 1;
        }
    }
    res
}
