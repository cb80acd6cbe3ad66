//! ECMAScript: `import` statements and `require` of `CommonJS` modules.
//!
//! ```text
//! import a from "./m";                 default export of `./m` as `a`
//! import { a as b } from "./m";        named: item `a` of `./m` as `b`
//! import * as ns from "./m";           module `./m` as `ns`
//! import "./m";                        `./m` for its effect
//! const { a } = require("./m");        named: item `a` of `./m` as `a`
//! ```
//!
//! `walker.builder` collects the imports; to bind a name is to give it a meaning in a scope.

use tree_sitter::Node;

use super::{Field, NodeKind, ScriptWalker};
use crate::facts::{ImportId, ImportKind};
use crate::lang::syntax_walker::{named_children, strip_quotes};

/// `import …`, of any of the forms above.
pub(super) fn visit_import(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    // `import a = require('./a')` has its module inside the clause.
    let source = walker.field(node, Field::Source).or_else(|| {
        let clause = walker.child_of_kind(node, NodeKind::ImportRequire)?;
        walker.field(clause, Field::Source)
    });
    let Some(source) = source else { return };
    let module = strip_quotes(walker.text(source));
    let mut has_names = false;
    for clause in named_children(node) {
        match walker.kind(clause) {
            NodeKind::ImportClause => {
                has_names = true;
                visit_import_clause(walker, module, clause);
            }
            NodeKind::ImportRequire => {
                has_names = true;
                if let Some(name) = clause.named_child(0) {
                    add_module_import(walker, module, name, clause);
                }
            }
            // The source, attributes and comments.
            _ => {}
        }
    }
    // `import './a'` runs the module.
    if !has_names {
        add_import(walker, ImportKind::Effect, module, "*", None, node);
    }
}

/// Adds an import and binds its local name, if it has one. `item` is the name in the module, or `*`
/// for the module itself.
pub(super) fn add_import(
    walker: &mut ScriptWalker<'_, '_>,
    kind: ImportKind,
    module: &str,
    item: &str,
    local: Option<&str>,
    node: Node<'_>,
) -> ImportId {
    let import = walker.builder.add_import(kind, module, item, local, node);
    if local.is_some() {
        walker.builder.bind_import(import);
    }
    import
}

/// The names between `import` and `from`: `a`, `* as ns`, `{ a, b as c }`.
fn visit_import_clause(walker: &mut ScriptWalker<'_, '_>, module: &str, clause: Node<'_>) {
    for part in named_children(clause) {
        match walker.kind(part) {
            // `import a from './a'`
            NodeKind::Identifier => {
                let local = Some(walker.text(part));
                add_import(walker, ImportKind::Default, module, "default", local, part);
            }
            // `import * as ns from './a'`
            NodeKind::NamespaceImport => {
                if let Some(name) = part.named_child(0) {
                    add_module_import(walker, module, name, part);
                }
            }
            // `import { a, b as c } from './a'`
            NodeKind::NamedImports => {
                for specifier in walker.children_of_kind(part, NodeKind::ImportSpecifier) {
                    let Some(name) = walker.field(specifier, Field::Name) else { continue };
                    let local = walker.field(specifier, Field::Alias).unwrap_or(name);
                    let (item, local) = (strip_quotes(walker.text(name)), walker.text(local));
                    add_import(walker, ImportKind::Named, module, item, Some(local), specifier);
                }
            }
            // Comments.
            _ => {}
        }
    }
}

/// Adds the import of a whole module under the name of the node `local`.
fn add_module_import(
    walker: &mut ScriptWalker<'_, '_>,
    module: &str,
    local: Node<'_>,
    node: Node<'_>,
) {
    let local = Some(walker.text(local));
    add_import(walker, ImportKind::Module, module, "*", local, node);
}

/// The module of `require("./a")`; `None` for any other node.
pub(super) fn required_module<'s>(
    walker: &ScriptWalker<'_, 's>,
    node: Node<'_>,
) -> Option<&'s str> {
    if walker.kind(node) != NodeKind::Call {
        return None;
    }
    let callee = walker.field(node, Field::Function)?;
    // `require` is not looked up: projects do not define a function of that name.
    if walker.kind(callee) != NodeKind::Identifier || walker.text(callee) != "require" {
        return None;
    }
    let module = walker.field(node, Field::Arguments)?.named_child(0)?;
    // A computed path cannot be followed.
    (walker.kind(module) == NodeKind::Text).then(|| strip_quotes(walker.text(module)))
}

/// `const a = require("./a")`, `const { b } = require("./a")`.
pub(super) fn bind_required_module(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    module: &str,
    node: Node<'_>,
) {
    if walker.kind(pattern) == NodeKind::Identifier {
        return add_module_import(walker, module, pattern, node);
    }
    for part in named_children(pattern) {
        let (item, local) = match walker.kind(part) {
            // `{ b }`
            NodeKind::ShorthandPattern => (part, part),
            // `{ b: c }`
            NodeKind::PairPattern => {
                let key = walker.field(part, Field::Key);
                let (Some(key), Some(value)) = (key, walker.field(part, Field::Value)) else {
                    continue;
                };
                (key, value)
            }
            // Defaults, `...rest` and nested patterns are not followed.
            _ => continue,
        };
        let (item, local) = (walker.text(item), walker.text(local));
        add_import(walker, ImportKind::Named, module, item, Some(local), part);
    }
}
