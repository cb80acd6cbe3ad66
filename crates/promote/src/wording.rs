//! Short forms of a memory: the summary that is injected, and the citation by which a text refers to it.
//!
//! ```text
//! content    Never commit directly to the main branch of this repository
//! summary    the same: a short text is its own summary, a long one loses its sentences with the fewest facts
//! citation   Never commit directly to the main branch
//! ```
//!
//! Both are stored with the memory when it is written. Words are only removed, never added, so that a
//! summary cannot claim more than the content.

use model::{MAX_CITATION, MemoryKind, MemoryType, clean_label, words::is_stop_word};

use crate::text_chunks::{split_chunks, split_sentences};

/// The longest summary, in characters: about 35 tokens.
pub const MAX_SUMMARY_CHARS: usize = 180;

/// Points of a sentence for being the first one, and for each negation, key word and fact. A fact is a
/// number, a path or something in backticks.
const FIRST_SENTENCE_POINTS: usize = 3;
const NEGATION_POINTS: usize = 3;
const KEY_WORD_POINTS: usize = 4;
const FACT_POINTS: usize = 2;
/// Further facts add nothing, or a list of paths would win over every sentence.
const MAX_RATED_FACTS: usize = 4;

/// Words without which a sentence would mean the opposite.
const NEGATION_WORDS: &[&str] =
    &["not", "never", "no", "don't", "doesn't", "cannot", "can't", "without", "avoid", "unless"];
/// Words with which a citation neither begins nor ends, beside articles and the like. A negation may begin it.
const LOOSE_WORDS: &[&str] =
    &["always", "please", "note", "fyi", "because", "before", "after", "not", "never", "no", "via"];
const PUNCTUATION_CHARS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '\'', '"', '`', '(', ')', '[', ']', '{', '}', '-', '–', '—', '…',
    '/', '\\', ' ',
];

/// The sentences with the facts, on one line of at most [`MAX_SUMMARY_CHARS`] characters.
///
/// A short text is its own summary. Otherwise sentences are chosen by their content (numbers, names, paths,
/// negations, key words of the type) and keep their order.
pub fn compose_summary(content: &str, kind: &MemoryType) -> String {
    // On one line, without invisible characters.
    let whole = clean_label(content, usize::MAX);
    if char_count(&whole) <= MAX_SUMMARY_CHARS {
        return whole;
    }
    let sentences: Vec<String> =
        split_sentences(content).into_iter().map(|it| clean_label(it, usize::MAX)).collect();
    // Ratings and positions of the sentences, best first.
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    for (nth, sentence) in sentences.iter().enumerate() {
        ranked.push((rate_sentence(sentence, nth, kind.core_kind()), nth));
    }
    ranked.sort_by_key(|(rating, nth)| (std::cmp::Reverse(*rating), *nth));

    // The best sentences that fit, greedily.
    let mut chosen: Vec<usize> = Vec::new();
    let mut chars_left = MAX_SUMMARY_CHARS;
    for (rating, nth) in ranked {
        // A sentence without content is not worth its tokens, even if it fits.
        if rating == 0 && !chosen.is_empty() {
            break;
        }
        // With the space before it.
        let needed = char_count(&sentences[nth]) + usize::from(!chosen.is_empty());
        if needed <= chars_left {
            chars_left -= needed;
            chosen.push(nth);
        } else if chosen.is_empty() {
            // Even the best sentence is too long.
            return shorten_sentence(&sentences[nth], MAX_SUMMARY_CHARS);
        }
    }
    // In the order of the text.
    chosen.sort_unstable();
    chosen.into_iter().map(|it| sentences[it].as_str()).collect::<Vec<_>>().join(" ")
}

/// The first words of the text, at most [`MAX_CITATION`] characters, cut between words, without
/// punctuation at the end.
pub fn compose_citation(content: &str) -> String {
    let whole = clean_label(content, usize::MAX).replace('`', "");
    let first = split_sentences(&whole).first().map_or(whole.as_str(), |it| *it);
    let mut words: Vec<&str> = first.split(' ').collect();
    // Loose words at the start are left out, but "never commit" without "never" would mean the opposite.
    let n_opening = words.iter().take_while(|it| is_loose(it) && !is_negation(it)).count();
    // A text of loose words alone keeps them.
    if n_opening < words.len() {
        words.drain(..n_opening);
    }
    let n_fitting = count_fitting_words(&words, MAX_CITATION);
    if n_fitting < words.len() {
        words.truncate(n_fitting);
        // A cut must not leave a word that promises another one.
        let n_hanging = words.iter().rev().take_while(|it| is_loose(it)).count();
        words.truncate(words.len() - n_hanging);
    }
    let citation = words.join(" ");
    let citation = citation.trim_end_matches(PUNCTUATION_CHARS).trim_start();
    // A text of punctuation or backticks alone is cited as it is.
    if citation.is_empty() {
        clean_label(content, MAX_CITATION).trim_end_matches('…').into()
    } else {
        citation.to_owned()
    }
}

