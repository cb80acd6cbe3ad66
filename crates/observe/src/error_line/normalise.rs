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

use std::net::{IpAddr, SocketAddr};

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
/// Stands for a part that stays while the rest is normalised: the first of 256 characters for private use.
const FIRST_MARK: u32 = 0xe000;
const MAX_MARKS: u32 = 256;

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

/// Treatment of plain numbers and identifiers with digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberPolicy {
    Keep,
    /// A number becomes `#`.
    Replace,
}

const fn quote_policy(kind: ErrorKind, subject: Option<&str>) -> QuotePolicy {
    match kind {
        ErrorKind::AssertionFailure | ErrorKind::CompileError => QuotePolicy::Values,
        // The rule is the error; the names it is about differ from place to place.
        ErrorKind::LintRule => QuotePolicy::SubjectOnly,
        ErrorKind::MissingModule
        | ErrorKind::MissingCommand
        | ErrorKind::MissingVariable
        | ErrorKind::MissingFile
        | ErrorKind::UsageError
            if subject.is_some() =>
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
    let policy = quote_policy(kind, subject);
    let mut kept = KeptParts::default();
    let marked = match subject.and_then(|it| Some((line.find(it)?, it))) {
        Some((start, subject)) => {
            let mark = kept.keep(localise_subject(subject));
            [&line[..start], &mark, &line[start + subject.len()..]].concat()
        }
        None => line.to_owned(),
    };
    let mut acc = String::new();
    let mut keeps_number = false;
    for word in kept.replace_quoted(&marked, policy).split_whitespace() {
        if !acc.is_empty() {
            acc.push(' ');
        }
        let is_kept = policy == QuotePolicy::Values || keeps_number;
        let numbers = if is_kept { NumberPolicy::Keep } else { NumberPolicy::Replace };
        acc.push_str(&normalise_word(word, numbers));
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric()).to_ascii_lowercase();
        keeps_number = NUMBER_WORDS.contains(&bare.as_str());
    }
    kept.restore(&acc.to_lowercase())
}

/// The parts of a message that stay as they are, replaced with marks while the rest is normalised.
#[derive(Default)]
struct KeptParts(Vec<String>);

impl KeptParts {
    /// The mark for a part. Further parts than there are marks become `<v>`.
    fn keep(&mut self, part: String) -> String {
        let number = u32::try_from(self.0.len()).unwrap_or(MAX_MARKS);
        let mark = char::from_u32(FIRST_MARK + number).filter(|_| number < MAX_MARKS);
        let Some(mark) = mark else { return "<v>".to_owned() };
        self.0.push(part);
        mark.to_string()
    }

    fn restore(&self, marked: &str) -> String {
        let mut acc = String::with_capacity(marked.len());
        for it in marked.chars() {
            match mark_number(it).and_then(|it| self.0.get(it)) {
                Some(part) => acc.push_str(part),
                None => acc.push(it),
            }
        }
        acc
    }

    /// Replaces quoted parts: those that stay with marks, the others with `<v>`. An apostrophe inside a word
    /// is no quote.
    fn replace_quoted(&mut self, line: &str, policy: QuotePolicy) -> String {
        let mut acc = String::new();
        let mut rest = line;
        while let Some(quote_start) = rest.find(['"', '\'', '`', '“', '‘']) {
            let before = &rest[..quote_start];
            let open = rest[quote_start..].chars().next().unwrap_or('"');
            let after = &rest[quote_start + open.len_utf8()..];
            let is_apostrophe = before.ends_with(char::is_alphanumeric);
            // The search for the closing quote is bounded, so that the whole takes linear time.
            let window = &after[..after.floor_char_boundary(MAX_QUOTED_BYTES)];
            // gcc can open with a backtick and close with an apostrophe.
            let closes = |it: char| match open {
                '“' => it == '”',
                '‘' => it == '’',
                '`' => matches!(it, '`' | '\''),
                open => it == open,
            };
            acc.push_str(before);
            if let Some(end) = window.find(closes).filter(|_| !is_apostrophe) {
                acc.push_str(&self.keep_quoted(&window[..end], policy));
                let close = window[end..].chars().next().map_or(1, char::len_utf8);
                rest = &after[end + close..];
            } else {
                acc.push(open);
                rest = after;
            }
        }
        acc + rest
    }

