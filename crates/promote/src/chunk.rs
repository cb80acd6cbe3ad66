//! Reads a text into chunks: what stands between spaces, freed of punctuation, with the ends of sentences marked.
//!
//! One pass, no copies. What a chunk means (word, number, path) is decided by its readers.

/// Where the thought stands after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Nothing,
    Comma,
    /// `;`, `:` or a dash: the sentence goes on, the clause does not.
    Clause,
    Sentence,
}

/// One run of text between spaces, or one backticked span with the spaces in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    /// Without the punctuation around it; never empty.
    pub text: &'a str,
    /// Byte offset of `text`.
    pub at: usize,
    /// Byte range with the punctuation.
    pub start: usize,
    pub end: usize,
    /// The punctuation after it.
    pub tail: &'a str,
    pub opens: bool,
    pub ends: End,
    /// Stood in backticks.
    pub quoted: bool,
    /// `2` for the `2.` that numbers a step of a list.
    pub marker: Option<u8>,
}

/// Longest backticked span taken as one chunk; a lone backtick must not swallow the rest.
const MAX_SPAN: usize = 160;

const LEAD: &[char] =
    &['(', '[', '{', '<', '>', '"', '\'', '“', '‘', '*', '~', '!', '•', ',', ';', ':'];
const TRAIL: &[char] = &[
    ')', ']', '}', '>', '"', '\'', '”', '’', '*', '~', '.', ',', ';', ':', '!', '?', '…', '—', '。',
];
/// Symbols that carry meaning when they stand alone.
const SYMBOLS: &[&str] = &["=", "|", "==", ":="];
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"];

pub(crate) fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut acc: Vec<Chunk<'_>> = Vec::new();
    let mut at = 0;
    let mut opens = true;
    let mut step = 0_u8;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            if first == '\n' {
                end_last(&mut acc, End::Sentence);
                opens = true;
            }
            at += first.len_utf8();
            continue;
        }
        let raw = &text[at..at + raw_length(&text[at..])];
        let mut chunk = read(raw, at, opens);
        at += raw.len();
        if chunk.text.is_empty() {
            end_last(&mut acc, chunk.ends.max(bare_end(raw)));
            opens |= chunk.ends == End::Sentence && !acc.is_empty();
            continue;
        }
        // A list begins after a pause; its later numbers may stand in the middle of a line.
        let pause = opens || acc.last().is_none_or(|it| it.ends != End::Nothing);
        let expected =
            |it: &u8| (*it == 1 && pause) || (step > 0 && Some(*it) == step.checked_add(1));
        if let Some(number) = list_number(raw).filter(expected) {
            step = number;
            chunk.marker = Some(number);
            chunk.ends = End::Nothing;
        }
        opens = chunk.ends == End::Sentence || chunk.marker.is_some();
        acc.push(chunk);
    }
    end_last(&mut acc, End::Sentence);
    acc
}

/// The sentences of a text as it was written, trimmed, in order.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut start = None;
    for chunk in chunks(text) {
        let from = *start.get_or_insert(chunk.start);
        if chunk.ends == End::Sentence {
            acc.push(text[from..chunk.end].trim());
            start = None;
        }
    }
    acc
}

/// Bytes up to the next space; a backticked span counts as one, and a backtick starts a new chunk.
fn raw_length(rest: &str) -> usize {
    let span = backticked(rest).map_or(0, |inner| inner.len() + 2);
    let from = if span > 0 { span } else { rest.chars().next().map_or(0, char::len_utf8) };
    let stop = |it: char| it.is_whitespace() || it == '`';
    rest[from..].find(stop).map_or(rest.len(), |it| from + it)
}

/// The inside of the backticked span that `rest` begins with.
fn backticked(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('`')?;
    let close = inner.bytes().take(MAX_SPAN).position(|it| it == b'`' || it == b'\n')?;
    let inner = &inner[..close];
    (rest.as_bytes()[close + 1] == b'`' && !inner.trim().is_empty()).then_some(inner)
}

fn read(raw: &str, start: usize, opens: bool) -> Chunk<'_> {
    let quoted = backticked(raw);
    let text = match quoted {
        Some(inner) => inner.trim(),
        None if SYMBOLS.contains(&raw) => raw,
        None => raw.trim_start_matches(LEAD).trim_end_matches(TRAIL).trim_matches('`'),
    };
    // `foo()` ends in brackets that belong to it, not to the sentence.
    let text = if quoted.is_none() { text.strip_suffix('(').unwrap_or(text) } else { text };
    let says = text.chars().any(char::is_alphanumeric) || SYMBOLS.contains(&text);
    let text = if says { text } else { &raw[..0] };
    let inside = text.as_ptr().addr() - raw.as_ptr().addr();
    let tail = if text.is_empty() { raw } else { &raw[inside + text.len()..] };
    let ends = tail_end(text, tail);
    let end = start + raw.len();
    let quoted = quoted.is_some();
    Chunk { text, at: start + inside, start, end, tail, opens, ends, quoted, marker: None }
}

fn tail_end(text: &str, tail: &str) -> End {
    let short = ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(text));
    if tail.contains(['!', '?', '。']) || (tail.contains('.') && !tail.contains("..") && !short) {
        End::Sentence
    } else if tail.contains([';', ':', '—', '…']) || tail.contains("..") {
        End::Clause
    } else if tail.contains(',') {
        End::Comma
    } else {
        End::Nothing
    }
}

/// What a chunk of punctuation alone says about the chunk before it.
fn bare_end(raw: &str) -> End {
    if matches!(raw, "-" | "--" | "–" | "—" | "->" | "→" | "=>") {
        End::Clause
    } else {
        End::Nothing
    }
}

fn end_last(acc: &mut [Chunk<'_>], ends: End) {
    if let Some(last) = acc.last_mut() {
        last.ends = last.ends.max(ends);
    }
}

fn list_number(raw: &str) -> Option<u8> {
    let digits = raw.trim_start_matches('(').strip_suffix(['.', ')', ':'])?;
    if digits.len() > 2 { None } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let show = |it: Chunk<'_>| {
            let mark = if it.quoted { "`" } else { "" };
            let number = it.marker.map(|it| format!("#{it} ")).unwrap_or_default();
            let end = ["", ",", ";", "."][it.ends as usize];
            format!("{number}{mark}{}{mark}{end}", it.text)
        };
        expect.assert_eq(&chunks(text).into_iter().map(show).collect::<Vec<_>>().join(" / "));
    }

    #[test]
    fn punctuation_goes_and_sentences_end() {
        check(
            "Run `cargo test -q`, e.g. in (src/a.rs). Then stop!",
            expect!["Run / `cargo test -q`, / e.g / in / src/a.rs. / Then / stop."],
        );
        check("limit is 5. Call foo() - done", expect!["limit / is / 5. / Call / foo; / done."]);
        check("Release: 1. tag 2. push", expect!["Release; / #1 1 / tag / #2 2 / push."]);
        check("a lone ` backtick\nnext", expect!["a / lone / backtick. / next."]);
        check("curl x | sh", expect!["curl / x / | / sh."]);
        check("… -- ! ", expect![""]);
    }

    #[test]
    fn sentences_keep_their_words_as_written() {
        assert_eq!(
            sentences("Use `a.b`. Not c!\n- third (see x.rs)"),
            ["Use `a.b`.", "Not c!", "third (see x.rs)"]
        );
    }
}
