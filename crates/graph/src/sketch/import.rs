//! What a file brings in from others.

use tree_sitter::Node;

use super::{Bound, Sketch, index};
use crate::facts::{Import, ImportKind};

impl Sketch<'_> {
    /// Adds an import under the name it has here, or else its own; of the whole file and its alone, unless
    /// the caller says otherwise. Binding the name is up to the language.
    pub(crate) fn import(
        &mut self,
        kind: ImportKind,
        module: &str,
        item: &str,
        local: Option<&str>,
        node: Node<'_>,
    ) -> u32 {
        let (module, item) = (self.word(module), self.word(item));
        let local = local.map_or(item, |it| self.word(it));
        let line = index(node.start_position().row);
        let import = index(self.imports.len());
        self.imports.push(Import { kind, module, item, local, within: None, public: false, line });
        import
    }

    /// Binds the name of an import where the walk is.
    pub(crate) fn bind_import(&mut self, import: u32) {
        let name = self.imports[import as usize].local;
        self.bind(name, Bound::Import(import));
    }

    /// Binds the name of an import in the whole function or file.
    pub(crate) fn bind_import_wide(&mut self, import: u32) {
        let name = self.imports[import as usize].local;
        self.bind_wide(name, Bound::Import(import));
    }
}
