//! `waylore edit`.

use std::path::PathBuf;

use engine::{LocatedMemory, MemoryEdit, OnSecret};
use model::PerMille;
use serde_json::json;

use super::CommandSession;
use super::shared::{kind_label, text_or_stdin};
use crate::environment;
use crate::failure::{KeptDraft, usage_error};
use crate::output::{BOLD_STYLE, DIM_STYLE, is_conversation};
use crate::wire::MemoryWire;

/// Change a memory; the old version stays in its history
///
/// Without options your editor opens with the text; a rejected text is kept for the next try. Lists (--tag, --file,
/// --module) replace the old ones; an empty value clears them.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    /// Id of the memory, or a prefix of it
    id: String,
    /// New text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// New type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Files it applies to
    #[arg(short, long = "file", value_name = "PATH")]
    files: Option<Vec<PathBuf>>,
    /// Its tags
    #[arg(short = 'g', long = "tag", value_name = "TAG")]
    tags: Option<Vec<String>>,
    /// Modules it applies to
    #[arg(short, long = "module", value_name = "NAME")]
    modules: Option<Vec<String>>,
    /// Confidence from 0 to 1
    #[arg(long, value_name = "0..1")]
    confidence: Option<f64>,
    /// Replace secrets by a placeholder instead of rejecting the text
    #[arg(long)]
    redact: bool,
}

/// Prefix of draft files.
const DRAFT_PREFIX: &str = "edit-";

pub(crate) async fn run(args: EditArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let nothing =
        args.text.is_none() && args.kind.is_none() && args.files.is_none() && args.tags.is_none();
    let nothing = nothing && args.modules.is_none() && args.confidence.is_none();
    let draft = if nothing { Some(in_editor(&args.id, session).await?) } else { None };
    let content = match args.text {
        Some(text) => Some(text_or_stdin(&[text])?),
        None => draft.as_ref().map(|it| it.text.clone()),
    };
    let confidence = args.confidence.map(|it| {
        PerMille::from_fraction(it).ok_or_else(|| {
            usage_error("a confidence is between 0 and 1", "for example --confidence 0.8")
        })
    });
    let edit = MemoryEdit {
        content,
        kind: args.kind,
        tags: args.tags.map(without_blanks),
        files: args
            .files
            .map(|it| it.into_iter().filter(|path| !path.as_os_str().is_empty()).collect()),
        modules: args.modules.map(without_blanks),
        confidence: confidence.transpose()?,
        cwd: session.base.clone(),
        on_secret: if args.redact { OnSecret::Redact } else { session.settings.on_secret() },
    };
    let edited = session.project.editor().edit(&args.id, edit).await.map_err(anyhow::Error::from);
    let (before, after) = match (edited, draft) {
        (Err(error), Some(EditDraft { path, id, .. })) => {
            return Err(error.context(KeptDraft { path, id }));
        }
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
    session.output.print_line(&format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#}  {:<11} {}",
        after.id.short(),
        kind_label(&after.kind, &session.settings.types),
        after.summary
    ));
    session.output.say(&format!(
        "version {} {DIM_STYLE}(`waylore undo {}` reverts it){DIM_STYLE:#}",
        after.version,
        after.id.short()
    ));
    Ok(0)
}

fn without_blanks(labels: Vec<String>) -> Vec<String> {
    labels.into_iter().filter(|it| !it.trim().is_empty()).collect()
}

/// A draft of an edited text. Its file is in the private data folder and stays until the text is
/// saved.
struct EditDraft {
    path: PathBuf,
    id: String,
    text: String,
}

/// Opens the user's editor on the text, or on a rejected draft.
async fn in_editor(id: &str, session: &CommandSession<'_>) -> anyhow::Result<EditDraft> {
    let ways = "give a change: --text, --type, --tag, --file, --module, --confidence";
    if !is_conversation() {
        return Err(usage_error("nothing to change was given", ways));
    }
    let Some(editor) = environment::editor_command() else {
        return Err(usage_error("neither VISUAL nor EDITOR is set", ways));
    };
    let found = session.project.retriever().find_by_id(id).await?;
    let (path, id) = (draft_path(&found), found.memory.id.short());
    let unfinished = path.exists();
    if unfinished {
        session.output.say(&format!("continuing with the text saved in `{}`", path.display()));
    } else {
        engine::write_private_file(&path, found.memory.content.as_bytes())
            .map_err(engine::Error::from)?;
    }
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program).args(words).arg(&path).status();
    let text = std::fs::read_to_string(&path);
    let kept = KeptDraft { path: path.clone(), id: id.clone() };
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        let error = usage_error(format!("`{editor}` failed; nothing was changed"), ways);
        if text.is_ok_and(|it| it != found.memory.content) {
            return Err(error.context(kept));
        }
        std::fs::remove_file(&path)?;
        return Err(error);
    }
    let text = text.map_err(|it| {
        usage_error(format!("the text written by `{editor}` cannot be read: {it}"), ways)
            .context(kept)
    })?;
    Ok(EditDraft { path, id, text })
}

/// Path of the draft of a memory.
fn draft_path(found: &LocatedMemory) -> PathBuf {
    found.notebook.store.paths().dir.join(format!("{DRAFT_PREFIX}{}.md", found.memory.id))
}

/// Removes the draft of a memory.
pub(crate) fn discard_draft(found: &LocatedMemory) {
    // Usually there is no draft.
    let _ = std::fs::remove_file(draft_path(found));
}

/// Removes the drafts of these memories.
pub(crate) fn discard_all(session: &CommandSession<'_>) {
    let dirs = session.project.notebooks().into_iter().map(|it| it.store.paths().dir.clone());
    for entry in dirs.filter_map(|it| std::fs::read_dir(it).ok()).flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(DRAFT_PREFIX) {
            let removed = std::fs::remove_file(entry.path()).is_ok();
            if removed {
                let path = entry.path();
                session.output.say(&format!("draft `{}` removed", path.display()));
            }
        }
    }
}
