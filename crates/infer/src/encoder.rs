//! The transformer encoder: token embeddings and six layers of attention and feed-forward.
//!
//! Several texts go through together, their tokens one after another without padding: linear
//! layers see rows, and only attention knows where a text ends.

use crate::attention::{self, QKV_WIDTH};
use crate::linear::LinearLayer;
use crate::math::{self, LayerNorm, QuantizedRows};
use crate::simd::{self, CpuLevel};
use crate::weights::{WeightMatrix, WeightReader};
use crate::{DIMS, MAX_TOKENS};

const N_LAYERS: usize = 6;
/// The width between the two linear steps of a layer.
const FEED_FORWARD_WIDTH: usize = 4 * DIMS;
const N_TOKENS: usize = 50_265;
/// Two positions are kept for marks that texts here do not have.
const FIRST_POSITION: usize = 2;
/// Rows that pass the linear steps together: enough to use each weight often, few enough to stay in the cache.
const ROWS_PER_BLOCK: usize = 24;

pub(crate) struct TransformerEncoder {
    level: CpuLevel,
    /// Stays in the program's own bytes: it is most of the model, and a text needs a few rows of it.
    words: WeightMatrix,
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<TransformerLayer>,
}

struct TransformerLayer {
    qkv: LinearLayer,
    mixed: LinearLayer,
    mixed_norm: LayerNorm,
    widen: LinearLayer,
    narrow: LinearLayer,
    narrow_norm: LayerNorm,
}

/// Scratch buffers of one thread: less than ten kilobytes per token.
#[derive(Default)]
pub(crate) struct EncoderScratch {
    rows: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    inputs: QuantizedRows,
    attention: attention::AttentionScratch,
}

impl TransformerEncoder {
    pub(crate) fn load(level: CpuLevel) -> Self {
        let mut reader = WeightReader::new();
        let words = reader.read_matrix(N_TOKENS, DIMS);
        let mut positions = reader.read_floats((FIRST_POSITION + MAX_TOKENS) * DIMS);
        positions.drain(..FIRST_POSITION * DIMS);
        // Every token is of the first of two types, so its vector belongs to every position.
        let types = reader.read_floats(2 * DIMS);
        for row in positions.as_chunks_mut::<DIMS>().0 {
            add_rows(row, &types[..DIMS]);
        }
        let norm = read_norm(&mut reader);
        let layers = (0..N_LAYERS).map(|_| TransformerLayer::load(&mut reader)).collect();
        assert!(reader.is_done(), "the pack holds these tensors and no more");
        Self { level, words, positions, norm, layers }
    }

    /// One vector of length one per text; a text is at least one token and at most `MAX_TOKENS`.
    pub(crate) fn encode(&self, scratch: &mut EncoderScratch, texts: &[&[u16]]) -> Vec<Vec<f32>> {
        self.look_up(&mut scratch.rows, texts);
        simd::layer_norm(self.level, &mut scratch.rows, &self.norm);
        for (i, layer) in self.layers.iter().enumerate() {
            // The vector of a text is that of its first token, so the last layer answers for no other.
            let firsts_only = i + 1 == N_LAYERS;
            layer.attend(scratch, self.level, texts, firsts_only);
            if firsts_only {
                keep_firsts(&mut scratch.rows, texts);
            }
            layer.apply_feed_forward(scratch, self.level);
        }
        let unit = |row: &[f32; DIMS]| {
            let mut res = row.to_vec();
            math::normalize(&mut res);
            res
        };
        scratch.rows.as_chunks::<DIMS>().0.iter().map(unit).collect()
    }

    fn look_up(&self, acc: &mut Vec<f32>, texts: &[&[u16]]) {
        acc.clear();
        for text in texts {
            for (token, position) in text.iter().zip(self.positions.as_chunks::<DIMS>().0) {
                let row = usize::from(*token);
                let values = &self.words.values[row * DIMS..][..DIMS];
                let at = |i: usize| f32::from(values[i].cast_signed()) * self.words.scale(row, i);
                acc.extend((0..DIMS).map(|i| at(i) + position[i]));
            }
        }
    }
}

impl TransformerLayer {
    fn load(reader: &mut WeightReader) -> Self {
        Self {
            qkv: read_linear(reader, QKV_WIDTH, DIMS),
            mixed: read_linear(reader, DIMS, DIMS),
            mixed_norm: read_norm(reader),
            widen: read_linear(reader, FEED_FORWARD_WIDTH, DIMS),
            narrow: read_linear(reader, DIMS, FEED_FORWARD_WIDTH),
            narrow_norm: read_norm(reader),
        }
    }

    /// Computes attention over the rows into the context buffer.
    fn attend(
        &self,
        scratch: &mut EncoderScratch,
        level: CpuLevel,
        texts: &[&[u16]],
        firsts_only: bool,
    ) {
        scratch.qkv.resize(scratch.rows.len() / DIMS * QKV_WIDTH, 0.0);
        simd::quantise(level, &mut scratch.inputs, &scratch.rows, DIMS);
        self.qkv.apply(&mut scratch.qkv, level, &scratch.inputs);

        let answers = |text: &[u16]| if firsts_only { 1 } else { text.len() };
        scratch.context.resize(texts.iter().map(|it| answers(it)).sum::<usize>() * DIMS, 0.0);
        let (mut qkv, mut context) = (&scratch.qkv[..], &mut scratch.context[..]);
        for text in texts {
            let (this, rest) = qkv.split_at(text.len() * QKV_WIDTH);
            let (acc, later) = context.split_at_mut(answers(text) * DIMS);
            simd::attend(level, acc, &mut scratch.attention, this);
            (qkv, context) = (rest, later);
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

            simd::quantise(level, inputs, context, DIMS);
            self.mixed.apply(narrow, level, inputs);
            add_rows(rows, narrow);
            simd::layer_norm(level, rows, &self.mixed_norm);

            simd::quantise(level, inputs, rows, DIMS);
            self.widen.apply(wide, level, inputs);
            simd::gelu(level, wide);
            simd::quantise(level, inputs, wide, FEED_FORWARD_WIDTH);
            self.narrow.apply(narrow, level, inputs);
            add_rows(rows, narrow);
            simd::layer_norm(level, rows, &self.narrow_norm);
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

fn keep_firsts(rows: &mut Vec<f32>, texts: &[&[u16]]) {
    let mut from = 0;
    for (to, text) in texts.iter().enumerate() {
        rows.copy_within(from * DIMS..(from + 1) * DIMS, to * DIMS);
        from += text.len();
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

    /// Short, long, empty, code, and what the model was not made for.
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
    fn every_level_gives_the_same_bits() {
        let texts = texts();
        let bits = |level| -> Vec<u32> {
            encode(level, &texts).iter().flatten().map(|it| it.to_bits()).collect()
        };
        let plain = bits(CpuLevel::detect_available()[0]);
        for level in CpuLevel::detect_available() {
            assert!(bits(level) == plain, "{level:?} differs from the plain form");
        }
    }

    #[test]
    fn vectors_are_those_of_the_textbook() {
        let texts = texts();
        for (vector, tokens) in encode(CpuLevel::detect_best(), &texts).iter().zip(&texts) {
            let wanted = reference::embed(tokens);
            let pairs = || vector.iter().map(|it| f64::from(*it)).zip(&wanted);
            let cosine: f64 = pairs().map(|(a, b)| a * b).sum();
            assert!(cosine > 0.999_999, "{cosine} for {} tokens", tokens.len());
            let worst = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 2e-4, "{worst} for {} tokens", tokens.len());
        }
    }
}
