//! The list of kinds, for the reference page and for anyone who shows one.

use crate::rules;

/// A kind of secret as `[REDACTED: kind]` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub slug: &'static str,
    pub label: &'static str,
}

/// Kinds that a parser finds. The order is the rank: where two claims meet, the earlier kind names
/// the whole; the formats of the rule tables stand after `url-password`.
#[rustfmt::skip]
pub(crate) const PARSED: &[Kind] = &[
    kind("private-key-block", "Private key block (PEM, PGP, PuTTY), whole or cut off"),
    kind("url-password",      "Password inside a URL"),
    kind("jwt",               "JSON Web Token"),
    kind("discord-token",     "Discord bot token"),
    kind("authorization",     "Value of an authorization header"),
    kind("private-key",       "Private key in an assignment"),
    kind("api-key",           "API key in an assignment"),
    kind("password",          "Password in an assignment, a connection string or a sentence"),
    kind("secret",            "Secret in an assignment"),
    kind("token",             "Token in an assignment"),
    kind("key",               "Random value beside a word such as key or access"),
    kind("service-key",       "Random value beside the name of a service"),
];

/// How many of `PARSED` outrank the rule tables.
const BEFORE_RULES: usize = 2;

/// Every kind once, by rank.
pub fn kinds() -> Vec<Kind> {
    ranked().collect()
}

/// The rank of a kind: the smaller one names the whole where two claims meet.
pub(crate) fn rank(slug: &str) -> Option<usize> {
    ranked().position(|it| it.slug == slug)
}

fn ranked() -> impl Iterator<Item = Kind> {
    let (first, last) = PARSED.split_at(BEFORE_RULES);
    let rules = rules::all().map(|it| kind(it.kind, it.label));
    first.iter().copied().chain(rules).chain(last.iter().copied())
}

const fn kind(slug: &'static str, label: &'static str) -> Kind {
    Kind { slug, label }
}
