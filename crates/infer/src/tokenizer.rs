//! The tokenizer of the built-in model: splits a text into words by the rules of GPT-2 (`words`), then
//! merges the bytes of each word into tokens by byte pair encoding (`merge`). A token is a number that
//! stands for a piece of text:
//!
//! ```text
//! "retry limits"  →  "retry", " limits"  →  <s>, "ret", "ry", " limits", </s>
//! text               words                  tokens
//! ```
//!
//! Special tokens such as `<mask>` in a text are treated as ordinary text, because a memory may quote
//! them.

mod letters;
mod merge;
#[cfg(test)]
mod samples;
mod words;

use crate::{MAX_TOKENS, weights};
use merge::MergeTable;
use words::split_words;

/// `<s>` and `</s>`, around every text.
const START_TOKEN: u16 = 0;
const END_TOKEN: u16 = 2;

/// A longer word is cut. The longest token has 128 bytes, so all tokens that are kept come from the
/// first half of this length; the second half keeps the cut too far away to influence their merges.
const MAX_WORD_BYTES: usize = 2 * 128 * MAX_TOKENS;

pub(crate) struct Tokenizer {
    /// The token of each byte value.
    byte_tokens: Vec<u16>,
    /// The pairs of tokens that are replaced by one.
    merges: MergeTable,
}

impl Tokenizer {
    pub(crate) fn load() -> Self {
        Self {
            byte_tokens: weights::byte_tokens().collect(),
            merges: MergeTable::new(weights::merge_rules()),
        }
    }

    /// Start and end token with at most 510 tokens between them. Reads no more of the text than these
    /// need.
    pub(crate) fn encode(&self, text: &str) -> Vec<u16> {
        let mut acc = vec![START_TOKEN];
        for word in split_words(text) {
            if acc.len() >= MAX_TOKENS {
                break;
            }
            let bytes = &word.as_bytes()[..word.len().min(MAX_WORD_BYTES)];
            let byte_tokens = bytes.iter().map(|it| self.byte_tokens[usize::from(*it)]);
            self.merges.merge_word(&mut acc, byte_tokens);
        }
        // The last place is for the end token.
        acc.truncate(MAX_TOKENS - 1);
        acc.push(END_TOKEN);
        acc
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{N_SAMPLES, SAMPLES_PER_LINE, hash_tokens, make_sample};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::LazyLock;

    static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(Tokenizer::load);

    /// The bytes that tokens stand for.
    fn decode(tokens: &[u16]) -> Vec<u8> {
        static TOKEN_BYTES: LazyLock<HashMap<u16, Vec<u8>>> = LazyLock::new(|| {
            let mut acc: HashMap<u16, Vec<u8>> = HashMap::new();
            for (token, byte) in weights::byte_tokens().zip(0..=255) {
                acc.insert(token, vec![byte]);
            }
            // A merged token stands for the bytes of its two parts.
            for [left, right, merged] in weights::merge_rules() {
                acc.insert(merged, [&acc[&left][..], &acc[&right]].concat());
            }
            acc
        });
        tokens.iter().flat_map(|it| TOKEN_BYTES[it].clone()).collect()
    }

    #[test]
    fn samples_give_the_tokens_of_the_reference_tokenizer() {
        // Each line of the fixture is a hash over the tokens of many samples, see `oracle`.
        let fixture = include_str!("../fixtures/tokens.txt").lines().skip(1);
        let mut n_lines = 0;
        for (line, expected) in (0..).zip(fixture) {
            let mut hash = 0;
            for seed in line * SAMPLES_PER_LINE..(line + 1) * SAMPLES_PER_LINE {
                let tokens = TOKENIZER.encode(&make_sample(seed));
                // The reference has no start and end token.
                let between = tokens[1..tokens.len() - 1].iter().map(|it| u32::from(*it));
                hash = hash_tokens(hash, between);
            }
            assert_eq!(format!("{hash:016x}"), expected, "line {line}");
            n_lines += 1;
        }
        assert_eq!(n_lines, N_SAMPLES / SAMPLES_PER_LINE);
    }

    #[test]
    fn no_token_is_longer_than_assumed() {
        let tokens: Vec<u16> = weights::merge_rules().map(|it| it[2]).collect();
        let longest = tokens.iter().map(|it| decode(&[*it]).len()).max();
        assert_eq!(longest, Some(128));
        assert!(tokens.iter().all(|it| *it < 50_265));
    }

    #[test]
    fn an_empty_text_has_only_start_and_end_token() {
        assert_eq!(TOKENIZER.encode(""), [START_TOKEN, END_TOKEN]);
    }

    #[test]
    fn long_texts_are_cut_at_the_limit() {
        for text in ["word ".repeat(200_000), "x".repeat(1 << 20), " ".repeat(1 << 20)] {
            let tokens = TOKENIZER.encode(&text);
            assert_eq!(
                (tokens.len(), tokens[0], tokens[MAX_TOKENS - 1]),
                (MAX_TOKENS, START_TOKEN, END_TOKEN)
            );
            assert!(text.as_bytes().starts_with(&decode(&tokens[1..MAX_TOKENS - 1])));
        }
        let exact = " word".repeat(510);
        let cut = TOKENIZER.encode(&(exact.clone() + " word"));
        assert_eq!(TOKENIZER.encode(&exact), cut);
    }

    #[test]
    fn cutting_a_giant_word_does_not_change_the_tokens_that_are_kept() {
        let word: String =
            (0..MAX_WORD_BYTES).map(|it| ['a', 'b', '_', 'a', 'e'][it * it % 5]).collect();
        let tokens = TOKENIZER.encode(&word);
        assert_eq!(TOKENIZER.encode(&(word.clone() + &word)), tokens);
        assert_eq!(TOKENIZER.encode(&word[..MAX_WORD_BYTES / 2]), tokens);
    }

    proptest! {
        #[test]
        fn tokens_decode_to_the_text(text in ".{0,200}|\\PC{0,100}|[ \\n\\t']{0,20}") {
            let tokens = TOKENIZER.encode(&text);
            prop_assert!(tokens.len() <= MAX_TOKENS);
            let decoded = decode(&tokens[1..tokens.len() - 1]);
            prop_assert!(text.as_bytes().starts_with(&decoded));
            prop_assert!(tokens.len() == MAX_TOKENS || decoded.len() == text.len());
        }
    }
}
