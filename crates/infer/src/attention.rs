//! Multi-head self-attention with twelve heads (Vaswani et al. 2017).
//!
//! `encoder` calls it through `simd`, which compiles these plain loops once per register width; the
//! inner loops run over independent numbers, so that the compiler can vectorise them.
#![expect(clippy::inline_always, reason = "`simd` compiles these bodies once per width")]

use crate::DIMS;
use crate::math::softmax;

const N_HEADS: usize = 12;
/// Numbers of a token that one head sees.
const HEAD_WIDTH: usize = DIMS / N_HEADS;
/// Keys that are scored together.
const KEYS_PER_BLOCK: usize = 16;

/// A token's query, key and value, each for all heads.
pub(crate) const QKV_WIDTH: usize = 3 * DIMS;

/// Keys and values of one head, laid out for the loops, and the scores of one query.
#[derive(Default)]
pub(crate) struct AttentionScratch {
    /// Sixteen keys at a time, first number of each, second number of each, and so on.
    keys: Vec<[[f32; KEYS_PER_BLOCK]; HEAD_WIDTH]>,
    values: Vec<[f32; HEAD_WIDTH]>,
    scores: Vec<f32>,
}

/// Computes attention for the first tokens of one text, as many as `acc` has rows.
#[inline(always)]
pub(crate) fn apply_attention(acc: &mut [f32], scratch: &mut AttentionScratch, qkv: &[f32]) {
    for head in 0..N_HEADS {
        scratch.load_head(qkv, head);
        let head_start = head * HEAD_WIDTH;
        for (acc, token) in acc.as_chunks_mut::<DIMS>().0.iter_mut().zip(token_rows(qkv)) {
            let query = token[head_start..].first_chunk().expect("a head lies within its row");
            score_keys(&mut scratch.scores, &scratch.keys, query);
            // The last block of keys may be partial; its further scores are dropped here.
            let scores = &mut scratch.scores[..scratch.values.len()];
            softmax(scores);
            let context = weighted_sum(scores, &scratch.values);
            acc[head_start..head_start + HEAD_WIDTH].copy_from_slice(&context);
        }
    }
}

impl AttentionScratch {
    /// Copies the keys and values of one head. A token's row is its query, key and value, each for
    /// all heads.
    #[inline(always)]
    fn load_head(&mut self, qkv: &[f32], head: usize) {
        let n_tokens = qkv.len() / QKV_WIDTH;
        self.keys.resize(n_tokens.div_ceil(KEYS_PER_BLOCK), [[0.0; KEYS_PER_BLOCK]; HEAD_WIDTH]);
        self.values.resize(n_tokens, [0.0; HEAD_WIDTH]);
        self.scores.resize(self.keys.len() * KEYS_PER_BLOCK, 0.0);
        for (i, token) in token_rows(qkv).enumerate() {
            let key = &token[DIMS + head * HEAD_WIDTH..][..HEAD_WIDTH];
            // Transposed within its block: one column per number of the key.
            for (column, number) in self.keys[i / KEYS_PER_BLOCK].iter_mut().zip(key) {
                column[i % KEYS_PER_BLOCK] = *number;
            }
            self.values[i].copy_from_slice(&token[2 * DIMS + head * HEAD_WIDTH..][..HEAD_WIDTH]);
        }
    }
}

#[inline(always)]
fn token_rows(qkv: &[f32]) -> impl Iterator<Item = &[f32; QKV_WIDTH]> {
    qkv.as_chunks::<QKV_WIDTH>().0.iter()
}

/// Scaled dot products of a query with all keys. Scores beyond the last key are stale scratch values
/// and are not read.
#[inline(always)]
fn score_keys(
    acc: &mut [f32],
    keys: &[[[f32; KEYS_PER_BLOCK]; HEAD_WIDTH]],
    query: &[f32; HEAD_WIDTH],
) {
    // One over the square root of a head's width.
    const SCORE_SCALE: f32 = 0.176_776_7;
    for (acc, keys) in acc.as_chunks_mut::<KEYS_PER_BLOCK>().0.iter_mut().zip(keys) {
        let mut dots = [0.0; KEYS_PER_BLOCK];
        for (column, query) in keys.iter().zip(query) {
            for i in 0..KEYS_PER_BLOCK {
                dots[i] += column[i] * query;
            }
        }
        *acc = dots.map(|it| it * SCORE_SCALE);
    }
}

/// Sum of the values weighted by their shares. Even and odd values have sums of their own, because
/// each addition waits for the one before.
#[inline(always)]
fn weighted_sum(shares: &[f32], values: &[[f32; HEAD_WIDTH]]) -> [f32; HEAD_WIDTH] {
    let mut even = [0.0; HEAD_WIDTH];
    let mut odd = [0.0; HEAD_WIDTH];
    let (share_pairs, last_share) = shares.as_chunks::<2>();
    let (value_pairs, last_value) = values.as_chunks::<2>();
    for (shares, values) in share_pairs.iter().zip(value_pairs) {
        for i in 0..HEAD_WIDTH {
            even[i] += values[0][i] * shares[0];
            odd[i] += values[1][i] * shares[1];
        }
    }
    for (share, value) in last_share.iter().zip(last_value) {
        for i in 0..HEAD_WIDTH {
            even[i] += value[i] * share;
        }
    }
    std::array::from_fn(|i| even[i] + odd[i])
}
