//! Splits one JSON document while it streams by: its head, then the elements of one of its lists.
//!
//! Some hosts store a session as one document of any size, which is never held in memory as a
//! whole. The head is everything before the list; elements follow one by one; the rest of the
//! document is skipped.

/// Longest head or element, in bytes; its strings were truncated before.
const MAX_PART_BYTES: usize = model::MAX_EVENT_LINE_BYTES;

/// A document being split. Bytes may come in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct DocumentSplitter {
    /// Key of the list.
    list: &'static str,
    stage: DocumentStage,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Start in `part` of the last string, which may be a key.
    key_start: usize,
    /// The next value belongs to the key of the list.
    names_list: bool,
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
    pub(crate) fn new(list: &'static str) -> Self {
        Self { list, ..Self::default() }
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
            self.buffer_byte(byte);
            match (self.escaped, byte) {
                (true, _) => self.escaped = false,
                (false, b'\\') => self.escaped = true,
                (false, b'"') => {
                    self.in_string = false;
                    // The list is a member of the outermost object, not of one further inside.
                    self.names_list = self.stage == DocumentStage::Head
                        && self.depth == 1
                        && self.part.get(self.key_start..self.part.len() - 1)
                            == Some(self.list.as_bytes());
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.buffer_byte(byte);
                (self.in_string, self.key_start, self.names_list) = (true, self.part.len(), false);
            }
            // The head ends where the list begins; closing it makes it valid JSON.
            b'[' if self.names_list => {
                self.part.extend_from_slice(b"[]}");
                self.emit_part(on_part);
                (self.stage, self.depth, self.names_list) = (DocumentStage::List, 2, false);
            }
            // A comma directly inside the list separates two elements.
            b',' if self.stage == DocumentStage::List && self.depth == 2 => self.emit_part(on_part),
            b'{' | b'[' => {
                self.buffer_byte(byte);
                (self.depth, self.names_list) = (self.depth + 1, false);
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.stage == DocumentStage::List && self.depth == 1 {
                    self.emit_part(on_part);
                    self.stage = DocumentStage::After;
                    return;
                }
                self.buffer_byte(byte);
                if self.depth == 0 {
                    self.emit_part(on_part);
                    self.stage = DocumentStage::After;
                }
            }
            b':' => self.buffer_byte(byte),
            // Blanks outside of strings mean nothing and would only fill the buffer.
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                self.buffer_byte(byte);
                self.names_list = false;
            }
        }
    }

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
            _ if is_whole && !self.part.is_empty() => on_part(DocumentPart::Element(&self.part)),
            _ => {}
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
