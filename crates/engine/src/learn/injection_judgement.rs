//! Judges the notes of a learned session: records in the injection log which memories it followed.
//!
//! Runs after the lesson is stored. Unlike the uses in `usage.rs`, which change the memories of the
//! project, it covers the user's memories, too.

use model::{Memory, MemoryId};
use observe::Scratchpad;
use store::ShownEntry;

use super::usage::{ShownMemory, followed_or_cited, shown_log_session};
use crate::injection::injection_log::{judge_injections, store_injections};
use crate::injection::shown_notes::open_shown_log;
use crate::{Error, Project};

/// Moves the notes that hooks have logged into the notebooks, and records which of those of this
/// session were followed.
pub(super) async fn judge_session_notes(project: &Project, pad: &Scratchpad) -> Result<(), Error> {
    store_injections(project).await?;
    let Some(session) = shown_log_session(pad) else { return Ok(()) };
    let log = open_shown_log(project, &session);
    let mut shown = Vec::new();
    for entry in log.read_entries() {
        if let ShownEntry::MemoryAt { id, at } = entry
            && let Some(memory) = find_memory(project, id).await?
        {
            shown.push(ShownMemory { memory, at });
        }
    }
    // The usual case: nothing to write.
    if shown.is_empty() {
        return Ok(());
    }
    let mut cited = Vec::new();
    for short in &pad.cited_ids {
        let matches = shown.iter().map(|it| &it.memory).filter(|it| it.id.short() == *short);
        cited.push(matches.cloned().collect());
    }
    let followed: Vec<MemoryId> = followed_or_cited(pad, &shown, &cited).into_keys().collect();
    judge_injections(project, &session, &followed).await
}

/// Reads a memory from the notebook that has it; `None` if it was erased.
async fn find_memory(project: &Project, id: MemoryId) -> Result<Option<Memory>, Error> {
    for notebook in project.notebooks() {
        if let Some(memory) = notebook.store.memories().get(id).await? {
            return Ok(Some(memory));
        }
    }
    Ok(None)
}
