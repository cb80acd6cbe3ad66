//! Passwords in the user part of a URL of any scheme: `scheme://user:password@host`. The keyword is
//! `://`.

use super::SecretClaim;
use crate::bytes::{OPAQUE_BYTE, contains_text, is_quote, run_end, run_start};
use crate::placeholder::is_filler;

/// Longest scheme of a URL.
const MAX_SCHEME_BYTES: usize = 24;
/// Longest authority (user, password, host, port) of a URL.
const MAX_AUTHORITY_BYTES: usize = 400;

/// Claims the password of the URL whose `://` is at `keyword_start`.
pub(super) fn claim_password(acc: &mut Vec<SecretClaim>, text: &[u8], keyword_start: usize) {
    let scheme_start = run_start(text, keyword_start, MAX_SCHEME_BYTES, |it| {
        it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.')
    });
    if scheme_start == keyword_start {
        // Without a scheme it is no URL.
        return;
    }
    let start = keyword_start + "://".len();
    let end = run_end(text, start, MAX_AUTHORITY_BYTES, |it| !ends_authority(it));
    let authority = &text[start..end];
    // The last `@` counts: a password that was not escaped may contain one.
    let Some(at_sign) = authority.iter().rposition(|it| *it == b'@') else { return };
    // Without a colon there is a user, but no password.
    let Some(colon) = authority[..at_sign].iter().position(|it| *it == b':') else { return };
    let first_of_host = authority.get(at_sign + 1);
    let password = &authority[colon + 1..at_sign];
    // `postgres:postgres@localhost` is the database of every tutorial.
    let is_local = ["localhost", "127.0.0.1"]
        .iter()
        .any(|it| authority[at_sign + 1..].starts_with(it.as_bytes()));
    let is_tutorial = is_local && password == &authority[..colon];
    if first_of_host.is_some_and(u8::is_ascii_alphanumeric)
        && !is_tutorial
        && !is_url_placeholder(password)
    {
        acc.push(SecretClaim {
            kind: "url-password",
            start: start + colon + 1,
            end: start + at_sign,
        });
    }
}

const fn ends_authority(it: u8) -> bool {
    it.is_ascii_whitespace()
        || is_quote(it)
        || matches!(it, b'/' | b'?' | b'<' | b'>' | b'\\' | b'|' | OPAQUE_BYTE)
}

/// True for templates and filler. Weak words are no placeholder here: `user:pass@host` may work as
/// it is.
fn is_url_placeholder(password: &[u8]) -> bool {
    let lower = password.to_ascii_lowercase();
    password.len() < 3
        || is_filler(password)
        || matches!(password[0], b'$' | b'%' | b'{' | b'[' | b'*' | b'(')
        || [
            "${",
            "{{",
            "#{",
            "%s",
            "...",
            "***",
            "xxx",
            "your",
            "placeholder",
            "redacted",
            "replace",
        ]
        .iter()
        .any(|it| contains_text(&lower, it))
}
