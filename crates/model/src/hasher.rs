//! A fast hasher for maps with short keys from trusted input: ids, offsets and identifiers of one
//! file. The scheme is Firefox's `FxHash` (as in `rustc-hash` 1) with another multiplier.
//!
//! The hash is not keyed: keys that an attacker chooses could be made to collide. Where stored
//! bytes hold a hash (words of commit subjects), the result must not change between versions.
//!
//! The methods are `#[inline]`: maps of other crates call them for every lookup.

use std::hash::{BuildHasher, Hasher};

/// Builds [`FastHasher`]s, for `HashMap<K, V, FastBuildHasher>`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastBuildHasher;

impl BuildHasher for FastBuildHasher {
    type Hasher = FastHasher;

    #[inline]
    fn build_hasher(&self) -> FastHasher {
        FastHasher(0)
    }
}

/// Hashes with one rotation, one xor and one multiplication per eight bytes.
#[derive(Debug, Default)]
pub struct FastHasher(u64);

/// 2^64 divided by the golden ratio (Fibonacci hashing, Knuth, TAOCP volume 3, section 6.4).
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl FastHasher {
    #[inline]
    const fn add_word(&mut self, word: u64) {
        // The rotation makes the order of words count; the multiplication mixes towards the high bits.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(HASH_MULTIPLIER);
    }
}

impl Hasher for FastHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // The standard map takes its bucket from the low bits and its tag from the high bits, and
        // a multiplication leaves the low bits poorly mixed.
        self.0 ^ (self.0 >> 32)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add_word(u64::from_le_bytes(*word));
        }
        // The length of the remainder goes into the top byte: `a` and `a\0` must differ.
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add_word(u64::from_le_bytes(last) ^ ((rest.len() as u64) << 56));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add_word(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add_word(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add_word(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add_word(value as u64);
    }
}
