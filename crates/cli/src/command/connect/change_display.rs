//! Display of planned changes to settings files, line by line. A [`HostChange`] has the text of one file before and after.

use engine::HostChange;

use crate::output::{DIM_STYLE, GOOD_STYLE, Output};

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

/// Removed and added lines: `a b c` and `a x c` give `- b`, `+ x`. Looks for each old line in the rest of the
/// new text; new lines that are passed over were inserted. That may not be the shortest diff, but it is
/// good enough for our changes, which only insert or remove whole entries.
fn diff_lines(plan: &HostChange) -> Vec<DiffLine> {
    // A file that does not exist has no lines.
    let before: Vec<&str> = plan.before.as_deref().unwrap_or_default().lines().collect();
    let after: Vec<&str> = plan.after.as_deref().unwrap_or_default().lines().collect();
    let added = |text: &&str| DiffLine { is_new: true, text: (*text).to_owned() };
    let mut res = Vec::new();
    let mut rest = after.as_slice();
    for old_line in before {
        match rest.iter().position(|it| *it == old_line) {
            // Everything up to the old line was inserted before it.
            Some(n_inserted) => {
                res.extend(rest[..n_inserted].iter().map(added));
                rest = &rest[n_inserted + 1..];
            }
            None => res.push(DiffLine { is_new: false, text: old_line.to_owned() }),
        }
    }
    res.extend(rest.iter().map(added));
    res
}
