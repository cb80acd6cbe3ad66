//! What a TypeScript file takes in and hands out, in both module systems.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children, unquoted};
use super::{F, K, Role, Script};
use crate::facts::{DefKind, Export, Flags, ImportKind, Term};
use crate::sketch::index;

impl<'s> Script<'_, 's> {
    /// Adds an import; binds its name here, if it has one.
    pub(super) fn add_import(
        &mut self,
        kind: ImportKind,
        module: &'s str,
        item: &'s str,
        local: Option<&'s str>,
        node: Node<'_>,
    ) -> u32 {
        let import = self.w.s.import(kind, module, item, local, node);
        if local.is_some() {
            self.w.s.bind_import(import);
        }
        import
    }

    pub(super) fn import(&mut self, node: Node<'_>) {
        let source = self.w.field(node, F::Source).or_else(|| {
            children(node)
                .find(|it| self.w.kind(*it) == K::ImportRequire)
                .and_then(|it| self.w.field(it, F::Source))
        });
        let Some(source) = source else { return };
        let module = unquoted(self.w.text(source));
        let mut named = false;
        for it in children(node) {
            match self.w.kind(it) {
                K::ImportClause => {
                    named = true;
                    self.import_clause(module, it);
                }
                K::ImportRequire => {
                    named = true;
                    if let Some(name) = it.named_child(0) {
                        self.add_import(
                            ImportKind::Module,
                            module,
                            "*",
                            Some(self.w.text(name)),
                            it,
                        );
                    }
                }
                _ => {}
            }
        }
        if !named {
            self.add_import(ImportKind::Effect, module, "*", None, node);
        }
    }

    fn import_clause(&mut self, module: &'s str, clause: Node<'_>) {
        for it in children(clause) {
            match self.w.kind(it) {
                K::Identifier => {
                    self.add_import(
                        ImportKind::Default,
                        module,
                        "default",
                        Some(self.w.text(it)),
                        it,
                    );
                }
                K::NamespaceImport => {
                    if let Some(name) = it.named_child(0) {
                        self.add_import(
                            ImportKind::Module,
                            module,
                            "*",
                            Some(self.w.text(name)),
                            it,
                        );
                    }
                }
                K::NamedImports => {
                    let grammar = self.w.grammar;
                    for it in children(it).filter(|it| grammar.kind(*it) == K::ImportSpecifier) {
                        let Some(name) = self.w.field(it, F::Name) else { continue };
                        let local = self.w.field(it, F::Alias).unwrap_or(name);
                        let item = unquoted(self.w.text(name));
                        self.add_import(
                            ImportKind::Named,
                            module,
                            item,
                            Some(self.w.text(local)),
                            it,
                        );
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn export(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let source = self.w.field(node, F::Source).map(|it| unquoted(self.w.text(it)));
        let mut words = node.walk();
        let is_default = node.children(&mut words).any(|it| self.w.kind(it) == K::DefaultWord);
        if self.w.field(node, F::Declaration).is_some() {
            let first = self.w.s.defs.len();
            self.exporting = true;
            self.inside(cursor);
            self.exporting = false;
            if is_default && first < self.w.s.defs.len() {
                let term = self.w.s.term(Term::Def(index(first)));
                self.export_default(term);
            }
            return;
        }
        if let Some(value) = self.w.field(node, F::Value).filter(|_| is_default) {
            self.default_value(node, value);
            return self.inside(cursor);
        }
        let mut is_star = source.is_some();
        for it in children(node) {
            match self.w.kind(it) {
                K::ExportClause => {
                    is_star = false;
                    children(it).for_each(|it| self.export_specifier(source, it));
                }
                K::NamespaceExport => {
                    is_star = false;
                    if let (Some(name), Some(module)) = (it.named_child(0), source) {
                        let (name, module) = (self.w.s.word_of(name), self.w.s.word(module));
                        self.w.s.exports.push(Export::ModuleAs { name, module });
                    }
                }
                // `export = value`.
                K::Identifier if source.is_none() => {
                    let text = self.w.text(it);
                    let term = self.w.s.free(text);
                    self.export_default(term);
                }
                _ => {}
            }
        }
        if let Some(module) = source.filter(|_| is_star) {
            let module = self.w.s.word(module);
            self.w.s.exports.push(Export::Star { module });
        }
    }

    fn export_default(&mut self, term: u32) {
        let name = self.w.s.word("default");
        self.w.s.exports.push(Export::Local { name, term });
    }

    /// A value without a name of its own: a function or an object becomes a definition.
    fn default_value(&mut self, node: Node<'_>, value: Node<'_>) {
        let inner = self.unwrap(value);
        let kind = match self.w.kind(inner) {
            K::Arrow | K::FunctionExpression | K::Generator => DefKind::Function,
            K::Object => DefKind::Variable,
            K::Call => {
                // `export default connect(Component)` hands out the component, adorned.
                let adorned = self
                    .w
                    .field(inner, F::Arguments)
                    .and_then(|it| children(it).find(|it| self.w.kind(*it) == K::Identifier));
                let it = adorned.unwrap_or(inner);
                let term = self.term(it);
                return self.export_default(term);
            }
            _ => {
                let term = self.term(inner);
                return self.export_default(term);
            }
        };
        let word = self.w.s.word("default");
        let def = self.w.s.define(kind, word, value, node, Flags::EXPORTED);
        let role = if kind == DefKind::Function { Role::Function(def) } else { Role::Object(def) };
        self.roles.insert(inner.id(), role);
        let term = self.w.s.term(Term::Def(def));
        self.export_default(term);
    }

    fn export_specifier(&mut self, source: Option<&'s str>, node: Node<'_>) {
        let Some(item) = self.w.field(node, F::Name) else { return };
        let name = self.w.field(node, F::Alias).unwrap_or(item);
        let name = self.w.s.word(unquoted(self.w.text(name)));
        let item = unquoted(self.w.text(item));
        let export = match source {
            Some(module) => {
                Export::From { name, module: self.w.s.word(module), item: self.w.s.word(item) }
            }
            None => Export::Local { name, term: self.w.s.free(item) },
        };
        self.w.s.exports.push(export);
    }

    /// The module of `require("./a")`.
    pub(super) fn required(&self, node: Node<'_>) -> Option<&'s str> {
        if self.w.kind(node) != K::Call {
            return None;
        }
        let callee = self.w.field(node, F::Function)?;
        if self.w.kind(callee) != K::Identifier || self.w.text(callee) != "require" {
            return None;
        }
        let module = self.w.field(node, F::Arguments)?.named_child(0)?;
        (self.w.kind(module) == K::Text).then(|| unquoted(self.w.text(module)))
    }

    /// `const a = require("./a")`, `const { b } = require("./a")`.
    pub(super) fn bind_required(&mut self, name: Node<'_>, module: &'s str, node: Node<'_>) {
        if self.w.kind(name) == K::Identifier {
            self.add_import(ImportKind::Module, module, "*", Some(self.w.text(name)), node);
            return;
        }
        for it in children(name) {
            let (item, local) = match self.w.kind(it) {
                K::ShorthandPattern => (it, it),
                K::PairPattern => match (self.w.field(it, F::Key), self.w.field(it, F::Value)) {
                    (Some(key), Some(value)) => (key, value),
                    _ => continue,
                },
                _ => continue,
            };
            self.add_import(
                ImportKind::Named,
                module,
                self.w.text(item),
                Some(self.w.text(local)),
                it,
            );
        }
    }

    /// `exports.a = …`, `module.exports = …`, `Class.prototype.a = …`, at the top of a file.
    pub(super) fn assign_outside(
        &mut self,
        node: Node<'_>,
        object: Node<'_>,
        property: Node<'_>,
        value: Node<'_>,
    ) {
        let (of, name) = (self.w.text(object), self.w.text(property));
        let is_function = self.is_function(value);
        match of {
            "module" if name == "exports" => self.export_all(node, value),
            "exports" | "module.exports" => {
                let word = self.w.s.word(name);
                let term = if is_function {
                    let def =
                        self.w.s.define(DefKind::Function, word, property, node, Flags::EXPORTED);
                    self.roles.insert(value.id(), Role::Function(def));
                    self.w.s.term(Term::Def(def))
                } else {
                    self.term(value)
                };
                self.w.s.exports.push(Export::Local { name: word, term });
            }
            _ if is_function => {
                let class = of.strip_suffix(".prototype").unwrap_or(of);
                if class.contains(['.', '(']) {
                    return;
                }
                let word = self.w.s.word(name);
                let flags = Flags::default().when(class == of, Flags::STATIC);
                let def = self.w.s.define(DefKind::Method, word, property, node, flags);
                let owner = self.w.s.free(class);
                self.w.s.def(def).owner = Some(owner);
                self.roles.insert(value.id(), Role::Function(def));
            }
            _ => {}
        }
    }

    fn export_all(&mut self, node: Node<'_>, value: Node<'_>) {
        if self.w.kind(value) != K::Object {
            return self.default_value(node, value);
        }
        for it in children(value) {
            let (name, term) = match self.w.kind(it) {
                K::ShorthandProperty => {
                    let text = self.w.text(it);
                    (text, self.w.s.free(text))
                }
                K::Pair => match (self.w.field(it, F::Key), self.w.field(it, F::Value)) {
                    (Some(key), Some(value)) => {
                        let text = unquoted(self.w.text(key));
                        if self.is_function(value) {
                            let word = self.w.s.word(text);
                            let def =
                                self.w.s.define(DefKind::Function, word, key, it, Flags::EXPORTED);
                            self.roles.insert(value.id(), Role::Function(def));
                            (text, self.w.s.term(Term::Def(def)))
                        } else {
                            (text, self.term(value))
                        }
                    }
                    _ => continue,
                },
                _ => continue,
            };
            let name = self.w.s.word(name);
            self.w.s.exports.push(Export::Local { name, term });
        }
    }
}
