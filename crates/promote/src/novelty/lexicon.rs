//! Word tables for the comparison of statements: roles, opposites, alternatives, spellings and units.
//!
//! All tables are in lower case. Roles, opposites and units are looked up as written. Spellings and rivals
//! are compared by *stem*, the word without its inflection: `stem_word("caching")` is `cach`, and so is that
//! of `cache`. The *key* of a word, by which statements are compared, is its stem in one spelling:
//! `canonical_form("repositories")` is `repo`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::terms::TermClass;

/// Roles of common words. Every other word is content.
#[rustfmt::skip]
const ROLE_WORDS: &[(TermClass, &[&str])] = &[
    // Ignored.
    (TermClass::Filler, &[
        "a", "an", "the", "this", "that", "these", "those", "it", "its", "it's", "is", "are", "am", "was", "were", "be", "been",
        "being", "of", "in", "on", "at", "for", "with", "by", "to", "into", "and", "as", "we", "i", "you", "they", "our",
        "your", "my", "their", "us", "me", "there", "which", "who", "do", "does", "did", "=", "==", ":=", "|", "&",
    ]),
    // They strengthen or weaken a statement and change no fact; only `Same` requires them to be equal.
    (TermClass::Weak, &[
        "must", "should", "shall", "will", "would", "may", "might", "can", "could", "always", "usually", "generally", "often",
        "currently", "now", "already", "still", "just", "also", "too", "only", "really", "very", "ever", "please", "note", "remember",
        "ensure", "sure", "longer", "anymore", "here", "then", "so", "actually", "simply", "all", "any", "every", "each", "both", "whole", "entire", "own", "existing", "given",
        "use", "uses", "used", "using", "run", "runs", "running", "make", "makes", "have", "has", "had", "need", "needs", "needed",
        "want", "wants", "prefer", "prefers", "choose", "chose", "chosen", "pick", "picked", "go", "take", "takes", "favour", "favor",
    ]),
    (TermClass::Negation, &["not", "never", "no", "cannot", "avoid", "avoids"]),
    // They limit where a statement holds; with another one it is another statement.
    (TermClass::Condition, &[
        "if", "when", "whenever", "unless", "until", "while", "except", "during", "without", "once", "otherwise", "outside", "inside", "or",
    ]),
];

/// Words that begin the reason of a claim.
pub(crate) const REASON_WORDS: &[&str] =
    &["because", "since", "due", "therefore", "thus", "otherwise", "so"];

/// Words that refer to something outside the statement, so that its subject is unknown.
pub(crate) const POINTER_WORDS: &[&str] =
    &["instead", "equivalent", "same", "following", "previous", "former", "latter", "respectively"];

/// Positions in which a pair of opposites counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OppositeScope {
    /// As verb or relation: "enable x" against "disable x".
    Anywhere,
    /// Only as predicate: "is public", not "public methods", which is only about other methods.
    Predicate,
}

/// Words that cannot both be true of one thing, by the positions in which that counts.
#[rustfmt::skip]
const OPPOSITE_PAIRS: &[(OppositeScope, &[(&str, &str)])] = &[
    (OppositeScope::Anywhere, &[
        ("enable", "disable"), ("allow", "forbid"), ("allow", "deny"), ("allow", "prohibit"), ("accept", "reject"),
        ("include", "exclude"), ("before", "after"), ("increase", "decrease"), ("increase", "reduce"),
        ("show", "hide"), ("commit", "gitignore"),
    ]),
    (OppositeScope::Predicate, &[
        ("enabled", "disabled"), ("allowed", "forbidden"), ("allowed", "denied"), ("allowed", "prohibited"),
        ("accepted", "rejected"), ("included", "excluded"), ("true", "false"), ("off", "enabled"),
        ("required", "optional"), ("sync", "async"), ("synchronous", "asynchronous"), ("mutable", "immutable"),
        ("public", "private"), ("safe", "unsafe"), ("blocking", "nonblocking"), ("sorted", "unsorted"),
        ("ascending", "descending"), ("eager", "lazy"), ("stateless", "stateful"), ("supported", "unsupported"),
        ("valid", "invalid"), ("works", "fails"), ("work", "fail"), ("fast", "slow"), ("nullable", "nonnull"),
        ("signed", "unsigned"), ("strict", "loose"), ("inclusive", "exclusive"), ("succeeds", "fails"),
        ("deterministic", "random"), ("cached", "uncached"), ("encrypted", "unencrypted"), ("utc", "localtime"),
    ]),
];

