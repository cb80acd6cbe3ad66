//! The walk over a syntax tree that all languages share: cursor movement, nesting limit, access to
//! nodes.
//!
//! [`walk_source`] parses a file and calls [`LanguageWalk::visit_node`] at the root. That function
//! is a `match` over the node's kind. It records facts in the [`FactsBuilder`] and then calls
//! [`SyntaxWalker::visit_children`], or a relative of it, to go on with the children; so the walk
//! is a recursion in text order. A node kind that a language does not care about is only passed
//! through. The walk over `save(1)` in Rust:
//!
//! ```text
//! visit_node(call_expression)          records: call of `save`; marks the name as handled
//!   visit_node(identifier `save`)      handled, so nothing is recorded
//!   visit_node(arguments)              no facts of its own
//!     visit_node(integer_literal `1`)  no facts of its own
//! ```
//!
//! A *term* is an expression or a type reduced to what name lookup needs: `Call(Name("save"))`.
//!
//! A function `visit_…(walker, cursor, node)` is called with the cursor at `node`, records the
//! facts of that node and visits its children. A function without a cursor only records.

use tree_sitter::{Node, Tree, TreeCursor};

use super::SourceLanguage;
use super::error_recovery::{ErrorExtent, plan_recovery};
use super::grammar::{Grammar, GrammarNames};
use super::term_shape::{TermShape, expression_term};
use crate::facts::{RefKind, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, FactsBuilder, ScopeKind, to_index};

/// Nesting depth from which on syntax is not walked. Walks recurse, so the stack is the limit.
const MAX_TREE_DEPTH: u32 = 400;

/// Nesting depth to which a function without a cursor reads below its node: expressions, types,
/// patterns, import trees. Reading is a recursion, too. Each call passes on one level less than it
/// got, and what lies deeper is not recorded.
pub(crate) const MAX_LOOKAHEAD_DEPTH: u32 = 24;

