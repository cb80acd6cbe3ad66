//! A small notation for texts that contain secrets, and a check of their redaction.
//!
//! For example `AK|IA{U16}` expands to `AKIA` and 16 upper-case letters and digits, the form of an
//! AWS key id. The noise is the same in every run.

use expect_test::Expect;

/// Expands holes such as `{A36}` to fixed noise and drops `|`. The letter is an alphabet of
/// `noise`, the number a length. Texts are written so, because scanners of this repository would
/// find complete tokens.
pub(crate) fn expand(text: &str) -> String {
    let mut acc = String::new();
    let mut rest = text;
    while let Some((before, hole, after)) = next_hole(rest) {
        acc.push_str(&before.replace('|', ""));
        acc.push_str(&noise(hole));
        rest = after;
    }
    acc.push_str(&rest.replace('|', ""));
    acc
}

/// Checks a text after redaction.
pub(crate) fn check(text: &str, expect: Expect) {
    expect.assert_eq(&waylore_secrets::redact(&expand(text)).text);
}

/// The next hole, with the text before and after it.
fn next_hole(text: &str) -> Option<(&str, &str, &str)> {
    let mut holes = text.match_indices('{').map(|(start, _)| start);
    holes.find_map(|start| {
        let end = start + text[start..].find('}')?;
        let hole = &text[start + 1..end];
        let is_hole = hole.len() > 1
            && hole.as_bytes()[0].is_ascii_alphabetic()
            && hole[1..].parse::<usize>().is_ok();
        is_hole.then_some((&text[..start], hole, &text[end + 1..]))
    })
}

/// Characters of an alphabet, chosen by a linear congruential generator with a fixed seed.
fn noise(hole: &str) -> String {
    let alphabet = match &hole[..1] {
        "A" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        // As `A`, without the letter A. A bearer token of Twitter starts with a run of that letter,
        // and noise after it must not make the run longer.
        "B" => "bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "h" => "0123456789abcdef",
        "d" => "0123456789",
        "l" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "U" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        // The alphabet of Bech32.
        "u" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "x" => "x",
        other => panic!("no alphabet `{other}`"),
    };
    let length: usize = hole[1..].parse().expect("the caller has seen a number");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).expect("24 bits fit") % alphabet.len()
    };
    (0..length).map(|_| char::from(alphabet.as_bytes()[next()])).collect()
}
