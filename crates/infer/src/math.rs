//! Arithmetic on rows of numbers: normalisation, activation, exponential, quantisation.
//!
//! Only operations that IEEE 754 rounds one way (add, multiply, divide, square root) and a fixed
//! order of summation; nothing from a maths library, whose last digit differs by platform.
#![expect(clippy::inline_always, reason = "`simd` compiles these bodies once per width")]

use crate::DIMS;
use crate::simd::{InputBlock, WEIGHTS_PER_SCALE};

/// Partial sums run side by side, so that wide registers may hold them; their number is part of the result.
const PARTIAL_SUMS: usize = 16;

/// Added under the root, so that a row of equal numbers does not divide by zero.
const NORM_EPSILON: f32 = 1e-12;

/// Adding and subtracting this rounds to the nearest whole number; in between, the number is in the low bits.
const ROUNDING_BIAS: f32 = 12_582_912.0;

/// The length of a row, as a divisor.
const ROW_WIDTH: f32 = 384.0;

/// Scale and shift of a layer normalisation.
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Rows as 16-bit integers. Eight bits would be faster, and lose more than the rounding of the
/// weights already has; what sixteen lose is not seen in the sixth digit of a cosine.
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

/// The Gaussian error linear unit, by the error function (Abramowitz and Stegun 7.1.26, error below 2e-7).
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for it in values {
        let x = *it * std::f32::consts::FRAC_1_SQRT_2;
        let size = x.abs();
        let t = 1.0 / (1.0 + 0.327_591_1 * size);
        let poly = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_8) * t - 0.284_496_72) * t
            + 0.254_829_6)
            * t;
        let erf = 1.0 - poly * exp_nonpositive(-size * size);
        *it = 0.5 * *it * (1.0 + erf.copysign(x));
    }
}

/// Turns scores into shares of one.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    for it in scores.iter_mut() {
        *it = exp_nonpositive(*it - top);
    }
    let factor = 1.0 / sum_parts(scores, |it| it);
    for it in scores {
        *it *= factor;
    }
}

/// Scales a vector to length one; a vector of zeros stays.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = sum_parts(vector, |it| it * it).sqrt().max(NORM_EPSILON);
    for it in vector {
        *it /= length;
    }
}

#[inline(always)]
pub(crate) fn quantize_rows(acc: &mut QuantizedRows, rows: &[f32], width: usize) {
    acc.blocks.clear();
    acc.steps.clear();
    for row in rows.chunks_exact(width) {
        let top = row.iter().fold(0.0_f32, |top, it| top.max(it.abs()));
        // The floor keeps the quotient finite; a row below it is zeros in all but name.
        let factor = 32_767.0 / top.max(1e-30);
        acc.steps.push(top / 32_767.0);
        for group in row.as_chunks::<WEIGHTS_PER_SCALE>().0 {
            let mut block = [0; WEIGHTS_PER_SCALE / 2];
            for (word, pair) in block.iter_mut().zip(group.as_chunks::<2>().0) {
                *word = (round_to_i32(pair[0] * factor) & 0xFFFF)
                    | (round_to_i32(pair[1] * factor) << 16);
            }
            acc.blocks.push(block);
        }
    }
}

/// Rounds to the nearest whole number, ties to even; right up to four million.
#[inline(always)]
const fn round_to_i32(value: f32) -> i32 {
    (value + ROUNDING_BIAS).to_bits().cast_signed() - ROUNDING_BIAS.to_bits().cast_signed()
}

/// The exponential of numbers that are not above zero (Cephes' polynomial, error below 2e-7).
#[inline(always)]
fn exp_nonpositive(x: f32) -> f32 {
    // Below this the answer is nothing next to one, and above it the exponent bits do not overflow.
    let x = x.max(-87.0);
    let power = x * std::f32::consts::LOG2_E + ROUNDING_BIAS;
    let n = power - ROUNDING_BIAS;
    // ln 2 in two parts, the first exact, so that the difference loses nothing.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let poly = ((((1.987_569_1e-4 * r + 1.398_2e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r
        + 1.666_666_5e-1)
        * r
        + 0.5;
    let two_to_n = f32::from_bits((power.to_bits().wrapping_add(127)) << 23);
    (poly * r * r + r + 1.0) * two_to_n
}

#[inline(always)]
fn sum_parts(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut parts = [0.0; PARTIAL_SUMS];
    let (whole, rest) = values.as_chunks::<PARTIAL_SUMS>();
    for chunk in whole {
        for i in 0..PARTIAL_SUMS {
            parts[i] += of(chunk[i]);
        }
    }
    for (part, it) in parts.iter_mut().zip(rest) {
        *part += of(*it);
    }
    parts.into_iter().fold(0.0, |acc, it| acc + it)
}
