//! The table of results: one row per number, with its goal and its baseline.
//!
//! ```text
//! | what              | measured            | goal    | baseline in the same run |
//! | `waylore show`, … | 8 ms p50, 12 ms p99 | < 15 ms | `true`: 1 ms p50 (8.0 ×) |
//! ```

use serde_json::{Value, json};

/// One measured number.
pub(crate) struct BenchRow {
    pub(crate) what: String,
    pub(crate) measured: String,
    pub(crate) goal: &'static str,
    /// The least possible work for the same result, measured in the same run.
    pub(crate) baseline: String,
}

pub(crate) fn row(
    what: impl Into<String>,
    measured: String,
    goal: &'static str,
    baseline: impl Into<String>,
) -> BenchRow {
    BenchRow { what: what.into(), measured, goal, baseline: baseline.into() }
}

pub(crate) fn render_table(rows: &[BenchRow]) -> String {
    let mut table =
        String::from("| what | measured | goal | baseline in the same run |\n|---|---|---|---|");
    for row in rows {
        table.push_str(
            &["\n| ", &row.what, " | ", &row.measured, " | ", row.goal, " | ", &row.baseline, " |"]
                .concat(),
        );
    }
    table
}

pub(crate) fn to_json(rows: &[BenchRow]) -> Value {
    let row_json = |row: &BenchRow| {
        let BenchRow { what, measured, goal, baseline } = row;
        json!({ "what": what, "measured": measured, "goal": goal, "baseline": baseline })
    };
    rows.iter().map(row_json).collect()
}
