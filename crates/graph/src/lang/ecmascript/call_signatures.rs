//! TypeScript: separates call signatures that the grammar would join.
//!
//! The members of an interface may be separated by line breaks alone. Before a member that begins
//! with `<`, the grammar does not accept that: it takes the bracket for the type arguments of what
//! stands before it, and loses the rest of the interface, or of the file:
//!
//! ```text
//! interface Get {                              interface Get {
//!   (key: string): unknown                →      (key: string): unknown
//!   <K extends Key>(key: K): Value[K]           ;<K extends Key>(key: K): Value[K]
//! }                                            }
//! ```
//!
//! The semicolon takes the place of a space, so that all positions stay. Only a text with a syntax
//! error is repaired, and the result is used only if it has fewer errors.

/// Ends of a line after which no member can begin.
const OPEN_LINE_ENDS: &[u8] = b"{(,;<|&=?:[+-*.";

/// Returns the text with a semicolon before every line that begins with a type parameter list
/// where a member may begin; `None` if there is none.
pub(super) fn separate_call_signatures(source: &[u8]) -> Option<Vec<u8>> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut line_start = 0;
    // The last byte of code before the line.
    let mut last_byte = b'{';
    for line in source.split_inclusive(|it| *it == b'\n') {
        let code = line.trim_ascii();
        let indent = line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        // `<K`, but not the operators `<=` and `<<`.
        let is_signature = code.first() == Some(&b'<')
            && code.get(1).is_none_or(|it| it.is_ascii_alphabetic() || *it == b'_');
        let follows_member = !OPEN_LINE_ENDS.contains(&last_byte);
        // The semicolon needs a space to replace.
        if is_signature && follows_member && indent > 0 {
            let text = repaired.get_or_insert_with(|| source.to_vec());
            text[line_start + indent - 1] = b';';
        }
        let is_comment = [&b"//"[..], b"/*", b"*"].iter().any(|it| code.starts_with(it));
        if let Some(last) = code.last().filter(|_| !is_comment) {
            last_byte = *last;
        }
        line_start += line.len();
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::separate_call_signatures;

    #[test]
    fn a_signature_after_a_complete_member_is_separated() {
        let text = "interface A {\n  <K>(k: K): V[K]\n  // more\n  <L>(l: L): L\n}\n";
        let repaired = separate_call_signatures(text.as_bytes()).unwrap();
        let expected = "interface A {\n  <K>(k: K): V[K]\n  // more\n ;<L>(l: L): L\n}\n";
        assert_eq!(String::from_utf8(repaired).unwrap(), expected);
        assert_eq!(separate_call_signatures(b"f(\n  <T>(x: T) => x,\n)\na\n  < b\n"), None);
    }
}
