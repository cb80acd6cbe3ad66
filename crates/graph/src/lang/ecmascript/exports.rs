//! ECMAScript: `export` statements.
//!
//! ```text
//! export function f() {}              definition with the flag EXPORTED, no export entry
//! export default class A {}           the same, and an export of `A` as `default`
//! export { a as b };                  export of the local `a` as `b`
//! export { a } from "./m";            export of the item `a` of `./m`
//! export * from "./m";                export of every name of `./m`
//! ```
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::terms::strip_wrappers;
use super::{Field, NodeKind, ScriptWalker, ValueRole};
use crate::facts::{DefFlags, DefId, DefKind, ExportEntry, Term, TermId};
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::expression_term;

/// `export …`, of any of the forms above.
pub(super) fn visit_export(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // `default` is a keyword, which is not among the named children.
    let mut children = node.walk();
    let is_default =
        node.children(&mut children).any(|it| walker.kind(it) == NodeKind::DefaultWord);
    // `export const a = 1`, `export default function f() {}`
    if walker.field(node, Field::Declaration).is_some() {
        let n_defs = walker.builder.defs.len();
        walker.state.is_exporting = true;
        walker.visit_children(cursor);
        walker.state.is_exporting = false;
        // The first definition that the declaration added is the exported one.
        if is_default && n_defs < walker.builder.defs.len() {
            let term = walker.builder.terms.add(Term::Def(DefId::from_index(n_defs)));
            add_default_export(walker, term);
        }
        return;
    }
    // `export default value`
    if let Some(value) = walker.field(node, Field::Value).filter(|_| is_default) {
        export_default_value(walker, node, value);
        return walker.visit_children(cursor);
    }
    add_clause_exports(walker, node);
}

/// `export { a, b as c }`, `export * from './a'`, `export * as ns from './a'`, `export = value`
fn add_clause_exports(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    let source = walker.field(node, Field::Source).map(|it| strip_quotes(walker.text(it)));
    // `export * from` has no clause of its own.
    let mut is_star = source.is_some();
    for clause in named_children(node) {
        match walker.kind(clause) {
            NodeKind::ExportClause => {
                is_star = false;
                named_children(clause).for_each(|it| add_specifier_export(walker, source, it));
            }
            // `export * as ns from './a'`
            NodeKind::NamespaceExport => {
                is_star = false;
                if let (Some(name), Some(module)) = (clause.named_child(0), source) {
                    let name = walker.builder.intern_node(name);
                    let module = walker.builder.intern(module);
                    walker.builder.exports.push(ExportEntry::ModuleAs { name, module });
                }
            }
            // `export = value`, which `import a = require(…)` gets.
            NodeKind::Identifier if source.is_none() => {
                let term = walker.builder.unbound_name(walker.text(clause));
                add_default_export(walker, term);
            }
            // The source and comments.
            _ => {}
        }
    }
    if let Some(module) = source.filter(|_| is_star) {
        let module = walker.builder.intern(module);
        walker.builder.exports.push(ExportEntry::Star { module });
    }
}

fn add_default_export(walker: &mut ScriptWalker<'_, '_>, term: TermId) {
    let name = walker.builder.intern("default");
    walker.builder.exports.push(ExportEntry::Local { name, term });
}

/// `export default value`, `module.exports = value`. A function or object without a name becomes a
/// definition with the name `default`.
pub(super) fn export_default_value(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    value: Node<'_>,
) {
    let inner = strip_wrappers(walker, value);
    let kind = match walker.kind(inner) {
        NodeKind::Arrow | NodeKind::FunctionExpression | NodeKind::Generator => DefKind::Function,
        NodeKind::Object => DefKind::Variable,
        NodeKind::Call => {
            // `export default connect(Component)` exports the component, decorated.
            let arguments = walker.field(inner, Field::Arguments);
            let decorated = arguments.and_then(|it| walker.child_of_kind(it, NodeKind::Identifier));
            let term = expression_term(walker, decorated.unwrap_or(inner));
            return add_default_export(walker, term);
        }
        _ => {
            let term = expression_term(walker, inner);
            return add_default_export(walker, term);
        }
    };
    let name = walker.builder.intern("default");
    let def = walker.builder.add_definition(kind, name, value, node, DefFlags::EXPORTED);
    let is_function = kind == DefKind::Function;
    let role = if is_function { ValueRole::Function(def) } else { ValueRole::Object(def) };
    walker.state.value_roles.insert(inner.id(), role);
    let term = walker.builder.terms.add(Term::Def(def));
    add_default_export(walker, term);
}

/// `a` or `a as b` in `export { … }`.
fn add_specifier_export(
    walker: &mut ScriptWalker<'_, '_>,
    source: Option<&str>,
    specifier: Node<'_>,
) {
    let Some(item) = walker.field(specifier, Field::Name) else { return };
    let name = walker.field(specifier, Field::Alias).unwrap_or(item);
    let name = walker.builder.intern(strip_quotes(walker.text(name)));
    let item = strip_quotes(walker.text(item));
    let export = match source {
        Some(module) => {
            let module = walker.builder.intern(module);
            ExportEntry::From { name, module, item: walker.builder.intern(item) }
        }
        None => ExportEntry::Local { name, term: walker.builder.unbound_name(item) },
    };
    walker.builder.exports.push(export);
}
