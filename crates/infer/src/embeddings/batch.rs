//! Batch limits of embedding requests.

use std::ops::Range;

use super::EmbeddingApi;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchLimits {
    pub(super) texts: usize,
    /// Of all texts of a request together. No token is shorter than a byte, so a limit of tokens
    /// holds without counting them.
    pub(super) bytes: usize,
    /// Bytes of one text; the rest is cut, because some servers would reject it.
    pub(super) text: usize,
}

#[rustfmt::skip]
pub(super) const fn batch_limits(api: EmbeddingApi) -> BatchLimits {
    match api {
        //                                             texts  bytes    text
        // Ten thousand tokens take a processor half a minute; TEI takes 32 texts unless told otherwise.
        EmbeddingApi::Ollama | EmbeddingApi::Compatible => batch_limits_row(   32,  32_000, 16_000),
        // 2,048 texts, 300,000 tokens, 8,192 a text.
        EmbeddingApi::OpenAi                    => batch_limits_row(  512, 250_000, 16_000),
        // 120,000 tokens for the strictest model.
        EmbeddingApi::Voyage                    => batch_limits_row(  128, 120_000, 16_000),
    }
}

const fn batch_limits_row(texts: usize, bytes: usize, text: usize) -> BatchLimits {
    assert!(texts > 0 && text <= bytes, "one text fits into a request");
    BatchLimits { texts, bytes, text }
}

/// Splits texts into batches, in order.
pub(super) fn split_batches(lengths: &[usize], portion: BatchLimits) -> Vec<Range<usize>> {
    let mut acc = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (i, length) in lengths.iter().enumerate() {
        if i > start && (i - start == portion.texts || bytes + length > portion.bytes) {
            acc.push(start..i);
            (start, bytes) = (i, 0);
        }
        bytes += length;
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

    fn check(lengths: &[usize], expect: Expect) {
        let portion = batch_limits_row(3, 100, 100);
        expect.assert_eq(&format!("{:?}", split_batches(lengths, portion)));
    }

    #[test]
    fn requests_are_full_but_not_overfull() {
        check(&[], expect!["[]"]);
        check(&[100], expect!["[0..1]"]);
        check(&[1, 1, 1, 1], expect!["[0..3, 3..4]"]);
        check(&[60, 40, 1, 99, 2], expect!["[0..2, 2..4, 4..5]"]);
    }
}
