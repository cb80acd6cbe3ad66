//! Decides the role of a term by its position in the statement: value, subject, circumstance.
//!
//! "3" is a value in "the limit is 3", a part of the name in "step 3", and a circumstance in "on Node 18".
//! Only values can contradict each other. The rules look at the words right before and after the term.
//!
//! ```text
//! statement           term    function          result
//! the limit is 3      3       number_is_value   true: it measures the subject
//! step 3 is slow      3       number_is_value   false: it names the step
//! lives in `a.toml`   a.toml  is_value          true: "lives in" is a cue for a single value
//! upload limit        upload  modifies_next     true: it narrows "limit"
//! ```
//!
//! `term_pair.rs` and `differences.rs` call these functions for terms that two statements do not share.
//!
//! A term has its text in lower case (`lower`), a class (word, number, filler, …), the boundary after it
//! (none, comma, end of a clause or sentence) and a *key*, its canonical form: `60s` and `1 minute` have one
//! key. The functions take all terms of a statement and the position of one of them.

use super::lexicon::REASON_WORDS;
use super::terms::{NEGATION_KEY, StatementTerm, TermClass};
use crate::text_chunks::TextBoundary;

/// Words for a place, platform, side or limit. Another one makes another subject.
#[rustfmt::skip]
const QUALIFIER_WORDS: &[&str] = &[
    "dev", "development", "prod", "production", "staging", "local", "locally", "ci", "preview", "canary", "sandbox", "qa",
    "unit", "integration", "e2e", "linux", "macos", "mac", "osx", "windows", "android", "ios", "arm", "arm64", "x86", "amd64",
    "frontend", "backend", "client", "server", "web", "mobile", "desktop", "cli", "debug", "release", "nightly", "stable", "beta",
    "read", "write", "reads", "writes", "upload", "uploads", "download", "downloads", "request", "requests", "response",
    "responses", "input", "output", "inbound", "outbound", "incoming", "outgoing", "admin", "admins", "user", "users", "guest",
    "guests", "primary", "secondary", "replica", "replicas", "source", "target", "min", "max", "minimum", "maximum", "lower",
    "upper", "soft", "hard", "first", "second", "third", "last", "left", "right", "start", "end", "connect", "idle", "global",
    "rust", "python", "go", "golang", "java", "javascript", "typescript", "ruby", "php", "kotlin", "swift", "elixir", "scala",
    "v1", "v2", "v3", "v4", "chrome", "firefox", "safari", "europe", "eu", "us-east", "asia", "monday", "tuesday", "wednesday",
    "thursday", "friday", "weekend", "weekends", "small", "large", "big", "internal", "external", "least", "most", "new", "old",
];

/// Nouns whose number is a name ("step 3"), not a measure.
#[rustfmt::skip]
const LABEL_NOUNS: &[&str] = &[
    "step", "phase", "issue", "pr", "ticket", "http", "error", "code", "line", "chapter", "section", "exit", "status", "level",
    "tier", "sprint", "milestone", "rule", "spec", "subtask", "task", "shard", "part", "layer", "case", "option", "table",
    "figure", "rfc", "adr", "stage", "worker", "room", "day", "week", "year", "q", "utf", "sha", "es", "ecmascript", "appendix",
];

/// Verbs that begin an instruction and take an amount. After any other first word of a sentence a number is
/// a name ("bug 41 was").
const AMOUNT_VERBS: &[&str] = &[
    "return", "returns", "keep", "wait", "sleep", "allow", "limit", "retry", "set", "respond",
    "reply", "expect", "use", "run", "max", "min",
];

/// Nouns that are measured: their number is a value even after a preposition ("on port 8080").
#[rustfmt::skip]
const MEASURE_NOUNS: &[&str] = &[
    "port", "timeout", "limit", "size", "ttl", "threshold", "count", "interval", "delay", "retries", "capacity", "depth",
    "width", "height", "length", "budget", "rate", "ratio", "weight", "priority", "concurrency", "default", "value", "max",
];

/// Things that come in versions.
#[rustfmt::skip]
const VERSIONED_THINGS: &[&str] = &[
    "node", "node.js", "nodejs", "python", "java", "jdk", "ruby", "go", "rust", "php", "dotnet", ".net", "django", "rails", "react",
    "vue", "angular", "svelte", "next", "postgres", "postgresql", "mysql", "redis", "ubuntu", "debian", "alpine", "macos", "ios",
    "android", "kotlin", "swift", "typescript", "pnpm", "npm", "yarn", "terraform", "kubernetes", "spring", "laravel", "msrv",
    "version", "protocol", "api", "edition", "clang", "gcc", "llvm", "cmake", "gradle", "vite", "webpack", "electron", "openssl",
];

