//! `waylore edit`.

use std::path::PathBuf;

use engine::{Edit, Found, OnSecret};
use model::PerMille;
use serde_json::json;

use super::Session;
use super::shared::{label, text_or_stdin};
use crate::environment;
use crate::failure::{Kept, usage};
use crate::output::{BOLD, DIM, is_conversation};
use crate::wire::MemoryWire;

/// Change a memory; what it said before stays in its history
///
/// Without any option your editor opens with the text; a text that is refused is kept for the next
/// try. Lists (--tag, --file, --module) replace the
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

/// How the names of unfinished texts begin.
const DRAFT: &str = "edit-";

pub(crate) async fn run(args: EditArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let nothing =
        args.text.is_none() && args.kind.is_none() && args.files.is_none() && args.tags.is_none();
    let nothing = nothing && args.modules.is_none() && args.confidence.is_none();
    let draft = if nothing { Some(in_editor(&args.id, session).await?) } else { None };
    let content = match args.text {
        Some(text) => Some(text_or_stdin(&[text])?),
        None => draft.as_ref().map(|it| it.text.clone()),
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
        cwd: session.base.clone(),
        on_secret: if args.redact { OnSecret::Redact } else { session.settings.on_secret() },
    };
    let edited = session.engine.edit(&args.id, edit).await.map_err(anyhow::Error::from);
    let (before, after) = match (edited, draft) {
        (Err(error), Some(Draft { path, id, .. })) => return Err(error.context(Kept { path, id })),
        (edited, None) => edited?,
        (Ok(edited), Some(draft)) => {
            std::fs::remove_file(&draft.path)?;
            edited
        }
    };
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
        label(&after.kind, &session.settings.types),
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

/// A text being written: the file lies beside the memory's database, where only its owner can read,
/// and stays until the text is kept.
struct Draft {
    path: PathBuf,
    id: String,
    text: String,
}

/// Opens the person's editor on the text, or on what they had written when it was refused.
async fn in_editor(id: &str, session: &Session<'_>) -> anyhow::Result<Draft> {
    let ways = "give what to change: --text, --type, --tag, --file, --module, --confidence";
    if !is_conversation() {
        return Err(usage("nothing to change was given", ways));
    }
    let Some(editor) = environment::editor() else {
        return Err(usage("neither VISUAL nor EDITOR is set", ways));
    };
    let found = session.engine.find(id).await?;
    let (path, id) = (draft(&found), found.memory.id.short());
    let unfinished = path.exists();
    if unfinished {
        session.output.say(&format!("going on with the text kept in `{}`", path.display()));
    } else {
        engine::write_private(&path, found.memory.content.as_bytes())
            .map_err(engine::Error::from)?;
    }
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program).args(words).arg(&path).status();
    let text = std::fs::read_to_string(&path);
    let kept = Kept { path: path.clone(), id: id.clone() };
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        let error = usage(format!("`{editor}` did not end well; nothing was changed"), ways);
        if text.is_ok_and(|it| it != found.memory.content) {
            return Err(error.context(kept));
        }
        std::fs::remove_file(&path)?;
        return Err(error);
    }
    let text = text.map_err(|it| {
        usage(format!("what `{editor}` wrote cannot be read: {it}"), ways).context(kept)
    })?;
    Ok(Draft { path, id, text })
}

/// Where the text of a memory lies while it is being written.
fn draft(found: &Found) -> PathBuf {
    found.notebook.store.home().dir.join(format!("{DRAFT}{}.md", found.memory.id))
}

/// Removes what was being written about a memory.
pub(crate) fn discard(found: &Found) {
    // Usually there is none.
    let _ = std::fs::remove_file(draft(found));
}

/// Removes whatever was being written about any memory at hand.
pub(crate) fn discard_all(session: &Session<'_>) {
    let dirs = session.engine.notebooks().into_iter().map(|it| it.store.home().dir.clone());
    for entry in dirs.filter_map(|it| std::fs::read_dir(it).ok()).flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(DRAFT) {
            let removed = std::fs::remove_file(entry.path()).is_ok();
            if removed {
                let path = entry.path();
                session.output.say(&format!("unfinished text `{}` removed", path.display()));
            }
        }
    }
}