/// Alternatives of which a project chooses one; any two of a group contradict each other.
#[rustfmt::skip]
const RIVAL_GROUPS: &[&[&str]] = &[
    &["tabs", "spaces"], &["npm", "pnpm", "yarn", "bun"], &["pip", "uv", "poetry", "pipenv"], &["postgres", "mysql", "sqlite", "mariadb"],
    &["jest", "vitest", "mocha"], &["pytest", "unittest"], &["prettier", "biome"], &["eslint", "biome", "tslint"], &["rebase", "merge", "squash"],
    &["single", "double"], &["camelcase", "snakecase", "kebabcase"], &["tokio", "smol"], &["webpack", "vite", "rollup", "esbuild"],
    &["redux", "zustand", "mobx"], &["rest", "graphql", "grpc"], &["json", "yaml", "toml"], &["uuid", "ulid"], &["thiserror", "anyhow"],
    &["kafka", "rabbitmq", "nats"], &["black", "ruff"], &["monorepo", "polyrepo"], &["semicolons", "asi"], &["crlf", "lf"],
];

/// Spellings and forms of one word. The first one is the key of all.
#[rustfmt::skip]
const SPELLING_GROUPS: &[&[&str]] = &[
    &["postgres", "postgresql"], &["repo", "repository", "repositories"], &["config", "configuration", "configurations"], &["db", "database", "databases"],
    &["env", "environment"], &["dir", "directory", "folder", "directories", "folders"], &["auth", "authentication"], &["dev", "development"],
    &["prod", "production"], &["js", "javascript"], &["ts", "typescript"], &["k8s", "kubernetes"], &["max", "maximum"], &["min", "minimum"],
    &["param", "parameter", "params", "parameters"], &["arg", "argument", "args", "arguments"], &["fn", "function", "functions"],
    &["delete", "remove", "deleted", "removed"], &["call", "invoke", "invoked"], &["begin", "start"], &["break", "broke", "broken"],
    &["live", "reside", "resides"], &["required", "mandatory"], &["disable", "deactivate"], &["enable", "activate"], &["build", "built"],
    &["use", "uses", "used", "using"], &["keep", "kept"], &["hold", "held"], &["write", "written", "wrote"], &["colour", "color"], &["behaviour", "behavior"], &["initialise", "initialize"], &["fail", "failure"], &["info", "information"],
];

/// A unit of measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasureUnit {
    /// The name in keys. Units that are converted into each other have one name.
    pub name: &'static str,
    /// Milliseconds of a unit of time; 0 for all others.
    pub millis: u64,
}

/// Spellings of a unit, its name in keys, and its milliseconds; 0 for units that are not converted.
#[rustfmt::skip]
const MEASURE_UNITS: &[(&[&str], &str, u64)] = &[
    (&["ms", "msec", "millisecond", "milliseconds", "millis"], "ms", 1), (&["s", "sec", "secs", "second", "seconds"], "ms", 1_000),
    (&["min", "mins", "minute", "minutes"], "ms", 60_000), (&["h", "hr", "hrs", "hour", "hours"], "ms", 3_600_000),
    (&["d", "day", "days"], "ms", 86_400_000), (&["week", "weeks"], "ms", 604_800_000),
    (&["b", "byte", "bytes"], "b", 0), (&["kb", "kib", "kilobytes"], "kb", 0), (&["mb", "mib", "megabytes"], "mb", 0), (&["gb", "gib", "gigabytes"], "gb", 0),
    (&["%", "percent"], "%", 0), (&["px", "pixels"], "px", 0), (&["x"], "x", 0), (&["k"], "k", 0), (&["th", "st", "nd", "rd"], "th", 0),
];

/// `one` to `twelve`, in order.
const NUMBER_WORDS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

static ROLE_BY_WORD: LazyLock<HashMap<&str, TermClass>> = LazyLock::new(|| {
    ROLE_WORDS.iter().flat_map(|(role, words)| words.iter().map(|it| (*it, *role))).collect()
});
/// The stem of the first spelling of a group, by the stem of each of its spellings.
static SPELLING_BY_STEM: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut acc = HashMap::new();
    for group in SPELLING_GROUPS {
        for spelling in *group {
            acc.insert(stem_word(spelling), stem_word(group[0]));
        }
    }
    acc
});

/// The role of a common word; `None` for content.
pub(crate) fn word_role(lower: &str) -> Option<TermClass> {
    if lower.ends_with("n't") {
        Some(TermClass::Negation)
    } else {
        ROLE_BY_WORD.get(lower).copied()
    }
}

/// The key of a content word: its stem in one spelling.
pub(crate) fn canonical_form(lower: &str) -> String {
    let stem = stem_word(lower);
    SPELLING_BY_STEM.get(&stem).cloned().unwrap_or(stem)
}

