//! Imports of the five.

use tree_sitter::Node;

use super::super::walk::{children, unquoted};
use super::{Plain, field};
use crate::facts::ImportKind;
use crate::lang::Lang;

impl Plain<'_, '_> {
    pub(super) fn add_import(
        &mut self,
        kind: ImportKind,
        module: &str,
        item: &str,
        local: Option<&str>,
        node: Node<'_>,
    ) {
        let import = self.s.import(kind, module, item, local, node);
        self.s.imports[import as usize].public = true;
        if local.is_some() {
            self.s.bind_import_wide(import);
        }
    }

    pub(super) fn include(&mut self, node: Node<'_>) {
        if let Some(path) = field(node, "path") {
            self.s.string(path);
            let text = self.s.text(path).trim_matches(['"', '<', '>']);
            self.add_import(ImportKind::Star, text, "*", None, node);
        }
    }

    /// `require "a"` in Ruby; says whether it was one.
    pub(super) fn require(&mut self, node: Node<'_>, name: Node<'_>) -> bool {
        if self.s.lang != Lang::Ruby
            || !matches!(self.s.text(name), "require" | "require_relative" | "load")
        {
            return false;
        }
        let text = field(node, "arguments")
            .and_then(|it| it.named_child(0))
            .filter(|it| it.kind() == "string");
        let Some(text) = text.map(|it| unquoted(self.s.text(it))) else { return false };
        self.add_import(ImportKind::Effect, text, "*", None, node);
        true
    }

    pub(super) fn using(&mut self, node: Node<'_>) {
        if let Some(name) = children(node).last() {
            let text = self.s.text(name);
            self.add_import(ImportKind::Star, text, "*", None, node);
        }
    }

    /// One name of PHP's `use`, with the prefix of its group.
    pub(super) fn use_clause(&mut self, node: Node<'_>) {
        let group = node
            .parent()
            .filter(|it| it.kind() == "namespace_use_group")
            .and_then(|it| it.parent());
        let prefix = group.and_then(|it| children(it).find(|it| it.kind() == "namespace_name"));
        let prefix = prefix.map(|it| format!("{}\\", self.s.text(it))).unwrap_or_default();
        let Some(name) = node.named_child(0) else { return };
        let path = format!("{prefix}{}", self.s.text(name)).replace('\\', ".");
        let path = path.trim_start_matches('.');
        let (module, item) = path.rsplit_once('.').unwrap_or(("", path));
        let alias = field(node, "alias").map_or(item, |it| self.s.text(it));
        self.add_import(ImportKind::Named, module, item, Some(alias), node);
    }
}
