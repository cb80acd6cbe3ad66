//! A byte codec for data that is derived from the code (facts, links, modules, history): LEB128 varints and
//! length-prefixed strings, fields in order, without tags. For example, the number 300 and the text "é" are
//! `ac 02` and `02 c3 a9`.
//!
//! The format contains no version. The caller stores one beside the bytes and rebuilds the data when it
//! differs, so that old bytes are never decoded.

/// Appends values to a byte buffer.
#[derive(Debug, Default)]
pub struct ByteWriter {
    pub bytes: Vec<u8>,
}

impl ByteWriter {
    /// Appends to `bytes`, so that a caller can reuse a buffer or reserve its size.
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    #[inline]
    pub fn write_byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Unsigned LEB128: seven bits per byte, lowest first.
    #[inline]
    pub fn write_varint(&mut self, mut value: u64) {
        // The high bit of a byte means that more bytes follow.
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }

    #[inline]
    pub fn write_len(&mut self, value: usize) {
        self.write_varint(value as u64);
    }

    #[inline]
    pub fn write_u32(&mut self, value: u32) {
        self.write_varint(u64::from(value));
    }

    /// `None` is 0; a value is stored plus one.
    #[inline]
    pub fn write_optional_u32(&mut self, value: Option<u32>) {
        self.write_varint(value.map_or(0, |it| u64::from(it) + 1));
    }

    /// Eight bytes, little-endian: for hashes, which a varint would lengthen.
    pub fn write_fixed_u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn write_str(&mut self, value: &str) {
        self.write_len(value.len());
        self.bytes.extend(value.as_bytes());
    }
}

/// Reads values in the order in which they were written. Every method returns `None` on bytes that
/// no [`ByteWriter`] produces there.
#[derive(Debug)]
pub struct ByteReader<'a> {
    /// Bytes not read yet.
    pub rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub fn read_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    #[inline]
    pub fn read_varint(&mut self) -> Option<u64> {
        // At most ten bytes; the loop ends before the shift exceeds 64 bits.
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    #[inline]
    pub fn read_u32(&mut self) -> Option<u32> {
        u32::try_from(self.read_varint()?).ok()
    }

    /// A count of items that take at least one byte each. A count beyond the remaining bytes is rejected, so
    /// that damaged bytes cannot make a caller reserve much memory.
    #[inline]
    pub fn read_len(&mut self) -> Option<usize> {
        usize::try_from(self.read_varint()?).ok().filter(|it| *it <= self.rest.len())
    }

    /// `Some(None)` is a stored `None`; `None` means that the bytes cannot be read.
    #[inline]
    pub fn read_optional_u32(&mut self) -> Option<Option<u32>> {
        match self.read_varint()? {
            0 => Some(None),
            it => Some(Some(u32::try_from(it - 1).ok()?)),
        }
    }

    /// Four bytes, little-endian. Only for foreign formats (Protobuf): [`ByteWriter`] does not write them.
    pub fn read_fixed_u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    pub fn read_fixed_u64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    pub fn read_bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    pub fn read_str(&mut self) -> Option<&'a str> {
        let len = self.read_len()?;
        std::str::from_utf8(self.read_bytes(len)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_in_order() {
        let mut writer = ByteWriter::default();
        writer.write_varint(u64::MAX);
        writer.write_u32(300);
        writer.write_optional_u32(None);
        writer.write_optional_u32(Some(u32::MAX));
        writer.write_fixed_u64(7);
        writer.write_str("é");
        writer.write_byte(9);
        let mut reader = ByteReader::new(&writer.bytes);
        assert_eq!(reader.read_varint(), Some(u64::MAX));
        assert_eq!(reader.read_u32(), Some(300));
        assert_eq!(reader.read_optional_u32(), Some(None));
        assert_eq!(reader.read_optional_u32(), Some(Some(u32::MAX)));
        assert_eq!(reader.read_fixed_u64(), Some(7));
        assert_eq!(reader.read_str(), Some("é"));
        assert_eq!(reader.read_byte(), Some(9));
        assert!(reader.is_empty());
        assert_eq!(reader.read_byte(), None);
    }

    #[test]
    fn damaged_bytes_are_rejected() {
        // A varint without an end, a length beyond the bytes, invalid UTF-8, a number above 32 bits.
        assert_eq!(ByteReader::new(&[0xff; 11]).read_varint(), None);
        assert_eq!(ByteReader::new(&[9, 0]).read_len(), None);
        assert_eq!(ByteReader::new(&[1, 0xff]).read_str(), None);
        assert_eq!(ByteReader::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).read_u32(), None);
    }
}
