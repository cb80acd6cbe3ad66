//! The last check before a memory is injected: a memory whose files or symbols do not exist is
//! withheld ([`reject_missing_references`]). The caller of the injection later flags it, so that the
//! user reviews it ([`flag_missing_references`]). An *anchor* is a symbol that a memory refers to, with
//! the hash of its code at that time.

use std::sync::Arc;

use model::{Actor, Memory, MemoryId, MemoryStatus, SymbolAnchor};
use store::{AuditAction, StoreChange, WriteBatch};

use crate::blocking::run_blocking;
use crate::editing::{clean_reason, user_batch};
use crate::retrieval::staleness::check_memories;
use crate::retrieval::{RejectionReason, has_existing_file};
use crate::{Error, NotebookScope, Project, ProjectReader};

/// Returns the reason to withhold a memory: none of its files, or none of its symbols, exists. `None`
/// if at least one of each does.
pub(super) async fn reject_missing_references(
    reader: &ProjectReader,
    memory: &Memory,
) -> Option<RejectionReason> {
    // The user's memories may name files of any project, so they are never withheld.
    memory.project?;
    if !has_existing_file(reader, memory) {
        return Some(RejectionReason::FilesMissing);
    }
    if memory.anchors.is_empty() {
        return None;
    }
    // The quick check: is a symbol still in the file that it was in?
    let (root, anchors) = (reader.place.root.clone(), memory.anchors.clone());
    let caches = Arc::clone(&reader.file_caches);
    let exists =
        move |it: &SymbolAnchor| caches.symbol_hash(&root, it.file.as_str(), &it.symbol).is_some();
    if run_blocking(move || anchors.iter().any(exists)).await {
        return None;
    }
    // The full check: the symbols may have moved, and it looks for them in the code graph.
    let staleness = check_memories(reader, std::iter::once(memory)).await.pop().unwrap_or_default();
    if staleness.files_missing {
        return Some(RejectionReason::FilesMissing);
    }
    staleness.symbols_missing.then_some(RejectionReason::SymbolsMissing)
}

/// Flags withheld memories for review and returns how many were flagged. A memory from another branch
/// is not flagged: its files may exist there.
pub(crate) async fn flag_missing_references(
    project: &Project,
    withheld: &[(MemoryId, RejectionReason)],
) -> Result<usize, Error> {
    let Some(store) = project.project_store_reader().filter(store::StoreReader::exists) else {
        return Ok(0);
    };
    let mut n_flagged = 0;
    for (id, reason) in withheld {
        // The user may have erased, removed or edited it since it was withheld.
        let Some(memory) = store.memories().get(*id).await? else { continue };
        if memory.status() != MemoryStatus::Live || !is_from_checkout(project, &memory).await {
            continue;
        }
        let mut flagged = memory;
        (flagged.flags.needs_review, flagged.updated_at) = (true, project.now);
        let changes = vec![StoreChange::Replace(Box::new(flagged))];
        let detail = Some(clean_reason(reason.description()));
        let batch = user_batch(AuditAction::Flag, project.now, changes);
        let batch = WriteBatch { actor: Actor::Observer, detail, ..batch };
        project.write(NotebookScope::Project, batch).await?;
        n_flagged += 1;
    }
    Ok(n_flagged)
}

/// True if the commit of a memory is an ancestor of HEAD, or if it has none.
async fn is_from_checkout(reader: &ProjectReader, memory: &Memory) -> bool {
    let place = reader.place.clone();
    match memory.commit.clone() {
        None => true,
        Some(commit) => run_blocking(move || source::is_ancestor_of_head(&place, &commit)).await,
    }
}
