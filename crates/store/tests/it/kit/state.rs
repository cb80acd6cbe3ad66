//! Everything a store holds, for comparison.

use model::{Memory, MemoryStatus, QuietSpan};
use waylore_store::{Error, MemoryFilter, ProjectLocation, Store, VectorPart};

/// Name of the embedding model in tests.
pub(crate) const MODEL: &str = "tiny";

/// Everything that can be read from a store. Two equal values mean equal stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoreContents {
    /// In the order of writing, of any status.
    pub(crate) memories: Vec<Memory>,
    /// Earlier versions of each memory, in the order of `memories`.
    pub(crate) versions: Vec<Vec<Memory>>,
    pub(crate) vectors: Vec<Vec<VectorPart>>,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) places: Vec<ProjectLocation>,
    pub(crate) quiet: Vec<QuietSpan>,
}

impl StoreContents {
    pub(crate) async fn read(store: &Store) -> Result<Self, Error> {
        let mut memories = store.memories().list(everything()).await?;
        memories.reverse();
        let (mut versions, mut vectors) = (Vec::new(), Vec::new());
        for memory in &memories {
            versions.push(store.history().list_versions(memory.id).await?);
            vectors.push(store.vectors().get(memory.id, MODEL.to_owned()).await?);
        }
        let (settings, quiet) =
            (store.settings().await?, store.memories().quiet_periods().await?.spans);
        let places = store.registry().list_locations().await.unwrap_or_default();
        Ok(Self { memories, versions, vectors, settings, places, quiet })
    }
}

/// A filter that matches everything, also forgotten memories.
pub(crate) fn everything() -> MemoryFilter {
    MemoryFilter { statuses: MemoryStatus::ALL.to_vec(), ..MemoryFilter::active(100_000) }
}
