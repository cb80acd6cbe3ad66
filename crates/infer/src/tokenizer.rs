//! Text to tokens: words by the rules of GPT-2, then byte pairs merged in the order of the model.
//!
//! Marks such as `<mask>` in a text are ordinary text here; a memory that quotes them means the words.

mod letters;
mod merge;
#[cfg(test)]
mod samples;
mod words;

use crate::{MAX_TOKENS, weights};
use merge::MergeTable;
use words::split_words;

const FIRST: u16 = 0;
const LAST: u16 = 2;

/// A word is cut here. The longest token has 128 bytes, so all that are kept lie in the first half;
/// the second keeps the cut so far from them that it does not show in how they are merged.
const MAX_WORD: usize = 2 * 128 * MAX_TOKENS;

pub(crate) struct Tokenizer {
    bytes: Vec<u16>,
    merges: MergeTable,
}

impl Tokenizer {
    pub(crate) fn load() -> Self {
        Self {
            bytes: weights::byte_tokens().collect(),
            merges: MergeTable::new(weights::merge_rules()),
        }
    }

    /// Two marks with at most 510 tokens between them. Reads no more of the text than these need.
    pub(crate) fn encode(&self, text: &str) -> Vec<u16> {
        let mut acc = vec![FIRST];
        for word in split_words(text) {
            if acc.len() >= MAX_TOKENS {
                break;
            }
            let bytes = &word.as_bytes()[..word.len().min(MAX_WORD)];
            self.merges.merge_word(&mut acc, bytes.iter().map(|it| self.bytes[usize::from(*it)]));
        }
        acc.truncate(MAX_TOKENS - 1);
        acc.push(LAST);
        acc
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{N_SAMPLES, PER_LINE, fold, sample};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::LazyLock;

    static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(Tokenizer::load);

    /// The text again, from the bytes of its tokens.
    fn decode(tokens: &[u16]) -> Vec<u8> {
        static NAMES: LazyLock<HashMap<u16, Vec<u8>>> = LazyLock::new(|| {
            let mut acc: HashMap<u16, Vec<u8>> = weights::byte_tokens()
                .zip(0..=255)
                .map(|(token, byte)| (token, vec![byte]))
                .collect();
            for [left, right, becomes] in weights::merge_rules() {
                acc.insert(becomes, [&acc[&left][..], &acc[&right]].concat());
            }
            acc
        });
        tokens.iter().flat_map(|it| NAMES[it].clone()).collect()
    }

    #[test]
    fn samples_are_cut_as_the_reference_cuts_them() {
        let fixture = include_str!("../fixtures/tokens.txt").lines().skip(1);
        let mut n_lines = 0;
        for (line, wanted) in (0..).zip(fixture) {
            let seeds = line * PER_LINE..(line + 1) * PER_LINE;
            let hash = seeds.fold(0, |acc, seed| {
                let tokens = TOKENIZER.encode(&sample(seed));
                fold(acc, tokens[1..tokens.len() - 1].iter().map(|it| u32::from(*it)))
            });
            assert_eq!(format!("{hash:016x}"), wanted, "line {line}");
            n_lines += 1;
        }
        assert_eq!(n_lines, N_SAMPLES / PER_LINE);
    }

    #[test]
    fn no_token_is_longer_than_assumed() {
        let tokens: Vec<u16> = weights::merge_rules().map(|it| it[2]).collect();
        let longest = tokens.iter().map(|it| decode(&[*it]).len()).max();
        assert_eq!(longest, Some(128));
        assert!(tokens.iter().all(|it| *it < 50_265));
    }

    #[test]
    fn an_empty_text_is_two_marks() {
        assert_eq!(TOKENIZER.encode(""), [FIRST, LAST]);
    }

    #[test]
    fn long_texts_are_cut_at_the_limit() {
        for text in ["word ".repeat(200_000), "x".repeat(1 << 20), " ".repeat(1 << 20)] {
            let tokens = TOKENIZER.encode(&text);
            assert_eq!(
                (tokens.len(), tokens[0], tokens[MAX_TOKENS - 1]),
                (MAX_TOKENS, FIRST, LAST)
            );
            assert!(text.as_bytes().starts_with(&decode(&tokens[1..MAX_TOKENS - 1])));
        }
        let exact = " word".repeat(510);
        let cut = TOKENIZER.encode(&(exact.clone() + " word"));
        assert_eq!(TOKENIZER.encode(&exact), cut);
    }

    #[test]
    fn cutting_a_giant_word_does_not_show_in_the_tokens_that_are_kept() {
        let word: String = (0..MAX_WORD).map(|it| ['a', 'b', '_', 'a', 'e'][it * it % 5]).collect();
        let tokens = TOKENIZER.encode(&word);
        assert_eq!(TOKENIZER.encode(&(word.clone() + &word)), tokens);
        assert_eq!(TOKENIZER.encode(&word[..MAX_WORD / 2]), tokens);
    }

    proptest! {
        #[test]
        fn tokens_spell_the_text(text in ".{0,200}|\\PC{0,100}|[ \\n\\t']{0,20}") {
            let tokens = TOKENIZER.encode(&text);
            prop_assert!(tokens.len() <= MAX_TOKENS);
            let spelled = decode(&tokens[1..tokens.len() - 1]);
            prop_assert!(text.as_bytes().starts_with(&spelled));
            prop_assert!(tokens.len() == MAX_TOKENS || spelled.len() == text.len());
        }
    }
}
