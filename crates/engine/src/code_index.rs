//! The functions behind [`CodeGraph`](crate::CodeGraph) and [`CodeIndexer`](crate::CodeIndexer).
//!
//! Indexing turns source files into symbols and edges, commits into couplings between files, and both
//! into a module map. All three are stored in the graph database of the project, apart from the
//! notebooks: they are derived data and can be built again at any time. Parsing and resolving are in
//! the pure crate `graph`, couplings in `history`, the grouping of files in `modules`; the files here
//! read, call these crates and write.

// Indexing: `index` has the entry points, `live_index` runs a pass, `index_plan` selects and parses the
// files, `persistence` converts to stored rows, and `refine` merges the index of a compiler.
mod graph_totals;
pub(crate) mod index;
mod index_plan;
mod live_index;
mod persistence;
pub(crate) mod refine;

// Derived from the index and from git.
pub(crate) mod follow_up;
pub(crate) mod history_index;
pub(crate) mod map;

// Questions.
pub(crate) mod queries;

pub use follow_up::FollowUpReport;
pub use history_index::HistoryReport;
pub use index::{CodeWatch, IndexReport};
pub use live_index::IndexPass;
pub use map::{MapEdit, MappedModule, ModuleMap};
pub use queries::{
    DependencyReport, ImpactReport, IndexFreshness, ReachedSymbol, RouteEdge, SymbolRoute,
    UnknownReceivers,
};
pub(crate) use queries::{IndexState, LoadedGraph, read_index_state};
pub use refine::{RefineReport, read_scip_file};
