//! Hashes of bytes: of names, of interfaces and of whole files. The results are stored, so the
//! functions must never change. None of them withstands deliberate collisions.
//!
//! [`FnvHasher`] is for names: FNV-1a reads byte by byte. [`hash_bytes`], for interfaces, and
//! [`fingerprint`], for files, read eight bytes at a time, because their inputs are long; their
//! multipliers are those of well-known hashes.
//!
//! ```text
//! fingerprint(b"fn a() {}")   16 bytes; if they are equal to the stored ones, the file is not parsed again
//! hash_bytes(interface)       8 bytes; if they are equal, no other file is resolved again
//! ```

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
pub(crate) struct FnvHasher(pub(crate) u64);

/// The offset basis and the prime that FNV-1a defines for 64 bits.
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// From the `rrmxmx` mixer (Evensen 2018), which XXH3 uses, too.
const RRMXMX_MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;

/// From the finalizer of `MurmurHash3` (Appleby).
const MURMUR_MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;

/// From the 64-bit mixer `degski64`.
const DEGSKI_MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;

/// 2^64 divided by the golden ratio; the start of a second, independent hash.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for FnvHasher {
    fn default() -> Self {
        Self(FNV_OFFSET_BASIS)
    }
}

impl FnvHasher {
    pub(crate) const fn write_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(FNV_PRIME);
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.write_byte(*it));
    }

    /// Mixes in eight bytes at once. This is not FNV-1a.
    const fn write_word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(RRMXMX_MULTIPLIER).rotate_left(29);
    }
}

/// A 64-bit hash, computed eight bytes at a time.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|it| hasher.write_word(u64::from_le_bytes(*it)));
    hasher.write_bytes(rest);
    (hasher.0 ^ bytes.len() as u64).wrapping_mul(MURMUR_MULTIPLIER) ^ (hasher.0 >> 31)
}

/// The fingerprint of a file's content: 128 bits, enough against accidental collisions.
pub fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    // Two independent 64-bit hashes in one pass over the content.
    let (mut first, mut second) = (FnvHasher::default(), FnvHasher(GOLDEN_RATIO));
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        first.write_word(word);
        second.0 = (second.0.rotate_left(23) ^ word).wrapping_mul(DEGSKI_MULTIPLIER);
    }
    first.write_bytes(rest);
    second.write_bytes(rest);
    let len = bytes.len() as u64;
    let mut fingerprint = [0; 16];
    fingerprint[..8].copy_from_slice(&(first.0 ^ len).to_le_bytes());
    fingerprint[8..].copy_from_slice(&(second.0 ^ (second.0 >> 31)).to_le_bytes());
    fingerprint
}
