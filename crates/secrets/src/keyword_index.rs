//! One Aho-Corasick automaton over the keywords of all rules and parsers.
//!
//! It finds every keyword in one pass, so the cost of a scan hardly grows with the number of rules.
//! Each keyword belongs to a finder, which `find` calls where the keyword occurs.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::rules;
use crate::words::{SECRET_WORDS, SERVICE_NAMES, SecretWord};

/// The finder that a keyword triggers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FinderKind {
    /// Index into `rules::COMPILED_RULES`.
    Rule(usize),
    Pem,
    EncodedPem,
    PuttyKey,
    Jwt,
    Url,
    Word(&'static SecretWord),
    Service,
}

/// A keyword, and the finder it triggers.
pub(crate) struct KeywordEntry {
    pub(crate) text: &'static str,
    pub(crate) is_case_sensitive: bool,
    pub(crate) finder: FinderKind,
}

/// The automaton, and what its matches mean.
pub(crate) struct KeywordIndex {
    pub(crate) automaton: AhoCorasick,
    /// By pattern id: the automaton numbers its patterns in this order.
    pub(crate) keywords: Vec<KeywordEntry>,
}

/// Keywords of the parsers. `LS0tLS1CRUdJTi` is `-----BEGIN` in Base64, and `eyJ` is `{"`.
const PARSER_KEYWORDS: &[(&str, FinderKind)] = &[
    ("-----BEGIN ", FinderKind::Pem),
    ("LS0tLS1CRUdJTi", FinderKind::EncodedPem),
    ("Private-Lines: ", FinderKind::PuttyKey),
    ("eyJ", FinderKind::Jwt),
    ("://", FinderKind::Url),
];

pub(crate) static KEYWORD_INDEX: LazyLock<KeywordIndex> = LazyLock::new(|| {
    let keywords = collect_keywords();
    // Of the kinds that are fast enough this one is the quickest to build: most processes that scan
    // are hooks that live for milliseconds.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(keywords.iter().map(|it| it.text))
        .expect("a few hundred short keywords fit any automaton");
    KeywordIndex { automaton, keywords }
});

fn collect_keywords() -> Vec<KeywordEntry> {
    let parsers = PARSER_KEYWORDS.iter().map(|(text, finder)| KeywordEntry {
        text,
        is_case_sensitive: true,
        finder: *finder,
    });
    let rules = rules::all_rules().enumerate().flat_map(|(index, rule)| {
        // The keyword of a pattern that ignores case must ignore it, too.
        let is_case_sensitive = !rule.pattern.starts_with("(?i)");
        let finder = FinderKind::Rule(index);
        rule.keywords.iter().map(move |text| KeywordEntry { text, is_case_sensitive, finder })
    });
    let words = SECRET_WORDS.iter().map(|it| KeywordEntry {
        text: it.text,
        is_case_sensitive: false,
        finder: FinderKind::Word(it),
    });
    let services = SERVICE_NAMES.iter().map(|text| KeywordEntry {
        text,
        is_case_sensitive: false,
        finder: FinderKind::Service,
    });
    parsers.chain(rules).chain(words).chain(services).collect()
}
