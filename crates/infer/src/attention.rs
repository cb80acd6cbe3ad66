//! Attention: every token of a text looks at every other, twelve heads side by side.
//!
//! Plain loops whose inner ones run over independent numbers; `simd` compiles them per width.
#![expect(clippy::inline_always, reason = "`simd` compiles these bodies once per width")]

use crate::DIMS;
use crate::maths::softmax;

const HEADS: usize = 12;
/// Numbers of a token that one head sees.
const WIDTH: usize = DIMS / HEADS;
/// Keys that are scored together.
const KEYS: usize = 16;

/// A token's query, key and value, each for all heads.
pub(crate) const QKV: usize = 3 * DIMS;

/// Keys and values of one head, laid out for the loops, and the scores of one query.
#[derive(Default)]
pub(crate) struct Desk {
    /// Sixteen keys at a time, first number of each, second number of each, and so on.
    keys: Vec<[[f32; KEYS]; WIDTH]>,
    values: Vec<[f32; WIDTH]>,
    scores: Vec<f32>,
}

/// Mixes the values of one text's tokens; answers for as many of its first tokens as `acc` has rows.
#[inline(always)]
pub(crate) fn attend(acc: &mut [f32], desk: &mut Desk, qkv: &[f32]) {
    for head in 0..HEADS {
        desk.lay_out(qkv, head);
        let at = head * WIDTH;
        for (acc, token) in acc.as_chunks_mut::<DIMS>().0.iter_mut().zip(tokens(qkv)) {
            let query = token[at..].first_chunk().expect("a head lies within its row");
            score(&mut desk.scores, &desk.keys, query);
            let scores = &mut desk.scores[..desk.values.len()];
            softmax(scores);
            acc[at..at + WIDTH].copy_from_slice(&mix(scores, &desk.values));
        }
    }
}

impl Desk {
    #[inline(always)]
    fn lay_out(&mut self, qkv: &[f32], head: usize) {
        let n_tokens = qkv.len() / QKV;
        self.keys.resize(n_tokens.div_ceil(KEYS), [[0.0; KEYS]; WIDTH]);
        self.values.resize(n_tokens, [0.0; WIDTH]);
        self.scores.resize(self.keys.len() * KEYS, 0.0);
        for (i, token) in tokens(qkv).enumerate() {
            let key = &token[DIMS + head * WIDTH..][..WIDTH];
            for (column, it) in self.keys[i / KEYS].iter_mut().zip(key) {
                column[i % KEYS] = *it;
            }
            self.values[i].copy_from_slice(&token[2 * DIMS + head * WIDTH..][..WIDTH]);
        }
    }
}

#[inline(always)]
fn tokens(qkv: &[f32]) -> impl Iterator<Item = &[f32; QKV]> {
    qkv.as_chunks::<QKV>().0.iter()
}

/// Scores beyond the last key are of whatever the desk held before, and are not read.
#[inline(always)]
fn score(acc: &mut [f32], keys: &[[[f32; KEYS]; WIDTH]], query: &[f32; WIDTH]) {
    // One over the square root of a head's width.
    const FACTOR: f32 = 0.176_776_7;
    for (acc, keys) in acc.as_chunks_mut::<KEYS>().0.iter_mut().zip(keys) {
        let mut dots = [0.0; KEYS];
        for (column, query) in keys.iter().zip(query) {
            for i in 0..KEYS {
                dots[i] += column[i] * query;
            }
        }
        *acc = dots.map(|it| it * FACTOR);
    }
}

/// Two sums side by side, because each addition waits for the one before.
#[inline(always)]
fn mix(shares: &[f32], values: &[[f32; WIDTH]]) -> [f32; WIDTH] {
    let mut even = [0.0; WIDTH];
    let mut odd = [0.0; WIDTH];
    let (share_pairs, last_share) = shares.as_chunks::<2>();
    let (value_pairs, last_value) = values.as_chunks::<2>();
    for (shares, values) in share_pairs.iter().zip(value_pairs) {
        for i in 0..WIDTH {
            even[i] += values[0][i] * shares[0];
            odd[i] += values[1][i] * shares[1];
        }
    }
    for (share, value) in last_share.iter().zip(last_value) {
        for i in 0..WIDTH {
            even[i] += value[i] * share;
        }
    }
    std::array::from_fn(|i| even[i] + odd[i])
}
