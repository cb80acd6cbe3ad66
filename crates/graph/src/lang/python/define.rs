//! Python: functions, classes, what decorates them.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, K, Python};
use crate::facts::{DefKind, Flags, TermId};
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

impl Python<'_, '_> {
    pub(super) fn decorated(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (mut flags, mut is_static, mut of_class) = (Flags::default(), false, false);
        let grammar = self.w.grammar;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Decorator) {
            let Some(name) = it.named_child(0) else { continue };
            match self.w.text(name).rsplit('.').next().unwrap_or_default() {
                "property" | "cached_property" | "getter" => flags = flags.with(Flags::GETTER),
                "staticmethod" => is_static = true,
                "classmethod" => of_class = true,
                "abstractmethod" => flags = flags.with(Flags::ABSTRACT),
                _ => {}
            }
            if matches!(self.w.kind(name), K::Identifier | K::Attribute) {
                self.refer_to(name, ANY_NUMBER);
            }
        }
        let start = (index(node.start_byte()), index(node.start_position().row));
        self.decorated = Some((flags, is_static, of_class, start.0, start.1));
        self.inside(cursor);
        self.decorated = None;
    }

    pub(super) fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let decorated = self.decorated.take();
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let class = self.w.s.around().filter(|it| self.w.s.defs[*it as usize].kind.is_type());
        let text = self.w.text(name);
        let kind = if class.is_some() { DefKind::Method } else { DefKind::Function };
        let flags = decorated.map_or(Flags::default(), |it| it.0);
        let is_test = self.w.s.is_test && text.starts_with("test");
        let flags = flags.when(is_test, Flags::TEST).when(text == "__init__", Flags::CONSTRUCTOR);
        let def = self.w.s.define(
            kind,
            word,
            name,
            node,
            flags.when(!text.starts_with('_'), Flags::EXPORTED),
        );
        if let Some((_, _, _, byte, line)) = decorated {
            let it = self.w.s.def(def);
            (it.bytes.0, it.lines.0) = (byte, line);
        }
        self.w.s.bind_wide(word, Bound::Def(def));
        self.w.s.open(def);
        self.w.s.enter_function();
        let is_bound = class.is_some() && !decorated.is_some_and(|it| it.1);
        let own = class.filter(|_| is_bound).map(|class| {
            let of_class = decorated.is_some_and(|it| it.2)
                || text == "__new__"
                || text == "__init_subclass__";
            let term = if of_class {
                crate::facts::Term::Def(class)
            } else {
                crate::facts::Term::This(class)
            };
            self.w.s.term(term)
        });
        let takes = self.parameters(node, own);
        let declared = self.w.field(node, F::ReturnType).map(|it| self.type_term(it));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.inside(cursor);
        if takes.1 {
            self.selfs.pop();
        }
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.declared, it.made) = (takes.0, some(declared), some(Some(made)));
    }

    /// Binds parameters; says how many arguments are taken, and whether one stands for the object.
    pub(super) fn parameters(&mut self, node: Node<'_>, own: Option<TermId>) -> ((u8, u8), bool) {
        let (mut least, mut most, mut has_self) = (0_u8, 0_u8, false);
        let list = self.w.field(node, F::Parameters);
        for (i, it) in list.into_iter().flat_map(children).enumerate() {
            let kind = self.w.kind(it);
            let name = match kind {
                K::Identifier => Some(it),
                K::TypedParameter | K::ListSplat | K::DictSplat => it.named_child(0),
                K::TypedDefault | K::Default => self.w.field(it, F::Name),
                _ => None,
            };
            let Some(name) = name else { continue };
            let is_splat = |it: K| matches!(it, K::ListSplat | K::DictSplat);
            let is_many = is_splat(kind) || is_splat(self.w.kind(name));
            let name = if is_splat(self.w.kind(name)) {
                name.named_child(0).unwrap_or(name)
            } else {
                name
            };
            if i == 0
                && let Some(own) = own
            {
                self.selfs.push((self.w.text(name), own));
                has_self = true;
                let word = self.w.s.word_of(name);
                self.w.s.bind_local(word, Some(own), None);
                continue;
            }
            let declared =
                self.w.field(it, F::Type).filter(|_| !is_many).map(|it| self.type_term(it));
            let default = self.w.field(it, F::Value);
            let made = default.map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            self.w.s.bind_local(word, declared, made);
            most = if is_many { ANY_NUMBER } else { most.saturating_add(1) };
            least += u8::from(default.is_none() && !is_many && least < 250);
        }
        ((least, most), has_self)
    }

    pub(super) fn lambda(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        self.w.s.enter_function();
        self.parameters(node, None);
        self.inside(cursor);
        self.w.s.leave_function();
    }

    pub(super) fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let decorated = self.decorated.take();
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = Flags::default().when(!self.w.text(name).starts_with('_'), Flags::EXPORTED);
        // A class that only promises is what others call an interface.
        let bases = self.w.field(node, F::Superclasses);
        let is_promise = bases.into_iter().flat_map(children).any(|it| {
            let name = self.w.text(it).rsplit(['.', '=']).next().unwrap_or_default();
            matches!(name.split('[').next(), Some("ABC" | "Protocol" | "ABCMeta"))
        });
        let kind = if is_promise { DefKind::Interface } else { DefKind::Class };
        let def = self.w.s.define(kind, word, name, node, flags);
        if let Some((_, _, _, byte, line)) = decorated {
            let it = self.w.s.def(def);
            (it.bytes.0, it.lines.0) = (byte, line);
        }
        self.w.s.bind_wide(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        for it in self.w.field(node, F::Superclasses).into_iter().flat_map(children) {
            let term = match self.w.kind(it) {
                K::Identifier | K::Attribute => self.term(it),
                K::Subscript => {
                    self.w.field(it, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it))
                }
                _ => continue,
            };
            self.w.s.add_base(def, term, false);
        }
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Class);
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.close();
    }
}
