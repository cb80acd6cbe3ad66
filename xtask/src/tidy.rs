//! Project rules that a machine can check. Each finding names the place and the remedy:
//!
//! ```text
//! crates/a/src/b.rs:3: `dbg!`; remove it
//! ```
//!
//! A rule is a function that gets all text files of the workspace and appends its findings to `acc`.
//! Checks of clippy, rustfmt and the compiler are not repeated.

mod blank;
mod code;
mod crates;
pub(crate) mod language;
mod names;
mod outline;
mod places;
mod reference;
mod sizes;

use std::fmt;

use serde_json::Value;

use crate::tree::Tree;

/// One place that breaks a rule.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) what: String,
    /// The change that resolves it.
    pub(crate) remedy: &'static str,
    pub(crate) grade: Grade,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    Failure,
    /// Worth a second look; nothing fails.
    Notice,
}

type Rule = fn(&mut Vec<Problem>, &Tree);

/// Order is the order of the report; rules never see one another's findings.
const RULES: &[Rule] =
    &[sizes::check, code::check, language::check, names::check, places::check, reference::check];

pub(crate) fn check(tree: &Tree, metadata: &Value) -> Vec<Problem> {
    let mut acc = Vec::new();
    crates::check(&mut acc, tree, metadata);
    for rule in RULES {
        rule(&mut acc, tree);
    }
    acc
}

impl Problem {
    pub(crate) fn failure(
        path: &str,
        line: usize,
        what: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), remedy, grade: Grade::Failure }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what, remedy, grade } = self;
        let notice = if *grade == Grade::Notice { "notice: " } else { "" };
        write!(f, "{path}:{line}: {notice}{what}; {remedy}")
    }
}

/// Sample sources and recorded data, which the rules ignore.
fn is_fixture(path: &str) -> bool {
    path.split('/').any(|it| matches!(it, "fixtures" | "testdata" | "corpus"))
}

#[cfg(test)]
mod testing {
    //! Feeds texts to one rule.

    use crate::tree::{File, Tree};

    use super::{Problem, Rule};

    /// The findings of `rule` for these files in a checkout at `/srv/checkout/waylore`, one problem a line.
    pub(super) fn problems(rule: Rule, files: &[(&str, &str)]) -> String {
        let mut tree = Tree { root: "/srv/checkout/waylore".to_owned(), files: Vec::new() };
        for (path, text) in files {
            tree.files.push(File { path: (*path).to_owned(), text: (*text).to_owned() });
        }
        let mut acc = Vec::new();
        rule(&mut acc, &tree);
        lines(&acc)
    }

    /// One problem a line.
    pub(super) fn lines(problems: &[Problem]) -> String {
        problems.iter().flat_map(|it| [it.to_string(), "\n".to_owned()]).collect()
    }
}
