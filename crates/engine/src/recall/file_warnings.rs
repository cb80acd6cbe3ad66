//! Warnings about files that an agent touches: gotchas, error patterns and dead ends.
//!
//! Runs after every tool call, so it makes one visit to each notebook: no vectors, no keyword search,
//! git only if a memory belongs to a branch.

use std::collections::HashSet;

use model::{Memory, MemoryId, Phase, ProjectPath};
use recall::{DisabledStages, MemoryCondition, SearchPurpose};
use store::FileWarnings;
use tokio::task;

use super::context::{current_condition, rank_equally_relevant};
use super::search_results::RejectionReason;
use super::unmerged_branches::unmerged_branches;
use crate::lookup::excluded_memories;
use crate::{Error, Notebook, NotebookScope, ProjectReader, RatedMemory};

/// Warnings of one file that are read, in addition to those that were shown before.
const MAX_WARNINGS_READ: usize = 64;

/// The warnings that may be shown, best first, and the excluded ones with their reason.
#[derive(Clone, Debug, Default)]
pub struct WarningSelection {
    pub selected: Vec<RatedMemory>,
    pub excluded: Vec<(RatedMemory, RejectionReason)>,
}

/// Selects the live warnings about some files that are confident enough and were not shown yet.
pub(crate) async fn select_file_warnings(
    reader: &ProjectReader,
    files: &[ProjectPath],
    shown: &HashSet<MemoryId>,
) -> Result<WarningSelection, Error> {
    // Shown warnings count against the limit of the query, so it grows with them.
    let limit = u32::try_from(MAX_WARNINGS_READ + shown.len()).unwrap_or(u32::MAX);
    // Both notebooks are queried at the same time.
    let start = |notebook: Notebook| {
        let (store, files) = (notebook.store.clone(), files.to_vec());
        (notebook, task::spawn(async move { store.memories().file_warnings(files, limit).await }))
    };
    let queries: Vec<_> = reader.notebooks().into_iter().map(start).collect();
    let (mut candidates, mut excluded) = (Vec::new(), Vec::new());
    for (notebook, warnings) in queries {
        let warnings = warnings.await.expect("the store reports errors and does not panic")?;
        for (rated, condition) in filter_for_checkout(reader, &notebook, warnings).await? {
            match rejection_reason(reader, &rated, shown) {
                Some(reason) => excluded.push((rated, reason)),
                None => candidates.push((rated, condition)),
            }
        }
    }
    let (phase, purpose) = (Phase::Implement, SearchPurpose::Step);
    let hits = rank_equally_relevant(candidates, phase, purpose, &DisabledStages::default());
    Ok(WarningSelection { selected: hits.into_iter().map(|it| it.rated).collect(), excluded })
}

/// Drops warnings that do not apply to this project or to the checked-out branch.
async fn filter_for_checkout(
    reader: &ProjectReader,
    notebook: &Notebook,
    warnings: FileWarnings,
) -> Result<Vec<(RatedMemory, MemoryCondition)>, Error> {
    let FileWarnings { mut memories, quiet } = warnings;
    let quiet = quiet.spans_until(reader.now);
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    if notebook.scope == NotebookScope::User {
        let excluded = excluded_memories(reader).await?;
        memories.retain(|it| !excluded.contains(&it.id));
    }
    // Listing branches runs git, so it is skipped if no memory belongs to one.
    if memories.iter().any(|it| it.branch.is_some()) {
        let unmerged = unmerged_branches(reader).await;
        memories.retain(|it| it.branch.as_ref().is_none_or(|it| !unmerged.contains(it)));
    }
    let rate = |memory: Memory| {
        let condition = current_condition(reader, &memory, &quiet);
        let current_confidence = condition.current_confidence;
        (RatedMemory { memory, scope: notebook.scope, current_confidence }, condition)
    };
    Ok(memories.into_iter().map(rate).collect())
}

fn rejection_reason(
    reader: &ProjectReader,
    rated: &RatedMemory,
    shown: &HashSet<MemoryId>,
) -> Option<RejectionReason> {
    // Cheap tests first: the last one looks at the file system.
    if shown.contains(&rated.memory.id) {
        Some(RejectionReason::AlreadyShown)
    } else if rated.current_confidence < SearchPurpose::Step.row().min_confidence {
        Some(RejectionReason::LowConfidence)
    } else if !has_existing_file(reader, &rated.memory) {
        Some(RejectionReason::FilesMissing)
    } else {
        None
    }
}

/// True if any file that a memory names exists, or if it names none. True for the user's memories,
/// which may name files of any project.
pub(super) fn has_existing_file(reader: &ProjectReader, memory: &Memory) -> bool {
    let exists = |it: &ProjectPath| source::exists_in_project(&reader.place.root, it.as_str());
    memory.project.is_none() || memory.files.is_empty() || memory.files.iter().any(exists)
}
