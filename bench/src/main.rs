//! Speed, measured beside a stated baseline in the same run, printed as one table.
//!
//! `cargo run --release -p waylore-bench` runs everything; names select. Not a test: nothing fails.
#![expect(clippy::print_stdout, reason = "the table is the output")]
#![expect(clippy::cast_precision_loss, reason = "sizes become rates for people to read")]

mod beginning;
mod clock;
mod crowd;
mod desk;
mod embed;
mod graph;
mod hook;
mod observing;
mod process;
mod recall;
mod scan;
mod soak;
mod store;
mod table;

use table::Row;

/// A benchmark: its name on the command line, and what runs it.
struct Bench {
    name: &'static str,
    run: fn() -> anyhow::Result<Vec<Row>>,
}

/// In the order of the table.
const BENCHES: &[Bench] = &[
    Bench { name: "store", run: store::run },
    Bench { name: "large", run: store::run_large },
    Bench { name: "process", run: process::run },
    Bench { name: "crowd", run: crowd::run },
    Bench { name: "secrets", run: scan::run },
    Bench { name: "embed", run: embed::run },
    Bench { name: "recall", run: recall::run },
    Bench { name: "observe", run: observing::run },
    Bench { name: "hook", run: hook::run },
    Bench { name: "init", run: beginning::run },
];

/// Only when asked for by name: minutes of work, gigabytes of room, or a repository to be named.
const LARGE: &[Bench] = &[
    Bench { name: "recall-million", run: recall::run_million },
    Bench { name: "graph", run: graph::run },
    Bench { name: "graph-parsing", run: graph::run_parsing },
    Bench { name: "soak", run: soak::run },
];

fn main() -> anyhow::Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let mut rows = Vec::new();
    let named = |it: &&Bench| asked.iter().any(|name| name == it.name);
    let usual = BENCHES.iter().filter(|it| asked.is_empty() || named(it));
    for bench in usual.chain(LARGE.iter().filter(named)) {
        rows.extend((bench.run)()?);
    }
    println!("{}", table::render(&rows));
    let path = std::path::Path::new("target/bench");
    std::fs::create_dir_all(path)?;
    std::fs::write(path.join("bench.json"), table::to_json(&rows).to_string())?;
    Ok(())
}
