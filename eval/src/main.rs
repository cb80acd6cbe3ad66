//! Quality on public data: one subcommand per task, one file per task.
//!
//! The data is not part of the repository. Without it a task says so and succeeds, so that the
//! program can run anywhere; a number is printed only when it was measured.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report is what this program is for"
)]
#![expect(clippy::cast_precision_loss, reason = "counts become shares and rates for people")]

mod corpus;
mod data;
mod errors;
mod graph;
mod halves;
mod history;
mod learning;
mod prefetch;
mod recall;
mod report;
mod robustness;
mod secrets;
mod signals;
mod transcripts;
mod worth_reading;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

/// Order is the order of the help text.
const TASKS: &[Task] = &[
    Task {
        name: "secrets",
        about: "find secrets in labelled snippets and in clean transcripts",
        run: secrets::run,
    },
    Task {
        name: "secrets-cold",
        about: "time the first scan of a fresh process",
        run: secrets::run_cold,
    },
    Task {
        name: "recall",
        about: "find the right memory: conversations, code, experience (--only TASK, --without STAGE,…, --ablate, --keep FOLDER)",
        run: recall::run,
    },
    Task {
        name: "signals",
        about: "facts and corrections in transcripts, against labels",
        run: signals::run,
    },
    Task {
        name: "errors",
        about: "recurring errors covered by a short outlook at the start of a session",
        run: errors::run,
    },
    Task {
        name: "prefetch",
        about: "which files a session will touch, ranked before it begins",
        run: prefetch::run,
    },
    Task {
        name: "worth-reading",
        about: "learn from real sessions; every memory was read and tagged",
        run: worth_reading::run,
    },
    Task {
        name: "robustness",
        about: "mutated transcripts are read: nothing fails, damage is counted",
        run: robustness::run,
    },
    Task {
        name: "graph",
        about: "who calls whom, against a precise index (--repo FOLDER --scip FILE, --prefix PATH, --show N)",
        run: graph::run,
    },
    Task {
        name: "history",
        about: "the other files of a commit, from one of them and its subject (--repo FOLDER, may be given again)",
        run: history::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("", String::as_str);
    let Some(task) = TASKS.iter().find(|it| it.name == name) else {
        eprintln!("usage: waylore-eval <task> --data <folder>");
        for it in TASKS {
            eprintln!("  {:<14} {}", it.name, it.about);
        }
        return ExitCode::from(2);
    };
    let data = args.iter().skip_while(|it| *it != "--data").nth(1).map(PathBuf::from);
    match (task.run)(&data.unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", task.name);
            ExitCode::FAILURE
        }
    }
}
