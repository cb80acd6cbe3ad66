//! Inference: the built-in embedding model, always there, no network and no configuration.
//!
//! The weights are part of the program. A text goes through the tokenizer, six layers and a
//! normalisation, and comes out as 384 numbers that are the same, bit for bit, on every machine:
//! sums are either of integers or in a fixed order, so the width of a register shows in the speed
//! alone. The room knows no memories, compares no vectors and keeps none; `recall` does.

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

pub use code::encode_i8;
pub use embedder::Embedder;

/// Names the model, its revision and its quantisation. Vectors with another id are never compared.
pub const MODEL_ID: &str = "granite-embedding-30m-english@9b5b0964-int8";

/// Where the weights come from and under which licence; whoever passes the program on passes this on.
pub const MODEL_NOTICE: &str = include_str!("../model/NOTICE");

/// The length of every vector.
pub const DIMS: usize = 384;

/// The most tokens of a text that are read, the first and last mark included.
pub const MAX_TOKENS: usize = 512;
