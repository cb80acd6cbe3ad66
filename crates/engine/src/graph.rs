//! The code graph of the project: kept up to date, and asked.

pub(crate) mod follow_up;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod index_plan;
pub(crate) mod live_index;
pub(crate) mod map;
pub(crate) mod persistence;
pub(crate) mod queries;
pub(crate) mod refine;

pub use follow_up::FollowUpReport;
pub use history::HistoryReport;
pub use index::{CodeWatch, IndexReport};
pub use live_index::IndexPass;
pub use map::{MapEdit, MappedModule, ModuleMap};
pub(crate) use queries::LoadedGraph;
pub use queries::{
    DependencyReport, ImpactReport, IndexFreshness, ReachedSymbol, RouteEdge, SymbolRoute,
};
pub use refine::{RefineReport, read_scip_file};
