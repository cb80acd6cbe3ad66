//! Reasons why a memory was deprecated.
//!
//! A deprecated memory is wrong or outdated and is only kept for the record. The store keeps the reason as the
//! sentence that people read, such as "superseded by #1234abcd, which says the same", so that
//! [`Deprecation`] has the only writer (`Display`) and the only parser of these sentences.

use std::fmt;

use crate::MemoryId;

/// Reason why a memory was deprecated.
///
/// Stored and shown as a sentence. Writing and parsing are inverse to each other, so a stored reason
/// never changes its text (and with it the hash of its row) by being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deprecation {
    /// A newer memory replaces this one. Contains the short id of the newer one, eight hexadecimal digits.
    SupersededBy(String),
    /// A newer memory states the same. Contains the short id of the newer one.
    DuplicateOf(String),
    /// The memory was learned from behaviour, and later sessions behaved differently. Written by earlier
    /// versions, which stored statistics.
    PatternFaded,
    /// A candidate that was not confirmed in time. The observer may revive it.
    Unconfirmed,
    /// The memory stated only how often something happened. Such statistics are told at their moment and
    /// are no longer stored.
    Statistic,
    /// The rule was removed from the rules file at this path.
    RuleRemoved { path: String },
    /// A person flagged the memory; the reason in their words.
    ByPerson(String),
}

const PATTERN_FADED: &str = "superseded by later sessions, which did otherwise";
const UNCONFIRMED: &str = "a candidate that was not confirmed in time";
const STATISTIC: &str =
    "superseded by statistics: such numbers are told at their moment and no longer stored";
const SUPERSEDED_BY_PREFIX: &str = "superseded by #";
const DUPLICATE_SUFFIX: &str = ", which says the same";
const RULE_REMOVED_PREFIX: &str = "no longer in ";

impl Deprecation {
    /// The beginning of every reason which only means that something newer replaced the memory, not that it
    /// was wrong. The store's statistics search for it.
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
        if text == UNCONFIRMED {
            return Self::Unconfirmed;
        }
        if text == STATISTIC {
            return Self::Statistic;
        }
        if let Some(path) = text.strip_prefix(RULE_REMOVED_PREFIX) {
            return Self::RuleRemoved { path: path.to_owned() };
        }
        // A person can write "superseded by #12 and more", so that the id must be exact.
        let is_short_id =
            |it: &&str| it.len() == 8 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(rest) = text.strip_prefix(SUPERSEDED_BY_PREFIX) {
            if let Some(id) = rest.strip_suffix(DUPLICATE_SUFFIX).filter(is_short_id) {
                return Self::DuplicateOf(id.to_owned());
            }
            if is_short_id(&rest) {
                return Self::SupersededBy(rest.to_owned());
            }
        }
        Self::ByPerson(text.to_owned())
    }
}

impl fmt::Display for Deprecation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SupersededBy(id) => write!(f, "{SUPERSEDED_BY_PREFIX}{id}"),
            Self::DuplicateOf(id) => write!(f, "{SUPERSEDED_BY_PREFIX}{id}{DUPLICATE_SUFFIX}"),
            Self::PatternFaded => f.write_str(PATTERN_FADED),
            Self::Unconfirmed => f.write_str(UNCONFIRMED),
            Self::Statistic => f.write_str(STATISTIC),
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
    fn every_reason_is_parsed_from_its_own_text() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let reasons = [
            Deprecation::superseded_by(id),
            Deprecation::duplicate_of(id),
            Deprecation::PatternFaded,
            Deprecation::Unconfirmed,
            Deprecation::Statistic,
            Deprecation::RuleRemoved { path: "AGENTS.md".to_owned() },
            Deprecation::ByPerson("we use sqlite now, superseded by #1234abcd".to_owned()),
        ];
        for reason in reasons {
            assert_eq!(Deprecation::parse(&reason.to_string()), reason);
        }
    }

    #[test]
    fn any_text_is_unchanged_after_parsing_and_writing() {
        // Each resembles a reason of the program without being one.
        let texts = ["superseded by #zz", "superseded by #1234abcd, and more", "no longer in ", ""];
        for text in texts {
            assert_eq!(Deprecation::parse(text).to_string(), text);
        }
    }

    #[test]
    fn every_kind_of_replacement_begins_with_the_superseded_prefix() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let superseded = [
            Deprecation::superseded_by(id),
            Deprecation::duplicate_of(id),
            Deprecation::PatternFaded,
            Deprecation::Statistic,
        ];
        for reason in superseded {
            assert!(reason.to_string().starts_with(Deprecation::SUPERSEDED_PREFIX));
        }
    }
}
