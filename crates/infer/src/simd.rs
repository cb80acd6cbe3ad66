//! The loops that decide the speed, in the widest form the processor has.
//!
//! This is the one place of the room with `unsafe`: a wide function is called only after its
//! features were detected, and pointers come from arrays of exactly the size that is read.
//!
//! Every form gives the same bits. Products of weights and inputs are summed as integers, which
//! no order can change; everything else is one body of plain Rust, compiled more than once, and
//! the compiler neither reorders nor fuses floating-point operations on its own. Fused
//! multiply-add is left out for this reason: a processor without it would answer differently.
#![expect(unsafe_code, reason = "intrinsics and calls into functions with detected features")]

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{
    int8x16x2_t, vaddq_f32, vcvtq_f32_s32, vdupq_n_s32, vget_low_s8, vget_low_s16, vld1q_f32,
    vld2q_s8, vmlal_high_n_s16, vmlal_n_s16, vmovl_high_s8, vmovl_s8, vmulq_f32, vst1q_f32,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm256_add_epi32, _mm256_add_ps, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
    _mm256_cvtepi32_ps, _mm256_extracti128_si256, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_mul_ps, _mm256_set1_epi32, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_storeu_ps, _mm512_add_ps, _mm512_cvtepi8_epi16, _mm512_cvtepi32_ps, _mm512_dpwssd_epi32,
    _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_epi32, _mm512_setzero_ps, _mm512_setzero_si512,
    _mm512_storeu_ps,
};

use crate::{attention, maths};

/// Outputs that are computed together.
pub(crate) const LANES: usize = 16;
/// Weights that share a scale.
pub(crate) const GROUP: usize = 64;

/// Sixty-four inputs of one row, two 16-bit numbers to a word, the first in the low half.
pub(crate) type Block = [i32; GROUP / 2];

/// The weights of sixteen outputs for sixty-four inputs.
#[repr(C, align(64))]
pub(crate) struct Group {
    /// Per pair of inputs: both weights of output 0, both weights of output 1, and so on.
    pub(crate) weights: [[i8; 2 * LANES]; GROUP / 2],
    pub(crate) scales: [f32; LANES],
}

// The products of a group at their largest stay within 32 bits, so no form has to watch for it.
const _: () = assert!(GROUP <= (i32::MAX / (32_767 * 128)) as usize);

/// What the processor can do. Only this file makes one, after detection: that is what calls into wide functions rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with the instructions for short integers; includes AVX2.
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
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni")
            {
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

    /// Rows that one call of `tile` takes: as many as keep their sums in registers.
    pub(crate) const fn rows(self) -> usize {
        match self.0 {
            Form::Plain => 1,
            #[cfg(target_arch = "x86_64")]
            Form::Avx2 => 6,
            #[cfg(target_arch = "x86_64")]
            Form::Vnni => 12,
            #[cfg(target_arch = "aarch64")]
            Form::Neon => 6,
        }
    }
}

/// Multiplies one panel of weights with a few rows; `rows` holds as many blocks per row as `panel` has groups.
pub(crate) fn tile(level: Level, acc: &mut [[f32; LANES]], panel: &[Group], rows: &[Block]) {
    // The number of rows is known when a form is compiled, so that each row has its registers.
    macro_rules! by_rows {
        ($tile:ident: $($n:literal)*) => {
            match acc.len() {
                $($n => {
                    let acc = acc.first_chunk_mut::<$n>().expect("the length was matched");
                    // SAFETY: a level is only made when its features were detected.
                    unsafe { $tile::<$n>(acc, panel, rows) }
                })*
                n => unreachable!("{n} rows in a tile"),
            }
        };
    }
    assert_eq!(rows.len(), acc.len() * panel.len(), "every row has a block for every group");
    match level.0 {
        Form::Plain => tile_plain(acc, panel, rows),
        #[cfg(target_arch = "x86_64")]
        Form::Avx2 => by_rows!(tile_avx2: 1 2 3 4 5 6),
        #[cfg(target_arch = "x86_64")]
        Form::Vnni => by_rows!(tile_vnni: 1 2 3 4 5 6 7 8 9 10 11 12),
        #[cfg(target_arch = "aarch64")]
        Form::Neon => by_rows!(tile_neon: 1 2 3 4 5 6),
    }
}

fn tile_plain(acc: &mut [[f32; LANES]], panel: &[Group], rows: &[Block]) {
    for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(panel.len())) {
        *acc = [0.0; LANES];
        for (group, block) in panel.iter().zip(row) {
            let mut dots = [0_i32; LANES];
            for (weights, pair) in group.weights.iter().zip(block) {
                let (first, second) = halves(*pair);
                for (dot, weights) in dots.iter_mut().zip(weights.as_chunks::<2>().0) {
                    *dot += i32::from(weights[0]) * i32::from(first)
                        + i32::from(weights[1]) * i32::from(second);
                }
            }
            for lane in 0..LANES {
                acc[lane] += maths::to_f32(dots[lane]) * group.scales[lane];
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half is taken on its own")]
const fn halves(pair: i32) -> (i16, i16) {
    (pair as i16, (pair >> 16) as i16)
}

// Plain loops over indices below: what a generic function of the library does for a closure or an
// iterator is compiled without the features, and stays a call where it is not inlined.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::needless_range_loop, reason = "see above")]
#[target_feature(enable = "avx2")]
fn tile_avx2<const ROWS: usize>(acc: &mut [[f32; LANES]; ROWS], panel: &[Group], rows: &[Block]) {
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    for i in 0..panel.len() {
        let group = &panel[i];
        let mut dots = [[_mm256_setzero_si256(); 2]; ROWS];
        for j in 0..GROUP / 2 {
            // SAFETY: an entry of `weights` is thirty-two bytes.
            let weights = unsafe { _mm256_loadu_si256(group.weights[j].as_ptr().cast()) };
            let low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(weights));
            let high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(weights));
            for r in 0..ROWS {
                let pair = _mm256_set1_epi32(rows[r * panel.len() + i][j]);
                dots[r][0] = _mm256_add_epi32(dots[r][0], _mm256_madd_epi16(low, pair));
                dots[r][1] = _mm256_add_epi32(dots[r][1], _mm256_madd_epi16(high, pair));
            }
        }
        let from = group.scales.as_ptr();
        // SAFETY: `scales` is two times eight numbers.
        let scales = unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] };
        for r in 0..ROWS {
            for half in 0..2 {
                let part = _mm256_mul_ps(_mm256_cvtepi32_ps(dots[r][half]), scales[half]);
                sums[r][half] = _mm256_add_ps(sums[r][half], part);
            }
        }
    }
    for r in 0..ROWS {
        // SAFETY: a row of `acc` is two times eight numbers.
        unsafe {
            _mm256_storeu_ps(acc[r].as_mut_ptr(), sums[r][0]);
            _mm256_storeu_ps(acc[r].as_mut_ptr().add(8), sums[r][1]);
        }
    }
}

