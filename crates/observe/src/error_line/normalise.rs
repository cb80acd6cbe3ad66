//! Normalises a message: what differs from run to run goes, the names that make the error what it is stay.
//!
//! Paths, positions, addresses, times, hashes, counts and temporary names become placeholders. The subject of
//! an error (the missing module, variable, command) always stays. Of other quoted parts the kind of the error
//! decides, see [`QuotePolicy`]:
//!
//! ```text
//! Cannot find module 'zod' imported from '/home/me/a.ts'    cannot find module 'zod' imported from <v>
//! src/a.ts(3,1): error TS2322: Type 'A' is not …            <path> error ts2322: type 'a' is not …
//! connect ECONNREFUSED 127.0.0.1:5432                       connect econnrefused #
//! ```

use super::error_kind::ErrorKind;

/// Shorter words of hexadecimal digits can be ordinary words or numbers.
const MIN_HASH_BYTES: usize = 7;
/// Words up to this length keep their separators: `3:1` is not a version.
const MAX_SHORT_NUMBER_BYTES: usize = 4;
/// Bytes of a line that are normalised.
const MAX_COMPARED_BYTES: usize = 400;
/// Distance within which a quote must be closed, in bytes.
const MAX_QUOTED_BYTES: usize = 160;
/// The longest quoted part that can be a name, in bytes.
const MAX_NAME_BYTES: usize = 60;
/// Stands for the subject while the rest is normalised. It does not occur in outputs.
const SUBJECT_MARK: char = '\u{e000}';

/// Words after which a number is part of the error: `exit code 127`, `status 404`.
const NUMBER_WORDS: &[&str] =
    &["code", "status", "http", "signal", "errno", "error", "exit", "response"];

/// Treatment of the quoted parts and numbers of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuotePolicy {
    /// The subject says enough; other quoted parts are places and values.
    SubjectOnly,
    /// Names stay, values and paths go.
    Names,
    /// All stays but paths: the types of a compiler, the two values of an assertion.
    Values,
}

const fn quote_policy(kind: ErrorKind, has_subject: bool) -> QuotePolicy {
    match kind {
        ErrorKind::AssertionFailure | ErrorKind::CompileError => QuotePolicy::Values,
        ErrorKind::MissingModule
        | ErrorKind::MissingCommand
        | ErrorKind::MissingVariable
        | ErrorKind::MissingFile
        | ErrorKind::UsageError
            if has_subject =>
        {
            QuotePolicy::SubjectOnly
        }
        _ => QuotePolicy::Names,
    }
}

/// A message without paths, positions, addresses, versions, times, hashes, ports and quoted values; quoted
/// names stay.
pub fn normalise_message(line: &str) -> String {
    normalise_error(line, ErrorKind::Other, None)
}

/// The message of an error without its accidental parts.
pub(super) fn normalise_error(line: &str, kind: ErrorKind, subject: Option<&str>) -> String {
    let line = &line[..line.floor_char_boundary(MAX_COMPARED_BYTES)];
    let policy = quote_policy(kind, subject.is_some());
    let marked = match subject {
        Some(subject) => line.replacen(subject, SUBJECT_MARK.encode_utf8(&mut [0; 4]), 1),
        None => line.to_owned(),
    };
    let mut acc = String::new();
    let mut keeps_number = false;
    for word in replace_quoted(&marked, policy).split_whitespace() {
        if !acc.is_empty() {
            acc.push(' ');
        }
        let is_kept = policy == QuotePolicy::Values || keeps_number;
        acc.push_str(&normalise_word(word, is_kept));
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric()).to_ascii_lowercase();
        keeps_number = NUMBER_WORDS.contains(&bare.as_str());
    }
    let acc = acc.to_lowercase();
    match subject {
        Some(subject) => acc.replacen(SUBJECT_MARK, &localise_subject(subject), 1),
        None => acc,
    }
}

/// The subject without the folders of one machine: `/home/me/app/.env` becomes `.env`.
pub(super) fn localise_subject(subject: &str) -> String {
    let is_absolute = subject.starts_with(['/', '~'])
        || subject.get(1..3).is_some_and(|it| matches!(it, ":\\" | ":/"))
        || subject.starts_with("file://");
    let name = if is_absolute { subject.rsplit(['/', '\\']).next() } else { None };
    name.filter(|it| !it.is_empty()).unwrap_or(subject).to_owned()
}

/// Replaces the quoted parts that are no names of the error with `<v>`. An apostrophe inside a word is no
/// quote.
fn replace_quoted(line: &str, policy: QuotePolicy) -> String {
    let mut acc = String::new();
    let mut rest = line;
    while let Some(quote_start) = rest.find(['"', '\'', '`', '“', '‘']) {
        let before = &rest[..quote_start];
        let open = rest[quote_start..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '‘' => '’',
            it => it,
        };
        let after = &rest[quote_start + open.len_utf8()..];
        let is_apostrophe = before.ends_with(char::is_alphanumeric);
        // The search for the closing quote is bounded, so that the whole takes linear time.
        let window = &after[..after.floor_char_boundary(MAX_QUOTED_BYTES)];
        acc.push_str(before);
        if let Some(end) = window.find(close).filter(|_| !is_apostrophe) {
            push_quoted(&mut acc, &window[..end], policy);
            rest = &after[end + close.len_utf8()..];
        } else {
            acc.push(open);
            rest = after;
        }
    }
    acc + rest
}

