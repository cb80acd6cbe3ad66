//! How changes to settings are shown: whole where somebody is asked, in brief where somebody agreed before.

use engine::HostChange;

use crate::output::{DIM, GOOD, Output, count};

/// A line that comes or goes.
struct Line {
    is_new: bool,
    text: String,
}

/// What changes, line by line.
pub(super) fn whole(plans: &[HostChange], output: &Output) {
    for plan in plans.iter().filter(|it| !it.is_empty()) {
        output.say(&format!("in `{}`:", plan.path.display()));
        for Line { is_new, text } in differences(plan) {
            output.say(&if is_new {
                format!("{GOOD}+ {text}{GOOD:#}")
            } else {
                format!("{DIM}- {text}{DIM:#}")
            });
        }
    }
}

/// How much changes in which file.
pub(super) fn brief(plans: &[HostChange], output: &Output) {
    for plan in plans.iter().filter(|it| !it.is_empty()) {
        let lines = differences(plan);
        let n_new = lines.iter().filter(|it| it.is_new).count();
        let (more, fewer) = (count(n_new, "line", "lines"), lines.len() - n_new);
        let gone = if fewer > 0 { format!(", {fewer} gone") } else { String::new() };
        output.say(&format!("agents: {more} more in `{}`{gone}", plan.path.display()));
    }
}

/// The lines that go and come. Ours stand together, so that what is common before and behind tells all.
fn differences(plan: &HostChange) -> Vec<Line> {
    let lines = |it: &Option<String>| -> Vec<String> {
        it.as_deref().unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(&plan.before), lines(&plan.after));
    let line = |is_new: bool, text: &String| Line { is_new, text: text.clone() };
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
