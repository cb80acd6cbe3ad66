//! The hot loops of the built-in encoder, with the widest instructions of the processor.
//!
//! `multiply_tile` multiplies quantised inputs with quantised weights and has one hand-written kernel
//! per instruction set; `linear` calls it. The other functions are plain Rust that `widened!` compiles
//! a second time for AVX2.
//!
//! The only `unsafe` module of this crate. A [`CpuLevel`] exists only for a detected instruction set,
//! so a kernel is called only on a processor that has its features; pointers come from arrays of
//! exactly the size that is read.
//!
//! Every instruction set gives the same bits. Products are summed as integers; everything else is one
//! body of plain Rust, compiled several times, and the compiler neither reorders nor fuses
//! floating-point operations. Fused multiply-add is not used, because processors without it would
//! give other results.
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

use model::{CpuLevel, InstructionSet};

use crate::{attention, math};

/// Outputs that are computed together: the 32-bit lanes of one AVX-512 register.
pub(crate) const OUTPUT_LANES: usize = 16;
/// Weights that share a scale.
pub(crate) const WEIGHTS_PER_SCALE: usize = 64;

/// Sixty-four inputs of one row, two 16-bit numbers to a word, the first in the low half.
pub(crate) type InputBlock = [i32; WEIGHTS_PER_SCALE / 2];

/// The weights of sixteen outputs for sixty-four inputs.
#[repr(C, align(64))]
pub(crate) struct WeightGroup {
    /// Per pair of inputs: both weights of output 0, both weights of output 1, and so on.
    pub(crate) weights: [[i8; 2 * OUTPUT_LANES]; WEIGHTS_PER_SCALE / 2],
    pub(crate) scales: [f32; OUTPUT_LANES],
}

// A sum of products of the largest inputs and weights stays within 32 bits, so no kernel checks for
// overflow.
const _: () = assert!(WEIGHTS_PER_SCALE <= (i32::MAX / (32_767 * 128)) as usize);

/// Most rows that one call of [`multiply_tile`] takes: as many as keep their sums in registers.
pub(crate) const fn rows_per_tile(level: CpuLevel) -> usize {
    match level.instruction_set() {
        InstructionSet::Portable => 1,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => 6,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512Vnni => 12,
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => 6,
    }
}

/// Multiplies one panel of weights with at most `rows_per_tile` rows. `rows` holds as many blocks per
/// row as `panel` has groups.
pub(crate) fn multiply_tile(
    level: CpuLevel,
    acc: &mut [[f32; OUTPUT_LANES]],
    panel: &[WeightGroup],
    rows: &[InputBlock],
) {
    // Calls the kernel compiled for exactly this number of rows, so that each row has its registers.
    // `call_for_row_count!(tile_avx2: 1 2)` becomes a match on the number of rows:
    //
    //     match acc.len() {
    //         1 => tile_avx2::<1>(acc, panel, rows),
    //         2 => tile_avx2::<2>(acc, panel, rows),
    //         n => unreachable!(),
    //     }
    macro_rules! call_for_row_count {
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
    // The lists of row counts end at `rows_per_tile`.
    match level.instruction_set() {
        InstructionSet::Portable => tile_portable(acc, panel, rows),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => call_for_row_count!(tile_avx2: 1 2 3 4 5 6),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512Vnni => {
            call_for_row_count!(tile_vnni: 1 2 3 4 5 6 7 8 9 10 11 12);
        }
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => call_for_row_count!(tile_neon: 1 2 3 4 5 6),
    }
}

/// The kernel in plain Rust. The others follow the same steps with registers for the lanes.
fn tile_portable(acc: &mut [[f32; OUTPUT_LANES]], panel: &[WeightGroup], rows: &[InputBlock]) {
    for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(panel.len())) {
        *acc = [0.0; OUTPUT_LANES];
        for (group, block) in panel.iter().zip(row) {
            // Integer dot products of sixty-four inputs, one per output.
            let mut dots = [0_i32; OUTPUT_LANES];
            for (weights, pair) in group.weights.iter().zip(block) {
                let (first, second) = split_pair(*pair);
                for (dot, weights) in dots.iter_mut().zip(weights.as_chunks::<2>().0) {
                    *dot += i32::from(weights[0]) * i32::from(first)
                        + i32::from(weights[1]) * i32::from(second);
                }
            }
            // The weights of a group share a scale per output, so one multiplication is enough.
            for lane in 0..OUTPUT_LANES {
                acc[lane] += math::to_f32(dots[lane]) * group.scales[lane];
            }
        }
    }
}

