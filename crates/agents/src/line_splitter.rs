//! Splits a stream of bytes into lines of bounded length.
//!
//! The caller feeds the bytes of a transcript and passes each line to `TranscriptReader`. One tool
//! result can be 50 MB on one line. The middle of long JSON strings is left out while they stream by, so that
//! a line stays valid JSON and is never held in memory as a whole: a command reports its error at the end of
//! its output, and a user asks something behind a pasted log. With a limit of four bytes for each end:
//!
//! ```text
//! {"a":"a very long text","b":1}   →   {"a":"a ve\n[…]\ntext","b":1}
//! ```
//!
//! A string is cut between two characters: `\u00e9` is copied whole or not at all, and so is a pair of
//! surrogates (`\ud83d\ude00`), the two escapes by which JSON writes one character beyond U+FFFF. A line
//! of text that is not JSON is truncated like one long string. A document is passed on in pieces of
//! fixed size instead of lines.

use crate::transcript_format::RecordLayout;

/// Longest string inside a line, in bytes of its source text; the middle of a longer one is left out.
pub const MAX_STRING_BYTES: usize = 64 << 10;
/// Bytes from the end of a long string that are kept at least; twice as many at most.
const STRING_TAIL_BYTES: usize = 8 << 10;
/// Bytes from its beginning.
const STRING_HEAD_BYTES: usize = MAX_STRING_BYTES - 2 * STRING_TAIL_BYTES;
/// Stands for the middle, as source text of JSON.
const ELISION_MARK: &str = "\\n[…]\\n";
/// Longest line after its strings were truncated; a longer one is dropped.
const MAX_LINE_BYTES: usize = model::MAX_EVENT_LINE_BYTES;
/// Size of the pieces of a document.
const DOCUMENT_PIECE_BYTES: usize = 64 << 10;

/// Produces whole lines from pieces of any size.
#[derive(Debug, Default)]
pub struct LineSplitter {
    /// The line or piece being collected.
    line: Vec<u8>,
    layout: RecordLayout,
    lexer: StringLexer,
    tail: StringTail,
    /// Strings that were truncated.
    pub n_truncated: u64,
    /// Lines that were too long even then.
    pub n_dropped: u64,
    /// The current line is too long; its bytes are skipped up to its end.
    is_overlong: bool,
}

/// Lexer state at the next byte of a JSON text, as far as strings need it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the states of a small lexer, all independent")]
struct StringLexer {
    in_string: bool,
    /// Bytes of the current string so far.
    length: usize,
    /// The last byte was the backslash of an escape.
    escaped: bool,
    /// Hex digits still to come of an escape such as `\u00e9`.
    n_hex_digits: u8,
    /// The last escape was a high surrogate, whose low surrogate must not be dropped.
    after_high_surrogate: bool,
    /// The current character belongs to the end of a long string; decided at its first byte.
    is_behind_head: bool,
}

/// The last characters of a long string. They are collected in two halves, of which the older one is dropped
/// when the newer one is full.
#[derive(Debug, Default)]
struct StringTail {
    older: Vec<u8>,
    newer: Vec<u8>,
    has_dropped: bool,
}

impl LineSplitter {
    pub fn new(layout: RecordLayout) -> Self {
        Self { layout, ..Self::default() }
    }

    /// Takes the next piece and calls `on_line` for every line that it completes.
    pub fn feed(&mut self, piece: &[u8], mut on_line: impl FnMut(&[u8])) {
        if self.layout == RecordLayout::Document {
            for byte in piece {
                self.push_byte(*byte);
                if self.line.len() >= DOCUMENT_PIECE_BYTES {
                    on_line(&self.line);
                    self.line.clear();
                }
            }
            return;
        }
        let mut rest = piece;
        while !rest.is_empty() {
            let end = rest.iter().position(|it| *it == b'\n');
            let (part, more) = rest.split_at(end.unwrap_or(rest.len()));
            self.push_part(part);
            rest = more;
            if end.is_some() {
                self.end_line(&mut on_line);
                rest = &rest[1..];
            }
        }
    }

