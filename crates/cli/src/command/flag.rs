//! `waylore flag`.

use std::path::PathBuf;

use engine::{CorrectionResult, MemoryCorrection};
use serde_json::json;

use super::CommandSession;
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

pub(crate) async fn run(args: FlagArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let text = || {
        args.text.clone().ok_or_else(|| {
            usage_error(
                "this verdict needs the correct text",
                "add --text \"the correct statement\"",
            )
        })
    };
    let correction = match args.verdict {
        FlagVerdict::Ok => MemoryCorrection::Confirmed,
        FlagVerdict::Outdated => MemoryCorrection::Outdated { replacement: args.text.clone() },
        FlagVerdict::PartlyWrong => MemoryCorrection::PartlyWrong { text: text()? },
        FlagVerdict::Incorrect => MemoryCorrection::Incorrect { text: text()? },
        FlagVerdict::NotHere => MemoryCorrection::NotApplicable {
            modules: args.modules.clone(),
            files: args.files.clone(),
            cwd: session.base.clone(),
        },
    };
    let res = session.project.editor().correct(&args.id, correction).await?;
    let out = session.output;
    if out.json {
        let body = json!({
            "memory": MemoryWire::from(&res.memory),
            "replacement": res.replacement.as_ref().map(MemoryWire::from),
            "for_review": res.dependents.iter().map(|it| it.id).collect::<Vec<_>>(),
            "excluded": res.excluded,
        });
        out.data_json("flagged", body);
    } else {
        render(args.verdict, &res, out);
    }
    Ok(0)
}

fn render(verdict: FlagVerdict, res: &CorrectionResult, out: &Output) {
    let id = res.memory.id.short();
    let done = match verdict {
        FlagVerdict::Ok => format!("confirmed, confidence {}", res.memory.confidence),
        FlagVerdict::Outdated | FlagVerdict::Incorrect => {
            "deprecated: it is no longer shown".to_owned()
        }
        FlagVerdict::PartlyWrong => format!("now version {}", res.memory.version),
        FlagVerdict::NotHere if res.excluded => "excluded from this project".to_owned(),
        FlagVerdict::NotHere => "narrowed".to_owned(),
    };
    out.print_line(&format!("{BOLD_STYLE}#{id}{BOLD_STYLE:#}  {done}"));
    if let Some(fresh) = &res.replacement {
        out.print_line(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#}  supersedes it: {}",
            fresh.id.short(),
            fresh.summary
        ));
    }
    for it in &res.dependents {
        out.say(&format!(
            "#{} is derived from it and now needs review: {}",
            it.id.short(),
            it.summary
        ));
    }
    out.hint(&if res.excluded {
        format!("`waylore restore {id}` removes the exclusion")
    } else {
        "`waylore undo` reverts it".to_owned()
    });
}
