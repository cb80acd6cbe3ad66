//! JSON Web Tokens (RFC 7519): Base64url parts joined by dots, the first of which is a JSON header.
//!
//! The search looks for keywords and calls the function of the keyword at each place, which *claims* the
//! range of bytes that is a secret. Here the keyword is `eyJ`, the encoding of `{"`, with which every header
//! begins, and the claim covers `eyJhbGci….eyJzdWIi….x7Kq…`: header, payload, signature.

use super::SecretClaim;
use crate::base64::decode_base64;
use crate::bytes::{contains_text, is_base64url, run_end};

/// Longest encoded header.
const MAX_HEADER_BYTES: usize = 2048;
/// Longest payload, signature or other part.
const MAX_PART_BYTES: usize = 32 * 1024;
/// Shortest payload, with the dot before it. Less text after a dot is the next sentence.
const MIN_PAYLOAD_BYTES: usize = 12;
/// Most parts after header and payload: one signature, or in an encrypted token (RFC 7516) three.
const MAX_FURTHER_PARTS: usize = 3;

/// Claims `header.payload` and the signature, if present; a token without its signature still
/// reveals its owner.
pub(super) fn claim_jwt(acc: &mut Vec<SecretClaim>, text: &[u8], start: usize) {
    // The keyword lies inside a longer word.
    if start > 0 && is_base64url(text[start - 1]) && !is_after_escape(text, start) {
        return;
    }
    let header_end = run_end(text, start, MAX_HEADER_BYTES, is_base64url);
    if text.get(header_end) != Some(&b'.') || !is_header(&text[start..header_end]) {
        return;
    }
    let payload_end = run_end(text, header_end + 1, MAX_PART_BYTES, is_base64url);
    if payload_end - header_end < MIN_PAYLOAD_BYTES {
        return;
    }
    let mut end = payload_end;
    for _ in 0..MAX_FURTHER_PARTS {
        if text.get(end) != Some(&b'.') {
            break;
        }
        let part_end = run_end(text, end + 1, MAX_PART_BYTES, is_base64url);
        // A dot without a part after it ends a sentence.
        if part_end == end + 1 {
            break;
        }
        end = part_end;
    }
    acc.push(SecretClaim { kind: "jwt", start, end });
}

/// True for an encoded JSON object that names an algorithm.
fn is_header(part: &[u8]) -> bool {
    // Four characters of Base64 are three bytes, and a rest of one character is less than a byte.
    if part.len() % 4 == 1 {
        return false;
    }
    let json = decode_base64(part);
    let is_object = json.first() == Some(&b'{') && json.last() == Some(&b'}');
    is_object && contains_text(&json, "\"alg\"")
}

/// True if the letter before the token belongs to an escape such as `\n`.
fn is_after_escape(text: &[u8], start: usize) -> bool {
    start > 1 && text[start - 2] == b'\\' && matches!(text[start - 1], b'n' | b'r' | b't')
}
