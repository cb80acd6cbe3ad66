//! Spreads texts over threads, in loads that are worth a thread's while.
//!
//! Texts are not sorted by length: nothing is padded, so neighbours of different lengths cost nothing.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::encoder::{Desk, Encoder};

/// Tokens that go through the network together, unless one text alone has more.
const LOAD: usize = 128;

/// How many threads work at this moment, over all callers. It bounds the memory that desks take.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) limit: usize,
    pub(crate) taken: AtomicUsize,
}

/// A seat that is given back when dropped.
struct Seat<'a>(&'a Places);

impl Places {
    /// A caller works with its own thread in any case: waiting for others could only be slower.
    fn insist(&self) -> Seat<'_> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        Seat(self)
    }

    fn ask(&self) -> Option<Seat<'_>> {
        let more = |taken| (taken < self.limit).then_some(taken + 1);
        let asked = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        asked.is_ok().then(|| Seat(self))
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The vectors of all texts, in their order.
pub(crate) fn encode(encoder: &Encoder, places: &Places, texts: &[Vec<u16>]) -> Vec<Vec<f32>> {
    let loads = loads(texts);
    let next = AtomicUsize::new(0);
    let work = |seat: Seat<'_>| {
        let mut desk = Desk::default();
        let mut acc = Vec::new();
        while let Some(load) = loads.get(next.fetch_add(1, Ordering::Relaxed)) {
            let texts: Vec<&[u16]> = texts[load.clone()].iter().map(Vec::as_slice).collect();
            acc.push((load.start, encoder.encode(&mut desk, &texts)));
        }
        drop(seat);
        acc
    };
    let mut done = thread::scope(|scope| {
        let own = places.insist();
        let seats = (1..loads.len()).map_while(|_| places.ask());
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

fn loads(texts: &[Vec<u16>]) -> Vec<Range<usize>> {
    let mut acc = Vec::new();
    let (mut start, mut n_tokens) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        if i > start && n_tokens + text.len() > LOAD {
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
        expect.assert_eq(&format!("{:?}", loads(&texts)));
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
        let places = Places { limit: 2, taken: AtomicUsize::new(0) };
        let own = places.insist();
        let other = places.ask();
        assert!(other.is_some());
        assert!(places.ask().is_none());
        let third = places.insist();
        drop((own, other, third));
        assert_eq!(places.taken.into_inner(), 0);
    }
}
