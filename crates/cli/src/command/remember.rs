//! `waylore remember`: stores a memory that the user states, and prints how it relates to existing ones (its
//! *novelty*): it is new, it was merged into one that says the same, or it supersedes one that it contradicts.

use std::path::PathBuf;

use engine::{MemoryNovelty, NewMemory, NotebookScope, OnDuplicate, OnSecret, RememberResult};
use model::StatedPayload;
use serde_json::{Value, json};

use super::CommandContext;
use super::shared::{WriteMode, format_summary, kind_slug, names_stdin, text_or_stdin};
use crate::failure::usage_error;
use crate::output::{DIM_STYLE, ask_line, escape_controls, format_count, is_interactive};
use crate::reader::{is_agent, readable_content, readable_text, refuse_agent};
use crate::wire::{MemoryWire, notebook_word};

/// Store a memory about this project
///
/// The type is inferred from the wording unless you give it. A duplicate is merged and a contradiction supersedes the
/// older memory; both are reported and can be undone. A text with a secret is rejected.
#[derive(clap::Args, Debug)]
pub(crate) struct RememberArgs {
    /// Text; asked for on a terminal if absent, otherwise read from standard input (also with `-`)
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
    /// Field of the type, as `tried=a cache`; JSON values are read as such; repeatable
    #[arg(long = "field", value_name = "NAME=VALUE", requires = "kind")]
    fields: Vec<String>,
    /// All fields of the type as one JSON object
    #[arg(long, value_name = "JSON", requires = "kind", conflicts_with = "fields")]
    payload: Option<String>,
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

impl RememberArgs {
    /// True if the text is asked for or read from standard input.
    pub(crate) fn reads_input(&self) -> bool {
        names_stdin(&self.text)
    }

