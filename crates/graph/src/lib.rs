//! Source text to symbols, edges and chunks: who defines what, who refers to whom, what changes together.
//!
//! Pure and synchronous: texts come in, plain structs go out. Knows no files, no SQL, no memories and
//! no git; which files there are, where facts are kept and when something changed is told to it.

#![expect(clippy::needless_for_each, reason = "a field of a format is one line")]
#![expect(clippy::match_same_arms, reason = "an arm for every construct reads as a table")]
#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names of source files are compared as compilers do"
)]

mod atlas;
mod chunk;
mod facts;
mod fast;
mod graph;
mod history;
mod lang;
mod manifest;
mod map;
mod near;
mod precise;
mod resolve;
mod scip;
mod sketch;
mod world;

pub use atlas::{Arc, Atlas, Neighbour, NodeId, Reached, Symbol, Target, Way};
pub use chunk::{Chunk, chunks};
pub use facts::fingerprint;
pub use facts::{
    Base, Def, DefKind, Export, Facts, Flags, Import, ImportKind, List, Local, Pos, Ref, RefKind,
    Term, TermId, Texts, Word, complete, decode_outline, encode_body, encode_outline,
};
pub use graph::{Change, Graph, Updated};
pub use history::{
    History, Name, Past, Tie, Ties, Touched, decay, decode_past, decode_ties, encode_past,
    encode_ties, hashes,
};
pub use lang::{Lang, extract, is_test_path, language};
pub use map::{
    Coverage, MANIFESTS, Module, Package, Site as MapSite, Tool, ToolKind, WORKFLOWS, called,
    communities, decode_module, described, descriptions_in, encode_module, keep_ids, know_tests,
    modules, tools,
};
pub use precise::{Fitted, Precise, fit};
pub use resolve::{Edge, EdgeKind, How, Kept, Links, Site, decode_edges, decode_keys};
pub use scip::{Encoding, Occurrence, ScipFile, read_scip};
pub use world::{DefRef, FileId, Key};