/// The walk of one language, or of several with similar grammars.
///
/// All calls are resolved statically: a walk visits every node of every file, so the cost of
/// dynamic dispatch would be paid at each.
pub(crate) trait LanguageWalk: Sized + 'static {
    type NodeKind: GrammarNames;
    type Field: GrammarNames;
    /// Memory of the walk of this language from node to node, such as the attributes before an
    /// item.
    type State<'s>: Default;

    /// Records the facts of the node at the cursor and visits its children.
    fn visit_node(walker: &mut SyntaxWalker<'_, '_, Self>, cursor: &mut TreeCursor<'_>);

    /// Called once after the whole tree was visited.
    fn finish_walk(_walker: &mut SyntaxWalker<'_, '_, Self>) {}

    /// Returns a text that the grammar may parse better than `source`, which has a syntax error. All
    /// positions stay the same.
    fn repair_text(_lang: SourceLanguage, _source: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The table of expressions: the shape of an expression's term, by the kind of its node.
    fn expression_shape(kind: Self::NodeKind) -> TermShape<Self>;

    /// The table of types: the shape of the term of a value of a type, by the kind of the type's
    /// node.
    fn type_shape(kind: Self::NodeKind) -> TermShape<Self>;

    /// The term of a type itself, `Name("Server")` for the type in `x: Server`, that is at most
    /// `depth` levels deep; unknown below.
    fn type_name_within(
        walker: &mut SyntaxWalker<'_, '_, Self>,
        node: Node<'_>,
        depth: u32,
    ) -> TermId;
}

/// State of a walk, apart from its cursor. `'s` is the lifetime of the source text.
pub(crate) struct SyntaxWalker<'a, 's, L: LanguageWalk> {
    pub(crate) grammar: &'static Grammar<L::NodeKind, L::Field>,
    pub(crate) builder: &'a mut FactsBuilder<'s>,
    pub(crate) state: L::State<'s>,
    /// Id of a name node that was recorded ahead of the walk, so that it is not recorded again: at
    /// `save(1)` the call records the name `save`, which the walk reaches only afterwards.
    use_to_skip: Option<usize>,
    /// Number of nodes that enclose the one at the cursor.
    depth: u32,
}

/// Parses `source` and walks over all of it: as a whole or, if a syntax error spoils more than the
/// declaration it is in, piece by piece.
pub(crate) fn walk_source<L: LanguageWalk>(
    builder: &mut FactsBuilder<'_>,
    grammar: &'static Grammar<L::NodeKind, L::Field>,
    source: &[u8],
) {
    let state = L::State::default();
    let mut walker =
        SyntaxWalker::<'_, '_, L> { grammar, builder, state, use_to_skip: None, depth: 0 };
    let lang = walker.builder.lang;
    let plan = grammar.parse(source, |tree| {
        let root = tree.root_node();
        let plan = if root.has_error() {
            plan_recovery(grammar, lang, source, root, L::repair_text)
        } else {
            None
        };
        if plan.is_none() {
            walker.visit_tree(tree);
        }
        plan
    });
    // The outer option is empty if the parser gave up, the inner one if the tree was visited.
    if let Some(plan) = plan.flatten() {
        let source = plan.repaired_text.as_deref().unwrap_or(source);
        for piece in plan.pieces {
            // Nodes of two trees may have the same id.
            walker.use_to_skip = None;
            grammar.parse_part(source, piece, |tree| walker.visit_tree(tree));
        }
    }
    L::finish_walk(&mut walker);
}

impl<'s, L: LanguageWalk> SyntaxWalker<'_, 's, L> {
    fn visit_tree(&mut self, tree: &Tree) {
        self.builder.n_syntax_errors += ErrorExtent::below(tree.root_node()).n_errors;
        L::visit_node(self, &mut tree.walk());
    }

    // Nodes.

    pub(crate) fn kind(&self, node: Node<'_>) -> L::NodeKind {
        self.grammar.kind(node)
    }

    pub(crate) fn field<'t>(&self, node: Node<'t>, field: L::Field) -> Option<Node<'t>> {
        self.grammar.field(node, field)
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        self.builder.text(node)
    }

    /// The named children of a node that have a kind.
    pub(crate) fn children_of_kind<'t>(
        &self,
        node: Node<'t>,
        kind: L::NodeKind,
    ) -> impl Iterator<Item = Node<'t>> + use<'t, L> {
        let grammar = self.grammar;
        named_children(node).filter(move |it| grammar.kind(*it) == kind)
    }

    pub(crate) fn child_of_kind<'t>(&self, node: Node<'t>, kind: L::NodeKind) -> Option<Node<'t>> {
        self.children_of_kind(node, kind).next()
    }

    /// The named children of the node in a field.
    pub(crate) fn field_children<'t>(
        &self,
        node: Node<'t>,
        field: L::Field,
    ) -> impl Iterator<Item = Node<'t>> + use<'t, L> {
        self.field(node, field).into_iter().flat_map(named_children)
    }

    /// The items of a list with their positions, which the commas count: a hole (`[, b]`) has no node
    /// and `_` may be a token, but both take a position; a comment takes none.
    pub(crate) fn list_items<'t>(
        &self,
        list: Node<'t>,
        comma: L::NodeKind,
    ) -> impl Iterator<Item = (usize, Node<'t>)> + use<'t, L> {
        let grammar = self.grammar;
        let mut position = 0;
        all_children(list).filter_map(move |child| {
            if grammar.kind(child) == comma {
                position += 1;
                return None;
            }
            // The other tokens are brackets and `_`.
            (child.is_named() && !child.is_extra()).then_some((position, child))
        })
    }

    /// Counts the arguments in a list; [`ANY_ARG_COUNT`] if one of them is spread.
    pub(crate) fn count_arguments(
        &self,
        arguments: Option<Node<'_>>,
        is_comment: impl Fn(L::NodeKind) -> bool,
        is_spread: impl Fn(L::NodeKind) -> bool,
    ) -> u8 {
        let mut n_args = 0_u8;
        for argument in arguments.into_iter().flat_map(named_children) {
            let kind = self.kind(argument);
            if is_spread(kind) {
                return ANY_ARG_COUNT;
            }
            n_args = n_args.saturating_add(u8::from(!is_comment(kind)));
        }
        n_args
    }

    // Names recorded ahead of the walk.

    pub(crate) fn skip_next_use(&mut self, node: Node<'_>) {
        self.use_to_skip = Some(node.id());
    }

    pub(crate) fn is_use_to_skip(&self, node: Node<'_>) -> bool {
        self.use_to_skip == Some(node.id())
    }

    /// Runs `work`, which walks over a second tree, without the use to skip: nodes of two trees
    /// may have the same id.
    pub(crate) fn without_use_to_skip<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let use_to_skip = self.use_to_skip.take();
        let result = work(self);
        self.use_to_skip = use_to_skip;
        result
    }

    /// Records a bare name as a reference, unless that was done ahead of the walk.
    pub(crate) fn add_name_reference(&mut self, node: Node<'_>, kind: RefKind) {
        if !self.is_use_to_skip(node) {
            let term = self.builder.unbound_name(self.builder.text(node));
            self.builder.add_reference(kind, term, node, 0);
        }
    }

    // Movement.

    /// Visits all children of the node at the cursor.
    pub(crate) fn visit_children(&mut self, cursor: &mut TreeCursor<'_>) {
        // Counted ahead: to find out that there is no further sibling, the cursor climbs the tree.
        let n_children = cursor.node().child_count();
        if n_children == 0 || !self.descend(cursor) {
            return;
        }
        L::visit_node(self, cursor);
        for _ in 1..n_children {
            if !cursor.goto_next_sibling() {
                break;
            }
            L::visit_node(self, cursor);
        }
        self.ascend(cursor);
    }

    /// Visits all children inside a scope of their own.
    pub(crate) fn visit_block(&mut self, cursor: &mut TreeCursor<'_>) {
        self.builder.scopes.enter(ScopeKind::Block);
        self.visit_children(cursor);
        self.builder.scopes.leave();
    }

    /// Visits all children inside a scope of their own, in which `bind` binds names first.
    pub(crate) fn visit_block_with(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        bind: impl FnOnce(&mut Self),
    ) {
        self.builder.scopes.enter(ScopeKind::Block);
        bind(self);
        self.visit_children(cursor);
        self.builder.scopes.leave();
    }

    /// Visits a `return` statement and records its value, its only child, as returned by the
    /// enclosing function.
    pub(crate) fn visit_return(&mut self, cursor: &mut TreeCursor<'_>) {
        // Comments are "extra" nodes, which a grammar allows everywhere: `return /* why */ x`.
        let value = named_children(cursor.node()).find(|it| !it.is_extra());
        if let Some(value) = value {
            let term = expression_term(self, value);
            self.builder.add_return(term);
        }
        self.visit_children(cursor);
    }

    pub(crate) fn visit_first_child(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.descend(cursor) {
            L::visit_node(self, cursor);
            self.ascend(cursor);
        }
    }

    pub(crate) fn visit_last_child(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.descend(cursor) {
            while cursor.goto_next_sibling() {}
            L::visit_node(self, cursor);
            self.ascend(cursor);
        }
    }

    /// Runs `visit` at every child of the node at the cursor.
    pub(crate) fn for_each_child(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        mut visit: impl FnMut(&mut Self, &mut TreeCursor<'_>),
    ) {
        if !self.descend(cursor) {
            return;
        }
        loop {
            visit(self, cursor);
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.ascend(cursor);
    }

    /// Moves to the first child, unless there is none or the tree is too deep. A caller that gets
    /// `true` moves back with [`Self::ascend`].
    pub(crate) fn descend(&mut self, cursor: &mut TreeCursor<'_>) -> bool {
        if self.depth >= MAX_TREE_DEPTH {
            self.builder.n_too_deep += 1;
            return false;
        }
        let has_child = cursor.goto_first_child();
        self.depth += u32::from(has_child);
        has_child
    }

    pub(crate) fn ascend(&mut self, cursor: &mut TreeCursor<'_>) {
        cursor.goto_parent();
        self.depth -= 1;
    }
}

/// Up to this many children are fetched by index. Each fetch starts at the first child again, but
/// no buffer is needed.
const MAX_INDEXED_CHILDREN: u32 = 6;

/// The named children of a node: all but keywords and punctuation. Many are collected at once,
/// because finding the next sibling of a node starts at the root.
pub(crate) fn named_children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let n_children = to_index(node.named_child_count());
    // An empty `Vec` does not allocate, so nodes with few children cost no allocation.
    let (n_indexed, collected) = if n_children <= MAX_INDEXED_CHILDREN {
        (n_children, Vec::new())
    } else {
        (0, collect_children(node, Node::is_named))
    };
    (0..n_indexed).filter_map(move |it| node.named_child(it)).chain(collected)
}

