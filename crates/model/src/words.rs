//! Tokenisation for keyword search: identifier parts, stop words, index text, query terms.
//!
//! The same rules split the text that is indexed and the query, so that a search for `jwt` finds
//! `verifyJwt`. The time is linear in the text. Inflection is left to the stemmer of the index (`porter`),
//! and meaning to embeddings.

use std::collections::HashSet;

use crate::ProjectPath;

/// The most terms of a keyword query; further terms only dilute the ranking.
pub const MAX_KEYWORDS: usize = 32;

/// The text of a memory as the keyword index stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The content as written, then the parts of its identifiers on a line of their own.
    pub content: String,
    pub tags: String,
    /// Path parts without the extension, which would match every file of a language.
    pub files: String,
}

/// Stop words, sorted. Queries are often whole sentences.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let",
    "may", "me", "might", "my", "of", "on", "or", "our", "please", "she", "should", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "us", "very", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Known file extensions, sorted; a dot before anything else does not start one.
#[rustfmt::skip]
const FILE_EXTENSIONS: &[&str] = &[
    "bash", "bat", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv", "cue", "dart",
    "db", "diff", "env", "erl", "ex", "exs", "fish", "go", "gql", "gradle", "graphql", "h", "hcl",
    "hpp", "hs", "html", "ini", "ipynb", "java", "jl", "js", "json", "jsonl", "jsx", "kt", "kts",
    "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "ml", "mod", "nix", "patch", "php",
    "pl", "properties", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala",
    "scm", "scss", "sh", "snap", "sql", "sum", "svelte", "svg", "swift", "tf", "toml", "ts",
    "tsx", "txt", "vue", "wasm", "xml", "yaml", "yml", "zig", "zsh",
];

/// Returns whether a word in lower case is too common to search for.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The file name's extension when it is one of the known ones, e.g. `ts` of `src/auth.test.ts`.
pub fn file_extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    let is_known = FILE_EXTENSIONS.binary_search_by(|it| cmp_ignoring_case(it, extension)).is_ok();
    // `.env` is a name without an extension.
    (is_known && !stem.is_empty()).then_some(extension)
}

/// The parts of an identifier in lower case: `verifyJwt`, `verify_jwt` and `verify-jwt` are `verify`, `jwt`;
/// `HTTPServer` is `http`, `server`. Digits stay with the letters before them: `base64Url` is `base64`, `url`.
pub fn identifier_parts(identifier: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut previous = ' ';
    let mut chars = identifier.chars().peekable();
    while let Some(char) = chars.next() {
        if char.is_alphanumeric() {
            // A part begins at a capital after a small letter or a digit (`verify|Jwt`), and at the last
            // capital of several (`HTTP|Server`).
            let follows_small = !previous.is_uppercase() && previous.is_alphanumeric();
            let precedes_small = chars.peek().is_some_and(|next| next.is_lowercase());
            let ends_acronym = previous.is_uppercase() && precedes_small;
            if char.is_uppercase() && (follows_small || ends_acronym) {
                flush_part(&mut parts, &mut part);
            }
            part.extend(char.to_lowercase());
        } else {
            flush_part(&mut parts, &mut part);
        }
        previous = char;
    }
    flush_part(&mut parts, &mut part);
    parts
}

/// Builds the text that the keyword index stores for a memory.
pub fn index_text(content: &str, tags: &[String], files: &[ProjectPath]) -> IndexedText {
    let mut file_terms = UniqueTerms::default();
    for path in files {
        let stem = strip_extension(path.as_str());
        identifier_runs(stem).for_each(|it| file_terms.push_identifier(it, str::to_owned));
    }
    IndexedText {
        content: append_identifier_parts(content),
        tags: append_identifier_parts(&tags.join(" ")),
        files: file_terms.terms.join(" "),
    }
}

/// The terms of a keyword query: lower case, identifiers whole and in parts, each once, at most
/// [`MAX_KEYWORDS`]. Stop words and single letters are left out unless the query has nothing else.
/// No term holds a space or a quote, so quoting it is always safe.
pub fn query_keywords(query: &str) -> Vec<String> {
    let mut acc = UniqueTerms::default();
    for chunk in query.split_whitespace() {
        let chunk = chunk.trim_matches(|it: char| !it.is_alphanumeric());
        let stem = strip_extension(chunk);
        identifier_runs(stem).for_each(|it| acc.push_identifier(it, str::to_lowercase));
    }
    let is_letter = |it: &str| it.len() == 1 && it.as_bytes()[0].is_ascii_alphabetic();
    let is_specific = |it: &String| !is_stop_word(it) && !is_letter(it);
    let mut keywords: Vec<String> =
        acc.terms.iter().filter(|it| is_specific(it)).cloned().collect();
    // A query of stop words alone, such as "what is this", searches for them.
    if keywords.is_empty() {
        keywords = acc.terms;
    }
    keywords.truncate(MAX_KEYWORDS);
    keywords
}

/// Inverse document frequency of a term that `doc_freq` of `n_docs` documents contain, in the form of BM25
/// with `ln(1 + …)`: always positive, because in a small notebook every term is common.
#[expect(clippy::cast_precision_loss, reason = "counts of memories are far below 2^53")]
pub fn inverse_document_frequency(n_docs: u64, doc_freq: u64) -> f64 {
    let (n_docs, doc_freq) = (n_docs.max(doc_freq) as f64, doc_freq as f64);
    ((n_docs - doc_freq + 0.5) / (doc_freq + 0.5)).ln_1p()
}

