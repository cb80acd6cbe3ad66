//! The tables of token formats: one row per kind of secret that has a shape of its own.
//!
//! `keyword_index` searches for the keywords of a row, and `find::rule` applies its pattern there.
//! Secrets without a shape (a password in an assignment, a key in a header) are found by the
//! parsers under `find`.

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
pub struct TokenRule {
    /// Kind that `[REDACTED: kind]` names.
    pub kind: &'static str,
    /// Description in one line.
    pub label: &'static str,
    /// Texts that trigger the pattern. Case counts unless the pattern ignores it.
    pub keywords: &'static [&'static str],
    /// Most bytes of the token before the keyword.
    pub max_bytes_before: usize,
    /// Least Shannon entropy of the secret, in thousandths of a bit per byte. 0 also disables the
    /// placeholder test.
    pub min_entropy: u32,
    /// ASCII pattern, anchored at the start of the token. Group 1 is the secret. Without a group
    /// the whole match is the secret, and then it must not continue a longer word to its left.
    pub pattern: &'static str,
}

/// All tables, in the order of the reference page. Of two rules that claim the same bytes the
/// earlier one gives the kind.
pub const RULE_TABLES: &[&[TokenRule]] = &[
    cloud::CLOUD_RULES,
    infra::INFRA_RULES,
    code::CODE_RULES,
    model::MODEL_RULES,
    chat::CHAT_RULES,
    payment::PAYMENT_RULES,
    product::PRODUCT_RULES,
    watch::MONITORING_RULES,
    hash::HASH_RULES,
    command::COMMAND_RULES,
];

/// All rows of all tables, in order.
pub(crate) fn all_rules() -> impl Iterator<Item = &'static TokenRule> {
    RULE_TABLES.iter().flat_map(|it| it.iter())
}

/// A rule and its pattern, which is compiled when its keyword first occurs: a one-shot process that
/// sees plain text should not pay for a hundred patterns.
pub(crate) struct CompiledRule {
    pub(crate) rule: &'static TokenRule,
    regex: std::sync::OnceLock<Regex>,
}

impl CompiledRule {
    pub(crate) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            RegexBuilder::new(&format!(r"\A(?:{})", self.rule.pattern))
                .unicode(false)
                .build()
                .expect("every pattern of the table compiles, as a test asserts")
        })
    }
}

/// All rules, in the order of `all_rules`.
pub(crate) static COMPILED_RULES: LazyLock<Vec<CompiledRule>> = LazyLock::new(|| {
    all_rules().map(|rule| CompiledRule { rule, regex: std::sync::OnceLock::new() }).collect()
});

/// A token with a known prefix.
const fn token(
    kind: &'static str,
    keywords: &'static [&'static str],
    min_entropy: u32,
    pattern: &'static str,
    label: &'static str,
) -> TokenRule {
    TokenRule { kind, label, keywords, max_bytes_before: 0, min_entropy, pattern }
}

/// A token with a known mark inside it or at its end, which begins `max_bytes_before` bytes after
/// the start of the token at most.
const fn marked(
    kind: &'static str,
    keywords: &'static [&'static str],
    max_bytes_before: usize,
    min_entropy: u32,
    pattern: &'static str,
    label: &'static str,
) -> TokenRule {
    TokenRule { kind, label, keywords, max_bytes_before, min_entropy, pattern }
}
