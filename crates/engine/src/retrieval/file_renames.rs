//! Renamed files: a memory keeps the name that a file had when the memory was written, and is found by the
//! name that the file has now.
//!
//! Names are mapped at lookup, not rebound in the store: on another branch the file may have its old name
//! again, and a change of the stored name would be a version of the memory that no user made. The usual case
//! costs no git: only if a file that a memory names is missing, git is asked for the renames since the
//! commits of such memories, once per commit and state of git's index in a process. Memories without a commit are not
//! followed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use model::{Memory, ProjectPath};
use store::{MemoryFilter, StoreReader};

use crate::blocking::run_blocking;
use crate::{Error, ProjectReader};

/// Commits whose renames are looked up; those of the newest memories.
const MAX_COMMITS: usize = 4;
/// Memories about missing files that are read for their commits.
const MAX_MEMORIES_READ: usize = 64;
/// Entries of the cache; a full one is emptied.
const MAX_CACHED_COMMITS: usize = 64;

/// The renames between a commit and git's index, by both; `None` if git does not know.
#[derive(Default)]
pub(crate) struct RenameCache(Mutex<CachedRenames>);

type CachedRenames = HashMap<(String, IndexStamp), Option<Arc<RenamedPaths>>>;

/// Size and modification time of git's index.
type IndexStamp = (u64, SystemTime);

/// Old path and new path of each renamed file.
type RenamedPaths = Vec<(String, String)>;

/// The present names of missing files that memories name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRenames {
    /// Each missing file with the file that it is now.
    renamed: BTreeMap<ProjectPath, ProjectPath>,
}

impl FileRenames {
    /// Some files and the earlier names by which memories know them.
    pub(crate) fn with_earlier_names(&self, files: &[ProjectPath]) -> Vec<ProjectPath> {
        let is_asked = |(_, now): &(&ProjectPath, &ProjectPath)| files.contains(now);
        let earlier = self.renamed.iter().filter(is_asked).map(|it| it.0);
        files.iter().chain(earlier).cloned().collect()
    }

    /// A filter, and the same one for each earlier name of its file.
    pub(crate) fn expand_filter(&self, filter: &MemoryFilter) -> Vec<MemoryFilter> {
        let Some(file) = &filter.file else { return vec![filter.clone()] };
        let names = self.with_earlier_names(std::slice::from_ref(file));
        names.into_iter().map(|it| MemoryFilter { file: Some(it), ..filter.clone() }).collect()
    }

    /// Gives the files and symbols of a memory their present names, for display.
    pub(crate) fn apply(&self, memory: &mut Memory) {
        let anchors = memory.anchors.iter_mut().map(|it| &mut it.file);
        for file in memory.files.iter_mut().chain(anchors) {
            if let Some(now) = self.renamed.get(file) {
                *file = now.clone();
            }
        }
    }
}

/// Finds the present names of files that memories of the project name and that do not exist.
pub(crate) async fn find_renames(reader: &ProjectReader) -> Result<FileRenames, Error> {
    let store = reader.project_store_reader().filter(StoreReader::exists);
    let (Some(store), Some(_)) = (store, &reader.place.git_dir) else {
        return Ok(FileRenames::default());
    };
    // Each file once, however many memories name it.
    let bound = store.memories().list_files().await?;
    let root = reader.place.root.clone();
    let missing: Vec<String> = run_blocking(move || {
        let is_missing = |file: &String| root.join(file).symlink_metadata().is_err();
        bound.into_iter().filter(is_missing).collect()
    })
    .await;
    if missing.is_empty() {
        return Ok(FileRenames::default());
    }
    let by_file = store.memories().numbers_by_file(missing.clone()).await?;
    let mut numbers: Vec<i64> = by_file.into_iter().flatten().collect();
    // The newest first: their commits are the most likely to be in the history.
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers.dedup();
    numbers.truncate(MAX_MEMORIES_READ);
    let mut commits: Vec<String> = Vec::new();
    for (_, memory) in store.memories().get_by_numbers(numbers).await? {
        commits.extend(memory.commit.filter(|it| !commits.contains(it)));
    }
    commits.truncate(MAX_COMMITS);
    let renamed = read_renames(reader, commits).await;
    let mut acc = FileRenames::default();
    for (before, now) in renamed {
        let is_bound = missing.contains(&before);
        let exists = is_bound && source::exists_in_project(&reader.place.root, &now);
        if let (true, Ok(before), Ok(now)) =
            (exists, ProjectPath::parse(&before), ProjectPath::parse(&now))
        {
            acc.renamed.entry(before).or_insert(now);
        }
    }
    Ok(acc)
}

/// The renames since some commits, from the cache or from git.
async fn read_renames(reader: &ProjectReader, commits: Vec<String>) -> RenamedPaths {
    let (place, caches) = (reader.place.clone(), Arc::clone(&reader.file_caches));
    run_blocking(move || {
        let Some(index) = source::index_stamp(&place) else { return Vec::new() };
        let mut acc = Vec::new();
        for commit in commits {
            let key = (commit, index);
            let known = caches.renames.lock().get(&key).cloned();
            let renames = known.unwrap_or_else(|| {
                let renames = source::renames_since(&place, &key.0).map(Arc::new);
                caches.renames.insert(key, renames.clone());
                renames
            });
            acc.extend(renames.iter().flat_map(|it| it.iter().cloned()));
        }
        acc
    })
    .await
}

impl RenameCache {
    fn lock(&self) -> MutexGuard<'_, CachedRenames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, key: (String, IndexStamp), renames: Option<Arc<RenamedPaths>>) {
        let mut entries = self.lock();
        if entries.len() >= MAX_CACHED_COMMITS {
            entries.clear();
        }
        entries.insert(key, renames);
    }
}
