//! `waylore context siblings`: prints what other subagents of the same parent session have recorded so far.

use engine::SiblingNotes;
use serde_json::json;

use crate::command::CommandContext;

/// Print the notes of a subagent's siblings
///
/// Notes of running sessions with the same parent session. Notes that derive from text outside the
/// project, or that read like an instruction, are withheld.
#[derive(clap::Args, Debug)]
pub(super) struct SiblingsArgs {
    /// Session of the subagent
    #[arg(value_name = "SESSION")]
    session: model::SessionId,
}

/// Prints the notes that other subagents of the same parent session recorded.
pub(super) fn run(args: &SiblingsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let SiblingNotes { notes, n_withheld } =
        command.project.session_history().sibling_notes(args.session)?;
    let out = command.output;
    if out.json {
        let note_json = |it: &engine::SiblingNote| {
            json!({
                "session": it.session,
                "type": it.note.kind.slug(),
                "content": it.note.content,
                "files": it.note.files,
            })
        };
        let notes: Vec<_> = notes.iter().map(note_json).collect();
        out.print_json("siblings", json!({ "notes": notes, "n_withheld": n_withheld }));
    } else if !notes.is_empty() {
        out.print_line(&engine::frame_sibling_notes(&notes));
    }
    if n_withheld > 0 {
        out.say(&format!(
            "{n_withheld} withheld: from text outside the project, or reading like an instruction"
        ));
    }
    Ok(u8::from(notes.is_empty()))
}
