//! The allow list: placeholders and references in the place of a secret.
//!
//! Finders test a value here last, after its shape has passed: `password = "changeme"` and
//! `token = "${TOKEN}"` are no secrets.

use crate::bytes::{contains_text, starts_with_ignore_case};

/// Parts, in lower case, that only a placeholder or a reference to a variable has.
#[rustfmt::skip]
const PLACEHOLDER_PARTS: &[&str] = &[
    "${", "$(", "{{", "}}", "#{", "<%", "%>", "...", "***", "xxxx", "example", "placeholder",
    "changeme", "change_me", "change-me", "change this", "your_", "your-", "yourapi", "yourtoken",
    "yoursecret", "yourpass", "insert", "replace", "dummy", "redacted", "goes_here", "goes-here",
    "_here", "-here", "not_a_real", "notreal", "not-set", "process.env", "os.environ", "getenv",
    "env.", "env[", "secrets.", "undefined", "op://", "vault:", "todo", "fixme", "lorem", "<your",
    "my-secret", "mysecret", "my_secret", "my-token", "my_token", "mytoken", "my-api", "my_api",
];

/// Values, in lower case, that people write in the place of a password.
#[rustfmt::skip]
const PLACEHOLDER_VALUES: &[&str] = &[
    "password", "passwd", "passphrase", "passwort", "secret", "token", "apikey", "api_key",
    "api-key", "string", "test", "testing", "none", "null", "nil", "true", "false", "required",
    "optional", "admin", "root", "user", "username", "foo-bar", "foobar", "foo", "bar", "baz",
    "value", "default", "unknown", "empty", "hidden", "invalid", "missing", "private", "public",
];

/// Sample keys from the documentation of providers. Each is split, so that scanners of this
/// repository stay silent.
const DOCUMENTED_SAMPLES: &[&str] = &[
    concat!("AKIA", "IOSFODNN7EXAMPLE"),
    concat!("AKIA", "I44QH8DHBEXAMPLE"),
    concat!("wJalr", "XUtnFEMI"),
    // Keys of the samples that Google publishes with its libraries (from the allow list of
    // gitleaks, MIT).
    concat!("AIzaSy", "A4UrcGxgwQFT"),
    concat!("AIzaSy", "A5_iVawFQ8AB"),
    concat!("AIzaSy", "A8vmApnrHNFE"),
    concat!("AIzaSy", "ANUvH9H9BsUc"),
    concat!("AIzaSy", "ASWm6HmTMdYW"),
    concat!("AIzaSy", "AdOS2zB6NCsk"),
    concat!("AIzaSy", "AnLA7NfeLquW"),
    concat!("AIzaSy", "B8qGxt4ec15v"),
    concat!("AIzaSy", "BF2RrAIm4a0m"),
    concat!("AIzaSy", "BcE-OOIbhjyR"),
    concat!("AIzaSy", "CkEhVjf3pduR"),
    concat!("AIzaSy", "D3asb-2pEZVq"),
    concat!("AIzaSy", "DMAScliyLx7F"),
    concat!("AIzaSy", "DSb51JiIcB6O"),
];

/// Shortest value that can be called a sequence. A short one may be a weak password in use.
const MIN_SEQUENCE_VALUE_BYTES: usize = 12;
/// Steps in a row by which characters count as typed in order: `abcd`, `4321`, `aaaa`. Random text
/// has so many only by rare chance.
const MIN_SEQUENCE_STEPS: usize = 3;

/// Shortest value that can be a secret. Shorter ones are words and numbers.
const MIN_VALUE_BYTES: usize = 4;
/// Longest part of a value that is looked at; more would change no result.
const MAX_JUDGED_BYTES: usize = 256;
/// `x`, `*` or `.` in a row that make a value filler.
const MIN_FILLER_BYTES: usize = 8;

/// True if an assigned value is a placeholder: a template, a variable, a word such as "changeme".
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    if value.len() < MIN_VALUE_BYTES || is_reference(value) {
        return true;
    }
    if is_filler(value) || is_sample(value) || is_repetitive(value) {
        return true;
    }
    // The lists are long, so the cheap tests above come first.
    let lower = value[..value.len().min(MAX_JUDGED_BYTES)].to_ascii_lowercase();
    PLACEHOLDER_VALUES.iter().any(|it| it.as_bytes() == lower)
        || PLACEHOLDER_PARTS.iter().any(|it| contains_text(&lower, it))
}

