//! Centroids of rows, by k-means on a sample, as codes themselves.
//!
//! Sums are of integers, so the result does not depend on how many threads share the work.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use crate::codes::{Codes, NONE};
use crate::simd::{self, BLOCK, Block, Level};

/// Rows of the sample per centroid; more finds hardly more and takes longer.
const SAMPLE: usize = 32;

/// Rounds of the sample; later ones move few rows.
const ROUNDS: usize = 5;

/// Chooses centroids, each as long as the rows are on average, so that products with them compare.
pub(crate) fn train(
    codes: &Codes,
    n_lists: usize,
    seed: u64,
    threads: NonZero<usize>,
) -> Vec<Block> {
    let mut random = Random(seed);
    let width = codes.width();
    if width == 0 || n_lists == 0 {
        return Vec::new();
    }
    let live: Vec<usize> =
        (0..codes.slot_of.len()).filter(|row| codes.slot_of[*row] != NONE).collect();
    let mut sample = Vec::new();
    for pick in spread(&mut random, live.len(), n_lists * SAMPLE) {
        sample.extend_from_slice(&codes.blocks()[live[pick] * width..][..width]);
    }
    let n_sample = sample.len() / width;
    let row = |it: usize| &sample[it * width..][..width];
    let mut centroids = Vec::new();
    for pick in spread(&mut random, n_sample, n_lists) {
        centroids.extend_from_slice(row(pick));
    }
    let length = mean_length(&sample, n_sample);
    let mut list_of = vec![0; n_sample];
    for _ in 0..ROUNDS {
        assign(&mut list_of, &sample, &centroids, n_lists, threads);
        let sums = sums(&list_of, &sample, n_lists, threads);
        centroids.clear();
        for sum in sums.chunks(width * BLOCK) {
            if !push_mean(&mut centroids, sum, length) {
                // Nobody is near it: it begins again elsewhere.
                centroids.extend_from_slice(row(random.below(n_sample)));
            }
        }
    }
    centroids
}

/// Finds the centroid of the largest product for every row; the first of equals.
pub(crate) fn assign(
    acc: &mut [u32],
    rows: &[Block],
    centroids: &[Block],
    n_lists: usize,
    threads: NonZero<usize>,
) {
    let width = centroids.len() / n_lists.max(1);
    let n_part = acc.len().div_ceil(threads.get()).max(1);
    if width == 0 {
        return;
    }
    thread::scope(|scope| {
        for (acc, rows) in acc.chunks_mut(n_part).zip(rows.chunks(n_part * width)) {
            scope.spawn(move || {
                let (level, mut dots) = (Level::best(), vec![0; n_lists]);
                for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(width)) {
                    simd::dots(level, &mut dots, row, centroids);
                    let most = dots.iter().copied().max();
                    let list = dots.iter().position(|it| Some(*it) == most).unwrap_or(0);
                    *acc = u32::try_from(list).expect("there are fewer lists than rows");
                }
            });
        }
    });
}

/// Adds up the rows of each list.
fn sums(list_of: &[u32], rows: &[Block], n_lists: usize, threads: NonZero<usize>) -> Vec<i32> {
    let width = rows.len() / list_of.len().max(1);
    let n_part = list_of.len().div_ceil(threads.get()).max(1);
    let part = |range: Range<usize>| {
        let mut acc = vec![0_i32; n_lists * width * BLOCK];
        for row in range {
            let acc = &mut acc[list_of[row] as usize * width * BLOCK..][..width * BLOCK];
            let blocks = &rows[row * width..][..width];
            for (acc, block) in acc.chunks_exact_mut(BLOCK).zip(blocks) {
                for (acc, number) in acc.iter_mut().zip(block.numbers()) {
                    *acc += i32::from(*number);
                }
            }
        }
        acc
    };
    thread::scope(|scope| {
        let starts = (0..list_of.len()).step_by(n_part);
        let parts: Vec<_> = starts
            .map(|from| scope.spawn(move || part(from..(from + n_part).min(list_of.len()))))
            .collect();
        let mut res = vec![0_i32; n_lists * width * BLOCK];
        for part in parts {
            let part = part.join().expect("adding up does not panic");
            for (acc, number) in res.iter_mut().zip(part) {
                *acc += number;
            }
        }
        res
    })
}

/// Appends the mean direction of a list as a code; false when the list is empty.
fn push_mean(acc: &mut Vec<Block>, sum: &[i32], length: f64) -> bool {
    let own = sum.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    if own == 0.0 {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
    let number = |it: &i32| (f64::from(*it) / own * length).round().clamp(-127.0, 127.0) as i8;
    let code: Vec<i8> = sum.iter().map(number).collect();
    simd::lay_out(acc, &code);
    true
}

fn mean_length(rows: &[Block], n_rows: usize) -> f64 {
    let numbers = rows.iter().flat_map(|it| *it.numbers());
    let squares: f64 = numbers.map(|it| f64::from(it).powi(2)).sum();
    let n_rows = u32::try_from(n_rows).map_or(f64::MAX, f64::from);
    (squares / n_rows.max(1.0)).sqrt()
}

/// Picks `wanted` of `n` numbers, one at random from each of as many equal stretches.
fn spread(random: &mut Random, n: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(n);
    (0..wanted)
        .map(|i| {
            let (from, until) = (n * i / wanted, n * (i + 1) / wanted);
            from + random.below(until - from)
        })
        .collect()
}

/// A small generator (splitmix64), so that a seed gives the same lists on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let share = (u128::from(bits) * n as u128) >> 64;
        usize::try_from(share).expect("a share of `n` is below `n`")
    }
}