/// Returns whether a citation should not begin or end with this word.
fn is_loose(word: &str) -> bool {
    let bare = bare_word(word);
    is_stop_word(&bare) || LOOSE_WORDS.contains(&bare.as_str())
}

fn is_negation(word: &str) -> bool {
    NEGATION_WORDS.contains(&bare_word(word).as_str())
}

/// A word in lower case without the punctuation around it.
fn bare_word(word: &str) -> String {
    word.trim_matches(PUNCTUATION_CHARS).to_lowercase()
}

/// Rates a sentence by its facts, negations and key words. The first sentence gets a bonus.
fn rate_sentence(sentence: &str, nth: usize, kind: Option<MemoryKind>) -> usize {
    let mut rating = if nth == 0 { FIRST_SENTENCE_POINTS } else { 0 };
    let mut n_facts = 0;
    // A chunk is the text between two spaces without punctuation, or a span in backticks.
    for chunk in split_chunks(sentence) {
        let word = chunk.text.to_lowercase();
        let is_fact =
            chunk.is_quoted || word.contains(|it: char| it.is_numeric() || "/_:".contains(it));
        // List numbers are no facts.
        n_facts += usize::from(is_fact && chunk.list_number.is_none());
        let is_key_word = kind.is_some_and(|it| key_words_of(it).contains(&word.as_str()));
        rating += NEGATION_POINTS * usize::from(NEGATION_WORDS.contains(&word.as_str()));
        rating += KEY_WORD_POINTS * usize::from(is_key_word);
    }
    rating + FACT_POINTS * n_facts.min(MAX_RATED_FACTS)
}

/// Words that matter for a type: a decision without its reason is incomplete.
const fn key_words_of(kind: MemoryKind) -> &'static [&'static str] {
    match kind {
        MemoryKind::Decision => &["because", "since", "over", "instead", "decided", "chose"],
        MemoryKind::ErrorPattern => &["fix", "fixed", "error", "fails", "solved", "run"],
        MemoryKind::DeadEnd => &["because", "instead", "tried", "failed"],
        MemoryKind::Requirement => &["must", "shall", "required"],
        MemoryKind::CausalDependency => &["also", "requires", "update", "whenever", "sync"],
        MemoryKind::Gotcha => &["before", "after", "when", "must", "only", "careful"],
        MemoryKind::Preference => &["always", "prefer", "use", "instead"],
        MemoryKind::Pattern | MemoryKind::WorkflowRecipe => &["use", "first", "then", "steps"],
        _ => &[],
    }
}

/// Shortens a sentence: without its brackets if that is enough, else cut after a clause, else after a
/// word.
fn shorten_sentence(sentence: &str, limit: usize) -> String {
    let plain = strip_brackets(sentence);
    if char_count(&plain) <= limit {
        return plain;
    }
    let words: Vec<&str> = plain.split(' ').collect();
    // One character is left for the ellipsis.
    let n_fitting = count_fitting_words(&words, limit - 1);
    if n_fitting == 0 {
        return clean_label(&plain, limit);
    }
    let clause_end = words[..n_fitting].iter().rposition(|it| it.ends_with([',', ';', ':']));
    let n_clause_words = clause_end.map_or(n_fitting, |it| it + 1);
    // A cut after a clause that loses more than half of the words is too short.
    let n_words = if n_clause_words * 2 < n_fitting { n_fitting } else { n_clause_words };
    format!("{}…", words[..n_words].join(" ").trim_end_matches([',', ';', ':']))
}

/// Removes `( … )`. The brackets of calls such as `foo(x)` have no space before them and stay.
fn strip_brackets(sentence: &str) -> String {
    let mut acc = String::new();
    let mut rest = sentence;
    while let Some((before, inner)) = rest.split_once(" (") {
        let Some((_, after)) = inner.split_once(')') else { break };
        acc.push_str(before);
        rest = after;
    }
    acc.push_str(rest);
    acc
}

