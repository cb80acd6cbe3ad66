//! The transformer encoder of the built-in model: token embeddings and six layers of attention and
//! feed-forward network, each followed by a residual connection and a layer norm.
//!
//! A row is the vector of one token. Several texts go through together, their rows one after another
//! without padding: linear layers see only rows, and only attention knows where a text ends. The
//! vector of a text is that of its first token (CLS pooling).

use model::CpuLevel;

use crate::attention::{self, QKV_WIDTH};
use crate::linear::LinearLayer;
use crate::math::{self, LayerNorm, QuantizedRows};
use crate::simd;
use crate::weights::{WeightMatrix, WeightReader};
use crate::{DIMS, MAX_TOKENS};

const N_LAYERS: usize = 6;
/// The width between the two linear layers of a feed-forward network.
const FEED_FORWARD_WIDTH: usize = 4 * DIMS;
/// Size of the vocabulary.
const N_TOKENS: usize = 50_265;
/// The first two positions of the model are reserved for padding, which is not used here.
const FIRST_POSITION: usize = 2;
/// Rows that pass the linear layers together: enough to use each weight often, few enough to stay in
/// the cache.
const ROWS_PER_BLOCK: usize = 24;

/// The weights of the model, laid out for one instruction set.
pub(crate) struct TransformerEncoder {
    level: CpuLevel,
    /// Stays in the program's own bytes: it is most of the model, and a text needs a few rows of it.
    token_embeddings: WeightMatrix,
    /// One row per position, token type included.
    positions: Vec<f32>,
    /// Applied to the embeddings before the first layer.
    norm: LayerNorm,
    layers: Vec<TransformerLayer>,
}

struct TransformerLayer {
    /// Query, key and value of each token.
    qkv: LinearLayer,
    attention_output: LinearLayer,
    attention_norm: LayerNorm,
    /// First and second linear layer of the feed-forward network.
    widen: LinearLayer,
    narrow: LinearLayer,
    feed_forward_norm: LayerNorm,
}

/// Scratch buffers of one thread: less than ten kilobytes per token.
#[derive(Default)]
pub(crate) struct EncoderScratch {
    /// The rows between two layers.
    rows: Vec<f32>,
    qkv: Vec<f32>,
    /// Result of attention.
    context: Vec<f32>,
    /// Results of `widen` and `narrow`.
    wide: Vec<f32>,
    narrow: Vec<f32>,
    /// Quantised input of a linear layer.
    inputs: QuantizedRows,
    attention: attention::AttentionScratch,
}

impl TransformerEncoder {
    pub(crate) fn load(level: CpuLevel) -> Self {
        // The order of the tensors in the file.
        let mut reader = WeightReader::new();
        let token_embeddings = reader.read_matrix(N_TOKENS, DIMS);
        let mut positions = reader.read_floats((FIRST_POSITION + MAX_TOKENS) * DIMS);
        positions.drain(..FIRST_POSITION * DIMS);
        // Every token is of the first of two types, so the vector of that type is added to every
        // position once and for all.
        let token_types = reader.read_floats(2 * DIMS);
        for row in positions.as_chunks_mut::<DIMS>().0 {
            add_rows(row, &token_types[..DIMS]);
        }
        let norm = read_norm(&mut reader);
        let layers = (0..N_LAYERS).map(|_| TransformerLayer::load(&mut reader)).collect();
        assert!(reader.is_done(), "the pack holds these tensors and no more");
        Self { level, token_embeddings, positions, norm, layers }
    }

    /// One vector of length one per text; a text is at least one token and at most `MAX_TOKENS`.
    pub(crate) fn encode(&self, scratch: &mut EncoderScratch, texts: &[&[u16]]) -> Vec<Vec<f32>> {
        self.look_up_embeddings(&mut scratch.rows, texts);
        simd::layer_norm(self.level, &mut scratch.rows, &self.norm);
        for (i, layer) in self.layers.iter().enumerate() {
            // The vector of a text is that of its first token, so the last layer computes no other.
            let first_tokens_only = i + 1 == N_LAYERS;
            layer.compute_attention(scratch, self.level, texts, first_tokens_only);
            if first_tokens_only {
                keep_first_rows(&mut scratch.rows, texts);
            }
            layer.apply_feed_forward(scratch, self.level);
        }
        let to_unit_vector = |row: &[f32; DIMS]| {
            let mut res = row.to_vec();
            math::normalize(&mut res);
            res
        };
        scratch.rows.as_chunks::<DIMS>().0.iter().map(to_unit_vector).collect()
    }

    /// Writes one row per token: the embedding of the token plus that of its position in its text.
    fn look_up_embeddings(&self, acc: &mut Vec<f32>, texts: &[&[u16]]) {
        acc.clear();
        for text in texts {
            for (token, position) in text.iter().zip(self.positions.as_chunks::<DIMS>().0) {
                let row = usize::from(*token);
                let weights = &self.token_embeddings.values[row * DIMS..][..DIMS];
                let weight = |i: usize| {
                    f32::from(weights[i].cast_signed()) * self.token_embeddings.scale(row, i)
                };
                acc.extend((0..DIMS).map(|i| weight(i) + position[i]));
            }
        }
    }
}

impl TransformerLayer {
    fn load(reader: &mut WeightReader) -> Self {
        Self {
            qkv: read_linear(reader, QKV_WIDTH, DIMS),
            attention_output: read_linear(reader, DIMS, DIMS),
            attention_norm: read_norm(reader),
            widen: read_linear(reader, FEED_FORWARD_WIDTH, DIMS),
            narrow: read_linear(reader, DIMS, FEED_FORWARD_WIDTH),
            feed_forward_norm: read_norm(reader),
        }
    }

