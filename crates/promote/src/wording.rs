//! Words a memory for the places it is shown: the summary that is injected, the chip that cites it.
//!
//! Only ever takes words away: what stands in a summary stood in the content, so it cannot say more than was known.

use model::{MAX_CITATION, MemoryKind, MemoryType, clean_label, words::is_stop_word};

use crate::text_chunks::{split_chunks, split_sentences};

/// The longest summary in characters; about 35 tokens.
pub const MAX_SUMMARY_CHARS: usize = 180;

/// Words without which a sentence would say the opposite.
const NEGATION_WORDS: &[&str] =
    &["not", "never", "no", "don't", "doesn't", "cannot", "can't", "without", "avoid", "unless"];
/// Words that open a thought or leave it hanging; a chip neither begins nor ends with them.
const LOOSE_WORDS: &[&str] =
    &["always", "please", "note", "fyi", "because", "before", "after", "not", "never", "no", "via"];
const PUNCTUATION_CHARS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '\'', '"', '`', '(', ')', '[', ']', '{', '}', '-', '–', '—', '…',
    '/', '\\', ' ',
];

/// The sentences that carry the fact, on one line of at most [`MAX_SUMMARY`] characters.
///
/// A short text is its own summary. Otherwise sentences are taken by what they hold (numbers, names,
/// paths, negations, the words the type lives by), told in their own order.
pub fn compose_summary(content: &str, kind: &MemoryType) -> String {
    let whole = clean_label(content, usize::MAX);
    if char_count(&whole) <= MAX_SUMMARY_CHARS {
        return whole;
    }
    let told: Vec<String> =
        split_sentences(content).into_iter().map(|it| clean_label(it, usize::MAX)).collect();
    let mut by_weight: Vec<(usize, usize)> = told
        .iter()
        .enumerate()
        .map(|(nth, it)| (rate_sentence(it, nth, kind.core_kind()), nth))
        .collect();
    by_weight.sort_by_key(|(weight, nth)| (std::cmp::Reverse(*weight), *nth));

    let mut chosen: Vec<usize> = Vec::new();
    let mut room = MAX_SUMMARY_CHARS;
    // A sentence that carries nothing is not worth its tokens, even where there is room.
    for (weight, nth) in by_weight {
        if weight == 0 && !chosen.is_empty() {
            break;
        }
        let needed = char_count(&told[nth]) + usize::from(!chosen.is_empty());
        if needed <= room {
            room -= needed;
            chosen.push(nth);
        } else if chosen.is_empty() {
            return shorten_sentence(&told[nth], MAX_SUMMARY_CHARS);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|it| told[it].as_str()).collect::<Vec<_>>().join(" ")
}

/// The first words of the text, at most [`MAX_CITATION`] characters, cut between words, no punctuation at the end.
pub fn compose_citation(content: &str) -> String {
    let whole = clean_label(content, usize::MAX).replace('`', "");
    let first = split_sentences(&whole).first().map_or(whole.as_str(), |it| *it);
    let mut words: Vec<&str> = first.split(' ').collect();
    let bare = |it: &str| it.trim_matches(PUNCTUATION_CHARS).to_lowercase();
    let is_negation = |it: &str| NEGATION_WORDS.contains(&bare(it).as_str());
    let is_loose = |it: &str| is_stop_word(&bare(it)) || LOOSE_WORDS.contains(&bare(it).as_str());
    let n_opening = words.iter().take_while(|it| is_loose(it) && !is_negation(it)).count();
    if n_opening < words.len() {
        words.drain(..n_opening);
    }
    let n_fitting = count_fitting_words(&words, MAX_CITATION);
    if n_fitting < words.len() {
        words.truncate(n_fitting);
        let n_hanging = words.iter().rev().take_while(|it| is_loose(it)).count();
        words.truncate(words.len() - n_hanging);
    }
    let res = words.join(" ");
    let res = res.trim_end_matches(PUNCTUATION_CHARS).trim_start();
    if res.is_empty() {
        clean_label(&whole, MAX_CITATION).trim_end_matches('…').into()
    } else {
        res.to_owned()
    }
}

/// What a sentence is worth to the next reader.
fn rate_sentence(sentence: &str, nth: usize, kind: Option<MemoryKind>) -> usize {
    let mut res = if nth == 0 { 3 } else { 0 };
    let mut n_facts = 0;
    for chunk in split_chunks(sentence) {
        let word = chunk.text.to_lowercase();
        let is_fact =
            chunk.is_quoted || word.contains(|it: char| it.is_numeric() || "/_:".contains(it));
        n_facts += usize::from(is_fact && chunk.list_number.is_none());
        res += 3 * usize::from(NEGATION_WORDS.contains(&word.as_str()));
        res += 4 * usize::from(kind.is_some_and(|it| key_words_of(it).contains(&word.as_str())));
    }
    res + 2 * n_facts.min(4)
}

/// The words a memory of this type lives by: a decision without its reason is half a decision.
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

/// A sentence too long for its place: without its brackets if that is enough, else up to a
/// clause, else up to a word.
fn shorten_sentence(sentence: &str, limit: usize) -> String {
    let open = strip_brackets(sentence);
    if char_count(&open) <= limit {
        return open;
    }
    let words: Vec<&str> = open.split(' ').collect();
    let n_fitting = count_fitting_words(&words, limit - 1);
    if n_fitting == 0 {
        return clean_label(&open, limit);
    }
    let n_clause = words[..n_fitting].iter().rposition(|it| it.ends_with([',', ';', ':']));
    let n_words = n_clause.map_or(n_fitting, |it| it + 1);
    let n_words = if n_words * 2 < n_fitting { n_fitting } else { n_words };
    format!("{}…", words[..n_words].join(" ").trim_end_matches([',', ';', ':']))
}

/// Without `( … )`; brackets of calls such as `foo(x)` have no space before them and stay.
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

/// How many of the words, joined by spaces, stay within the limit.
fn count_fitting_words(words: &[&str], limit: usize) -> usize {
    let mut used = 0;
    words
        .iter()
        .take_while(|it| {
            used += char_count(it) + usize::from(used > 0);
            used <= limit
        })
        .count()
}

fn char_count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check_summary(kind: MemoryKind, content: &str, expect: Expect) {
        expect.assert_eq(&compose_summary(content, &MemoryType::Core(kind)));
    }

    fn check_citation(content: &str, expect: Expect) {
        expect.assert_eq(&compose_citation(content));
    }

    #[test]
    fn a_short_text_is_its_own_summary() {
        check_summary(MemoryKind::Gotcha, "Two\nlines \u{202e}here", expect!["Two lines here"]);
    }

    #[test]
    fn a_summary_keeps_the_sentences_that_carry_facts() {
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
    fn citations_are_chips() {
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
    fn long_text_is_no_trouble() {
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
        fn wordings_stay_in_bounds(content in "(\\PC|\n){0,600}") {
            for kind in MemoryKind::ALL {
                let res = compose_summary(&content, &MemoryType::Core(*kind));
                prop_assert!(char_count(&res) <= MAX_SUMMARY_CHARS && !res.contains('\n'), "{res}");
            }
            let res = compose_citation(&content);
            prop_assert!(char_count(&res) <= MAX_CITATION && !res.contains('\n'), "{res}");
            prop_assert!(res.is_empty() == clean_label(&content, 9).is_empty(), "{res}");
        }
    }
}
