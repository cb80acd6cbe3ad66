//! Terms of expressions and types: one builder for all languages, driven by a table per language.
//!
//! A [`Term`] is an expression or a type reduced to what name lookup needs: which name, which
//! member of what, the result of which call. Terms are stored in the facts of a file and refer to
//! one another by [`TermId`]; [`UNKNOWN_TERM`] is that of an expression that cannot be followed. The
//! resolver (`crate::resolve`) evaluates them when the facts of all files are known.
//!
//! A language maps each node kind to a [`TermShape`], a recipe that says which parts of the node
//! make up its term. Constructs that most languages share (member access, indexing, literals)
//! are shapes of their own; the rest is a function of the language. In Rust, for example:
//!
//! ```text
//! node kind          shape                          source   term
//! field_expression   Member(Value, Member)          db.rows  Member(db, "rows")
//! index_expression   Wrapped(ElementOf, Child(0))   rows[0]  ElementOf(rows)
//! string_literal     Literal("str")                 "text"   Literal("str")
//! ```
//!
//! A type has two terms. The *name* of the type is the type itself: `Name("Server")`. The *term* of
//! the type is a value of it: `InstanceOf(Name("Server"))` is what `x: Server` declares for `x`.
//!
//! Terms are built by recursion, so the depth of it is bounded. The walk calls [`expression_term`],
//! [`type_term`] and [`type_name`]. A function that builds a part of a term calls their relatives
//! with `within` in the name instead and passes on the remaining depth: expressions contain types
//! and types contain expressions, so a new start anywhere would leave the recursion without a bound.

use tree_sitter::Node;

use super::syntax_walker::{LanguageWalk, MAX_LOOKAHEAD_DEPTH, SyntaxWalker, named_children};
use crate::facts::{DefId, Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;

/// Maximum number of type arguments stored for a generic type; further ones are left out.
pub(crate) const MAX_TYPE_ARGUMENTS: usize = 4;

/// Maximum number of items of a tuple that become members of a record; further ones are left out.
const MAX_TUPLE_ITEMS: usize = 8;

/// Recipe for the term of a node.
pub(crate) enum TermShape<L: LanguageWalk> {
    /// The node gives no hint: a loop, a comparison of unknown values.
    Unknown,
    /// A value of the named built-in type: `1.5`.
    Literal(&'static str),
    /// A value of the built-in type that the node's text names: the type `int` in Java's `int n`.
    LiteralOfText,
    /// A bare name: `x`.
    Name,
    /// The object of the enclosing type: `this`.
    This,
    /// The object of the enclosing type, seen as its base type: `super`.
    Super,
    /// A member, given by the fields of the object and of the name: `object.name`.
    Member(L::Field, L::Field),
    /// The same value as the operand: `(x)`, `&x`.
    SameAs(TermOperand<L>),
    /// The operand inside a constructor of [`Term`]: `Wrapped(Term::ListOf, …)` for `[x]`. A
    /// missing operand counts as unknown: an empty list is a list all the same.
    Wrapped(fn(TermId) -> Term, TermOperand<L>),
    /// One of two operands: `a ? x : y`.
    AnyOf(TermOperand<L>, TermOperand<L>),
    /// A record with the children as members, named by their positions: `(x, y)`.
    Tuple,
    /// An object of the type that the operand names: `new Server()`.
    InstanceOf(TermOperand<L>),
    /// A value of the type that the operand denotes: the cast `(Server) x`. Unlike `InstanceOf`,
    /// the operand may be any type, such as `Server[]`.
    OfType(TermOperand<L>),
    /// The type that the node names: `Server` in Java's `Server::run`.
    TypeName,
    /// Anything else. The number is the remaining depth for nested terms.
    Custom(fn(&mut SyntaxWalker<'_, '_, L>, Node<'_>, u32) -> TermId),
}

/// A node that a term is made of, relative to the term's own node.
pub(crate) enum TermOperand<L: LanguageWalk> {
    Itself,
    Field(L::Field),
    /// The named child at a position.
    Child(u32),
    /// The node in a field, or else the first named child.
    FieldOrFirst(L::Field),
    LastChild,
}

impl<L: LanguageWalk> TermOperand<L> {
    /// The node of the operand; `node` is that of the term.
    fn find<'t>(self, walker: &SyntaxWalker<'_, '_, L>, node: Node<'t>) -> Option<Node<'t>> {
        match self {
            Self::Itself => Some(node),
            Self::Field(field) => walker.field(node, field),
            Self::Child(position) => node.named_child(position),
            Self::FieldOrFirst(field) => walker.field(node, field).or_else(|| node.named_child(0)),
            Self::LastChild => named_children(node).last(),
        }
    }
}

/// The term of an expression: `Call(Name("f"))` for `f(1)`.
pub(crate) fn expression_term<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
) -> TermId {
    expression_within(walker, node, MAX_LOOKAHEAD_DEPTH)
}

/// The term of an expression that is at most `depth` levels deep; unknown below.
pub(crate) fn expression_within<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    let shape = L::expression_shape(walker.kind(node));
    build_term(walker, node, shape, depth, expression_within::<L>)
}

