//! A sighting: one pattern, seen in one session. Also helpers by which detectors turn files of the
//! scratchpad (the log of one session) into paths.
//!
//! A pattern is something that can be seen again in other sessions, such as "`a.rs` and `b.rs` are edited
//! together". Its key (`a.rs|b.rs`) is the same in all of them; the evidence has the details of this one.

use std::collections::BTreeSet;

use model::{ProjectPath, SignalKind};

use crate::Scratchpad;
use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sentences::code_words;
use crate::strings::StringId;

/// Files that a sentence may name.
const MAX_NAMED_FILES: usize = 8;

/// A pattern as it was seen in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    pub key: PatternKey,
    /// Occurrences in the session.
    pub occurrences: u32,
    /// Its position among the events of the session; 0 if the detector did not set it.
    pub order: u32,
    /// Its text may come from outside the project, such as a fetched page.
    pub tainted: bool,
    pub evidence: Evidence,
}

impl Sighting {
    pub(crate) const fn new(key: PatternKey, evidence: Evidence) -> Self {
        Self { key, occurrences: 1, order: 0, tainted: false, evidence }
    }

    /// Sets the position in the session. A sighting of a signal that quotes text is tainted if external
    /// content came before it, because the text may repeat that content.
    pub(crate) fn seen_at(mut self, pad: &Scratchpad, order: u32) -> Self {
        self.order = order;
        self.tainted = self.signal().row().textual && pad.is_tainted(order);
        self
    }

    pub(crate) const fn with_occurrences(mut self, n: u32) -> Self {
        self.occurrences = n;
        self
    }

    pub const fn signal(&self) -> SignalKind {
        self.key.signal()
    }

    /// Adds a later sighting of the same pattern in the same session. The evidence of the first one stays,
    /// unless only the later one has a fix: then everything but the count is taken from the later one.
    pub(crate) fn merge(&mut self, later: Self) {
        let occurrences = self.occurrences + later.occurrences;
        if later.evidence.has_fix() && !self.evidence.has_fix() {
            *self = later;
        }
        self.occurrences = occurrences;
    }

    /// Applies `change` to every text of the evidence and the key, for instance to mask secrets.
    pub fn map_texts(&mut self, mut change: impl FnMut(&mut String)) {
        self.evidence.map_texts(&mut change);
        self.key.map_text(change);
    }
}

/// The path behind a file id of the scratchpad; `None` if it is not a project path, for instance because it
/// was truncated.
pub(crate) fn to_path(pad: &Scratchpad, file: StringId) -> Option<ProjectPath> {
    ProjectPath::parse(pad.strings.text(file)).ok()
}

/// The files that are project paths, in order.
pub(crate) fn to_paths(
    pad: &Scratchpad,
    files: impl IntoIterator<Item = StringId>,
) -> Vec<ProjectPath> {
    files.into_iter().filter_map(|it| to_path(pad, it)).collect()
}

/// The two files as paths; `None` if one of them is not a path.
pub(crate) fn to_path_pair(
    pad: &Scratchpad,
    first: StringId,
    second: StringId,
) -> Option<(ProjectPath, ProjectPath)> {
    Some((to_path(pad, first)?, to_path(pad, second)?))
}

/// Files of the session that a sentence names, by path or by file name.
pub fn find_named_files(pad: &Scratchpad, text: &str) -> Vec<ProjectPath> {
    let words = code_words(text);
    if words.is_empty() {
        return Vec::new();
    }
    let touched: BTreeSet<StringId> = pad.touches.iter().map(|it| it.file).collect();
    let mut acc = Vec::new();
    for file in touched {
        let path = pad.strings.text(file);
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_named = |word: &&str| {
            // `a.rs:12` names `a.rs`.
            let word = word.split(':').next().unwrap_or(word);
            // `src/a.rs`, `a.rs`, or the end of a path with at least one folder: `wire/a.rs`.
            word == path || word == name || (word.contains('/') && path.ends_with(word))
        };
        if words.iter().any(is_named) {
            acc.extend(ProjectPath::parse(path).ok());
        }
    }
    acc.truncate(MAX_NAMED_FILES);
    acc
}
