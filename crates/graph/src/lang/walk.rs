//! What every walk shares: a cursor, a limit to how deep it goes, and the sketch it fills.

use tree_sitter::{Node, TreeCursor};

use super::grammar::{Grammar, Names};
use crate::sketch::{ANY_NUMBER, Sketch, index};

/// How deeply syntax may be nested before the rest is left unread. Walks use the stack.
pub(crate) const MAX_DEPTH: u32 = 400;

/// How deeply an expression is looked into to say what it is.
pub(crate) const MAX_TERM: u32 = 24;

pub(crate) struct Walk<'a, 's, K: 'static, F: 'static> {
    pub(crate) grammar: &'static Grammar<K, F>,
    pub(crate) s: &'a mut Sketch<'s>,
    pub(crate) depth: u32,
}

impl<'s, K: Names, F: Names> Walk<'_, 's, K, F> {
    pub(crate) fn kind(&self, node: Node<'_>) -> K {
        self.grammar.kind(node)
    }

    pub(crate) fn field<'t>(&self, node: Node<'t>, field: F) -> Option<Node<'t>> {
        self.grammar.field(node, field)
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        self.s.text(node)
    }

    /// How many arguments a list has; any number when some are spread.
    pub(crate) fn n_args(
        &self,
        arguments: Option<Node<'_>>,
        is_comment: impl Fn(K) -> bool,
        is_spread: impl Fn(K) -> bool,
    ) -> u8 {
        let mut n = 0_u8;
        for it in arguments.into_iter().flat_map(children) {
            let kind = self.kind(it);
            if is_spread(kind) {
                return ANY_NUMBER;
            }
            n = n.saturating_add(u8::from(!is_comment(kind)));
        }
        n
    }

    /// Goes one step down if that is still allowed; the caller comes back up with `ascend`.
    pub(crate) fn descend(&mut self, cursor: &mut TreeCursor<'_>) -> bool {
        if self.depth >= MAX_DEPTH {
            self.s.n_too_deep += 1;
            return false;
        }
        let res = cursor.goto_first_child();
        self.depth += u32::from(res);
        res
    }

    pub(crate) fn ascend(&mut self, cursor: &mut TreeCursor<'_>) {
        cursor.goto_parent();
        self.depth -= 1;
    }
}

/// A walk over one language. What it does at a node is its own; the steps are everybody's.
pub(crate) trait Steps {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>);

    /// Goes one step down if that is still allowed.
    fn descend(&mut self, cursor: &mut TreeCursor<'_>) -> bool;

    fn ascend(&mut self, cursor: &mut TreeCursor<'_>);

    /// Visits everything directly inside.
    fn inside(&mut self, cursor: &mut TreeCursor<'_>) {
        // Counted: asking for one more than there are goes up the tree first.
        let n_inside = cursor.node().child_count();
        if n_inside == 0 || !self.descend(cursor) {
            return;
        }
        self.visit(cursor);
        for _ in 1..n_inside {
            if !cursor.goto_next_sibling() {
                break;
            }
            self.visit(cursor);
        }
        self.ascend(cursor);
    }

    fn first_only(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.descend(cursor) {
            self.visit(cursor);
            self.ascend(cursor);
        }
    }

    fn last_only(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.descend(cursor) {
            while cursor.goto_next_sibling() {}
            self.visit(cursor);
            self.ascend(cursor);
        }
    }
}

/// The steps of a reader whose walk is its field `w`.
macro_rules! steps {
    ($reader:ident) => {
        impl $crate::lang::walk::Steps for $reader<'_, '_> {
            fn visit(&mut self, cursor: &mut tree_sitter::TreeCursor<'_>) {
                $reader::visit(self, cursor);
            }

            fn descend(&mut self, cursor: &mut tree_sitter::TreeCursor<'_>) -> bool {
                self.w.descend(cursor)
            }

            fn ascend(&mut self, cursor: &mut tree_sitter::TreeCursor<'_>) {
                self.w.ascend(cursor);
            }
        }
    };
}
pub(crate) use steps;

/// Up to so many children are asked for one by one, which begins at the first each time but needs no
/// room of its own.
const FEW: u32 = 6;

/// The named children of a node. Many are gathered at once: asking a node for its sibling begins at
/// the root.
pub(crate) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let n = index(node.named_child_count());
    let (few, many) = if n <= FEW { (n, Vec::new()) } else { (0, gathered(node)) };
    (0..few).filter_map(move |it| node.named_child(it)).chain(many)
}

fn gathered(node: Node<'_>) -> Vec<Node<'_>> {
    let mut res = Vec::with_capacity(node.named_child_count());
    let mut cursor = node.walk();
    if cursor.goto_first_child() {
        loop {
            if cursor.node().is_named() {
                res.push(cursor.node());
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    res
}

/// The text of a string literal without its quotes.
pub(crate) fn unquoted(text: &str) -> &str {
    let inner = text.trim_start_matches(['b', 'r', 'f', 'u', 'R', 'F', '@', '$']);
    for quote in ["\"\"\"", "'''", "\"", "'", "`"] {
        if let Some(it) = inner.strip_prefix(quote).and_then(|it| it.strip_suffix(quote)) {
            return it;
        }
    }
    text
}
