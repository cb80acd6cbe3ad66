//! Warnings about files that an agent touches: the memories about these files, whatever their type;
//! gotchas, error patterns and dead ends first.
//!
//! A *warning* in this file is any memory about a touched file. The three types that come first are those of
//! a *warning kind* ([`is_warning_kind`]). For example, an edit of `src/auth.rs` finds the gotcha "tokens
//! expire in UTC" and then the convention "handlers return `AuthError`".
//!
//! Runs after every tool call that touches files, so it must be fast: one query per notebook (the
//! project's and the user's), no vectors, no keyword search, git only if a memory belongs to a branch or names
//! a file that is gone (`file_renames`).
//! `hook_injection` and `step_context` choose from the selected warnings what they inject. To *assess*
//! a memory is to compute its current confidence, which ages with time; quiet spans, in which the user
//! did not work, age nothing. A `RatedMemory` is a memory with that confidence, an `AssessedMemory` holds in
//! addition what the ranking needs.

use std::collections::HashSet;

use model::{Memory, MemoryId, Phase, ProjectPath};
use recall::{DisabledStages, SearchPurpose};
use store::{FileWarnings, WARNING_KINDS};
use tokio::task;

use crate::lookup::user_excluded_memories;
use crate::model_text::is_memory_withheld;
use crate::retrieval::{
    AssessedMemory, RejectionReason, assess_memory, find_renames, has_existing_file,
    list_unmerged_branches, rank_equally_relevant,
};
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
/// `shown` are the memories that the session was shown before.
pub(crate) async fn find_file_warnings(
    reader: &ProjectReader,
    files: &[ProjectPath],
    shown: &HashSet<MemoryId>,
) -> Result<WarningSelection, Error> {
    // The query limits each file and also returns warnings that were shown before. All of these may be
    // about one file, so the limit grows with their number.
    let limit = u32::try_from(MAX_WARNINGS_READ + shown.len()).unwrap_or(u32::MAX);
    // A memory may know a file by an earlier name. Git runs only if a memory names a file that is gone.
    let renames = find_renames(reader).await?;
    let files = renames.with_earlier_names(files);
    // Both notebooks are queried at the same time.
    let start = |notebook: Notebook| {
        let (store, files) = (notebook.store.clone(), files.clone());
        (notebook, task::spawn(async move { store.memories().file_warnings(files, limit).await }))
    };
    let queries: Vec<_> = reader.notebooks().into_iter().map(start).collect();
    let (mut candidates, mut excluded) = (Vec::new(), Vec::new());
    for (notebook, warnings) in queries {
        let warnings = warnings.await.expect("the store reports errors and does not panic")?;
        for mut assessed in filter_for_checkout(reader, &notebook, warnings).await? {
            renames.apply(&mut assessed.rated.memory);
            match rejection_reason(reader, &assessed.rated, shown) {
                Some(reason) => excluded.push((assessed.rated, reason)),
                None => candidates.push(assessed),
            }
        }
    }
    // There is no query: all memories about the file are equally relevant, so confidence, age and phase
    // rank them. An agent that touches a file implements.
    let (phase, purpose) = (Phase::Implement, SearchPurpose::File);
    let hits = rank_equally_relevant(&candidates, phase, purpose, &DisabledStages::default());
    let mut selected: Vec<RatedMemory> = hits.into_iter().map(|it| it.rated).collect();
    // Every memory about the file may matter, but those of a warning kind prevent mistakes. The sort is
    // stable.
    selected.sort_by_key(|it| !is_warning_kind(&it.memory));
    Ok(WarningSelection { selected, excluded })
}

/// True for the types that warn: gotchas, error patterns, dead ends.
pub(super) fn is_warning_kind(memory: &Memory) -> bool {
    WARNING_KINDS.iter().any(|it| Some(*it) == memory.kind.core_kind())
}

/// Drops warnings that do not apply to this project or to the checked-out branch, and assesses the
/// others.
async fn filter_for_checkout(
    reader: &ProjectReader,
    notebook: &Notebook,
    warnings: FileWarnings,
) -> Result<Vec<AssessedMemory>, Error> {
    let FileWarnings { mut memories, quiet } = warnings;
    let quiet = quiet.spans_until(reader.now);
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    if notebook.scope == NotebookScope::User {
        // The user's notebook is shared by all projects; the user may exclude a memory from one of them.
        let user_excluded = user_excluded_memories(reader).await?;
        memories.retain(|it| !user_excluded.contains(&it.id));
    }
    // Listing branches runs git, so it is skipped if no memory belongs to another branch.
    let current = source::read_head(&reader.place).branch;
    if memories.iter().any(|it| it.branch.is_some() && it.branch != current) {
        let unmerged = list_unmerged_branches(reader).await;
        memories.retain(|it| it.branch.as_ref().is_none_or(|it| !unmerged.contains(it)));
    }
    let assess = |memory| assess_memory(reader, memory, notebook.scope, &quiet);
    Ok(memories.into_iter().map(assess).collect())
}

fn rejection_reason(
    reader: &ProjectReader,
    rated: &RatedMemory,
    shown: &HashSet<MemoryId>,
) -> Option<RejectionReason> {
    // Cheap tests first: the last one looks at the file system.
    if shown.contains(&rated.memory.id) {
        Some(RejectionReason::AlreadyShown)
    } else if is_memory_withheld(&rated.memory) {
        Some(RejectionReason::Withheld)
    } else if rated.current_confidence < SearchPurpose::File.row().min_confidence {
        Some(RejectionReason::LowConfidence)
    } else if !has_existing_file(reader, &rated.memory) {
        Some(RejectionReason::FilesMissing)
    } else {
        None
    }
}
