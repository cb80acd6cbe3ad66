//! Discord bot tokens: three Base64url parts of known lengths, joined by dots. They contain no
//! keyword that would be rare enough, so this finder scans the text by itself.
//!
//! ```text
//! MTA4…   .   Gx1b2c   .   x7Kq…      the bot's id, the time of creation, the signature
//! 24–26       6            27–38      bytes
//! ```

use std::ops::RangeInclusive;

use super::SecretClaim;
use crate::bytes::{ends_token, is_base64url, run_end, run_start, starts_token};
use crate::random::shannon_entropy;

/// Length of the first part: the bot's id.
const FIRST_PART_BYTES: RangeInclusive<usize> = 24..=26;
/// From the first dot to the second: the middle part has six bytes.
const DOT_DISTANCE: usize = 7;
/// Length of the last part: the signature.
const LAST_PART_BYTES: RangeInclusive<usize> = 27..=38;
/// Least entropy of a token, in thousandths of a bit per byte.
const MIN_ENTROPY: u32 = 3_500;

/// Claims tokens around two dots at the right distance. These are rare, so all other tests come
/// after them.
pub(super) fn claim_discord(acc: &mut Vec<SecretClaim>, text: &[u8]) {
    let n_positions = text.len().saturating_sub(DOT_DISTANCE);
    let has_two_dots = |it: &usize| text[*it] == b'.' && text[*it + DOT_DISTANCE] == b'.';
    for dot in (0..n_positions).filter(has_two_dots) {
        let last_part = dot + DOT_DISTANCE + 1;
        // One more than the longest part, so that a longer run is noticed.
        let start = run_start(text, dot, *FIRST_PART_BYTES.end() + 1, is_base64url);
        let end = run_end(text, last_part, *LAST_PART_BYTES.end() + 1, is_base64url);
        let middle_part = &text[dot + 1..dot + DOT_DISTANCE];
        let has_token_shape = FIRST_PART_BYTES.contains(&(dot - start))
            && middle_part.iter().all(|it| is_base64url(*it))
            && LAST_PART_BYTES.contains(&(end - last_part));
        if !has_token_shape || !starts_token(text, start) || !ends_token(text, end) {
            continue;
        }
        // The first part is the bot's id in Base64: digits, whose encoding begins with one of these
        // letters.
        let starts_with_digits = matches!(text[start], b'M' | b'N' | b'O');
        if starts_with_digits && shannon_entropy(&text[start..end]) >= MIN_ENTROPY {
            acc.push(SecretClaim { kind: "discord-token", start, end });
        }
    }
}
