//! The files that each session touched (its *visit*), from which work is counted across sessions, and the
//! numbers of sessions at which a module is worth an interpretation. A module is a part of the project, by
//! default a folder.

use std::collections::BTreeSet;

use model::{ProjectPath, SessionId};

use crate::ModuleLookup;

/// Numbers of sessions of a module at which a language model may interpret them anew.
pub const SESSION_MILESTONES: &[u32] = &[5, 10, 20, 50, 100];

/// The files that one session touched. The caller leaves out sessions whose work did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionVisit {
    pub session: SessionId,
    /// Files that were only read.
    pub read: Vec<ProjectPath>,
    pub edited: Vec<ProjectPath>,
}

impl SessionVisit {
    /// Returns whether the session edited a file of a module.
    pub fn edits_in(&self, module: &str, modules: &ModuleLookup) -> bool {
        self.edited.iter().any(|it| modules.module_of_file(it.as_str()) == module)
    }
}

/// The modules of edited files. Files at the root belong to none.
pub fn edited_modules<'a>(
    edited: &'a [ProjectPath],
    modules: &'a ModuleLookup,
) -> BTreeSet<&'a str> {
    let all = edited.iter().map(|it| modules.module_of_file(it.as_str()));
    all.filter(|it| !it.is_empty()).collect()
}