/// Words after which a thing has one version at a time.
const PINNING_VERBS: &[&str] = &[
    "requires", "require", "needs", "need", "use", "uses", "pin", "pinned", "target", "targets",
    "is", "are", "to", "be", "at", "=",
];

/// Prepositions and conjunctions that begin a circumstance: "on Node 18", "since v1.2".
const PREPOSITION_WORDS: &[&str] = &[
    "for", "on", "in", "under", "during", "with", "when", "if", "while", "since", "before",
    "after", "from", "by", "of", "until", "between",
];

/// Words right before the single value of a subject: "lives in" in "the config lives in `app.toml`". "uses",
/// "calls" and "handles" are left out: one can use two things.
#[rustfmt::skip]
const VALUE_CUES: &[&[&str]] = &[
    &["is"], &["are"], &["be"], &["="], &["defaults", "to"], &["default", "to"], &["set", "to"], &["moved", "to"], &["renamed", "to"],
    &["changed", "to"], &["switched", "to"], &["points", "to"], &["goes", "to"], &["go", "to"], &["lives", "in"], &["live", "in"],
    &["lives", "at"], &["live", "at"], &["lives", "under"], &["stored", "in"], &["stored", "under"], &["saved", "to"], &["written", "to"], &["defined", "in"], &["declared", "in"],
    &["located", "in"], &["located", "at"], &["found", "in"], &["kept", "in"], &["implemented", "in"], &["configured", "in"], &["is", "in"], &["are", "in"],
    &["is", "at"], &["are", "at"], &["called"], &["named"], &["chose"], &["picked"], &["prefer"], &["use"], &["run"], &["choose"],
    &["handled", "by"], &["managed", "by"], &["owned", "by"], &["generated", "by"], &["provided", "by"], &["implemented", "by"], &["done", "by"], &["done", "with"],
    &["tests", "with"], &["run", "with"], &["happens", "in"], &["format", "with"], &["formatted", "with"], &["indent", "with"], &["install", "with"], &["built", "with"], &["build", "with"],
    &["hashed", "with"], &["encrypted", "with"], &["signed", "with"], &["deploy", "with"], &["deploy", "to"], &["merge", "with"], &["merge", "by"],
    &["written", "in"], &["serialised", "as"], &["serialized", "as"], &["stored", "as"], &["returns"], &["return"], &["based", "on"], &["runs", "on"], &["hosted", "on"], &["via"],
];

/// The longest of [`VALUE_CUES`], in words.
const MAX_CUE_WORDS: usize = 2;

/// Nouns too general to be a subject: two different options can both "default to" something.
const GENERAL_NOUNS: &[&str] = &[
    "default", "defaults", "option", "options", "value", "values", "type", "types", "name",
    "names", "setting", "settings", "method", "function", "thing", "way", "code", "example",
    "element", "item", "result", "return", "returns",
];

/// Words whose argument follows them, as written: with both sides exchanged the statement means something else
/// ("a after b", "b after a").
pub(crate) const DIRECTION_WORDS: &[&str] = &[
    "over",
    "before",
    "after",
    "than",
    "from",
    "instead",
    "until",
    "rather",
    NEGATION_KEY,
    "above",
    "below",
];

/// Returns whether the term is one of [`DIRECTION_WORDS`].
pub(crate) fn is_direction(term: &StatementTerm<'_>) -> bool {
    DIRECTION_WORDS.iter().any(|word| is_word(term, word))
}

/// Returns whether the term is a given word. Its text is compared, because stemming changes words
/// ("before" has the key `befor`); and its key, which all negations share.
pub(crate) fn is_word(term: &StatementTerm<'_>, word: &str) -> bool {
    term.lower == word || term.key == word
}

