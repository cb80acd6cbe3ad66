//! `waylore edit`: changes a memory, by options or in the user's editor. A text that is rejected stays in a
//! draft file, so that no work is lost.

use std::path::PathBuf;

use engine::{LocatedMemory, MemoryEdit, OnSecret};
use model::PerMille;
use serde_json::json;

use super::CommandContext;
use super::shared::{format_summary, text_or_stdin};
use crate::environment;
use crate::failure::{KeptDraft, usage_error};
use crate::output::{DIM_STYLE, is_interactive};
use crate::reader::refuse_agent;
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

impl EditArgs {
    fn has_options(&self) -> bool {
        self.text.is_some()
            || self.kind.is_some()
            || self.files.is_some()
            || self.tags.is_some()
            || self.modules.is_some()
            || self.confidence.is_some()
    }

    /// True if the text comes from an editor or from standard input.
    pub(crate) fn reads_input(&self) -> bool {
        !self.has_options() || self.text.as_deref() == Some("-")
    }
}

/// Prefix of draft files.
const DRAFT_PREFIX: &str = "edit-";

pub(crate) async fn run(args: EditArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(
        "the wording of a memory is the user's",
        "the user can run `waylore edit` in a terminal",
    )?;
    // Without options the user writes the new text in an editor.
    let draft =
        if args.has_options() { None } else { Some(edit_in_editor(&args.id, command).await?) };
    let content = match args.text {
        Some(text) => Some(text_or_stdin(&[text])?),
        None => draft.as_ref().map(|it| it.text.clone()),
    };
    let confidence = args.confidence.map(parse_confidence).transpose()?;
    // `None` leaves a field as it is.
    let edit = MemoryEdit {
        content,
        kind: args.kind,
        tags: args.tags.map(without_blanks),
        files: args.files.map(without_empty_paths),
        modules: args.modules.map(without_blanks),
        confidence,
        cwd: command.base.clone(),
        on_secret: if args.redact { OnSecret::Redact } else { command.settings.on_secret() },
    };
    let edited = command.project.editor().edit(&args.id, edit).await.map_err(anyhow::Error::from);
    let (before, after) = match (edited, draft) {
        // The text was rejected, for example because of a secret: its draft stays.
        (Err(error), Some(EditDraft { path, id, .. })) => {
            return Err(error.context(KeptDraft { path, id }));
        }
        (Err(error), None) => return Err(error),
        (Ok(versions), None) => versions,
        (Ok(versions), Some(draft)) => {
            std::fs::remove_file(&draft.path)?;
            versions
        }
    };
    if command.output.json {
        command.output.print_json(
            "edited",
            json!({ "before": MemoryWire::from(&before), "memory": MemoryWire::from(&after) }),
        );
        return Ok(0);
    }
    command.output.print_line(&format_summary(&after, &command.settings.types));
    command.output.say(&format!(
        "version {} {DIM_STYLE}(`waylore undo {}` reverts it){DIM_STYLE:#}",
        after.version,
        after.id.short()
    ));
    Ok(0)
}

fn parse_confidence(fraction: f64) -> anyhow::Result<PerMille> {
    PerMille::from_fraction(fraction).ok_or_else(|| {
        usage_error("a confidence is between 0 and 1", "for example --confidence 0.8")
    })
}

/// Drops blank values: `--tag ""` clears the tags.
fn without_blanks(mut labels: Vec<String>) -> Vec<String> {
    labels.retain(|it| !it.trim().is_empty());
    labels
}

/// Drops empty paths: `--file ""` clears the files.
fn without_empty_paths(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|it| !it.as_os_str().is_empty());
    paths
}

/// A draft of an edited text. Its file is in the private data folder and stays until the text is
/// saved.
struct EditDraft {
    path: PathBuf,
    id: String,
    text: String,
}

/// Opens the user's editor on the text, or on a rejected draft.
async fn edit_in_editor(id: &str, command: &CommandContext<'_>) -> anyhow::Result<EditDraft> {
    let hint = "give a change: --text, --type, --tag, --file, --module, --confidence";
    if !is_interactive() {
        return Err(usage_error("nothing to change was given", hint));
    }
    let Some(editor) = environment::editor_command() else {
        return Err(usage_error("neither VISUAL nor EDITOR is set", hint));
    };
    let found = command.project.retriever().find_by_id(id).await?;
    let (path, id) = (draft_path(&found), found.memory.id.short());
    // A draft exists if an earlier text was rejected.
    if path.exists() {
        command.output.say(&format!("continuing with the text saved in `{}`", path.display()));
    } else {
        engine::write_private_file(&path, found.memory.content.as_bytes())
            .map_err(engine::Error::from)?;
    }
    // `code --wait`: the first word is the program, the rest are its arguments.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program).args(words).arg(&path).status();
    let has_succeeded = status.is_ok_and(|it| it.success());
    let text = std::fs::read_to_string(&path);
    let kept_draft = KeptDraft { path: path.clone(), id: id.clone() };
    if !has_succeeded {
        let error = usage_error(format!("`{editor}` failed; nothing was changed"), hint);
        // Keep the draft only if the user has written something.
        if text.is_ok_and(|it| it != found.memory.content) {
            return Err(error.context(kept_draft));
        }
        std::fs::remove_file(&path)?;
        return Err(error);
    }
    let text = text.map_err(|it| {
        usage_error(format!("the text written by `{editor}` cannot be read: {it}"), hint)
            .context(kept_draft)
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

/// Removes all drafts of the open notebooks.
pub(crate) fn discard_all_drafts(command: &CommandContext<'_>) {
    for notebook in command.project.notebooks() {
        let Ok(entries) = std::fs::read_dir(&notebook.store.paths().dir) else { continue };
        for entry in entries.flatten() {
            let is_draft = entry.file_name().to_string_lossy().starts_with(DRAFT_PREFIX);
            if is_draft && std::fs::remove_file(entry.path()).is_ok() {
                command.output.say(&format!("draft `{}` removed", entry.path().display()));
            }
        }
    }
}
