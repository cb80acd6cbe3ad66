//! Distributes texts over threads in loads of a useful size.
//!
//! Texts are not sorted by length: nothing is padded, so neighbours of different lengths cost nothing.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::encoder::{EncoderScratch, TransformerEncoder};

/// Tokens encoded together, unless a single text has more.
const TOKENS_PER_LOAD: usize = 128;

/// Counts working threads over all callers, which bounds the memory of scratch buffers.
#[derive(Debug)]
pub(crate) struct ThreadPermits {
    pub(crate) limit: usize,
    pub(crate) taken: AtomicUsize,
}

/// A permit that is returned on drop.
struct ThreadPermit<'a>(&'a ThreadPermits);

impl ThreadPermits {
    /// The caller always works on its own thread; waiting for others could only be slower.
    fn acquire_always(&self) -> ThreadPermit<'_> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        ThreadPermit(self)
    }

    fn try_acquire(&self) -> Option<ThreadPermit<'_>> {
        let more = |taken| (taken < self.limit).then_some(taken + 1);
        let asked = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        asked.is_ok().then(|| ThreadPermit(self))
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
    places: &ThreadPermits,
    texts: &[Vec<u16>],
) -> Vec<Vec<f32>> {
    let loads = split_loads(texts);
    let next = AtomicUsize::new(0);
    let work = |seat: ThreadPermit<'_>| {
        let mut scratch = EncoderScratch::default();
        let mut acc = Vec::new();
        while let Some(load) = loads.get(next.fetch_add(1, Ordering::Relaxed)) {
            let texts: Vec<&[u16]> = texts[load.clone()].iter().map(Vec::as_slice).collect();
            acc.push((load.start, encoder.encode(&mut scratch, &texts)));
        }
        drop(seat);
        acc
    };
    let mut done = thread::scope(|scope| {
        let own = places.acquire_always();
        let seats = (1..loads.len()).map_while(|_| places.try_acquire());
        let others: Vec<_> = seats.map(|it| scope.spawn(|| work(it))).collect();
        let mut acc = work(own);
        for it in others {
            acc.extend(it.join().expect("encoding does not panic"));
        }
        acc
    });
    done.sort_unstable_by_key(|(start, _)| *start);
    done.into_iter().flat_map(|(_, vectors)| vectors).collect()
}

fn split_loads(texts: &[Vec<u16>]) -> Vec<Range<usize>> {
    let mut acc = Vec::new();
    let (mut start, mut n_tokens) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        if i > start && n_tokens + text.len() > TOKENS_PER_LOAD {
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

    fn check(lengths: &[usize], expect: Expect) {
        let texts: Vec<Vec<u16>> = lengths.iter().map(|it| vec![0; *it]).collect();
        expect.assert_eq(&format!("{:?}", split_loads(&texts)));
    }

    #[test]
    fn loads_are_full_but_not_overfull() {
        check(&[], expect!["[]"]);
        check(&[512], expect!["[0..1]"]);
        check(&[64, 64, 1], expect!["[0..2, 2..3]"]);
        check(&[10, 512, 10, 10], expect!["[0..1, 1..2, 2..4]"]);
    }

    #[test]
    fn seats_are_limited_and_given_back() {
        let places = ThreadPermits { limit: 2, taken: AtomicUsize::new(0) };
        let own = places.acquire_always();
        let other = places.try_acquire();
        assert!(other.is_some());
        assert!(places.try_acquire().is_none());
        let third = places.acquire_always();
        drop((own, other, third));
        assert_eq!(places.taken.into_inner(), 0);
    }
}
