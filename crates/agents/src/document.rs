//! Takes one JSON document apart while it streams by: its head, then the elements of one of its lists.
//!
//! Some hosts keep a session as one document, of any size. Nobody ever holds it whole: what stands
//! before the list is the head, elements are handed out one by one, and what comes after is left.

/// The longest head or element kept, in bytes; the strings in it were cut before.
const MAX_PART: usize = model::MAX_LINE;

/// A document being taken apart. Bytes may come in any pieces.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The key of the list.
    list: &'static str,
    at: Stage,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where in `part` the string began that may be a key.
    key: usize,
    /// That string, and a colon after it, stand right before the next byte.
    names_list: bool,
    part: Vec<u8>,
    /// Parts that were too long, or not complete.
    pub(crate) n_damaged: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    List,
    After,
}

/// What a document comes apart into; each is JSON by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Head(&'a [u8]),
    Element(&'a [u8]),
}

impl Document {
    pub(crate) fn new(list: &'static str) -> Self {
        Self { list, ..Self::default() }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], mut part: impl FnMut(Part<'_>)) {
        for it in piece {
            if self.at != Stage::After {
                self.byte(*it, &mut part);
            }
        }
    }

    /// The end of the file: a head without a list, or a document that was cut off.
    pub(crate) fn finish(&mut self) {
        let is_open = self.at != Stage::After && (self.depth > 0 || self.in_string);
        self.n_damaged += u64::from(is_open);
    }

    fn byte(&mut self, it: u8, part: &mut impl FnMut(Part<'_>)) {
        if self.in_string {
            self.keep(it);
            match (self.escaped, it) {
                (true, _) => self.escaped = false,
                (false, b'\\') => self.escaped = true,
                (false, b'"') => {
                    self.in_string = false;
                    self.names_list = self.at == Stage::Head
                        && self.depth == 1
                        && self.part.get(self.key..self.part.len() - 1)
                            == Some(self.list.as_bytes());
                }
                _ => {}
            }
            return;
        }
        match it {
            b'"' => {
                self.keep(it);
                (self.in_string, self.key, self.names_list) = (true, self.part.len(), false);
            }
            b'[' if self.names_list => {
                self.part.extend_from_slice(b"[]}");
                self.hand_out(part);
                (self.at, self.depth, self.names_list) = (Stage::List, 2, false);
            }
            b',' if self.at == Stage::List && self.depth == 2 => self.hand_out(part),
            b'{' | b'[' => {
                self.keep(it);
                (self.depth, self.names_list) = (self.depth + 1, false);
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.at == Stage::List && self.depth == 1 {
                    self.hand_out(part);
                    self.at = Stage::After;
                    return;
                }
                self.keep(it);
                if self.depth == 0 {
                    self.hand_out(part);
                    self.at = Stage::After;
                }
            }
            b':' => self.keep(it),
            _ if it.is_ascii_whitespace() => {}
            _ => {
                self.keep(it);
                self.names_list = false;
            }
        }
    }

    fn keep(&mut self, it: u8) {
        if self.part.len() <= MAX_PART {
            self.part.push(it);
        }
    }

    fn hand_out(&mut self, part: &mut impl FnMut(Part<'_>)) {
        let is_whole = self.part.len() <= MAX_PART;
        self.n_damaged += u64::from(!is_whole);
        match self.at {
            // Without its head a document still has a list.
            Stage::Head => part(Part::Head(if is_whole { &self.part } else { b"{}" })),
            _ if is_whole && !self.part.is_empty() => part(Part::Element(&self.part)),
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

    fn parts(text: &str, piece: usize) -> (String, u64) {
        let mut document = Document::new("steps");
        let mut acc = String::new();
        for it in text.as_bytes().chunks(piece) {
            document.feed(it, |part| {
                let (name, text) = match part {
                    Part::Head(text) => ("head", text),
                    Part::Element(text) => ("element", text),
                };
                let _ = writeln!(acc, "{name} {}", String::from_utf8_lossy(text));
            });
        }
        document.finish();
        (acc, document.n_damaged)
    }

    fn check(text: &str, expect: Expect) {
        let (res, n_damaged) = parts(text, 1);
        assert_eq!(parts(text, 7), (res.clone(), n_damaged));
        expect.assert_eq(&format!("{res}{n_damaged} damaged\n"));
    }

    #[test]
    fn a_document_is_its_head_and_the_elements_of_its_list() {
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
    fn what_was_complete_before_the_end_is_kept() {
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
    fn an_element_beyond_all_bounds_is_left_and_the_next_is_read() {
        let long = "1,".repeat(MAX_PART / 2 + 1);
        let (res, n_damaged) = parts(&format!(r#"{{"steps":[[{long}1],{{"a":1}}]}}"#), 4096);
        assert_eq!((res.as_str(), n_damaged), ("head {\"steps\":[]}\nelement {\"a\":1}\n", 1));
    }

    proptest! {
        #[test]
        fn any_text_comes_apart(text in "([\\[\\]{}:,\"\\\\]|\"steps\"|\\PC){0,60}", piece in 1..9_usize) {
            prop_assert_eq!(parts(&text, 1), parts(&text, piece));
        }
    }
}
