//! Dot products of int8 vectors with the widest instructions of the processor.
//!
//! Used by `nearest_slots` for queries and by `kmeans` for clustering. One kernel per instruction set
//! computes a query against a few rows at a time; `dot_rows_where` chooses the kernel. With vectors of
//! two values, padded to one block each:
//!
//! ```text
//! query [3, -1]   rows [2, 5], [1, 0], [0, 7]
//! dot_rows          → [1, 3, -7]        3 × 2 − 1 × 5 = 1
//! dot_picked_rows   → [-7, 1]           for the picks 2 and 0
//! ```
//!
//! The only `unsafe` module of this crate. A [`CpuLevel`] exists only for a detected instruction set,
//! so a kernel is called only on a processor that has its features; pointers come from blocks of
//! exactly the size that is read.
//!
//! Every instruction set gives the same result. Products are summed as integers, and blocks never
//! hold −128, the one value that cannot be negated.
#![expect(unsafe_code, reason = "intrinsics and calls into functions with detected features")]

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{
    int32x4_t, vaddvq_s32, vdupq_n_s32, vget_low_s8, vld1q_s8, vmull_high_s8, vmull_s8, vpadalq_s16,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, __m512i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_abs_epi8,
    _mm256_add_epi32, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_load_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_setzero_si256,
    _mm256_sign_epi8, _mm512_castsi512_si256, _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64,
    _mm512_load_si512, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_xor_si512,
};

use model::{CpuLevel, InstructionSet};

/// Values per block: one cache line and one AVX-512 register.
pub(crate) const BLOCK_LEN: usize = 64;

/// Rows accumulated in registers together, so that each load of the query serves four rows.
const ROWS_PER_BATCH: usize = 4;

/// Sixty-four values of a code, none of them −128. Only [`append_blocks`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct CodeBlock([i8; BLOCK_LEN]);

impl CodeBlock {
    pub(crate) const fn values(&self) -> &[i8; BLOCK_LEN] {
        &self.0
    }
}

/// Appends a code as blocks, padded with zeros, which do not change a dot product.
pub(crate) fn append_blocks(acc: &mut Vec<CodeBlock>, code: &[i8]) {
    for values in code.chunks(BLOCK_LEN) {
        let mut block = [0; BLOCK_LEN];
        for (to, from) in block.iter_mut().zip(values) {
            // −128 becomes −127.
            *to = (*from).max(-i8::MAX);
        }
        acc.push(CodeBlock(block));
    }
}

/// Appends the values of blocks as bytes.
pub(crate) fn append_block_bytes(acc: &mut Vec<u8>, blocks: &[CodeBlock]) {
    for block in blocks {
        acc.extend(block.0.iter().map(|it| it.cast_unsigned()));
    }
}

/// Makes blocks of the bytes of [`append_block_bytes`]; an incomplete block at the end is left out.
pub(crate) fn blocks_from_bytes(bytes: &[u8]) -> Vec<CodeBlock> {
    let (chunks, _) = bytes.as_chunks::<BLOCK_LEN>();
    let mut blocks = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        // A loop, because `map` of an array is not vectorised and took a third of the loading.
        let mut block = [0; BLOCK_LEN];
        for (to, from) in block.iter_mut().zip(chunk) {
            // −128 becomes −127, whatever the bytes are: the kernels rely on it.
            *to = from.cast_signed().max(-i8::MAX);
        }
        blocks.push(CodeBlock(block));
    }
    blocks
}

/// Dot products of a query with consecutive rows, one for each element of `acc`.
pub(crate) fn dot_rows(level: CpuLevel, acc: &mut [i32], query: &[CodeBlock], rows: &[CodeBlock]) {
    assert_eq!(rows.len(), acc.len() * query.len(), "every place of `acc` has its row");
    dot_rows_where(level, acc, query, rows, |i| i);
}

/// Dot products of a query with the picked rows.
pub(crate) fn dot_picked_rows(
    level: CpuLevel,
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    picks: &[u32],
) {
    assert_eq!(picks.len(), acc.len(), "every place of `acc` has its row");
    dot_rows_where(level, acc, query, rows, |i| picks[i] as usize);
}

