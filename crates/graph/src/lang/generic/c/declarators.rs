//! C and C++: declarators, and the names inside them.
//!
//! The two languages write the type of a name around the name. In `int *(*f)(int)` the name `f` is
//! nested in four declarators, and the grammar has a node for each:
//!
//! ```text
//! *(*f)(int)    pointer_declarator          the result is a pointer
//!  (*f)(int)    function_declarator         with the parameters
//!  (*f)         parenthesized_declarator
//!   *f          pointer_declarator          so `f` is a pointer to a function: a variable
//!    f          identifier
//! ```
//!
//! `c.rs` and `functions.rs` pass the outermost one to [`declared_name`], which follows it down.

use tree_sitter::Node;

use super::super::{Field, GenericWalker, NodeKind};
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};

/// The declarators of a declaration, of which there may be several: `int a, *b;`.
pub(super) fn declarators<'t>(walker: &GenericWalker<'_, '_>, node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let mut found = Vec::new();
    if cursor.goto_first_child() {
        loop {
            if walker.grammar.is_field(cursor.field_id().map(u16::from), Field::Declarator) {
                found.push(cursor.node());
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    found
}

/// The name that a declarator declares.
pub(in crate::lang::generic) struct DeclaredName<'t> {
    /// `None` for an abstract declarator, such as the parameter of `void f(int *)`.
    pub(in crate::lang::generic) node: Option<Node<'t>>,
    pub(in crate::lang::generic) is_function: bool,
}

/// Follows a declarator to the name inside it: `f` in `*(*f)(int)`, which is a variable and not a
/// function.
pub(in crate::lang::generic) fn declared_name<'t>(
    walker: &GenericWalker<'_, '_>,
    declarator: Node<'t>,
) -> DeclaredName<'t> {
    let mut node = declarator;
    let mut is_function = false;
    for _ in 0..MAX_LOOKAHEAD_DEPTH {
        let inner = walker.field(node, Field::Declarator);
        // In `int (*f)(void)` the parentheses make `f` a pointer to a function.
        let is_parenthesized =
            inner.is_some_and(|it| walker.kind(it) == NodeKind::ParenthesizedDeclarator);
        is_function |= walker.kind(node) == NodeKind::FunctionDeclarator && !is_parenthesized;
        if is_name(walker.kind(node)) {
            return DeclaredName { node: Some(node), is_function };
        }
        // Some declarators have their inner one as a plain child.
        let inner = inner.or_else(|| {
            named_children(node).find(|it| {
                let kind = walker.kind(*it);
                is_declarator(kind) || kind == NodeKind::Identifier
            })
        });
        let Some(inner) = inner else { break };
        node = inner;
    }
    DeclaredName { node: None, is_function }
}

/// Returns whether a node is a declared name, the innermost part of a declarator.
const fn is_name(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Identifier
            | NodeKind::FieldIdentifier
            | NodeKind::QualifiedIdentifier
            | NodeKind::DestructorName
            | NodeKind::OperatorName
            | NodeKind::TypeIdentifier
    )
}

/// Returns whether a node is a declarator of any form: `*x`, `x[3]`, `x(int)`, `x = 1`.
pub(in crate::lang::generic) const fn is_declarator(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::AbstractArrayDeclarator
            | NodeKind::AbstractFunctionDeclarator
            | NodeKind::AbstractParenthesizedDeclarator
            | NodeKind::AbstractPointerDeclarator
            | NodeKind::AbstractReferenceDeclarator
            | NodeKind::ArrayDeclarator
            | NodeKind::AttributedDeclarator
            | NodeKind::FunctionDeclarator
            | NodeKind::InitDeclarator
            | NodeKind::NewDeclarator
            | NodeKind::ParenthesizedDeclarator
            | NodeKind::PointerDeclarator
            | NodeKind::PointerTypeDeclarator
            | NodeKind::ReferenceDeclarator
            | NodeKind::StructuredBinding
            | NodeKind::VariableDeclarator
            | NodeKind::VariadicDeclarator
    )
}
