//! Golden test of the built-in model: the vectors of twenty texts must have the bits stored in a file,
//! on every machine.

use std::fmt::Write as _;

use expect_test::expect_file;
use waylore_infer::{BuiltInEmbedder, DIMS, MODEL_ID, encode_i8};

#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "retry",
    "where is the session token refreshed in the client",
    "The retry limit is 3",
    "The retry limit is 5",
    "Always run the migrations before the tests",
    "Never run the migrations before the tests",
    "Files: src/auth/jwt.rs | Module: auth | Type: gotcha\nverify_jwt accepts tokens without an expiry",
    "fn parse(header: &str) -> Option<u16> {\n    header.split(':').nth(1)?.parse().ok()\n}",
    "SELECT id, stage FROM memories WHERE project_id = ?1 ORDER BY id",
    "error[E0502]: cannot borrow `x` as mutable because it is also borrowed as immutable",
    "getHTTPResponseCode __init__ 0xDEADBEEF 1_000_000",
    "don't we'll it's 'quoted'",
    "Die Prüfung läuft jede Nacht um zwei",
    "東京の天気 한국어 привет שלום नमस्ते",
    "🙂👍🏽👨‍👩‍👧🇩🇪",
    "\0\u{1}\u{7f}\u{200b}\u{feff}\u{301}",
    "<s></s><mask>",
];

#[test]
fn vectors_have_the_stored_bits() {
    let vectors = BuiltInEmbedder::new().embed(TEXTS);
    let mut acc = format!("{MODEL_ID}: hash of all bits, first eight numbers, text\n");
    for (vector, text) in vectors.iter().zip(TEXTS) {
        // Printed in full, so equal lines are equal bits.
        let first: Vec<String> = vector[..8].iter().map(ToString::to_string).collect();
        writeln!(acc, "{} [{}] {text:?}", hash(vector), first.join(", ")).unwrap();
    }
    expect_file!["../../fixtures/vectors.txt"].assert_eq(&acc);
}

#[test]
fn vectors_have_length_one_and_their_int8_codes_keep_the_cosines() {
    let vectors = BuiltInEmbedder::new().embed(TEXTS);
    for a in &vectors {
        assert_eq!((a.len(), encode_i8(a).len()), (DIMS, DIMS));
        assert!((dot(a, a) - 1.0).abs() < 1e-5);
        for b in &vectors {
            let mut code_dot = 0;
            for (a, b) in encode_i8(a).into_iter().zip(encode_i8(b)) {
                code_dot += i32::from(a) * i32::from(b);
            }
            // A code has 384 steps per unit.
            let cosine = f64::from(code_dot) / (384.0 * 384.0);
            assert!((cosine - f64::from(dot(a, b))).abs() < 0.01, "{cosine} {}", dot(a, b));
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn hash(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}
