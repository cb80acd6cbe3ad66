//! Reasons why a memory was deprecated, with the one writer and the one parser of their stored text.

use std::fmt;

use crate::MemoryId;

/// Reason why a memory was deprecated.
///
/// Stored and shown as a sentence. Writing and parsing are inverse to each other, so a stored reason
/// never changes its text (and with it the hash of its row) by being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deprecation {
    /// A newer memory replaces this one. The short id of the newer one.
    SupersededBy(String),
    /// A newer memory says the same. The short id of the newer one.
    DuplicateOf(String),
    /// Later sessions behaved differently; the observer may revive the pattern.
    PatternFaded,
    /// The rule was removed from the rules file at this path.
    RuleRemoved { path: String },
    /// A person flagged the memory; the reason in their words.
    ByPerson(String),
}

const PATTERN_FADED: &str = "superseded by later sessions, which did otherwise";
const DUPLICATE_SUFFIX: &str = ", which says the same";
const RULE_REMOVED_PREFIX: &str = "no longer in ";

impl Deprecation {
    /// Beginning of every reason that says nothing against the memory: something newer took its place.
    /// The store's statistics search for it.
    pub const SUPERSEDED_PREFIX: &str = "superseded";

    pub fn superseded_by(id: MemoryId) -> Self {
        Self::SupersededBy(id.short())
    }

    pub fn duplicate_of(id: MemoryId) -> Self {
        Self::DuplicateOf(id.short())
    }

    /// Parses a stored reason. Every text that is none of the program's own is a person's.
    pub fn parse(text: &str) -> Self {
        if text == PATTERN_FADED {
            return Self::PatternFaded;
        }
        if let Some(path) = text.strip_prefix(RULE_REMOVED_PREFIX) {
            return Self::RuleRemoved { path: path.to_owned() };
        }
        let is_short_id = |it: &str| it.len() == 8 && it.bytes().all(|it| it.is_ascii_hexdigit());
        match text.strip_prefix("superseded by #") {
            Some(id) if is_short_id(id) => Self::SupersededBy(id.to_owned()),
            Some(rest) => match rest.strip_suffix(DUPLICATE_SUFFIX) {
                Some(id) if is_short_id(id) => Self::DuplicateOf(id.to_owned()),
                _ => Self::ByPerson(text.to_owned()),
            },
            None => Self::ByPerson(text.to_owned()),
        }
    }
}

impl fmt::Display for Deprecation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SupersededBy(id) => write!(f, "superseded by #{id}"),
            Self::DuplicateOf(id) => write!(f, "superseded by #{id}{DUPLICATE_SUFFIX}"),
            Self::PatternFaded => f.write_str(PATTERN_FADED),
            Self::RuleRemoved { path } => write!(f, "{RULE_REMOVED_PREFIX}{path}"),
            Self::ByPerson(reason) => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn every_reason_reads_back() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let reasons = [
            Deprecation::superseded_by(id),
            Deprecation::duplicate_of(id),
            Deprecation::PatternFaded,
            Deprecation::RuleRemoved { path: "AGENTS.md".to_owned() },
            Deprecation::ByPerson("we use sqlite now, superseded by #1234abcd".to_owned()),
        ];
        for reason in reasons {
            assert_eq!(Deprecation::parse(&reason.to_string()), reason);
        }
    }

    #[test]
    fn reading_and_writing_keeps_every_text() {
        let texts = ["superseded by #zz", "superseded by #1234abcd, and more", "no longer in ", ""];
        for text in texts {
            assert_eq!(Deprecation::parse(text).to_string(), text);
        }
    }

    #[test]
    fn what_something_newer_replaced_is_recognised_by_its_beginning() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let superseded = [
            Deprecation::superseded_by(id),
            Deprecation::duplicate_of(id),
            Deprecation::PatternFaded,
        ];
        for reason in superseded {
            assert!(reason.to_string().starts_with(Deprecation::SUPERSEDED_PREFIX));
        }
    }
}
