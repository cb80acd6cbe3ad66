//! C, C++, C#, Ruby and PHP: namespaces, types, members and variables.
//!
//! ```text
//! namespace A.B;                   C#: the namespace of the file is `A.B`
//! class Store < Base               Ruby: class `Store` with the base `Base`
//!   def open; @db = Db.new; end    Ruby: field `Store.db` of the value `Db.new`
//! private Db $db;                  PHP: field `db` of type `Db`
//! foreach (Row row in rows)        C#: local variable `row`
//! ```
//!
//! The walk in `generic.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records the facts of the node in `walker.builder` and then visits its children. To *bind*
//! a name is to give it a meaning in the current scope. A name that is *marked as handled* is
//! recorded here, so the walk, which reaches its node later, does not record it again.

use tree_sitter::{Node, TreeCursor};

use super::c::{bind_template_parameters, is_static, visible_flags};
use super::{Field, GenericWalker, NodeKind, is_c_family};
use crate::facts::{DefFlags, DefId, DefKind, Term, TermId};
use crate::facts_builder::{BaseRelation, NameBinding, ScopeKind, known_term};
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_type, type_name};

/// C#'s `namespace A.B`. A file has one namespace in its facts; of several the last one counts.
pub(super) fn visit_namespace_declaration(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let name = walker.field(node, Field::Name);
    walker.builder.namespace = name.map(|it| walker.builder.intern_node(it));
    walker.visit_children(cursor);
}

/// PHP's `namespace A\B`, stored with dots like the namespaces of all languages.
pub(super) fn visit_php_namespace(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let name = walker.field(node, Field::Name).map(|it| walker.text(it).replace('\\', "."));
    walker.builder.namespace = name.map(|it| walker.builder.intern(&it));
    walker.visit_children(cursor);
}

/// `class A : B { … }`, `interface A { … }`, `enum A { … }`, Ruby's `module A`. A type without a
/// name is only visited.
pub(super) fn visit_class(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    kind: DefKind,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let simple_name = match walker.kind(name_node) {
        // `class A::B`
        NodeKind::ScopeResolution | NodeKind::QualifiedIdentifier => {
            named_children(name_node).last().unwrap_or(name_node)
        }
        _ => name_node,
    };
    let name = walker.builder.intern_node(simple_name);
    let flags = visible_flags(walker);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.skip_next_use(name_node);
    // A local class inside `void Store::run()`: its methods are not out of line.
    let outer_method = walker.state.out_of_line_method.take();
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Members(def));
    bind_template_parameters(walker, node, def);
    add_bases(walker, node, def);
    walker.visit_children(cursor);
    walker.state.out_of_line_method = outer_method;
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// `: public Base, Other`, `< Base`, `extends Base implements Named`
fn add_bases(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, def: DefId) {
    for clause in named_children(node) {
        let relation = match walker.kind(clause) {
            NodeKind::BaseClassClause
            | NodeKind::BaseList
            | NodeKind::Superclass
            | NodeKind::BaseClause => BaseRelation::Extends,
            NodeKind::InterfaceClause => BaseRelation::Implements,
            // The name, the body, modifiers and attributes.
            _ => continue,
        };
        for base in named_children(clause) {
            // `public` in `class A : public B` and `(X)` in `record A(int X) : B(X)`
            if matches!(walker.kind(base), NodeKind::AccessSpecifier | NodeKind::ArgumentList) {
                continue;
            }
            let term = type_name(walker, base);
            walker.builder.add_base(def, term, relation);
        }
    }
}

/// Defines a member of the enclosing type, or a variable of the file.
pub(super) fn define_member(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    name_node: Option<Node<'_>>,
    declared: Option<TermId>,
) {
    let Some(name_node) = name_node else { return };
    // Members are looked up without the sigils of PHP and Ruby.
    let name = walker.text(name_node).trim_start_matches(['$', '@']);
    let name = walker.builder.intern(name);
    let is_field = walker.builder.enclosing_type().is_some();
    let kind = if is_field { DefKind::Field } else { DefKind::Variable };
    // `static int n;` at the top of a C file.
    let is_c_variable = kind == DefKind::Variable && is_c_family(walker);
    let is_hidden = walker.state.anonymous_namespace_depth > 0 || is_static(walker, node);
    let flags = DefFlags::default().when(is_c_variable && is_hidden, DefFlags::PRIVATE);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.def_mut(def).declared_type = known_term(declared);
    walker.skip_next_use(name_node);
    if kind == DefKind::Variable {
        walker.builder.bind_name(name, NameBinding::Def(def));
    }
}

