//! A hash for small keys that nobody chose to harm us with: names and numbers of one file.

use std::hash::{BuildHasher, Hasher};

/// Builds hashers for maps whose keys are short.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastHasher;

impl BuildHasher for FastHasher {
    type Hasher = Fast;

    fn build_hasher(&self) -> Fast {
        Fast(0)
    }
}

/// One multiplication a word.
#[derive(Debug, Default)]
pub(crate) struct Fast(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Fast {
    const fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        // The map looks at the highest bits and the lowest.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|it| self.add(u64::from_le_bytes(*it)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ ((rest.len() as u64) << 56));
    }

    fn write_u8(&mut self, it: u8) {
        self.add(u64::from(it));
    }

    fn write_u32(&mut self, it: u32) {
        self.add(u64::from(it));
    }

    fn write_u64(&mut self, it: u64) {
        self.add(it);
    }

    fn write_usize(&mut self, it: usize) {
        self.add(it as u64);
    }
}