/// The number of words that, joined by spaces, stay within the limit.
fn count_fitting_words(words: &[&str], limit: usize) -> usize {
    let mut n_chars = 0;
    for (n_words, word) in words.iter().enumerate() {
        // With the space before it.
        n_chars += char_count(word) + usize::from(n_chars > 0);
        if n_chars > limit {
            return n_words;
        }
    }
    words.len()
}

fn char_count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// Checks the summary of a content.
    fn check_summary(kind: MemoryKind, content: &str, expect: Expect) {
        expect.assert_eq(&compose_summary(content, &MemoryType::Core(kind)));
    }

    /// Checks the citation of a content.
    fn check_citation(content: &str, expect: Expect) {
        expect.assert_eq(&compose_citation(content));
    }

    #[test]
    fn a_short_text_is_its_own_summary() {
        check_summary(MemoryKind::Gotcha, "Two\nlines \u{202e}here", expect!["Two lines here"]);
    }

    #[test]
    fn a_summary_keeps_the_sentences_with_facts() {
        check_summary(
            MemoryKind::Gotcha,
            "I was looking at the worker for quite a while this afternoon and found something odd there. \
             The queue never acknowledges a job before `commit()` returns. It took some time to see. \
             So set QUEUE_TIMEOUT_MS above 30000 in config/worker.toml.",
            expect![
                "The queue never acknowledges a job before `commit()` returns. So set QUEUE_TIMEOUT_MS above 30000 in config/worker.toml."
            ],
        );
        check_summary(
            MemoryKind::Decision,
            "The discussion about storage went on for three meetings and many people had many opinions on it. \
             We chose SQLite because nothing has to be installed. \
             Everyone went home happy, and the document was archived somewhere in the shared drive.",
            expect![
                "The discussion about storage went on for three meetings and many people had many opinions on it. We chose SQLite because nothing has to be installed."
            ],
        );
    }

    #[test]
    fn one_long_sentence_loses_its_brackets_then_its_tail() {
        check_summary(
            MemoryKind::ModuleInsight,
            "The scheduler in crates/engine/src/scheduler.rs (which was written long before the current queue existed) \
             retries each failed job 5 times with growing pauses, and moves it to the dead letter table afterwards, where a person must look at it",
            expect![
                "The scheduler in crates/engine/src/scheduler.rs retries each failed job 5 times with growing pauses, and moves it to the dead letter table afterwards…"
            ],
        );
    }

    #[test]
    fn citations_are_short_and_end_with_a_word() {
        check_citation("Always use tabs.", expect!["use tabs"]);
        check_citation(
            "Never commit directly to the main branch of this repository",
            expect!["Never commit directly to the main branch"],
        );
        check_citation(
            "The `verifyJwt` helper expects seconds, not milliseconds",
            expect!["verifyJwt helper expects seconds"],
        );
        check_citation("Retry limit is 3. Backoff doubles.", expect!["Retry limit is 3"]);
        check_citation(
            "src/a_very_long_path/that_goes_on/and_on/and_on.rs",
            expect!["src/a_very_long_path/that_goes_on/and_o"],
        );
        check_citation("!!!", expect!["!!!"]);
    }

    #[test]
    fn long_text_is_shortened() {
        let text = "(never ends, 5 ".repeat(4_000);
        assert!(
            char_count(&compose_summary(&text, &MemoryType::Core(MemoryKind::Gotcha)))
                <= MAX_SUMMARY_CHARS
        );
        assert!(char_count(&compose_citation(&text)) <= MAX_CITATION);
        assert!(char_count(&compose_citation(&"x".repeat(65_536))) <= MAX_CITATION);
    }

    proptest! {
        #[test]
        fn short_forms_stay_within_their_limits(content in "(\\PC|\n){0,600}") {
            for kind in MemoryKind::ALL {
                let summary = compose_summary(&content, &MemoryType::Core(*kind));
                prop_assert!(char_count(&summary) <= MAX_SUMMARY_CHARS && !summary.contains('\n'), "{summary}");
            }
            let citation = compose_citation(&content);
            prop_assert!(char_count(&citation) <= MAX_CITATION && !citation.contains('\n'), "{citation}");
            // Only a text without visible characters has no citation.
            prop_assert!(citation.is_empty() == clean_label(&content, 9).is_empty(), "{citation}");
        }
    }
}