    /// True if a repeated call stores nothing.
    pub(crate) const fn has_key(&self) -> bool {
        self.key.is_some()
    }
}

pub(crate) async fn run(
    args: RememberArgs,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    let files = with_symbols(args.files, &args.symbols, args.places)?;
    let new_memory = NewMemory {
        content: read_text(&args.text)?,
        kind: args.kind.map(|it| kind_slug(&it, &command.settings.types)),
        scope: if args.user { NotebookScope::User } else { NotebookScope::Project },
        tags: args.tags,
        files,
        modules: args.modules,
        payload: stated_payload(args.payload.as_deref(), &args.fields)?,
        cwd: command.base.clone(),
        pinned: args.pin,
        on_secret: if args.redact { OnSecret::Redact } else { command.settings.on_secret() },
        origin: statement_origin(),
        on_duplicate: if args.new { OnDuplicate::Keep } else { command.settings.on_duplicate() },
        key: args.key,
        dry_run: args.dry_run,
    };
    if new_memory.pinned {
        refuse_agent("a pin is the user's", "leave out --pin")?;
    }
    let result = command.project.editor().remember(new_memory).await?;
    let mode = WriteMode::from_dry_run_flag(args.dry_run);
    if command.output.json {
        command.output.print_json("remembered", to_json(&result, mode));
    } else {
        render(&result, mode, command);
    }
    Ok(0)
}

/// The text of the memory. Asks for it if the user gave none and sits at a terminal.
fn read_text(words: &[String]) -> anyhow::Result<String> {
    if !words.is_empty() || !is_interactive() {
        return text_or_stdin(words);
    }
    let text = ask_line("What should be remembered?")?;
    if text.is_empty() {
        return Err(usage_error(
            "nothing was typed, so nothing is remembered",
            "waylore remember \"…\"",
        ));
    }
    Ok(text)
}

/// Joins --file and --symbol to the form of --at and adds the --at arguments: `--file a.rs --symbol f
/// --symbol g --at b.rs:h` gives `a.rs:f`, `a.rs:g`, `b.rs:h`.
fn with_symbols(
    files: Vec<PathBuf>,
    symbols: &[String],
    places: Vec<PathBuf>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut res = Vec::new();
    if symbols.is_empty() {
        res.extend(files);
    } else {
        let [file] = &files[..] else {
            let hint = "name each as --at path:symbol";
            return Err(usage_error("which of the files has the symbol?", hint));
        };
        for symbol in symbols {
            // Joined as an `OsString`, because the path may not be UTF-8.
            let mut file_with_symbol = file.clone().into_os_string();
            file_with_symbol.push(":");
            file_with_symbol.push(symbol);
            res.push(file_with_symbol.into());
        }
    }
    res.extend(places);
    Ok(res)
}

/// The payload that --payload or --field states.
fn stated_payload(
    payload: Option<&str>,
    fields: &[String],
) -> anyhow::Result<Option<StatedPayload>> {
    if let Some(text) = payload {
        let value = serde_json::from_str(text).map_err(|it| {
            usage_error(format!("--payload is no JSON: {it}"), "give an object, {\"tried\": \"…\"}")
        })?;
        return Ok(Some(StatedPayload(value)));
    }
    let mut acc = serde_json::Map::new();
    for field in fields {
        let Some((name, value)) = field.split_once('=') else {
            let hint = "give each field as --field name=value";
            return Err(usage_error(format!("`{field}` has no value"), hint));
        };
        // Numbers, lists and `true` are JSON; everything else is a text.
        let parsed = serde_json::from_str(value);
        acc.insert(name.trim().to_owned(), parsed.unwrap_or_else(|_| json!(value)));
    }
    Ok((!acc.is_empty()).then_some(StatedPayload(Value::Object(acc))))
}

/// The author of the statement.
fn statement_origin() -> engine::StatementOrigin {
    if is_agent() { engine::StatementOrigin::AgentShell } else { engine::StatementOrigin::Command }
}

fn render(result: &RememberResult, mode: WriteMode, command: &CommandContext<'_>) {
    let (memory, out) = (&result.memory, command.output);
    let id = memory.id.short();
    out.print_line(&format_summary(memory, &command.settings.types));
    // `--key` makes a repeated call safe: it stores nothing and shows the first result.
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
    // Only if the user gave no type.
    if let Some(suggested) = result.suggestion {
        out.say(&format!(
            "{DIM_STYLE}kept as `{}`: {}{DIM_STYLE:#}",
            suggested.kind, suggested.because
        ));
    }
    if result.n_redacted > 0 {
        let secrets = format_count(result.n_redacted, "secret", "secrets");
        out.say(&format!("{secrets} replaced before storing"));
    }
    for file in &result.missing_files {
        out.warn(&format!("`{file}` does not exist in this project (yet)"));
    }
    if let Some(why) = result.review_reason {
        if is_agent() {
            out.warn(&format!(
                "needs review because {why}; the user decides with `waylore review`"
            ));
            return;
        }
        out.warn(&format!("needs review because it reads like an instruction to an agent: {why}"));
        out.hint(&format!("to confirm it: waylore flag {id} ok"));
    }
    // A merge or a replacement may surprise, a new memory does not.
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
                format!("it said: {}", escape_controls(&readable_text(previous_text)))
            };
            format!("{} into an existing memory; {text}", tense("merged", "would merge"))
        }
        MemoryNovelty::Supersedes { old, explanation } => format!(
            "{} #{} ({explanation}); it said: {}",
            tense("supersedes", "would supersede"),
            old.id.short(),
            escape_controls(&readable_content(old))
        ),
    }
}

fn to_json(result: &RememberResult, mode: WriteMode) -> Value {
    let novelty = match &result.novelty {
        MemoryNovelty::New => json!({ "is": "new" }),
        MemoryNovelty::Merged { previous_text } => {
            json!({ "is": "merged", "was": readable_text(previous_text) })
        }
        MemoryNovelty::Supersedes { old, explanation } => json!({
            "is": "supersedes",
            "id": old.id,
            "content": readable_content(old),
            "difference": explanation,
        }),
    };
    let suggested_type =
        result.suggestion.map(|it| json!({ "type": it.kind, "because": it.because }));
    json!({
        "memory": MemoryWire::from(&result.memory),
        "notebook": notebook_word(result.scope),
        "novelty": novelty,
        "suggested_type": suggested_type,
        "redacted": result.n_redacted,
        "missing_files": result.missing_files,
        "review_reason": result.review_reason,
        "repeated": result.is_repeated,
        "dry_run": mode == WriteMode::DryRun,
    })
}
