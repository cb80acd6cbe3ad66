//! Cuts a stream of bytes into lines of bounded length, whatever is inside.
//!
//! One tool result can be 50 MB on one line. Long JSON strings are cut while they stream by, so that a
//! line stays valid JSON and nobody ever holds it whole. Text that is not JSON is cut the same way,
//! as one long string; a document is handed on piece by piece, since its lines mean nothing.

use crate::dialect::Form;

/// The longest string kept inside a line, in bytes as written.
pub const MAX_STRING: usize = 64 << 10;
/// The longest line kept after its strings were cut.
const MAX_KEPT: usize = model::MAX_LINE;
/// How much of a document is handed on at once.
const PIECE: usize = 64 << 10;

/// Hands out whole lines; feed it any pieces.
#[derive(Debug, Default)]
pub struct Cutter {
    line: Vec<u8>,
    /// Only JSON has strings to cut; of other text the beginning of a line is kept.
    form: Form,
    at: Place,
    /// Strings that were cut.
    pub n_cut: u64,
    /// Lines that were too long even so.
    pub n_dropped: u64,
    overlong: bool,
}

/// Where in a line of JSON the next byte stands.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the states of a small lexer, all independent")]
struct Place {
    in_string: bool,
    /// Bytes of this string so far.
    length: usize,
    /// The last byte was a backslash.
    escaped: bool,
    /// Hex digits still to come of `\u00e9`.
    owed: u8,
    /// The last escape was the first half of a pair, which must not lose the second.
    half: bool,
    /// Whether the character that is being read is copied; decided where it begins.
    keeps: bool,
    cut: bool,
}

impl Cutter {
    pub fn new(form: Form) -> Self {
        Self { form, ..Self::default() }
    }

    /// Takes the next piece and hands out every line that it completes.
    pub fn feed(&mut self, piece: &[u8], mut line: impl FnMut(&[u8])) {
        if self.form == Form::Document {
            for it in piece {
                self.byte(*it);
                if self.line.len() >= PIECE {
                    line(&self.line);
                    self.line.clear();
                }
            }
            return;
        }
        let mut rest = piece;
        while !rest.is_empty() {
            let end = rest.iter().position(|it| *it == b'\n');
            let (part, more) = rest.split_at(end.unwrap_or(rest.len()));
            self.push(part);
            rest = more;
            if end.is_some() {
                self.end_line(&mut line);
                rest = &rest[1..];
            }
        }
    }

    /// What is left when the stream ends without a line end.
    pub fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.line.is_empty() {
            self.end_line(&mut line);
        }
    }

    fn end_line(&mut self, line: &mut impl FnMut(&[u8])) {
        if self.overlong {
            self.n_dropped += 1;
        } else {
            line(&self.line);
        }
        self.line.clear();
        self.at = Place::default();
        self.overlong = false;
    }

    fn push(&mut self, part: &[u8]) {
        if self.overlong {
            return;
        }
        if self.form == Form::Lines {
            for it in part {
                self.byte(*it);
            }
        } else {
            let room = MAX_STRING.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
        }
        if self.line.len() > MAX_KEPT {
            self.overlong = true;
            self.line = Vec::new();
        }
    }

    fn byte(&mut self, it: u8) {
        let at = &mut self.at;
        if !at.in_string {
            at.in_string = it == b'"';
            (at.length, at.cut) = (0, false);
            self.line.push(it);
            return;
        }
        if !at.escaped && at.owed == 0 {
            if it == b'"' {
                at.in_string = false;
                self.line.push(it);
                return;
            }
            at.keeps = at.length < MAX_STRING || (at.half && !at.cut);
            self.n_cut += u64::from(!at.keeps && !at.cut);
            at.cut |= !at.keeps;
            at.half &= it == b'\\';
        }
        at.follow(it);
        if at.keeps {
            self.line.push(it);
        }
    }
}

impl Place {
    fn follow(&mut self, it: u8) {
        self.length += 1;
        if self.escaped {
            (self.escaped, self.owed) = (false, if it == b'u' { 4 } else { 0 });
            self.half = it == b'u' && !self.half;
            return;
        }
        match self.owed {
            0 => self.escaped = it == b'\\',
            4 => self.half &= matches!(it, b'd' | b'D'),
            3 => self.half &= matches!(it, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
            _ => {}
        }
        self.owed = self.owed.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(form: Form, text: &[u8], piece: usize) -> (Vec<Vec<u8>>, u64) {
        let mut cutter = Cutter::new(form);
        let mut acc = Vec::new();
        for it in text.chunks(piece) {
            cutter.feed(it, |line| acc.push(line.to_vec()));
        }
        cutter.finish(|line| acc.push(line.to_vec()));
        (acc, cutter.n_cut)
    }

    #[test]
    fn a_result_of_megabytes_stays_json() {
        let long = "\\ud83d\\ude00\\n".repeat(200_000);
        let text = format!("{{\"a\":\"{long}\",\"b\":[1,\"x\"]}}\n{{}}");
        let (res, n_cut) = lines(Form::Lines, text.as_bytes(), 4096);
        assert!(res[0].len() < MAX_STRING + 100);
        let value: serde_json::Value = serde_json::from_slice(&res[0]).unwrap();
        assert_eq!((value["b"][1].as_str(), n_cut, res.len()), (Some("x"), 1, 2));
    }

    #[test]
    fn a_document_passes_in_pieces_whatever_its_lines() {
        let text = format!("{{\"a\": \"{}\",\n \"b\": 1}}\n", "x".repeat(MAX_STRING * 3));
        let (res, n_cut) = lines(Form::Document, text.as_bytes(), 4096);
        assert!(res.iter().all(|it| it.len() <= PIECE));
        let value: serde_json::Value = serde_json::from_slice(&res.concat()).unwrap();
        assert_eq!((value["b"].as_u64(), n_cut), (Some(1), 1));
    }

    #[test]
    fn other_text_keeps_the_beginning_of_a_line() {
        let text = "x".repeat(MAX_STRING * 3) + "\nshort";
        let (res, _) = lines(Form::Text, text.as_bytes(), 1000);
        assert_eq!((res[0].len(), res[1].as_slice()), (MAX_STRING, b"short".as_slice()));
    }

    proptest! {
        #[test]
        fn short_lines_pass_unchanged(text in "(\\PC|[\"\\\\\n]){0,300}", piece in 1..50_usize) {
            let (res, n_cut) = lines(Form::Lines, text.as_bytes(), piece);
            let mut whole: Vec<Vec<u8>> =
                text.split('\n').map(|it| it.as_bytes().to_vec()).collect();
            if whole.last().is_some_and(Vec::is_empty) {
                whole.pop();
            }
            prop_assert_eq!((res, n_cut), (whole, 0));
        }
    }
}
