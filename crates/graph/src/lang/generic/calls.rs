//! C, C++, C#, Ruby and PHP: calls and the creation of objects.
//!
//! ```text
//! run(1)               call of `run`: a function, or a method of the enclosing type
//! store.get(1)         call of Member(store, "get")
//! new Store(1)         new `Store`
//! Store.new(1)         Ruby: new `Store`
//! ```
//!
//! The walk in `generic.rs` calls a `visit_…` function with the cursor at the syntax node `node`. A
//! call is recorded in `walker.builder` as a reference with a *term*, the callee reduced to what
//! name lookup needs, such as `Member(store, "get")`. The node of the callee is then marked as
//! handled: the walk reaches it later and must not record it a second time.

use tree_sitter::{Node, TreeCursor};

use super::c::split_qualified_name;
use super::imports::add_required_file;
use super::{Field, GenericWalker, NodeKind, first_field};
use crate::facts::{RefKind, Term, TermId};
use crate::facts_builder::ANY_ARG_COUNT;
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, type_name};

/// Fields of a method call that may hold the object.
pub(super) const RECEIVER_FIELDS: &[Field] = &[Field::Object, Field::Receiver, Field::Scope];

/// `f(x)`, and in C++ and C# also `object.method(x)`.
pub(super) fn visit_call(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if let Some(callee) = walker.field(node, Field::Function) {
        add_callee_reference(walker, callee, RefKind::Call, node);
    }
    walker.visit_children(cursor);
}

/// `new Store(x)`
pub(super) fn visit_creation(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let type_node = walker.field(node, Field::Type).or_else(|| node.named_child(0));
    if let Some(type_node) = type_node {
        add_callee_reference(walker, type_node, RefKind::New, node);
    }
    walker.visit_children(cursor);
}

/// Records the callee of a call or creation.
fn add_callee_reference(
    walker: &mut GenericWalker<'_, '_>,
    callee: Node<'_>,
    kind: RefKind,
    call: Node<'_>,
) {
    let Some(name) = callee_name_node(walker, callee) else { return };
    walker.skip_next_use(callee);
    let is_bare = matches!(walker.kind(callee), NodeKind::Identifier | NodeKind::Name);
    let term = if is_bare && kind == RefKind::Call {
        let name = walker.text(callee);
        bare_callee_term(walker, name)
    } else if kind == RefKind::New {
        type_name(walker, callee)
    } else {
        expression_term(walker, callee)
    };
    let arguments = walker.field(call, Field::Arguments);
    // Overloaded constructors are selected by the number of arguments only.
    if walker.builder.lang.overloads_by_type() && kind == RefKind::Call {
        let mut terms = Vec::new();
        for argument in argument_nodes(walker, arguments) {
            terms.push(expression_term(walker, argument));
        }
        return walker.builder.add_typed_call(term, name, &terms);
    }
    let n_args = count_arguments(walker, arguments);
    walker.builder.add_reference(kind, term, name, n_args);
}

/// The node of a callee's simple name: `get` in `store.get<T>`; `None` if it has none.
fn callee_name_node<'t>(walker: &mut GenericWalker<'_, '_>, callee: Node<'t>) -> Option<Node<'t>> {
    Some(match walker.kind(callee) {
        NodeKind::Identifier | NodeKind::TypeIdentifier | NodeKind::Name | NodeKind::Constant => {
            callee
        }
        NodeKind::FieldExpression => {
            let name = walker.field(callee, Field::Member).unwrap_or(callee);
            // A template method has its name one level deeper.
            walker.field(name, Field::Name).unwrap_or(name)
        }
        NodeKind::QualifiedIdentifier => {
            let (_, name) = split_qualified_name(walker, callee);
            walker.field(name, Field::Name).unwrap_or(name)
        }
        // C#'s `a.b.c` calls `c`.
        NodeKind::MemberAccess => walker.field(callee, Field::Name).unwrap_or(callee),
        NodeKind::QualifiedName => named_children(callee).last().unwrap_or(callee),
        NodeKind::GenericName | NodeKind::TemplateFunction | NodeKind::TemplateType => {
            callee.named_child(0).unwrap_or(callee)
        }
        // An expression: `f()()`, `(*callback)()`.
        _ => return None,
    })
}

/// The term of a bare name that is called, `run` in `run(1)`. Inside a type it may be a member of
/// the type, which takes precedence over functions:
///
/// ```text
/// void Store::open() { run(1); }             Implicit(open, "run")
/// void start() { run(1); }                   a local variable or a function `run`
/// class Store { void open() { run(1); } }    Implicit(Store, "run")
/// ```
///
/// `Implicit(definition, name)` makes the resolver search the members of the definition and of
/// those around it. For a method it searches the members of the method's owner.
pub(super) fn bare_callee_term(walker: &mut GenericWalker<'_, '_>, name: &str) -> TermId {
    // The first row. The method is given instead of its type, because the type is often defined in
    // another file, and a definition of another file cannot be part of a term.
    if let Some(enclosing) = walker.state.out_of_line_method {
        let name = walker.builder.intern(name);
        return walker.builder.terms.add(Term::Implicit(enclosing.method, name));
    }
    // The second row, in C also inside a struct: the structs of C have no methods.
    if walker.builder.lang == SourceLanguage::C {
        return walker.builder.unbound_name(name);
    }
    // The third row, or the second if no type encloses the call.
    walker.builder.implicit_member(name)
}

/// `object.method(…)`, `Class::method(…)`, and any call in Ruby.
pub(super) fn visit_method_call(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name) = first_field(walker, node, &[Field::Name, Field::Method]) else {
        return walker.visit_children(cursor);
    };
    // `require "a"` is a method call in Ruby's grammar.
    if add_required_file(walker, node, name) {
        return;
    }
    walker.skip_next_use(name);
    let text = walker.text(name);
    let n_args = count_arguments(walker, walker.field(node, Field::Arguments));
    let (term, kind) = match first_field(walker, node, RECEIVER_FIELDS) {
        Some(receiver) => {
            let receiver = expression_term(walker, receiver);
            // `Foo.new` refers to the class.
            if text == "new" && walker.builder.lang == SourceLanguage::Ruby {
                (receiver, RefKind::New)
            } else {
                (walker.builder.terms.member_of(receiver, text), RefKind::Call)
            }
        }
        None => (bare_callee_term(walker, text), RefKind::Call),
    };
    walker.builder.add_reference(kind, term, name, n_args);
    walker.visit_children(cursor);
}

/// The arguments in a list, without comments.
fn argument_nodes<'t>(
    walker: &GenericWalker<'_, '_>,
    list: Option<Node<'t>>,
) -> impl Iterator<Item = Node<'t>> + use<'t> {
    let grammar = walker.grammar;
    let arguments = list.into_iter().flat_map(named_children);
    arguments.filter(move |it| grammar.kind(*it) != NodeKind::Comment)
}

fn count_arguments(walker: &GenericWalker<'_, '_>, list: Option<Node<'_>>) -> u8 {
    u8::try_from(argument_nodes(walker, list).count()).unwrap_or(ANY_ARG_COUNT)
}
