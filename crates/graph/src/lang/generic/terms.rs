//! C, C++, C#, Ruby and PHP: terms of expressions and types. Those that only C and C++ have are in
//! `c/names`.
//!
//! A *term* is an expression or a type reduced to what the resolver (`crate::resolve`) needs to find
//! definitions. To find `save` in `f(1).save()`, it evaluates the term of `f(1)`, which is
//! `Call(f)`, to a type. `InstanceOf(T)` is a value of the type `T`.
//!
//! The two tables, [`expression_shape`] and [`type_shape`], map the kinds of syntax nodes to
//! [`TermShape`]s. A shape is the recipe for a term: it tells which parts of the node make it up, or
//! as `Custom` names a function of this file that builds it. The functions return the id of a term
//! in `walker.builder.terms`. `depth` is the number of levels that may still be read below a node;
//! deeper parts are unknown.
//!
//! ```text
//! expression                   term
//! $this->db                    PHP: Member(This(Class), "db")
//! @db.find(1)                  Ruby: Call(Member(Member(This(Class), "db"), "find"))
//! new Store(1)                 InstanceOf(Store)
//!
//! type                         term of a value of it
//! List<Row>                    C#: InstanceOf(Generic(List, InstanceOf(Row)))
//! var                          C#: unknown, so the initial value decides
//! ```

use tree_sitter::Node;

use super::c::{
    c_call_term, c_field_term, c_pointer_term, qualified_name_term, template_type_name,
};
use super::calls::{RECEIVER_FIELDS, bare_callee_term};
use super::{Field, GenericWalk, GenericWalker, NodeKind, first_field};
use crate::facts::{DefId, Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, TermOperand, TermShape, enclosing_object, expression_within, type_within,
};

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<GenericWalk> {
    match kind {
        NodeKind::This | NodeKind::ThisWord | NodeKind::SelfNode => TermShape::Custom(this_term),
        NodeKind::BaseWord | NodeKind::Super => TermShape::Custom(super_term),
        // `self::`, `parent::` of PHP
        NodeKind::RelativeScope => TermShape::Custom(relative_scope_term),
        NodeKind::VariableName => TermShape::Custom(php_variable_term),
        NodeKind::Identifier
        | NodeKind::Constant
        | NodeKind::Name
        | NodeKind::TypeIdentifier
        | NodeKind::NamespaceIdentifier => TermShape::Name,
        NodeKind::InstanceVariable => TermShape::Custom(instance_variable_term),
        NodeKind::MemberAccess | NodeKind::ConditionalAccess => TermShape::Custom(member_term),
        NodeKind::FieldExpression => TermShape::Custom(c_field_term),
        NodeKind::ScopeResolution | NodeKind::QualifiedName => TermShape::Custom(scoped_name_term),
        NodeKind::QualifiedIdentifier => TermShape::Custom(qualified_name_term),
        NodeKind::TemplateFunction => TermShape::SameAs(TermOperand::Field(Field::Name)),
        NodeKind::CallExpression => TermShape::Custom(c_call_term),
        NodeKind::Invocation | NodeKind::FunctionCall => TermShape::Custom(call_term),
        NodeKind::MemberCall | NodeKind::ScopedCall | NodeKind::Call => {
            TermShape::Custom(method_call_term)
        }
        NodeKind::ObjectCreation | NodeKind::New => {
            TermShape::InstanceOf(TermOperand::FieldOrFirst(Field::Type))
        }
        NodeKind::Parenthesized | NodeKind::Await => {
            TermShape::SameAs(TermOperand::FieldOrFirst(Field::Argument))
        }
        NodeKind::PointerExpression => TermShape::Custom(c_pointer_term),
        NodeKind::Cast => TermShape::OfType(TermOperand::Field(Field::Type)),
        NodeKind::Subscript | NodeKind::ElementAccess | NodeKind::ElementReference => {
            TermShape::Wrapped(Term::ElementOf, TermOperand::Child(0))
        }
        // A named argument has its name before the value.
        NodeKind::Argument => TermShape::SameAs(TermOperand::LastChild),
        _ => literal_shape(kind),
    }
}

