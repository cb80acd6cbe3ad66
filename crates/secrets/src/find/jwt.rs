//! JSON Web Tokens (RFC 7519): Base64url parts joined by dots, the first of which is a JSON header.

use super::SecretClaim;
use crate::base64::decode_base64;
use crate::bytes::{contains_text, is_base64url, run_end};

const MAX_HEADER_BYTES: usize = 2048;
const MAX_PART_BYTES: usize = 32 * 1024;

/// Claims `header.payload` and the signature, if present; a token without its signature still
/// reveals its owner.
pub(super) fn claim_jwt(acc: &mut Vec<SecretClaim>, text: &[u8], at: usize) {
    if at > 0 && is_base64url(text[at - 1]) && !is_after_escape(text, at) {
        return;
    }
    let header_end = run_end(text, at, MAX_HEADER_BYTES, is_base64url);
    if text.get(header_end) != Some(&b'.') || !is_header(&text[at..header_end]) {
        return;
    }
    let payload_end = run_end(text, header_end + 1, MAX_PART_BYTES, is_base64url);
    // Shorter text after the dot is no payload.
    if payload_end - header_end < 12 {
        return;
    }
    let mut end = payload_end;
    // A signed token has one more part, an encrypted one three more.
    for _ in 0..3 {
        let part_end = run_end(text, (end + 1).min(text.len()), MAX_PART_BYTES, is_base64url);
        if text.get(end) != Some(&b'.') || part_end <= end + 1 {
            break;
        }
        end = part_end;
    }
    acc.push(SecretClaim { kind: "jwt", start: at, end });
}

/// True for an encoded JSON object that names an algorithm.
fn is_header(part: &[u8]) -> bool {
    let json = decode_base64(part);
    part.len() % 4 != 1
        && json.first() == Some(&b'{')
        && json.last() == Some(&b'}')
        && contains_text(&json, "\"alg\"")
}

fn is_after_escape(text: &[u8], at: usize) -> bool {
    at > 1 && text[at - 2] == b'\\' && matches!(text[at - 1], b'n' | b'r' | b't')
}
