//! Per-thread memory arena for tree-sitter, and the parser that uses it.
//!
//! tree-sitter allocates a small piece of memory for nearly every syntax node and frees most of
//! them one by one after the walk. Inside [`with_arena`] these allocations come from an arena of
//! the current thread. At the end the whole arena is reset, so trees are never freed node by node.
//!
//! The allocator is process-wide, because tree-sitter has a single allocator hook. Threads and
//! calls outside [`with_arena`] keep using the system allocator.
//!
//! The crate knows no grammar, no language and nothing of the facts that are extracted from a tree.
//! It does not replace Rust's global allocator. Its only caller is `graph`, which wraps the
//! extraction of each file in [`with_arena`] and parses with [`parse_in_arena`].

mod allocator;
mod parse;

pub use allocator::with_arena;
pub use parse::parse_in_arena;
