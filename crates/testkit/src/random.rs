//! Seeded random numbers, and ids drawn from them.

use std::cell::Cell;

/// The `SplitMix64` generator (Steele, Lea and Flood 2014). The same seed gives the same sequence.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut res = self.0;
        res = (res ^ (res >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        res = (res ^ (res >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        res ^ (res >> 31)
    }

    /// A number below `end`, which is at least one.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True `n` times in a hundred.
    pub fn chance(&mut self, n: usize) -> bool {
        self.below(100) < n
    }
}

thread_local! {
    // State of the generator of ids. The engine takes a plain function pointer for random bytes,
    // which cannot capture it.
    static ID_STATE: Cell<u64> = const { Cell::new(0) };
}

/// Seeds the ids of this thread.
pub(crate) fn seed_ids(seed: u64) {
    ID_STATE.set(seed);
}

/// Ten bytes for the next id.
pub(crate) fn id_bytes() -> [u8; 10] {
    let mut random = SplitMix64::new(ID_STATE.get());
    let (first, second) = (random.next().to_le_bytes(), random.next().to_le_bytes());
    // The state of this generator is its own next seed.
    ID_STATE.set(random.0);
    let mut res = [0; 10];
    res[..8].copy_from_slice(&first);
    res[8..].copy_from_slice(&second[..2]);
    res
}
