//! Query classification by text alone; the class sets the weights of the retrieval paths in `fusion`.
//!
//! A memory is searched on three paths: by its vector (dense), by words (keyword) and by its files in
//! the code graph. Each class of query is best served by another path:
//!
//! ```text
//! where is verifyJwt              identifier   keywords
//! what depends on verifyJwt?      structural   code graph
//! why does the login fail         semantic     vectors
//! ```

use model::{closed, words};

use crate::fusion::RetrievalPath;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The kind of a query.
    pub enum QueryClass : "class" {
        /// Names an identifier, a path or an error code.
        Identifier = "identifier",
        /// Asks about dependencies between parts of the code.
        Structural = "structural",
        /// Everything else: a question in natural language.
        Semantic = "semantic",
    }
}

/// Weight of each retrieval path, per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWeights {
    pub dense: u16,
    pub keyword: u16,
    pub graph: u16,
}

impl QueryClass {
    #[rustfmt::skip]
    pub const fn weights(self) -> PathWeights {
        match self {
            //                               dense keyword graph
            Self::Identifier => path_weights(200,  500,    300),
            Self::Structural => path_weights(150,  250,    600),
            Self::Semantic   => path_weights(455,  245,    300),
        }
    }

    /// Weights for memories that are source code. Words of a question rarely occur in code; only an
    /// identifier is meant literally.
    #[rustfmt::skip]
    pub const fn weights_for_code(self) -> PathWeights {
        match self {
            //                             dense keyword graph
            Self::Semantic => path_weights(630,  70,     300),
            Self::Identifier | Self::Structural => self.weights(),
        }
    }

    /// Interpolates between [`Self::weights`] and [`Self::weights_for_code`] if `n_code` of `n`
    /// memories are code. All hits of a query share one set, because scores under different weights
    /// are not comparable.
    pub fn weights_among(self, n_code: usize, n: usize) -> PathWeights {
        let to_u32 = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let n = to_u32(n.max(1));
        let n_code = to_u32(n_code).min(n);
        let interpolate = |prose: u16, code: u16| {
            let sum = u32::from(prose) * (n - n_code) + u32::from(code) * n_code;
            u16::try_from(sum / n).unwrap_or(u16::MAX)
        };
        let (prose, code) = (self.weights(), self.weights_for_code());
        let dense = interpolate(prose.dense, code.dense);
        let keyword = interpolate(prose.keyword, code.keyword);
        // The rest, so that rounding does not change the sum.
        PathWeights { dense, keyword, graph: 1000 - dense - keyword }
    }
}

impl PathWeights {
    pub(crate) const fn for_path(self, path: RetrievalPath) -> u16 {
        match path {
            RetrievalPath::Dense => self.dense,
            RetrievalPath::Keyword => self.keyword,
            RetrievalPath::Graph => self.graph,
        }
    }
}

const fn path_weights(dense: u16, keyword: u16, graph: u16) -> PathWeights {
    assert!(dense + keyword + graph == 1000, "a row must add up to 1000");
    PathWeights { dense, keyword, graph }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < QueryClass::ALL.len() {
        QueryClass::ALL[i].weights();
        QueryClass::ALL[i].weights_for_code();
        i += 1;
    }
};

/// Phrases that ask about dependencies.
const STRUCTURAL_PHRASES: &[&str] = &[
    "depends on",
    "depend on",
    "dependencies of",
    "dependents of",
    "what breaks",
    "what would break",
    "what will break",
    "who calls",
    "what calls",
    "callers of",
    "called by",
    "what uses",
    "who uses",
    "usages of",
    "what imports",
    "imported by",
    "affected by",
    "impact of",
];

/// A query with more plain words than this, or with more of them than identifiers, asks about its
/// identifiers, not for them: `verifyJwt` and `TS2345 mergeOptions error` are searches for a name,
/// `retry limit of verifyJwt` is a question.
const MAX_PLAIN_WORDS: usize = 2;

/// Classifies a query by its text alone.
pub fn classify_query(query: &str) -> QueryClass {
    let lower = query.to_lowercase();
    if STRUCTURAL_PHRASES.iter().any(|it| lower.contains(it)) {
        return QueryClass::Structural;
    }
    let (mut n_code_words, mut n_plain_words) = (0, 0);
    for word in query.split_whitespace() {
        let word = word.trim_matches(|it: char| !it.is_alphanumeric() && it != '_');
        // Stop words do not count: `where is verifyJwt` is a search for one word.
        if word.is_empty() || words::is_stop_word(&word.to_lowercase()) {
            continue;
        }
        if is_code_word(word) { n_code_words += 1 } else { n_plain_words += 1 }
    }
    if n_code_words > 0 && n_plain_words <= MAX_PLAIN_WORDS.min(n_code_words) {
        QueryClass::Identifier
    } else {
        QueryClass::Semantic
    }
}

/// True if a word looks like code rather than natural language.
fn is_code_word(word: &str) -> bool {
    let has_code_sign = ["_", "::", "/", "\\", "->", "()"].iter().any(|it| word.contains(it));
    // `jwt.rs`
    let is_file_name = words::file_extension(word).is_some();
    let is_identifier = is_camel_case(word) || is_dotted(word);
    has_code_sign || is_file_name || is_identifier || is_error_code(word)
}

/// `verifyJwt`, `HttpServer`: a capital after a small letter.
fn is_camel_case(word: &str) -> bool {
    word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// `E0308`, `TS2345`, `SQLITE-5`: capitals, then at least two digits.
fn is_error_code(word: &str) -> bool {
    let n_capitals = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let number = word[n_capitals..].trim_start_matches('-');
    n_capitals > 0 && number.len() >= 2 && number.bytes().all(|it| it.is_ascii_digit())
}

/// `os.path.join`, `serde.rename`: a dot between letters on both sides.
fn is_dotted(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.windows(3).any(|window| {
        let [before, sign, after] = window else { return false };
        *sign == b'.' && before.is_ascii_alphabetic() && after.is_ascii_alphabetic()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_distinguished_from_natural_language() {
        for query in [
            "verifyJwt",
            "parse_header",
            "src/auth/jwt.rs",
            "E0308",
            "TS2345 mergeOptions",
            "std::thread::scope",
            "`os.path.join`",
            "where is verifyJwt",
        ] {
            assert_eq!(classify_query(query), QueryClass::Identifier, "{query}");
        }
        for query in [
            "",
            "why does the login fail after a restart",
            "the retry limit of verifyJwt was raised because of flaky tests",
            "How are you?",
            "JSON parsing",
            "?!?",
        ] {
            assert_eq!(classify_query(query), QueryClass::Semantic, "{query}");
        }
    }

    #[test]
    fn weights_are_interpolated_by_the_share_of_code() {
        let class = QueryClass::Semantic;
        assert_eq!(class.weights_among(0, 10), class.weights());
        assert_eq!(class.weights_among(0, 0), class.weights());
        assert_eq!(class.weights_among(10, 10), class.weights_for_code());
        // Half of 455 + 630 and of 245 + 70, rounded down; the graph gets the rest.
        assert_eq!(class.weights_among(5, 10), path_weights(542, 157, 301));
    }

    #[test]
    fn questions_about_dependencies_are_structural() {
        for query in
            ["what depends on verifyJwt?", "What breaks if I change auth.rs", "callers of run"]
        {
            assert_eq!(classify_query(query), QueryClass::Structural, "{query}");
        }
    }
}
