//! Spherical k-means on a sample of rows (Dhillon and Modha 2001); centroids are quantised like rows.
//!
//! Sums are integers, so the result does not depend on the number of threads.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use crate::quantized_vectors::{NO_ROW, QuantizedVectors};
use crate::simd::{self, BLOCK_LEN, CodeBlock, SimdLevel};

/// Sample size per centroid; larger samples hardly improve recall.
const SAMPLE_ROWS_PER_CENTROID: usize = 32;

/// Training rounds; later ones move few rows.
const TRAINING_ROUNDS: usize = 5;

/// Trains centroids, scaled to the mean length of the rows so that dot products are comparable.
pub(crate) fn train_centroids(
    codes: &QuantizedVectors,
    n_lists: usize,
    seed: u64,
    threads: NonZero<usize>,
) -> Vec<CodeBlock> {
    let mut random = SplitMix64(seed);
    let width = codes.blocks_per_row();
    if width == 0 || n_lists == 0 {
        return Vec::new();
    }
    let live: Vec<usize> =
        (0..codes.slot_of.len()).filter(|row| codes.slot_of[*row] != NO_ROW).collect();
    let mut sample = Vec::new();
    for pick in sample_evenly(&mut random, live.len(), n_lists * SAMPLE_ROWS_PER_CENTROID) {
        sample.extend_from_slice(&codes.blocks()[live[pick] * width..][..width]);
    }
    let n_sample = sample.len() / width;
    let row = |it: usize| &sample[it * width..][..width];
    let mut centroids = Vec::new();
    for pick in sample_evenly(&mut random, n_sample, n_lists) {
        centroids.extend_from_slice(row(pick));
    }
    let length = mean_length(&sample, n_sample);
    let mut list_of = vec![0; n_sample];
    for _ in 0..TRAINING_ROUNDS {
        assign_centroids(&mut list_of, &sample, &centroids, n_lists, threads);
        let sums = sum_by_list(&list_of, &sample, n_lists, threads);
        centroids.clear();
        for sum in sums.chunks(width * BLOCK_LEN) {
            if !push_mean(&mut centroids, sum, length) {
                // An empty list is reseeded with a random row.
                centroids.extend_from_slice(row(random.next_below(n_sample)));
            }
        }
    }
    centroids
}

/// Assigns every row to the centroid with the largest dot product; ties go to the first.
pub(crate) fn assign_centroids(
    acc: &mut [u32],
    rows: &[CodeBlock],
    centroids: &[CodeBlock],
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
                let (level, mut dots) = (SimdLevel::detect_best(), vec![0; n_lists]);
                for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(width)) {
                    simd::dot_rows(level, &mut dots, row, centroids);
                    let most = dots.iter().copied().max();
                    let list = dots.iter().position(|it| Some(*it) == most).unwrap_or(0);
                    *acc = u32::try_from(list).expect("there are fewer lists than rows");
                }
            });
        }
    });
}

/// Sums the rows of each list.
fn sum_by_list(
    list_of: &[u32],
    rows: &[CodeBlock],
    n_lists: usize,
    threads: NonZero<usize>,
) -> Vec<i32> {
    let width = rows.len() / list_of.len().max(1);
    let n_part = list_of.len().div_ceil(threads.get()).max(1);
    let part = |range: Range<usize>| {
        let mut acc = vec![0_i32; n_lists * width * BLOCK_LEN];
        for row in range {
            let acc = &mut acc[list_of[row] as usize * width * BLOCK_LEN..][..width * BLOCK_LEN];
            let blocks = &rows[row * width..][..width];
            for (acc, block) in acc.chunks_exact_mut(BLOCK_LEN).zip(blocks) {
                for (acc, number) in acc.iter_mut().zip(block.values()) {
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
        let mut res = vec![0_i32; n_lists * width * BLOCK_LEN];
        for part in parts {
            let part = part.join().expect("adding up does not panic");
            for (acc, number) in res.iter_mut().zip(part) {
                *acc += number;
            }
        }
        res
    })
}

/// Appends the quantised mean direction of a list; false if the list is empty.
fn push_mean(acc: &mut Vec<CodeBlock>, sum: &[i32], length: f64) -> bool {
    let own = sum.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    if own == 0.0 {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
    let number = |it: &i32| (f64::from(*it) / own * length).round().clamp(-127.0, 127.0) as i8;
    let code: Vec<i8> = sum.iter().map(number).collect();
    simd::append_blocks(acc, &code);
    true
}

fn mean_length(rows: &[CodeBlock], n_rows: usize) -> f64 {
    let numbers = rows.iter().flat_map(|it| *it.values());
    let squares: f64 = numbers.map(|it| f64::from(it).powi(2)).sum();
    let n_rows = u32::try_from(n_rows).map_or(f64::MAX, f64::from);
    (squares / n_rows.max(1.0)).sqrt()
}

/// Stratified sample of `wanted` of `n` indexes: one at random from each of equal intervals.
fn sample_evenly(random: &mut SplitMix64, n: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(n);
    (0..wanted)
        .map(|i| {
            let (from, until) = (n * i / wanted, n * (i + 1) / wanted);
            from + random.next_below(until - from)
        })
        .collect()
}

/// `SplitMix64` (Steele et al. 2014), so that a seed gives the same lists on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next_below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let share = (u128::from(bits) * n as u128) >> 64;
        usize::try_from(share).expect("a share of `n` is below `n`")
    }
}
