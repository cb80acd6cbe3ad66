//! `waylore flag`: the verdict of the user about one memory, for example `ok` or `outdated`. The engine applies it:
//! it confirms, deprecates, rewords, replaces or narrows the memory.

use std::path::PathBuf;

use engine::{CorrectionResult, MemoryCorrection};
use serde_json::json;

use super::CommandContext;
use crate::failure::usage_error;
use crate::output::{BOLD_STYLE, Output};
use crate::wire::MemoryWire;

/// Correct or confirm a memory
#[derive(clap::Args, Debug)]
pub(crate) struct FlagArgs {
    /// Id of the memory, or a prefix of it
    id: String,
    /// Verdict
    verdict: FlagVerdict,
    /// The correct text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Module it applies to (with not-here)
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// File it applies to (with not-here)
    #[arg(short, long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum FlagVerdict {
    /// Correct: confirm it, clear review and taint
    Ok,
    /// Outdated; --text gives the current fact
    Outdated,
    /// Partly wrong; --text gives the new wording
    PartlyWrong,
    /// Does not apply here; --module or --file say where it does
    NotHere,
    /// Wrong; --text gives the correct fact
    Incorrect,
}

pub(crate) async fn run(args: FlagArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    let required_text = || {
        args.text.clone().ok_or_else(|| {
            usage_error(
                "this verdict needs the correct text",
                "add --text \"the correct statement\"",
            )
        })
    };
    let correction = match args.verdict {
        FlagVerdict::Ok => MemoryCorrection::Confirmed,
        // A replacement is optional: the fact may simply be gone.
        FlagVerdict::Outdated => MemoryCorrection::Outdated { replacement: args.text.clone() },
        FlagVerdict::PartlyWrong => MemoryCorrection::PartlyWrong { text: required_text()? },
        FlagVerdict::Incorrect => MemoryCorrection::Incorrect { text: required_text()? },
        // A memory of the project is narrowed; one of the user is excluded from this project.
        FlagVerdict::NotHere => MemoryCorrection::NotApplicable {
            modules: args.modules.clone(),
            files: args.files.clone(),
            cwd: command.base.clone(),
        },
    };
    let result = command.project.editor().correct(&args.id, correction).await?;
    let out = command.output;
    if out.json {
        let body = json!({
            "memory": MemoryWire::from(&result.memory),
            "replacement": result.replacement.as_ref().map(MemoryWire::from),
            "for_review": result.dependents.iter().map(|it| it.id).collect::<Vec<_>>(),
            "excluded": result.excluded,
        });
        out.print_json("flagged", body);
    } else {
        render(args.verdict, &result, out);
    }
    Ok(0)
}

fn render(verdict: FlagVerdict, result: &CorrectionResult, out: &Output) {
    let id = result.memory.id.short();
    let effect = match verdict {
        FlagVerdict::Ok => format!("confirmed, confidence {}", result.memory.confidence),
        FlagVerdict::Outdated | FlagVerdict::Incorrect => {
            "deprecated: it is no longer shown".to_owned()
        }
        FlagVerdict::PartlyWrong => format!("now version {}", result.memory.version),
        FlagVerdict::NotHere if result.excluded => "excluded from this project".to_owned(),
        FlagVerdict::NotHere => "narrowed".to_owned(),
    };
    out.print_line(&format!("{BOLD_STYLE}#{id}{BOLD_STYLE:#}  {effect}"));
    if let Some(replacement) = &result.replacement {
        out.print_line(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#}  supersedes it: {}",
            replacement.id.short(),
            replacement.summary
        ));
    }
    // A memory derived from a wrong one may be wrong too.
    for it in &result.dependents {
        out.say(&format!(
            "#{} is derived from it and now needs review: {}",
            it.id.short(),
            it.summary
        ));
    }
    out.hint(&if result.excluded {
        format!("`waylore restore {id}` removes the exclusion")
    } else {
        "`waylore undo` reverts it".to_owned()
    });
}
