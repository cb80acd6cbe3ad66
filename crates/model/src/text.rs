//! Validation of text before it is stored: no NUL, bounded size, labels without control characters.
//!
//! A body text is checked and rejected if it is unusable ([`clean_text`]); a label is made usable
//! ([`clean_label`]).

use std::borrow::Cow;

/// The tag around injected notes.
pub const NOTES_TAG: &str = "waylore-notes";
/// The longest `content` of a memory, in bytes.
pub const MAX_CONTENT: usize = 2048;
/// The longest `citation`, in characters.
pub const MAX_CITATION: usize = 40;
/// The longest tag, module name or other label, in characters.
pub const MAX_LABEL: usize = 120;

/// Stands for the left out middle of a long text.
const ELISION_MARK: &str = "\n[…]\n";

/// Reasons to reject a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    Empty,
    TooLong { bytes: usize, limit: usize },
    Nul { at: usize },
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "the text is empty"),
            Self::TooLong { bytes, limit } => {
                write!(
                    f,
                    "the text has {bytes} bytes, the limit is {limit}; split it into several memories"
                )
            }
            Self::Nul { at } => write!(f, "the text has a NUL character at byte {at}"),
        }
    }
}

impl std::error::Error for TextError {}

/// Checks a body text: trimmed, not empty, no NUL, at most `limit` bytes. Line ends become `\n`.
pub fn clean_text(text: &str, limit: usize) -> Result<String, TextError> {
    // SQLite and C libraries end a text at a NUL.
    if let Some(at) = text.find('\0') {
        return Err(TextError::Nul { at });
    }
    let text = text.replace("\r\n", "\n");
    let text = text.trim();
    // A text of invisible characters looks empty to the user.
    if !text.chars().any(|it| !it.is_whitespace() && !is_invisible(it)) {
        return Err(TextError::Empty);
    }
    if text.len() > limit {
        return Err(TextError::TooLong { bytes: text.len(), limit });
    }
    Ok(text.to_owned())
}

/// Makes a one-line label of any text: control and invisible characters become spaces, runs of spaces
/// become one, and the end is truncated at `limit` characters.
pub fn clean_label(text: &str, limit: usize) -> String {
    let make_visible = |it: char| if it.is_control() || is_invisible(it) { ' ' } else { it };
    let visible: String = text.chars().map(make_visible).collect();
    let one_line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= limit {
        return one_line;
    }
    // One character is left for the ellipsis.
    let mut truncated: String = one_line.chars().take(limit - 1).collect();
    truncated.truncate(truncated.trim_end().len());
    truncated.push('…');
    truncated
}

/// A text of at most `limit` bytes: a longer one is replaced by its beginning and its last `tail` bytes, with a
/// mark between them. The end of a long text often says what its beginning is about.
pub fn elide_middle(text: &str, limit: usize, tail: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let head = limit.saturating_sub(tail + ELISION_MARK.len());
    let head = &text[..text.floor_char_boundary(head)];
    let tail = &text[text.ceil_char_boundary(text.len() - tail.min(text.len()))..];
    Cow::Owned([head, ELISION_MARK, tail].concat())
}

/// Stable hash of a text, equal on every machine and in every version. Not collision resistant
/// against an attacker.
pub fn fingerprint_text(text: &str) -> String {
    // FNV-1a of 64 bits: stable by definition, unlike the hasher of the standard library.
    let mix = |acc: u64, it: u8| (acc ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Returns whether a character is invisible and can hide or reorder text: controls of the writing direction
/// (bidi), zero-width characters, tag characters.
pub fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_text_is_trimmed_or_rejected() {
        assert_eq!(clean_text("  a\r\nb ", 10).unwrap(), "a\nb");
        assert_eq!(clean_text("a\0b", 10), Err(TextError::Nul { at: 1 }));
        assert_eq!(clean_text(" \u{200b}\n", 10), Err(TextError::Empty));
        assert_eq!(clean_text("abc", 2), Err(TextError::TooLong { bytes: 3, limit: 2 }));
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        assert_eq!(elide_middle("short", 5, 2), "short");
        let text = format!("begin{}end", "é".repeat(100));
        let elided = elide_middle(&text, 40, 11);
        assert_eq!(elided, "beginéééééééé\n[…]\nééééend");
        assert!(elided.len() <= 40);
    }

    #[test]
    fn fingerprints_are_those_of_fnv_1a() {
        // Published test vectors of FNV-1a, 64 bits.
        assert_eq!(fingerprint_text(""), "cbf29ce484222325");
        assert_eq!(fingerprint_text("foobar"), "85944171f73967e8");
    }

    #[test]
    fn labels_cannot_reorder_or_hide_text() {
        assert_eq!(clean_label("safe\u{202e}gnihton\n x", 40), "safe gnihton x");
        assert_eq!(clean_label("one two three", 8), "one two…");
    }
}