/// The one spelling of a name, which has no inflection.
pub(crate) fn canonical_spelling(name: String) -> String {
    SPELLING_BY_STEM.get(&name).cloned().unwrap_or(name)
}

/// The scope in which two words are opposites; `None` if they are not.
pub(crate) fn find_opposite(left: &str, right: &str) -> Option<OppositeScope> {
    let is_opposite =
        |(a, b): &(&str, &str)| (*a, *b) == (left, right) || (*a, *b) == (right, left);
    let found = OPPOSITE_PAIRS.iter().find(|(_, pairs)| pairs.iter().any(is_opposite));
    found.map(|(scope, _)| *scope)
}

/// Returns whether two terms, given by their keys, are alternatives that exclude each other.
pub(crate) fn are_rivals(left: &str, right: &str) -> bool {
    // The key of a name can be the word as written, that of a plain word is its stem.
    let contains =
        |group: &[&str], key: &str| group.iter().any(|it| *it == key || canonical_form(it) == key);
    left != right
        && RIVAL_GROUPS.iter().any(|group| contains(group, left) && contains(group, right))
}

/// The unit that a word names.
pub(crate) fn parse_unit(lower: &str) -> Option<MeasureUnit> {
    let row = MEASURE_UNITS.iter().find(|(spellings, ..)| spellings.contains(&lower));
    row.map(|(_, name, millis)| MeasureUnit { name, millis: *millis })
}

/// The number that a word names, from one to twelve.
pub(crate) fn parse_number_word(lower: &str) -> Option<usize> {
    NUMBER_WORDS.iter().position(|it| *it == lower).map(|it| it + 1)
}

/// Removes the endings of English inflection. A light stemmer: it must not merge different words. The stem
/// need not be a word: `cache` and `caching` become `cach`.
pub(crate) fn stem_word(lower: &str) -> String {
    // Short words have no ending to spare: "bus", "is".
    if !lower.is_ascii() || lower.len() < 4 {
        return lower.to_owned();
    }
    let base = strip_ending(lower);
    // "cache" and "caching" meet without the silent e.
    if base.len() > 3 { base.strip_suffix('e').unwrap_or(&base).to_owned() } else { base }
}

/// Removes the first of these endings that fits: `ies`, `es`, `s`, `ing` or `ed`.
fn strip_ending(lower: &str) -> String {
    // "retries" → "retry".
    if let Some(root) = lower.strip_suffix("ies")
        && root.len() > 2
    {
        return format!("{root}y");
    }
    // "passes" → "pass", "boxes" → "box", "matches" → "match".
    if let Some(root) = lower.strip_suffix("es") {
        let is_sibilant = root.len() > 2 && root.ends_with(['s', 'x', 'z']);
        if is_sibilant || root.ends_with("ch") || root.ends_with("sh") {
            return root.to_owned();
        }
    }
    // "tests" → "test", but "pass", "status" and "redis" are no plurals.
    let is_singular = ["ss", "us", "is"].iter().any(|end| lower.ends_with(end));
    if let Some(root) = lower.strip_suffix('s')
        && !is_singular
    {
        return root.to_owned();
    }
    // "tested" → "test". "string" has no vowel before the ending and "need" only two letters: both stay.
    let has_vowel = |root: &str| root.bytes().any(|it| b"aeiouy".contains(&it));
    let root = lower.strip_suffix("ing").or_else(|| lower.strip_suffix("ed"));
    if let Some(root) = root
        && root.len() > 2
        && has_vowel(root)
        && !root.ends_with('e')
    {
        let bytes = root.as_bytes();
        // "running" → "run", but "passing" → "pass".
        let is_doubled =
            bytes[root.len() - 1] == bytes[root.len() - 2] && !root.ends_with(['l', 's', 'z']);
        return root[..root.len() - usize::from(is_doubled)].to_owned();
    }
    lower.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_has_two_roles() {
        let n_words: usize = ROLE_WORDS.iter().map(|(_, words)| words.len()).sum();
        assert_eq!(ROLE_BY_WORD.len(), n_words);
    }

    #[test]
    fn inflections_have_one_stem_and_different_words_do_not() {
        for row in [
            &["retry", "retries"][..],
            &["cache", "caching", "cached", "caches"],
            &["run", "running", "runs"],
            &["pass", "passes", "passed"],
            &["test", "tests", "tested", "testing"],
        ] {
            assert!(row.iter().all(|it| stem_word(it) == stem_word(row[0])), "{row:?}");
        }
        for (left, right) in [
            ("status", "state"),
            ("string", "strict"),
            ("process", "proceed"),
            ("need", "new"),
            ("bus", "bu"),
        ] {
            assert_ne!(stem_word(left), stem_word(right));
        }
    }
}
