//! Lays every pair of lines from standard input side by side and prints the pairs that are not unrelated.
//!
//! For auditing on real text: every `Same` and `Contradicts` it prints is to be read by a person.
#![expect(clippy::print_stdout, reason = "an example talks to a person")]

use std::io::{BufRead, stdin};

use waylore_promote::{Relationship, Statement, compare};

fn main() {
    let kind = model::MemoryType::Core(model::Kind::Gotcha);
    let lines: Vec<String> = stdin().lock().lines().map_while(Result::ok).collect();
    let statement = |text| Statement { text, files: &[], kind: &kind };
    let mut n_pairs = 0_u64;
    for (nth, new) in lines.iter().enumerate() {
        for old in &lines[..nth] {
            n_pairs += 1;
            let said = match compare(&statement(old), &statement(new)) {
                Relationship::Unrelated => continue,
                Relationship::Same => "same".to_owned(),
                Relationship::Near { similarity } => format!("near {similarity}"),
                Relationship::Contradicts { what } => format!("contradicts: {what}"),
            };
            println!("{said}\n    {old}\n    {new}");
        }
    }
    println!("{n_pairs} pairs");
}
