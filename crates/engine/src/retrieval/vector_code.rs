//! The code of a vector: its scanned part, quantized to one byte per dimension. A search scans the codes
//! of all memories in memory; full vectors stay in the database.

use infer::encode_i8;

/// Dimensions up to which a vector is scanned in full. The built-in model stays below it.
const MAX_FULL_SCAN_DIMS: usize = 512;
/// Dimensions of a longer vector that are scanned. Models with long vectors are trained so that the
/// first dimensions hold most of the meaning (Matryoshka representation learning, Kusupati et al.
/// 2022).
const SCANNED_DIMS: usize = 256;

/// Dimensions of the code of a vector that has `dims` dimensions.
pub(super) const fn code_dims(dims: usize) -> usize {
    if dims > MAX_FULL_SCAN_DIMS { SCANNED_DIMS } else { dims }
}

/// The part of a vector that is scanned: all of it, or its beginning, normalized again.
pub(super) fn scanned_part(values: &[f32]) -> Vec<f32> {
    let scanned = &values[..code_dims(values.len())];
    let norm = scanned.iter().map(|it| it * it).sum::<f32>().sqrt();
    // A full vector is normalized already; a zero vector cannot be.
    if scanned.len() == values.len() || norm <= f32::EPSILON {
        return scanned.to_vec();
    }
    scanned.iter().map(|it| it / norm).collect()
}

/// Computes the code of a vector.
pub(super) fn encode_vector(values: &[f32]) -> Vec<i8> {
    encode_i8(&scanned_part(values))
}