/// Distinct terms in order of first occurrence.
#[derive(Default)]
struct UniqueTerms {
    terms: Vec<String>,
    seen: HashSet<String>,
}

impl UniqueTerms {
    fn push(&mut self, term: String) {
        if self.seen.insert(term.clone()) {
            self.terms.push(term);
        }
    }

    /// Adds an identifier, formatted by `format_whole`, and its parts if there are several.
    fn push_identifier(&mut self, identifier: &str, format_whole: fn(&str) -> String) {
        let parts = identifier_parts(identifier);
        // Underscores alone are no term.
        if parts.is_empty() {
            return;
        }
        self.push(format_whole(identifier));
        if parts.len() > 1 {
            for part in parts {
                self.push(part);
            }
        }
    }
}

/// The path or name without a known extension.
fn strip_extension(path: &str) -> &str {
    file_extension(path).map_or(path, |it| &path[..path.len() - it.len() - 1])
}

/// The text, then the parts of its identifiers on a line of their own.
fn append_identifier_parts(text: &str) -> String {
    let mut acc = UniqueTerms::default();
    for run in identifier_runs(text) {
        let parts = identifier_parts(run);
        if parts.len() > 1 {
            for part in parts {
                acc.push(part);
            }
        }
    }
    if acc.terms.is_empty() { text.to_owned() } else { format!("{text}\n{}", acc.terms.join(" ")) }
}

/// Runs of letters, digits and `_`, which are identifiers in most languages.
fn identifier_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty())
}

fn flush_part(acc: &mut Vec<String>, part: &mut String) {
    if !part.is_empty() {
        acc.push(std::mem::take(part));
    }
}

fn cmp_ignoring_case(known: &str, given: &str) -> std::cmp::Ordering {
    known.bytes().cmp(given.bytes().map(|it| it.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check_keywords(query: &str, expect: Expect) {
        expect.assert_eq(&query_keywords(query).join(" "));
    }

    #[test]
    fn tables_are_sorted_for_binary_search() {
        assert!(STOP_WORDS.is_sorted() && FILE_EXTENSIONS.is_sorted());
    }

    #[test]
    fn identifiers_are_split_at_capitals_and_underscores() {
        let parts = |it: &str| identifier_parts(it).join(" ");
        assert_eq!(parts("verifyJwt"), "verify jwt");
        assert_eq!(parts("HTTPServer2Go"), "http server2 go");
        assert_eq!(parts("snake_case__id"), "snake case id");
        assert_eq!(parts("SCREAMING_CASE"), "screaming case");
        assert_eq!(parts("base64Url"), "base64 url");
        assert_eq!(parts("straßeÉté"), "straße été");
        assert_eq!(parts("_"), "");
    }

    #[test]
    fn the_index_text_has_identifiers_whole_and_in_parts() {
        let tags = ["rate-limit".to_owned(), "authFlow".to_owned()];
        let files = [
            ProjectPath::parse("src/auth/verifyJwt.test.ts").unwrap(),
            ProjectPath::parse(".github/ci.yml").unwrap(),
        ];
        let indexed = index_text("verifyJwt needs `JWT_SECRET`", &tags, &files);
        expect![[r"
            verifyJwt needs `JWT_SECRET`
            verify jwt secret"]]
        .assert_eq(&indexed.content);
        expect![[r"
            rate-limit authFlow
            auth flow"]]
        .assert_eq(&indexed.tags);
        expect!["src auth verifyJwt verify jwt test github ci"].assert_eq(&indexed.files);
    }

    #[test]
    fn a_query_becomes_its_keywords() {
        check_keywords("Why does verifyJwt fail in CI?", expect!["verifyjwt verify jwt fail ci"]);
        check_keywords("src/auth/jwt.rs", expect!["src auth jwt"]);
        check_keywords("what is this", expect!["what is this"]);
        check_keywords("a 5 \"quoted\" AND* term", expect!["5 quoted term"]);
        check_keywords("*** --", expect![""]);
        check_keywords("où est la clé", expect!["où est la clé"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_bounded_number_of_plain_terms(query in "\\PC{0,200}") {
            let keywords = query_keywords(&query);
            prop_assert!(keywords.len() <= MAX_KEYWORDS);
            for term in &keywords {
                prop_assert!(term.chars().any(char::is_alphanumeric));
                prop_assert!(!term.contains('"') && !term.contains(' '));
            }
            prop_assert!(index_text(&query, &[], &[]).content.starts_with(&query));
        }
    }

    #[test]
    fn a_rare_term_weighs_more_and_every_weight_is_positive() {
        assert!(inverse_document_frequency(1_000, 1) > inverse_document_frequency(1_000, 100));
        assert!(
            inverse_document_frequency(1_000, 1_000) > 0.0
                && inverse_document_frequency(0, 5) > 0.0
        );
    }

    #[test]
    fn a_long_text_gives_each_term_once() {
        let long = "aB_cD/é.rs ".repeat(6_000);
        assert_eq!(query_keywords(&long), ["ab_cd", "é"]);
        assert!(index_text(&long, &[], &[]).content.len() < long.len() + 100);
    }
}
