//! Hides text that is already redacted, so that a second scan finds nothing in it.

use std::borrow::Cow;

use crate::bytes::OPAQUE_BYTE;
use crate::kind;

/// Beginning of a redaction; the kind and `]` follow.
pub(crate) const REDACTION_START: &str = "[REDACTED: ";

/// Longest slug searched for after the beginning.
const MAX_SLUG_BYTES: usize = 40;

/// The bytes of a text with all of its redactions made opaque.
pub(crate) fn mask_redactions(text: &str) -> Cow<'_, [u8]> {
    let mut acc = Cow::Borrowed(text.as_bytes());
    for (start, _) in text.match_indices(REDACTION_START) {
        let slug_start = start + REDACTION_START.len();
        let window = &text.as_bytes()[slug_start..text.len().min(slug_start + MAX_SLUG_BYTES)];
        // Without a closing bracket it is no redaction of ours.
        let Some(slug_len) = window.iter().position(|it| *it == b']') else { continue };
        // Only kinds of ours count: anything else in such brackets is ordinary text.
        if std::str::from_utf8(&window[..slug_len]).is_ok_and(|it| kind::kind_rank(it).is_some()) {
            acc.to_mut()[start..=slug_start + slug_len].fill(OPAQUE_BYTE);
        }
    }
    acc
}
