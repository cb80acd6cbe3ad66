//! `waylore flag`.

use std::path::PathBuf;

use engine::Correction;
use serde_json::json;

use super::Session;
use crate::failure::usage;
use crate::output::BOLD;
use crate::wire::MemoryWire;

/// Say what is wrong with a memory, or that it is right
#[derive(clap::Args, Debug)]
pub(crate) struct FlagArgs {
    /// Its id, or the beginning of it
    id: String,
    /// What about it
    verdict: Verdict,
    /// What is right instead
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// The module it does apply to (with not-here)
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// The file it does apply to (with not-here)
    #[arg(short, long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is right: confirm it, lift review and taint
    Ok,
    /// It was true once; --text gives what is true now
    Outdated,
    /// Part of it is wrong; --text is its new wording
    PartlyWrong,
    /// It does not apply here; --module or --file say where it does
    NotHere,
    /// It was never true; --text says what is
    Incorrect,
}

pub(crate) async fn run(args: FlagArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let text = || {
        args.text.clone().ok_or_else(|| {
            usage("that needs the right text", "add --text \"what is right instead\"")
        })
    };
    let correction = match args.verdict {
        Verdict::Ok => Correction::Right,
        Verdict::Outdated => Correction::Outdated { replacement: args.text.clone() },
        Verdict::PartlyWrong => Correction::PartlyWrong { text: text()? },
        Verdict::Incorrect => Correction::Incorrect { text: text()? },
        Verdict::NotHere => Correction::NotHere {
            modules: args.modules.clone(),
            files: args.files.clone(),
            cwd: session.base.clone(),
        },
    };
    let res = session.engine.correct(&args.id, correction).await?;
    let out = session.output;
    if out.json {
        let body = json!({
            "memory": MemoryWire::from(&res.memory),
            "replacement": res.replacement.as_ref().map(MemoryWire::from),
            "for_review": res.shaken.iter().map(|it| it.id).collect::<Vec<_>>(),
            "excluded": res.excluded,
        });
        out.data_json("flagged", body);
        return Ok(0);
    }
    let id = res.memory.id.short();
    let done = match args.verdict {
        Verdict::Ok => format!("confirmed, confidence {}", res.memory.confidence),
        Verdict::Outdated | Verdict::Incorrect => "deprecated: it is no longer shown".to_owned(),
        Verdict::PartlyWrong => format!("now version {}", res.memory.version),
        Verdict::NotHere if res.excluded => "kept out of this project".to_owned(),
        Verdict::NotHere => "narrowed".to_owned(),
    };
    out.line(&format!("{BOLD}#{id}{BOLD:#}  {done}"));
    if let Some(fresh) = &res.replacement {
        out.line(&format!(
            "{BOLD}#{}{BOLD:#}  takes its place: {}",
            fresh.id.short(),
            fresh.summary
        ));
    }
    for it in &res.shaken {
        out.say(&format!(
            "#{} rests on it and now waits for review: {}",
            it.id.short(),
            it.summary
        ));
    }
    out.hint(&if res.excluded {
        format!("`waylore restore {id}` lets it in again")
    } else {
        "`waylore undo` takes it back".to_owned()
    });
    Ok(0)
}
