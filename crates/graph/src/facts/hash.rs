//! Byte hashes whose results are stored. None of them withstands deliberate collisions.

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
pub(crate) struct FnvHasher(pub(crate) u64);

impl Default for FnvHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl FnvHasher {
    pub(crate) const fn write_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.write_byte(*it));
    }
}

/// A 64-bit hash, computed eight bytes at a time.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        hasher.0 = (hasher.0 ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
    }
    hasher.write_bytes(rest);
    (hasher.0 ^ bytes.len() as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (hasher.0 >> 31)
}

/// The fingerprint of a file's content: 128 bits, enough against accidental collisions.
pub fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    // Two independent 64-bit hashes in one pass over the content.
    let (mut first, mut second) = (FnvHasher::default(), FnvHasher(0x9e37_79b9_7f4a_7c15));
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        first.0 = (first.0 ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
        second.0 = (second.0.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    first.write_bytes(rest);
    second.write_bytes(rest);
    let len = bytes.len() as u64;
    let mut fingerprint = [0; 16];
    fingerprint[..8].copy_from_slice(&(first.0 ^ len).to_le_bytes());
    fingerprint[8..].copy_from_slice(&(second.0 ^ (second.0 >> 31)).to_le_bytes());
    fingerprint
}
