//! Passwords in the user part of a URL, whatever the scheme.

use super::Claim;
use crate::bytes::{OPAQUE, contains, is_quote, run, run_back};
use crate::placeholder::is_filler;

const AUTHORITY: usize = 400;

pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8], at: usize) {
    let scheme =
        run_back(text, at, 24, |it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.'));
    if scheme == at {
        return;
    }
    let start = at + 3;
    let end = run(text, start, AUTHORITY, |it| !ends_authority(it));
    let authority = &text[start..end];
    // The last `@` counts: a password that was not escaped may contain one.
    let Some(at_sign) = authority.iter().rposition(|it| *it == b'@') else { return };
    let Some(colon) = authority[..at_sign].iter().position(|it| *it == b':') else { return };
    let host = authority.get(at_sign + 1);
    let password = &authority[colon + 1..at_sign];
    // `postgres:postgres@localhost` is how every tutorial starts a database on one's own machine.
    let local = ["localhost", "127.0.0.1"]
        .iter()
        .any(|it| authority[at_sign + 1..].starts_with(it.as_bytes()));
    let tutorial = local && password == &authority[..colon];
    if host.is_some_and(u8::is_ascii_alphanumeric) && !tutorial && !is_stand_in(password) {
        acc.push(Claim { kind: "url-password", start: start + colon + 1, end: start + at_sign });
    }
}

const fn ends_authority(it: u8) -> bool {
    it.is_ascii_whitespace()
        || is_quote(it)
        || matches!(it, b'/' | b'?' | b'<' | b'>' | b'\\' | b'|' | OPAQUE)
}

/// Templates and filling. Weak words are no excuse here: `user:pass@host` opens a door as it is.
fn is_stand_in(password: &[u8]) -> bool {
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
        .any(|it| contains(&lower, it))
}
