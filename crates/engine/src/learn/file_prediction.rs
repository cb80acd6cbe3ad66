//! File prediction: the files that a task will probably touch.
//!
//! Two functions answer this. `predict_files` names only files on which earlier sessions with a
//! similar task agree; injection shows them at the start of a task. `rank_task_files` fills a list
//! for a caller who asked for one (a command, a request to the daemon), so it also uses the commit
//! history, the tree, the files that sessions in a module open first, and prefetch patterns: memories of
//! the form "sessions that open a file of this module also open these files". This file loads the evidence; `observe` ranks it.

use std::collections::HashSet;

use history::{CommitHistory, file_couplings, rank_by_churn, rank_by_subject};
use model::{MemoryKind, MemoryStatus, Payload, ProjectPath};
use observe::{
    CommitEvidence, FilePrediction, ModuleLookup, PastSession, PredictionInputs, TaskDescription,
};
use store::{MemoryFilter, StoreReader};

use super::load_module_lookup;
use super::session_statistics::first_files;
use crate::code_index::history_index::commit_history;
use crate::lookup::list_memories;
use crate::{Error, NotebookScope, ProjectReader};

/// Most prefetch patterns read per module.
const MAX_PATTERNS_PER_MODULE: u32 = 10;

/// Ranks files by how likely a task touches them. `first_file` is a file that the task starts from.
pub(crate) async fn rank_task_files(
    reader: &ProjectReader,
    task: &str,
    first_file: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let mut sessions = load_past_sessions(reader).await?;
    let modules = load_module_lookup(reader).await?;
    sessions.extend(load_prefetch_patterns(reader, first_file, &modules).await?);
    let commits = summarise_commits(&commit_history(reader).await?, task, first_file);
    let mut project_files = source::tracked_files(&reader.place).unwrap_or_default();
    let generated = load_generated_files(reader).await?;
    project_files.retain(|it| !generated.contains(it));
    let inputs = PredictionInputs {
        sessions: &sessions,
        commits: &commits,
        project_files: &project_files,
        modules: &modules,
    };
    // Twice the limit, because files that were deleted since are dropped afterwards.
    let mut files =
        observe::rank_likely_files(&TaskDescription { text: task, first_file }, &inputs, limit * 2);
    let is_likely =
        |it: &str| !generated.contains(it) && source::exists_in_project(&reader.place.root, it);
    files.retain(|it| is_likely(it));
    files.truncate(limit);
    Ok(files)
}

/// Predicts the files on which earlier sessions with a similar task agree, if they still exist.
pub(crate) async fn predict_files(
    reader: &ProjectReader,
    task: &str,
) -> Result<FilePrediction, Error> {
    let mut predicted = observe::predict_files(task, &load_past_sessions(reader).await?);
    let generated = load_generated_files(reader).await?;
    predicted.files.retain(|it| {
        !generated.contains(it.path.as_str())
            && source::exists_in_project(&reader.place.root, &it.path)
    });
    Ok(predicted)
}

/// The files that a program writes. They are not opened for a task. Empty without an index.
async fn load_generated_files(reader: &ProjectReader) -> Result<HashSet<String>, Error> {
    match reader.graph_reader() {
        Some(store) => Ok(store.generated_files().await?.into_iter().collect()),
        None => Ok(HashSet::new()),
    }
}

async fn load_past_sessions(reader: &ProjectReader) -> Result<Vec<PastSession>, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let sessions = store.learning().files_by_task().await?;
    Ok(sessions.into_iter().map(|(task, touched)| PastSession { task, touched }).collect())
}

/// Loads the first files of a file's module and the stored prefetch patterns about it, each in the form
/// of a past session. In a project whose memories were imported the patterns are the only evidence.
async fn load_prefetch_patterns(
    reader: &ProjectReader,
    first_file: Option<&str>,
    modules: &ModuleLookup,
) -> Result<Vec<PastSession>, Error> {
    let Some(first_file) = first_file else { return Ok(Vec::new()) };
    let module = modules.module_of_file(first_file);
    let mut lists: Vec<Vec<ProjectPath>> = vec![first_files(reader, module, modules).await?];
    // Patterns learned before the project had a module map are stored under the folder.
    let mut names = vec![module, observe::folder_of(first_file)];
    names.dedup();
    names.retain(|it| !it.is_empty());
    for name in names {
        let kind = Some(MemoryKind::PrefetchPattern.slug().to_owned());
        let (module, statuses) = (Some(name.to_owned()), vec![MemoryStatus::Live]);
        let limit = MAX_PATTERNS_PER_MODULE;
        let filter = MemoryFilter { kind, module, statuses, ..MemoryFilter::active(limit) };
        for located in list_memories(reader, &filter, Some(NotebookScope::Project)).await? {
            // A memory of this kind without its payload names no files.
            if let Some(Payload::PrefetchPattern(pattern)) = located.memory.payload {
                lists.push([pattern.always, pattern.often].concat());
            }
        }
    }
    lists.retain(|it| !it.is_empty());
    let mut acc = Vec::new();
    for files in lists {
        let files = files.iter().map(ToString::to_string);
        let touched = std::iter::once(first_file.to_owned()).chain(files).collect();
        // Without a task: the pattern counts for every task that starts from this file.
        acc.push(PastSession { task: String::new(), touched });
    }
    Ok(acc)
}

/// Extracts the evidence for a task from the git history.
fn summarise_commits(
    history: &CommitHistory,
    task: &str,
    first_file: Option<&str>,
) -> CommitEvidence {
    let file = first_file.and_then(|it| history.find_file(it));
    let couplings = file.and_then(|file| file_couplings(history, |it| it == file).remove(&file));
    let partners = couplings.map(|it| it.partners).unwrap_or_default();
    CommitEvidence {
        co_changed: partners.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        similar_commits: rank_by_subject(history, task),
        recently_changed: rank_by_churn(history),
    }
}
