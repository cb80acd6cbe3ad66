//! Splits one JSON document while it streams by: its head, then the elements of one of its lists. With
//! the list `steps`:
//!
//! ```text
//! {"id": 7, "steps": [{"a": 1}, {"a": 2}], "more": []}
//!
//! head     {"id":7,"steps":[]}
//! element  {"a":1}
//! element  {"a":2}
//! ```
//!
//! Some hosts store a session as one document of any size, which is never held in memory as a
//! whole. The head is everything before the list; elements follow one by one; the rest of the
//! document is skipped. `transcript_reader` feeds the pieces and parses the parts.
//!
//! The splitter follows only strings and the nesting depth: depth 1 is inside the outermost object,
//! depth 2 directly inside the list.

/// Longest head or element, in bytes; its strings were truncated before.
const MAX_PART_BYTES: usize = model::MAX_EVENT_LINE_BYTES;

/// A document being split. Bytes may come in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct DocumentSplitter {
    /// Key of the list in the outermost object.
    list_key: &'static str,
    stage: DocumentStage,
    /// Number of open brackets and braces.
    depth: usize,
    in_string: bool,
    /// The last byte was a backslash inside a string.
    escaped: bool,
    /// Start in `part` of the last string, which may be a key.
    key_start: usize,
    /// The next value belongs to the key of the list.
    list_follows: bool,
    /// Bytes of the head or element being read.
    part: Vec<u8>,
    /// Parts that were too long or incomplete.
    pub(crate) n_damaged: u64,
}

/// Position in the document relative to the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DocumentStage {
    #[default]
    Head,
    List,
    After,
}

