//! Validation and normalisation of vectors received from a provider: `[3.0, 4.0]` becomes `[0.6, 0.8]`,
//! a vector of length one; a wrong count, a wrong length, zeros and infinite numbers are rejected.

use crate::error::ResponseFlaw;

/// A shorter vector counts as zero: dividing by its length would only enlarge noise.
const MIN_LENGTH: f64 = 1e-12;

/// Checks that there is one vector of `dims` finite numbers per text, and scales each to length one.
/// Nested (Matryoshka) vectors may be longer and are truncated.
pub(super) fn check_vectors(
    vectors: Vec<Vec<f32>>,
    n_texts: usize,
    dims: usize,
    is_nested: bool,
) -> Result<Vec<Vec<f32>>, ResponseFlaw> {
    if vectors.len() != n_texts {
        return Err(ResponseFlaw::Count { wanted: n_texts, found: vectors.len() });
    }
    vectors.into_iter().map(|it| check_one(it, dims, is_nested)).collect()
}

fn check_one(mut vector: Vec<f32>, dims: usize, is_nested: bool) -> Result<Vec<f32>, ResponseFlaw> {
    let found = vector.len();
    let can_truncate = is_nested && found > dims;
    if found != dims && !can_truncate {
        return Err(ResponseFlaw::Dims { wanted: dims, found });
    }
    // Checked before truncating: a broken number anywhere means a broken model.
    if !vector.iter().all(|it| it.is_finite()) {
        return Err(ResponseFlaw::NotFinite);
    }
    vector.truncate(dims);
    normalize_vector(&mut vector)?;
    Ok(vector)
}

#[expect(clippy::cast_possible_truncation, reason = "back to the precision it came in")]
fn normalize_vector(vector: &mut [f32]) -> Result<(), ResponseFlaw> {
    // In double precision, because squares of large floats overflow single precision.
    let length = vector.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    if length < MIN_LENGTH {
        return Err(ResponseFlaw::Zero);
    }
    for it in vector {
        *it = (f64::from(*it) / length) as f32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the vector or the error of one received vector where two numbers are expected.
    fn check(vector: &[f32], is_nested: bool, expect: Expect) {
        let res = super::check_vectors(vec![vector.to_vec()], 1, 2, is_nested);
        expect.assert_eq(&res.map_or_else(|it| it.to_string(), |it| format!("{:?}", it[0])));
    }

    #[test]
    fn vectors_are_normalised_and_only_nested_ones_are_truncated() {
        check(&[3.0, 4.0], false, expect!["[0.6, 0.8]"]);
        check(&[3e38, 0.0], false, expect!["[1.0, 0.0]"]);
        check(&[3.0, 4.0, 9.0], true, expect!["[0.6, 0.8]"]);
        let refused = expect![
            "its vectors have 3 numbers instead of 2; set the dimensions to 3 or choose another model"
        ];
        check(&[3.0, 4.0, 9.0], false, refused);
        let refused = expect![
            "its vectors have 1 numbers instead of 2; set the dimensions to 1 or choose another model"
        ];
        check(&[3.0], true, refused);
    }

    #[test]
    fn zeros_infinite_numbers_and_a_wrong_count_are_rejected() {
        check(
            &[f32::NAN, 1.0],
            false,
            expect!["a number in it is not finite; check the model on the server"],
        );
        check(
            &[1.0, f32::INFINITY],
            false,
            expect!["a number in it is not finite; check the model on the server"],
        );
        check(
            &[1.0, 2.0, f32::NAN],
            true,
            expect!["a number in it is not finite; check the model on the server"],
        );
        check(
            &[0.0, 0.0],
            false,
            expect!["a vector in it is all zeros; check the model on the server"],
        );
        check(
            &[0.0, 0.0, 1.0],
            true,
            expect!["a vector in it is all zeros; check the model on the server"],
        );
        let res = super::check_vectors(vec![vec![1.0, 0.0]; 2], 3, 2, false);
        assert_eq!(res, Err(ResponseFlaw::Count { wanted: 3, found: 2 }));
    }
}