    /// Computes attention over the rows into the context buffer, for all tokens or only for the first
    /// of each text.
    fn compute_attention(
        &self,
        scratch: &mut EncoderScratch,
        level: CpuLevel,
        texts: &[&[u16]],
        first_tokens_only: bool,
    ) {
        // Queries, keys and values of all texts at once.
        scratch.qkv.resize(scratch.rows.len() / DIMS * QKV_WIDTH, 0.0);
        simd::quantize_rows(level, &mut scratch.inputs, &scratch.rows, DIMS);
        self.qkv.apply(&mut scratch.qkv, level, &scratch.inputs);

        // Tokens attend only to tokens of their own text.
        let n_outputs = |text: &[u16]| if first_tokens_only { 1 } else { text.len() };
        let n_rows: usize = texts.iter().map(|it| n_outputs(it)).sum();
        scratch.context.resize(n_rows * DIMS, 0.0);
        let (mut qkv_rest, mut context_rest) = (&scratch.qkv[..], &mut scratch.context[..]);
        for text in texts {
            let (text_qkv, later_qkv) = qkv_rest.split_at(text.len() * QKV_WIDTH);
            let (acc, later_context) = context_rest.split_at_mut(n_outputs(text) * DIMS);
            simd::apply_attention(level, acc, &mut scratch.attention, text_qkv);
            (qkv_rest, context_rest) = (later_qkv, later_context);
        }
    }

    /// Applies the attention output and the feed-forward network, each with residual and layer norm.
    fn apply_feed_forward(&self, scratch: &mut EncoderScratch, level: CpuLevel) {
        let EncoderScratch { rows, context, wide, narrow, inputs, .. } = scratch;
        for (rows, context) in
            rows.chunks_mut(ROWS_PER_BLOCK * DIMS).zip(context.chunks(ROWS_PER_BLOCK * DIMS))
        {
            narrow.resize(rows.len(), 0.0);
            wide.resize(rows.len() / DIMS * FEED_FORWARD_WIDTH, 0.0);

            // rows = norm(rows + attention_output(context))
            simd::quantize_rows(level, inputs, context, DIMS);
            self.attention_output.apply(narrow, level, inputs);
            add_rows(rows, narrow);
            simd::layer_norm(level, rows, &self.attention_norm);

            // rows = norm(rows + narrow(gelu(widen(rows))))
            simd::quantize_rows(level, inputs, rows, DIMS);
            self.widen.apply(wide, level, inputs);
            simd::gelu(level, wide);
            simd::quantize_rows(level, inputs, wide, FEED_FORWARD_WIDTH);
            self.narrow.apply(narrow, level, inputs);
            add_rows(rows, narrow);
            simd::layer_norm(level, rows, &self.feed_forward_norm);
        }
    }
}

fn read_linear(reader: &mut WeightReader, outputs: usize, inputs: usize) -> LinearLayer {
    let matrix = reader.read_matrix(outputs, inputs);
    LinearLayer::new(&matrix, reader.read_floats(outputs))
}

fn read_norm(reader: &mut WeightReader) -> LayerNorm {
    LayerNorm { weight: reader.read_floats(DIMS), bias: reader.read_floats(DIMS) }
}

/// Keeps the row of the first token of each text.
fn keep_first_rows(rows: &mut Vec<f32>, texts: &[&[u16]]) {
    let mut first_row = 0;
    for (target, text) in texts.iter().enumerate() {
        rows.copy_within(first_row * DIMS..(first_row + 1) * DIMS, target * DIMS);
        first_row += text.len();
    }
    rows.truncate(texts.len() * DIMS);
}

fn add_rows(acc: &mut [f32], other: &[f32]) {
    for (acc, it) in acc.iter_mut().zip(other) {
        *acc += it;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use crate::tokenizer::Tokenizer;

    /// Tokens of texts that are short, long, empty, code, and of languages the model does not know.
    fn texts() -> Vec<Vec<u16>> {
        let tokenizer = Tokenizer::load();
        let long = "The retry limit of the upload worker is read once at start. ".repeat(12);
        [
            "",
            "retry",
            "where is the session token refreshed in the client",
            "fn parse(header: &str) -> Option<u16> {\n    header.split(':').nth(1)?.parse().ok()\n}",
            "東京の天気 🙂 naïve",
            &long,
        ]
        .map(|it| tokenizer.encode(it))
        .to_vec()
    }

    fn encode(level: CpuLevel, texts: &[Vec<u16>]) -> Vec<Vec<f32>> {
        let texts: Vec<&[u16]> = texts.iter().map(Vec::as_slice).collect();
        TransformerEncoder::load(level).encode(&mut EncoderScratch::default(), &texts)
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let texts = texts();
        let bits = |level| -> Vec<u32> {
            encode(level, &texts).iter().flatten().map(|it| it.to_bits()).collect()
        };
        let portable = bits(CpuLevel::detect_available()[0]);
        for level in CpuLevel::detect_available() {
            assert!(bits(level) == portable, "{level:?} differs from the portable code");
        }
    }

    #[test]
    fn vectors_agree_with_the_reference_implementation() {
        let texts = texts();
        for (vector, tokens) in encode(CpuLevel::detect_best(), &texts).iter().zip(&texts) {
            let expected = reference::embed(tokens);
            let pairs = || vector.iter().map(|it| f64::from(*it)).zip(&expected);
            let cosine: f64 = pairs().map(|(a, b)| a * b).sum();
            assert!(cosine > 0.999_999, "{cosine} for {} tokens", tokens.len());
            let worst = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 2e-4, "{worst} for {} tokens", tokens.len());
        }
    }
}
