//! Parsing with one parser per thread. Inside [`with_arena`](crate::with_arena) the parser and its
//! trees live in the arena. Before the arena is reset, the parser is dropped; the trees are not
//! dropped but forgotten (`mem::forget`), because the reset frees their memory at once.

use std::cell::RefCell;

use tree_sitter::{Language, Parser, Range, Tree};

use crate::allocator;

thread_local! {
    /// Reused from one parse to the next, because a file may have parts that are parsed separately.
    /// At the end of [`with_arena`](crate::with_arena), [`drop_parser`] empties it.
    static THREAD_PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Parses `source`, restricted to `ranges` unless they are empty, and lends the tree to `visit`.
/// Inside [`with_arena`](crate::with_arena), `visit` must not keep a clone of the tree.
///
/// Returns `None` if the ranges are not in order or the grammar does not fit the library's version.
pub fn parse_in_arena<T>(
    language: &Language,
    source: &[u8],
    ranges: &[Range],
    visit: impl FnOnce(&Tree) -> T,
) -> Option<T> {
    let tree = THREAD_PARSER.with_borrow_mut(|parser| {
        let parser = parser.get_or_insert_with(Parser::new);
        parser.set_language(language).ok()?;
        parser.set_included_ranges(ranges).ok()?;
        parser.parse(source, None)
    })?;
    let result = visit(&tree);
    if allocator::is_active() {
        // The arena reclaims the tree's memory as a whole, so freeing it node by node is not needed.
        std::mem::forget(tree);
    }
    Some(result)
}

/// Drops this thread's parser. Must happen before the arena it was allocated in is reset.
pub(crate) fn drop_parser() {
    drop(THREAD_PARSER.take());
}
