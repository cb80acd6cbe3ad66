//! The code graph: source text → facts of each file (definitions, references, imports) → edges
//! between symbols → queries; and chunks of files for search.
//!
//! `lang` extracts [`FileFacts`] from a text, `manifest` those of `package.json` and the like;
//! `facts_builder` collects them. `file_index` makes the facts of all files searchable, `resolve`
//! finds the targets of references, and `symbol_graph` keeps everything up to date. `scip` reads an
//! index that a compiler wrote, and `precise` lets its references replace resolved ones.
//! `query_graph` answers queries, `file_weights` weighs links between files for `waylore-modules`,
//! and `chunk` cuts files into pieces for search.
//!
//! Pure and synchronous: texts come in, plain structs go out. The crate reads no files, runs no
//! git, knows no SQL and no memories. The caller lists the files, stores the facts and reports
//! changes. Modules and change history are not here: they are `waylore-modules` and
//! `waylore-history`.

#![expect(
    clippy::needless_for_each,
    reason = "a codec writes one field per line, and a list with `for_each` is one line"
)]
#![expect(clippy::match_same_arms, reason = "an arm for every construct reads as a table")]
#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names of source files are compared as compilers do"
)]

// Text → facts of one file.
mod facts;
mod facts_builder;
mod ids;
mod lang;
mod manifest;

// Facts of all files → edges.
mod file_index;
mod resolve;
mod symbol_graph;

// Edges from the index of a compiler.
mod precise;
mod scip;

// Edges → answers.
mod file_weights;
mod query_graph;

// Text → pieces for search.
mod chunk;

pub use chunk::{CodeChunk, split_into_chunks};
pub use facts::{
    ArityRange, BaseClause, DefFlags, DefId, DefKind, DefSpan, Definition, ExportEntry, FileFacts,
    ImportEntry, ImportId, ImportKind, ListSpan, LocalId, LocalVariable, RefKind, Reference,
    SourcePos, StringId, StringTable, Term, TermId, decode_body, decode_outline, encode_body,
    encode_outline, fingerprint,
};
pub use file_index::{DefRef, LookupKey};
pub use file_weights::weigh_linked_files;
pub use ids::{FileId, NodeId};
pub use lang::{SourceLanguage, extract_facts, is_test_path, language_of_path};
pub use precise::{FittedIndex, PreciseReferences, fit_index};
pub use query_graph::{
    HalfEdge, NeighbourFile, PathStep, QueryGraph, ReachedNode, SymbolInfo, TargetLookup,
    find_dependencies, find_impact, find_neighbours, find_target, shortest_path, suggest_names,
    suggest_targets,
};
pub use resolve::{
    EdgeCounts, EdgeKind, EncodedFileEdges, FileEdges, ResolutionKind, ResolvedReference,
    SymbolEdge, UnknownReceiverCalls, decode_edges, decode_keys,
};
pub use scip::{ColumnEncoding, ScipFile, ScipOccurrence, parse_scip};
pub use symbol_graph::{GraphChange, GraphUpdate, SymbolGraph};
