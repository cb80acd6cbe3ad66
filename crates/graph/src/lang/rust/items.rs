//! Rust: modules, types, traits, implementations and constants.
//!
//! ```text
//! struct Point { x: i32 }         definitions: class `Point`, field `Point.x`
//! enum Shape { Dot(Point) }       definitions: enum `Shape`, static field `Shape.Dot`, a function
//!                                 that returns a `Shape`
//! trait Draw: Paint { … }         definition: interface `Draw` with the base `Paint`
//! impl Draw for Point { … }       `Point` implements `Draw`; its functions are owned by `Point`
//! mod file;                       import of the child module `file`
//! ```
//!
//! The walk in `rust.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records the facts of the node in `walker.builder` and then visits its children. The
//! children belong to a definition while it is *open*, and names are bound in the innermost *scope*.
//!
//! The walk visits the attributes before an item first and keeps what they declare in its state
//! (`is_test_item`, `module_file`). The item takes it out again, so that it does not pass to the
//! next one.

use tree_sitter::{Node, TreeCursor};

use super::functions::bind_type_parameters;
use super::imports::{ImportVisibility, add_import};
use super::{Field, NodeKind, RustWalker, SelfType, take_item_flags};
use crate::facts::{DefFlags, DefId, DefKind, ImportKind, Term};
use crate::facts_builder::{BaseRelation, NameBinding, ScopeKind, known_term};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{field_type, type_name, type_term};

