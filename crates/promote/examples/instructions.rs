//! Measures `detect_instruction` on labelled lines from standard input, one JSON object each: `text`,
//! `label` (0 or 1), `source`. With any argument, it also prints the lines that are judged wrongly.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};

fn main() {
    // Flagged lines and all lines, by label and source.
    let mut counts: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
    let verbose = std::env::args().nth(1);
    for line in stdin().lock().lines().map_while(Result::ok) {
        // Lines that are not JSON are skipped.
        let Ok(row) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let text = row["text"].as_str().unwrap_or_default();
        let is_order = row["label"] == 1;
        let flagged = waylore_promote::detect_instruction(text);
        for source in [row["source"].as_str().unwrap_or("?"), "all"] {
            let (n_flagged, n_lines) = counts.entry((is_order, source.to_owned())).or_default();
            *n_flagged += usize::from(flagged.is_some());
            *n_lines += 1;
        }
        if verbose.is_some() && flagged.is_some() != is_order {
            println!("{is_order} {flagged:?} {}", text.chars().take(160).collect::<String>());
        }
    }
    for ((is_order, source), (n_flagged, n_lines)) in counts {
        let label = if is_order { "order" } else { "note" };
        println!("{label:5} {source:18} {n_flagged:4} of {n_lines:4} flagged");
    }
}