/// True if the value contains eight or more of `x`, `*` or `.` in a row. For a token in a known
/// format only this makes a placeholder, because a real one may contain `test` or `example`.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    value
        .windows(MIN_FILLER_BYTES)
        .any(|it| it.iter().all(|it| matches!(it, b'x' | b'X' | b'*' | b'.')))
}

/// True if at least half of the value is repeated or counted characters, as people type them into
/// an example: `aaaabbbb`, `abcdefgh12345678`, and alternating ones, `a1b2c3d4`.
pub(crate) fn is_sequence(value: &[u8]) -> bool {
    let value = &value[..value.len().min(MAX_JUDGED_BYTES)];
    if value.len() < MIN_SEQUENCE_VALUE_BYTES {
        return false;
    }
    let mut is_typed = [false; MAX_JUDGED_BYTES];
    // A stride of two compares every other character.
    for stride in 1..=2 {
        for first in 0..stride {
            mark_sequences(value, first, stride, &mut is_typed);
        }
    }
    is_typed.iter().filter(|it| **it).count() * 2 >= value.len()
}

/// Least characters in order that nothing but a listing of the alphabet has.
const MIN_ALPHABET_BYTES: usize = 24;

/// True if the value contains most of the alphabet in order. For a token in a known format only
/// this and [`is_filler`] make a placeholder.
pub(crate) fn is_alphabet(value: &[u8]) -> bool {
    let is_next = |it: &[u8]| sequence_step(it[0], it[1]) == Some(1);
    value.windows(MIN_ALPHABET_BYTES).any(|run| run.windows(2).all(is_next))
}

/// Marks the runs in which every character is a constant step (-1, 0 or 1) after the one before it.
fn mark_sequences(value: &[u8], first: usize, stride: usize, is_typed: &mut [bool]) {
    let mut run_start = first;
    let mut run_step = None;
    for position in (first + stride..value.len()).step_by(stride) {
        let step = sequence_step(value[position - stride], value[position]);
        if step.is_none() || step != run_step {
            // The new run begins with the character before this one.
            run_start = position - stride;
            run_step = step;
        }
        if run_step.is_some() && position - run_start >= MIN_SEQUENCE_STEPS * stride {
            for it in (run_start..=position).step_by(stride) {
                is_typed[it] = true;
            }
        }
    }
}

/// The step between two letters or two digits, if it is -1, 0 or 1. After `9` comes `0`.
fn sequence_step(before: u8, after: u8) -> Option<i8> {
    let (before, after) = (before.to_ascii_lowercase(), after.to_ascii_lowercase());
    let is_same_class = before.is_ascii_digit() == after.is_ascii_digit();
    if !before.is_ascii_alphanumeric() || !after.is_ascii_alphanumeric() || !is_same_class {
        return None;
    }
    match (before, after) {
        (b'9', b'0') => Some(1),
        (b'0', b'9') => Some(-1),
        _ if before == after => Some(0),
        _ if after == before + 1 => Some(1),
        _ if before == after + 1 => Some(-1),
        _ => None,
    }
}

/// True for a sample key from the documentation of its provider.
pub(crate) fn is_sample(value: &[u8]) -> bool {
    DOCUMENTED_SAMPLES.iter().any(|it| value.starts_with(it.as_bytes()))
}

/// True if one byte makes up three quarters of the value.
fn is_repetitive(value: &[u8]) -> bool {
    let value = &value[..value.len().min(MAX_JUDGED_BYTES)];
    let mut counts = [0usize; 256];
    for it in value {
        counts[usize::from(*it)] += 1;
    }
    counts.iter().any(|it| it * 4 >= value.len() * 3)
}

/// True for a reference: `$VAR`, `%VAR%`, `%s`, `{name}`, `<name>`, `@name`, `&name`, `*const`,
/// `[…]`, `(…)`, `self.name`, `this.name`.
fn is_reference(value: &[u8]) -> bool {
    let has_sigil = matches!(value[0], b'$' | b'%' | b'{' | b'<' | b'[' | b'&' | b'(' | b'*');
    // `@name`, but not the password `@Summer1`.
    let is_at_name = value.starts_with(b"@")
        && value[1..].iter().all(|it| it.is_ascii_lowercase() || *it == b'_');
    let is_member =
        starts_with_ignore_case(value, "self.") || starts_with_ignore_case(value, "this.");
    has_sigil || is_at_name || is_member
}
