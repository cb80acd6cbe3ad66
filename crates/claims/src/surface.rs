//! Surface features: properties of the wording of one sentence, found by small tables of words.
//!
//! The tables are closed classes of English (negations, modal verbs, pronouns) and words of the trade. They
//! describe a sentence to the scorer; none of them decides alone, and none names a project.

use std::collections::BTreeSet;

use observe::{code_words, pad_words};

use crate::feature::{ClaimFeature, FeatureSet};

/// Claims up to this length are short, in bytes.
const SHORT_BYTES: usize = 70;
/// Longer claims are long, in bytes.
const LONG_BYTES: usize = 230;
/// The shortest part of a name that is compared, in bytes.
const MIN_NAME_BYTES: usize = 4;

/// Phrases between single blanks, by the feature they set.
#[rustfmt::skip]
const PHRASES: &[(ClaimFeature, &[&str])] = &[
    (ClaimFeature::Norm, &[" must ", " never ", " always ", " should ", " shouldn't ", " instead of ", " rather than ", " don't ", " do not ", " dont "]),
    (ClaimFeature::Because, &[" because ", " since ", " due to ", " so that ", " otherwise "]),
    (ClaimFeature::Negation, &[" not ", " no ", " never ", " without ", "n't "]),
    (ClaimFeature::Only, &[" only "]),
    (ClaimFeature::Past, &[" was ", " were ", " had ", " did ", " added ", " fixed ", " changed ", " updated ", " removed ", " failed "]),
    (ClaimFeature::Now, &[" now ", " currently ", " already ", " still "]),
    (ClaimFeature::PlanVerb, &[" will ", " going to ", " need to ", " add ", " update ", " create ", " implement "]),
    (ClaimFeature::General, &[" when ", " whenever ", " if ", " every ", " any ", " all ", " each "]),
    (ClaimFeature::Mechanism, &[
        " require ", " requires ", " return ", " returns ", " run ", " runs ", " read ", " reads ", " write ", " writes ", " store ", " stores ", " uses ", " call ", " calls ",
        " ignore ", " ignores ", " skip ", " skips ", " drop ", " drops ", " fails ", " expect ", " expects ", " overwrite ", " overwrites ", " cache ", " caches ",
    ]),
    (ClaimFeature::You, &[" you "]),
    (ClaimFeature::We, &[" we "]),
    (ClaimFeature::Please, &[" please ", " can you ", " could you ", " let's ", " lets "]),
    (ClaimFeature::VersionControl, &[" commit ", " push ", " branch ", " pr ", " merge ", " rebase ", " issue ", " review "]),
    (ClaimFeature::Wish, &[" i want ", " i would ", " i'd ", " i prefer ", " i think ", " i don't "]),
    (ClaimFeature::Hedge, &[
        " maybe ", " perhaps ", " might ", " probably ", " possibly ", " likely ", " i think ", " i suspect ", " seem ", " seems ", " appear ", " appears ", " could be ",
        " not sure ", " presumably ", " i guess ", " let me check ", " let me see ", " let me verify ", " let me look ", " wait ", " hmm ", " what if ", " whether ",
    ]),
    (ClaimFeature::FirstPerson, &[
        " let me ", " i'll ", " i will ", " i need to ", " i should ", " i can ", " i'm going ", " i have ", " i've ", " now i ", " i just ", " we need to update ",
        " we need to add ", " we need to fix ", " we need to check ", " then i ",
    ]),
    (ClaimFeature::MomentBound, &[" unused ", " import ", " imports ", " imported ", " diagnostic ", " diagnostics ", " the user ", " todo ", " typo ", " now passes ", " now works ", " now compiles ", " all tests pass ", " line "]),
];

/// Words that carry no subject, for comparisons of two texts.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "also", "and", "are", "but", "can", "does", "for", "from", "has", "have", "into", "must", "not", "only", "should", "than", "that", "the", "then", "this", "use", "used",
    "using", "was", "when", "which", "with", "you",
];

/// Adds the features of the wording and the form of a claim.
pub(crate) fn add_surface_features(set: &mut FeatureSet, quote: &str, text: &str) {
    let words = pad_words(quote);
    for (feature, phrases) in PHRASES {
        set.insert_if(*feature, phrases.iter().any(|it| words.contains(it)));
    }
    set.insert_if(ClaimFeature::Number, has_number(quote));
    set.insert_if(ClaimFeature::Code, quote.contains('`'));
    set.insert_if(ClaimFeature::Question, quote.contains('?'));
    set.insert_if(ClaimFeature::Short, text.len() < SHORT_BYTES);
    set.insert_if(ClaimFeature::Long, text.len() > LONG_BYTES);
    let n_names = code_words(text).len();
    set.insert_if(ClaimFeature::TwoNames, n_names >= 2);
    set.insert_if(ClaimFeature::NoNames, n_names == 0);
}

/// Returns whether a text has a version, a date or a number of three digits.
fn has_number(text: &str) -> bool {
    let mut words = text.split(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '.' | '-')));
    words.any(|word| {
        let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
        let n_dots = word.bytes().filter(|it| *it == b'.').count();
        let is_plain = n_digits == word.len() && n_digits >= 3;
        is_plain || (n_dots == 2 && n_digits >= 3)
    })
}

/// The parts of the names in a sentence that are long enough to be compared: `paths.RepoRoot()` gives
/// `paths` and `RepoRoot`.
pub(crate) fn name_parts(sentence: &str) -> BTreeSet<String> {
    let mut acc = BTreeSet::new();
    for name in code_words(sentence) {
        acc.extend(identifier_parts(name).map(str::to_owned));
    }
    acc
}

/// The identifiers in a text that are long enough to be compared.
pub(crate) fn identifier_parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_')).filter(|it| {
        it.len() >= MIN_NAME_BYTES
            && it.starts_with(|first: char| first.is_alphabetic() || first == '_')
    })
}

/// The words of a text that carry its subject, in lower case.
pub fn content_words(text: &str) -> BTreeSet<String> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '/' | '-');
    let words = text.split(|it: char| !is_part(it)).map(|it| it.trim_matches(['.', '/', '-']));
    words
        .filter(|it| it.len() > 2)
        .map(str::to_lowercase)
        .filter(|it| STOP_WORDS.binary_search(&it.as_str()).is_err())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn wording_sets_features() {
        let mut set = FeatureSet::default();
        let text = "Never call `refresh` while the lock is held, because it waits.";
        add_surface_features(&mut set, text, text);
        let slugs: Vec<&str> = set.iter().map(ClaimFeature::slug).collect();
        assert_eq!(slugs, ["norm", "because", "negation", "mechanism", "code", "short"]);
    }

    #[test]
    fn names_are_compared_by_their_parts() {
        let parts: Vec<String> =
            name_parts("see `paths.RepoRoot()` in src/parser_b.rs").into_iter().collect();
        assert_eq!(parts, ["RepoRoot", "parser_b", "paths"]);
    }
}
