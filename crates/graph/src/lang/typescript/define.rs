//! Definitions of TypeScript: functions, classes, types, variables, and the names of parameters.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children, unquoted};
use super::{F, K, Role, Script};
use crate::facts::{DefKind, Flags, TermId, Word};
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch};

impl Script<'_, '_> {
    pub(super) fn flags(&mut self) -> Flags {
        Flags::default().when(std::mem::take(&mut self.exporting), Flags::EXPORTED)
    }

    /// Binds a definition where it stands.
    pub(super) fn bind_def(&mut self, name: Word, def: u32) {
        self.w.s.bind(name, Bound::Def(def));
    }

    pub(super) fn function_declaration(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let is_signature = self.w.kind(node) == K::FunctionSignature;
        let flags = self.flags().when(is_signature, Flags::ABSTRACT);
        // Overloads are one function, and the first signature stands for it.
        let parent = self.w.s.around();
        let known = self.w.s.defs.iter().rposition(|it| {
            it.kind == DefKind::Function
                && it.name == word
                && it.parent == parent
                && it.flags.has(Flags::ABSTRACT)
        });
        let def = if let Some(it) = known {
            let end = (node.end_byte(), node.end_position().row);
            let def = &mut self.w.s.defs[it];
            (def.bytes.2, def.lines.1) = (crate::sketch::index(end.0), crate::sketch::index(end.1));
            def.takes = (0, ANY_NUMBER);
            if !is_signature {
                def.flags.0 &= !Flags::ABSTRACT.0;
            }
            crate::sketch::index(it)
        } else {
            let def = self.w.s.define(DefKind::Function, word, name, node, flags);
            self.bind_def(word, def);
            def
        };
        self.function(cursor, node, Some(def));
    }

    /// A function without a name of its own: the value of a definition, or part of what is around.
    pub(super) fn function_value(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let def = match self.roles.remove(&node.id()) {
            Some(Role::Function(def)) => Some(def),
            _ => None,
        };
        self.function(cursor, node, def);
    }

    /// Walks through a function; `def` is what it defines.
    pub(super) fn function(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        node: Node<'_>,
        def: Option<u32>,
    ) {
        let context = self.contexts.remove(&node.id());
        self.w.s.enter_function();
        if let Some(def) = def {
            self.w.s.open(def);
        }
        let generics = self.generics(node);
        let takes = self.parameters(node, context);
        let body = self.w.field(node, F::Body);
        if let Some(body) = body.filter(|it| self.w.kind(*it) != K::Block) {
            let term = self.term(body);
            self.w.s.add_return(term);
        }
        let declared = self.w.field(node, F::ReturnType).map(|it| self.type_term(it));
        self.inside(cursor);
        let made = self.w.s.leave_function();
        if let Some(def) = def {
            self.w.s.close();
            self.w.s.set_body(def, body);
            let def = self.w.s.def(def);
            if def.declared.is_none() {
                def.declared = declared.filter(|it| *it != Sketch::UNKNOWN);
                def.generics = generics;
                def.takes = takes;
            }
            def.made = def.made.or(Some(made)).filter(|it| *it != Sketch::UNKNOWN);
        }
    }

