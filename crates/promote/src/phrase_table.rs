//! A small notation for phrases, so that cue tables stay readable data.
//!
//! A phrase is words separated by spaces, each one a choice (`don't|never`). `^` stands for the start of a
//! sentence, `*` for up to 4 words, `**` for up to 12, `***` for up to 40 that may cross sentences. `:` is a colon,
//! `#1` a numbered step, `@url` and `@email` addresses, `@pipe` a shell pipe. Gaps are bounded and phrases
//! are looked up by their first word, so matching is linear in the text.

use std::collections::HashMap;

use crate::text_chunks::{TextBoundary, split_chunks};

/// A word of a text in lower case, as phrases see it.
#[derive(Debug)]
pub(crate) struct PhraseWord {
    pub text: String,
    pub starts_sentence: bool,
}

/// Rows of phrases; which row wins is the order of the rows.
pub(crate) struct PhraseTable {
    /// First words → (row, the phrase).
    by_first: HashMap<&'static str, Vec<(usize, Vec<PhraseItem>)>>,
}

#[derive(Clone, Debug)]
enum PhraseItem {
    SentenceStart,
    Choice(Vec<&'static str>),
    Gap { words: usize, crosses: bool },
}

impl PhraseTable {
    pub(crate) fn new(rows: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let mut by_first: HashMap<_, Vec<_>> = HashMap::new();
        for (row, phrases) in rows.enumerate() {
            for phrase in phrases {
                let items: Vec<PhraseItem> = phrase.split(' ').map(parse_item).collect();
                let first = items.iter().find_map(|it| match it {
                    PhraseItem::Choice(words) => Some(words.clone()),
                    _ => None,
                });
                for word in first.into_iter().flatten() {
                    by_first.entry(word).or_default().push((row, items.clone()));
                }
            }
        }
        Self { by_first }
    }

    /// The first row that occurs anywhere in the text.
    pub(crate) fn first_row(&self, words: &[PhraseWord]) -> Option<usize> {
        let mut best = None;
        for (at, word) in words.iter().enumerate() {
            for (row, items) in self.by_first.get(word.text.as_str()).into_iter().flatten() {
                if best.is_none_or(|it| *row < it) && matches_at(items, words, at, true) {
                    best = Some(*row);
                }
            }
        }
        best
    }
}

/// The words of a text; punctuation that carries meaning becomes a word of its own.
pub(crate) fn split_words(text: &str) -> Vec<PhraseWord> {
    let mut acc: Vec<PhraseWord> = Vec::new();
    let mut opens = true;
    for chunk in split_chunks(text) {
        opens |= chunk.starts_sentence;
        if let Some(number) = chunk.list_number {
            acc.push(PhraseWord { text: format!("#{number}"), starts_sentence: opens });
            continue;
        }
        for piece in split_pieces(chunk.text) {
            acc.push(PhraseWord { text: piece, starts_sentence: opens });
            opens = false;
        }
        if chunk.tail.contains(':') {
            acc.push(PhraseWord { text: ":".into(), starts_sentence: false });
        }
        opens = chunk.boundary == TextBoundary::Sentence;
    }
    acc
}

fn split_pieces(text: &str) -> Vec<String> {
    if text.contains("://") && !text.contains(' ') {
        return vec!["@url".into()];
    }
    let mut acc = Vec::new();
    for (nth, side) in text.split('|').enumerate() {
        if nth > 0 {
            acc.push("@pipe".into());
        }
        for word in side.split_whitespace() {
            let word = word.trim_matches(['"', '\'', '(', ')', ',', ';', '`']);
            let host =
                word.split_once('@').filter(|(name, host)| !name.is_empty() && host.contains('.'));
            acc.push(match word {
                _ if word.contains("://") => "@url".into(),
                _ if host.is_some() => "@email".into(),
                _ => word.to_lowercase().replace('’', "'"),
            });
        }
    }
    acc
}

fn parse_item(word: &'static str) -> PhraseItem {
    match word {
        "^" => PhraseItem::SentenceStart,
        "*" => PhraseItem::Gap { words: 4, crosses: false },
        "**" => PhraseItem::Gap { words: 12, crosses: false },
        "***" => PhraseItem::Gap { words: 40, crosses: true },
        _ => PhraseItem::Choice(word.split('|').collect()),
    }
}

/// Whether the phrase stands at this word. `free`: the word may open a new sentence.
fn matches_at(items: &[PhraseItem], words: &[PhraseWord], at: usize, free: bool) -> bool {
    let Some((first, rest)) = items.split_first() else { return true };
    let here = words.get(at);
    match first {
        PhraseItem::SentenceStart => {
            here.is_some_and(|it| it.starts_sentence) && matches_at(rest, words, at, true)
        }
        PhraseItem::Choice(choices) => here.is_some_and(|it| {
            (free || !it.starts_sentence)
                && choices.contains(&it.text.as_str())
                && matches_at(rest, words, at + 1, false)
        }),
        PhraseItem::Gap { words: most, crosses } => (0..=*most)
            .take_while(|skip| {
                *crosses
                    || *skip == 0
                    || words.get(at + skip - 1).is_some_and(|it| !it.starts_sentence)
            })
            .any(|skip| matches_at(rest, words, at + skip, *crosses)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(phrase: &'static str, text: &str) -> bool {
        let phrase: &'static [&'static str] = vec![phrase].leak();
        PhraseTable::new(std::iter::once(phrase)).first_row(&split_words(text)).is_some()
    }

    #[test]
    fn phrases_match_words_and_respect_sentences() {
        assert!(found("^ never|always", "It works. Never touch it"));
        assert!(!found("^ never", "You never know"));
        assert!(found("fails with", "it `fails` with E1"));
        assert!(!found("fails with", "it fails. With care, go on"));
        assert!(found("tried ** but", "We tried the one thing, but no"));
        assert!(!found("tried ** but", "We tried it. All fine but slow"));
        assert!(found("#1 *** #2", "To ship: 1. tag it. 2. push"));
        assert!(found("curl ** @pipe sh", "`curl https://x.y/z|sh`"));
        assert!(found("to @email", "write to a.b@example.com."));
        assert!(found("error : *** fix :", "Error: no such file\nFix: create it"));
        assert!(found("don't", "Don’t"));
    }

    #[test]
    fn the_first_row_wins_wherever_it_stands() {
        let rows: [&'static [&'static str]; 2] = [&["beta"], &["alpha"]];
        assert_eq!(
            PhraseTable::new(rows.into_iter()).first_row(&split_words("alpha then beta")),
            Some(0)
        );
    }
}
