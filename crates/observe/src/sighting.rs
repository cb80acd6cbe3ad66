//! A sighting: one pattern, seen in one session, with what happened.

use std::collections::BTreeSet;

use model::{ProjectPath, SignalKind};
use serde::{Deserialize, Serialize};

use crate::Scratchpad;
use crate::names::Name;
use crate::sentence::code_words;

/// A signal as it was seen in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    pub signal: SignalKind,
    /// Which pattern: this pair, this fingerprint, this query. The same in every session.
    pub key: String,
    /// How often in this session.
    pub n: u32,
    /// Its place among the events of the session.
    pub order: u32,
    /// Its text may come from outside.
    pub tainted: bool,
    pub evidence: Evidence,
}

/// What happened, as far as a memory can be made of it. Stored as JSON, so a field is never renamed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ProjectPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The telling line of an error, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The same with everything accidental taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalised: Option<String>,
    /// The command that worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worked: Option<String>,
    /// A sentence that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What was said before and after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// A count or a size, whose meaning is the signal's.
    #[serde(skip_serializing_if = "is_zero")]
    pub number: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub other: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(it: &u64) -> bool {
    *it == 0
}

impl Evidence {
    /// As it is stored.
    pub fn write(&self) -> String {
        serde_json::to_string(self).expect("evidence has string keys and finite numbers")
    }

    /// Reads what was stored; what cannot be read is no evidence.
    pub fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// What happened, in one line for people.
    pub fn told(&self) -> String {
        let mut acc: Vec<String> = Vec::new();
        let mut tell = |name: &str, it: Option<&String>| {
            acc.extend(it.filter(|it| !it.is_empty()).map(|it| format!("{name}{it}")));
        };
        tell("", self.before.as_ref());
        tell("", self.text.as_ref());
        tell("", self.after.as_ref());
        tell("command: ", self.command.as_ref());
        tell("message: ", self.message.as_ref());
        tell("then: ", self.worked.as_ref());
        tell("query: ", self.query.as_ref());
        if !self.steps.is_empty() {
            acc.push(self.steps.join(" → "));
        }
        if !self.files.is_empty() {
            let files: Vec<&str> = self.files.iter().map(ProjectPath::as_str).collect();
            acc.push(files.join(", "));
        }
        acc.join(" · ")
    }

    /// Changes every text in it, for instance to mask secrets.
    pub fn map_texts(&mut self, mut change: impl FnMut(&mut String)) {
        let some = [
            &mut self.command,
            &mut self.message,
            &mut self.normalised,
            &mut self.worked,
            &mut self.text,
            &mut self.before,
            &mut self.after,
            &mut self.query,
        ];
        some.into_iter().flatten().chain(&mut self.steps).for_each(&mut change);
    }
}

/// The longest key, in bytes.
const MAX_KEY: usize = 400;

impl Sighting {
    pub(crate) fn new(signal: SignalKind, key: impl Into<String>, evidence: Evidence) -> Self {
        let mut key = key.into();
        key.truncate(key.floor_char_boundary(MAX_KEY));
        Self { signal, key, n: 1, order: 0, tainted: false, evidence }
    }

    /// Marks when it was seen; text seen after something foreign came in is tainted.
    pub(crate) fn at(mut self, pad: &Scratchpad, order: u32) -> Self {
        self.order = order;
        self.tainted = self.signal.row().textual && pad.is_tainted(order);
        self
    }

    pub(crate) const fn times(mut self, n: u32) -> Self {
        self.n = n;
        self
    }
}

pub(crate) fn path(pad: &Scratchpad, name: Name) -> Option<ProjectPath> {
    ProjectPath::parse(pad.names.text(name)).ok()
}

pub(crate) fn paths(pad: &Scratchpad, names: impl IntoIterator<Item = Name>) -> Vec<ProjectPath> {
    names.into_iter().filter_map(|it| path(pad, it)).collect()
}

/// Two names in a fixed order, as one key.
pub(crate) fn pair_key(pad: &Scratchpad, a: Name, b: Name) -> String {
    let (a, b) = (pad.names.text(a), pad.names.text(b));
    if a < b { format!("{a}|{b}") } else { format!("{b}|{a}") }
}

/// The folder a file lies in; what counts as its module.
pub fn module_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// Files of the session that a sentence names, by path or by name.
pub(crate) fn files_named(pad: &Scratchpad, text: &str) -> Vec<ProjectPath> {
    let words = code_words(text);
    if words.is_empty() {
        return Vec::new();
    }
    let touched: BTreeSet<Name> = pad.touches.iter().map(|it| it.file).collect();
    let mut acc = Vec::new();
    for name in touched {
        let path = pad.names.text(name);
        let file = path.rsplit('/').next().unwrap_or(path);
        let is_named = |word: &&str| {
            let word = word.split(':').next().unwrap_or(word);
            word == path || word == file || (word.contains('/') && path.ends_with(word))
        };
        if words.iter().any(is_named) {
            acc.extend(ProjectPath::parse(path).ok());
        }
    }
    acc.truncate(8);
    acc
}

/// Whether one of two files is the test of the other: `a.rs` and `a_test.rs`, `test_a.py`, `a.spec.ts`.
pub fn are_twins(a: &str, b: &str) -> bool {
    let stem = |it: &str| {
        let name = it.rsplit('/').next().unwrap_or(it).to_ascii_lowercase();
        let name = name.split('.').next().unwrap_or(&name).to_owned();
        let name = name.strip_prefix("test_").unwrap_or(&name).to_owned();
        ["_test", "_tests", "test", "tests", "_spec", "-test"]
            .iter()
            .find_map(|it| name.strip_suffix(it))
            .unwrap_or(&name)
            .to_owned()
    };
    stem(a) == stem(b)
}

/// Whether a path is of tests.
pub fn is_test(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let folders = ["test", "tests", "__tests__", "spec", "integration_test", "e2e", "testdata"];
    lower.split('/').rev().skip(1).any(|it| folders.contains(&it))
        || name.starts_with("test_")
        || ["_test.", ".test.", ".spec.", "_spec.", "tests."].iter().any(|it| name.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_names() {
        assert!(are_twins("src/a.go", "src/a_test.go") && are_twins("a.ts", "t/a.spec.ts"));
        assert!(!are_twins("src/a.go", "src/b_test.go"));
        assert!(is_test("x/a_test.go") && is_test("tests/it/a.rs") && is_test("a.spec.ts"));
        assert!(!is_test("src/attest.rs") && !is_test("src/contest/a.rs"));
    }
}
