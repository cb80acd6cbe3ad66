//! Products of codes, in the widest form the processor has.
//!
//! This is the one place of the room with `unsafe`: a wide function is called only after its
//! features were detected, and pointers come from blocks of exactly the size that is read.
//!
//! Every form gives the same number. Products of bytes are summed as integers, which no order can
//! change, and blocks never hold −128, the one byte whose sign cannot be turned.
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

/// Numbers in a block: one line of the cache, and one register where registers are widest.
pub(crate) const BLOCK: usize = 64;

/// Rows whose sums are kept in registers together.
const ROWS: usize = 4;

/// Sixty-four numbers of a code, none of them −128. Only [`lay_out`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Block([i8; BLOCK]);

impl Block {
    pub(crate) const fn numbers(&self) -> &[i8; BLOCK] {
        &self.0
    }
}

/// What the processor can do. Only this file makes one, after detection: that is what calls into wide functions rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Unlike `Avx2`, multiplies and sums four bytes in one step, twice as many at once.
    #[cfg(target_arch = "x86_64")]
    Vnni,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// Everything this machine can run, slowest first.
    pub(crate) fn available() -> Vec<Self> {
        let mut acc = vec![Self(Form::Plain)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            acc.push(Self(Form::Avx2));
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
                acc.push(Self(Form::Vnni));
            }
        }
        #[cfg(target_arch = "aarch64")]
        acc.push(Self(Form::Neon));
        acc
    }

    pub(crate) fn best() -> Self {
        Self::available().pop().expect("the plain form is always there")
    }
}

/// Appends a code as blocks, the last one filled up with zeros, which add nothing to a product.
pub(crate) fn lay_out(acc: &mut Vec<Block>, code: &[i8]) {
    for numbers in code.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        for (to, from) in block.iter_mut().zip(numbers) {
            *to = (*from).max(-i8::MAX);
        }
        acc.push(Block(block));
    }
}

/// Multiplies a query with rows that stand one after another, as many as `acc` has places.
pub(crate) fn dots(level: Level, acc: &mut [i32], query: &[Block], rows: &[Block]) {
    assert_eq!(rows.len(), acc.len() * query.len(), "every place of `acc` has its row");
    dots_where(level, acc, query, rows, |i| i);
}

/// Multiplies a query with the rows that are picked, wherever they stand.
pub(crate) fn dots_at(
    level: Level,
    acc: &mut [i32],
    query: &[Block],
    rows: &[Block],
    picks: &[u32],
) {
    assert_eq!(picks.len(), acc.len(), "every place of `acc` has its row");
    dots_where(level, acc, query, rows, |i| picks[i] as usize);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "so that each use is a loop of its own")]
