//! Structural hash of a piece of code: equal for two texts that differ only in white space and
//! comments.
//!
//! ```text
//! f( a,b )    equals          f(a, b) // why
//! return x    differs from    returnx
//! "a b"       differs from    "a  b"
//! ```
//!
//! Each definition of a file gets one. A memory, a stored note that may refer to a definition,
//! compares it to notice that the code has changed. The hash works on the bytes of the text and on
//! the comment and string spans that the syntax walk collected, which costs a tenth of visiting
//! every token a second time. It does not withstand deliberate collisions.

/// A comment or a string of a file, as a range of bytes. It is opaque: its content is not code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpaqueSpan {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: OpaqueKind,
}

/// Kind of an opaque span, which decides its part in the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpaqueKind {
    /// Not hashed.
    Comment,
    /// Hashed byte for byte, including its white space.
    String,
}

/// The white space that belongs to the structure of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutRule {
    /// White space only separates words.
    FreeForm,
    /// Line breaks and indentation steps count; the width of a step does not.
    Indented,
}

/// Hashes `source[code]`. `opaque` are all comments and strings of the file in text order.
pub(crate) fn structural_hash(
    source: &[u8],
    code: std::ops::Range<u32>,
    opaque: &[OpaqueSpan],
    layout: LayoutRule,
) -> u64 {
    let mut state = HashState::default();
    // `position` is the end of the text hashed so far.
    let (mut position, end) = (code.start as usize, (code.end as usize).min(source.len()));
    let n_before = opaque.partition_point(|it| (it.end as usize) <= position);
    let mut spans = opaque[n_before..].iter().peekable();
    while position < end {
        if let Some(span) = spans.next_if(|it| it.start as usize <= position) {
            let span_end = (span.end as usize).min(end);
            if span.kind == OpaqueKind::String && span_end > position {
                state.add_string(&source[position..span_end]);
            }
            // Spans may nest, so the end of one may lie before the current position.
            position = position.max(span_end);
            continue;
        }
        // Up to the next comment or string there is only code.
        let code_end = spans.peek().map_or(end, |it| (it.start as usize).min(end));
        match layout {
            LayoutRule::FreeForm => state.add_free_form(&source[position..code_end]),
            LayoutRule::Indented => state.add_indented(&source[position..code_end]),
        }
        position = code_end;
    }
    state.tokens.hasher.finish()
}

/// The hash so far and the layout that has been read but not yet hashed.
#[derive(Default)]
struct HashState {
    tokens: TokenHasher,
    /// Open brackets: inside them line breaks carry no structure.
    bracket_depth: i32,
    /// The widths of the indentation levels that are open.
    indents: Vec<usize>,
    /// The indentation of a line whose first byte of code has not been read yet.
    line_indent: Option<usize>,
}

impl HashState {
    fn add_string(&mut self, text: &[u8]) {
        if let Some(width) = self.line_indent.take() {
            hash_line_start(&mut self.tokens, &mut self.indents, width);
        }
        text.iter().for_each(|it| self.tokens.hasher.write_byte(*it));
        // A quote is not a word byte, so white space after the string is not hashed.
        (self.tokens.last_byte, self.tokens.has_gap) = (b'"', false);
    }

    fn add_free_form(&mut self, code: &[u8]) {
        // A local copy stays in registers, which makes the loop a third faster.
        let mut tokens = self.tokens;
        for byte in code {
            if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                tokens.has_gap = true;
                continue;
            }
            tokens.add_byte(*byte);
        }
        self.tokens = tokens;
    }

    fn add_indented(&mut self, code: &[u8]) {
        // Python counts a tab as up to eight columns.
        const TAB_WIDTH: usize = 8;
        let mut tokens = self.tokens;
        for byte in code {
            match byte {
                // A new line begins. Its indentation counts only once code follows on it.
                b'\n' if self.bracket_depth <= 0 => {
                    (self.line_indent, tokens.has_gap) = (Some(0), true);
                }
                b' ' | b'\t' | b'\r' | b'\n' => {
                    tokens.has_gap = true;
                    let byte_width = if *byte == b'\t' { TAB_WIDTH } else { 1 };
                    self.line_indent = self.line_indent.map(|it| it + byte_width);
                }
                // A byte of code.
                _ => {
                    if let Some(width) = self.line_indent.take() {
                        hash_line_start(&mut tokens, &mut self.indents, width);
                    }
                    self.bracket_depth += i32::from(matches!(byte, b'(' | b'[' | b'{'));
                    self.bracket_depth -= i32::from(matches!(byte, b')' | b']' | b'}'));
                    tokens.add_byte(*byte);
                }
            }
        }
        self.tokens = tokens;
    }
}

