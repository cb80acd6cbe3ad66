//! Python: imports.

use tree_sitter::Node;

use super::super::walk::children;
use super::{F, K, Python};
use crate::facts::ImportKind;

impl<'s> Python<'_, 's> {
    pub(super) fn add_import(
        &mut self,
        kind: ImportKind,
        module: &str,
        item: &'s str,
        local: &'s str,
        node: Node<'_>,
    ) {
        let within = self.w.s.around();
        let import = self.w.s.import(kind, module, item, Some(local), node);
        let it = &mut self.w.s.imports[import as usize];
        (it.within, it.public) = (within, true);
        if kind != ImportKind::Star {
            self.w.s.bind_import_wide(import);
        }
    }

    pub(super) fn import(&mut self, node: Node<'_>) {
        for it in children(node) {
            match self.w.kind(it) {
                K::Dotted => {
                    let path = self.w.text(it);
                    let top = path.split('.').next().unwrap_or(path);
                    self.add_import(ImportKind::Module, top, top, top, it);
                    if top.len() < path.len() {
                        // Only for the file it names; the top is what is bound.
                        let within = self.w.s.around();
                        let import = self.w.s.import(ImportKind::Effect, path, top, None, it);
                        self.w.s.imports[import as usize].within = within;
                    }
                }
                K::Aliased => {
                    if let (Some(name), Some(alias)) =
                        (self.w.field(it, F::Name), self.w.field(it, F::Alias))
                    {
                        let (path, alias) = (self.w.text(name), self.w.text(alias));
                        self.add_import(ImportKind::Module, path, path, alias, it);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = self.w.field(node, F::ModuleName) else { return };
        let path: String = self.w.text(module).split_whitespace().collect();
        for it in children(node).filter(|it| it.id() != module.id()) {
            match self.w.kind(it) {
                K::Wildcard => self.add_import(ImportKind::Star, &path, "*", "*", it),
                K::Dotted => {
                    self.add_import(ImportKind::Named, &path, self.w.text(it), self.w.text(it), it);
                }
                K::Aliased => {
                    if let (Some(name), Some(alias)) =
                        (self.w.field(it, F::Name), self.w.field(it, F::Alias))
                    {
                        self.add_import(
                            ImportKind::Named,
                            &path,
                            self.w.text(name),
                            self.w.text(alias),
                            it,
                        );
                    }
                }
                _ => {}
            }
        }
    }
}