    /// Completes a last line that has no line end.
    pub fn finish(&mut self, mut on_line: impl FnMut(&[u8])) {
        if !self.line.is_empty() {
            self.end_line(&mut on_line);
        }
    }

    fn end_line(&mut self, on_line: &mut impl FnMut(&[u8])) {
        if self.is_overlong {
            self.n_dropped += 1;
        } else {
            on_line(&self.line);
        }
        self.line.clear();
        self.lexer = StringLexer::default();
        self.tail.clear();
        self.is_overlong = false;
    }

    /// Adds a part of a line, without its line end.
    fn push_part(&mut self, part: &[u8]) {
        if self.is_overlong {
            return;
        }
        if self.layout == RecordLayout::Lines {
            for byte in part {
                self.push_byte(*byte);
            }
        } else {
            // Only JSON has strings to truncate; of other text the beginning of a line stays.
            let space = MAX_STRING_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(space)]);
        }
        if self.line.len() > MAX_LINE_BYTES {
            self.is_overlong = true;
            self.line = Vec::new();
        }
    }

    /// Adds a byte of JSON; beyond the limit of its string it goes to the tail.
    fn push_byte(&mut self, byte: u8) {
        let lexer = &mut self.lexer;
        // Everything outside of strings is copied.
        if !lexer.in_string {
            lexer.in_string = byte == b'"';
            (lexer.length, lexer.is_behind_head) = (0, false);
            self.line.push(byte);
            return;
        }
        if lexer.is_between_characters(byte) {
            if byte == b'"' {
                lexer.in_string = false;
                self.n_truncated += u64::from(self.tail.append_to(&mut self.line));
                self.line.push(byte);
                return;
            }
            // The two escapes of one character stay together.
            if !lexer.after_high_surrogate || byte != b'\\' {
                lexer.after_high_surrogate = false;
                lexer.is_behind_head = lexer.length >= STRING_HEAD_BYTES;
                self.tail.make_room();
            }
        }
        lexer.advance(byte);
        if lexer.is_behind_head {
            self.tail.newer.push(byte);
        } else {
            self.line.push(byte);
        }
    }
}

impl StringTail {
    /// Called between two characters.
    fn make_room(&mut self) {
        if self.newer.len() >= STRING_TAIL_BYTES {
            self.has_dropped |= !self.older.is_empty();
            self.older = std::mem::take(&mut self.newer);
        }
    }

    /// Moves the tail to the end of a line. Returns whether characters before it were dropped.
    fn append_to(&mut self, line: &mut Vec<u8>) -> bool {
        let has_dropped = self.has_dropped;
        if has_dropped {
            line.extend_from_slice(ELISION_MARK.as_bytes());
        }
        line.append(&mut self.older);
        line.append(&mut self.newer);
        self.clear();
        has_dropped
    }

    fn clear(&mut self) {
        self.older.clear();
        self.newer.clear();
        self.has_dropped = false;
    }
}

impl StringLexer {
    /// True if the next byte begins a character or ends the string. An escape is one character.
    fn is_between_characters(&self, next: u8) -> bool {
        let continues_utf8 = next & 0b1100_0000 == 0b1000_0000;
        !self.escaped && self.n_hex_digits == 0 && !continues_utf8
    }

