//! Types, members and variables of the five.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{Plain, field};
use crate::facts::{DefKind, Flags, Term, TermId};
use crate::lang::Lang;
use crate::sketch::{Bound, ScopeKind, Sketch};

impl Plain<'_, '_> {
    pub(super) fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>, kind: DefKind) {
        let Some(name) = field(node, "name") else { return self.inside(cursor) };
        let word = match name.kind() {
            "scope_resolution" | "qualified_identifier" => {
                let last = children(name).last().unwrap_or(name);
                self.s.word_of(last)
            }
            _ => self.s.word_of(name),
        };
        let def = self.s.define(kind, word, name, node, self.seen());
        self.s.bind(word, Bound::Def(def));
        self.s.set_body(def, field(node, "body"));
        self.spoken = Some(name.id());
        let outside = self.outside.take();
        self.s.open(def);
        self.s.enter(ScopeKind::Members(def));
        self.template_names(node, def);
        self.bases(node, def);
        self.inside(cursor);
        self.outside = outside;
        self.s.leave();
        self.s.close();
    }

    pub(super) fn bases(&mut self, node: Node<'_>, def: u32) {
        for clause in children(node) {
            let implements = match clause.kind() {
                "base_class_clause" | "base_list" | "superclass" | "base_clause" => false,
                "class_interface_clause" => true,
                _ => continue,
            };
            for it in children(clause) {
                if matches!(it.kind(), "access_specifier" | "argument_list" | "virtual") {
                    continue;
                }
                let term = self.type_name(it);
                self.s.add_base(def, term, implements);
            }
        }
    }

    /// A member of the type around, or a value of the file.
    pub(super) fn member(
        &mut self,
        node: Node<'_>,
        name: Option<Node<'_>>,
        declared: Option<TermId>,
    ) {
        let Some(name) = name else { return };
        let text = self.s.text(name).trim_start_matches(['$', '@']);
        let word = self.s.word(text);
        let kind = if self.s.class().is_some() { DefKind::Field } else { DefKind::Variable };
        let is_private =
            kind == DefKind::Variable && self.is_c() && (self.n_hidden > 0 || self.is_static(node));
        let flags = Flags::default().when(is_private, Flags::PRIVATE);
        let def = self.s.define(kind, word, name, node, flags);
        self.s.def(def).declared = declared.filter(|it| *it != Sketch::UNKNOWN);
        self.spoken = Some(name.id());
        if kind == DefKind::Variable {
            self.s.bind(word, Bound::Def(def));
        }
    }

    /// C#'s `Type a = …, b;`, local or a field.
    pub(super) fn variables(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared =
            field(node, "type").map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
        let is_inside = self.s.is_inside_function();
        for it in children(node).filter(|it| it.kind() == "variable_declarator") {
            let Some(name) = field(it, "name") else { continue };
            if is_inside {
                let value = children(it).last().filter(|it| it.id() != name.id());
                let made = value.map(|it| self.term(it));
                let word = self.s.word_of(name);
                self.s.bind_local(word, declared, made);
            } else {
                self.member(node, Some(name), declared);
            }
        }
        self.inside(cursor);
    }

    pub(super) fn property(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared = field(node, "type").map(|it| self.type_term(it));
        let elements: Vec<Node<'_>> =
            children(node).filter(|it| it.kind() == "property_element").collect();
        match field(node, "name") {
            Some(name) => self.member(node, Some(name), declared),
            None => elements.iter().for_each(|it| self.member(node, field(*it, "name"), declared)),
        }
        self.inside(cursor);
    }

    pub(super) fn assignment(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (left, right) = (field(node, "left"), field(node, "right"));
        if let (Some(left), Some(right)) = (left, right) {
            let made = self.term(right);
            let text = self.s.text(left);
            match (left.kind(), self.s.class()) {
                ("instance_variable", Some(class)) => {
                    let word = self.s.word(text.trim_start_matches('@'));
                    self.s.assign(class, word, made, left, node);
                }
                ("member_access_expression", Some(class)) if text.starts_with("$this->") => {
                    if let Some(name) = field(left, "name") {
                        let word = self.s.word_of(name);
                        self.s.assign(class, word, made, name, node);
                    }
                }
                ("identifier" | "variable_name", _)
                    if matches!(self.s.lang, Lang::Ruby | Lang::Php) =>
                {
                    let word = self.s.word(text.trim_start_matches('$'));
                    self.s.rebind(word, None, made);
                    self.spoken = Some(left.id());
                }
                _ => {}
            }
        }
        self.inside(cursor);
    }

    pub(super) fn bind_each(&mut self, node: Node<'_>) {
        let (left, right) = (field(node, "left"), field(node, "right"));
        let (Some(left), Some(right)) = (left, right) else { return };
        let of = self.term(right);
        let element = self.s.term(Term::Element(of));
        let declared = field(node, "type").map(|it| self.type_term(it));
        let word = self.s.word_of(left);
        self.s.bind_local(word, declared, Some(element));
    }
}