/// All children of a node, with keywords and punctuation; fetched like the named ones.
fn all_children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let n_children = node.child_count();
    let (n_indexed, collected) = if n_children <= MAX_INDEXED_CHILDREN {
        (n_children, Vec::new())
    } else {
        (0, collect_children(node, |_| true))
    };
    (0..n_indexed).filter_map(move |it| node.child(it)).chain(collected)
}

fn collect_children<'t>(node: Node<'t>, is_wanted: impl Fn(&Node<'t>) -> bool) -> Vec<Node<'t>> {
    let mut children = Vec::with_capacity(node.child_count() as usize);
    let mut cursor = node.walk();
    if cursor.goto_first_child() {
        loop {
            if is_wanted(&cursor.node()) {
                children.push(cursor.node());
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    children
}

/// The content of a string literal without its prefix and quotes: `a` of `"a"` and `rb'a'`. Any
/// other text is returned as it is.
pub(crate) fn strip_quotes(literal: &str) -> &str {
    let quoted = literal.trim_start_matches(['b', 'r', 'f', 'u', 'R', 'F', '@', '$']);
    for quote in ["\"\"\"", "'''", "\"", "'", "`"] {
        // Longer quotes come first: `"""` also begins with `"`.
        if let Some(text) = quoted.strip_prefix(quote).and_then(|it| it.strip_suffix(quote)) {
            return text;
        }
    }
    literal
}
