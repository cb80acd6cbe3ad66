//! File prediction: the files that a task will touch, judging by earlier sessions and commits.

use std::collections::BTreeMap;

use history::{CommitHistory, file_couplings, rank_by_churn, rank_by_subject};
use model::{MemoryKind, MemoryStatus, Payload, ProjectPath};
use observe::{
    CommitEvidence, FilePrediction, ModuleLookup, PastSession, PredictionInputs, TaskDescription,
};
use store::{MemoryFilter, StoreReader};

use super::modules;
use crate::graph::history::commit_history;
use crate::lookup::list_memories;
use crate::{Error, NotebookScope, ProjectReader};

/// Prefetch patterns of one module that are read.
const MAX_PATTERNS_PER_MODULE: u32 = 10;

/// Ranks files by how likely a task touches them. `first` is a file that the task starts from.
pub(crate) async fn rank_task_files(
    reader: &ProjectReader,
    task: &str,
    first: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let mut sessions = load_past_sessions(reader).await?;
    let modules = modules(reader).await?;
    sessions.extend(load_prefetch_patterns(reader, first, &modules).await?);
    let commits = summarise_commits(&commit_history(reader).await?, task, first);
    let tree = source::tracked_files(&reader.place).unwrap_or_default();
    let past = PredictionInputs {
        sessions: &sessions,
        commits: &commits,
        project_files: &tree,
        modules: &modules,
    };
    // Twice the limit, because deleted files are dropped afterwards.
    let mut files = observe::rank_likely_files(
        &TaskDescription { text: task, first_file: first },
        &past,
        limit * 2,
    );
    files.retain(|it| source::exists_in_project(&reader.place.root, it));
    files.truncate(limit);
    Ok(files)
}

/// Predicts the files on which earlier sessions with a similar task agree, if they still exist.
pub(crate) async fn predict_files(
    reader: &ProjectReader,
    task: &str,
) -> Result<FilePrediction, Error> {
    let mut predicted = observe::predict_files(task, &load_past_sessions(reader).await?);
    predicted.files.retain(|it| source::exists_in_project(&reader.place.root, &it.path));
    Ok(predicted)
}

async fn load_past_sessions(reader: &ProjectReader) -> Result<Vec<PastSession>, Error> {
    let Some(store) = reader.project_store().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let sessions = store.learning().files_by_task().await?;
    Ok(sessions.into_iter().map(|(task, touched)| PastSession { task, touched }).collect())
}

/// The tokens that reading each file in full costs, for files on which sessions spent far more than
/// usual.
pub(crate) async fn read_costs(
    reader: &ProjectReader,
    files: &[String],
) -> Result<BTreeMap<String, u64>, Error> {
    let kind = Some(MemoryKind::ContextCost.slug().to_owned());
    let mut acc = BTreeMap::new();
    for file in files {
        let (file, statuses) = (ProjectPath::parse(file).ok(), vec![MemoryStatus::Live]);
        let filter = MemoryFilter { kind: kind.clone(), file, statuses, ..MemoryFilter::active(1) };
        for it in list_memories(reader, &filter, Some(NotebookScope::Project)).await? {
            if let Some(Payload::ContextCost(it)) = &it.memory.payload {
                acc.insert(it.module.clone(), it.avg_tokens);
            }
        }
    }
    Ok(acc)
}

/// Loads the prefetch patterns of a file's module, each as one more session. They are the only
/// evidence in a project whose memories were imported.
async fn load_prefetch_patterns(
    reader: &ProjectReader,
    first: Option<&str>,
    modules: &ModuleLookup,
) -> Result<Vec<PastSession>, Error> {
    let Some(first) = first else { return Ok(Vec::new()) };
    // Patterns learned before the project had a module map are stored under the folder.
    let mut names = vec![modules.module_of_file(first), observe::folder_of(first)];
    names.dedup();
    names.retain(|it| !it.is_empty());
    let mut acc = Vec::new();
    for name in names {
        let kind = Some(MemoryKind::PrefetchPattern.slug().to_owned());
        let (module, statuses) = (Some(name.to_owned()), vec![MemoryStatus::Live]);
        let limit = MAX_PATTERNS_PER_MODULE;
        let filter = MemoryFilter { kind, module, statuses, ..MemoryFilter::active(limit) };
        for it in list_memories(reader, &filter, Some(NotebookScope::Project)).await? {
            let Some(Payload::PrefetchPattern(it)) = &it.memory.payload else { continue };
            let files = it.always.iter().chain(&it.often).map(ToString::to_string);
            let touched = std::iter::once(first.to_owned()).chain(files).collect();
            acc.push(PastSession { task: String::new(), touched });
        }
    }
    Ok(acc)
}

/// Extracts from the git history what bears on a task.
fn summarise_commits(history: &CommitHistory, task: &str, first: Option<&str>) -> CommitEvidence {
    let file = first.and_then(|it| history.find_file(it));
    let couplings = file.and_then(|file| file_couplings(history, |it| it == file).remove(&file));
    let together = couplings.map(|it| it.partners).unwrap_or_default();
    CommitEvidence {
        co_changed: together.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        similar_commits: rank_by_subject(history, task),
        recently_changed: rank_by_churn(history),
    }
}
