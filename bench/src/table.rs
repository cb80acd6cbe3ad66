//! One row per number: what was measured, the goal, and the baseline it stands beside.

use serde_json::{Value, json};

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) measured: String,
    pub(crate) goal: &'static str,
    /// What the same machine did in the same run with the least possible work.
    pub(crate) baseline: String,
}

pub(crate) fn row(
    what: impl Into<String>,
    measured: String,
    goal: &'static str,
    baseline: impl Into<String>,
) -> Row {
    Row { what: what.into(), measured, goal, baseline: baseline.into() }
}

pub(crate) fn render(rows: &[Row]) -> String {
    let mut res =
        String::from("| what | measured | goal | baseline in the same run |\n|---|---|---|---|");
    for it in rows {
        res.push_str(
            &["\n| ", &it.what, " | ", &it.measured, " | ", it.goal, " | ", &it.baseline, " |"]
                .concat(),
        );
    }
    res
}

pub(crate) fn to_json(rows: &[Row]) -> Value {
    let one = |it: &Row| json!({ "what": it.what, "measured": it.measured, "goal": it.goal, "baseline": it.baseline });
    rows.iter().map(one).collect()
}