/// Dot products of a query with the rows that `row_of` gives for the places of `acc`, by the kernel
/// of the level.
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that each use is a loop of its own")]
fn dot_rows_where(
    level: CpuLevel,
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    row_of: impl Fn(usize) -> usize,
) {
    match level.instruction_set() {
        InstructionSet::Portable => dot_rows_portable(acc, query, rows, row_of),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level is only made when its features were detected.
        InstructionSet::Avx2 => unsafe { dot_rows_avx2(acc, query, rows, row_of) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        InstructionSet::Avx512Vnni => unsafe { dot_rows_vnni(acc, query, rows, row_of) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        InstructionSet::Neon => unsafe { dot_rows_neon(acc, query, rows, row_of) },
    }
}

fn dot_rows_portable(
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    row_of: impl Fn(usize) -> usize,
) {
    for (i, acc) in acc.iter_mut().enumerate() {
        let row = &rows[row_of(i) * query.len()..][..query.len()];
        *acc = 0;
        for (query, row) in query.iter().zip(row) {
            let products = query.0.iter().zip(&row.0).map(|(a, b)| i32::from(*a) * i32::from(*b));
            *acc += products.sum::<i32>();
        }
    }
}

/// The loop over rows for one instruction set: batches of `ROWS_PER_BATCH`, then single rows. A macro,
/// because a generic function would be compiled without the target features of its caller.
///
/// Index loops here and below: library iterators are compiled without the target features and would
/// remain calls where they are not inlined.
macro_rules! dot_in_batches {
    ($dot_batch:ident, $acc:ident, $query:ident, $rows:ident, $row_of:ident) => {{
        let row = |i: usize| &$rows[$row_of(i) * $query.len()..][..$query.len()];
        let (batches, rest) = $acc.as_chunks_mut::<ROWS_PER_BATCH>();
        let n_batched = batches.len() * ROWS_PER_BATCH;
        for (i, acc) in batches.iter_mut().enumerate() {
            let mut batch: [&[CodeBlock]; ROWS_PER_BATCH] = [&[]; ROWS_PER_BATCH];
            for r in 0..ROWS_PER_BATCH {
                batch[r] = row(i * ROWS_PER_BATCH + r);
            }
            *acc = $dot_batch::<ROWS_PER_BATCH>($query, batch);
        }
        for (i, acc) in rest.iter_mut().enumerate() {
            [*acc] = $dot_batch::<1>($query, [row(n_batched + i)]);
        }
    }};
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_rows_avx2(
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    row_of: impl Fn(usize) -> usize,
) {
    dot_in_batches!(dot_batch_avx2, acc, query, rows, row_of);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn dot_batch_avx2<const N: usize>(query: &[CodeBlock], rows: [&[CodeBlock]; N]) -> [i32; N] {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); N];
    for (i, query) in query.iter().enumerate() {
        for half in [0, BLOCK_LEN / 2] {
            // SAFETY: a block is two times thirty-two bytes and begins at a multiple of sixty-four.
            let load =
                |it: &CodeBlock| unsafe { _mm256_load_si256(it.0.as_ptr().add(half).cast()) };
            let query = load(query);
            // `maddubs` takes one unsigned operand, so the sign of the query moves to the row.
            let magnitude = _mm256_abs_epi8(query);
            for r in 0..N {
                let row = _mm256_sign_epi8(load(&rows[r][i]), query);
                // Two products of at most 127² each fit in sixteen bits.
                let pairs = _mm256_maddubs_epi16(magnitude, row);
                // Multiplying by one adds neighbouring pairs and widens them to 32 bits.
                sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    let mut res = [0; N];
    for r in 0..N {
        res[r] = sum_lanes_avx2(sums[r]);
    }
    res
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn sum_lanes_avx2(lanes: __m256i) -> i32 {
    // Eight lanes to four, two and one: each step adds the other half.
    let halves = [_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes)];
    let four = _mm_add_epi32(halves[0], halves[1]);
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b_01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b_10_11_00_01>(two)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vnni")]
fn dot_rows_vnni(
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    row_of: impl Fn(usize) -> usize,
) {
    let query_values = query.iter().flat_map(|it| it.0);
    let excess = query_values.map(i32::from).sum::<i32>().wrapping_mul(128);
    dot_in_batches!(dot_batch_vnni, acc, query, rows, row_of);
    // The batches are too large by `excess`, see `dot_batch_vnni`.
    for acc in acc {
        *acc = acc.wrapping_sub(excess);
    }
}

/// Adds 128 to every value of a row, because `dpbusd` takes one unsigned operand. The result is too
/// large by 128 times the sum of the query; the caller subtracts it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vnni")]
#[inline]
fn dot_batch_vnni<const N: usize>(query: &[CodeBlock], rows: [&[CodeBlock]; N]) -> [i32; N] {
    // Flipping the sign bit of a byte adds 128 to its signed value.
    let sign_bits = _mm512_set1_epi8(i8::MIN);
    let mut sums = [_mm512_setzero_si512(); N];
    for (i, query) in query.iter().enumerate() {
        // SAFETY: a block is sixty-four bytes and begins at a multiple of sixty-four.
        let load = |it: &CodeBlock| unsafe { _mm512_load_si512(it.0.as_ptr().cast()) };
        let query = load(query);
        for r in 0..N {
            let row = _mm512_xor_si512(load(&rows[r][i]), sign_bits);
            sums[r] = _mm512_dpbusd_epi32(sums[r], row, query);
        }
    }
    let mut res = [0; N];
    for r in 0..N {
        res[r] = sum_lanes_vnni(sums[r]);
    }
    res
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f")]
#[inline]
fn sum_lanes_vnni(lanes: __m512i) -> i32 {
    let halves = [_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes)];
    sum_lanes_avx2(_mm256_add_epi32(halves[0], halves[1]))
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn dot_rows_neon(
    acc: &mut [i32],
    query: &[CodeBlock],
    rows: &[CodeBlock],
    row_of: impl Fn(usize) -> usize,
) {
    dot_in_batches!(dot_batch_neon, acc, query, rows, row_of);
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
#[inline]
fn dot_batch_neon<const N: usize>(query: &[CodeBlock], rows: [&[CodeBlock]; N]) -> [i32; N] {
    let mut sums: [int32x4_t; N] = [vdupq_n_s32(0); N];
    for (i, query) in query.iter().enumerate() {
        for quarter in (0..BLOCK_LEN).step_by(16) {
            // SAFETY: a block is four times sixteen bytes.
            let load = |it: &CodeBlock| unsafe { vld1q_s8(it.0.as_ptr().add(quarter)) };
            let query = load(query);
            for r in 0..N {
                let row = load(&rows[r][i]);
                // Products of 16 bits; `vpadal` adds neighbours and widens them to 32 bits.
                let low = vmull_s8(vget_low_s8(query), vget_low_s8(row));
                let high = vmull_high_s8(query, row);
                sums[r] = vpadalq_s16(vpadalq_s16(sums[r], low), high);
            }
        }
    }
    let mut res = [0; N];
    for r in 0..N {
        res[r] = vaddvq_s32(sums[r]);
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_same_dot_products(
            dims in 0_usize..300,
            n_rows in 0_usize..20,
            values in prop::collection::vec(any::<i8>(), 300 * 20),
            query in prop::collection::vec(any::<i8>(), 300),
        ) {
            let row = |it: usize| &values[it * 300..][..dims];
            let (mut row_blocks, mut query_blocks) = (Vec::new(), Vec::new());
            append_blocks(&mut query_blocks, &query[..dims]);
            (0..n_rows).for_each(|it| append_blocks(&mut row_blocks, row(it)));

            // The expected products, of all rows and of every third one from the end.
            let plain_product = |row: &[i8]| -> i32 {
                let clamp = |it: &i8| i32::from(*it).max(-127);
                row.iter().zip(&query[..dims]).map(|(a, b)| clamp(a) * clamp(b)).sum()
            };
            let expected: Vec<i32> = (0..n_rows).map(|it| plain_product(row(it))).collect();
            let picks: Vec<u32> = (0..20).rev().step_by(3).filter(|it| (*it as usize) < n_rows).collect();
            let expected_picks: Vec<i32> = picks.iter().map(|it| expected[*it as usize]).collect();

            for level in CpuLevel::detect_available() {
                let mut acc = vec![-1; n_rows];
                dot_rows(level, &mut acc, &query_blocks, &row_blocks);
                prop_assert_eq!(&acc, &expected, "{:?}", level);
                let mut acc = vec![-1; picks.len()];
                dot_picked_rows(level, &mut acc, &query_blocks, &row_blocks, &picks);
                prop_assert_eq!(&acc, &expected_picks, "{:?}", level);
            }
        }
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        // −128 counts as −127.
        for (a, b) in [(-128, -128), (127, -128), (-128, 127), (127, 127)] {
            let (mut query, mut row) = (Vec::new(), Vec::new());
            append_blocks(&mut query, &[a; 4096]);
            append_blocks(&mut row, &[b; 4096]);
            let sign = if (a < 0) == (b < 0) { 1 } else { -1 };
            for level in CpuLevel::detect_available() {
                let mut acc = [0];
                dot_rows(level, &mut acc, &query, &row);
                assert_eq!(acc, [sign * 127 * 127 * 4096], "{level:?}");
            }
        }
    }
}
