//! One automaton over the keywords of all rules and parsers.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::rules;
use crate::word::{SERVICES, WORDS, Word};

/// What looks closer when a keyword turns up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Finder {
    /// Index into `rules::COMPILED`.
    Rule(usize),
    Pem,
    EncodedPem,
    PuttyKey,
    Jwt,
    Url,
    Word(&'static Word),
    Service,
}

pub(crate) struct Keyword {
    pub(crate) text: &'static str,
    /// Letter case counts.
    pub(crate) exact: bool,
    pub(crate) finder: Finder,
}

pub(crate) struct Index {
    pub(crate) automaton: AhoCorasick,
    /// By pattern id.
    pub(crate) keywords: Vec<Keyword>,
}

const PARSERS: &[(&str, Finder)] = &[
    ("-----BEGIN ", Finder::Pem),
    ("LS0tLS1CRUdJTi", Finder::EncodedPem),
    ("Private-Lines: ", Finder::PuttyKey),
    ("eyJ", Finder::Jwt),
    ("://", Finder::Url),
];

pub(crate) static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let keywords = keywords();
    // The automaton that is quickest to build among those fast enough: most processes that scan
    // are hooks that live for milliseconds.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(keywords.iter().map(|it| it.text))
        .expect("a few hundred short keywords fit any automaton");
    Index { automaton, keywords }
});

fn keywords() -> Vec<Keyword> {
    let parsers =
        PARSERS.iter().map(|(text, finder)| Keyword { text, exact: true, finder: *finder });
    let rules = rules::all().enumerate().flat_map(|(i, rule)| {
        let exact = !rule.pattern.starts_with("(?i)");
        rule.keywords.iter().map(move |text| Keyword { text, exact, finder: Finder::Rule(i) })
    });
    let words =
        WORDS.iter().map(|it| Keyword { text: it.text, exact: false, finder: Finder::Word(it) });
    let services =
        SERVICES.iter().map(|text| Keyword { text, exact: false, finder: Finder::Service });
    parsers.chain(rules).chain(words).chain(services).collect()
}
