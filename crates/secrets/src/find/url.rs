//! Passwords in the user part of a URL of any scheme: `scheme://user:password@host`. The keyword is
//! `://`.
//!
//! `postgres://app:x7Kq…@db.example.org/main` has the claim `x7Kq…`. `postgres://app:${PASS}@db` has
//! none: the password is a template.

use super::SecretClaim;
use crate::bytes::{OPAQUE_BYTE, contains_text, is_quote, run_end, run_start};
use crate::placeholder::is_filler;

/// Longest scheme of a URL.
const MAX_SCHEME_BYTES: usize = 24;
/// Longest authority (user, password, host, port) of a URL.
const MAX_AUTHORITY_BYTES: usize = 400;
/// Shortest password; less is a letter in the place of one, as in `u:p@host`.
const MIN_URL_PASSWORD_BYTES: usize = 3;

/// Parts, in lower case, that only a template or filler has.
#[rustfmt::skip]
const TEMPLATE_PARTS: &[&str] = &[
    "${", "{{", "#{", "%s", "...", "***", "xxx", "your", "placeholder", "redacted", "replace",
];

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
    let user = &authority[..colon];
    let password = &authority[colon + 1..at_sign];
    let host = &authority[at_sign + 1..];
    let has_host = host.first().is_some_and(u8::is_ascii_alphanumeric);
    // `postgres:postgres@localhost` is the database of every tutorial.
    let is_local = host.starts_with(b"localhost") || host.starts_with(b"127.0.0.1");
    let is_tutorial = is_local && password == user;
    if has_host && !is_tutorial && !is_url_placeholder(password) {
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
    if password.len() < MIN_URL_PASSWORD_BYTES || is_filler(password) {
        return true;
    }
    let is_variable = matches!(password[0], b'$' | b'%' | b'{' | b'[' | b'*' | b'(');
    let lower = password.to_ascii_lowercase();
    is_variable || TEMPLATE_PARTS.iter().any(|it| contains_text(&lower, it))
}
