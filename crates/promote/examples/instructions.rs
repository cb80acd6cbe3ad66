//! Measures `detect_instruction` on labelled lines from standard input, one JSON object each: `text`,
//! `label` (0 or 1), `source`.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};

fn main() {
    let mut counts: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
    let verbose = std::env::args().nth(1);
    for line in stdin().lock().lines().map_while(Result::ok) {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let text = row["text"].as_str().unwrap_or_default();
        let is_order = row["label"] == 1;
        let flagged = waylore_promote::detect_instruction(text);
        for source in [row["source"].as_str().unwrap_or("?"), "all"] {
            let count = counts.entry((is_order, source.to_owned())).or_default();
            count.0 += usize::from(flagged.is_some());
            count.1 += 1;
        }
        if verbose.is_some() && flagged.is_some() != is_order {
            println!("{is_order} {flagged:?} {}", text.chars().take(160).collect::<String>());
        }
    }
    for ((is_order, source), (flagged, of)) in counts {
        let label = if is_order { "order" } else { "note" };
        println!("{label:5} {source:18} {flagged:4} of {of:4} flagged");
    }
}