/// The two 16-bit inputs of a word, see [`InputBlock`].
#[expect(clippy::cast_possible_truncation, reason = "each half is taken on its own")]
const fn split_pair(pair: i32) -> (i16, i16) {
    (pair as i16, (pair >> 16) as i16)
}

// Index loops below: library iterators and closures are compiled without the target features and
// would remain calls where they are not inlined.

/// Sixteen outputs are two registers of eight.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::needless_range_loop, reason = "index loops, see above")]
#[target_feature(enable = "avx2")]
fn tile_avx2<const ROWS: usize>(
    acc: &mut [[f32; OUTPUT_LANES]; ROWS],
    panel: &[WeightGroup],
    rows: &[InputBlock],
) {
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    for i in 0..panel.len() {
        let group = &panel[i];
        let mut dots = [[_mm256_setzero_si256(); 2]; ROWS];
        for j in 0..WEIGHTS_PER_SCALE / 2 {
            // SAFETY: an entry of `weights` is thirty-two bytes.
            let weights = unsafe { _mm256_loadu_si256(group.weights[j].as_ptr().cast()) };
            let low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(weights));
            let high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(weights));
            for r in 0..ROWS {
                // The same pair of inputs in every lane; `madd` multiplies it with the pair of
                // weights of each output and adds the two products.
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
#[expect(clippy::needless_range_loop, reason = "index loops, see above")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_vnni<const ROWS: usize>(
    acc: &mut [[f32; OUTPUT_LANES]; ROWS],
    panel: &[WeightGroup],
    rows: &[InputBlock],
) {
    let mut sums = [_mm512_setzero_ps(); ROWS];
    for i in 0..panel.len() {
        let group = &panel[i];
        let mut dots = [_mm512_setzero_si512(); ROWS];
        for j in 0..WEIGHTS_PER_SCALE / 2 {
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

/// Sixteen outputs are four registers of four.
#[cfg(target_arch = "aarch64")]
#[expect(clippy::needless_range_loop, reason = "index loops, see above")]
#[target_feature(enable = "neon")]
fn tile_neon<const ROWS: usize>(
    acc: &mut [[f32; OUTPUT_LANES]; ROWS],
    panel: &[WeightGroup],
    rows: &[InputBlock],
) {
    *acc = [[0.0; OUTPUT_LANES]; ROWS];
    for (i, group) in panel.iter().enumerate() {
        let mut dots = [[vdupq_n_s32(0); 4]; ROWS];
        for (j, weights) in group.weights.iter().enumerate() {
            // Loads the weights of the first and of the second inputs into separate registers.
            // SAFETY: `weights` is thirty-two bytes.
            let int8x16x2_t(first, second) = unsafe { vld2q_s8(weights.as_ptr()) };
            let first = [vmovl_s8(vget_low_s8(first)), vmovl_high_s8(first)];
            let second = [vmovl_s8(vget_low_s8(second)), vmovl_high_s8(second)];
            for r in 0..ROWS {
                let (a, b) = split_pair(rows[r * panel.len() + i][j]);
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

/// Defines a function that runs `$body` compiled for AVX2 if the processor has it, else as it is. The
/// body is marked `inline(always)`: only what is inlined into `wide` is compiled for AVX2. The row
/// `gelu = math::gelu, (values: &mut [f32]);` becomes
///
/// ```text
/// pub(crate) fn gelu(level: CpuLevel, values: &mut [f32]) {
///     if level.instruction_set() != InstructionSet::Portable {
///         #[target_feature(enable = "avx2")]
///         fn wide(values: &mut [f32]) { math::gelu(values); }
///         return unsafe { wide(values) };
///     }
///     math::gelu(values);
/// }
/// ```
macro_rules! widened {
    ($($(#[$doc:meta])* $name:ident = $body:path, ($($arg:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "already wide"))]
        pub(crate) fn $name(level: CpuLevel, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            if level.instruction_set() != InstructionSet::Portable {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    $body($($arg),*);
                }
                // SAFETY: every level but `Portable` includes AVX2 and was detected.
                return unsafe { wide($($arg),*) };
            }
            $body($($arg),*);
        }
    )*};
}

widened! {
    gelu = math::gelu, (values: &mut [f32]);
    layer_norm = math::layer_norm, (rows: &mut [f32], norm: &math::LayerNorm);
    quantize_rows = math::quantize_rows, (acc: &mut math::QuantizedRows, rows: &[f32], width: usize);
    apply_attention = attention::apply_attention, (acc: &mut [f32], scratch: &mut attention::AttentionScratch, qkv: &[f32]);
}
