//! Splits texts into batches, one per request, within the limits of each API. With at most 3 texts and
//! 100 bytes per request, texts of 60, 40, 1, 99 and 2 bytes become the batches 60 + 40, 1 + 99 and 2.

use std::ops::Range;

use super::EmbeddingApi;

/// Limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchLimits {
    pub(super) max_texts: usize,
    /// Bytes of all texts of a request together. An API limits tokens. A token has at least one byte,
    /// so a text never has more tokens than bytes, and tokens need not be counted.
    pub(super) max_bytes: usize,
    /// Bytes of one text; the rest is cut, because some servers would reject it.
    pub(super) bytes_per_text: usize,
}

#[rustfmt::skip]
pub(super) const fn batch_limits(api: EmbeddingApi) -> BatchLimits {
    match api {
        //                                                                 texts  bytes    bytes per text
        // Ten thousand tokens take a CPU half a minute; TEI accepts 32 texts by default.
        EmbeddingApi::Ollama | EmbeddingApi::Compatible => batch_limits_row(  32,  32_000, 16_000),
        // Documented: 2,048 texts, 300,000 tokens, 8,192 tokens per text. Ours are lower, as a margin;
        // a text of 16,000 bytes rarely has more than 8,000 tokens.
        EmbeddingApi::OpenAi                            => batch_limits_row( 512, 250_000, 16_000),
        // Documented: 120,000 tokens for the strictest model.
        EmbeddingApi::Voyage                            => batch_limits_row( 128, 120_000, 16_000),
    }
}

const fn batch_limits_row(
    max_texts: usize,
    max_bytes: usize,
    bytes_per_text: usize,
) -> BatchLimits {
    // Texts are truncated to `bytes_per_text` before they are split into batches.
    assert!(max_texts > 0 && bytes_per_text <= max_bytes, "one text fits into a request");
    BatchLimits { max_texts, max_bytes, bytes_per_text }
}

/// Ranges of consecutive texts, given their lengths in bytes, that fit into one request each.
pub(super) fn split_batches(lengths: &[usize], limits: BatchLimits) -> Vec<Range<usize>> {
    let mut acc = Vec::new();
    // First text and bytes of the current batch.
    let (mut start, mut n_bytes) = (0, 0);
    for (i, length) in lengths.iter().enumerate() {
        let is_full = i - start == limits.max_texts || n_bytes + length > limits.max_bytes;
        // A batch has at least one text: a truncated text always fits into a request alone.
        if i > start && is_full {
            acc.push(start..i);
            (start, n_bytes) = (i, 0);
        }
        n_bytes += length;
    }
    if start < lengths.len() {
        acc.push(start..lengths.len());
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the batches of texts of these lengths, 3 texts and 100 bytes per request at most.
    fn check(lengths: &[usize], expect: Expect) {
        let limits = batch_limits_row(3, 100, 100);
        expect.assert_eq(&format!("{:?}", split_batches(lengths, limits)));
    }

    #[test]
    fn requests_are_filled_up_to_their_limits() {
        check(&[], expect!["[]"]);
        check(&[100], expect!["[0..1]"]);
        check(&[1, 1, 1, 1], expect!["[0..3, 3..4]"]);
        check(&[60, 40, 1, 99, 2], expect!["[0..2, 2..4, 4..5]"]);
    }
}