/// Returns whether the term modifies a noun that follows it directly: "upload" in "upload limit".
pub(crate) fn modifies_next(terms: &[StatementTerm<'_>], position: usize) -> bool {
    let Some(next) = terms.get(position + 1) else { return false };
    if terms[position].boundary != TextBoundary::None {
        return false;
    }
    let is_noun = matches!(
        next.class,
        TermClass::Word | TermClass::Name | TermClass::Identifier | TermClass::Number
    );
    // With a connector ("because", "for", "after") a new phrase begins.
    let is_connector = [REASON_WORDS, PREPOSITION_WORDS, DIRECTION_WORDS]
        .iter()
        .any(|words| words.contains(&next.lower.as_str()));
    is_noun && !is_connector
}

/// Returns whether a term can be the subject: two statements that share it are about the same thing.
pub(crate) fn is_subject(term: &StatementTerm<'_>) -> bool {
    let is_noun = matches!(
        term.class,
        TermClass::Word | TermClass::Name | TermClass::Identifier | TermClass::Path
    );
    let is_too_general = GENERAL_NOUNS.contains(&term.lower.as_str());
    is_noun && !is_too_general && !is_direction(term)
}

/// Returns whether the term limits where a statement holds.
pub(crate) fn is_qualifier(term: &StatementTerm<'_>) -> bool {
    term.class == TermClass::Condition
        || QUALIFIER_WORDS.contains(&term.lower.as_str())
        || QUALIFIER_WORDS.contains(&term.key.as_str())
}

/// Returns whether the term is the single value of its subject, by the words right before it.
pub(crate) fn is_value(terms: &[StatementTerm<'_>], position: usize) -> bool {
    if terms[position].starts_sentence {
        return false;
    }
    // Between a cue and its value: "is now the".
    let is_skipped = |term: &&StatementTerm<'_>| {
        matches!(
            term.lower.as_str(),
            "a" | "an" | "the" | "our" | "now" | "currently" | "always" | "only" | "just"
        )
    };
    // The words before it in its sentence, nearest first, as many as a cue has.
    let mut preceding: Vec<&str> = Vec::new();
    for term in terms[..position].iter().rev().filter(|it| !is_skipped(it)).take(MAX_CUE_WORDS) {
        preceding.push(&term.lower);
        if term.starts_sentence {
            break;
        }
    }
    preceding.reverse();
    VALUE_CUES.iter().any(|cue| preceding.ends_with(cue))
}

/// Returns whether an adjective is a predicate: "x is safe", "keep it private", not "safe methods are".
pub(crate) fn is_predicate(terms: &[StatementTerm<'_>], position: usize) -> bool {
    position > 0 && !terms[position].starts_sentence && !modifies_next(terms, position)
}

/// Returns whether a number measures the subject ("the limit is 3"), and does not name it ("step 3") or its
/// circumstances ("on Node 18").
pub(crate) fn number_is_value(terms: &[StatementTerm<'_>], position: usize) -> bool {
    let number = &terms[position];
    let word_before = |n: usize| position.checked_sub(n).map_or("", |it| terms[it].lower.as_str());
    let (previous, before_previous) = (word_before(1), word_before(2));
    let follows_noun = position > 0
        && matches!(
            terms[position - 1].class,
            TermClass::Word | TermClass::Name | TermClass::Identifier | TermClass::Path
        );
    let precedes_noun = terms.get(position + 1).is_some_and(|it| it.class == TermClass::Word);
    let is_measured = MEASURE_NOUNS.contains(&previous);

    // "bug 41 was fixed": the number belongs to the name of the subject. "jobs 5 times", "wait 5" and
    // "timeout 5" contain amounts.
    let takes_amount = AMOUNT_VERBS.contains(&previous) || is_measured || precedes_noun;
    let follows_first_noun = follows_noun && is_first_in_sentence(terms, position - 1);
    if follows_first_noun && !takes_amount {
        return false;
    }
    // "step 3".
    if LABEL_NOUNS.contains(&previous) {
        return false;
    }
    // "0644": codes have a leading zero. "0", "05" and "0.5" are amounts.
    let is_code = number.key.starts_with('0') && number.key.len() > 2 && !number.key.contains('.');
    if is_code {
        return false;
    }
    // "v2 supports streams": the version is the subject.
    if number.class == TermClass::Version && is_first_in_sentence(terms, position) {
        return false;
    }
    // "requires Node 18" pins a version, "on Node 18" is a circumstance.
    if VERSIONED_THINGS.contains(&previous) {
        return PINNING_VERBS.contains(&before_previous);
    }
    // "since v1.2" is a circumstance.
    if number.class == TermClass::Version && PREPOSITION_WORDS.contains(&previous) {
        return false;
    }
    // "in batch 3" is a circumstance, "on port 8080" a value.
    let is_circumstance =
        follows_noun && PREPOSITION_WORDS.contains(&before_previous) && !is_measured;
    !is_circumstance
}

/// Returns whether only fillers ("the", "is") precede the term in its sentence.
fn is_first_in_sentence(terms: &[StatementTerm<'_>], position: usize) -> bool {
    let start = terms[..=position].iter().rposition(|it| it.starts_sentence).unwrap_or(0);
    terms[start..position].iter().all(|it| it.class == TermClass::Filler)
}
