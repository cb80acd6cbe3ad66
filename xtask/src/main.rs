//! Development tasks: `tidy` checks the project's coding rules, `deny` licences and bans of
//! dependencies, `docs` writes the generated reference.
//!
//! A check returns a list of problems; each names a place, the finding and its remedy, for example
//! `crates/a/src/b.rs:3: a skipped test; assert today's wrong answer, with a FIXME`.
//!
//! Nothing here is shipped, and nothing here knows the product beyond the tables it prints.

#![expect(clippy::print_stdout, reason = "a tool prints to its user")]

mod deny;
mod docs;
mod tidy;
mod tree;

use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask <command>

  tidy   check the coding rules and print a remedy for each problem
  deny   check licences, bans and sources of every dependency against deny.toml
  docs   write docs/reference from the tables in the code";

fn main() -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy(root),
        Some("deny") => deny(root),
        Some("docs") => docs(root),
        _ => {
            println!("{HELP}");
            Ok(ExitCode::from(2))
        }
    }
}

fn tidy(root: &Path) -> anyhow::Result<ExitCode> {
    let tree = tree::read(root)?;
    for measure in tidy::language::measure(&tree) {
        println!("{:36} {:6.1}   goal {}", measure.name, measure.value, measure.goal);
    }
    Ok(report("tidy", &tidy::check(&tree, &tree::metadata(root)?)))
}

fn deny(root: &Path) -> anyhow::Result<ExitCode> {
    Ok(report("deny", &deny::check(&deny::read(root)?, &tree::graph(root)?)?))
}

/// Prints the problems. Notices do not fail the command.
fn report(name: &str, problems: &[tidy::Problem]) -> ExitCode {
    for problem in problems {
        println!("{problem}");
    }
    let n_failures = problems.iter().filter(|it| it.grade == tidy::Grade::Failure).count();
    println!("{name}: {n_failures} to fix, {} notices", problems.len() - n_failures);
    if n_failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn docs(root: &Path) -> anyhow::Result<ExitCode> {
    for document in docs::DOCUMENTS {
        let changed = tree::write_if_changed(&root.join(document.path), &(document.render)())?;
        println!("{} {}", if changed { "wrote " } else { "unchanged" }, document.path);
    }
    Ok(ExitCode::SUCCESS)
}