/// A part of a document, valid JSON by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentPart<'a> {
    Head(&'a [u8]),
    Element(&'a [u8]),
}

impl DocumentSplitter {
    pub(crate) fn new(list_key: &'static str) -> Self {
        Self { list_key, ..Self::default() }
    }

    /// Takes the next piece and calls `on_part` for every part that it completes.
    pub(crate) fn feed(&mut self, piece: &[u8], mut on_part: impl FnMut(DocumentPart<'_>)) {
        for byte in piece {
            if self.stage != DocumentStage::After {
                self.push_byte(*byte, &mut on_part);
            }
        }
    }

    /// Counts a document that ends too early.
    pub(crate) fn finish(&mut self) {
        let is_open = self.stage != DocumentStage::After && (self.depth > 0 || self.in_string);
        self.n_damaged += u64::from(is_open);
    }

    fn push_byte(&mut self, byte: u8, on_part: &mut impl FnMut(DocumentPart<'_>)) {
        if self.in_string {
            self.push_string_byte(byte);
            return;
        }
        match byte {
            b'"' => {
                self.buffer_byte(byte);
                self.in_string = true;
                self.key_start = self.part.len();
                self.list_follows = false;
            }
            // The head ends where the list begins; an empty list and a brace make it valid JSON.
            b'[' if self.list_follows => {
                self.part.extend_from_slice(b"[]}");
                self.emit_part(on_part);
                self.stage = DocumentStage::List;
                self.depth = 2;
                self.list_follows = false;
            }
            // A comma directly inside the list separates two elements.
            b',' if self.stage == DocumentStage::List && self.depth == 2 => self.emit_part(on_part),
            b'{' | b'[' => {
                self.buffer_byte(byte);
                self.depth += 1;
                self.list_follows = false;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                // The bracket closes the list itself and belongs to no element.
                if self.stage == DocumentStage::List && self.depth == 1 {
                    self.emit_part(on_part);
                    self.stage = DocumentStage::After;
                    return;
                }
                self.buffer_byte(byte);
                // The document ends without the list: all of it is the head.
                if self.depth == 0 {
                    self.emit_part(on_part);
                    self.stage = DocumentStage::After;
                }
            }
            // Between the key of the list and its value, so `list_follows` stays.
            b':' => self.buffer_byte(byte),
            // Blanks outside of strings mean nothing and would only fill the buffer.
            _ if byte.is_ascii_whitespace() => {}
            // A byte of a number or literal, or a comma: the value of the key is no list.
            _ => {
                self.buffer_byte(byte);
                self.list_follows = false;
            }
        }
    }

    /// Takes a byte inside a string. At the end of the string, finds out whether it is the key of
    /// the list.
    fn push_string_byte(&mut self, byte: u8) {
        self.buffer_byte(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            let text = self.part.get(self.key_start..self.part.len() - 1);
            // The list is a member of the outermost object, not of one further inside.
            self.list_follows = self.stage == DocumentStage::Head
                && self.depth == 1
                && text == Some(self.list_key.as_bytes());
        }
    }

    /// Keeps one byte beyond the limit, by which `emit_part` recognises a part that is too long.
    fn buffer_byte(&mut self, byte: u8) {
        if self.part.len() <= MAX_PART_BYTES {
            self.part.push(byte);
        }
    }

    fn emit_part(&mut self, on_part: &mut impl FnMut(DocumentPart<'_>)) {
        let is_whole = self.part.len() <= MAX_PART_BYTES;
        self.n_damaged += u64::from(!is_whole);
        match self.stage {
            // A head that is too long is replaced, because the list after it is still of use.
            DocumentStage::Head => {
                on_part(DocumentPart::Head(if is_whole { &self.part } else { b"{}" }));
            }
            // The list `[]` has one empty part, which is no element.
            DocumentStage::List if is_whole && !self.part.is_empty() => {
                on_part(DocumentPart::Element(&self.part));
            }
            DocumentStage::List | DocumentStage::After => {}
        }
        self.part.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use std::fmt::Write as _;

    /// The parts, one per line, and the number of damaged ones.
    fn parts(text: &str, piece_size: usize) -> (String, u64) {
        let mut document = DocumentSplitter::new("steps");
        let mut acc = String::new();
        for it in text.as_bytes().chunks(piece_size) {
            document.feed(it, |part| {
                let (name, text) = match part {
                    DocumentPart::Head(text) => ("head", text),
                    DocumentPart::Element(text) => ("element", text),
                };
                let _ = writeln!(acc, "{name} {}", String::from_utf8_lossy(text));
            });
        }
        document.finish();
        (acc, document.n_damaged)
    }

    /// Compares the parts of a document whose list is `steps`, fed in pieces of one and seven bytes.
    fn check(text: &str, expect: Expect) {
        let (parts_text, n_damaged) = parts(text, 1);
        assert_eq!(parts(text, 7), (parts_text.clone(), n_damaged));
        expect.assert_eq(&format!("{parts_text}{n_damaged} damaged\n"));
    }

    #[test]
    fn a_document_is_split_into_its_head_and_the_elements_of_its_list() {
        check(
            r#"{ "id": "steps", "x": {"steps": [1]},
                 "steps": [ {"a": "],\"}", "b": [1, 2]}, 7, "é" ],
                 "history": [1, 2] }"#,
            expect![[r#"
                head {"id":"steps","x":{"steps":[1]},"steps":[]}
                element {"a":"],\"}","b":[1,2]}
                element 7
                element "é"
                0 damaged
            "#]],
        );
        check(
            r#"{"steps":[]}"#,
            expect![[r#"
            head {"steps":[]}
            0 damaged
        "#]],
        );
        check(
            r#"{"other":[1]}"#,
            expect![[r#"
            head {"other":[1]}
            0 damaged
        "#]],
        );
    }

    #[test]
    fn elements_before_a_truncation_are_kept() {
        check(
            r#"{"steps":[{"a":1},{"a":2"#,
            expect![[r#"
            head {"steps":[]}
            element {"a":1}
            1 damaged
        "#]],
        );
        check("", expect!["0 damaged\n"]);
    }

    #[test]
    fn an_oversized_element_is_skipped_and_the_next_is_read() {
        let long = "1,".repeat(MAX_PART_BYTES / 2 + 1);
        let (parts_text, n_damaged) = parts(&format!(r#"{{"steps":[[{long}1],{{"a":1}}]}}"#), 4096);
        assert_eq!(
            (parts_text.as_str(), n_damaged),
            ("head {\"steps\":[]}\nelement {\"a\":1}\n", 1)
        );
    }

    proptest! {
        #[test]
        fn splitting_is_independent_of_the_piece_size(text in "([\\[\\]{}:,\"\\\\]|\"steps\"|\\PC){0,60}", piece in 1..9_usize) {
            prop_assert_eq!(parts(&text, 1), parts(&text, piece));
        }
    }
}
