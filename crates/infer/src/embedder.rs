//! Handle of the built-in embedding model: loads it on first use and releases it on request.
//!
//! A text is tokenised here and encoded by `batch`, which spreads many texts over threads.

use std::num::NonZero;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use model::CpuLevel;

use crate::batch::{self, ThreadPermits};
use crate::encoder::TransformerEncoder;
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

/// State that all clones share.
struct SharedModel {
    /// `None` until the first use and after a release. Running calls keep the model they began with.
    model: Mutex<Option<Arc<LoadedModel>>>,
    permits: ThreadPermits,
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
        let permits = ThreadPermits { limit, taken: AtomicUsize::new(0) };
        Self { shared: Arc::new(SharedModel { model: Mutex::new(None), permits }) }
    }

    /// The vectors of several texts, in their order, each of length one.
    ///
    /// A text gives the same bits alone, in any batch and on any machine. Text beyond `MAX_TOKENS`
    /// tokens is not read. An empty text has a vector too, without a meaning.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let model = self.load_model();
        let tokens: Vec<Vec<u16>> = texts.iter().map(|it| model.tokenizer.encode(it)).collect();
        batch::encode_batch(&model.encoder, &self.shared.permits, &tokens)
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
        // A poisoned lock is safe to use: the slot is empty or holds a whole model at any time.
        self.shared.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for BuiltInEmbedder {
    fn default() -> Self {
        Self::new()
    }
}
