//! What a piece of code means, as a number: white space and comments do not count.
//!
//! Works on bytes with the spans of comments and strings that the walk met, because that costs a
//! tenth of visiting every token again. Not a hash against forgers.

/// Comments and strings of a file in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Ranges(pub(crate) Vec<(u32, u32, Opaque)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opaque {
    Comment,
    /// Counts byte for byte.
    String,
}

/// Where indentation carries meaning, the steps in and out count, their width does not.
pub(crate) fn meaning(
    source: &[u8],
    span: (u32, u32),
    opaque: &Ranges,
    by_indentation: bool,
) -> u64 {
    let mut res = Words::default();
    let (mut at, end) = (span.0 as usize, (span.1 as usize).min(source.len()));
    let first = opaque.0.partition_point(|it| (it.1 as usize) <= at);
    let mut rest = opaque.0[first..].iter().peekable();
    let (mut last, mut gap, mut depth) = (b' ', false, 0_i32);
    let mut steps: Vec<usize> = Vec::new();
    let mut fresh_line: Option<usize> = None;
    while at < end {
        if let Some((_, to, kind)) = rest.next_if(|it| it.0 as usize <= at) {
            let to = (*to as usize).min(end);
            if *kind == Opaque::String && to > at {
                enter_line(&mut res, &mut steps, fresh_line.take());
                source[at..to].iter().for_each(|it| res.add(*it));
                (last, gap) = (b'"', false);
            }
            at = at.max(to);
            continue;
        }
        // Up to the next comment or string there is nothing but code.
        let stop = rest.peek().map_or(end, |it| (it.0 as usize).min(end));
        if by_indentation {
            for byte in &source[at..stop] {
                match byte {
                    b'\n' if depth <= 0 => (fresh_line, gap) = (Some(0), true),
                    b' ' | b'\t' | b'\r' | b'\n' => {
                        gap = true;
                        fresh_line = fresh_line.map(|it| it + if *byte == b'\t' { 8 } else { 1 });
                    }
                    _ => {
                        enter_line(&mut res, &mut steps, fresh_line.take());
                        depth += i32::from(matches!(byte, b'(' | b'[' | b'{'));
                        depth -= i32::from(matches!(byte, b')' | b']' | b'}'));
                        if gap && is_word(last) && is_word(*byte) {
                            res.add(b' ');
                        }
                        res.add(*byte);
                        (last, gap) = (*byte, false);
                    }
                }
            }
        } else {
            for byte in &source[at..stop] {
                if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                    gap = true;
                    continue;
                }
                if gap {
                    if is_word(last) && is_word(*byte) {
                        res.add(b' ');
                    }
                    gap = false;
                }
                res.add(*byte);
                last = *byte;
            }
        }
        at = stop;
    }
    res.finish()
}

/// Adds the steps in and out that a line of this indentation makes.
fn enter_line(res: &mut Words, steps: &mut Vec<usize>, indentation: Option<usize>) {
    let Some(width) = indentation else { return };
    res.add(b'\n');
    while steps.last().is_some_and(|it| *it > width) {
        steps.pop();
        res.add(2);
    }
    if steps.last().is_none_or(|it| *it < width) {
        steps.push(width);
        res.add(1);
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}

/// Bytes gathered to words of eight, so that a byte costs a shift and not a multiplication.
#[derive(Default)]
struct Words {
    hash: u64,
    word: u64,
    n: u32,
}

impl Words {
    #[inline]
    const fn add(&mut self, byte: u8) {
        self.word = self.word << 8 | byte as u64;
        self.n += 1;
        if self.n.is_multiple_of(8) {
            self.hash = (self.hash.rotate_left(27) ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.word = 0;
        }
    }

    const fn finish(self) -> u64 {
        let last = (self.hash.rotate_left(27) ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (last ^ self.n as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (last >> 29)
    }
}

/// FNV-1a.
pub(crate) struct Hash(pub(crate) u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(crate) const fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn add_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.add(*it));
    }
}

/// Bytes in one number, eight at a time.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let mut res = Hash::default();
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        res.0 = (res.0 ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
    }
    res.add_all(rest);
    (res.0 ^ bytes.len() as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (res.0 >> 31)
}

/// Tells contents of a file apart; against accidents, not against forgers.
pub fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    let (mut first, mut second) = (Hash::default(), Hash(0x9e37_79b9_7f4a_7c15));
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        first.0 = (first.0 ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
        second.0 = (second.0.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    first.add_all(rest);
    second.add_all(rest);
    let size = bytes.len() as u64;
    let mut res = [0; 16];
    res[..8].copy_from_slice(&(first.0 ^ size).to_le_bytes());
    res[8..].copy_from_slice(&(second.0 ^ (second.0 >> 31)).to_le_bytes());
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str, by_indentation: bool) -> u64 {
        let mut ranges = Ranges::default();
        for (start, kind) in [("#", Opaque::Comment), ("\"", Opaque::String)] {
            let mut from = 0;
            while let Some(at) = source[from..].find(start).map(|it| it + from) {
                let end = if start == "#" { "\n" } else { "\"" };
                let to = source[at + 1..].find(end).map_or(source.len(), |it| at + 1 + it);
                let to = if start == "#" { to } else { to + 1 };
                ranges.0.push((u32::try_from(at).unwrap(), u32::try_from(to).unwrap(), kind));
                from = to;
            }
        }
        ranges.0.sort_by_key(|it| it.0);
        meaning(
            source.as_bytes(),
            (0, u32::try_from(source.len()).unwrap()),
            &ranges,
            by_indentation,
        )
    }

    #[test]
    fn white_space_and_comments_do_not_count() {
        assert_eq!(of("f( a,b )", false), of("f(a, b) # why\n", false));
        assert_eq!(of("return x", false), of("return   x", false));
        assert_ne!(of("return x", false), of("returnx", false));
        assert_ne!(of("return x", false), of("return y", false));
    }

    #[test]
    fn white_space_in_a_string_counts() {
        assert_ne!(of("f(\"a b\")", false), of("f(\"a  b\")", false));
    }

    #[test]
    fn where_indentation_carries_meaning_its_steps_count() {
        let wide = "if a:\n    b\nc";
        assert_eq!(of(wide, true), of("if a:\n  b\n\n# note\nc", true));
        assert_ne!(of(wide, true), of("if a:\n    b\n    c", true));
        assert_eq!(of("f(a,\n    b)", true), of("f(a, b)", true));
    }
}
