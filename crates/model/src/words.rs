//! Tokenisation for keyword search: identifier parts, stop words, index text, query terms.
//!
//! Pure and linear. The index stems (`porter`); embeddings cover meaning.

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

pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The file name's extension when it is one of the known ones, e.g. `ts` of `src/auth.test.ts`.
pub fn file_extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    let known = FILE_EXTENSIONS.binary_search_by(|it| cmp_ignoring_case(it, extension)).is_ok();
    (known && !stem.is_empty()).then_some(extension)
}

/// The parts of an identifier in lower case: `verifyJwt`, `verify_jwt` and `verify-jwt` are `verify`, `jwt`;
/// `HTTPServer` is `http`, `server`. Digits stay with the letters before them: `base64Url` is `base64`, `url`.
pub fn identifier_parts(identifier: &str) -> Vec<String> {
    let mut res: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut previous = ' ';
    let mut chars = identifier.chars().peekable();
    while let Some(it) = chars.next() {
        if it.is_alphanumeric() {
            let after_lower = !previous.is_uppercase() && previous.is_alphanumeric();
            let before_lower = chars.peek().is_some_and(|next| next.is_lowercase());
            if it.is_uppercase() && (after_lower || (previous.is_uppercase() && before_lower)) {
                flush_part(&mut res, &mut part);
            }
            part.extend(it.to_lowercase());
        } else {
            flush_part(&mut res, &mut part);
        }
        previous = it;
    }
    flush_part(&mut res, &mut part);
    res
}

/// Builds the text that the keyword index stores for a memory.
pub fn index_text(content: &str, tags: &[String], files: &[ProjectPath]) -> IndexedText {
    let tags = tags.join(" ");
    let mut of_files = UniqueTerms::default();
    for path in files {
        let path = path.as_str();
        let bare = file_extension(path).map_or(path, |it| &path[..path.len() - it.len() - 1]);
        identifier_runs(bare).for_each(|it| of_files.push_identifier(it, str::to_owned));
    }
    IndexedText {
        content: append_identifier_parts(content),
        tags: append_identifier_parts(&tags),
        files: of_files.terms.join(" "),
    }
}

/// The terms of a keyword query: lower case, identifiers whole and in parts, each once, at most
/// [`MAX_KEYWORDS`]. Stop words and single letters are left out unless the query has nothing else.
/// No term holds a space or a quote, so quoting it is always safe.
pub fn query_keywords(query: &str) -> Vec<String> {
    let mut acc = UniqueTerms::default();
    for chunk in query.split_whitespace() {
        let chunk = chunk.trim_matches(|it: char| !it.is_alphanumeric());
        let bare = file_extension(chunk).map_or(chunk, |it| &chunk[..chunk.len() - it.len() - 1]);
        identifier_runs(bare).for_each(|it| acc.push_identifier(it, str::to_lowercase));
    }
    let is_letter = |it: &str| it.len() == 1 && it.as_bytes()[0].is_ascii_alphabetic();
    let is_specific = |it: &String| !is_stop_word(it) && !is_letter(it);
    let mut res: Vec<String> = acc.terms.iter().filter(|it| is_specific(it)).cloned().collect();
    if res.is_empty() {
        res = acc.terms;
    }
    res.truncate(MAX_KEYWORDS);
    res
}

/// Inverse document frequency of a term that `holding` of `all` memories contain, in the form of
/// BM25 with `ln(1 + …)`: always positive, because in a small notebook every term is common.
#[expect(clippy::cast_precision_loss, reason = "counts of memories are far below 2^53")]
pub fn inverse_document_frequency(all: u64, holding: u64) -> f64 {
    let (all, holding) = (all.max(holding) as f64, holding as f64);
    ((all - holding + 0.5) / (holding + 0.5)).ln_1p()
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

    fn push_identifier(&mut self, identifier: &str, whole: fn(&str) -> String) {
        let parts = identifier_parts(identifier);
        if parts.is_empty() {
            return;
        }
        self.push(whole(identifier));
        if parts.len() > 1 {
            for part in parts {
                self.push(part);
            }
        }
    }
}

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

/// Runs of letters, digits and `_`: what most languages call an identifier.
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
    fn tables_are_sorted_for_their_search() {
        assert!(STOP_WORDS.is_sorted() && FILE_EXTENSIONS.is_sorted());
    }

    #[test]
    fn identifiers_come_apart_at_their_humps() {
        let said = |it: &str| identifier_parts(it).join(" ");
        assert_eq!(said("verifyJwt"), "verify jwt");
        assert_eq!(said("HTTPServer2Go"), "http server2 go");
        assert_eq!(said("snake_case__id"), "snake case id");
        assert_eq!(said("SCREAMING_CASE"), "screaming case");
        assert_eq!(said("base64Url"), "base64 url");
        assert_eq!(said("straßeÉté"), "straße été");
        assert_eq!(said("_"), "");
    }

    #[test]
    fn the_index_finds_parts_and_wholes() {
        let tags = ["rate-limit".to_owned(), "authFlow".to_owned()];
        let files = [
            ProjectPath::parse("src/auth/verifyJwt.test.ts").unwrap(),
            ProjectPath::parse(".github/ci.yml").unwrap(),
        ];
        let res = index_text("verifyJwt needs `JWT_SECRET`", &tags, &files);
        expect![[r"
            verifyJwt needs `JWT_SECRET`
            verify jwt secret"]]
        .assert_eq(&res.content);
        expect![[r"
            rate-limit authFlow
            auth flow"]]
        .assert_eq(&res.tags);
        expect!["src auth verifyJwt verify jwt test github ci"].assert_eq(&res.files);
    }

    #[test]
    fn questions_become_terms() {
        check_keywords("Why does verifyJwt fail in CI?", expect!["verifyjwt verify jwt fail ci"]);
        check_keywords("src/auth/jwt.rs", expect!["src auth jwt"]);
        check_keywords("what is this", expect!["what is this"]);
        check_keywords("a 5 \"quoted\" AND* term", expect!["5 quoted term"]);
        check_keywords("*** --", expect![""]);
        check_keywords("où est la clé", expect!["où est la clé"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_few_plain_terms(query in "\\PC{0,200}") {
            let res = query_keywords(&query);
            prop_assert!(res.len() <= MAX_KEYWORDS);
            for term in &res {
                prop_assert!(term.chars().any(char::is_alphanumeric));
                prop_assert!(!term.contains('"') && !term.contains(' '));
            }
            prop_assert!(index_text(&query, &[], &[]).content.starts_with(&query));
        }
    }

    #[test]
    fn a_rare_term_tells_more_and_none_tells_nothing() {
        assert!(inverse_document_frequency(1_000, 1) > inverse_document_frequency(1_000, 100));
        assert!(
            inverse_document_frequency(1_000, 1_000) > 0.0
                && inverse_document_frequency(0, 5) > 0.0
        );
    }

    #[test]
    fn long_text_is_no_trouble() {
        let long = "aB_cD/é.rs ".repeat(6_000);
        assert_eq!(query_keywords(&long), ["ab_cd", "é"]);
        assert!(index_text(&long, &[], &[]).content.len() < long.len() + 100);
    }
}