    fn keep_quoted(&mut self, quoted: &str, policy: QuotePolicy) -> String {
        let has_subject = quoted.contains(|it| mark_number(it).is_some());
        if has_subject {
            return format!("'{quoted}'");
        }
        let stays = match policy {
            QuotePolicy::SubjectOnly => false,
            QuotePolicy::Names => is_name(quoted),
            QuotePolicy::Values => !is_path(quoted),
        };
        if !stays {
            return "<v>".to_owned();
        }
        let words = quoted.split_whitespace().map(|it| normalise_word(it, NumberPolicy::Keep));
        let words: Vec<String> = words.collect();
        self.keep(format!("'{}'", words.join(" ").to_lowercase()))
    }
}

fn mark_number(it: char) -> Option<usize> {
    let number = u32::from(it).checked_sub(FIRST_MARK).filter(|it| *it < MAX_MARKS)?;
    usize::try_from(number).ok()
}

/// The subject without the folders of one machine: `/home/me/app/.env` becomes `.env`.
pub(super) fn localise_subject(subject: &str) -> String {
    let is_absolute = subject.starts_with(['/', '~'])
        || subject.get(1..3).is_some_and(|it| matches!(it, ":\\" | ":/"))
        || subject.starts_with("file://");
    let name = if is_absolute { subject.rsplit(['/', '\\']).next() } else { None };
    name.filter(|it| !it.is_empty()).unwrap_or(subject).to_owned()
}

/// Returns whether a quoted part names something: one word with few digits, which is no path.
fn is_name(quoted: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || "_-.:@$#!?()[]<>=+*&".contains(it);
    let n_digits = quoted.bytes().filter(u8::is_ascii_digit).count();
    !quoted.is_empty()
        && quoted.len() <= MAX_NAME_BYTES
        && quoted.chars().all(is_plain)
        && n_digits * 3 <= quoted.len()
        && !is_path(quoted)
}

fn is_path(word: &str) -> bool {
    word.contains(['/', '\\']) || model::words::file_extension(word).is_some()
}

/// Replaces a word that differs from run to run with a placeholder: `<url>`, `<path>`, `<id>`, or `#` for a
/// number. Other words stay.
fn normalise_word(word: &str, numbers: NumberPolicy) -> String {
    if word.contains(|it| mark_number(it).is_some()) {
        return word.to_owned();
    }
    if let Some(normalised) = replace_address(word) {
        return normalised;
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
    let is_value = numbers == NumberPolicy::Keep && (is_plain_number(bare) || is_identifier(bare));
    if !has_digit || is_error_code(bare) || is_value {
        return word.to_owned();
    }
    replace_digits(word, bare.len())
}

/// Replaces the address of a machine, with or without a port: `127.0.0.1`, `::1`, `[::1]:5432`. A program
/// tries them in turn, and which one it names is chance.
fn replace_address(word: &str) -> Option<String> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, ':' | '[' | ']');
    let address = word.trim_matches(|it: char| !is_part(it));
    let has_digit = address.bytes().any(|it| it.is_ascii_digit());
    // `127.0.0.1: message`
    let address = address.strip_suffix(':').filter(|it| !it.ends_with(':')).unwrap_or(address);
    // Node writes `:::3000` for port 3000 of all addresses.
    let is_any = address.strip_prefix(":::").is_some_and(|it| it.parse::<u16>().is_ok());
    let is_address =
        is_any || address.parse::<IpAddr>().is_ok() || address.parse::<SocketAddr>().is_ok();
    (is_address && has_digit).then(|| word.replacen(address, "#", 1))
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
