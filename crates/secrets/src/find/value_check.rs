//! Decides whether the value of an assignment is a secret.
//!
//! How much a value must prove depends on the word in its name (`WordStrength`) and on how the name
//! is linked to it (`NameLink`): `password = "abc12"` needs little, a random-looking word after
//! `key ` needs a lot. The least lengths below follow one rule: the looser the evidence, the
//! longer.
//!
//! A *quoted* value is a string of code or of a configuration file, a *bare* one may also be a
//! variable or a word of prose. An *own setting* fills its line, or an item between `;`.
//!
//! ```text
//! assignment               strength of the word   secret?
//! password = "summer1"     Password               yes: people choose passwords, a digit is enough
//! password = summer_name   Password               no: a bare name is a variable
//! token = "summer1"        Key                    no: tokens are generated, this is not random
//! token = "x7Kq…"          Key                    yes: random
//! ```

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

// Least bytes of a random value, by the evidence beside it. Short random-looking words are common
// (ids, abbreviated hashes of commits), so weaker evidence needs a longer value.

/// After a strong word and a sign: `token = x7Kq…`.
const MIN_RANDOM_BYTES: usize = 12;
/// After a strong word without a sign, `token x7Kq…`, or a longer name with a weak word,
/// `deploy_key = x7Kq…`.
const MIN_LOOSE_RANDOM_BYTES: usize = 16;
/// After a weak word alone, `key = x7Kq…`, or the name of a service.
const MIN_WEAK_RANDOM_BYTES: usize = 20;
/// In a call with a weak word, `key("…")`, which looks up an entry more often than it passes a key.
const MIN_WEAK_CALL_RANDOM_BYTES: usize = 24;
/// From this length on a bare random value without digits is no name of a variable.
const MIN_DIGITLESS_BYTES: usize = 20;

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
    let value = assignment.value;
    let is_quoted = assignment.quote.is_some();
    // Keys with many different punctuation characters; only quotes show where such a value ends.
    if is_quoted && is_mixed_characters(value) {
        return true;
    }
    // Without digits a value that looks random may still be the name of a variable.
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let is_short_and_bare = !is_quoted && value.len() < MIN_DIGITLESS_BYTES;
    let could_be_name = !has_digit && (assignment.link == NameLink::Call || is_short_and_bare);
    !could_be_name && is_random(value, min_random_bytes(assignment, strength))
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
                NameLink::Blank | NameLink::Joint => MIN_LOOSE_RANDOM_BYTES,
                NameLink::Equals
                | NameLink::Colon
                | NameLink::Call
                | NameLink::Markup
                | NameLink::Sentence => MIN_RANDOM_BYTES,
            }
        }
        WordStrength::Weak => match assignment.link {
            NameLink::Call => MIN_WEAK_CALL_RANDOM_BYTES,
            // `deploy_key: …`. The bare word, as in `key: …`, names entries of maps more often than
            // access keys.
            NameLink::Equals | NameLink::Colon | NameLink::Markup
                if assignment.name.len() > MAX_BARE_NAME_BYTES =>
            {
                MIN_LOOSE_RANDOM_BYTES
            }
            NameLink::Equals
            | NameLink::Colon
            | NameLink::Markup
            | NameLink::Sentence
            | NameLink::Blank
            | NameLink::Joint => MIN_WEAK_RANDOM_BYTES,
        },
        WordStrength::Service => MIN_WEAK_RANDOM_BYTES,
    }
}

/// True if the text after a joint is a value. Its first part must contain a digit, otherwise it is
/// one more word of the name.
pub(super) fn is_joined(value: &[u8]) -> bool {
    let first_part = value.split(|it| matches!(it, b'-' | b'.')).next().unwrap_or_default();
    first_part.iter().any(u8::is_ascii_digit) && is_random(value, MIN_WEAK_RANDOM_BYTES)
}

/// True for the value after `Bearer`, `Basic` or the like in a header.
fn is_credential(scheme: &str, value: &[u8]) -> bool {
    if scheme == "basic " {
        // `user:password` in Base64 (RFC 7617).
        return decode_base64(value).contains(&b':');
    }
    if is_uuid(value) || is_random(value, MIN_RANDOM_BYTES) {
        return true;
    }
    value.len() >= MIN_CREDENTIAL_BYTES && has_digit_and_letter(value) && !is_plain_name(value)
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
    let is_delimited = assignment.quote.is_some() || assignment.is_own_setting;
    let has_sign = matches!(assignment.link, NameLink::Equals | NameLink::Colon | NameLink::Markup);
    if !is_delimited || !has_sign || value.len() < MIN_WRITTEN_SECRET_BYTES {
        return false;
    }
    let has_blank = value.iter().any(u8::is_ascii_whitespace);
    let is_code_or_path = looks_like_code(value) || value.contains(&b'/');
    if has_blank || is_code_or_path || !is_strong(value) {
        return false;
    }
    // In a string of code `client2` may be the name of something; a line of its own is a setting.
    assignment.is_own_setting || !is_plain_name(value)
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
    if !matches!(assignment.link, NameLink::Equals | NameLink::Colon) {
        return false;
    }
    // `self.password = word` is code.
    let is_member = assignment.name.contains(&b'.');
    if is_member || !assignment.value.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    // `password = config.value`
    let is_attribute = assignment.value.contains(&b'.');
    // `password = db_password`
    let repeats_the_word = contains_text(&assignment.value.to_ascii_lowercase(), "pass");
    // Blanks around the sign are usual in code, where the word may be another variable.
    let could_be_code = !assignment.is_tight && (is_attribute || repeats_the_word);
    !could_be_code
}

/// Most digits at the end of a word in a name, such as `sha256`. More are a number or a secret.
const MAX_NAME_DIGITS: usize = 3;

/// True for a name in code: words joined by `_`, `-` or `.`, with digits only at the end of a word.
fn is_plain_name(value: &[u8]) -> bool {
    let is_word = |word: &[u8]| {
        let n_letters = word.iter().take_while(|it| it.is_ascii_alphabetic()).count();
        let ending = &word[n_letters..];
        let has_short_number =
            ending.len() <= MAX_NAME_DIGITS && ending.iter().all(u8::is_ascii_digit);
        has_short_number && !is_gibberish(word)
    };
    value.split(|it| matches!(it, b'_' | b'-' | b'.')).all(is_word)
}

/// True for a call, a path, a URL or an expression.
fn looks_like_code(value: &[u8]) -> bool {
    let is_call = value.contains(&b'(') && value.contains(&b')');
    let is_path = ["/", "./", "~/"].iter().any(|it| value.starts_with(it.as_bytes()));
    let is_url = contains_text(value, "://");
    // `user?.password`, `!valid`, the rest of `==`, and `{name}`.
    let is_expression = contains_text(value, "?.")
        || value.starts_with(b"!")
        || value.starts_with(b"=")
        || value.contains(&b'{');
    is_call || is_path || is_url || is_expression
}
