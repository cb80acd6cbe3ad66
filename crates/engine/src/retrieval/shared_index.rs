//! Access to the in-memory indexes: one [`NotebookIndex`] per database, shared by all searches of the
//! process.
//!
//! [`load_index`] brings an index up to date (beginning with the snapshot on disk, if there is one),
//! [`save_snapshots`] writes that snapshot, [`filter_notebook`] adds the set of memories that one
//! search may return. Locks are short and never held across an await. The *position* of an index is
//! the state of the database that it equals; the store answers a position with a *delta*, the changes
//! since then. A memory is identified by its *number*, that of its row in the database.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use infer::EmbeddingModel;
use recall::SlotSet;
use store::{MemoryFilter, StoreReader};

use super::file_renames::{FileRenames, find_renames};
use super::notebook_index::{NotebookIndex, SearchExclusions};
use super::vector_code::code_dims;
use crate::blocking::run_blocking;
use crate::{Error, Notebook, Project, ProjectReader};

/// Seed of the clustering. It is fixed so that the same vectors give the same clusters.
const CLUSTER_SEED: u64 = 1;

/// The index of one database, shared by all searches of the process.
pub(crate) type SharedIndex = Arc<RwLock<NotebookIndex>>;

/// A notebook that one search runs against.
pub(crate) struct SearchedNotebook {
    pub(crate) notebook: Notebook,
    pub(crate) index: SharedIndex,
    /// The numbers of the memories that the search may return.
    pub(crate) allowed: Arc<SlotSet>,
}

/// Prepares a notebook for a search: computes which memories pass the filter and the exclusions.
pub(crate) async fn filter_notebook(
    reader: &ProjectReader,
    notebook: Notebook,
    index: SharedIndex,
    filter: &MemoryFilter,
    exclusions: &SearchExclusions,
) -> Result<SearchedNotebook, Error> {
    // The index knows no files, modules or tags, so the store resolves those.
    let mut matching = None;
    if filter.has_subject() {
        // A memory may know the file by an earlier name.
        let renames = match filter.file {
            Some(_) => find_renames(reader).await?,
            None => FileRenames::default(),
        };
        for filter in renames.expand_filter(filter) {
            if let Some(numbers) = notebook.store.memories().numbers_matching(filter).await? {
                matching.get_or_insert_with(Vec::new).extend(numbers);
            }
        }
    }
    let allowed = read_index(&index).allowed(filter, matching.as_deref(), exclusions);
    Ok(SearchedNotebook { notebook, index, allowed })
}

/// Returns the index of a store, updated with everything written since the last search. Without an
/// embedding model the index has no vectors.
pub(crate) async fn load_index(
    reader: &ProjectReader,
    store: &StoreReader,
    embeddings: Option<&EmbeddingModel>,
) -> Result<SharedIndex, Error> {
    let model = embeddings.map_or("", EmbeddingModel::id);
    let dims = embeddings.map_or(0, EmbeddingModel::dims);
    let shared = get_or_create_index(reader, store.path(), model, dims);
    // A search and a background job often begin together; the second waits instead of reading
    // everything as well.
    let mut first_load = None;
    if read_index(&shared).position.is_none() {
        first_load = Some(reader.index_loading.lock().await);
        if read_index(&shared).position.is_none() {
            load_snapshot(&shared, store, model, code_dims(dims)).await?;
        }
    }
    // Until the store has nothing newer than the index.
    loop {
        let since = read_index(&shared).position.clone();
        let Some(delta) = store.memories().index_delta(model.to_owned(), since.clone()).await?
        else {
            drop(first_load);
            return Ok(shared);
        };
        let mut index = shared.write().unwrap_or_else(PoisonError::into_inner);
        // Another search may have updated the index during the await; this delta is then outdated
        // and the loop asks for the next one.
        if index.position == since {
            index.update(delta);
        }
    }
}

/// Fills an empty index from the snapshot of the database, if there is one.
async fn load_snapshot(
    shared: &SharedIndex,
    store: &StoreReader,
    model: &str,
    dims: usize,
) -> Result<(), Error> {
    let Some(snapshot) = store.memories().index_snapshot(model.to_owned()).await? else {
        return Ok(());
    };
    let model = model.to_owned();
    let decoded = run_blocking(move || {
        NotebookIndex::from_snapshot(&model, dims, snapshot.position.clone(), snapshot.content())
    });
    // Bytes of another version are no error: the index is then read from the rows.
    if let Some(index) = decoded.await {
        let mut shared = shared.write().unwrap_or_else(PoisonError::into_inner);
        // Another search may have filled it during the await.
        if shared.position.is_none() {
            *shared = index;
        }
    }
    Ok(())
}

/// Writes a snapshot of every index of this process that has changed enough since its last one.
pub(crate) async fn save_snapshots(project: &Project) -> Result<(), Error> {
    for notebook in project.notebooks() {
        let store = project.notebook_writer(&notebook);
        let known = {
            let indexes = project.indexes.lock().unwrap_or_else(PoisonError::into_inner);
            indexes.get(&store.path()).cloned()
        };
        let Some(shared) = known.filter(|it| read_index(it).is_snapshot_due()) else { continue };
        let index = Arc::clone(&shared);
        // A copy under the read lock: searches and changes continue while it is written.
        let copied = run_blocking(move || {
            let index = read_index(&index);
            let (position, content) = (index.position.clone()?, index.to_snapshot()?);
            Some((position, index.model.clone(), content, index.n_unsaved()))
        });
        let Some((position, model, content, n_unsaved)) = copied.await else { continue };
        if store.put_index_snapshot(position, model, content).await? {
            let mut index = shared.write().unwrap_or_else(PoisonError::into_inner);
            index.mark_saved(n_unsaved);
        }
    }
    Ok(())
}

/// Clusters the vectors of large notebooks, so that a search scans only the nearest clusters.
pub(crate) async fn cluster_vectors(reader: &ProjectReader) -> Result<(), Error> {
    let embeddings = reader.config.models.embeddings().await.ok();
    for notebook in reader.notebooks() {
        let index = load_index(reader, &notebook.store, embeddings.as_ref()).await?;
        run_blocking(move || {
            if !read_index(&index).codes.needs_clustering() {
                return;
            }
            let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
            // Planned under the read lock, so that searches continue during the slow part.
            let plan = read_index(&index).codes.plan_clusters(CLUSTER_SEED, threads);
            let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
            // A plan is void if rows moved in between; the next call makes another one.
            let _ = index.codes.apply_clusters(plan);
        })
        .await;
    }
    Ok(())
}

/// The index of a database, empty if the process has not searched it yet.
fn get_or_create_index(
    reader: &ProjectReader,
    path: PathBuf,
    model: &str,
    dims: usize,
) -> SharedIndex {
    let new_index = || Arc::new(RwLock::new(NotebookIndex::new(model, code_dims(dims))));
    let mut indexes = reader.indexes.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(indexes.entry(path).or_insert_with(new_index))
}

/// Locks an index for reading. The guard must not live across an await.
pub(crate) fn read_index(index: &SharedIndex) -> RwLockReadGuard<'_, NotebookIndex> {
    // Poisoning is ignored: an update that panicked leaves the index outdated but not wrong, because
    // the position is written last.
    index.read().unwrap_or_else(PoisonError::into_inner)
}
