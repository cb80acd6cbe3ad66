//! Removes our own injected notes from recorded texts.
//!
//! Some hosts store an injected note in tool results or before prompts. Left in, it would be learned
//! again as an observation.

use std::borrow::Cow;

use model::NOTES_TAG;

/// The text without blocks of our notes and without the line break before each. A block without an
/// end was truncated by the host, so the rest of the text belongs to it.
pub(crate) fn strip_own_notes(text: &str) -> Cow<'_, str> {
    let (open, close) = (format!("<{NOTES_TAG}>"), format!("</{NOTES_TAG}>"));
    if !text.contains(&open) {
        return Cow::Borrowed(text);
    }
    let mut acc = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&open) {
        // The host put the block on a line of its own.
        let before = &rest[..start];
        acc.push_str(before.strip_suffix('\n').unwrap_or(before));
        let block = &rest[start + open.len()..];
        rest = block.find(&close).map_or("", |end| &block[end + close.len()..]);
    }
    acc.push_str(rest);
    Cow::Owned(acc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(strip_own_notes(text), expected, "{text}");
    }

    #[test]
    fn own_notes_are_removed_from_any_position() {
        check("boom\n", "boom\n");
        check("boom\n\n<waylore-notes>\n- x [#1]\n</waylore-notes>", "boom\n");
        check("<waylore-notes>a</waylore-notes>\nfix it", "\nfix it");
        check(
            "a\n<waylore-notes>1</waylore-notes>\nb\n<waylore-notes>2</waylore-notes>\nc",
            "a\nb\nc",
        );
        check("a\n<waylore-notes>\n- cut in the mi", "a");
        check("a </waylore-notes> b", "a </waylore-notes> b");
    }
}
