//! Compares every pair of lines from standard input and prints the pairs that are not unrelated.
//!
//! For audits on real text: a person reads every `Same` and `Contradicts` that it prints.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::io::{BufRead, stdin};

use waylore_promote::{MemoryStatement, StatementRelation, compare_statements};

fn main() {
    let kind = model::MemoryType::Core(model::MemoryKind::Gotcha);
    let lines: Vec<String> = stdin().lock().lines().map_while(Result::ok).collect();
    let statement = |text| MemoryStatement { text, files: &[], kind: &kind };
    let mut n_pairs = 0_u64;
    for (nth, new) in lines.iter().enumerate() {
        for old in &lines[..nth] {
            n_pairs += 1;
            let relation = match compare_statements(&statement(old), &statement(new)) {
                StatementRelation::Unrelated => continue,
                StatementRelation::Same => "same".to_owned(),
                StatementRelation::Near { similarity } => format!("near {similarity}"),
                StatementRelation::Contradicts { conflict } => format!("contradicts: {conflict}"),
            };
            println!("{relation}\n    {old}\n    {new}");
        }
    }
    println!("{n_pairs} pairs");
}
