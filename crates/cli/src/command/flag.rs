//! `waylore flag`: the verdict of the user about one memory, for example `ok` or `outdated`. The engine applies it:
//! it confirms, deprecates, rewords, replaces or narrows the memory.

use std::path::PathBuf;

use engine::{CorrectionResult, Error, Finding, MemoryCorrection, NewMemory, NotebookScope};
use model::MemoryKind;
use serde_json::json;

use super::CommandContext;
use crate::failure::usage_error;
use crate::output::{BOLD_STYLE, Output};
use crate::reader::refuse_agent;
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
    refuse_agent(
        "the verdict about a memory is the user's",
        "the tool `flag_memory` reports a doubt to the user",
    )?;
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
    let out = command.output;
    let result = match command.project.editor().correct(&args.id, correction).await {
        // A note may carry the id of a finding, which is no memory yet.
        Err(error @ Error::NotFound { .. }) => {
            return match command.project.retriever().find_finding(&args.id).await? {
                Some(finding) => flag_finding(&args, &finding, command).await,
                None => Err(error.into()),
            };
        }
        result => result?,
    };
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

/// Applies a verdict to the fix of an error that is no memory yet: it is dismissed, and the text of the user
/// becomes a memory.
async fn flag_finding(
    args: &FlagArgs,
    finding: &Finding,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    let id = &finding.id;
    if args.verdict == FlagVerdict::Ok {
        return Err(usage_error(
            format!("#{id} is no memory yet, so it cannot be confirmed"),
            "a second session with the same fix makes it a memory; `waylore remember` states it now",
        ));
    }
    // The text first: if it is refused, the finding stays as it is.
    let replacement = match args.text.clone() {
        Some(text) => {
            let statement = replacement(text, command);
            Some(command.project.editor().remember(statement).await?)
        }
        None => None,
    };
    let reason = "rejected by the user";
    let finding = command.project.editor().dismiss_finding(None, id, reason).await?;
    let replacement = replacement.map(|it| it.memory);
    let out = command.output;
    if out.json {
        let replacement = replacement.as_ref().map(MemoryWire::from);
        out.print_json("dismissed", json!({ "id": finding.id, "replacement": replacement }));
        return Ok(0);
    }
    out.print_line(&format!("{BOLD_STYLE}#{id}{BOLD_STYLE:#}  dismissed: it is no longer told"));
    if let Some(memory) = replacement {
        let (id, summary) = (memory.id.short(), memory.summary);
        out.print_line(&format!("{BOLD_STYLE}#{id}{BOLD_STYLE:#}  instead of it: {summary}"));
    }
    out.hint("`waylore undo` reverts it");
    Ok(0)
}

/// The memory that a user states in place of a finding.
fn replacement(content: String, command: &CommandContext<'_>) -> NewMemory {
    NewMemory {
        content,
        kind: Some(MemoryKind::ErrorPattern.slug().to_owned()),
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        payload: None,
        cwd: command.base.clone(),
        pinned: false,
        on_secret: command.settings.on_secret(),
        origin: engine::StatementOrigin::Command,
        on_duplicate: command.settings.on_duplicate(),
        key: None,
        dry_run: false,
    }
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
