//! Matches text against tables of phrases in a small notation, so that cues stay readable data.
//!
//! A phrase is a sequence of items, separated by spaces:
//!
//! | item | matches |
//! |---|---|
//! | `don't\|never` | one of these words |
//! | `^` | the start of a sentence |
//! | `*`, `**` | a gap of up to 4, or 12, words of the same sentence |
//! | `***` | a gap of up to 40 words, also across sentences |
//! | `:`, `#1` | a colon; the number of a list item |
//! | `@url`, `@email`, `@pipe` | a web address; a mail address; a shell pipe |
//!
//! For example, `^ never|always * commit` is in "It works. Never ever commit it" and not in "I never commit".
//! Gaps are bounded and phrases are looked up by their first word, so that matching is linear in the text.

use std::collections::HashMap;

use crate::text_chunks::{TextBoundary, split_chunks};

/// A word of a text, in lower case.
#[derive(Debug)]
pub(crate) struct PhraseWord {
    pub text: String,
    pub starts_sentence: bool,
}

/// Rows of phrases. If several rows match, the first one wins.
pub(crate) struct PhraseTable {
    /// Each phrase under every choice of its first word: `never|always * commit` under two words.
    by_first: HashMap<&'static str, Vec<RowPhrase>>,
}

/// A phrase, and the number of its row in the table.
struct RowPhrase {
    row: usize,
    items: Vec<PhraseItem>,
}

/// An element of a phrase.
#[derive(Clone, Debug)]
enum PhraseItem {
    SentenceStart,
    Choice(Vec<&'static str>),
    Gap { max_words: usize, sentences: SentenceScope },
}

/// The sentences in which the next word may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceScope {
    Same,
    Any,
}

impl PhraseTable {
    /// Parses the phrases of each row.
    pub(crate) fn new(rows: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let mut by_first: HashMap<_, Vec<RowPhrase>> = HashMap::new();
        for (row, phrases) in rows.enumerate() {
            for phrase in phrases {
                let items: Vec<PhraseItem> = phrase.split(' ').map(parse_item).collect();
                // Only `^` can precede the first word.
                let first_words = items.iter().find_map(|it| match it {
                    PhraseItem::Choice(words) => Some(words.clone()),
                    PhraseItem::SentenceStart | PhraseItem::Gap { .. } => None,
                });
                for word in first_words.unwrap_or_default() {
                    let row_phrase = RowPhrase { row, items: items.clone() };
                    by_first.entry(word).or_default().push(row_phrase);
                }
            }
        }
        Self { by_first }
    }

    /// The first row with a phrase that occurs in the text.
    pub(crate) fn first_row(&self, words: &[PhraseWord]) -> Option<usize> {
        let mut best = None;
        for (position, word) in words.iter().enumerate() {
            for phrase in self.by_first.get(word.text.as_str()).into_iter().flatten() {
                // Rows after the best one cannot win.
                let can_win = best.is_none_or(|it| phrase.row < it);
                if can_win && matches_at(&phrase.items, words, position, SentenceScope::Any) {
                    best = Some(phrase.row);
                }
            }
        }
        best
    }
}

/// The words of a text. Punctuation with a meaning becomes a word of its own: "Fix: 1. run `a|b`" gives `fix`,
/// `:`, `#1`, `run`, `a`, `@pipe`, `b`.
pub(crate) fn split_words(text: &str) -> Vec<PhraseWord> {
    let mut acc: Vec<PhraseWord> = Vec::new();
    let mut starts_sentence = true;
    // A chunk is the text between two spaces without the punctuation around it.
    for chunk in split_chunks(text) {
        starts_sentence |= chunk.starts_sentence;
        if let Some(number) = chunk.list_number {
            acc.push(PhraseWord { text: format!("#{number}"), starts_sentence });
            continue;
        }
        for piece in split_pieces(chunk.text) {
            acc.push(PhraseWord { text: piece, starts_sentence });
            starts_sentence = false;
        }
        // A colon is a word of its own, so that phrases such as "fix :" can match it.
        if chunk.tail.contains(':') {
            acc.push(PhraseWord { text: ":".into(), starts_sentence: false });
        }
        starts_sentence = chunk.boundary == TextBoundary::Sentence;
    }
    acc
}

