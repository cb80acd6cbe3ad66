//! Handle of the built-in model: loads it on first use and releases it on request.

use std::num::NonZero;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::batch::{self, ThreadPermits};
use crate::encoder::TransformerEncoder;
use crate::simd::CpuLevel;
use crate::tokenizer::Tokenizer;

/// Limits memory: scratch buffers take up to 5 MB per thread.
const MAX_THREADS: usize = 8;

/// The built-in embedding model. Clones share one model; any number of threads may use it at once.
///
/// Calls compute and do not wait for anything, so async callers move them off their runtime.
#[derive(Clone)]
pub struct BuiltInEmbedder {
    shared: Arc<SharedModel>,
}

struct SharedModel {
    model: Mutex<Option<Arc<LoadedModel>>>,
    places: ThreadPermits,
}

struct LoadedModel {
    tokenizer: Tokenizer,
    encoder: TransformerEncoder,
}

impl BuiltInEmbedder {
    /// Spreads batches over the cores of the machine, eight at most. Loads nothing yet.
    pub fn new() -> Self {
        Self::with_threads(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }

    /// Spreads batches over this many threads, eight at most; one leaves all work to the caller.
    pub fn with_threads(threads: NonZero<usize>) -> Self {
        let limit = threads.get().min(MAX_THREADS);
        let places = ThreadPermits { limit, taken: AtomicUsize::new(0) };
        Self { shared: Arc::new(SharedModel { model: Mutex::new(None), places }) }
    }

    /// The vectors of several texts, in their order, each of length one.
    ///
    /// A text gives the same bits alone, in any batch and on any machine. What is beyond
    /// `MAX_TOKENS` tokens is not read. An empty text has a vector too; it means nothing.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let model = self.load_model();
        let tokens: Vec<Vec<u16>> = texts.iter().map(|it| model.tokenizer.encode(it)).collect();
        batch::encode_batch(&model.encoder, &self.shared.places, &tokens)
    }

    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        self.embed(&[text]).pop().expect("one text has one vector")
    }

    /// Loads the model now, so that the first text does not pay for it.
    pub fn load_now(&self) {
        self.load_model();
    }

    /// Releases the weights after running calls; the next call loads them again.
    pub fn release(&self) {
        self.lock_slot().take();
    }

    pub fn is_loaded(&self) -> bool {
        self.lock_slot().is_some()
    }

    /// Loads the model once; concurrent callers wait for it.
    fn load_model(&self) -> Arc<LoadedModel> {
        let load = || {
            let encoder = TransformerEncoder::load(CpuLevel::detect_best());
            Arc::new(LoadedModel { tokenizer: Tokenizer::load(), encoder })
        };
        Arc::clone(self.lock_slot().get_or_insert_with(load))
    }

    fn lock_slot(&self) -> MutexGuard<'_, Option<Arc<LoadedModel>>> {
        // The slot is empty or holds a whole model, whatever happened to the last holder of the lock.
        self.shared.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for BuiltInEmbedder {
    fn default() -> Self {
        Self::new()
    }
}
