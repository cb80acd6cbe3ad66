//! Python: imports.
//!
//! ```text
//! import a.b                 module `a` as `a`, and `a.b` for its effect: only `a` is bound
//! import a.b as c            module `a.b` as `c`
//! from .a import b as c      named: item `b` of `.a` as `c`
//! from a import *            star: every name of `a`
//! ```
//!
//! `walker.builder` collects the imports; to bind a name is to give it a meaning in a scope.

use tree_sitter::Node;

use super::{Field, NodeKind, PythonWalker};
use crate::facts::ImportKind;
use crate::lang::syntax_walker::named_children;

/// `import a.b`, `import a.b as c`
pub(super) fn visit_import(walker: &mut PythonWalker<'_, '_>, node: Node<'_>) {
    for item in named_children(node) {
        match walker.kind(item) {
            NodeKind::Dotted => {
                let path = walker.text(item);
                let package = path.split('.').next().unwrap_or(path);
                add_import(walker, ImportKind::Module, package, package, package, item);
                if package.len() < path.len() {
                    // `import a.b` binds only `a`, but depends on the file of `a.b`, too.
                    let parent_module = walker.builder.enclosing_def();
                    let kind = ImportKind::Effect;
                    let import = walker.builder.add_import(kind, path, package, None, item);
                    walker.builder.imports[import.index()].parent_module = parent_module;
                }
            }
            NodeKind::Aliased => {
                if let Some((path, alias)) = aliased_name(walker, item) {
                    add_import(walker, ImportKind::Module, path, path, alias, item);
                }
            }
            // Comments.
            _ => {}
        }
    }
}

/// `from a import b as c`, `from a import *`
pub(super) fn visit_from_import(walker: &mut PythonWalker<'_, '_>, node: Node<'_>) {
    let Some(module) = walker.field(node, Field::ModuleName) else { return };
    // A relative import may have spaces between its dots.
    let path: String = walker.text(module).split_whitespace().collect();
    for item in named_children(node).filter(|it| it.id() != module.id()) {
        match walker.kind(item) {
            NodeKind::Wildcard => add_import(walker, ImportKind::Star, &path, "*", "*", item),
            NodeKind::Dotted => {
                let name = walker.text(item);
                add_import(walker, ImportKind::Named, &path, name, name, item);
            }
            NodeKind::Aliased => {
                if let Some((name, alias)) = aliased_name(walker, item) {
                    add_import(walker, ImportKind::Named, &path, name, alias, item);
                }
            }
            // Comments.
            _ => {}
        }
    }
}

/// Adds an import and binds its name, unless it imports every name. Other modules see an imported
/// name like one that is defined here.
fn add_import(
    walker: &mut PythonWalker<'_, '_>,
    kind: ImportKind,
    module: &str,
    item: &str,
    local: &str,
    node: Node<'_>,
) {
    // Not `None` inside a function or class: there the name is no name of the module.
    let parent_module = walker.builder.enclosing_def();
    let import = walker.builder.add_import(kind, module, item, Some(local), node);
    let entry = &mut walker.builder.imports[import.index()];
    (entry.parent_module, entry.is_public) = (parent_module, true);
    if kind != ImportKind::Star {
        walker.builder.bind_import_in_function(import);
    }
}

/// The two names of `name as alias`.
fn aliased_name<'s>(walker: &PythonWalker<'_, 's>, item: Node<'_>) -> Option<(&'s str, &'s str)> {
    let (name, alias) = (walker.field(item, Field::Name)?, walker.field(item, Field::Alias)?);
    Some((walker.text(name), walker.text(alias)))
}
