//! Decides whether the value of an assignment is a secret.
//!
//! How much a value must prove depends on the word in its name (`WordStrength`) and on how the name
//! is linked to it (`NameLink`): `password = "abc12"` needs little, a random-looking word after
//! `key ` needs a lot. The least lengths below follow one rule: the looser the evidence, the
//! longer.
//!
//! A *quoted* value is a string of code or of a configuration file, a *bare* one may also be a
//! variable or a word of prose. An *own setting* fills its line, or an item between `;`.

use super::assignment::{Assignment, NameLink};
use crate::base64::decode_base64;
use crate::bytes::contains_text;
use crate::placeholder::{is_placeholder, is_sequence};
use crate::random::{is_gibberish, is_mixed_characters, is_random, is_uuid};
use crate::words::WordStrength;

/// Least bytes of a password in quotes or in a line of its own. Four letters are too often `none`,
/// `true` or `test`.
const MIN_PASSWORD_BYTES: usize = 5;
/// Least bytes of a password in code or on a command line, where names and numbers are common.
const MIN_LOOSE_PASSWORD_BYTES: usize = 6;
/// Longest text that is a password; anything longer is data.
const MAX_PASSWORD_BYTES: usize = 128;
/// Least bytes of a secret that a person made up. A name like `secret` is weaker evidence than
/// `password`, and policies for passwords ask for eight.
const MIN_WRITTEN_SECRET_BYTES: usize = 8;
/// Least bytes of a credential after `Bearer` or the like that is not random. Prose after the word
/// (`bearer of bad news`) has no such long word with digits.
const MIN_CREDENTIAL_BYTES: usize = 10;

/// True if the value is a secret, given the strength of the word in its name.
pub(super) fn is_secret(assignment: &Assignment, strength: WordStrength) -> bool {
    let looks_secret = match (assignment.scheme, strength) {
        (Some(scheme), _) => is_credential(scheme, assignment.value),
        (None, WordStrength::Password) => is_password(assignment),
        (None, WordStrength::Secret) => {
            is_generated(assignment, strength) || is_written_secret(assignment)
        }
        (None, WordStrength::Key | WordStrength::Service) => is_generated(assignment, strength),
        // `key_order = "abcdef…"` is a list of characters.
        (None, WordStrength::Weak) => {
            is_generated(assignment, strength) && !is_sequence(assignment.value)
        }
    };
    // The allow list is long, so it comes last.
    looks_secret && !is_placeholder(assignment.value)
}

/// True for a value that a program generated.
fn is_generated(assignment: &Assignment, strength: WordStrength) -> bool {
    // Without digits a value that looks random may still be the name of a variable.
    let could_be_name = !assignment.value.iter().any(u8::is_ascii_digit)
        && (assignment.link == NameLink::Call
            || (assignment.quote.is_none() && assignment.value.len() < 20));
    (is_random(assignment.value, min_random_bytes(assignment, strength)) && !could_be_name)
        || (assignment.quote.is_some() && is_mixed_characters(assignment.value))
}

/// Longest name that counts as a weak word alone: `key`, `auth`, `access`, or one with a letter or
/// two more, such as `keys`.
const MAX_BARE_NAME_BYTES: usize = 6;

/// Least length of a random value. The weaker the link and the word, the longer.
fn min_random_bytes(assignment: &Assignment, strength: WordStrength) -> usize {
    match strength {
        WordStrength::Password | WordStrength::Secret | WordStrength::Key => {
            match assignment.link {
                // No sign links the two: `token abc…`, `token-abc…`.
                NameLink::Blank | NameLink::Joint => 16,
                NameLink::Equals
                | NameLink::Colon
                | NameLink::Call
                | NameLink::Markup
                | NameLink::Sentence => 12,
            }
        }
        WordStrength::Weak => match assignment.link {
            // `key("…")` looks up an entry more often than it passes a key.
            NameLink::Call => 24,
            // `deploy_key: …`. The bare word, as in `key: …`, names entries of maps more often than
            // access keys.
            NameLink::Equals | NameLink::Colon | NameLink::Markup
                if assignment.name.len() > MAX_BARE_NAME_BYTES =>
            {
                16
            }
            NameLink::Equals
            | NameLink::Colon
            | NameLink::Markup
            | NameLink::Sentence
            | NameLink::Blank
            | NameLink::Joint => 20,
        },
        WordStrength::Service => 20,
    }
}

/// True if the text after a joint is a value. Its first part must contain a digit, otherwise it is
/// one more word of the name.
pub(super) fn is_joined(value: &[u8]) -> bool {
    let first = value.split(|it| matches!(it, b'-' | b'.')).next().unwrap_or_default();
    first.iter().any(u8::is_ascii_digit) && is_random(value, 20)
}

/// True for the value after `Bearer`, `Basic` or the like in a header.
fn is_credential(scheme: &str, value: &[u8]) -> bool {
    if scheme == "basic " {
        // `user:password` in Base64 (RFC 7617).
        return decode_base64(value).contains(&b':');
    }
    is_uuid(value)
        || is_random(value, 12)
        || (value.len() >= MIN_CREDENTIAL_BYTES
            && has_digit_and_letter(value)
            && !is_plain_name(value))
}

