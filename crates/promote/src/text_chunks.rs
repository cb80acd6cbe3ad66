//! Reads a text into chunks: what stands between spaces, freed of punctuation, with the ends of sentences marked.
//!
//! One pass, no copies. What a chunk means (word, number, path) is decided by its readers.

/// Where the thought stands after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextBoundary {
    None,
    Comma,
    /// `;`, `:` or a dash: the sentence goes on, the clause does not.
    Clause,
    Sentence,
}

/// One run of text between spaces, or one backticked span with the spaces in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextChunk<'a> {
    /// Without the punctuation around it; never empty.
    pub text: &'a str,
    /// Byte offset of `text`.
    pub text_start: usize,
    /// Byte range with the punctuation.
    pub start: usize,
    pub end: usize,
    /// The punctuation after it.
    pub tail: &'a str,
    pub starts_sentence: bool,
    pub boundary: TextBoundary,
    /// Stood in backticks.
    pub is_quoted: bool,
    /// `2` for the `2.` that numbers a step of a list.
    pub list_number: Option<u8>,
}

/// Longest backticked span taken as one chunk; a lone backtick must not swallow the rest.
const MAX_SPAN_BYTES: usize = 160;

const LEADING_PUNCTUATION: &[char] =
    &['(', '[', '{', '<', '>', '"', '\'', '“', '‘', '*', '~', '!', '•', ',', ';', ':'];
const TRAILING_PUNCTUATION: &[char] = &[
    ')', ']', '}', '>', '"', '\'', '”', '’', '*', '~', '.', ',', ';', ':', '!', '?', '…', '—', '。',
];
/// Symbols that carry meaning when they stand alone.
const STANDALONE_SYMBOLS: &[&str] = &["=", "|", "==", ":="];
const COMMON_ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"];

pub(crate) fn split_chunks(text: &str) -> Vec<TextChunk<'_>> {
    let mut acc: Vec<TextChunk<'_>> = Vec::new();
    let mut at = 0;
    let mut opens = true;
    let mut step = 0_u8;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            if first == '\n' {
                raise_last_boundary(&mut acc, TextBoundary::Sentence);
                opens = true;
            }
            at += first.len_utf8();
            continue;
        }
        let raw = &text[at..at + raw_length(&text[at..])];
        let mut chunk = parse_chunk(raw, at, opens);
        at += raw.len();
        if chunk.text.is_empty() {
            raise_last_boundary(&mut acc, chunk.boundary.max(boundary_of_punctuation(raw)));
            opens |= chunk.boundary == TextBoundary::Sentence && !acc.is_empty();
            continue;
        }
        // A list begins after a pause; its later numbers may stand in the middle of a line.
        let pause = opens || acc.last().is_none_or(|it| it.boundary != TextBoundary::None);
        let expected =
            |it: &u8| (*it == 1 && pause) || (step > 0 && Some(*it) == step.checked_add(1));
        if let Some(number) = parse_list_number(raw).filter(expected) {
            step = number;
            chunk.list_number = Some(number);
            chunk.boundary = TextBoundary::None;
        }
        opens = chunk.boundary == TextBoundary::Sentence || chunk.list_number.is_some();
        acc.push(chunk);
    }
    raise_last_boundary(&mut acc, TextBoundary::Sentence);
    acc
}

/// The sentences of a text as it was written, trimmed, in order.
pub(crate) fn split_sentences(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut start = None;
    for chunk in split_chunks(text) {
        let from = *start.get_or_insert(chunk.start);
        if chunk.boundary == TextBoundary::Sentence {
            acc.push(text[from..chunk.end].trim());
            start = None;
        }
    }
    acc
}

/// Bytes up to the next space; a backticked span counts as one, and a backtick starts a new chunk.
fn raw_length(rest: &str) -> usize {
    let span = backticked_span(rest).map_or(0, |inner| inner.len() + 2);
    let from = if span > 0 { span } else { rest.chars().next().map_or(0, char::len_utf8) };
    let stop = |it: char| it.is_whitespace() || it == '`';
    rest[from..].find(stop).map_or(rest.len(), |it| from + it)
}

/// The inside of the backticked span that `rest` begins with.
fn backticked_span(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('`')?;
    let close = inner.bytes().take(MAX_SPAN_BYTES).position(|it| it == b'`' || it == b'\n')?;
    let inner = &inner[..close];
    (rest.as_bytes()[close + 1] == b'`' && !inner.trim().is_empty()).then_some(inner)
}

fn parse_chunk(raw: &str, start: usize, opens: bool) -> TextChunk<'_> {
    let quoted = backticked_span(raw);
    let text = match quoted {
        Some(inner) => inner.trim(),
        None if STANDALONE_SYMBOLS.contains(&raw) => raw,
        None => raw
            .trim_start_matches(LEADING_PUNCTUATION)
            .trim_end_matches(TRAILING_PUNCTUATION)
            .trim_matches('`'),
    };
    // `foo()` ends in brackets that belong to it, not to the sentence.
    let text = if quoted.is_none() { text.strip_suffix('(').unwrap_or(text) } else { text };
    let says = text.chars().any(char::is_alphanumeric) || STANDALONE_SYMBOLS.contains(&text);
    let text = if says { text } else { &raw[..0] };
    let inside = text.as_ptr().addr() - raw.as_ptr().addr();
    let tail = if text.is_empty() { raw } else { &raw[inside + text.len()..] };
    let ends = boundary_after(text, tail);
    let end = start + raw.len();
    let quoted = quoted.is_some();
    TextChunk {
        text,
        text_start: start + inside,
        start,
        end,
        tail,
        starts_sentence: opens,
        boundary: ends,
        is_quoted: quoted,
        list_number: None,
    }
}

fn boundary_after(text: &str, tail: &str) -> TextBoundary {
    let short = COMMON_ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(text));
    if tail.contains(['!', '?', '。']) || (tail.contains('.') && !tail.contains("..") && !short) {
        TextBoundary::Sentence
    } else if tail.contains([';', ':', '—', '…']) || tail.contains("..") {
        TextBoundary::Clause
    } else if tail.contains(',') {
        TextBoundary::Comma
    } else {
        TextBoundary::None
    }
}

/// What a chunk of punctuation alone says about the chunk before it.
fn boundary_of_punctuation(raw: &str) -> TextBoundary {
    if matches!(raw, "-" | "--" | "–" | "—" | "->" | "→" | "=>") {
        TextBoundary::Clause
    } else {
        TextBoundary::None
    }
}

fn raise_last_boundary(acc: &mut [TextChunk<'_>], ends: TextBoundary) {
    if let Some(last) = acc.last_mut() {
        last.boundary = last.boundary.max(ends);
    }
}

fn parse_list_number(raw: &str) -> Option<u8> {
    let digits = raw.trim_start_matches('(').strip_suffix(['.', ')', ':'])?;
    if digits.len() > 2 { None } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let show = |it: TextChunk<'_>| {
            let mark = if it.is_quoted { "`" } else { "" };
            let number = it.list_number.map(|it| format!("#{it} ")).unwrap_or_default();
            let end = ["", ",", ";", "."][it.boundary as usize];
            format!("{number}{mark}{}{mark}{end}", it.text)
        };
        expect.assert_eq(&split_chunks(text).into_iter().map(show).collect::<Vec<_>>().join(" / "));
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
            split_sentences("Use `a.b`. Not c!\n- third (see x.rs)"),
            ["Use `a.b`.", "Not c!", "third (see x.rs)"]
        );
    }
}
