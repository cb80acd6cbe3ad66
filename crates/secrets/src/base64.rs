//! A lenient Base64 decoder, sufficient to inspect the first bytes of an encoded value.

/// Decodes the standard and the URL alphabet up to the first byte outside of both. Padding is
/// optional.
pub(crate) fn decode_base64(text: &[u8]) -> Vec<u8> {
    let mut acc = Vec::with_capacity(text.len() * 3 / 4);
    // Bits that were read and not yet written, and their number.
    let (mut bits, mut n_bits) = (0u32, 0);
    for value in text.iter().map_while(|it| sextet_value(*it)) {
        bits = (bits << 6) | u32::from(value);
        n_bits += 6;
        // Four sextets make three bytes; a rest of fewer than eight bits is padding.
        if n_bits >= 8 {
            n_bits -= 8;
            acc.push((bits >> n_bits).to_le_bytes()[0]);
            bits &= (1 << n_bits) - 1;
        }
    }
    acc
}

/// The six bits that a character stands for.
const fn sextet_value(it: u8) -> Option<u8> {
    match it {
        b'A'..=b'Z' => Some(it - b'A'),
        b'a'..=b'z' => Some(it - b'a' + 26),
        b'0'..=b'9' => Some(it - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
