//! Finds and redacts secrets in text.
//!
//! The room is pure and sees nothing else of ours: text comes in, places of secrets come out. One
//! walk of an Aho-Corasick automaton looks for keywords; only behind a keyword does a pattern or a
//! small parser look closer. It deliberately does not ask any provider whether a token is live,
//! does not read files, and does not decide what happens to a text that holds a secret.

mod base64;
mod bytes;
mod find;
mod keyword;
mod kind;
mod mask;
mod place;
mod placeholder;
mod random;
mod rules;
mod word;

pub use kind::{Kind, kinds};
pub use place::{Place, places};
pub use rules::{RULES, Rule};

/// A secret in a text: bytes `start..end`, on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    pub kind: &'static str,
    pub start: usize,
    pub end: usize,
}

/// A text without its secrets, and where they stood in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    pub text: String,
    pub findings: Vec<Finding>,
}

/// All secrets of a text, in order, without overlap; each span is the value alone, not its name.
pub fn scan(text: &str) -> Vec<Finding> {
    find::find(text)
}

/// Replaces every secret by `[REDACTED: kind]`. Redacting the result again changes nothing.
pub fn redact(text: &str) -> Redacted {
    let findings = scan(text);
    let mut acc = String::with_capacity(text.len());
    let mut from = 0;
    for it in &findings {
        acc.push_str(&text[from..it.start]);
        acc.push_str(mask::OPEN);
        acc.push_str(it.kind);
        acc.push(']');
        from = it.end;
    }
    acc.push_str(&text[from..]);
    Redacted { text: acc, findings }
}

/// Compiles every pattern now, so that no later call pays for it. For long-lived processes.
pub fn warm() {
    keyword::INDEX.automaton.find(b"");
    for it in rules::COMPILED.iter() {
        it.regex().is_match(b"");
    }
}
