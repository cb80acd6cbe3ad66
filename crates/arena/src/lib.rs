//! Per-thread memory arena for tree-sitter, and the parser that uses it.
//!
//! tree-sitter allocates a small piece of memory for nearly every syntax node and frees most of
//! them one by one after the walk. Inside [`with_arena`] these allocations come from an arena of
//! the current thread, and the whole arena is reset at the end, so that trees are never taken
//! apart.
//!
//! The allocator is process-wide, because tree-sitter has a single allocator hook. Threads and
//! calls outside [`with_arena`] keep using the system allocator.
//!
//! The crate knows no grammar, no language and nothing of the facts that are read from a tree. It
//! does not replace Rust's global allocator.

mod allocator;
mod parse;

pub use allocator::with_arena;
pub use parse::parse_in_arena;
