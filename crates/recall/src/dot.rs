//! Dot product of two float vectors.
//!
//! Plain Rust: it runs on a few vectors per query. The scans over all vectors use `simd`.

/// Independent accumulators, so that the compiler vectorises; the order of additions is fixed, so
/// the result is the same on every machine.
const ACCUMULATOR_LANES: usize = 16;

/// Dot product over the common length.
pub fn dot_product(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let (a_chunks, a_rest) = a[..n].as_chunks::<ACCUMULATOR_LANES>();
    let (b_chunks, b_rest) = b[..n].as_chunks::<ACCUMULATOR_LANES>();
    let mut lanes = [0.0_f32; ACCUMULATOR_LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for i in 0..ACCUMULATOR_LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_covers_every_pair_of_the_common_length() {
        // Lengths around one chunk of lanes.
        for n in [0_u8, 1, 15, 16, 17, 40] {
            let a: Vec<f32> = (0..n).map(f32::from).collect();
            let longer = [a.clone(), vec![9.0; 3]].concat();
            let expected: f32 = (0..n).map(|it| f32::from(it) * f32::from(it)).sum();
            assert!((dot_product(&a, &longer) - expected).abs() < 1e-2, "{n}");
        }
    }
}
