//! `waylore remember`.

use std::path::PathBuf;

use engine::{MemoryNovelty, NewMemory, NotebookScope, OnDuplicate, OnSecret, RememberResult};
use serde_json::{Value, json};

use super::CommandSession;
use super::shared::{WriteMode, kind_label, text_or_stdin};
use crate::failure::usage_error;
use crate::output::{BOLD_STYLE, DIM_STYLE, escape_controls};
use crate::wire::{MemoryWire, reach_word};

/// Store a memory about this project
///
/// The type is inferred from the wording unless you give it. A duplicate is merged and a contradiction supersedes the
/// older memory; both are reported and can be undone. A text with a secret is rejected.
#[derive(clap::Args, Debug)]
pub(crate) struct RememberArgs {
    /// Text; read from standard input if absent or `-`
    text: Vec<String>,
    /// Type: gotcha, decision, preference, pattern, requirement, error_pattern …
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// File it applies to; repeatable
    #[arg(short, long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Symbol of the file it applies to; changes to it lower the confidence, moves are followed
    #[arg(short, long = "symbol", value_name = "NAME", requires = "files")]
    symbols: Vec<String>,
    /// File and symbol, `src/a.rs:verify`, or file and line, `src/a.rs:12`; repeatable
    #[arg(long = "at", value_name = "PATH:SYMBOL")]
    places: Vec<PathBuf>,
    /// Tag; repeatable
    #[arg(short = 'g', long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Module it applies to; repeatable
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// Store it for you in every project instead of this one
    #[arg(long)]
    user: bool,
    /// Pin it, so that it never decays
    #[arg(long)]
    pin: bool,
    /// Store it as a new memory even if it resembles another
    #[arg(long)]
    new: bool,
    /// Replace secrets by a placeholder instead of refusing
    #[arg(long)]
    redact: bool,
    /// Show what would happen without writing
    #[arg(long)]
    dry_run: bool,
    /// Idempotency key: a repeated key is stored once
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) async fn run(
    args: RememberArgs,
    session: &mut CommandSession<'_>,
) -> anyhow::Result<u8> {
    let files = with_symbols(args.files, &args.symbols, args.places)?;
    let teaching = NewMemory {
        content: text_or_stdin(&args.text)?,
        kind: args.kind,
        scope: if args.user { NotebookScope::User } else { NotebookScope::Project },
        tags: args.tags,
        files,
        modules: args.modules,
        cwd: session.base.clone(),
        pinned: args.pin,
        on_secret: if args.redact { OnSecret::Redact } else { session.settings.on_secret() },
        on_duplicate: if args.new { OnDuplicate::Keep } else { session.settings.on_duplicate() },
        key: args.key,
        dry_run: args.dry_run,
    };
    let res = session.project.editor().remember(teaching).await?;
    let mode = WriteMode::from_dry_run_flag(args.dry_run);
    if session.output.json {
        session.output.data_json("remembered", to_json(&res, mode));
    } else {
        render(&res, mode, session);
    }
    Ok(0)
}

/// Splits `file:symbol` arguments.
fn with_symbols(
    files: Vec<PathBuf>,
    symbols: &[String],
    places: Vec<PathBuf>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut res = match (&files[..], symbols) {
        (_, []) => files,
        ([file], _) => {
            let with = |it: &String| {
                let mut res = file.clone().into_os_string();
                res.push(":");
                res.push(it);
                res.into()
            };
            symbols.iter().map(with).collect()
        }
        _ => {
            let hint = "name each as --at path:symbol";
            return Err(usage_error("which of the files has the symbol?", hint));
        }
    };
    res.extend(places);
    Ok(res)
}

fn render(result: &RememberResult, mode: WriteMode, session: &CommandSession<'_>) {
    let (memory, out) = (&result.memory, session.output);
    let id = memory.id.short();
    out.print_line(&format!(
        "{BOLD_STYLE}#{id}{BOLD_STYLE:#}  {:<11} {}",
        kind_label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    if result.is_repeated {
        out.say(&format!(
            "this key was used before: nothing was stored {DIM_STYLE}(#{id}){DIM_STYLE:#}"
        ));
        if memory.states.deleted_at.is_some() {
            out.hint(&format!("it is forgotten; `waylore restore {id}` restores it"));
        }
        return;
    }
    out.say(&describe_novelty(result, mode));
    if let Some(suggested) = result.suggestion {
        out.say(&format!(
            "{DIM_STYLE}kept as `{}`: {}{DIM_STYLE:#}",
            suggested.kind, suggested.because
        ));
    }
    if result.n_redacted > 0 {
        out.say(&format!("{} secret(s) replaced before storing", result.n_redacted));
    }
    for file in &result.missing_files {
        out.warn(&format!("`{file}` does not exist in this project (yet)"));
    }
    if let Some(why) = result.review_reason {
        out.warn(&format!("needs review because it reads like an instruction to an agent: {why}"));
        out.hint(&format!("to confirm it: waylore flag {id} ok"));
    }
    if mode == WriteMode::Write && !matches!(result.novelty, MemoryNovelty::New) {
        out.hint("`waylore undo` reverts it; --new keeps both");
    }
}

/// The relation of the text to existing memories, in the tense of the mode.
fn describe_novelty(result: &RememberResult, mode: WriteMode) -> String {
    let memory = &result.memory;
    let tense = |done: &'static str, planned: &'static str| match mode {
        WriteMode::Write => done,
        WriteMode::DryRun => planned,
    };
    match &result.novelty {
        MemoryNovelty::New => {
            format!("{} as a new memory", tense("remembered", "would remember"))
        }
        MemoryNovelty::Merged { previous_text } => {
            let text = if *previous_text == memory.content {
                format!("the wording stays, the confidence rises to {}", memory.confidence)
            } else {
                format!("it said: {}", escape_controls(previous_text))
            };
            format!("{} into an existing memory; {text}", tense("merged", "would merge"))
        }
        MemoryNovelty::Supersedes { old, explanation } => format!(
            "{} #{} ({explanation}); it said: {}",
            tense("supersedes", "would supersede"),
            old.id.short(),
            escape_controls(&old.content)
        ),
    }
}

fn to_json(res: &RememberResult, mode: WriteMode) -> Value {
    let novelty = match &res.novelty {
        MemoryNovelty::New => json!({ "is": "new" }),
        MemoryNovelty::Merged { previous_text: was } => json!({ "is": "merged", "was": was }),
        MemoryNovelty::Supersedes { old, explanation: what } => {
            json!({ "is": "supersedes", "id": old.id, "content": old.content, "difference": what })
        }
    };
    json!({
        "memory": MemoryWire::from(&res.memory),
        "notebook": reach_word(res.scope),
        "novelty": novelty,
        "suggested_type": res.suggestion.map(|it| json!({ "type": it.kind, "because": it.because })),
        "redacted": res.n_redacted,
        "missing_files": res.missing_files,
        "review_reason": res.review_reason,
        "repeated": res.is_repeated,
        "dry_run": mode == WriteMode::DryRun,
    })
}
