//! `waylore remember`.

use std::path::PathBuf;

use engine::{Novelty, OnDuplicate, OnSecret, Reach, Remembered, Teaching};
use serde_json::{Value, json};

use super::Session;
use super::shared::{label, text_or_stdin};
use crate::failure::usage;
use crate::output::{BOLD, DIM, visible};
use crate::wire::{MemoryWire, reach_word};

/// Keep something about this project
///
/// The type is suggested from the words unless you give it. What is known already is merged, what
/// contradicts an older memory replaces it, and both are said and can be undone. A text that holds
/// a secret is refused.
#[derive(clap::Args, Debug)]
pub(crate) struct RememberArgs {
    /// The text; read from standard input when absent or `-`
    text: Vec<String>,
    /// What it is: gotcha, decision, preference, pattern, requirement, error_pattern …
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// A file it is about; may be given several times
    #[arg(short, long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// A symbol of the file it is about: it is doubted when that changes, and followed when it moves
    #[arg(short, long = "symbol", value_name = "NAME", requires = "files")]
    symbols: Vec<String>,
    /// File and symbol in one, `src/a.rs:verify`, or with a line, `src/a.rs:12`; may be given several times
    #[arg(long = "at", value_name = "PATH:SYMBOL")]
    places: Vec<PathBuf>,
    /// A label to find it by; may be given several times
    #[arg(short = 'g', long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The module it is about; may be given several times
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// Keep it for you in every project, not for this one
    #[arg(long)]
    user: bool,
    /// Pin it: it never fades
    #[arg(long)]
    pin: bool,
    /// Keep it as a memory of its own, whatever it resembles
    #[arg(long)]
    new: bool,
    /// Replace secrets by a placeholder instead of refusing
    #[arg(long)]
    redact: bool,
    /// Show what would happen without keeping anything
    #[arg(long)]
    dry_run: bool,
    /// A key that makes a retry harmless: the same key is kept once
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) async fn run(args: RememberArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let files = bound(args.files, &args.symbols, args.places)?;
    let teaching = Teaching {
        content: text_or_stdin(&args.text)?,
        kind: args.kind,
        reach: if args.user { Reach::User } else { Reach::Project },
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
    let res = session.engine.remember(teaching).await?;
    if session.output.json {
        session.output.data_json("remembered", to_json(&res, args.dry_run));
    } else {
        render(&res, args.dry_run, session);
    }
    Ok(0)
}

/// Files with the symbols behind a colon.
fn bound(
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
            return Err(usage("which of the files has the symbol?", hint));
        }
    };
    res.extend(places);
    Ok(res)
}

fn render(res: &Remembered, dry_run: bool, session: &Session<'_>) {
    let memory = &res.memory;
    let id = memory.id.short();
    let verb = if dry_run { "would remember" } else { "remembered" };
    let out = session.output;
    if res.repeated {
        out.line(&format!(
            "{BOLD}#{id}{BOLD:#}  {:<11} {}",
            label(&memory.kind, &session.settings.types),
            memory.summary
        ));
        out.say(&format!("this key was used before: nothing new was kept {DIM}(#{id}){DIM:#}"));
        if memory.states.deleted_at.is_some() {
            out.hint(&format!("it is forgotten; `waylore restore {id}` brings it back"));
        }
        return;
    }
    out.line(&format!(
        "{BOLD}#{id}{BOLD:#}  {:<11} {}",
        label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    match &res.novelty {
        Novelty::New => out.say(&format!("{verb} as a new memory")),
        Novelty::Merged { was } => {
            let verb = if dry_run { "would merge" } else { "merged" };
            let text = if *was == memory.content {
                format!("its wording stays, it is now surer ({})", memory.confidence)
            } else {
                format!("it said: {}", visible(was))
            };
            out.say(&format!("{verb} into what was known; {text}"));
        }
        Novelty::Supersedes { old, what } => {
            let tense = if dry_run { "would supersede" } else { "supersedes" };
            out.say(&format!(
                "{tense} #{} ({what}); it said: {}",
                old.id.short(),
                visible(&old.content)
            ));
        }
    }
    if let Some(suggested) = res.suggested {
        out.say(&format!("{DIM}kept as `{}`: {}{DIM:#}", suggested.kind, suggested.because));
    }
    if res.redacted > 0 {
        out.say(&format!("{} secret(s) replaced before keeping", res.redacted));
    }
    for file in &res.absent {
        out.warn(&format!("`{file}` does not exist in this project (yet)"));
    }
    if let Some(why) = res.held {
        out.warn(&format!("held for review, since it reads like an order to an agent: {why}"));
        out.hint(&format!("if that is what you mean: waylore flag {id} ok"));
    }
    if !dry_run && !matches!(res.novelty, Novelty::New) {
        out.hint("`waylore undo` takes it back; --new keeps both");
    }
}

fn to_json(res: &Remembered, dry_run: bool) -> Value {
    let novelty = match &res.novelty {
        Novelty::New => json!({ "is": "new" }),
        Novelty::Merged { was } => json!({ "is": "merged", "was": was }),
        Novelty::Supersedes { old, what } => {
            json!({ "is": "supersedes", "id": old.id, "content": old.content, "difference": what })
        }
    };
    json!({
        "memory": MemoryWire::from(&res.memory),
        "reach": reach_word(res.reach),
        "novelty": novelty,
        "suggested_type": res.suggested.map(|it| json!({ "type": it.kind, "because": it.because })),
        "redacted": res.redacted,
        "absent_files": res.absent,
        "held": res.held,
        "repeated": res.repeated,
        "dry_run": dry_run,
    })
}