/// The table of literals, whose types are not defined in the project.
fn literal_shape(kind: NodeKind) -> TermShape<GenericWalk> {
    match kind {
        // C#'s `string.Empty`: the type is used like a value.
        NodeKind::PredefinedType => TermShape::OfType(TermOperand::Itself),
        NodeKind::Typeof => TermShape::Literal("Type"),
        NodeKind::BooleanLiteral => TermShape::Literal("bool"),
        NodeKind::True | NodeKind::False => TermShape::Custom(boolean_term),
        NodeKind::CharLiteral => TermShape::Literal("char"),
        NodeKind::RealLiteral => TermShape::Literal("double"),
        NodeKind::Text
        | NodeKind::StringLiteral
        | NodeKind::EncapsedString
        | NodeKind::VerbatimString
        | NodeKind::InterpolatedString => TermShape::Literal("string"),
        NodeKind::NumberLiteral => TermShape::Custom(number_term),
        NodeKind::IntegerLiteral | NodeKind::Integer => TermShape::Literal("int"),
        _ => TermShape::Unknown,
    }
}

/// `this`, `self`
fn this_term(walker: &mut GenericWalker<'_, '_>, _node: Node<'_>, _depth: u32) -> TermId {
    own_object(walker, Term::This)
}

/// `base` of C#, `super` of Ruby
fn super_term(walker: &mut GenericWalker<'_, '_>, _node: Node<'_>, _depth: u32) -> TermId {
    own_object(walker, Term::Super)
}

/// The object that a method runs on, as `Term::This` or `Term::Super`. A method that is defined
/// outside its type has no enclosing type; its object is an instance of its owner.
fn own_object(walker: &mut GenericWalker<'_, '_>, role: fn(DefId) -> Term) -> TermId {
    match walker.state.out_of_line_method {
        Some(enclosing) => walker.builder.terms.instance_of(enclosing.owner),
        None => enclosing_object(walker, role),
    }
}

/// PHP's `self::`, `static::` and `parent::`
fn relative_scope_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let is_parent = walker.text(node) == "parent";
    own_object(walker, if is_parent { Term::Super } else { Term::This })
}

/// `$this`, `$name`
fn php_variable_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    match walker.text(node) {
        "$this" => own_object(walker, Term::This),
        text => walker.builder.unbound_name(text.trim_start_matches('$')),
    }
}

/// Ruby's `@name` is a field of the object.
fn instance_variable_term(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    _depth: u32,
) -> TermId {
    let object = own_object(walker, Term::This);
    walker.builder.terms.member_of(object, walker.text(node).trim_start_matches('@'))
}

/// `object.name`, `object?.name`, `$object->name`
fn member_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let object = first_field(walker, node, &[Field::Expression, Field::Argument, Field::Object]);
    let name = first_field(walker, node, &[Field::Name, Field::Member]);
    let (Some(object), Some(name)) = (object, name) else { return UNKNOWN_TERM };
    let object = expression_within(walker, object, depth);
    // A generic method has its name one level deeper.
    let name = walker.field(name, Field::Name).unwrap_or(name);
    walker.builder.terms.member_of(object, walker.text(name))
}

/// Ruby's `A::B`, C#'s `A.B`, PHP's `A\b`
fn scoped_name_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let parts: Vec<Node<'_>> = named_children(node).collect();
    let Some((last, before)) = parts.split_last() else { return UNKNOWN_TERM };
    let name = walker.text(*last);
    let is_php = walker.builder.lang == SourceLanguage::Php;
    // `\f` is a function of the global namespace, where the built-in functions of PHP are.
    if is_php && walker.text(node).rfind('\\') == Some(0) {
        return walker.builder.terms.literal_of(name);
    }
    match before.first() {
        // A namespace of PHP is not followed.
        Some(scope) if !is_php => {
            let scope = expression_within(walker, *scope, depth);
            walker.builder.terms.member_of(scope, name)
        }
        _ => walker.builder.unbound_name(name),
    }
}

/// `f(x)`, `object.method(x)`
pub(super) fn call_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(callee) = walker.field(node, Field::Function) else { return UNKNOWN_TERM };
    let callee = match walker.kind(callee) {
        NodeKind::Identifier | NodeKind::Name => {
            let name = walker.text(callee);
            bare_callee_term(walker, name)
        }
        _ => expression_within(walker, callee, depth),
    };
    walker.builder.terms.add(Term::Call(callee))
}

