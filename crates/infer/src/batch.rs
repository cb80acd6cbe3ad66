//! Encodes many texts with the built-in model on several threads.
//!
//! The texts are split into chunks of about the same number of tokens; threads take chunks from a
//! shared counter until none is left. Texts are not sorted by length: nothing is padded, so
//! neighbours of different lengths cost nothing.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::encoder::{EncoderScratch, TransformerEncoder};

/// Tokens encoded together, unless a single text has more. Enough to reuse each weight, few enough to
/// balance the load of the threads.
const TOKENS_PER_CHUNK: usize = 128;

/// Counts working threads over all callers, which bounds the memory of scratch buffers.
#[derive(Debug)]
pub(crate) struct ThreadPermits {
    pub(crate) limit: usize,
    pub(crate) taken: AtomicUsize,
}

/// A permit to work on one thread; returned on drop.
struct ThreadPermit<'a>(&'a ThreadPermits);

impl ThreadPermits {
    /// The caller always works on its own thread; waiting for others could only be slower.
    fn acquire_always(&self) -> ThreadPermit<'_> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        ThreadPermit(self)
    }

    /// A permit for a further thread, if the limit allows one.
    fn try_acquire(&self) -> Option<ThreadPermit<'_>> {
        let increment = |taken| (taken < self.limit).then_some(taken + 1);
        let updated = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increment);
        updated.is_ok().then(|| ThreadPermit(self))
    }
}

impl Drop for ThreadPermit<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The vectors of all texts, in their order.
pub(crate) fn encode_batch(
    encoder: &TransformerEncoder,
    permits: &ThreadPermits,
    texts: &[Vec<u16>],
) -> Vec<Vec<f32>> {
    let chunks = split_chunks(texts);
    let next_chunk = AtomicUsize::new(0);
    // Encodes chunks until none is left; results carry the index of their first text.
    let encode_chunks = |permit: ThreadPermit<'_>| {
        let mut scratch = EncoderScratch::default();
        let mut acc = Vec::new();
        while let Some(chunk) = chunks.get(next_chunk.fetch_add(1, Ordering::Relaxed)) {
            let texts: Vec<&[u16]> = texts[chunk.clone()].iter().map(Vec::as_slice).collect();
            acc.push((chunk.start, encoder.encode(&mut scratch, &texts)));
        }
        drop(permit);
        acc
    };
    let mut results = thread::scope(|scope| {
        let own_permit = permits.acquire_always();
        // One further thread for each further chunk, as far as permits allow.
        let further_permits = (1..chunks.len()).map_while(|_| permits.try_acquire());
        let threads: Vec<_> = further_permits.map(|it| scope.spawn(|| encode_chunks(it))).collect();
        let mut acc = encode_chunks(own_permit);
        for thread in threads {
            acc.extend(thread.join().expect("encoding does not panic"));
        }
        acc
    });
    // Threads finish in any order.
    results.sort_unstable_by_key(|(start, _)| *start);
    results.into_iter().flat_map(|(_, vectors)| vectors).collect()
}

/// Ranges of consecutive texts with at most `TOKENS_PER_CHUNK` tokens, or one longer text.
fn split_chunks(texts: &[Vec<u16>]) -> Vec<Range<usize>> {
    let mut acc = Vec::new();
    let (mut start, mut n_tokens) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        if i > start && n_tokens + text.len() > TOKENS_PER_CHUNK {
            acc.push(start..i);
            (start, n_tokens) = (i, 0);
        }
        n_tokens += text.len();
    }
    if start < texts.len() {
        acc.push(start..texts.len());
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the chunks of texts with these numbers of tokens.
    fn check(lengths: &[usize], expect: Expect) {
        let texts: Vec<Vec<u16>> = lengths.iter().map(|it| vec![0; *it]).collect();
        expect.assert_eq(&format!("{:?}", split_chunks(&texts)));
    }

    #[test]
    fn chunks_are_filled_up_to_their_limit() {
        check(&[], expect!["[]"]);
        check(&[512], expect!["[0..1]"]);
        check(&[64, 64, 1], expect!["[0..2, 2..3]"]);
        check(&[10, 512, 10, 10], expect!["[0..1, 1..2, 2..4]"]);
    }

    #[test]
    fn permits_are_limited_and_returned() {
        let permits = ThreadPermits { limit: 2, taken: AtomicUsize::new(0) };
        let own = permits.acquire_always();
        let second = permits.try_acquire();
        assert!(second.is_some());
        assert!(permits.try_acquire().is_none());
        let beyond_limit = permits.acquire_always();
        drop((own, second, beyond_limit));
        assert_eq!(permits.taken.into_inner(), 0);
    }
}
