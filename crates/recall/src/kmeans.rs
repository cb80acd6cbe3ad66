//! Spherical k-means on a sample of rows (Dhillon and Modha 2001), for `inverted_lists`.
//!
//! A row is one vector of int8 values, stored as [`CodeBlock`]s of 64 values. The rows nearest to a
//! centroid form its *list*. Rows are compared by dot product, and a centroid is the mean direction of
//! its rows, quantised like a row. Sums are integers, so the result does not depend on the number of
//! threads. `width` is the number of blocks per row throughout this file.
//!
//! ```text
//! train_centroids(codes, 2 lists)   → 2 centroids
//! assign_centroids(rows 0 to 4)     → [0, 1, 0, 0, 1]: the list of each row
//! ```

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use model::CpuLevel;

use crate::quantized_vectors::{NO_SLOT, QuantizedVectors};
use crate::simd::{self, BLOCK_LEN, CodeBlock};

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

    // Copy a sample of the live rows.
    let live_rows: Vec<usize> =
        (0..codes.slot_of.len()).filter(|row| codes.slot_of[*row] != NO_SLOT).collect();
    let mut sample = Vec::new();
    for pick in sample_evenly(&mut random, live_rows.len(), n_lists * SAMPLE_ROWS_PER_CENTROID) {
        sample.extend_from_slice(&codes.blocks()[live_rows[pick] * width..][..width]);
    }
    let n_sample = sample.len() / width;
    let sample_row = |it: usize| &sample[it * width..][..width];

    // Start with centroids that are rows of the sample.
    let mut centroids = Vec::new();
    for pick in sample_evenly(&mut random, n_sample, n_lists) {
        centroids.extend_from_slice(sample_row(pick));
    }

    // Lloyd's iteration: assign every row to its nearest centroid, then recompute the centroids.
    let length = mean_length(&sample, n_sample);
    let mut list_of = vec![0; n_sample];
    for _ in 0..TRAINING_ROUNDS {
        assign_centroids(&mut list_of, &sample, &centroids, n_lists, threads);
        let sums = sum_by_list(&list_of, &sample, n_lists, threads);
        centroids.clear();
        for sum in sums.chunks(width * BLOCK_LEN) {
            if !push_mean(&mut centroids, sum, length) {
                // An empty list is reseeded with a random row.
                centroids.extend_from_slice(sample_row(random.next_below(n_sample)));
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
    let rows_per_thread = acc.len().div_ceil(threads.get()).max(1);
    // No centroids, or a model without dimensions: every row stays in list 0.
    if width == 0 {
        return;
    }
    thread::scope(|scope| {
        let parts = acc.chunks_mut(rows_per_thread).zip(rows.chunks(rows_per_thread * width));
        for (acc, rows) in parts {
            scope.spawn(move || {
                let (level, mut dots) = (CpuLevel::detect_best(), vec![0; n_lists]);
                for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(width)) {
                    simd::dot_rows(level, &mut dots, row, centroids);
                    let largest = dots.iter().copied().max();
                    let list = dots.iter().position(|it| Some(*it) == largest).unwrap_or(0);
                    *acc = u32::try_from(list).expect("there are fewer lists than rows");
                }
            });
        }
    });
}

/// Sums the rows of each list, value by value: `width * BLOCK_LEN` sums per list.
fn sum_by_list(
    list_of: &[u32],
    rows: &[CodeBlock],
    n_lists: usize,
    threads: NonZero<usize>,
) -> Vec<i32> {
    let width = rows.len() / list_of.len().max(1);
    let values_per_row = width * BLOCK_LEN;
    let rows_per_thread = list_of.len().div_ceil(threads.get()).max(1);
    let sum_range = |range: Range<usize>| {
        let mut sums = vec![0_i32; n_lists * values_per_row];
        for row in range {
            let list_sums = &mut sums[list_of[row] as usize * values_per_row..][..values_per_row];
            let blocks = &rows[row * width..][..width];
            for (acc, block) in list_sums.chunks_exact_mut(BLOCK_LEN).zip(blocks) {
                for (acc, value) in acc.iter_mut().zip(block.values()) {
                    *acc += i32::from(*value);
                }
            }
        }
        sums
    };
    // Each thread sums its own range of rows; the partial sums are added at the end.
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for from in (0..list_of.len()).step_by(rows_per_thread) {
            let range = from..(from + rows_per_thread).min(list_of.len());
            handles.push(scope.spawn(move || sum_range(range)));
        }
        let mut res = vec![0_i32; n_lists * values_per_row];
        for handle in handles {
            let partial = handle.join().expect("adding up does not panic");
            for (acc, value) in res.iter_mut().zip(partial) {
                *acc += value;
            }
        }
        res
    })
}

/// Appends the direction of `sum`, quantised at `length`; false if it has none, as in an empty list.
fn push_mean(acc: &mut Vec<CodeBlock>, sum: &[i32], length: f64) -> bool {
    let sum_length = sum.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    if sum_length == 0.0 {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
    let quantize =
        |it: &i32| (f64::from(*it) / sum_length * length).round().clamp(-127.0, 127.0) as i8;
    let code: Vec<i8> = sum.iter().map(quantize).collect();
    simd::append_blocks(acc, &code);
    true
}

/// Root mean square of the lengths of the rows.
fn mean_length(rows: &[CodeBlock], n_rows: usize) -> f64 {
    let values = rows.iter().flat_map(|it| *it.values());
    let squares: f64 = values.map(|it| f64::from(it).powi(2)).sum();
    let n_rows = u32::try_from(n_rows).map_or(f64::MAX, f64::from);
    (squares / n_rows.max(1.0)).sqrt()
}

/// Stratified sample of `wanted` of `n` indexes: one at random from each of equal intervals.
fn sample_evenly(random: &mut SplitMix64, n: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(n);
    let mut picks = Vec::with_capacity(wanted);
    for i in 0..wanted {
        let (from, until) = (n * i / wanted, n * (i + 1) / wanted);
        picks.push(from + random.next_below(until - from));
    }
    picks
}

/// `SplitMix64` (Steele et al. 2014), so that a seed gives the same lists on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next_below(&mut self, n: usize) -> usize {
        // The constants and shifts of the published generator.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // Scales the 64 bits, read as a fraction of 2⁶⁴, to `n`.
        let scaled = (u128::from(bits) * n as u128) >> 64;
        usize::try_from(scaled).expect("a fraction of `n` is below `n`")
    }
}
