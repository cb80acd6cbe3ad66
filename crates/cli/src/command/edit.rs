//! `waylore edit`.

use std::path::PathBuf;

use engine::{Edit, OnSecret};
use model::PerMille;
use serde_json::json;

use super::Session;
use super::shared::{label, text_or_stdin};
use crate::environment;
use crate::failure::usage;
use crate::output::{BOLD, DIM, is_conversation};
use crate::wire::MemoryWire;

/// Change a memory; what it said before stays in its history
///
/// Without any option your editor opens with the text. Lists (--tag, --file, --module) replace the
/// old ones; give an empty value to clear.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    /// Its id, or the beginning of it
    id: String,
    /// The new text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// The new type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// The files it is about
    #[arg(short, long = "file", value_name = "PATH")]
    files: Option<Vec<PathBuf>>,
    /// Its tags
    #[arg(short = 'g', long = "tag", value_name = "TAG")]
    tags: Option<Vec<String>>,
    /// The modules it is about
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Option<Vec<String>>,
    /// How far it is believed, from 0 to 1
    #[arg(long, value_name = "0..1")]
    confidence: Option<f64>,
    /// Replace secrets by a placeholder instead of refusing
    #[arg(long)]
    redact: bool,
}

pub(crate) async fn run(args: EditArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let nothing =
        args.text.is_none() && args.kind.is_none() && args.files.is_none() && args.tags.is_none();
    let nothing = nothing && args.modules.is_none() && args.confidence.is_none();
    let content = match args.text {
        Some(text) => Some(text_or_stdin(&[text])?),
        None if nothing => Some(in_editor(&args.id, session).await?),
        None => None,
    };
    let confidence = args.confidence.map(|it| {
        PerMille::from_fraction(it)
            .ok_or_else(|| usage("a confidence is between 0 and 1", "for example --confidence 0.8"))
    });
    let edit = Edit {
        content,
        kind: args.kind,
        tags: args.tags.map(filled),
        files: args
            .files
            .map(|it| it.into_iter().filter(|path| !path.as_os_str().is_empty()).collect()),
        modules: args.modules.map(filled),
        confidence: confidence.transpose()?,
        cwd: session.environment.cwd.clone(),
        on_secret: if args.redact { OnSecret::Redact } else { session.settings.on_secret() },
    };
    let (before, after) = session.engine.edit(&args.id, edit).await?;
    if session.output.json {
        session.output.data_json(
            "edited",
            json!({ "before": MemoryWire::from(&before), "memory": MemoryWire::from(&after) }),
        );
        return Ok(0);
    }
    session.output.line(&format!(
        "{BOLD}#{}{BOLD:#}  {:<11} {}",
        after.id.short(),
        label(&after.kind),
        after.summary
    ));
    session.output.say(&format!(
        "version {} {DIM}(`waylore undo {}` takes it back){DIM:#}",
        after.version,
        after.id.short()
    ));
    Ok(0)
}

fn filled(labels: Vec<String>) -> Vec<String> {
    labels.into_iter().filter(|it| !it.trim().is_empty()).collect()
}

/// Opens the person's editor on the text; the file lies in the data folder, where only they can read.
async fn in_editor(id: &str, session: &Session<'_>) -> anyhow::Result<String> {
    let ways = "give what to change: --text, --type, --tag, --file, --module, --confidence";
    if !is_conversation() {
        return Err(usage("nothing to change was given", ways));
    }
    let Some(editor) = environment::editor() else {
        return Err(usage("neither VISUAL nor EDITOR is set", ways));
    };
    let memory = session.engine.find(id).await?.memory;
    let path = session.environment.data.join(format!("edit-{}.md", memory.id.short()));
    engine::write_private(&path, memory.content.as_bytes()).map_err(engine::Error::from)?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program).args(words).arg(&path).status();
    let text = std::fs::read_to_string(&path);
    std::fs::remove_file(&path)?;
    if !status?.success() {
        return Err(usage(format!("`{editor}` did not end well; nothing was changed"), ways));
    }
    Ok(text?)
}
