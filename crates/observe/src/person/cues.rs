//! Finds the cues of a sentence, in the language that fits the whole message best.
//!
//! A sentence is cut into tokens: words in lower case, punctuation, and one placeholder for each piece of code
//! or quotation, whose words are not the person's. Example: "No, use `pnpm`, not npm" → `no` `,` `use` `‹code›`
//! `,` `not` `npm`, with the cues "no ," (objection), "use" (choice) and ", not" (contrast).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::cue_table::{CueKind, LANGUAGES, LanguageCues};

/// Stands for code in backticks.
pub(super) const CODE_TOKEN: &str = "‹code›";
/// Stands for a quotation of several words.
const QUOTE_TOKEN: &str = "‹quote›";
/// Quotations of at most so many words are names and stay.
const MAX_NAME_WORDS: usize = 2;
/// Characters of a language without blanks that count as one word.
const CHARS_PER_WORD: usize = 2;

/// A sentence, cut for the comparison with cues.
#[derive(Debug)]
pub(super) struct CutSentence {
    pub(super) tokens: Vec<String>,
    /// The byte at which each token ends in the sentence. A token can be shorter or longer than its text.
    ends: Vec<usize>,
    /// The sentence in lower case without code and quotations, for languages without blanks.
    plain: String,
    /// Words, also in languages without blanks.
    pub(super) n_words: usize,
}

/// A cue in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundCue {
    pub(super) kind: CueKind,
    /// Index of its first token; in a language without blanks, 0 at the beginning and else 1.
    pub(super) at: usize,
    /// Tokens of the phrase.
    pub(super) n_tokens: usize,
    /// The byte at which it ends in the sentence.
    pub(super) end: usize,
}

/// A phrase of the index of spaced languages.
struct IndexedPhrase {
    language: usize,
    kind: CueKind,
    is_opening: bool,
    tokens: Vec<&'static str>,
}

/// The phrases of all spaced languages by their first token, so that a sentence costs one lookup per token.
static PHRASES: LazyLock<HashMap<&'static str, Vec<IndexedPhrase>>> = LazyLock::new(|| {
    let mut acc: HashMap<&'static str, Vec<IndexedPhrase>> = HashMap::new();
    for (language, row) in LANGUAGES.iter().enumerate().filter(|(_, it)| !it.is_unspaced) {
        for (kind, phrases) in row.cues {
            for phrase in *phrases {
                let is_opening = phrase.starts_with('^');
                let tokens: Vec<&str> = phrase.trim_start_matches('^').split(' ').collect();
                let indexed = IndexedPhrase { language, kind: *kind, is_opening, tokens };
                acc.entry(indexed.tokens[0]).or_default().push(indexed);
            }
        }
    }
    acc
});

/// Cuts a sentence into tokens.
pub(super) fn cut_sentence(sentence: &str) -> CutSentence {
    let mut cut =
        CutSentence { tokens: Vec::new(), ends: Vec::new(), plain: String::new(), n_words: 0 };
    let mut rest = 0;
    while let Some(char) = sentence[rest..].chars().next() {
        let end = rest + char.len_utf8();
        rest = if char == '`' {
            cut.push_enclosed(sentence, rest, '`', CODE_TOKEN)
        } else if let Some(close) = closing_quote(char)
            && is_long_quote(&sentence[end..], close)
        {
            cut.push_enclosed(sentence, rest, close, QUOTE_TOKEN)
        } else if is_word_char(char) {
            cut.push_word(sentence, rest)
        } else {
            cut.push_punctuation(char, end);
            end
        };
    }
    let wide = cut.plain.chars().filter(|it| is_unspaced_char(*it)).count();
    let words = cut.tokens.iter().filter(|it| it.starts_with(is_word_start)).count();
    cut.n_words = words + wide / CHARS_PER_WORD;
    cut
}

impl CutSentence {
    fn push(&mut self, token: String, end: usize) {
        self.plain.push_str(&token);
        self.tokens.push(token);
        self.ends.push(end);
    }

    fn push_word(&mut self, sentence: &str, start: usize) -> usize {
        let text = &sentence[start..];
        let end = text.find(|it: char| !is_word_char(it)).unwrap_or(text.len());
        // "main." ends with a full stop, `a.rs` contains one.
        let word = text[..end].trim_end_matches(['.', '-', '\'', '’', '/']);
        let word = if word.is_empty() { &text[..end] } else { word };
        let end = start + word.len();
        self.push(word.replace('’', "'").to_lowercase(), end);
        end
    }

    fn push_punctuation(&mut self, char: char, end: usize) {
        if char.is_whitespace() {
            self.plain.push(' ');
            return;
        }
        // A dash separates clauses like a comma.
        let token = match char {
            '–' | '—' => ",".to_owned(),
            '：' => ":".to_owned(),
            other => other.to_string(),
        };
        self.push(token, end);
    }

    /// Pushes a placeholder for text between two marks; without the second, to the end of the sentence.
    fn push_enclosed(&mut self, sentence: &str, start: usize, close: char, token: &str) -> usize {
        let open = sentence[start..].chars().next().map_or(1, char::len_utf8);
        let inside = &sentence[start + open..];
        let length = inside.find(close).map_or(inside.len(), |it| it + close.len_utf8());
        let end = start + open + length;
        self.push(token.to_owned(), end);
        end
    }
}

