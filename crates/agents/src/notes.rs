//! Our own notes in what a host kept: some hosts put them into the answer of a tool or before a prompt.
//! They are no observation, or what was told once would be learned from again.

use std::borrow::Cow;

use model::NOTES_TAG;

/// The text without blocks of our notes, and without the line that each begins. A block that does not end
/// was cut by somebody; all of its rest is ours.
pub(crate) fn without_notes(text: &str) -> Cow<'_, str> {
    let (open, close) = (format!("<{NOTES_TAG}>"), format!("</{NOTES_TAG}>"));
    if !text.contains(&open) {
        return Cow::Borrowed(text);
    }
    let mut acc = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&open) {
        acc.push_str(rest[..at].strip_suffix('\n').unwrap_or(&rest[..at]));
        let block = &rest[at + open.len()..];
        rest = block.find(&close).map_or("", |end| &block[end + close.len()..]);
    }
    acc.push_str(rest);
    Cow::Owned(acc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(without_notes(text), expected, "{text}");
    }

    #[test]
    fn notes_of_ours_are_taken_out_wherever_they_stand() {
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
