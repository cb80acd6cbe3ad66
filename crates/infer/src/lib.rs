//! Inference: vectors, scores and text from models.
//!
//! The built-in embedding model is always there, without network or configuration: its weights are
//! part of the program. A text goes through the tokenizer, six layers and a normalisation, and comes
//! out as 384 numbers that are the same, bit for bit, on every machine: sums are either of integers
//! or in a fixed order, so the width of a register shows in the speed alone.
//!
//! Providers are asked only where a caller configured one, at its host and no other. The room reads
//! no configuration, no environment and no date, and looks for no secrets in what it sends: callers
//! do. It knows no memories, compares no vectors and keeps none; `recall` does.

mod embeddings;
mod generate;
mod rerank;

pub mod ollama;

mod calibration;
mod error;
mod family;
mod http;
mod text;

mod code;
mod embedder;

mod batch;
mod encoder;
mod tokenizer;

mod attention;
mod linear;
mod maths;
mod pack;
mod simd;

#[cfg(test)]
mod reference;

pub use calibration::{Calibration, calibration};
pub use code::encode_i8;
pub use embedder::Embedder;
pub use embeddings::{EmbeddingApi, EmbeddingConfig, Embeddings, Probe, Provider};
pub use error::{Error, Flaw};
pub use generate::{Generator, Prompt, TextApi, TextConfig, TextProbe};
pub use http::{Endpoint, Key};
pub use rerank::{RerankApi, RerankConfig, RerankProbe, Reranker};

/// Names the built-in model, its revision and its quantisation. Vectors with another id are never compared.
pub const MODEL_ID: &str = "granite-embedding-30m-english@9b5b0964-int8";

/// Where the weights come from and under which licence; whoever passes the program on passes this on.
pub const MODEL_NOTICE: &str = include_str!("../model/NOTICE");

/// The length of every vector of the built-in model.
pub const DIMS: usize = 384;

/// The most tokens of a text that the built-in model reads, the first and last mark included.
pub const MAX_TOKENS: usize = 512;
