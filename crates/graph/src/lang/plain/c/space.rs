//! Namespaces of C++, and what brings their names elsewhere.

use tree_sitter::{Node, TreeCursor};

use super::super::super::walk::{MAX_TERM, Steps, children};
use super::super::{Plain, field};
use super::{NAMESPACE, SEEN_FROM};
use crate::facts::{DefKind, Flags, ImportKind};
use crate::sketch::{Bound, ScopeKind};

impl Plain<'_, '_> {
    /// `namespace a::b { … }`. What has no name is seen in its file only, what is inline is not told
    /// apart from what is around it.
    pub(super) fn namespace(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let is_inline = node.child(0).is_some_and(|it| it.kind() == "inline");
        let Some(name) = field(node, "name").filter(|_| !is_inline) else {
            let hides = field(node, "name").is_none();
            self.n_hidden += u32::from(hides);
            self.inside(cursor);
            self.n_hidden -= u32::from(hides);
            return;
        };
        let parts = leaves(name);
        for part in &parts {
            let word = self.s.word_of(*part);
            let def = self.s.define(DefKind::Module, word, *part, node, Flags::EXPORTED);
            self.s.set_body(def, field(node, "body"));
            self.s.bind(word, Bound::Def(def));
            self.s.open(def);
            self.s.enter(ScopeKind::Members(def));
        }
        self.inside(cursor);
        for _ in &parts {
            self.s.leave();
            self.s.close();
        }
    }

    /// `namespace short = a::b;`
    pub(super) fn namespace_alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(of)) = (field(node, "name"), children(node).last()) else { return };
        let local = self.s.text(name);
        let of: Vec<&str> = leaves(of).iter().map(|it| self.s.text(*it)).collect();
        self.import_space(ImportKind::Module, &of, "*", Some(local), node);
    }

    /// `using a::f;` and `using namespace a;`
    pub(super) fn using_name(&mut self, node: Node<'_>) {
        let Some(name) = children(node).last().filter(|_| self.s.class().is_none()) else { return };
        let is_whole = node.child(1).is_some_and(|it| it.kind() == "namespace");
        let parts: Vec<&str> = leaves(name).iter().map(|it| self.s.text(*it)).collect();
        if is_whole {
            return self.import_space(ImportKind::Star, &parts, "*", None, node);
        }
        if let Some((item, of)) = parts.split_last() {
            self.import_space(ImportKind::Named, of, item, Some(item), node);
        }
    }

    fn import_space(
        &mut self,
        kind: ImportKind,
        of: &[&str],
        item: &str,
        local: Option<&str>,
        node: Node<'_>,
    ) {
        let around = self.s.modules_around().join(".");
        let module = format!("{NAMESPACE}{around}{SEEN_FROM}{}", of.join("."));
        let within = self.s.module();
        let import = self.s.import(kind, &module, item, local, node);
        self.s.imports[import as usize].within = within;
        if local.is_some() {
            self.s.bind_import(import);
        }
    }
}

/// The single names of a path, from the outermost.
fn leaves(node: Node<'_>) -> Vec<Node<'_>> {
    let mut res = Vec::new();
    let mut at = Some(node);
    while let Some(it) = at.filter(|_| res.len() < MAX_TERM as usize) {
        match it.kind() {
            "nested_namespace_specifier" | "qualified_identifier" => {
                let parts: Vec<Node<'_>> = children(it).collect();
                let Some((last, before)) = parts.split_last() else { break };
                res.extend(before);
                at = Some(*last);
            }
            _ => {
                res.push(it);
                at = None;
            }
        }
    }
    res
}