    /// Follows escapes inside a string.
    fn advance(&mut self, byte: u8) {
        self.length += 1;
        if self.escaped {
            let is_unicode = byte == b'u';
            self.escaped = false;
            self.n_hex_digits = if is_unicode { 4 } else { 0 };
            // Until its digits are read, a Unicode escape may be a high surrogate. A surrogate after a high one is the low one, which opens no further pair.
            self.after_high_surrogate = is_unicode && !self.after_high_surrogate;
            return;
        }
        // High surrogates are D800 to DBFF: the first two of the four digits decide.
        match self.n_hex_digits {
            0 => self.escaped = byte == b'\\',
            4 => self.after_high_surrogate &= matches!(byte, b'd' | b'D'),
            3 => {
                self.after_high_surrogate &=
                    matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
            }
            // The last two digits may be any.
            _ => {}
        }
        self.n_hex_digits = self.n_hex_digits.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines of a text fed in pieces of this size, and the number of truncated strings.
    fn split(layout: RecordLayout, text: &[u8], piece_size: usize) -> (Vec<Vec<u8>>, u64) {
        let mut splitter = LineSplitter::new(layout);
        let mut acc = Vec::new();
        for piece in text.chunks(piece_size) {
            splitter.feed(piece, |line| acc.push(line.to_vec()));
        }
        splitter.finish(|line| acc.push(line.to_vec()));
        (acc, splitter.n_truncated)
    }

    #[test]
    fn a_result_of_megabytes_stays_valid_json() {
        let long = "\\ud83d\\ude00\\n".repeat(200_000);
        let text = format!("{{\"a\":\"{long}\",\"b\":[1,\"x\"]}}\n{{}}");
        let (lines, n_truncated) = split(RecordLayout::Lines, text.as_bytes(), 4096);
        assert!(lines[0].len() < MAX_STRING_BYTES + 100);
        let value: serde_json::Value = serde_json::from_slice(&lines[0]).unwrap();
        assert_eq!((value["b"][1].as_str(), n_truncated, lines.len()), (Some("x"), 1, 2));
    }

    #[test]
    fn a_document_is_split_into_pieces_whatever_its_lines() {
        let text = format!("{{\"a\": \"{}\",\n \"b\": 1}}\n", "x".repeat(MAX_STRING_BYTES * 3));
        let (lines, n_truncated) = split(RecordLayout::Document, text.as_bytes(), 4096);
        // The tail of a string is added at once.
        assert!(lines.iter().all(|it| it.len() <= DOCUMENT_PIECE_BYTES + 3 * STRING_TAIL_BYTES));
        let value: serde_json::Value = serde_json::from_slice(&lines.concat()).unwrap();
        assert_eq!((value["b"].as_u64(), n_truncated), (Some(1), 1));
    }

    #[test]
    fn a_long_string_keeps_both_ends_and_a_shorter_one_is_whole() {
        let string_after = |text: &str| {
            let line = format!("{{\"a\":{}}}", serde_json::json!(text));
            let (lines, n_truncated) = split(RecordLayout::Lines, line.as_bytes(), 1000);
            let value: serde_json::Value = serde_json::from_slice(&lines[0]).unwrap();
            (value["a"].as_str().unwrap().to_owned(), n_truncated)
        };
        for n_chars in [1, STRING_HEAD_BYTES / 2, STRING_HEAD_BYTES / 2 + 4_000] {
            let text = format!("begin{}end", "é".repeat(n_chars));
            assert_eq!(string_after(&text), (text, 0));
        }
        // Characters of two bytes, and escapes, are not cut.
        for filling in ["é", "\n", "\u{1}", "x\"y"] {
            let text = format!("begin{}end", filling.repeat(MAX_STRING_BYTES));
            let (kept, n_truncated) = string_after(&text);
            let (head, tail) = kept.split_once("\n[…]\n").unwrap();
            assert!(text.starts_with(head) && text.ends_with(tail) && n_truncated == 1);
            assert!(head.len() > 4_000 && tail.len() > 1_000, "{} {}", head.len(), tail.len());
        }
    }

    #[test]
    fn other_text_keeps_the_beginning_of_a_line() {
        let text = "x".repeat(MAX_STRING_BYTES * 3) + "\nshort";
        let (lines, _) = split(RecordLayout::Text, text.as_bytes(), 1000);
        assert_eq!((lines[0].len(), lines[1].as_slice()), (MAX_STRING_BYTES, b"short".as_slice()));
    }

    proptest! {
        #[test]
        fn short_lines_pass_unchanged(text in "(\\PC|[\"\\\\\n]){0,300}", piece in 1..50_usize) {
            let (lines, n_truncated) = split(RecordLayout::Lines, text.as_bytes(), piece);
            let mut expected: Vec<Vec<u8>> =
                text.split('\n').map(|it| it.as_bytes().to_vec()).collect();
            // A line end at the end of the text starts no further line.
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!((lines, n_truncated), (expected, 0));
        }
    }
}
