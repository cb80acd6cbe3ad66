//! Everything a store says it holds, to be compared.

use model::{Memory, QuietSpan, Status};
use waylore_store::{Error, Filter, Part, PlaceRow, Store};

pub(crate) const MODEL: &str = "tiny";

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// In the order of writing, whatever their status.
    pub(crate) memories: Vec<Memory>,
    pub(crate) versions: Vec<Vec<Memory>>,
    pub(crate) vectors: Vec<Vec<Part>>,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) places: Vec<PlaceRow>,
    pub(crate) quiet: Vec<QuietSpan>,
}

impl State {
    pub(crate) async fn of(store: &Store) -> Result<Self, Error> {
        let mut memories = store.list(everything()).await?;
        memories.reverse();
        let (mut versions, mut vectors) = (Vec::new(), Vec::new());
        for memory in &memories {
            versions.push(store.versions(memory.id).await?);
            vectors.push(store.vectors(memory.id, MODEL.to_owned()).await?);
        }
        let (settings, quiet) = (store.settings().await?, store.quiet().await?.spans);
        let places = store.places().await.unwrap_or_default();
        Ok(Self { memories, versions, vectors, settings, places, quiet })
    }
}

/// A filter that lets everything pass, the forgotten too.
pub(crate) fn everything() -> Filter {
    Filter { statuses: Status::ALL.to_vec(), ..Filter::standing(100_000) }
}