/// The term of the expression in a field.
pub(crate) fn field_expression<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    field: L::Field,
) -> Option<TermId> {
    walker.field(node, field).map(|it| expression_term(walker, it))
}

/// The term of a value of a type: `InstanceOf(Name("Server"))` for `Server`.
pub(crate) fn type_term<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
) -> TermId {
    type_within(walker, node, MAX_LOOKAHEAD_DEPTH)
}

/// The term of a type itself: `Name("Server")` for `Server`.
pub(crate) fn type_name<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
) -> TermId {
    L::type_name_within(walker, node, MAX_LOOKAHEAD_DEPTH)
}

/// The term of a value of the type in a field.
pub(crate) fn field_type<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    field: L::Field,
) -> Option<TermId> {
    walker.field(node, field).map(|it| type_term(walker, it))
}

/// The term of a value of a type that is at most `depth` levels deep; unknown below.
pub(crate) fn type_within<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    let shape = L::type_shape(walker.kind(node));
    build_term(walker, node, shape, depth, type_within::<L>)
}

/// Builds the term of `node` by its shape. `nested` builds the terms of its operands: as expressions
/// or as types, like the node itself.
fn build_term<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    shape: TermShape<L>,
    depth: u32,
    nested: impl Fn(&mut SyntaxWalker<'_, '_, L>, Node<'_>, u32) -> TermId,
) -> TermId {
    match shape {
        TermShape::Unknown => UNKNOWN_TERM,
        TermShape::Literal(type_name) => walker.builder.terms.literal_of(type_name),
        TermShape::LiteralOfText => walker.builder.terms.literal_of(walker.text(node)),
        TermShape::Name => walker.builder.unbound_name(walker.text(node)),
        TermShape::This => enclosing_object(walker, Term::This),
        TermShape::Super => enclosing_object(walker, Term::Super),
        TermShape::Member(object, name) => {
            let (Some(object), Some(name)) = (walker.field(node, object), walker.field(node, name))
            else {
                return UNKNOWN_TERM;
            };
            // The object may be any expression; the member's name is taken as it is written.
            let object = nested(walker, object, depth);
            walker.builder.terms.member_of(object, walker.text(name))
        }
        TermShape::SameAs(operand) => {
            let operand = operand.find(walker, node);
            operand.map_or(UNKNOWN_TERM, |it| nested(walker, it, depth))
        }
        TermShape::Wrapped(wrap, operand) => {
            let operand = operand.find(walker, node);
            let inner = operand.map_or(UNKNOWN_TERM, |it| nested(walker, it, depth));
            walker.builder.terms.add(wrap(inner))
        }
        TermShape::AnyOf(first, second) => {
            let sides = [first.find(walker, node), second.find(walker, node)];
            // An unknown side is left out by `any_of`, and so is a missing one.
            let sides = sides.map(|it| it.map_or(UNKNOWN_TERM, |it| nested(walker, it, depth)));
            walker.builder.terms.any_of(&sides)
        }
        TermShape::Tuple => tuple_term(walker, node, depth, nested),
        TermShape::InstanceOf(operand) => match operand.find(walker, node) {
            Some(operand) => {
                let type_name = L::type_name_within(walker, operand, depth);
                walker.builder.terms.instance_of(type_name)
            }
            None => UNKNOWN_TERM,
        },
        TermShape::OfType(operand) => {
            let operand = operand.find(walker, node);
            operand.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth))
        }
        TermShape::TypeName => L::type_name_within(walker, node, depth),
        TermShape::Custom(term) => term(walker, node, depth),
    }
}

/// The children of a node as a record, named by their positions.
fn tuple_term<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    node: Node<'_>,
    depth: u32,
    nested: impl Fn(&mut SyntaxWalker<'_, '_, L>, Node<'_>, u32) -> TermId,
) -> TermId {
    let mut members = Vec::new();
    let items = named_children(node).filter(|it| !it.is_extra());
    for (i, item) in items.take(MAX_TUPLE_ITEMS).enumerate() {
        let name = walker.builder.intern(&i.to_string());
        members.push((name, nested(walker, item, depth)));
    }
    walker.builder.terms.record_of(&members)
}

/// The object of the enclosing type as `Term::This` or `Term::Super`; unknown outside types.
pub(crate) fn enclosing_object<L: LanguageWalk>(
    walker: &mut SyntaxWalker<'_, '_, L>,
    role: fn(DefId) -> Term,
) -> TermId {
    match walker.builder.enclosing_type() {
        Some(class) => walker.builder.terms.add(role(class)),
        None => UNKNOWN_TERM,
    }
}
