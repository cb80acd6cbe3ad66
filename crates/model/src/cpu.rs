//! Detection of the SIMD instruction sets of the processor.
//!
//! `recall` (scans over vectors) and `infer` (the built-in model) have kernels compiled for each set
//! and call them in `unsafe` code. A [`CpuLevel`] can only be made by detection, so holding one proves
//! that the processor has the set.

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuLevel(InstructionSet);

/// The instruction sets that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// Plain Rust, on every machine.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 (F and BW) with VNNI, which multiplies and sums several small integers in one step on
    /// registers twice as wide. Includes AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl CpuLevel {
    /// All instruction sets of this machine, slowest first.
    pub fn detect_available() -> Vec<Self> {
        let mut acc = vec![Self(InstructionSet::Portable)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            acc.push(Self(InstructionSet::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni")
            {
                acc.push(Self(InstructionSet::Avx512Vnni));
            }
        }
        // Every 64-bit ARM processor has NEON.
        #[cfg(target_arch = "aarch64")]
        acc.push(Self(InstructionSet::Neon));
        acc
    }

    /// The fastest instruction set of this machine.
    pub fn detect_best() -> Self {
        Self::detect_available().pop().expect("the portable set is always there")
    }

    pub const fn instruction_set(self) -> InstructionSet {
        self.0
    }
}
