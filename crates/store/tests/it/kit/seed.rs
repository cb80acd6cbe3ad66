//! Repeatable pseudo-random numbers (SplitMix64): a failing case is named by its seed.

pub(crate) struct SeededRandom(pub(crate) u64);

impl SeededRandom {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut result = self.0;
        result = (result ^ (result >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        result = (result ^ (result >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        result ^ (result >> 31)
    }

    /// A number from 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}
