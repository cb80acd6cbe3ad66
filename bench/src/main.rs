//! Speed, measured beside a stated baseline in the same run, printed as one table.
//!
//! `cargo run --release -p waylore-bench` runs all; names select. It is not a test: a missed goal
//! does not fail.
#![expect(clippy::print_stdout, reason = "the table is the output")]
#![expect(clippy::cast_precision_loss, reason = "sizes become rates for people to read")]

mod bench_project;
mod concurrent_writers;
mod embed;
mod graph;
mod hook;
mod init;
mod notebook_growth;
mod observing;
mod process;
mod recall;
mod repository_growth;
mod secret_scan;
mod soak;
mod store;
mod table;
mod timing;

use table::BenchRow;

/// A benchmark with its name on the command line.
struct NamedBenchmark {
    name: &'static str,
    run: fn() -> anyhow::Result<Vec<BenchRow>>,
}

/// In the order of the table.
const DEFAULT_BENCHES: &[NamedBenchmark] = &[
    NamedBenchmark { name: "store", run: store::run },
    NamedBenchmark { name: "large", run: store::run_large },
    NamedBenchmark { name: "process", run: process::run },
    NamedBenchmark { name: "crowd", run: concurrent_writers::run },
    NamedBenchmark { name: "secrets", run: secret_scan::run },
    NamedBenchmark { name: "embed", run: embed::run },
    NamedBenchmark { name: "recall", run: recall::run },
    NamedBenchmark { name: "observe", run: observing::run },
    NamedBenchmark { name: "hook", run: hook::run },
    NamedBenchmark { name: "init", run: init::run },
];

/// Run only if named: they take minutes or gigabytes of disk, or need a repository as argument.
const EXPLICIT_BENCHES: &[NamedBenchmark] = &[
    NamedBenchmark { name: "recall-million", run: recall::run_million },
    NamedBenchmark { name: "graph", run: graph::run },
    NamedBenchmark { name: "graph-parsing", run: graph::run_parsing },
    NamedBenchmark { name: "soak", run: soak::run },
    NamedBenchmark { name: "growth", run: run_growth },
    NamedBenchmark { name: "growth-files", run: repository_growth::run },
    NamedBenchmark { name: "growth-memories", run: notebook_growth::run },
];

/// Growth with the repository and with the notebook.
fn run_growth() -> anyhow::Result<Vec<BenchRow>> {
    let mut rows = repository_growth::run()?;
    rows.extend(notebook_growth::run()?);
    Ok(rows)
}

fn main() -> anyhow::Result<()> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |it: &NamedBenchmark| names.iter().any(|name| name == it.name);
    let mut rows = Vec::new();
    for bench in DEFAULT_BENCHES {
        if names.is_empty() || is_named(bench) {
            rows.extend((bench.run)()?);
        }
    }
    for bench in EXPLICIT_BENCHES {
        if is_named(bench) {
            rows.extend((bench.run)()?);
        }
    }
    println!("{}", table::render_table(&rows));
    let path = std::path::Path::new("target/bench");
    std::fs::create_dir_all(path)?;
    std::fs::write(path.join("bench.json"), table::to_json(&rows).to_string())?;
    Ok(())
}
