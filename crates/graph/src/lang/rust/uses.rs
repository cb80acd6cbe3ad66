//! `use` declarations, flattened to one import a name.

use tree_sitter::Node;

use super::super::walk::children;
use super::{F, K, Rust};
use crate::facts::ImportKind;

impl<'s> Rust<'_, 's> {
    pub(super) fn use_declaration(&mut self, node: Node<'_>) {
        self.is_test = false;
        let grammar = self.w.grammar;
        let public = node.named_child(0).is_some_and(|it| grammar.kind(it) == K::Visibility);
        if let Some(argument) = self.w.field(node, F::Argument) {
            self.use_tree(&mut Vec::new(), argument, public, 16);
        }
    }

    fn use_tree(&mut self, prefix: &mut Vec<&'s str>, node: Node<'_>, public: bool, left: u32) {
        let Some(left) = left.checked_sub(1) else { return };
        let depth = prefix.len();
        match self.w.kind(node) {
            K::UseList => children(node).for_each(|it| self.use_tree(prefix, it, public, left)),
            K::ScopedUseList => {
                if let Some(path) = self.w.field(node, F::Path) {
                    self.segments(prefix, path);
                }
                if let Some(list) = self.w.field(node, F::List) {
                    self.use_tree(prefix, list, public, left);
                }
            }
            K::UseWildcard => {
                if let Some(path) = node.named_child(0) {
                    self.segments(prefix, path);
                }
                let module = self.module_word(prefix);
                let star = self.w.s.word("*");
                self.add_import(ImportKind::Star, module, star, star, public, node);
            }
            K::UseAs => {
                let alias = self.w.field(node, F::Alias).map(|it| self.w.text(it));
                // `use a::b::{self as c}` brings in `b`, as `c`.
                let is_own = |it: &Node<'_>| depth > 0 && self.w.kind(*it) == K::SelfWord;
                if let Some(path) = self.w.field(node, F::Path).filter(|it| !is_own(it)) {
                    self.segments(prefix, path);
                }
                self.use_one(prefix, alias, public, node);
            }
            // `use a::b::{self}` brings in `b`.
            K::SelfWord if depth > 0 => self.use_one(prefix, None, public, node),
            _ => {
                self.segments(prefix, node);
                self.use_one(prefix, None, public, node);
            }
        }
        prefix.truncate(depth);
    }

    fn use_one(&mut self, path: &[&'s str], alias: Option<&'s str>, public: bool, node: Node<'_>) {
        let Some((item, module)) = path.split_last() else { return };
        let local = alias.unwrap_or(item);
        if local == "_" {
            return;
        }
        let (item, local) = (self.w.s.word(item), self.w.s.word(local));
        // A path of one part names a crate or a sibling: the file's own module knows it.
        let module =
            if module.is_empty() { self.w.s.word("self") } else { self.module_word(module) };
        let is_crate = path.len() == 1;
        let (kind, module) =
            if is_crate { (ImportKind::Module, item) } else { (ImportKind::Named, module) };
        self.add_import(kind, module, item, local, public, node);
    }

    fn segments(&self, acc: &mut Vec<&'s str>, node: Node<'_>) {
        match self.w.kind(node) {
            K::Scoped => {
                if let Some(path) = self.w.field(node, F::Path) {
                    self.segments(acc, path);
                }
                if let Some(name) = self.w.field(node, F::Name) {
                    acc.push(self.w.text(name));
                }
            }
            _ => acc.push(self.w.text(node)),
        }
    }

    /// A path as seen from the file's own module, whatever inline module it stands in.
    fn module_word(&mut self, path: &[&'s str]) -> u32 {
        let n_up = path.iter().take_while(|it| **it == "super").count();
        if self.inline.is_empty() || path.first() == Some(&"crate") {
            return self.w.s.word(&path.join("::"));
        }
        let n_kept = n_up.min(self.inline.len());
        let modules = self.w.s.modules_around();
        let inner = &modules[..modules.len() - n_kept.min(modules.len())];
        let starts_here = n_up > 0 || path.first() == Some(&"self");
        if !starts_here {
            return self.w.s.word(&path.join("::"));
        }
        let rest = if n_up > 0 { &path[n_kept..] } else { &path[1..] };
        let mut parts = vec!["self".to_owned()];
        parts.extend(inner.iter().cloned());
        parts.extend(rest.iter().map(|it| (*it).to_owned()));
        if rest.first() == Some(&"super") {
            // Further up than the file: the path begins above it.
            parts.drain(..1);
        }
        self.w.s.word(&parts.join("::"))
    }
}
