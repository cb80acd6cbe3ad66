//! ECMAScript: terms of expressions.
//!
//! ```text
//! expression             term
//! this.rows[0]           Member(Member(This(Store), "rows"), "0")     inside the class `Store`
//! await load<Row>(id)    Unwrapped(Call(Generic(load, InstanceOf(Row))))
//! a ?? new Row()         AnyOf(a, InstanceOf(Row))
//! { id, db: open() }     Record("id": id, "db": Call(open))
//! ```
//!
//! A *term* is an expression or a type, reduced to what the resolver (`crate::resolve`) needs to
//! find definitions. To find `save` in `f(1).save()`, it evaluates the term of `f(1)`, which is
//! `Call(f)`, to a type. `InstanceOf(T)` is a value of the type `T`.
//!
//! The table [`expression_shape`] maps the kinds of syntax nodes to [`TermShape`]s. A shape is the
//! recipe for a term: it tells which parts of the node make it up, or as `Custom` names a function of
//! this file that builds it. The functions return the id of a term in `walker.builder.terms`. A name is at first
//! *unbound*: it is looked up in its scope when the walk has bound all names. `depth` is the number of
//! levels that may still be read below a node; `expression_within` counts it down, and deeper parts
//! are unknown.

use tree_sitter::Node;

use super::imports::{add_import, required_module};
use super::type_terms::with_type_arguments;
use super::{Field, NodeKind, ScriptWalk, ScriptWalker};
use crate::facts::{ImportKind, Term, TermId};
use crate::facts_builder::{UNKNOWN_TERM, known_term};
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::{TermOperand, TermShape, expression_within, type_within};

/// Number of items of an array that are looked at to find out what it contains. The items of most
/// arrays have one type, so more would change little.
const MAX_ARRAY_ITEMS: usize = 3;

/// Maximum number of properties of an object that become members of a record.
const MAX_OBJECT_PROPERTIES: usize = 64;

/// Nesting depth to which the values of an object's properties are read.
const MAX_PROPERTY_DEPTH: u32 = 4;

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<ScriptWalk> {
    match kind {
        NodeKind::Identifier => TermShape::Custom(name_term),
        NodeKind::This => TermShape::This,
        NodeKind::Super => TermShape::Super,
        NodeKind::MemberAccess => TermShape::Member(Field::Object, Field::Property),
        NodeKind::NestedIdentifier => TermShape::Custom(nested_name_term),
        NodeKind::Subscript => TermShape::Custom(subscript_term),
        NodeKind::Call => TermShape::Custom(call_term),
        NodeKind::New => TermShape::Custom(construction_term),
        NodeKind::Await => TermShape::Wrapped(Term::Unwrapped, TermOperand::Child(0)),
        // `(x)`, `x!`, `x satisfies T`
        NodeKind::Parenthesized | NodeKind::NonNull | NodeKind::Satisfies => {
            TermShape::SameAs(TermOperand::Child(0))
        }
        NodeKind::As => TermShape::Custom(as_term),
        NodeKind::Assignment => TermShape::SameAs(TermOperand::Field(Field::Right)),
        NodeKind::Ternary => TermShape::AnyOf(
            TermOperand::Field(Field::Consequence),
            TermOperand::Field(Field::Alternative),
        ),
        NodeKind::Binary => TermShape::Custom(binary_term),
        // `a, b` has the value of `b`.
        NodeKind::Sequence => TermShape::SameAs(TermOperand::LastChild),
        NodeKind::Object => TermShape::Custom(object_term),
        NodeKind::Array => TermShape::Custom(array_term),
        NodeKind::Text | NodeKind::Template => TermShape::Literal("string"),
        NodeKind::Number => TermShape::Literal("number"),
        NodeKind::Regex => TermShape::Literal("RegExp"),
        NodeKind::True | NodeKind::False => TermShape::Literal("boolean"),
        NodeKind::JsxElement | NodeKind::JsxSelfClosing => TermShape::Literal("Element"),
        NodeKind::Arrow | NodeKind::FunctionExpression => TermShape::Custom(function_term),
        _ => TermShape::Unknown,
    }
}

/// `name`
fn name_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    match walker.text(node) {
        "undefined" => UNKNOWN_TERM,
        text => walker.builder.unbound_name(text),
    }
}

/// `a.b.c` as the name of a JSX element.
fn nested_name_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let mut parts = named_children(node);
    let Some(first) = parts.next() else { return UNKNOWN_TERM };
    let mut term = expression_within(walker, first, depth);
    for part in parts {
        term = walker.builder.terms.member_of(term, walker.text(part));
    }
    term
}

/// The term of any of several expressions.
fn any_term<'t>(
    walker: &mut ScriptWalker<'_, '_>,
    nodes: impl Iterator<Item = Node<'t>>,
    depth: u32,
) -> TermId {
    let items: Vec<TermId> = nodes.map(|it| expression_within(walker, it, depth)).collect();
    walker.builder.terms.any_of(&items)
}

/// `a + b`, `a ?? b`, `a === b`
fn binary_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let operator = walker.field(node, Field::Operator).map_or("", |it| walker.text(it));
    let sides = [walker.field(node, Field::Left), walker.field(node, Field::Right)];
    match operator {
        // `||`, `??` and `&&` yield one of their operands; the left one of `&&` only if it is
        // falsy.
        "||" | "??" => any_term(walker, sides.into_iter().flatten(), depth),
        "&&" => sides[1].map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth)),
        // `+` may join strings; the operands are not checked for that.
        "+" | "-" | "*" | "/" | "%" | "**" => walker.builder.terms.literal_of("number"),
        // Comparisons. Bit operators (`&`, `|`, `<<`) come here too, although they give numbers: neither
        // type has members in the project.
        _ => walker.builder.terms.literal_of("boolean"),
    }
}