/// C#'s `Type a = …, b;`, local or a field.
pub(super) fn visit_variables(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let declared = known_term(field_type(walker, node, Field::Type));
    let is_local = walker.builder.is_inside_function();
    for declarator in walker.children_of_kind(node, NodeKind::VariableDeclarator) {
        let Some(name_node) = walker.field(declarator, Field::Name) else { continue };
        if is_local {
            // The value has no field of its own; it comes last, after the name.
            let value = named_children(declarator).last().filter(|it| it.id() != name_node.id());
            let value = value.map(|it| expression_term(walker, it));
            let name = walker.builder.intern_node(name_node);
            walker.builder.bind_local(name, declared, value);
        } else {
            define_member(walker, node, Some(name_node), declared);
        }
    }
    walker.visit_children(cursor);
}

/// `public Db Db { get; }` of C#, `private Db $a, $b;` of PHP.
pub(super) fn visit_property(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let declared = field_type(walker, node, Field::Type);
    match walker.field(node, Field::Name) {
        Some(name) => define_member(walker, node, Some(name), declared),
        // PHP has an element for each name.
        None => {
            for element in walker.children_of_kind(node, NodeKind::PropertyElement) {
                let name = walker.field(element, Field::Name);
                define_member(walker, node, name, declared);
            }
        }
    }
    walker.visit_children(cursor);
}

/// `@x = …` of Ruby and `$this->x = …` of PHP declare a field; in both `x = …` declares a variable.
pub(super) fn visit_assignment(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let (left, right) = (walker.field(node, Field::Left), walker.field(node, Field::Right));
    if let (Some(left), Some(right)) = (left, right) {
        record_assignment(walker, node, left, right);
    }
    walker.visit_children(cursor);
}

/// Records the field or variable that an assignment declares.
fn record_assignment(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    left: Node<'_>,
    right: Node<'_>,
) {
    let value = expression_term(walker, right);
    let text = walker.text(left);
    match (walker.kind(left), walker.builder.enclosing_type()) {
        // `@x = …`
        (NodeKind::InstanceVariable, Some(class)) => {
            let name = walker.builder.intern(text.trim_start_matches('@'));
            walker.builder.add_field_assignment(class, name, value, left, node);
        }
        // `$this->x = …`; an assignment to another object declares nothing.
        (NodeKind::MemberAccess, Some(class)) if text.starts_with("$this->") => {
            if let Some(name_node) = walker.field(left, Field::Name) {
                let name = walker.builder.intern_node(name_node);
                walker.builder.add_field_assignment(class, name, value, name_node, node);
            }
        }
        // `x = …`, `$x = …`
        (NodeKind::Identifier | NodeKind::VariableName, _)
            if matches!(walker.builder.lang, SourceLanguage::Ruby | SourceLanguage::Php) =>
        {
            let name = walker.builder.intern(text.trim_start_matches('$'));
            walker.builder.assign_local(name, None, value);
            walker.skip_next_use(left);
        }
        // C, C++ and C# have declarations; `xs[0] = …` declares nothing anywhere.
        _ => {}
    }
}

/// C#'s `foreach (T x in xs)`. PHP's statement has no fields of these names and binds nothing.
pub(super) fn bind_foreach_variable(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    let variable = walker.field(node, Field::Left);
    let (Some(variable), Some(container)) = (variable, walker.field(node, Field::Right)) else {
        return;
    };
    let container = expression_term(walker, container);
    let element = walker.builder.terms.add(Term::ElementOf(container));
    let declared = field_type(walker, node, Field::Type);
    let name = walker.builder.intern_node(variable);
    walker.builder.bind_local(name, declared, Some(element));
}
