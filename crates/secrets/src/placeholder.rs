//! The allow list: placeholders and references in the place of a secret.
//!
//! Finders test a value here last, after its shape has passed.

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
];

/// Shortest value that can be a secret.
const MIN_VALUE_BYTES: usize = 4;
/// Longest part of a value that is looked at; more would change no result.
const MAX_JUDGED_BYTES: usize = 256;
/// `x`, `*` or `.` in a row that make a value filler.
const MIN_FILLER_BYTES: usize = 8;

/// True if an assigned value is a placeholder: a template, a variable, a word such as "changeme".
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    if value.len() < MIN_VALUE_BYTES
        || is_filler(value)
        || is_sample(value)
        || is_repetitive(value)
        || is_reference(value)
    {
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
    matches!(value[0], b'$' | b'%' | b'{' | b'<' | b'[' | b'&' | b'(' | b'*')
        || (value.starts_with(b"@")
            && value[1..].iter().all(|it| it.is_ascii_lowercase() || *it == b'_'))
        || starts_with_ignore_case(value, "self.")
        || starts_with_ignore_case(value, "this.")
}