/// Characters of words; a path, a version or an option is one word.
fn is_word_char(char: char) -> bool {
    char.is_alphanumeric()
        || matches!(char, '_' | '\'' | '’' | '-' | '/' | '.' | '@' | '#' | '$' | '~')
}

fn is_word_start(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '‹' | '/' | '@' | '.' | '_' | '-')
}

/// Returns whether a character belongs to a script without blanks between words.
pub(super) fn is_unspaced_char(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '“' | '„' => Some('”'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Returns whether a quotation of more than a name follows.
fn is_long_quote(inside: &str, close: char) -> bool {
    let Some(end) = inside.find(close) else { return false };
    inside[..end].split_whitespace().count() > MAX_NAME_WORDS
}

/// The language that most tokens of the sentences belong to.
pub(super) fn detect_language(sentences: &[CutSentence]) -> &'static LanguageCues {
    let scores: Vec<usize> = (0..LANGUAGES.len())
        .map(|language| sentences.iter().map(|it| score_language(it, language)).sum())
        .collect();
    let best = scores.iter().max().copied().unwrap_or(0);
    let first = scores.iter().position(|it| *it == best).unwrap_or(0);
    &LANGUAGES[first]
}

fn score_language(sentence: &CutSentence, language: usize) -> usize {
    let row = &LANGUAGES[language];
    if !row.is_unspaced {
        return find_spaced(sentence, language).iter().map(|it| it.n_tokens).sum();
    }
    // Kana occurs in Japanese alone, Hangul in Korean; Han without kana is Chinese.
    let has = |low: char, high: char| sentence.plain.chars().any(|it| (low..=high).contains(&it));
    let fits = match row.language {
        "ja" => has('\u{3040}', '\u{30ff}'),
        "ko" => has('\u{ac00}', '\u{d7af}'),
        _ => has('\u{3400}', '\u{9fff}') && !has('\u{3040}', '\u{30ff}'),
    };
    // Latin names within such a sentence say nothing about its language.
    if fits { sentence.tokens.len().max(sentence.n_words) * 2 } else { 0 }
}

/// The cues of a sentence, in the order of their positions.
pub(super) fn find_cues(sentence: &CutSentence, language: &LanguageCues) -> Vec<FoundCue> {
    if language.is_unspaced {
        return find_unspaced(sentence, language);
    }
    let number = LANGUAGES.iter().position(|it| it.language == language.language);
    find_spaced(sentence, number.unwrap_or(0))
}

fn find_spaced(sentence: &CutSentence, language: usize) -> Vec<FoundCue> {
    let tokens = &sentence.tokens;
    let mut acc: Vec<FoundCue> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let fits = |it: &&IndexedPhrase| {
            it.language == language
                && (!it.is_opening || at == 0)
                && tokens[at..].len() >= it.tokens.len()
                && it.tokens.iter().zip(&tokens[at..]).all(|(a, b)| *a == b)
        };
        let here = PHRASES.get(tokens[at].as_str()).map(Vec::as_slice).unwrap_or_default();
        let longest = here.iter().filter(fits).map(|it| it.tokens.len()).max().unwrap_or(0);
        for phrase in here.iter().filter(|it| fits(it) && it.tokens.len() == longest) {
            let end = sentence.ends[at + longest - 1];
            acc.push(FoundCue { kind: phrase.kind, at, n_tokens: longest, end });
        }
        at += longest.max(1);
    }
    acc
}

/// The longest phrase of one kind at the beginning of a sentence, also if a longer one of another kind begins
/// there.
pub(super) fn find_opening(
    sentence: &CutSentence,
    language: &LanguageCues,
    kind: CueKind,
) -> Option<FoundCue> {
    if language.is_unspaced {
        let found = find_unspaced(sentence, language).into_iter();
        return found.filter(|it| it.kind == kind && it.at == 0).max_by_key(|it| it.end);
    }
    let tokens = &sentence.tokens;
    let here = PHRASES.get(tokens.first()?.as_str())?;
    let fits = |it: &&IndexedPhrase| {
        it.kind == kind
            && LANGUAGES[it.language].language == language.language
            && tokens.len() >= it.tokens.len()
            && it.tokens.iter().zip(tokens).all(|(a, b)| *a == b)
    };
    let n_tokens = here.iter().filter(fits).map(|it| it.tokens.len()).max()?;
    let end = sentence.ends[n_tokens - 1];
    Some(FoundCue { kind, at: 0, n_tokens, end })
}

fn find_unspaced(sentence: &CutSentence, language: &LanguageCues) -> Vec<FoundCue> {
    let mut acc = Vec::new();
    for (kind, phrases) in language.cues {
        for phrase in *phrases {
            let opening = phrase.strip_prefix('^');
            let found = match opening {
                Some(opening) => sentence.plain.starts_with(opening).then_some(0),
                None => sentence.plain.find(phrase),
            };
            if let Some(start) = found {
                let end = start + opening.unwrap_or(phrase).len();
                acc.push(FoundCue { kind: *kind, at: usize::from(start > 0), n_tokens: 1, end });
            }
        }
    }
    acc.sort_by_key(|it| it.at);
    acc
}