/// `mod name { … }` or `mod name;`
pub(super) fn visit_module(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else { return };
    // The file of `#[path = "file.rs"]`, if the attribute stands before the module.
    let module_file = walker.state.module_file.take();
    if walker.field(node, Field::Body).is_none() {
        return declare_module_file(walker, node, name_node, module_file);
    }
    let name = walker.builder.intern_node(name_node);
    let flags = take_item_flags(walker, node);
    let def = walker.builder.add_definition(DefKind::Module, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.builder.open_definition(def);
    // Unlike a block, a module does not see the names around it.
    walker.builder.scopes.enter(ScopeKind::Module(def));
    walker.state.inline_modules.push(walker.builder.text(name_node).to_owned());
    walker.visit_children(cursor);
    walker.state.inline_modules.pop();
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// `mod name;` imports a child module that is a file of its own.
fn declare_module_file(
    walker: &mut RustWalker<'_, '_>,
    node: Node<'_>,
    name_node: Node<'_>,
    module_file: Option<&str>,
) {
    let name = walker.text(name_node);
    // The resolver finds the file by one of two forms: `path:file.rs` after a `#[path]` attribute,
    // else `mod:name`. The prefix distinguishes them from the path of a `use`, such as `crate::a`.
    let module = if let Some(path) = module_file {
        format!("path:{path}")
    } else {
        // Inside `mod a { mod b { mod name; } }` the file is `a/b/name.rs`.
        let names = walker.state.inline_modules.iter().map(String::as_str).chain([name]);
        format!("mod:{}", names.collect::<Vec<_>>().join("/"))
    };
    // The attributes before the declaration are used up like those of an item.
    take_item_flags(walker, node);
    let visibility = ImportVisibility::of_item(walker, node);
    add_import(walker, ImportKind::Child, (&module, name), name, visibility, node);
}

/// `struct Point { x: i32 }`, `struct Meters(f64);`, `union Bits { … }`
pub(super) fn visit_struct(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_item(walker, node, DefKind::Class) else {
        return walker.visit_children(cursor);
    };
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Block);
    let type_params = bind_type_parameters(walker, node);
    walker.builder.def_mut(def).type_params = type_params;
    define_fields(walker, node);
    walker.visit_children(cursor);
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// Defines an item with a name, of any of the kinds below, and binds its name.
fn define_item(walker: &mut RustWalker<'_, '_>, node: Node<'_>, kind: DefKind) -> Option<DefId> {
    let name_node = walker.field(node, Field::Name)?;
    let name = walker.builder.intern_node(name_node);
    let flags = take_item_flags(walker, node);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    Some(def)
}

/// Defines the fields of `{ x: i32, y: i32 }` or `(f64, f64)`.
fn define_fields(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    let Some(body) = walker.field(node, Field::Body) else { return };
    if walker.kind(body) == NodeKind::OrderedFields {
        let grammar = walker.grammar;
        let types = named_children(body)
            .filter(|it| !matches!(grammar.kind(*it), NodeKind::Visibility | NodeKind::Attribute));
        // The fields of a tuple struct are named by their positions. They have no name in the text,
        // so the type stands for the name and for the whole declaration.
        for (i, type_node) in types.enumerate() {
            add_field(walker, &i.to_string(), type_node, type_node, type_node);
        }
        return;
    }
    for field in walker.children_of_kind(body, NodeKind::FieldDeclaration) {
        let name_node = walker.field(field, Field::Name);
        let type_node = walker.field(field, Field::Type);
        if let (Some(name_node), Some(type_node)) = (name_node, type_node) {
            let name = walker.text(name_node);
            add_field(walker, name, name_node, field, type_node);
        }
    }
}

fn add_field(
    walker: &mut RustWalker<'_, '_>,
    name: &str,
    name_node: Node<'_>,
    node: Node<'_>,
    type_node: Node<'_>,
) {
    let name = walker.builder.intern(name);
    let declared = type_term(walker, type_node);
    let flags = DefFlags::default();
    let def = walker.builder.add_definition(DefKind::Field, name, name_node, node, flags);
    walker.builder.def_mut(def).declared_type = known_term(Some(declared));
}

/// `enum Shape { Dot, Circle(Point, f64) }`
pub(super) fn visit_enum(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_item(walker, node, DefKind::Enum) else {
        return walker.visit_children(cursor);
    };
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Block);
    let type_params = bind_type_parameters(walker, node);
    walker.builder.def_mut(def).type_params = type_params;
    for variant in walker.field_children(node, Field::Body) {
        if walker.kind(variant) == NodeKind::Variant {
            define_variant(walker, variant, def);
        }
    }
    walker.visit_children(cursor);
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// Defines a variant: `Dot` is a value of its enum, `Circle(Point, f64)` a function that returns
/// one.
fn define_variant(walker: &mut RustWalker<'_, '_>, variant: Node<'_>, enum_def: DefId) {
    let Some(name_node) = walker.field(variant, Field::Name) else { return };
    let name = walker.builder.intern_node(name_node);
    let flags = DefFlags::STATIC;
    let def = walker.builder.add_definition(DefKind::Field, name, name_node, variant, flags);
    // A value of the enum, as `self` is in its methods.
    let mut declared = walker.builder.terms.add(Term::This(enum_def));
    if walker.field(variant, Field::Body).is_some() {
        declared = walker.builder.terms.add(Term::Function(declared));
    }
    walker.builder.def_mut(def).declared_type = Some(declared);
}

/// `trait Draw: Paint { fn draw(&self); }`
pub(super) fn visit_trait(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_item(walker, node, DefKind::Interface) else {
        return walker.visit_children(cursor);
    };
    // `trait A: B + C`
    for bound in walker.field_children(node, Field::Bounds) {
        let base = type_name(walker, bound);
        walker.builder.add_base(def, base, BaseRelation::Extends);
    }
    let trait_name = walker.builder.terms.add(Term::Def(def));
    let object = walker.builder.terms.add(Term::This(def));
    walker.state.self_types.push(SelfType { type_name: trait_name, object });
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Block);
    bind_type_parameters(walker, node);
    walker.visit_children(cursor);
    walker.builder.scopes.leave();
    walker.builder.close_definition();
    walker.state.self_types.pop();
}

/// `impl Type { … }`, `impl Trait for Type { … }`. An `impl` is not a definition: its functions get
/// the type as their owner.
pub(super) fn visit_impl(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // An attribute of the `impl` is not one of its first function.
    walker.state.is_test_item = false;
    let Some(type_node) = walker.field(node, Field::Type) else {
        return walker.visit_children(cursor);
    };
    walker.builder.scopes.enter(ScopeKind::Block);
    bind_type_parameters(walker, node);
    let owner = type_name(walker, type_node);
    let owner = walker.builder.terms.generic_head(owner);
    // The type may be defined below, so traits are joined with their types after the walk.
    if let Some(trait_node) = walker.field(node, Field::Trait)
        && let Some(name) = walker.builder.terms.simple_name(owner)
    {
        let trait_term = type_name(walker, trait_node);
        walker.state.trait_impls.push((name, trait_term));
    }
    let object = walker.builder.terms.instance_of(owner);
    walker.state.self_types.push(SelfType { type_name: owner, object });
    walker.visit_children(cursor);
    walker.state.self_types.pop();
    walker.builder.scopes.leave();
}

/// `type Rows = Vec<Row>;`, also as the associated type of a trait.
pub(super) fn visit_type_alias(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // The associated types of an `impl` are not names of the module. `visit_trait` and `visit_impl`
    // both push a self type, but only `visit_trait` opens a definition: a self type without an
    // enclosing type is that of an `impl`.
    let is_in_impl =
        !walker.state.self_types.is_empty() && walker.builder.enclosing_type().is_none();
    if is_in_impl {
        return walker.visit_children(cursor);
    }
    let declared = field_type(walker, node, Field::Type);
    let Some(def) = define_item(walker, node, DefKind::TypeAlias) else {
        return walker.visit_children(cursor);
    };
    walker.builder.def_mut(def).declared_type = known_term(declared);
    walker.builder.open_definition(def);
    walker.visit_children(cursor);
    walker.builder.close_definition();
}

/// `const LIMIT: u32 = 1;`, `static NAME: &str = "a";` in a module, a function, a trait or an
/// `impl`.
pub(super) fn visit_constant(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let declared = field_type(walker, node, Field::Type);
    let name = walker.builder.intern_node(name_node);
    if walker.builder.is_inside_function() {
        walker.builder.bind_local(name, declared, None);
        return walker.visit_children(cursor);
    }
    let flags = take_item_flags(walker, node);
    let owner = walker.state.self_types.last().map(|it| it.type_name);
    let kind = if owner.is_some() { DefKind::Field } else { DefKind::Variable };
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    // In a trait, which is an open definition, the parent of the constant is its owner. An `impl` is
    // not a definition, so there the owner is stored. With neither, the constant is the module's.
    let is_in_trait = walker.builder.enclosing_type().is_some();
    let definition = walker.builder.def_mut(def);
    definition.declared_type = known_term(declared);
    definition.owner_type = owner.filter(|_| !is_in_trait);
    if owner.is_none() {
        walker.builder.bind_name(name, NameBinding::Def(def));
    }
    walker.builder.open_definition(def);
    walker.visit_children(cursor);
    walker.builder.close_definition();
}

/// `macro_rules! name { … }`. Its body is not read: it becomes code only where it is expanded.
pub(super) fn define_macro(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    if let Some(name_node) = walker.field(node, Field::Name) {
        let name = walker.builder.intern_node(name_node);
        // By this flag the index distinguishes a macro from a function, which never has it.
        let flags = DefFlags::STATIC;
        let def = walker.builder.add_definition(DefKind::Function, name, name_node, node, flags);
        walker.builder.bind_name(name, NameBinding::Def(def));
    }
}
