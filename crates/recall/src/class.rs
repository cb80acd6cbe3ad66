//! What kind of question is asked; it decides which path is heard most.

use model::{closed, words};

use crate::fuse::Path;

closed! {
    /// The kind of a question.
    pub enum Class : "class" {
        /// Names something that stands in the code: an identifier, a path, an error code.
        Identifier = "identifier",
        /// Asks what hangs on what.
        Structural = "structural",
        /// Everything else: a question in words.
        Semantic = "semantic",
    }
}

/// How much each path counts, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    pub dense: u16,
    pub keyword: u16,
    pub graph: u16,
}

impl Class {
    #[rustfmt::skip]
    pub const fn weights(self) -> Weights {
        match self {
            //                         dense keyword graph
            Self::Identifier => weights(200,  500,    300),
            Self::Structural => weights(150,  250,    600),
            Self::Semantic   => weights(455,  245,    300),
        }
    }

    /// The same among memories that are code. Words of a question rarely stand in code; only who
    /// names an identifier means the word itself.
    #[rustfmt::skip]
    pub const fn weights_for_code(self) -> Weights {
        match self {
            Self::Semantic => weights(630, 70, 300),
            Self::Identifier | Self::Structural => self.weights(),
        }
    }

    /// The weights where `n_code` of `n` memories are code: in between. One set for all candidates of
    /// a question, since what is weighed differently cannot be compared.
    pub fn weights_among(self, n_code: usize, n: usize) -> Weights {
        let (prose, code) = (self.weights(), self.weights_for_code());
        let share = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (n_code, n) = (share(n_code), share(n.max(1)));
        let between = |prose: u16, code: u16| {
            let sum = u32::from(prose) * (n - n_code.min(n)) + u32::from(code) * n_code.min(n);
            u16::try_from(sum / n).unwrap_or(u16::MAX)
        };
        let (dense, keyword) =
            (between(prose.dense, code.dense), between(prose.keyword, code.keyword));
        Weights { dense, keyword, graph: 1000 - dense - keyword }
    }
}

impl Weights {
    pub(crate) const fn of(self, path: Path) -> u16 {
        match path {
            Path::Dense => self.dense,
            Path::Keyword => self.keyword,
            Path::Graph => self.graph,
        }
    }
}

const fn weights(dense: u16, keyword: u16, graph: u16) -> Weights {
    assert!(dense + keyword + graph == 1000, "a row must add up to 1000");
    Weights { dense, keyword, graph }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < Class::ALL.len() {
        Class::ALL[i].weights();
        Class::ALL[i].weights_for_code();
        i += 1;
    }
};

/// Turns of phrase that ask what hangs on what.
const STRUCTURAL: &[&str] = &[
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

/// A question with more plain words than this is one about the identifiers in it.
const PLAIN_WORDS: usize = 2;

/// Tells the kind of a question from its text alone.
pub fn classify(query: &str) -> Class {
    let lower = query.to_lowercase();
    if STRUCTURAL.iter().any(|it| lower.contains(it)) {
        return Class::Structural;
    }
    let (mut named, mut plain) = (0, 0);
    for word in query.split_whitespace() {
        let word = word.trim_matches(|it: char| !it.is_alphanumeric() && it != '_');
        if word.is_empty() || words::is_stop_word(&word.to_lowercase()) {
            continue;
        }
        if is_name(word) { named += 1 } else { plain += 1 }
    }
    if named > 0 && plain <= PLAIN_WORDS.min(named) { Class::Identifier } else { Class::Semantic }
}

/// Whether a word is one of code rather than of language.
fn is_name(word: &str) -> bool {
    let joined = ["_", "::", "/", "\\", "->", "()"].iter().any(|it| word.contains(it));
    joined
        || has_hump(word)
        || is_error_code(word)
        || (words::extension(word).is_some() && word.contains('.'))
        || is_dotted(word)
}

/// `verifyJwt`, `HttpServer`: a capital after a small letter.
fn has_hump(word: &str) -> bool {
    let mut previous = ' ';
    word.chars().any(|it| std::mem::replace(&mut previous, it).is_lowercase() && it.is_uppercase())
}

/// `E0308`, `TS2345`, `SQLITE-5`: capitals, then at least two digits.
fn is_error_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = word[letters..].trim_start_matches('-');
    letters > 0 && rest.len() > 1 && rest.bytes().all(|it| it.is_ascii_digit())
}

/// `os.path.join`, `serde.rename`: a dot between letters on both sides.
fn is_dotted(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes
        .windows(3)
        .any(|it| it[1] == b'.' && it[0].is_ascii_alphabetic() && it[2].is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words() {
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
            assert_eq!(classify(query), Class::Identifier, "{query}");
        }
        for query in [
            "",
            "why does the login fail after a restart",
            "the retry limit of verifyJwt was raised because of flaky tests",
            "How are you?",
            "JSON parsing",
            "?!?",
        ] {
            assert_eq!(classify(query), Class::Semantic, "{query}");
        }
    }

    #[test]
    fn among_code_and_prose_the_weights_are_in_between() {
        let class = Class::Semantic;
        assert_eq!(class.weights_among(0, 10), class.weights());
        assert_eq!(class.weights_among(0, 0), class.weights());
        assert_eq!(class.weights_among(10, 10), class.weights_for_code());
        assert_eq!(class.weights_among(5, 10), weights(542, 157, 301));
    }

    #[test]
    fn what_hangs_on_what_is_structural() {
        for query in
            ["what depends on verifyJwt?", "What breaks if I change auth.rs", "callers of run"]
        {
            assert_eq!(classify(query), Class::Structural, "{query}");
        }
    }
}