/// Sixteen outputs are one register here, and a product with its addition is one instruction.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::needless_range_loop, reason = "as for the form above")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_vnni<const ROWS: usize>(acc: &mut [[f32; LANES]; ROWS], panel: &[Group], rows: &[Block]) {
    let mut sums = [_mm512_setzero_ps(); ROWS];
    for i in 0..panel.len() {
        let group = &panel[i];
        let mut dots = [_mm512_setzero_si512(); ROWS];
        for j in 0..GROUP / 2 {
            // SAFETY: an entry of `weights` is thirty-two bytes.
            let weights = unsafe { _mm256_loadu_si256(group.weights[j].as_ptr().cast()) };
            let weights = _mm512_cvtepi8_epi16(weights);
            for r in 0..ROWS {
                let pair = _mm512_set1_epi32(rows[r * panel.len() + i][j]);
                dots[r] = _mm512_dpwssd_epi32(dots[r], weights, pair);
            }
        }
        // SAFETY: `scales` is sixteen numbers.
        let scales = unsafe { _mm512_loadu_ps(group.scales.as_ptr()) };
        for r in 0..ROWS {
            let part = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[r]), scales);
            sums[r] = _mm512_add_ps(sums[r], part);
        }
    }
    for r in 0..ROWS {
        // SAFETY: a row of `acc` is sixteen numbers.
        unsafe { _mm512_storeu_ps(acc[r].as_mut_ptr(), sums[r]) };
    }
}

#[cfg(target_arch = "aarch64")]
#[expect(clippy::needless_range_loop, reason = "as for the forms above")]
#[target_feature(enable = "neon")]
fn tile_neon<const ROWS: usize>(acc: &mut [[f32; LANES]; ROWS], panel: &[Group], rows: &[Block]) {
    *acc = [[0.0; LANES]; ROWS];
    for (i, group) in panel.iter().enumerate() {
        let mut dots = [[vdupq_n_s32(0); 4]; ROWS];
        for (j, weights) in group.weights.iter().enumerate() {
            // SAFETY: `weights` is thirty-two bytes.
            let int8x16x2_t(first, second) = unsafe { vld2q_s8(weights.as_ptr()) };
            let first = [vmovl_s8(vget_low_s8(first)), vmovl_high_s8(first)];
            let second = [vmovl_s8(vget_low_s8(second)), vmovl_high_s8(second)];
            for r in 0..ROWS {
                let (a, b) = halves(rows[r * panel.len() + i][j]);
                let dots = &mut dots[r];
                for half in 0..2 {
                    let low = vmlal_n_s16(dots[2 * half], vget_low_s16(first[half]), a);
                    dots[2 * half] = vmlal_n_s16(low, vget_low_s16(second[half]), b);
                    let high = vmlal_high_n_s16(dots[2 * half + 1], first[half], a);
                    dots[2 * half + 1] = vmlal_high_n_s16(high, second[half], b);
                }
            }
        }
        for r in 0..ROWS {
            for quarter in 0..4 {
                // SAFETY: `scales` and a row of `acc` are four times four numbers.
                unsafe {
                    let to = acc[r].as_mut_ptr().add(4 * quarter);
                    let scales = vld1q_f32(group.scales.as_ptr().add(4 * quarter));
                    let part = vmulq_f32(vcvtq_f32_s32(dots[r][quarter]), scales);
                    vst1q_f32(to, vaddq_f32(vld1q_f32(to), part));
                }
            }
        }
    }
}

/// Compiles a body a second time for wider registers; it must be inlined to be so.
macro_rules! widened {
    ($($(#[$doc:meta])* $name:ident = $body:path, ($($arg:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "already wide"))]
        pub(crate) fn $name(level: Level, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            if level.0 != Form::Plain {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    $body($($arg),*);
                }
                // SAFETY: every level but `Plain` includes AVX2 and was detected.
                return unsafe { wide($($arg),*) };
            }
            $body($($arg),*);
        }
    )*};
}

widened! {
    gelu = maths::gelu, (values: &mut [f32]);
    layer_norm = maths::layer_norm, (rows: &mut [f32], norm: &maths::Norm);
    quantise = maths::quantise, (acc: &mut maths::Quantised, rows: &[f32], width: usize);
    attend = attention::attend, (acc: &mut [f32], desk: &mut attention::Desk, qkv: &[f32]);
}