/// Hashes the line break before a line and the indentation levels that the line opens or closes.
fn hash_line_start(tokens: &mut TokenHasher, indents: &mut Vec<usize>, width: usize) {
    // Bytes that never occur in code mark the steps.
    const INDENT_MARKER: u8 = 1;
    const DEDENT_MARKER: u8 = 2;
    tokens.hasher.write_byte(b'\n');
    while indents.last().is_some_and(|it| *it > width) {
        indents.pop();
        tokens.hasher.write_byte(DEDENT_MARKER);
    }
    if indents.last().is_none_or(|it| *it < width) {
        indents.push(width);
        tokens.hasher.write_byte(INDENT_MARKER);
    }
}

/// Hashes code without its white space, except where that separates two words.
#[derive(Clone, Copy, Default)]
struct TokenHasher {
    hasher: WordHasher,
    last_byte: u8,
    /// White space has been read since `last_byte`.
    has_gap: bool,
}

impl TokenHasher {
    #[inline]
    fn add_byte(&mut self, byte: u8) {
        if self.has_gap {
            if is_word_byte(self.last_byte) && is_word_byte(byte) {
                self.hasher.write_byte(b' ');
            }
            self.has_gap = false;
        }
        self.hasher.write_byte(byte);
        self.last_byte = byte;
    }
}

/// Returns whether a byte is part of a word. Bytes from 128 on belong to characters beyond ASCII.
const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}

/// A multiplicative hash over words of eight bytes, so that a byte costs a shift instead of a
/// multiplication.
#[derive(Clone, Copy, Default)]
struct WordHasher {
    hash: u64,
    /// The bytes that do not fill a word yet, the last of them lowest.
    word: u64,
    n_bytes: u32,
}

/// 2^64 divided by the golden ratio (Knuth's multiplicative hashing).
const WORD_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// From the finalizer of `MurmurHash3` (Appleby).
const FINAL_MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;

impl WordHasher {
    #[inline]
    const fn write_byte(&mut self, byte: u8) {
        self.word = self.word << 8 | byte as u64;
        self.n_bytes += 1;
        if self.n_bytes.is_multiple_of(8) {
            self.hash = self.mix_word();
            self.word = 0;
        }
    }

    /// The hash with the current word mixed in.
    #[inline]
    const fn mix_word(self) -> u64 {
        (self.hash.rotate_left(27) ^ self.word).wrapping_mul(WORD_MULTIPLIER)
    }

    const fn finish(self) -> u64 {
        let last = self.mix_word();
        // The length distinguishes a text from the same text with leading zero bytes.
        (last ^ self.n_bytes as u64).wrapping_mul(FINAL_MULTIPLIER) ^ (last >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes a text in which `#` begins a comment and `"` encloses a string.
    fn hash(source: &str, layout: LayoutRule) -> u64 {
        let to_u32 = |it: usize| u32::try_from(it).unwrap();
        let mut spans = Vec::new();
        let mut from = 0;
        while let Some(start) = source[from..].find(['#', '"']).map(|it| from + it) {
            // A comment ends before the line break, a string after its closing quote.
            let is_comment = source[start..].starts_with('#');
            let (kind, end) = if is_comment {
                let end = source[start..].find('\n').map_or(source.len(), |it| start + it);
                (OpaqueKind::Comment, end)
            } else {
                let content = start + 1;
                let end = content + source[content..].find('"').unwrap() + 1;
                (OpaqueKind::String, end)
            };
            spans.push(OpaqueSpan { start: to_u32(start), end: to_u32(end), kind });
            from = end;
        }
        structural_hash(source.as_bytes(), 0..to_u32(source.len()), &spans, layout)
    }

    #[test]
    fn white_space_and_comments_do_not_count() {
        let hash = |source| hash(source, LayoutRule::FreeForm);
        assert_eq!(hash("f( a,b )"), hash("f(a, b) # why\n"));
        assert_eq!(hash("return x"), hash("return   x"));
        assert_ne!(hash("return x"), hash("returnx"));
        assert_ne!(hash("return x"), hash("return y"));
    }

    #[test]
    fn white_space_in_a_string_counts() {
        let hash = |source| hash(source, LayoutRule::FreeForm);
        assert_ne!(hash("f(\"a b\")"), hash("f(\"a  b\")"));
    }

    #[test]
    fn indentation_steps_count_in_an_indented_language() {
        let hash = |source| hash(source, LayoutRule::Indented);
        let code = "if a:\n    b\nc";
        let narrower = "if a:\n  b\n\n# note\nc";
        let other_structure = "if a:\n    b\n    c";
        assert_eq!(hash(code), hash(narrower));
        assert_ne!(hash(code), hash(other_structure));
        // Inside brackets lines and indentation carry no structure.
        assert_eq!(hash("f(a,\n    b)"), hash("f(a, b)"));
    }
}
