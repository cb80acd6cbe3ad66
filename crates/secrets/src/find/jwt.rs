//! JSON Web Tokens: Base64url parts joined by dots, the first of which is a JSON header.

use super::Claim;
use crate::base64::decode;
use crate::bytes::{contains, is_base64url, run};

const HEADER: usize = 2048;
const PART: usize = 32 * 1024;

/// Claims `header.payload` and, when present, the signature; a token without its signature still
/// tells who its owner is.
pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8], at: usize) {
    if at > 0 && is_base64url(text[at - 1]) && !is_after_escape(text, at) {
        return;
    }
    let header_end = run(text, at, HEADER, is_base64url);
    if text.get(header_end) != Some(&b'.') || !is_header(&text[at..header_end]) {
        return;
    }
    let payload_end = run(text, header_end + 1, PART, is_base64url);
    if payload_end - header_end < 12 {
        return;
    }
    let mut end = payload_end;
    // A signed token has one more part, an encrypted one three more.
    for _ in 0..3 {
        let part_end = run(text, (end + 1).min(text.len()), PART, is_base64url);
        if text.get(end) != Some(&b'.') || part_end <= end + 1 {
            break;
        }
        end = part_end;
    }
    acc.push(Claim { kind: "jwt", start: at, end });
}

fn is_header(part: &[u8]) -> bool {
    let json = decode(part);
    part.len() % 4 != 1
        && json.first() == Some(&b'{')
        && json.last() == Some(&b'}')
        && contains(&json, "\"alg\"")
}

fn is_after_escape(text: &[u8], at: usize) -> bool {
    at > 1 && text[at - 2] == b'\\' && matches!(text[at - 1], b'n' | b'r' | b't')
}
