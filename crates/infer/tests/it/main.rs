//! Tests of the built-in model and of providers, in one binary. Providers are stub servers on this
//! machine (`server`), configured by `providers`.
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing it did not expect")]

mod batches;
mod similarity;
mod vectors;

mod providers;
mod server;

mod bad_responses;
mod deadlines;
mod embedding_providers;
mod hostile_servers;
mod ollama_discovery;
mod reranking;
mod text_generation;
mod untrusted_certificate;