/// True for a password as people write it: it need not be random, but must not look like code or
/// prose.
fn is_password(assignment: &Assignment) -> bool {
    let value = assignment.value;
    if value.len() > MAX_PASSWORD_BYTES
        || value.iter().any(u8::is_ascii_whitespace)
        || looks_like_code(value)
    {
        return false;
    }
    let is_quoted = assignment.quote.is_some();
    let could_be_prose = match assignment.link {
        NameLink::Call | NameLink::Blank | NameLink::Sentence => true,
        NameLink::Colon => !is_quoted,
        NameLink::Equals | NameLink::Markup | NameLink::Joint => false,
    };
    if could_be_prose && is_named_pass(assignment.name) {
        return false;
    }
    let is_long = value.len() >= MIN_PASSWORD_BYTES;
    let is_longer = value.len() >= MIN_LOOSE_PASSWORD_BYTES;
    // The looser the link, the stronger the value must be.
    match assignment.link {
        // A line of a file such as `.netrc`: `password "value1"`.
        NameLink::Blank if is_quoted => assignment.is_own_setting && is_strong(value) && is_long,
        // Without quotes only a flag of a command: `--password value1`.
        NameLink::Blank => assignment.name.starts_with(b"-") && is_strong(value) && is_longer,
        // `password-x7Kq…`
        NameLink::Joint => is_joined(value),
        // `setPassword("value1!")`, but not `getPassword("field_2")`.
        NameLink::Call => is_longer && is_strong(value) && !is_plain_name(value),
        NameLink::Equals | NameLink::Colon | NameLink::Markup | NameLink::Sentence => {
            if is_quoted {
                // `password = "value1"`, `password = "xkqzjwvb"`
                is_long && (is_strong(value) || is_gibberish(value))
            } else if assignment.is_own_setting {
                // `PASSWORD=value` fills the line: here even a plain word is a password.
                is_long && (is_strong(value) || is_setting(assignment))
            } else {
                // In the middle of a line, as in `connect(password=value1!, timeout=3)`, a plain
                // name is a variable.
                is_longer && is_strong(value) && !is_plain_name(value)
            }
        }
    }
}

/// True if the name is `pass`, which is also a verb and a test result: `pass "x" on`, `PASS:
/// a_test`.
fn is_named_pass(name: &[u8]) -> bool {
    let last = name.rsplit(|it| *it == b'.').next().unwrap_or_default();
    last.eq_ignore_ascii_case(b"pass")
}

/// True for a secret that a person made up: letters with digits or signs, in quotes or on its own
/// line.
fn is_written_secret(assignment: &Assignment) -> bool {
    let value = assignment.value;
    (assignment.quote.is_some() || assignment.is_own_setting)
        && matches!(assignment.link, NameLink::Equals | NameLink::Colon | NameLink::Markup)
        && value.len() >= MIN_WRITTEN_SECRET_BYTES
        && !value.iter().any(u8::is_ascii_whitespace)
        && !looks_like_code(value)
        && !value.contains(&b'/')
        && is_strong(value)
        && (!is_plain_name(value) || assignment.is_own_setting)
}

/// True for letters together with a digit or a sign that names do not contain.
fn is_strong(value: &[u8]) -> bool {
    let is_sign = |it: &u8| {
        matches!(it, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+')
    };
    let has_letter = value.iter().any(u8::is_ascii_alphabetic) || !value.is_ascii();
    has_letter && value.iter().any(|it| it.is_ascii_digit() || is_sign(it))
}

fn has_digit_and_letter(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// True for `NAME=word` of an environment file and `Key=word;` of a connection string.
fn is_setting(assignment: &Assignment) -> bool {
    // `password = config.value`
    let is_attribute = assignment.value.contains(&b'.');
    // `password = db_password`
    let repeats_the_word = contains_text(&assignment.value.to_ascii_lowercase(), "pass");
    // Blanks around the sign are usual in code, where the word may be another variable.
    let could_be_code = !assignment.is_tight && (is_attribute || repeats_the_word);
    matches!(assignment.link, NameLink::Equals | NameLink::Colon)
        && assignment.value.iter().all(u8::is_ascii_graphic)
        // `self.password = word` is code.
        && !assignment.name.contains(&b'.')
        && !could_be_code
}

/// Most digits at the end of a word in a name.
const MAX_NAME_DIGITS: usize = 3;

/// True for a name in code: words joined by `_`, `-` or `.`, with digits only at the end of a word.
fn is_plain_name(value: &[u8]) -> bool {
    value.split(|it| matches!(it, b'_' | b'-' | b'.')).all(|part| {
        let n_letters = part.iter().take_while(|it| it.is_ascii_alphabetic()).count();
        part[n_letters..].iter().all(u8::is_ascii_digit)
            && part.len() - n_letters <= MAX_NAME_DIGITS
            && !is_gibberish(part)
    })
}

/// True for a call, a path, a URL or an expression.
fn looks_like_code(value: &[u8]) -> bool {
    let is_call = value.contains(&b'(') && value.contains(&b')');
    let is_path = ["/", "./", "~/"].iter().any(|it| value.starts_with(it.as_bytes()))
        || contains_text(value, "://");
    is_call
        || is_path
        || contains_text(value, "?.")
        || value.starts_with(b"!")
        || value.starts_with(b"=")
        || value.contains(&b'{')
}