    pub(super) fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let role = self.roles.remove(&node.id());
        let name = self.w.field(node, F::Name);
        let def = match (role, name) {
            (Some(Role::Class(def)), _) => def,
            (_, Some(name)) => {
                let word = self.w.s.word_of(name);
                let flags = self.flags();
                let def = self.w.s.define(DefKind::Class, word, name, node, flags);
                self.bind_def(word, def);
                def
            }
            (_, None) => {
                let word = self.w.s.word("default");
                let flags = self.flags();
                self.w.s.define(DefKind::Class, word, node, node, flags)
            }
        };
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.w.s.enter(ScopeKind::Block);
        let generics = self.generics(node);
        self.w.s.def(def).generics = generics;
        let grammar = self.w.grammar;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Heritage) {
            self.heritage(def, it);
        }
        self.w.s.open(def);
        self.members(cursor);
        self.w.s.close();
        self.w.s.leave();
    }

    fn heritage(&mut self, def: u32, node: Node<'_>) {
        for clause in children(node) {
            match self.w.kind(clause) {
                K::Extends => {
                    let Some(value) = self.w.field(clause, F::Value) else { continue };
                    let term = self.term(value);
                    let term = self.with_arguments(term, self.w.field(clause, F::TypeArguments));
                    self.w.s.add_base(def, term, false);
                }
                K::Implements => {
                    for it in children(clause) {
                        let term = self.type_name(it);
                        self.w.s.add_base(def, term, true);
                    }
                }
                // JavaScript has no clause around it.
                K::Identifier | K::MemberAccess | K::Call => {
                    let term = self.term(clause);
                    self.w.s.add_base(def, term, false);
                }
                _ => {}
            }
        }
    }

    /// Visits the parts of a type; what stands directly in its body is a member.
    pub(super) fn members(&mut self, cursor: &mut TreeCursor<'_>) {
        if !self.w.descend(cursor) {
            return;
        }
        loop {
            let node = cursor.node();
            match self.w.kind(node) {
                K::ClassBody | K::ObjectType => self.members(cursor),
                _ if self.w.grammar.is_field(cursor.field_id().map(u16::from), F::Body) => {
                    self.members(cursor);
                }
                K::MethodDefinition | K::AbstractMethod | K::MethodSignature => {
                    self.method(cursor, node);
                }
                K::FieldDefinition | K::JsField | K::PropertySignature => {
                    self.property(cursor, node);
                }
                _ => self.visit(cursor),
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.w.ascend(cursor);
    }

    fn method(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word(unquoted(self.w.text(name)));
        let mut flags =
            Flags::default().when(self.w.kind(node) != K::MethodDefinition, Flags::ABSTRACT);
        let mut words = node.walk();
        for it in node.children(&mut words) {
            flags = match self.w.kind(it) {
                K::StaticWord => flags.with(Flags::STATIC),
                K::GetWord => flags.with(Flags::GETTER),
                _ => flags,
            };
        }
        flags = flags.when(self.w.text(name) == "constructor", Flags::CONSTRUCTOR);
        let parent = self.w.s.around();
        let overload = self.w.s.defs.iter().rposition(|it| {
            it.kind == DefKind::Method
                && it.name == word
                && it.parent == parent
                && it.flags.has(Flags::ABSTRACT)
        });
        let def = match overload {
            Some(it) if !flags.has(Flags::GETTER) => {
                self.w.s.defs[it].takes = (0, ANY_NUMBER);
                crate::sketch::index(it)
            }
            _ => self.w.s.define(DefKind::Method, word, name, node, flags),
        };
        self.function(cursor, node, Some(def));
    }

    fn property(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let name = self.w.field(node, F::Name).or_else(|| self.w.field(node, F::Property));
        let Some(name) = name else { return self.inside(cursor) };
        let value = self.w.field(node, F::Value).map(|it| self.unwrap(it));
        self.member_value(cursor, node, name, value);
    }

    /// A property with its value: a function makes it a method.
    fn member_value(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        node: Node<'_>,
        name: Node<'_>,
        value: Option<Node<'_>>,
    ) {
        let word = self.w.s.word(unquoted(self.w.text(name)));
        let is_function = value.is_some_and(|it| self.is_function(it));
        let kind = if is_function { DefKind::Method } else { DefKind::Field };
        let mut words = node.walk();
        let is_static = node.children(&mut words).any(|it| self.w.kind(it) == K::StaticWord);
        let flags = Flags::default().when(is_static, Flags::STATIC);
        let def = self.w.s.define(kind, word, name, node, flags);
        match value {
            Some(value) if is_function => {
                self.roles.insert(value.id(), Role::Function(def));
            }
            _ => {
                let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
                let made = value.map(|it| self.term(it));
                if let Some(value) = value.filter(|it| self.w.kind(*it) == K::Object) {
                    self.roles.insert(value.id(), Role::Object(def));
                }
                let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
                let def = self.w.s.def(def);
                (def.declared, def.made) = (some(declared), some(made));
            }
        }
        // A field's initial value runs with its class.
        if is_function {
            self.inside(cursor);
        } else {
            self.w.s.open(def);
            self.inside(cursor);
            self.w.s.close();
        }
    }

    /// The properties of an object that is the value of a definition.
    pub(super) fn object_members(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(Role::Object(owner)) = self.roles.remove(&node.id()) else {
            return self.inside(cursor);
        };
        self.w.s.open(owner);
        if self.w.descend(cursor) {
            loop {
                let node = cursor.node();
                match (self.w.kind(node), self.w.field(node, F::Key)) {
                    (K::MethodDefinition, _) => self.method(cursor, node),
                    (K::Pair, Some(key)) => {
                        let value = self.w.field(node, F::Value).map(|it| self.unwrap(it));
                        self.member_value(cursor, node, key, value);
                    }
                    _ => self.visit(cursor),
                }
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
            self.w.ascend(cursor);
        }
        self.w.s.close();
    }
}
