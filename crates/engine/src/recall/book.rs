//! A notebook with its index as it stands at this moment, and who in it may answer.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use infer::Embeddings;
use recall::Slots;
use store::{Filter, Store};

use super::index::{Index, ShutOut};
use crate::models::{self, aside};
use crate::{Engine, Error, Notebook};

/// The same vectors give the same lists.
const SEED: u64 = 1;

/// An index that questions share.
pub(crate) type Shared = Arc<RwLock<Index>>;

pub(crate) struct Book {
    pub(crate) notebook: Notebook,
    pub(crate) index: Shared,
    pub(crate) allowed: Arc<Slots>,
}

impl Engine {
    /// The notebooks a question is put to, each with those who may answer it.
    pub(crate) async fn books(
        &self,
        notebooks: Vec<(Notebook, Shared)>,
        filter: &Filter,
        shut_out: &ShutOut,
    ) -> Result<Vec<Book>, Error> {
        let mut res = Vec::new();
        for (notebook, index) in notebooks {
            let about = if filter.is_about_something() {
                notebook.store.about(filter.clone()).await?
            } else {
                None
            };
            let allowed = read(&index).allowed(filter, about.as_deref(), shut_out);
            res.push(Book { notebook, index, allowed });
        }
        Ok(res)
    }

    /// The index of a store, brought up to date.
    pub(crate) async fn index(&self, store: &Store) -> Result<Shared, Error> {
        let embeddings = self.config.models.embeddings().await.ok();
        let model = embeddings.as_ref().map_or("", Embeddings::id);
        let dims = embeddings.as_ref().map_or(0, Embeddings::dims);
        let shared = self.shared_index(store.path(), model, dims);
        loop {
            let since = read(&shared).position.clone();
            let Some(news) = store.news(model.to_owned(), since.clone()).await? else {
                return Ok(shared);
            };
            let mut index = shared.write().unwrap_or_else(PoisonError::into_inner);
            // Another question may have been faster; its news are then the newer ones.
            if index.position == since {
                index.update(news);
            }
        }
    }

    /// Sorts the vectors of large notebooks into lists of near ones. Takes seconds of work, so it is
    /// worth it only where many questions follow; they are answered meanwhile.
    pub async fn arrange(&self) -> Result<(), Error> {
        for notebook in self.notebooks() {
            let index = self.index(&notebook.store).await?;
            aside(move || {
                if !read(&index).codes.needs_arranging() {
                    return;
                }
                let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
                let plan = read(&index).codes.plan(SEED, threads);
                let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
                // Rows that have moved meanwhile make the plan void; the next call makes another.
                let _ = index.codes.arrange(plan);
            })
            .await;
        }
        Ok(())
    }

    fn shared_index(&self, path: PathBuf, model: &str, dims: usize) -> Shared {
        let fresh = || Arc::new(RwLock::new(Index::new(model, models::code_dims(dims))));
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(indexes.entry(path).or_insert_with(fresh))
    }
}

pub(crate) fn read(index: &Shared) -> RwLockReadGuard<'_, Index> {
    // An update that panicked leaves an index that is behind, not one that is wrong: the position
    // is written last.
    index.read().unwrap_or_else(PoisonError::into_inner)
}
