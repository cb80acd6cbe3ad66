//! The table of token formats: one row per kind of secret that is known by its own shape.
//!
//! Secrets without a shape (a password in an assignment, a key in a header) are not here; they
//! belong to the parsers under `find`.

mod chat;
mod cloud;
mod code;
mod command;
mod hash;
mod infra;
mod model;
mod payment;
mod product;
mod watch;

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// One known token format.
#[derive(Debug)]
pub struct Rule {
    /// What `[REDACTED: kind]` names.
    pub kind: &'static str,
    /// One line for people.
    pub label: &'static str,
    /// Exact texts (letter case counts unless the pattern says otherwise) that wake the pattern.
    pub keywords: &'static [&'static str],
    /// How many bytes of the token may stand before the keyword.
    pub back: usize,
    /// Least Shannon entropy of the secret, in thousandths of a bit per character.
    pub entropy: u32,
    /// ASCII pattern, anchored where the token starts. Group 1 is the secret; without a group the
    /// whole match is, and then it must not continue a longer word to its left.
    pub pattern: &'static str,
}

/// Every table, in the order of the reference page; of two rules that claim the same bytes the
/// earlier one gives the kind.
pub const RULES: &[&[Rule]] = &[
    cloud::RULES,
    infra::RULES,
    code::RULES,
    model::RULES,
    chat::RULES,
    payment::RULES,
    product::RULES,
    watch::RULES,
    hash::RULES,
    command::RULES,
];

/// All rows of all tables, in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|it| it.iter())
}

/// A rule and its pattern, compiled when its keyword first turns up: a one-shot process that sees
/// plain text should not pay for a hundred patterns.
pub(crate) struct Compiled {
    pub(crate) rule: &'static Rule,
    regex: std::sync::OnceLock<Regex>,
}

impl Compiled {
    pub(crate) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            RegexBuilder::new(&format!(r"\A(?:{})", self.rule.pattern))
                .unicode(false)
                .build()
                .expect("every pattern of the table compiles, as a test asserts")
        })
    }
}

pub(crate) static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    all().map(|rule| Compiled { rule, regex: std::sync::OnceLock::new() }).collect()
});

/// A token that is known by its prefix.
const fn token(
    kind: &'static str,
    keywords: &'static [&'static str],
    entropy: u32,
    pattern: &'static str,
    label: &'static str,
) -> Rule {
    Rule { kind, label, keywords, back: 0, entropy, pattern }
}

/// A token that is known by a mark inside it or at its end, `back` bytes from its start at most.
const fn marked(
    kind: &'static str,
    keywords: &'static [&'static str],
    back: usize,
    entropy: u32,
    pattern: &'static str,
    label: &'static str,
) -> Rule {
    Rule { kind, label, keywords, back, entropy, pattern }
}