fn dots_where(
    level: Level,
    acc: &mut [i32],
    query: &[Block],
    rows: &[Block],
    row_of: impl Fn(usize) -> usize,
) {
    match level.0 {
        Form::Plain => dots_plain(acc, query, rows, row_of),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level is only made when its features were detected.
        Form::Avx2 => unsafe { dots_avx2(acc, query, rows, row_of) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Form::Vnni => unsafe { dots_vnni(acc, query, rows, row_of) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Form::Neon => unsafe { dots_neon(acc, query, rows, row_of) },
    }
}

fn dots_plain(acc: &mut [i32], query: &[Block], rows: &[Block], row_of: impl Fn(usize) -> usize) {
    for (i, acc) in acc.iter_mut().enumerate() {
        let row = &rows[row_of(i) * query.len()..][..query.len()];
        *acc = 0;
        for (query, row) in query.iter().zip(row) {
            let products = query.0.iter().zip(&row.0).map(|(a, b)| i32::from(*a) * i32::from(*b));
            *acc += products.sum::<i32>();
        }
    }
}

/// Writes the loop over rows once for every form: as many rows together as `ROWS`, then the rest one by one.
///
/// Plain loops over indices here and below: what a generic function of the library does for a
/// closure or an iterator is compiled without the features, and stays a call where it is not inlined.
macro_rules! by_rows {
    ($few:ident, $acc:ident, $query:ident, $rows:ident, $row_of:ident) => {{
        let row = |i: usize| &$rows[$row_of(i) * $query.len()..][..$query.len()];
        let (groups, rest) = $acc.as_chunks_mut::<ROWS>();
        let done = groups.len() * ROWS;
        for (i, acc) in groups.iter_mut().enumerate() {
            let mut few: [&[Block]; ROWS] = [&[]; ROWS];
            for r in 0..ROWS {
                few[r] = row(i * ROWS + r);
            }
            *acc = $few::<ROWS>($query, few);
        }
        for (i, acc) in rest.iter_mut().enumerate() {
            [*acc] = $few::<1>($query, [row(done + i)]);
        }
    }};
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(acc: &mut [i32], query: &[Block], rows: &[Block], row_of: impl Fn(usize) -> usize) {
    by_rows!(few_avx2, acc, query, rows, row_of);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn few_avx2<const N: usize>(query: &[Block], rows: [&[Block]; N]) -> [i32; N] {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); N];
    for (i, query) in query.iter().enumerate() {
        for half in [0, BLOCK / 2] {
            // SAFETY: a block is two times thirty-two bytes and begins at a multiple of sixty-four.
            let load = |it: &Block| unsafe { _mm256_load_si256(it.0.as_ptr().add(half).cast()) };
            let query = load(query);
            // The sign of the query moves to the row, since one side of the product is unsigned.
            let size = _mm256_abs_epi8(query);
            for r in 0..N {
                let row = _mm256_sign_epi8(load(&rows[r][i]), query);
                // Two products of at most 127² each fit in sixteen bits.
                let pairs = _mm256_maddubs_epi16(size, row);
                sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    let mut res = [0; N];
    for r in 0..N {
        res[r] = total_avx2(sums[r]);
    }
    res
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn total_avx2(lanes: __m256i) -> i32 {
    let halves = [_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes)];
    let four = _mm_add_epi32(halves[0], halves[1]);
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b_01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b_10_11_00_01>(two)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vnni")]
fn dots_vnni(acc: &mut [i32], query: &[Block], rows: &[Block], row_of: impl Fn(usize) -> usize) {
    let numbers = query.iter().flat_map(|it| it.0);
    let excess = numbers.map(i32::from).sum::<i32>().wrapping_mul(128);
    by_rows!(few_vnni, acc, query, rows, row_of);
    for acc in acc {
        *acc = acc.wrapping_sub(excess);
    }
}

/// Adds 128 to every number of a row, since one side of the product is unsigned: the result is
/// too large by 128 times the sum of the query.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vnni")]
#[inline]
fn few_vnni<const N: usize>(query: &[Block], rows: [&[Block]; N]) -> [i32; N] {
    let flip = _mm512_set1_epi8(i8::MIN);
    let mut sums = [_mm512_setzero_si512(); N];
    for (i, query) in query.iter().enumerate() {
        // SAFETY: a block is sixty-four bytes and begins at a multiple of sixty-four.
        let load = |it: &Block| unsafe { _mm512_load_si512(it.0.as_ptr().cast()) };
        let query = load(query);
        for r in 0..N {
            let row = _mm512_xor_si512(load(&rows[r][i]), flip);
            sums[r] = _mm512_dpbusd_epi32(sums[r], row, query);
        }
    }
    let mut res = [0; N];
    for r in 0..N {
        res[r] = total_vnni(sums[r]);
    }
    res
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f")]
#[inline]
fn total_vnni(lanes: __m512i) -> i32 {
    let halves = [_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes)];
    total_avx2(_mm256_add_epi32(halves[0], halves[1]))
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn dots_neon(acc: &mut [i32], query: &[Block], rows: &[Block], row_of: impl Fn(usize) -> usize) {
    by_rows!(few_neon, acc, query, rows, row_of);
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
#[inline]
fn few_neon<const N: usize>(query: &[Block], rows: [&[Block]; N]) -> [i32; N] {
    let mut sums: [int32x4_t; N] = [vdupq_n_s32(0); N];
    for (i, query) in query.iter().enumerate() {
        for quarter in (0..BLOCK).step_by(16) {
            // SAFETY: a block is four times sixteen bytes.
            let load = |it: &Block| unsafe { vld1q_s8(it.0.as_ptr().add(quarter)) };
            let query = load(query);
            for r in 0..N {
                let row = load(&rows[r][i]);
                let low = vmull_s8(vget_low_s8(query), vget_low_s8(row));
                sums[r] = vpadalq_s16(vpadalq_s16(sums[r], low), vmull_high_s8(query, row));
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
        fn every_level_gives_the_same_products(
            dims in 0_usize..300,
            n_rows in 0_usize..20,
            numbers in prop::collection::vec(any::<i8>(), 300 * 20),
            query in prop::collection::vec(any::<i8>(), 300),
        ) {
            let product = |row: &[i8]| -> i32 {
                let cut = |it: &i8| i32::from(*it).max(-127);
                row.iter().zip(&query[..dims]).map(|(a, b)| cut(a) * cut(b)).sum()
            };
            let (mut blocks, mut asked) = (Vec::new(), Vec::new());
            lay_out(&mut asked, &query[..dims]);
            for row in 0..n_rows {
                lay_out(&mut blocks, &numbers[row * 300..][..dims]);
            }
            let expected: Vec<i32> =
                (0..n_rows).map(|row| product(&numbers[row * 300..][..dims])).collect();
            let picks: Vec<u32> = (0..20).rev().step_by(3).filter(|it| (*it as usize) < n_rows).collect();
            let picked: Vec<i32> = picks.iter().map(|it| expected[*it as usize]).collect();
            for level in Level::available() {
                let mut acc = vec![-1; n_rows];
                dots(level, &mut acc, &asked, &blocks);
                prop_assert_eq!(&acc, &expected, "{:?}", level);
                let mut acc = vec![-1; picks.len()];
                dots_at(level, &mut acc, &asked, &blocks, &picks);
                prop_assert_eq!(&acc, &picked, "{:?}", level);
            }
        }
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        for (a, b) in [(-128, -128), (127, -128), (-128, 127), (127, 127)] {
            let (mut query, mut row) = (Vec::new(), Vec::new());
            lay_out(&mut query, &[a; 4096]);
            lay_out(&mut row, &[b; 4096]);
            let sign = if (a < 0) == (b < 0) { 1 } else { -1 };
            for level in Level::available() {
                let mut acc = [0];
                dots(level, &mut acc, &query, &row);
                assert_eq!(acc, [sign * 127 * 127 * 4096], "{level:?}");
            }
        }
    }
}