fn push_quoted(acc: &mut String, quoted: &str, policy: QuotePolicy) {
    let stays = match policy {
        QuotePolicy::SubjectOnly => quoted.contains(SUBJECT_MARK),
        QuotePolicy::Names => quoted.contains(SUBJECT_MARK) || is_name(quoted),
        QuotePolicy::Values => !is_path(quoted),
    };
    if stays {
        acc.push('\'');
        acc.push_str(quoted);
        acc.push('\'');
    } else {
        acc.push_str("<v>");
    }
}

/// Returns whether a quoted part names something: one word without digits, which is no path.
fn is_name(quoted: &str) -> bool {
    let is_plain = |it: char| it.is_alphabetic() || "_-.:@$#!?()[]<>=+*&".contains(it);
    !quoted.is_empty()
        && quoted.len() <= MAX_NAME_BYTES
        && quoted.chars().all(is_plain)
        && !is_path(quoted)
}

fn is_path(word: &str) -> bool {
    word.contains(['/', '\\']) || model::words::file_extension(word).is_some()
}

/// Replaces a word that differs from run to run with a placeholder: `<url>`, `<path>`, `<id>`, or `#` for a
/// number. Other words stay, and so do numbers if `keeps_numbers` is set.
fn normalise_word(word: &str, keeps_numbers: bool) -> String {
    if word.contains(SUBJECT_MARK) {
        return word.to_owned();
    }
    // Without punctuation around it; characters that begin or end a path or a placeholder stay.
    let bare = word.trim_matches(|it: char| {
        !it.is_alphanumeric() && !matches!(it, '/' | '.' | '~' | '<' | '>')
    });
    if bare.contains("://") {
        return "<url>".to_owned();
    }
    // `src/a`, but neither `/` nor `<v>/a`, whose folder is a placeholder already.
    let has_folder = bare.contains('/') && bare.len() > 2 && !bare.starts_with('<');
    // `a.go`, also with a position after it: `a.go:12:3`, `a.ts(12,3)`.
    let name = bare.split([':', '(']).next().unwrap_or(bare);
    let is_file = model::words::file_extension(name).is_some();
    if has_folder || is_file || bare.starts_with("~/") {
        return "<path>".to_owned();
    }
    let has_digit = bare.bytes().any(|it| it.is_ascii_digit());
    let is_hex =
        bare.len() >= MIN_HASH_BYTES && bare.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    // `550e8400-e29b`, but not `defaced`, which is a word.
    if (is_hex && has_digit) || bare.starts_with("0x") {
        return "<id>".to_owned();
    }
    let is_value = keeps_numbers && (is_plain_number(bare) || is_identifier(bare));
    if !has_digit || is_error_code(bare) || is_value {
        return word.to_owned();
    }
    replace_digits(word, bare.len())
}

/// Replaces digits: counts, ports, versions, durations, temporary names. A run of digits becomes one `#`,
/// and so does `1.2.3`.
fn replace_digits(word: &str, bare_bytes: usize) -> String {
    let mut acc = String::new();
    for it in word.chars() {
        match it {
            '0'..='9' if acc.ends_with('#') => {}
            '0'..='9' => acc.push('#'),
            // The separators of versions, times and dates; `T` is in `2026-01-05T13:29`.
            '.' | ':' | '-' | 'T' if acc.ends_with('#') && bare_bytes > MAX_SHORT_NUMBER_BYTES => {}
            it => acc.push(it),
        }
    }
    acc
}

/// Returns whether a word is the code of an error or rule, such as `TS2307`, `E0425`, `F401` or `error[E0308]`:
/// capitals, then digits.
fn is_error_code(bare: &str) -> bool {
    let code = bare.rsplit(['[', '(']).next().unwrap_or(bare).trim_end_matches([']', ')', ':']);
    let digits = code.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let n_capitals = code.len() - digits.len();
    (1..=8).contains(&n_capitals)
        && (1..=6).contains(&digits.len())
        && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Returns whether a word is a number without a unit: `3`, `-1.5`, but neither `12ms` nor `10:30`.
fn is_plain_number(bare: &str) -> bool {
    bare.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'-'))
        && bare.matches('.').count() < 2
}

/// Returns whether a word is a name with a few digits, such as `utf8` or `user_42`.
fn is_identifier(bare: &str) -> bool {
    let n_digits = bare.bytes().filter(u8::is_ascii_digit).count();
    bare.starts_with(char::is_alphabetic)
        && bare.chars().all(|it| it.is_alphanumeric() || it == '_')
        && n_digits * 2 <= bare.len()
}