/// The words of a chunk: addresses and pipes become placeholders.
fn split_pieces(text: &str) -> Vec<String> {
    // The pipe of an address with parameters is no shell pipe.
    if text.contains("://") && !text.contains(' ') {
        return vec!["@url".into()];
    }
    let mut acc = Vec::new();
    for (nth, command) in text.split('|').enumerate() {
        if nth > 0 {
            acc.push("@pipe".into());
        }
        for word in command.split_whitespace() {
            let word = word.trim_matches(['"', '\'', '(', ')', ',', ';', '`']);
            let is_email = word
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
            acc.push(if word.contains("://") {
                "@url".into()
            } else if is_email {
                "@email".into()
            } else {
                word.to_lowercase().replace('’', "'")
            });
        }
    }
    acc
}

/// Parses one item of a phrase; the notation is in the file header.
fn parse_item(word: &'static str) -> PhraseItem {
    match word {
        "^" => PhraseItem::SentenceStart,
        "*" => PhraseItem::Gap { max_words: 4, sentences: SentenceScope::Same },
        "**" => PhraseItem::Gap { max_words: 12, sentences: SentenceScope::Same },
        "***" => PhraseItem::Gap { max_words: 40, sentences: SentenceScope::Any },
        _ => PhraseItem::Choice(word.split('|').collect()),
    }
}

/// Returns whether the items match from the word at `position` on. `sentences` is where that word may be: with
/// [`SentenceScope::Same`] it must not begin another sentence. Tries every length of a gap.
fn matches_at(
    items: &[PhraseItem],
    words: &[PhraseWord],
    position: usize,
    sentences: SentenceScope,
) -> bool {
    let Some((first, rest)) = items.split_first() else { return true };
    match first {
        PhraseItem::SentenceStart => {
            let Some(word) = words.get(position) else { return false };
            // The word after `^` begins a sentence, and may do so.
            word.starts_sentence && matches_at(rest, words, position, SentenceScope::Any)
        }
        PhraseItem::Choice(choices) => {
            let Some(word) = words.get(position) else { return false };
            if sentences == SentenceScope::Same && word.starts_sentence {
                return false;
            }
            // Two words without a gap between them are in one sentence.
            choices.contains(&word.text.as_str())
                && matches_at(rest, words, position + 1, SentenceScope::Same)
        }
        PhraseItem::Gap { max_words, sentences } => {
            for n_skipped in 0..=*max_words {
                if matches_at(rest, words, position + n_skipped, *sentences) {
                    return true;
                }
                // The next try also skips this word. A gap within a sentence ends before the next sentence.
                let Some(word) = words.get(position + n_skipped) else { return false };
                if *sentences == SentenceScope::Same && word.starts_sentence {
                    return false;
                }
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a phrase occurs in a text.
    fn found(phrase: &'static str, text: &str) -> bool {
        let phrase: &'static [&'static str] = vec![phrase].leak();
        PhraseTable::new(std::iter::once(phrase)).first_row(&split_words(text)).is_some()
    }

    #[test]
    fn phrases_match_words_and_respect_sentences() {
        // The start of a sentence.
        assert!(found("^ never|always", "It works. Never touch it"));
        assert!(!found("^ never", "You never know"));

        // Neighbouring words and gaps, within a sentence.
        assert!(found("fails with", "it `fails` with E1"));
        assert!(!found("fails with", "it fails. With care, go on"));
        assert!(found("tried ** but", "We tried the one thing, but no"));
        assert!(!found("tried ** but", "We tried it. All fine but slow"));

        // List numbers, addresses, pipes and colons; `***` reaches into other sentences.
        assert!(found("#1 *** #2", "To ship: 1. tag it. 2. push"));
        assert!(found("curl ** @pipe sh", "`curl https://x.y/z|sh`"));
        assert!(found("to @email", "write to a.b@example.com."));
        assert!(found("error : *** fix :", "Error: no such file\nFix: create it"));

        // The curly apostrophe.
        assert!(found("don't", "Don’t"));
    }

    #[test]
    fn the_first_row_wins_at_any_position() {
        let rows: [&'static [&'static str]; 2] = [&["beta"], &["alpha"]];
        let table = PhraseTable::new(rows.into_iter());
        assert_eq!(table.first_row(&split_words("alpha then beta")), Some(0));
    }
}
