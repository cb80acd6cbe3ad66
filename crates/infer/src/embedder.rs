//! The handle: loads the model when it is first needed and lets go of it when told.

use std::num::NonZero;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::batch::{self, Places};
use crate::encoder::Encoder;
use crate::simd::Level;
use crate::tokenizer::Tokenizer;

/// More threads would need more memory than the room may take (a desk holds up to 5 MB).
const MAX_THREADS: usize = 8;

/// The built-in embedding model. Clones share one model; any number of threads may use it at once.
///
/// Calls compute and do not wait for anything, so async callers move them off their runtime.
#[derive(Clone)]
pub struct Embedder {
    shared: Arc<Shared>,
}

struct Shared {
    model: Mutex<Option<Arc<Model>>>,
    places: Places,
}

struct Model {
    tokenizer: Tokenizer,
    encoder: Encoder,
}

impl Embedder {
    /// Spreads batches over the cores of the machine, eight at most. Loads nothing yet.
    pub fn new() -> Self {
        Self::with_threads(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }

    /// Spreads batches over this many threads, eight at most; one leaves all work to the caller.
    pub fn with_threads(threads: NonZero<usize>) -> Self {
        let limit = threads.get().min(MAX_THREADS);
        let places = Places { limit, taken: AtomicUsize::new(0) };
        Self { shared: Arc::new(Shared { model: Mutex::new(None), places }) }
    }

    /// The vectors of several texts, in their order, each of length one.
    ///
    /// A text gives the same bits alone, in any batch and on any machine. What is beyond
    /// `MAX_TOKENS` tokens is not read. An empty text has a vector too; it means nothing.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let model = self.model();
        let tokens: Vec<Vec<u16>> = texts.iter().map(|it| model.tokenizer.encode(it)).collect();
        batch::encode(&model.encoder, &self.shared.places, &tokens)
    }

    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        self.embed(&[text]).pop().expect("one text has one vector")
    }

    /// Loads the model now, so that the first text does not pay for it.
    pub fn warm(&self) {
        self.model();
    }

    /// Lets go of the weights once calls under way are done; the next call loads them again.
    pub fn release(&self) {
        self.slot().take();
    }

    pub fn is_loaded(&self) -> bool {
        self.slot().is_some()
    }

    /// Whoever comes while the model is being loaded waits for it instead of loading another.
    fn model(&self) -> Arc<Model> {
        let load = || {
            let encoder = Encoder::load(Level::best());
            Arc::new(Model { tokenizer: Tokenizer::load(), encoder })
        };
        Arc::clone(self.slot().get_or_insert_with(load))
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Model>>> {
        // The slot is empty or holds a whole model, whatever happened to the last holder of the lock.
        self.shared.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Embedder {
    fn default() -> Self {
        Self::new()
    }
}