/// `$object->method(x)` of PHP, any call of Ruby.
fn method_call_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(name) = first_field(walker, node, &[Field::Name, Field::Method]) else {
        return UNKNOWN_TERM;
    };
    let name = walker.text(name);
    let callee = match first_field(walker, node, RECEIVER_FIELDS) {
        Some(receiver) => {
            let receiver = expression_within(walker, receiver, depth);
            // `Store.new` creates an object.
            if name == "new" && walker.builder.lang == SourceLanguage::Ruby {
                return walker.builder.terms.instance_of(receiver);
            }
            walker.builder.terms.member_of(receiver, name)
        }
        None => bare_callee_term(walker, name),
    };
    walker.builder.terms.add(Term::Call(callee))
}

/// `true` and `false`. Ruby has no common type for them; its built-in types are not told apart, so
/// any of them will do.
fn boolean_term(walker: &mut GenericWalker<'_, '_>, _node: Node<'_>, _depth: u32) -> TermId {
    let is_ruby = walker.builder.lang == SourceLanguage::Ruby;
    walker.builder.terms.literal_of(if is_ruby { "int" } else { "bool" })
}

/// `1`, `1.5` of C and C++
fn number_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let is_double = walker.text(node).contains('.');
    walker.builder.terms.literal_of(if is_double { "double" } else { "int" })
}

/// The table of types: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<GenericWalk> {
    match kind {
        NodeKind::PrimitiveType | NodeKind::SizedType | NodeKind::PredefinedType => {
            TermShape::Custom(builtin_type_term)
        }
        // Nodes around a type in a cast, in template arguments and after `typename`.
        NodeKind::TypeDescriptor | NodeKind::DependentType => {
            TermShape::OfType(TermOperand::FieldOrFirst(Field::Type))
        }
        // `var` and `auto`: the compiler infers the type.
        NodeKind::ImplicitType | NodeKind::PlaceholderType => TermShape::Unknown,
        NodeKind::ArrayType => TermShape::Custom(array_type_term),
        // `?Row` of PHP, `Row?` of C#
        NodeKind::OptionalType | NodeKind::NullableType => TermShape::OfType(TermOperand::Child(0)),
        _ => TermShape::Custom(named_type_term),
    }
}

/// A built-in type. It matters only where overloads are selected by types.
fn builtin_type_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    if walker.builder.lang.overloads_by_type() {
        walker.builder.terms.literal_of(walker.text(node))
    } else {
        UNKNOWN_TERM
    }
}

/// `Row[]`
fn array_type_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let element = walker.field(node, Field::Type).or_else(|| node.named_child(0));
    let element = element.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
    walker.builder.terms.add(Term::ListOf(element))
}

/// `Row`, `a::Row`, `List<Row>`
fn named_type_term(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    match type_name_within(walker, node, depth) {
        UNKNOWN_TERM => UNKNOWN_TERM,
        name => walker.builder.terms.instance_of(name),
    }
}

/// The term of a type itself: `Name("Row")` for `struct Row` and for `Row`.
pub(super) fn type_name_within(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    match walker.kind(node) {
        NodeKind::Identifier | NodeKind::TypeIdentifier | NodeKind::Name | NodeKind::Constant => {
            walker.builder.unbound_name(walker.text(node))
        }
        NodeKind::NamedType => {
            node.named_child(0).map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        NodeKind::StructSpecifier
        | NodeKind::ClassSpecifier
        | NodeKind::EnumSpecifier
        | NodeKind::UnionSpecifier => {
            let name = walker.field(node, Field::Name);
            name.map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        NodeKind::QualifiedIdentifier => qualified_name_term(walker, node, depth),
        NodeKind::TemplateType => template_type_name(walker, node, depth),
        // The namespace before the name is not followed.
        NodeKind::QualifiedName | NodeKind::ScopeResolution => {
            let name = named_children(node).last();
            name.map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        NodeKind::GenericName => generic_type_name(walker, node, depth),
        _ => UNKNOWN_TERM,
    }
}

/// C#'s `List<T>`
fn generic_type_name(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let mut parts = named_children(node);
    let Some(head) = parts.next() else { return UNKNOWN_TERM };
    let head = type_name_within(walker, head, depth);
    let mut arguments = Vec::new();
    for argument in parts.next().into_iter().flat_map(named_children).take(MAX_TYPE_ARGUMENTS) {
        let argument = walker.field(argument, Field::Type).unwrap_or(argument);
        arguments.push(type_within(walker, argument, depth));
    }
    walker.builder.terms.generic_of(head, &arguments)
}
