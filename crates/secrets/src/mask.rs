//! Hides what is already redacted, so that a second look finds nothing there.

use std::borrow::Cow;

use crate::bytes::OPAQUE;
use crate::kind;

/// How a redaction opens; the kind and `]` follow.
pub(crate) const OPEN: &str = "[REDACTED: ";

/// Longest slug that is looked for behind `OPEN`.
const SLUG: usize = 40;

/// The bytes of a text with every redaction in it made opaque.
pub(crate) fn mask(text: &str) -> Cow<'_, [u8]> {
    let mut acc = Cow::Borrowed(text.as_bytes());
    for (start, _) in text.match_indices(OPEN) {
        let slug = start + OPEN.len();
        let window = &text.as_bytes()[slug..text.len().min(slug + SLUG)];
        let Some(len) = window.iter().position(|it| *it == b']') else { continue };
        // Only our own kinds count: anything else in such brackets is ordinary text.
        if std::str::from_utf8(&window[..len]).is_ok_and(|it| kind::rank(it).is_some()) {
            acc.to_mut()[start..=slug + len].fill(OPAQUE);
        }
    }
    acc
}
