//! C++: namespaces and the declarations that import their names.
//!
//! ```text
//! namespace a::b { … }         definitions: module `a`, module `a.b`
//! namespace s = a::b;          import: module `a.b` as `s`
//! using a::f;                  import: named, item `f` of `a`
//! using namespace a;           import: star, every name of `a`
//! ```
//!
//! Where the namespace of an import is found depends on the namespaces around the import, so the
//! module of the import contains both: `using namespace a;` inside `namespace outer` is a star
//! import of the module `::outer|a`. The resolver then tries `outer.a` and `a`.

use tree_sitter::{Node, TreeCursor};

use super::super::{Field, GenericWalker, NodeKind};
use super::{ENCLOSING_SEPARATOR, NAMESPACE_PREFIX};
use crate::facts::{DefFlags, DefKind, ImportKind};
use crate::facts_builder::{NameBinding, ScopeKind};
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};

/// `namespace a::b { … }`. The names of an unnamed one are visible in its file only; those of an
/// inline one belong to the enclosing namespace.
pub(super) fn visit_namespace(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let is_inline = node.child(0).is_some_and(|it| walker.kind(it) == NodeKind::InlineWord);
    let name = walker.field(node, Field::Name);
    let Some(name) = name.filter(|_| !is_inline) else {
        // Unnamed or inline: no definition. Only an unnamed one hides its names.
        let n_unnamed = u32::from(name.is_none());
        walker.state.anonymous_namespace_depth += n_unnamed;
        walker.visit_children(cursor);
        walker.state.anonymous_namespace_depth -= n_unnamed;
        return;
    };
    let parts = name_parts(walker, name);
    for part in &parts {
        let name = walker.builder.intern_node(*part);
        let flags = DefFlags::EXPORTED;
        let def = walker.builder.add_definition(DefKind::Module, name, *part, node, flags);
        walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
        walker.builder.bind_name(name, NameBinding::Def(def));
        walker.builder.open_definition(def);
        walker.builder.scopes.enter(ScopeKind::Members(def));
    }
    walker.visit_children(cursor);
    for _ in &parts {
        walker.builder.scopes.leave();
        walker.builder.close_definition();
    }
}

/// `namespace short = a::b;`
pub(super) fn alias_namespace(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    let name = walker.field(node, Field::Name);
    let (Some(name), Some(namespace)) = (name, named_children(node).last()) else { return };
    let local = walker.text(name);
    let namespace = name_texts(walker, namespace);
    add_namespace_import(walker, ImportKind::Module, &namespace, "*", Some(local), node);
}

/// `using a::f;` and `using namespace a;`
pub(super) fn add_using_declaration(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    // Inside a class it only changes the access to an inherited member.
    if walker.builder.enclosing_type().is_some() {
        return;
    }
    let Some(name) = named_children(node).last() else { return };
    let is_whole_namespace =
        node.child(1).is_some_and(|it| walker.kind(it) == NodeKind::NamespaceWord);
    let parts = name_texts(walker, name);
    if is_whole_namespace {
        return add_namespace_import(walker, ImportKind::Star, &parts, "*", None, node);
    }
    if let Some((item, namespace)) = parts.split_last() {
        add_namespace_import(walker, ImportKind::Named, namespace, item, Some(item), node);
    }
}

/// Adds an import from a namespace and binds its local name, if it has one.
fn add_namespace_import(
    walker: &mut GenericWalker<'_, '_>,
    kind: ImportKind,
    namespace: &[&str],
    item: &str,
    local: Option<&str>,
    node: Node<'_>,
) {
    let enclosing = walker.builder.enclosing_module_names().join(".");
    let namespace = namespace.join(".");
    let module = format!("{NAMESPACE_PREFIX}{enclosing}{ENCLOSING_SEPARATOR}{namespace}");
    let parent_module = walker.builder.enclosing_module();
    let import = walker.builder.add_import(kind, &module, item, local, node);
    walker.builder.imports[import.index()].parent_module = parent_module;
    if local.is_some() {
        walker.builder.bind_import(import);
    }
}

/// The texts of the simple names of `a::b::c`.
fn name_texts<'s>(walker: &GenericWalker<'_, 's>, name: Node<'_>) -> Vec<&'s str> {
    name_parts(walker, name).into_iter().map(|it| walker.text(it)).collect()
}

/// The simple names of `a::b::c`, outermost first.
fn name_parts<'t>(walker: &GenericWalker<'_, '_>, name: Node<'t>) -> Vec<Node<'t>> {
    let mut parts = Vec::new();
    let mut rest = Some(name);
    while let Some(node) = rest.filter(|_| parts.len() < MAX_LOOKAHEAD_DEPTH as usize) {
        match walker.kind(node) {
            NodeKind::NestedNamespace | NodeKind::QualifiedIdentifier => {
                let children: Vec<Node<'_>> = named_children(node).collect();
                let Some((last, before)) = children.split_last() else { break };
                parts.extend(before);
                // The rest of the name is nested in its last part.
                rest = Some(*last);
            }
            _ => {
                parts.push(node);
                rest = None;
            }
        }
    }
    parts
}
