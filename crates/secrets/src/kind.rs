//! The kinds of secrets, with their labels and their ranks.

use crate::rules;

/// A kind of secret, as `[REDACTED: kind]` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretKind {
    pub slug: &'static str,
    pub label: &'static str,
}

/// Kinds that a parser finds. The order is the rank: where two claims overlap, the earlier kind
/// names the result. The kinds of the rule tables rank after `url-password`.
#[rustfmt::skip]
pub(crate) const PARSED_KINDS: &[SecretKind] = &[
    new_kind("private-key-block", "Private key block (PEM, PGP, PuTTY), whole or cut off"),
    new_kind("url-password",      "Password inside a URL"),
    new_kind("jwt",               "JSON Web Token"),
    new_kind("discord-token",     "Discord bot token"),
    new_kind("authorization",     "Value of an authorization header"),
    new_kind("private-key",       "Private key in an assignment"),
    new_kind("api-key",           "API key in an assignment"),
    new_kind("password",          "Password in an assignment, a connection string or a sentence"),
    new_kind("secret",            "Secret in an assignment"),
    new_kind("token",             "Token in an assignment"),
    new_kind("key",               "Random value beside a word such as key or access"),
    new_kind("service-key",       "Random value beside the name of a service"),
];

/// Number of parsed kinds that outrank the rule tables.
const N_KINDS_BEFORE_RULES: usize = 2;

/// All kinds, by rank.
pub fn all_kinds() -> Vec<SecretKind> {
    ranked_kinds().collect()
}

/// Rank of a kind; the smaller one names the result where two claims overlap.
pub(crate) fn kind_rank(slug: &str) -> Option<usize> {
    ranked_kinds().position(|it| it.slug == slug)
}

fn ranked_kinds() -> impl Iterator<Item = SecretKind> {
    let (before_rules, after_rules) = PARSED_KINDS.split_at(N_KINDS_BEFORE_RULES);
    let rules = rules::all_rules().map(|it| new_kind(it.kind, it.label));
    before_rules.iter().copied().chain(rules).chain(after_rules.iter().copied())
}

const fn new_kind(slug: &'static str, label: &'static str) -> SecretKind {
    SecretKind { slug, label }
}
