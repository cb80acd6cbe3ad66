//! Int8 codes of vectors, for scanning many of them quickly. The exact vectors rescore the hits of a
//! scan.

/// Steps per unit. Numbers of the built-in model's vectors reach 0.32, and 127 steps reach 0.33; a
/// larger value would clip peaks, a smaller one waste steps. It is the same for every vector, so that
/// dot products of codes are comparable without a scale per vector.
const STEPS_PER_UNIT: f32 = 384.0;

/// The code of a vector of length one. The dot product of two codes is the cosine times 384², within
/// 0.01.
#[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
pub fn encode_i8(vector: &[f32]) -> Vec<i8> {
    vector.iter().map(|it| (it * STEPS_PER_UNIT).round().clamp(-127.0, 127.0) as i8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_rounded_and_clamped() {
        let vector = [0.0, 1.0 / 384.0, -0.1, 0.32, 1.0, -1.0, f32::NAN, f32::NEG_INFINITY];
        assert_eq!(encode_i8(&vector), [0, 1, -38, 123, 127, -127, 0, -127]);
        assert!(encode_i8(&[]).is_empty());
    }
}