/// `object["name"]`, `tuple[0]`, `list[i]`
fn subscript_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let (object, index) = (walker.field(node, Field::Object), walker.field(node, Field::Index));
    let (Some(object), Some(index)) = (object, index) else { return UNKNOWN_TERM };
    let object = expression_within(walker, object, depth);
    match walker.kind(index) {
        NodeKind::Text => walker.builder.terms.member_of(object, strip_quotes(walker.text(index))),
        // A constant index may be a position of a tuple.
        NodeKind::Number => walker.builder.terms.member_of(object, walker.text(index)),
        _ => walker.builder.terms.add(Term::ElementOf(object)),
    }
}

/// `f(x)`, `import("./a")`, `require("./a")`
fn call_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(callee) = walker.field(node, Field::Function) else { return UNKNOWN_TERM };
    if walker.kind(callee) == NodeKind::ImportKeyword {
        return dynamic_import_term(walker, node);
    }
    if let Some(module) = required_module(walker, node) {
        return module_term(walker, module, node);
    }
    let callee = expression_within(walker, callee, depth);
    let arguments = walker.field(node, Field::TypeArguments);
    // `useRef<Node>()`: only the type arguments show the type of the result.
    let callee = with_type_arguments(walker, callee, arguments, depth);
    walker.builder.terms.add(Term::Call(callee))
}

/// `import("./a")` returns a promise of the module. The term is the module itself, which awaiting
/// does not change.
fn dynamic_import_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) -> TermId {
    let module = walker.field(node, Field::Arguments).and_then(|it| it.named_child(0));
    match module.filter(|it| walker.kind(*it) == NodeKind::Text) {
        Some(module) => {
            let module = strip_quotes(walker.text(module));
            module_term(walker, module, node)
        }
        None => UNKNOWN_TERM,
    }
}

/// The module itself as a value, which needs an import without a local name.
fn module_term(walker: &mut ScriptWalker<'_, '_>, module: &str, node: Node<'_>) -> TermId {
    let import = add_import(walker, ImportKind::Module, module, "*", None, node);
    walker.builder.terms.add(Term::Import(import))
}

/// `new Map<K, V>()`
fn construction_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(constructor) = walker.field(node, Field::Constructor) else { return UNKNOWN_TERM };
    let class = expression_within(walker, constructor, depth);
    let arguments = walker.field(node, Field::TypeArguments);
    let class = with_type_arguments(walker, class, arguments, depth);
    walker.builder.terms.instance_of(class)
}

/// `value as T`; the value itself if the type is unknown (`as const`).
fn as_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let declared = known_term(node.named_child(1).map(|it| type_within(walker, it, depth)));
    declared
        .or_else(|| node.named_child(0).map(|it| expression_within(walker, it, depth)))
        .unwrap_or(UNKNOWN_TERM)
}

/// `{ name: value }`
fn object_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let mut members = Vec::new();
    for property in named_children(node).take(MAX_OBJECT_PROPERTIES) {
        match walker.kind(property) {
            // `{ name: value }`
            NodeKind::Pair => {
                let key = walker.field(property, Field::Key);
                let (Some(key), Some(value)) = (key, walker.field(property, Field::Value)) else {
                    continue;
                };
                // Large configuration objects nest deeply and are rarely followed.
                let value = expression_within(walker, value, depth.min(MAX_PROPERTY_DEPTH));
                let name = walker.builder.intern(strip_quotes(walker.text(key)));
                members.push((name, value));
            }
            // `{ name }` is short for `{ name: name }`.
            NodeKind::ShorthandProperty => {
                let text = walker.text(property);
                let name = walker.builder.intern(text);
                members.push((name, walker.builder.unbound_name(text)));
            }
            // Methods and `...other` are left out.
            _ => {}
        }
    }
    walker.builder.terms.record_of(&members)
}

/// `[a, b]`
fn array_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let element = any_term(walker, named_children(node).take(MAX_ARRAY_ITEMS), depth);
    walker.builder.terms.add(Term::ListOf(element))
}

/// `() => value`: a function, by the value it returns.
fn function_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let declared = walker.field(node, Field::ReturnType).map(|it| type_within(walker, it, depth));
    // `() => x.y` returns its body; `() => { … }` has statements, which are not followed here.
    let body = walker.field(node, Field::Body).filter(|it| walker.kind(*it) != NodeKind::Block);
    // An expression that mentions the parameters means nothing outside: in `x => x.y` the name `x` would
    // be looked up around the function. A parameter without brackets has a field of its own.
    let parameters = walker.field(node, Field::Parameters);
    let has_no_parameters = walker.field(node, Field::Parameter).is_none()
        && parameters.is_none_or(|it| it.named_child_count() == 0);
    let body = body.filter(|_| has_no_parameters);
    // The declared result, or else the value of the body.
    let returned = declared
        .or_else(|| body.map(|it| expression_within(walker, it, depth)))
        .unwrap_or(UNKNOWN_TERM);
    walker.builder.terms.add(Term::Function(returned))
}

/// The expression inside parentheses and type assertions.
pub(super) fn strip_wrappers<'t>(walker: &ScriptWalker<'_, '_>, mut node: Node<'t>) -> Node<'t> {
    while matches!(
        walker.kind(node),
        NodeKind::Parenthesized | NodeKind::NonNull | NodeKind::As | NodeKind::Satisfies
    ) {
        let Some(inner) = node.named_child(0) else { break };
        node = inner;
    }
    node
}
