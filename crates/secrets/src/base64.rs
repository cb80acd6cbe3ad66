//! A lenient Base64 reader, enough to look at the first bytes behind an encoding.

/// Decodes either alphabet up to the first byte that is not in it; padding is not needed.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let mut acc = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut n_bits) = (0u32, 0);
    for value in text.iter().map_while(|it| value(*it)) {
        bits = (bits << 6) | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            acc.push((bits >> n_bits).to_le_bytes()[0]);
            bits &= (1 << n_bits) - 1;
        }
    }
    acc
}

const fn value(it: u8) -> Option<u8> {
    match it {
        b'A'..=b'Z' => Some(it - b'A'),
        b'a'..=b'z' => Some(it - b'a' + 26),
        b'0'..=b'9' => Some(it - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
