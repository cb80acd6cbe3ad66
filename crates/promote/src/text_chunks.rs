//! Splits a text into chunks: runs between spaces, without the punctuation around them, with the boundary
//! after each (comma, clause, sentence).
//!
//! ```text
//! text        Run  `cargo test -q`,  in  (src/a.rs).  Then  stop!
//! chunks      Run  cargo test -q     in  src/a.rs     Then  stop
//! boundaries       comma                 sentence           sentence
//! ```
//!
//! In prose a chunk ends where brackets begin: of `foo()` the text is `foo` and the tail `()`, by which
//! `novelty` knows a call. The tokenizer of this crate: `phrase_table`, `novelty` and `wording` are built on it and decide what a
//! chunk means (word, number, path). One pass, no copies.

use std::ops::Range;

/// Boundary after a chunk, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextBoundary {
    None,
    Comma,
    /// `;`, `:` or a dash: the clause ends, the sentence continues.
    Clause,
    Sentence,
}

/// A run of text between spaces, or a backticked span with the spaces in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextChunk<'a> {
    /// The chunk without punctuation around it; never empty.
    pub text: &'a str,
    /// Byte offset of `text` in the whole text.
    pub text_start: usize,
    /// Byte range of the chunk in the whole text, punctuation included.
    pub start: usize,
    pub end: usize,
    /// The rest of the run after `text`: punctuation such as `).`, and after a backticked span also a suffix,
    /// as `s` in "two `Foo`s".
    pub tail: &'a str,
    pub starts_sentence: bool,
    pub boundary: TextBoundary,
    /// The chunk was in backticks.
    pub is_quoted: bool,
    /// 2 for the `2.` that numbers a list item.
    pub list_number: Option<u8>,
}

/// The longest backticked span that is one chunk, in bytes. A lone backtick must not take the rest of the
/// text.
const MAX_SPAN_BYTES: usize = 160;

/// Without `.` and `/`, which begin paths; with `!`, which stands before a negated word or an image.
const LEADING_PUNCTUATION: &[char] =
    &['(', '[', '{', '<', '>', '"', '\'', '“', '‘', '*', '~', '!', '•', ',', ';', ':'];
const TRAILING_PUNCTUATION: &[char] = &[
    ')', ']', '}', '>', '"', '\'', '”', '’', '*', '~', '.', ',', ';', ':', '!', '?', '…', '—', '。',
];
/// Symbols that have a meaning of their own and are chunks, unlike other punctuation between spaces.
const STANDALONE_SYMBOLS: &[&str] = &["=", "|", "==", ":="];
/// Their dot does not end a sentence.
const COMMON_ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"];

/// The chunks of a text, in order.
pub(crate) fn split_chunks(text: &str) -> Vec<TextChunk<'_>> {
    let mut acc: Vec<TextChunk<'_>> = Vec::new();
    let mut position = 0;
    let mut starts_sentence = true;
    // 0 before any list. Never reset: the numbers of a list may be far apart, with paragraphs between them.
    let mut last_list_number = 0_u8;
    while let Some(first) = text[position..].chars().next() {
        if first.is_whitespace() {
            // A line end always ends a sentence.
            if first == '\n' {
                raise_last_boundary(&mut acc, TextBoundary::Sentence);
                starts_sentence = true;
            }
            position += first.len_utf8();
            continue;
        }
        let raw = &text[position..position + raw_length(&text[position..])];
        let mut chunk = parse_chunk(raw, position, starts_sentence);
        position += raw.len();
        // Punctuation alone, such as a dash between spaces, belongs to the chunk before it.
        if chunk.text.is_empty() {
            raise_last_boundary(&mut acc, chunk.boundary.max(boundary_of_punctuation(raw)));
            starts_sentence |= chunk.boundary == TextBoundary::Sentence;
            continue;
        }
        // "Release: 1. tag 2. push": a list begins with 1 after a boundary; its later numbers follow each other
        // and can be in the middle of a line.
        let follows_boundary =
            starts_sentence || acc.last().is_none_or(|it| it.boundary != TextBoundary::None);
        if let Some(number) = parse_list_number(raw) {
            let begins_list = number == 1 && follows_boundary;
            let continues_list =
                last_list_number > 0 && Some(number) == last_list_number.checked_add(1);
            if begins_list || continues_list {
                last_list_number = number;
                chunk.list_number = Some(number);
                // Its dot ends no sentence.
                chunk.boundary = TextBoundary::None;
            }
        }
        starts_sentence = chunk.boundary == TextBoundary::Sentence || chunk.list_number.is_some();
        acc.push(chunk);
    }
    // The end of the text ends its last sentence.
    raise_last_boundary(&mut acc, TextBoundary::Sentence);
    acc
}

/// The sentences of a text, word for word, trimmed, in order.
pub(crate) fn split_sentences(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut open_sentence = None;
    for chunk in split_chunks(text) {
        let start = *open_sentence.get_or_insert(chunk.start);
        if chunk.boundary == TextBoundary::Sentence {
            acc.push(text[start..chunk.end].trim());
            open_sentence = None;
        }
    }
    acc
}

/// Length of the next chunk in bytes: up to the next space or backtick, or a whole backticked span with what
/// follows it without a space.
fn raw_length(rest: &str) -> usize {
    // The first character, or a span with its two backticks, belongs to the chunk in any case.
    let min_length = match backticked_span(rest) {
        Some(inner) => inner.len() + 2,
        None => rest.chars().next().map_or(0, char::len_utf8),
    };
    let is_end = |it: char| it.is_whitespace() || it == '`';
    rest[min_length..].find(is_end).map_or(rest.len(), |it| min_length + it)
}

