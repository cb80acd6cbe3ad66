//! Rust: `use` declarations, flattened to one import per name. An import is of the kind *module* (a
//! module itself), *named* (one item of a module) or *star* (every item of a module).
//!
//! ```text
//! pub use a::{self, b::C as D, e::*};
//!     module `a`     as `a`, public
//!     named  `a::b`, item `C` as `D`, public
//!     star   `a::e`, public
//! ```

use tree_sitter::Node;

use super::{Field, NodeKind, RustWalker, is_public};
use crate::facts::ImportKind;
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};

/// Visibility of the names that an import binds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportVisibility {
    /// `pub use`, `pub(crate) use`
    Public,
    Private,
}

impl ImportVisibility {
    pub(super) fn of_item(walker: &RustWalker<'_, '_>, item: Node<'_>) -> Self {
        if is_public(walker, item) { Self::Public } else { Self::Private }
    }
}

/// `use a::b;`
pub(super) fn visit_use(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    // An attribute of the `use` is not one of the item that follows.
    walker.state.is_test_item = false;
    let visibility = ImportVisibility::of_item(walker, node);
    if let Some(tree) = walker.field(node, Field::Argument) {
        visit_use_tree(walker, &mut Vec::new(), tree, visibility, MAX_LOOKAHEAD_DEPTH);
    }
}

/// Adds the imports of a use tree: `b`, `{b, c}`, `b::*` or `b as c` after `use a::`. `prefix` is
/// the path before it (`a`) and has its old value again afterwards.
fn visit_use_tree<'s>(
    walker: &mut RustWalker<'_, 's>,
    prefix: &mut Vec<&'s str>,
    tree: Node<'_>,
    visibility: ImportVisibility,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let prefix_len = prefix.len();
    match walker.kind(tree) {
        // `{b, c}`
        NodeKind::UseList => {
            named_children(tree)
                .for_each(|it| visit_use_tree(walker, prefix, it, visibility, depth));
        }
        // `a::{b, c}`
        NodeKind::ScopedUseList => {
            if let Some(path) = walker.field(tree, Field::Path) {
                push_segments(walker, prefix, path);
            }
            if let Some(list) = walker.field(tree, Field::List) {
                visit_use_tree(walker, prefix, list, visibility, depth);
            }
        }
        // `a::*`
        NodeKind::UseWildcard => {
            if let Some(path) = tree.named_child(0) {
                push_segments(walker, prefix, path);
            }
            let module = module_path(walker, prefix);
            add_import(walker, ImportKind::Star, (&module, "*"), "*", visibility, tree);
        }
        // `a as b`
        NodeKind::UseAs => {
            let alias = walker.field(tree, Field::Alias).map(|it| walker.text(it));
            // `use a::b::{self as c}` imports `b` as `c`.
            let is_self = |it: &Node<'_>| prefix_len > 0 && walker.kind(*it) == NodeKind::SelfWord;
            if let Some(path) = walker.field(tree, Field::Path).filter(|it| !is_self(it)) {
                push_segments(walker, prefix, path);
            }
            add_path_import(walker, prefix, alias, visibility, tree);
        }
        // `use a::b::{self}` imports `b`.
        NodeKind::SelfWord if prefix_len > 0 => {
            add_path_import(walker, prefix, None, visibility, tree);
        }
        // `a`, `a::b`
        _ => {
            push_segments(walker, prefix, tree);
            add_path_import(walker, prefix, None, visibility, tree);
        }
    }
    prefix.truncate(prefix_len);
}

/// Adds the import of a path: its last segment is the item, the others are the module.
fn add_path_import(
    walker: &mut RustWalker<'_, '_>,
    path: &[&str],
    alias: Option<&str>,
    visibility: ImportVisibility,
    node: Node<'_>,
) {
    let Some((item, module)) = path.split_last() else { return };
    let local = alias.unwrap_or(item);
    // `use Trait as _` binds no name.
    if local == "_" {
        return;
    }
    if module.is_empty() {
        // A single segment names a crate, or a module beside this one.
        return add_import(walker, ImportKind::Module, (item, item), local, visibility, node);
    }
    let module = module_path(walker, module);
    add_import(walker, ImportKind::Named, (&module, item), local, visibility, node);
}

/// Adds the import of `path`, a module and an item in it, and binds its local name.
pub(super) fn add_import(
    walker: &mut RustWalker<'_, '_>,
    kind: ImportKind,
    path: (&str, &str),
    local: &str,
    visibility: ImportVisibility,
    node: Node<'_>,
) {
    let (module, item) = path;
    let parent_module = walker.builder.enclosing_def();
    let import = walker.builder.add_import(kind, module, item, Some(local), node);
    let entry = &mut walker.builder.imports[import.index()];
    entry.parent_module = parent_module;
    entry.is_public = visibility == ImportVisibility::Public;
    if kind != ImportKind::Star {
        walker.builder.bind_import(import);
    }
}

/// Appends the segments of `a::b::c`.
fn push_segments<'s>(walker: &RustWalker<'_, 's>, segments: &mut Vec<&'s str>, path: Node<'_>) {
    let n_before = segments.len();
    let mut rest = Some(path);
    // The last segment is outermost: `a::b::c` is `a::b` and `c`.
    while let Some(path) = rest {
        let is_scoped = walker.kind(path) == NodeKind::Scoped;
        let segment = if is_scoped { walker.field(path, Field::Name) } else { Some(path) };
        segments.extend(segment.map(|it| walker.text(it)));
        // `::a` has no path before its name.
        rest = Some(path).filter(|_| is_scoped).and_then(|it| walker.field(it, Field::Path));
    }
    segments[n_before..].reverse();
}

/// The path of a module as seen from the file's own module, whatever inline module it is written
/// in. Inside `mod a { mod b { … } }`:
///
/// ```text
/// self::c                   self::a::b::c
/// super::c                  self::a::c
/// super::super::super::c    super::c
/// crate::c                  crate::c
/// ```
fn module_path(walker: &RustWalker<'_, '_>, path: &[&str]) -> String {
    let n_supers = path.iter().take_while(|it| **it == "super").count();
    let is_relative = n_supers > 0 || path.first() == Some(&"self");
    if walker.state.inline_modules.is_empty() || !is_relative {
        return path.join("::");
    }
    // Each `super` leaves one inline module; further ones leave the file.
    let modules = &walker.state.inline_modules;
    let n_modules_left = n_supers.min(modules.len());
    let outer_modules = &modules[..modules.len() - n_modules_left];
    // Without the `super`s that were followed, or without `self`.
    let rest = if n_supers > 0 { &path[n_modules_left..] } else { &path[1..] };
    // A path that leaves the file begins with `super` already.
    let leaves_file = rest.first() == Some(&"super");
    let file_module = if leaves_file { None } else { Some("self") };
    let outer_modules = outer_modules.iter().map(String::as_str);
    let segments: Vec<&str> =
        file_module.into_iter().chain(outer_modules).chain(rest.iter().copied()).collect();
    segments.join("::")
}
