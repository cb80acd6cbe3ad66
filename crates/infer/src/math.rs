//! Arithmetic on rows of numbers for the encoder: normalisation, activation, softmax, quantisation.
//!
//! Only operations that IEEE 754 rounds one way (add, multiply, divide, square root) and a fixed
//! order of summation are used, so that results are the same on every machine. Nothing comes from a
//! maths library, whose last digit differs by platform.
#![expect(clippy::inline_always, reason = "`simd` compiles these bodies once per width")]

use crate::DIMS;
use crate::simd::{InputBlock, WEIGHTS_PER_SCALE};

/// Partial sums that run side by side, so that wide registers may hold them. Their number is part of
/// the result, because it fixes the order of additions.
const PARTIAL_SUMS: usize = 16;

/// Added under the root, so that a row of equal numbers does not divide by zero.
const NORM_EPSILON: f32 = 1e-12;

/// 1.5 × 2²³: adding it rounds a small number to the nearest integer, because a float of this size has
/// no bits left for a fraction. The integer is then in the low bits; subtracting the bias gives it
/// back as a float.
const ROUNDING_BIAS: f32 = 12_582_912.0;

/// [`DIMS`] as a float.
const ROW_WIDTH: f32 = 384.0;

/// Largest magnitude of a quantised input.
const MAX_QUANTIZED: f32 = 32_767.0;

/// Scale and shift of a layer normalisation.
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Rows as 16-bit integers. Eight bits would be faster but lose more precision than the 8-bit weights
/// already do; sixteen change no digit of a cosine before the seventh.
#[derive(Default)]
pub(crate) struct QuantizedRows {
    pub(crate) blocks: Vec<InputBlock>,
    /// Value of one quantisation step, by row.
    pub(crate) steps: Vec<f32>,
}

#[expect(clippy::cast_precision_loss, reason = "rounded to nearest, the same everywhere")]
#[inline(always)]
pub(crate) const fn to_f32(value: i32) -> f32 {
    value as f32
}

/// Layer normalisation (Ba et al. 2016) of each row.
#[inline(always)]
pub(crate) fn layer_norm(rows: &mut [f32], norm: &LayerNorm) {
    let (weight, bias) = (&norm.weight[..DIMS], &norm.bias[..DIMS]);
    for row in rows.as_chunks_mut::<DIMS>().0 {
        let mean = sum_parts(row, |it| it) / ROW_WIDTH;
        let variance = sum_parts(row, |it| (it - mean) * (it - mean)) / ROW_WIDTH;
        let factor = 1.0 / (variance + NORM_EPSILON).sqrt();
        for i in 0..DIMS {
            row[i] = (row[i] - mean) * factor * weight[i] + bias[i];
        }
    }
}

/// The Gaussian error linear unit, by the error function (Abramowitz and Stegun 7.1.26, error below
/// 2e-7). `t` and the polynomial are named as in the formula.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        let x = *value * std::f32::consts::FRAC_1_SQRT_2;
        let magnitude = x.abs();
        let t = 1.0 / (1.0 + 0.327_591_1 * magnitude);
        let polynomial = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_8) * t - 0.284_496_72)
            * t
            + 0.254_829_6)
            * t;
        // The formula holds for positive numbers; the function is odd.
        let erf = 1.0 - polynomial * exp_nonpositive(-magnitude * magnitude);
        *value = 0.5 * *value * (1.0 + erf.copysign(x));
    }
}

/// Turns scores into positive shares that add up to one.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32]) {
    // Subtracting the maximum changes no share and keeps the exponential from overflowing.
    let maximum = scores.iter().copied().fold(f32::MIN, f32::max);
    for score in scores.iter_mut() {
        *score = exp_nonpositive(*score - maximum);
    }
    let factor = 1.0 / sum_parts(scores, |it| it);
    for score in scores {
        *score *= factor;
    }
}

/// Scales a vector to length one; a vector of zeros stays.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = sum_parts(vector, |it| it * it).sqrt().max(NORM_EPSILON);
    for it in vector {
        *it /= length;
    }
}

/// Quantises rows of `width` numbers, each by its own largest magnitude.
#[inline(always)]
pub(crate) fn quantize_rows(acc: &mut QuantizedRows, rows: &[f32], width: usize) {
    acc.blocks.clear();
    acc.steps.clear();
    for row in rows.chunks_exact(width) {
        let largest = row.iter().fold(0.0_f32, |largest, it| largest.max(it.abs()));
        // The floor keeps the quotient finite; a row below it counts as zeros.
        let factor = MAX_QUANTIZED / largest.max(1e-30);
        acc.steps.push(largest / MAX_QUANTIZED);
        for group in row.as_chunks::<WEIGHTS_PER_SCALE>().0 {
            let mut block = [0; WEIGHTS_PER_SCALE / 2];
            // Two 16-bit numbers per word, the first in the low half.
            for (word, pair) in block.iter_mut().zip(group.as_chunks::<2>().0) {
                *word = (round_to_i32(pair[0] * factor) & 0xFFFF)
                    | (round_to_i32(pair[1] * factor) << 16);
            }
            acc.blocks.push(block);
        }
    }
}

/// Rounds to the nearest integer, ties to even; correct up to four million.
#[inline(always)]
const fn round_to_i32(value: f32) -> i32 {
    (value + ROUNDING_BIAS).to_bits().cast_signed() - ROUNDING_BIAS.to_bits().cast_signed()
}

/// The exponential of numbers that are not above zero (Cephes' polynomial, error below 2e-7).
#[inline(always)]
fn exp_nonpositive(x: f32) -> f32 {
    // The exponential of less is negligible, and its exponent would not fit into a float.
    let x = x.max(-87.0);
    // exp(x) = 2ⁿ · exp(r) with an integer n and a small remainder r.
    let biased_n = x * std::f32::consts::LOG2_E + ROUNDING_BIAS;
    let n = biased_n - ROUNDING_BIAS;
    // ln 2 in two parts, the first exact, so that the difference loses nothing.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let polynomial =
        ((((1.987_569_1e-4 * r + 1.398_2e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r
            + 1.666_666_5e-1)
            * r
            + 0.5;
    // n is in the low bits of the biased number; 127 is the bias of a float's exponent, which begins
    // at bit 23.
    let two_to_n = f32::from_bits((biased_n.to_bits().wrapping_add(127)) << 23);
    (polynomial * r * r + r + 1.0) * two_to_n
}

/// Sum of `term` over the values, in a fixed order: partial sums first, then their sum.
#[inline(always)]
fn sum_parts(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut parts = [0.0; PARTIAL_SUMS];
    let (chunks, rest) = values.as_chunks::<PARTIAL_SUMS>();
    for chunk in chunks {
        for i in 0..PARTIAL_SUMS {
            parts[i] += term(chunk[i]);
        }
    }
    for (part, value) in parts.iter_mut().zip(rest) {
        *part += term(*value);
    }
    parts.into_iter().fold(0.0, |acc, it| acc + it)
}
