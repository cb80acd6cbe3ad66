//! Vectors as bytes, for scanning many of them quickly; the exact vector rescores what a scan finds.

/// Steps per unit. Numbers of this model's vectors reach 0.32, and 127 steps reach 0.33; a larger
/// number would cut peaks, a smaller one waste steps. It is the same for every vector, so that the
/// products of codes compare without a scale beside each.
const STEPS_PER_UNIT: f32 = 384.0;

/// The code of a vector of length one: the product of two codes is the cosine times 384², within 0.01.
#[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
pub fn encode_i8(vector: &[f32]) -> Vec<i8> {
    vector.iter().map(|it| (it * STEPS_PER_UNIT).round().clamp(-127.0, 127.0) as i8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_steps_and_stay_in_range() {
        let vector = [0.0, 1.0 / 384.0, -0.1, 0.32, 1.0, -1.0, f32::NAN, f32::NEG_INFINITY];
        assert_eq!(encode_i8(&vector), [0, 1, -38, 123, 127, -127, 0, -127]);
        assert!(encode_i8(&[]).is_empty());
    }
}
