//! Quality on public data: one subcommand per task, one file per task.
//!
//! The data is not part of the repository. Without it a task reports that and succeeds, so the
//! program runs anywhere; a number is printed only if it was measured.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the report is the output")]
#![expect(clippy::cast_precision_loss, reason = "counts become shares and rates for people")]

mod corpus;
mod data;
mod errors;
mod exports;
mod facts;
mod graph;
mod history;
mod injection;
mod insights;
mod learning;
mod people;
mod prefetch;
mod recall;
mod report;
mod robustness;
mod secrets;
mod signals;
mod split_half;
mod transcripts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A subcommand.
struct EvalTask {
    name: &'static str,
    description: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

/// In the order of the help text.
const EVAL_TASKS: &[EvalTask] = &[
    EvalTask {
        name: "secrets",
        description: "find secrets in labelled snippets and in clean transcripts",
        run: secrets::run,
    },
    EvalTask {
        name: "secrets-cold",
        description: "time the first scan of a fresh process",
        run: secrets::run_cold,
    },
    EvalTask {
        name: "recall",
        description: "find the right memory: conversations, code, experience (--only TASK, --without STAGE,…, --ablate, --keep FOLDER)",
        run: recall::run,
    },
    EvalTask {
        name: "signals",
        description: "facts and corrections in transcripts, against labels",
        run: signals::run,
    },
    EvalTask {
        name: "errors",
        description: "recurring errors covered by the short list of expected errors at the start of a session",
        run: errors::run,
    },
    EvalTask {
        name: "prefetch",
        description: "files a session will touch, ranked before it begins",
        run: prefetch::run,
    },
    EvalTask {
        name: "insights",
        description: "what readers found worth keeping, covered by what is learned (--repos FOLDER of clones, --train [--on SET])",
        run: insights::run,
    },
    EvalTask {
        name: "people",
        description: "wishes heard in the messages of people (--repo PART, --show N)",
        run: people::run,
    },
    EvalTask {
        name: "injection",
        description: "instructions in foreign text, against labels (--show N); withheld descriptions (--manifests FOLDER)",
        run: injection::run,
    },
    EvalTask {
        name: "robustness",
        description: "mutated transcripts: nothing fails, damaged lines are counted",
        run: robustness::run,
    },
    EvalTask {
        name: "graph",
        description: "call graph, against a precise index (--repo FOLDER --scip FILE, --prefix PATH, --show N)",
        run: graph::run,
    },
    EvalTask {
        name: "exports",
        description: "exported definitions in the graph, against a plain count of the text (--repo FOLDER, repeatable, --show N)",
        run: exports::run,
    },
    EvalTask {
        name: "history",
        description: "the other files of a commit, from one of them and its subject (--repo FOLDER, repeatable)",
        run: history::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("", String::as_str);
    let Some(task) = EVAL_TASKS.iter().find(|it| it.name == name) else {
        eprintln!("usage: waylore-eval <task> --data <folder>");
        for task in EVAL_TASKS {
            eprintln!("  {:<14} {}", task.name, task.description);
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

#[cfg(test)]
mod tests {
    use super::EVAL_TASKS;

    #[test]
    fn every_task_is_listed_once() {
        let mut names: Vec<&str> = EVAL_TASKS.iter().map(|it| it.name).collect();
        names.sort_unstable();
        let n_listed = names.len();
        names.dedup();
        assert_eq!(names.len(), n_listed);
    }
}
