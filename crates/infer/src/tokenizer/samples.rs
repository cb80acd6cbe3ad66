//! Texts that are hard for a tokenizer, generated from a seed. For tests only.
//!
//! The program `oracle` includes this file, so that it gives the same texts to the reference
//! tokenizer. After a change here it must be run again.

use super::letters::{LETTER_RANGES, NUMBER_RANGES};

/// Number of samples in the fixture.
pub(crate) const N_SAMPLES: u64 = 20_000;
/// Samples that share one line of the fixture.
pub(crate) const SAMPLES_PER_LINE: u64 = 200;

/// Building blocks of samples, beside random characters.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "the", " the", "The", "retry", " limit", "is", " 3", "parse_header", "getHTTPResponseCode", "__init__", "self.", "naïve", "Straße",
    "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'", "''", "’s", "don't", "we'll", " 's", "!'re",
    " ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n", "\n ", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{b}", "\u{200b}", "\u{feff}",
    "0", "1", "42", "3.14", "0xDEADBEEF", "2026-11-15", "1_000_000", "½", "²", "Ⅷ", "٣", "①",
    "->", "::", "=>", "//", "/*", "*/", "{}", "();", "&&", "||", "!=", "...", "…", "—", "----------------", "================", "\"", "`", "\\", "#",
    "<s>", "</s>", "<mask>", "<|endoftext|>", "\0", "\u{1}", "\u{7f}",
    "東京", "の", "天気", "한국어", "привет", "Ελλάδα", "שלום", "مرحبا", "नमस्ते", "ไทย", "e\u{301}", "\u{301}", "Ⓐ", "ʰ", "𝒳", "𐍈",
    "🙂", "👍🏽", "👨‍👩‍👧", "🇩🇪", "☃", "©", "€", "aaaaaaaa", "ababababab", "zzzzzzzzzzzzzzzzzzzzzzzzzz", "AAAAAAAAAAAA",
];

/// The sample of a seed: pieces, random letters and random characters.
pub(crate) fn make_sample(seed: u64) -> String {
    let mut random = SampleRng(seed);
    let mut acc = String::new();
    // A few are longer than the model reads.
    let n_pieces = if random.below(200) == 0 { 900 } else { 1 + random.below(24) };
    for _ in 0..n_pieces {
        match random.below(8) {
            0..=4 => acc.push_str(PIECES[random.below(PIECES.len())]),
            5 => acc.extend((0..=random.below(8)).map(|_| random.letter())),
            6 => acc.extend((0..=random.below(3)).map(|_| random.any_char())),
            _ => {
                let word = PIECES[random.below(PIECES.len())];
                acc.push_str(&word.repeat(1 + random.below(6)));
            }
        }
    }
    acc
}

/// `SplitMix64` (Steele et al. 2014), which gives the same numbers everywhere and needs no crate.
struct SampleRng(u64);

impl SampleRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a small number");
        usize::try_from(self.next() % end).expect("below a small number")
    }

    fn letter(&mut self) -> char {
        let small = u8::try_from(self.below(26)).expect("below 26");
        char::from(if self.below(6) == 0 { b'A' } else { b'a' } + small)
    }

    /// Any character; half of them from the edges of the tables, where a mistake is most likely.
    fn any_char(&mut self) -> char {
        let table = if self.below(2) == 0 { LETTER_RANGES } else { NUMBER_RANGES };
        let (first, last) = table[self.below(table.len())];
        let edges = [first, last, first.wrapping_sub(1), last + 1];
        let anywhere = u32::try_from(self.below(0x11_0000)).expect("a code point");
        let code = if self.below(2) == 0 { anywhere } else { edges[self.below(4)] };
        char::from_u32(code).unwrap_or('\u{fffd}')
    }
}

/// Adds tokens to a hash, so that the fixture needs one number per line instead of all tokens.
pub(crate) fn hash_tokens(acc: u64, tokens: impl Iterator<Item = u32>) -> u64 {
    let step = |acc: u64, it: u64| (acc ^ it).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
    tokens.fold(step(acc, 0xFFFF_FFFF), |acc, it| step(acc, u64::from(it)))
}
