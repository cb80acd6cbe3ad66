//! Input and output of the module map: file nodes and modules. A module is a part of a project that
//! one can name, such as a package or a folder.
//!
//! `engine` builds the nodes from the code graph and the git history, calls
//! [`crate::find_modules`], fills in the descriptions and stores the modules. For example:
//!
//! ```text
//! in    cli/main.rs, refers to store/lib.rs with the weight 1000;  store/lib.rs
//! out   module cli: files cli/main.rs, dependencies store;  module store: dependents cli
//! ```

use model::closed;

/// Files, tests and related modules listed per module.
pub(crate) const MAX_LISTED: usize = 6;

/// A source file of the project with its edges to other files.
#[derive(Clone, Debug, Default)]
pub struct FileNode {
    pub path: String,
    pub is_test: bool,
    /// The file has no bytes.
    pub is_empty: bool,
    /// Files it refers to, by index in the list of nodes, with the weight of the references in
    /// thousandths.
    pub references: Vec<(usize, u32)>,
    /// Files it changed together with, by index, with the strength of the coupling from 0 to 1.
    pub co_changes: Vec<(usize, f32)>,
    /// Recent changes, as a sum of recency weights.
    pub churn: f32,
}

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Depth of the map's knowledge about a module.
    pub enum ModuleCoverage : "coverage" {
        /// Its files only.
        Shallow = "shallow",
        /// Its files and dependencies.
        Partial = "partial",
        /// Its files, dependencies and purpose.
        Mapped = "mapped",
    }
}

/// One module of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Stays the same while most files of the module stay in it.
    pub id: String,
    pub name: String,
    /// The folder that holds all its files; empty for the project's root.
    pub root: String,
    pub description: String,
    /// Sorted by path.
    pub files: Vec<String>,
    /// The most important files, best first.
    pub core_files: Vec<String>,
    /// The files through which others use the module.
    pub entry_points: Vec<String>,
    /// Test files that exercise it, best first.
    pub test_files: Vec<String>,
    /// Ids of modules it refers to, strongest first.
    pub dependencies: Vec<String>,
    /// Ids of modules that refer to it, strongest first.
    pub dependents: Vec<String>,
    /// Ids of modules that change together with it although neither refers to the other.
    pub co_changing: Vec<String>,
    /// All its files are tests.
    pub is_test: bool,
    /// References from, to or between its files are known.
    pub is_linked: bool,
}

impl Module {
    pub fn coverage(&self) -> ModuleCoverage {
        match (self.is_linked, self.description.is_empty()) {
            (false, _) => ModuleCoverage::Shallow,
            (true, true) => ModuleCoverage::Partial,
            (true, false) => ModuleCoverage::Mapped,
        }
    }
}
