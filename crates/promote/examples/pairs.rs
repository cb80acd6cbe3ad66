//! Lays every pair of lines from standard input side by side and prints the pairs that are not unrelated.
//!
//! For auditing on real text: every `Same` and `Contradicts` it prints is to be read by a person.
#![expect(clippy::print_stdout, reason = "an example talks to a person")]

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
            let said = match compare_statements(&statement(old), &statement(new)) {
                StatementRelation::Unrelated => continue,
                StatementRelation::Same => "same".to_owned(),
                StatementRelation::Near { similarity } => format!("near {similarity}"),
                StatementRelation::Contradicts { what } => format!("contradicts: {what}"),
            };
            println!("{said}\n    {old}\n    {new}");
        }
    }
    println!("{n_pairs} pairs");
}
