//! The built-in model and providers: one binary, one module per promise. Providers are real servers on this machine.
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing it did not expect")]

mod batches;
mod likeness;
mod vectors;

mod kit;
mod server;

mod broken;
mod embedding;
mod finding;
mod generating;
mod hostile;
mod reranking;
mod slow;
mod untrusted;