/// The inside of the backticked span at the start of `rest`.
fn backticked_span(rest: &str) -> Option<&str> {
    let after_backtick = rest.strip_prefix('`')?;
    let bytes = after_backtick.as_bytes();
    let end = bytes.iter().take(MAX_SPAN_BYTES).position(|it| *it == b'`' || *it == b'\n')?;
    // A line end before the closing backtick means that there is none.
    let is_closed = bytes[end] == b'`';
    let inner = &after_backtick[..end];
    (is_closed && !inner.trim().is_empty()).then_some(inner)
}

/// The chunk of a raw run that begins at byte `start`. Its text is empty if it is punctuation alone.
fn parse_chunk(raw: &str, start: usize, starts_sentence: bool) -> TextChunk<'_> {
    let span = backticked_span(raw);
    // An empty text at the beginning leaves all of the run to the tail.
    let range = meaningful_part(raw, span).unwrap_or(0..0);
    let (text, tail) = (&raw[range.clone()], &raw[range.end..]);
    TextChunk {
        text,
        text_start: start + range.start,
        start,
        end: start + raw.len(),
        tail,
        starts_sentence,
        boundary: boundary_after(text, tail),
        is_quoted: span.is_some(),
        list_number: None,
    }
}

/// The part of a raw run without the punctuation around it; `None` if it is punctuation alone.
fn meaningful_part(raw: &str, span: Option<&str>) -> Option<Range<usize>> {
    let part = match span {
        Some(inner) => inner.trim(),
        None if STANDALONE_SYMBOLS.contains(&raw) => raw,
        None => {
            let part = raw
                .trim_start_matches(LEADING_PUNCTUATION)
                .trim_end_matches(TRAILING_PUNCTUATION)
                .trim_matches('`');
            // Of `foo()` the closing bracket is trimmed already.
            part.strip_suffix('(').unwrap_or(part)
        }
    };
    let has_meaning = part.chars().any(char::is_alphanumeric) || STANDALONE_SYMBOLS.contains(&part);
    // `part` is a slice of `raw`, so that the addresses give its offset.
    let start = part.as_ptr().addr() - raw.as_ptr().addr();
    has_meaning.then_some(start..start + part.len())
}

/// The boundary that the punctuation after a text makes, anywhere in its tail.
fn boundary_after(text: &str, tail: &str) -> TextBoundary {
    let is_abbreviation = COMMON_ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(text));
    // Two dots or more are an ellipsis, which continues the sentence.
    let has_ellipsis = tail.contains('…') || tail.contains("..");
    let has_full_stop = tail.contains('.') && !tail.contains("..") && !is_abbreviation;
    if has_full_stop || tail.contains(['!', '?', '。']) {
        TextBoundary::Sentence
    } else if has_ellipsis || tail.contains([';', ':', '—']) {
        TextBoundary::Clause
    } else if tail.contains(',') {
        TextBoundary::Comma
    } else {
        TextBoundary::None
    }
}

/// The boundary that punctuation alone adds to the chunk before it: a dash or an arrow.
fn boundary_of_punctuation(raw: &str) -> TextBoundary {
    if matches!(raw, "-" | "--" | "–" | "—" | "->" | "→" | "=>") {
        TextBoundary::Clause
    } else {
        TextBoundary::None
    }
}

/// Raises the boundary after the last chunk to at least this one.
fn raise_last_boundary(acc: &mut [TextChunk<'_>], boundary: TextBoundary) {
    if let Some(last) = acc.last_mut() {
        last.boundary = last.boundary.max(boundary);
    }
}

/// Parses `2.`, `2)`, `(2)` or `2:`. Numbers of three digits are amounts.
fn parse_list_number(raw: &str) -> Option<u8> {
    let digits = raw.trim_start_matches('(').strip_suffix(['.', ')', ':'])?;
    if digits.len() > 2 { None } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the chunks of a text, separated by ` / `, each followed by a mark for its boundary: `,` for a
    /// comma, `;` for the end of a clause, `.` for that of a sentence. A list number has its value before it:
    /// `#1 1`.
    fn check(text: &str, expect: Expect) {
        let show = |chunk: TextChunk<'_>| {
            let quote = if chunk.is_quoted { "`" } else { "" };
            let number = chunk.list_number.map(|it| format!("#{it} ")).unwrap_or_default();
            let mark = match chunk.boundary {
                TextBoundary::None => "",
                TextBoundary::Comma => ",",
                TextBoundary::Clause => ";",
                TextBoundary::Sentence => ".",
            };
            format!("{number}{quote}{}{quote}{mark}", chunk.text)
        };
        expect.assert_eq(&split_chunks(text).into_iter().map(show).collect::<Vec<_>>().join(" / "));
    }

    #[test]
    fn punctuation_is_removed_and_sentences_end() {
        check(
            "Run `cargo test -q`, e.g. in (src/a.rs). Then stop!",
            expect!["Run / `cargo test -q`, / e.g / in / src/a.rs. / Then / stop."],
        );
        check("limit is 5. Call foo() - done", expect!["limit / is / 5. / Call / foo; / done."]);
        check("Release: 1. tag 2. push", expect!["Release; / #1 1 / tag / #2 2 / push."]);
        check("two `Foo`s, one `Bar`.rs", expect!["two / `Foo`, / one / `Bar`."]);
        check("a lone ` backtick\nnext", expect!["a / lone / backtick. / next."]);
        check("curl x | sh", expect!["curl / x / | / sh."]);
        check("… -- ! ", expect![""]);
    }

    #[test]
    fn sentences_are_word_for_word() {
        assert_eq!(
            split_sentences("Use `a.b`. Not c!\n- third (see x.rs)"),
            ["Use `a.b`.", "Not c!", "third (see x.rs)"]
        );
    }
}
