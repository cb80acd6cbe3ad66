//! Inference: vectors, scores and text from models.
//!
//! The built-in embedding model needs no network or configuration: its weights are part of the
//! program. A text goes through the tokenizer, six transformer layers and a normalisation, and comes
//! out as 384 numbers that are the same, bit for bit, on every machine: sums are either of integers or
//! in a fixed order, so the width of the registers affects only the speed.
//!
//! Providers are called only if configured, at their host and no other. This crate reads no
//! configuration, environment or date, and does not scan outgoing text for secrets: callers do. It
//! knows no memories and neither compares nor stores vectors.

// The three capabilities, each with its providers.
mod embeddings;
mod generate;
mod rerank;

pub mod ollama;

// Shared by providers.
mod agent_cli;
mod calibration;
mod error;
mod http;
mod model_presets;
mod text;

// The built-in embedding model.
mod embedder;
mod quantization;

mod batch;
mod encoder;
mod tokenizer;

mod attention;
mod linear;
mod math;
mod simd;
mod weights;

#[cfg(test)]
mod reference;

pub use agent_cli::{ASK_MARKER, AgentCli, AgentProgram, ModelAnswer, QuestionModel};
pub use calibration::{ModelCalibration, calibration_for};
pub use embedder::BuiltInEmbedder;
pub use embeddings::{
    EmbeddingApi, EmbeddingConfig, EmbeddingModel, EmbeddingProbe, EmbeddingProvider,
};
pub use error::{Error, ResponseFlaw};
pub use generate::{TextApi, TextConfig, TextGenerator, TextProbe, TextPrompt};
pub use http::{ApiKey, ProviderEndpoint};
pub use quantization::encode_i8;
pub use rerank::{RerankApi, RerankConfig, RerankProbe, Reranker};

/// Name, revision and quantisation of the built-in model. Vectors of different ids are never compared.
pub const MODEL_ID: &str = "granite-embedding-30m-english@9b5b0964-int8";

/// Origin and licence of the weights; must accompany redistributed copies of the program.
pub const MODEL_NOTICE: &str = include_str!("../model/NOTICE");

/// The length of every vector of the built-in model.
pub const DIMS: usize = 384;

/// The most tokens of a text that the built-in model reads, the first and last mark included.
pub const MAX_TOKENS: usize = 512;
