//! C, C++, C#, Ruby and PHP: imports of files, C# namespaces and PHP names. Those of C++ namespaces
//! are in `c/namespaces`.
//!
//! ```text
//! #include "a.h"            C: star, every name of `a.h`
//! using A.B;                C#: star, every name of the namespace `A.B`
//! require_relative "a"      Ruby: `a` for its effect
//! use A\B\C as D;           PHP: named, item `C` of `A.B` as `D`
//! ```
//!
//! An import of the kind *star* makes every name of a module visible, one of the kind *named* a
//! single name, and one for its *effect* none: the file is loaded, and its definitions are global.

use tree_sitter::Node;

use super::{Field, GenericWalker, NodeKind};
use crate::facts::ImportKind;
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::{named_children, strip_quotes};

/// `#include "a.h"`
pub(super) fn add_include(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    if let Some(path) = walker.field(node, Field::Path) {
        walker.builder.mark_string(path);
        // Which file the path means is up to the resolver.
        let module = walker.text(path).trim_matches(['"', '<', '>']);
        add_import(walker, ImportKind::Star, module, "*", None, node);
    }
}

/// Adds the import of Ruby's `require "a"`; returns whether the call was one.
pub(super) fn add_required_file(
    walker: &mut GenericWalker<'_, '_>,
    call: Node<'_>,
    name: Node<'_>,
) -> bool {
    let is_require = walker.builder.lang == SourceLanguage::Ruby
        && matches!(walker.text(name), "require" | "require_relative" | "load");
    if !is_require {
        return false;
    }
    let argument = walker.field(call, Field::Arguments).and_then(|it| it.named_child(0));
    let Some(argument) = argument.filter(|it| walker.kind(*it) == NodeKind::Text) else {
        return false;
    };
    let module = strip_quotes(walker.text(argument));
    add_import(walker, ImportKind::Effect, module, "*", None, call);
    true
}

/// C#'s `using A.B;`
pub(super) fn add_using_directive(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    if let Some(name) = named_children(node).last() {
        let module = walker.text(name);
        add_import(walker, ImportKind::Star, module, "*", None, node);
    }
}

/// One name of PHP's `use A\B\{C, D as E};`
pub(super) fn add_use_clause(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    let group = node.parent().filter(|it| walker.kind(*it) == NodeKind::UseGroup);
    let declaration = group.and_then(|it| it.parent());
    // The common prefix of a group, `A\B`, is a child of the whole declaration.
    let prefix = declaration.and_then(|it| walker.child_of_kind(it, NodeKind::NamespaceName));
    let prefix = prefix.map(|it| format!("{}\\", walker.text(it))).unwrap_or_default();
    let Some(name) = node.named_child(0) else { return };
    let path = format!("{prefix}{}", walker.text(name)).replace('\\', ".");
    let path = path.trim_start_matches('.');
    let (module, item) = path.rsplit_once('.').unwrap_or(("", path));
    let alias = walker.field(node, Field::Alias).map_or(item, |it| walker.text(it));
    add_import(walker, ImportKind::Named, module, item, Some(alias), node);
}

/// Adds an import and binds its local name, if it has one, in the enclosing function, or in the
/// file if no function encloses it.
fn add_import(
    walker: &mut GenericWalker<'_, '_>,
    kind: ImportKind,
    module: &str,
    item: &str,
    local: Option<&str>,
    node: Node<'_>,
) {
    let import = walker.builder.add_import(kind, module, item, local, node);
    // Who includes this file also sees what it includes. The `using` of C# and the `use` of PHP are
    // for their own file only, but are marked as well: name lookup does not read the mark.
    walker.builder.imports[import.index()].is_public = true;
    if local.is_some() {
        walker.builder.bind_import_in_function(import);
    }
}
