//! Functions of the five: whose they are, what they take and return.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::c::heart;
use super::{Plain, field};
use crate::facts::{DefKind, Flags, TermId};
use crate::lang::Lang;
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch};

impl Plain<'_, '_> {
    pub(super) fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declarator = field(node, "declarator");
        let name = match declarator {
            Some(it) => heart(it).0,
            None => field(node, "name"),
        };
        let Some(name) = name else { return self.inside(cursor) };
        // `void Server::run() {}` belongs to `Server`.
        let (owner, name) = self.owner(name);
        let text = self.s.text(name);
        let class = self.s.class();
        let kind =
            if class.is_some() || owner.is_some() { DefKind::Method } else { DefKind::Function };
        let word = self.s.word(text);
        let flags = self.flags(node, text, owner);
        let def = self.s.define(kind, word, name, node, flags);
        self.s.def(def).owner = owner;
        self.spoken = Some(name.id());
        if kind == DefKind::Function {
            self.s.bind(word, Bound::Def(def));
        }
        self.s.open(def);
        let outside = self.outside;
        if let Some(owner) = owner {
            self.s.enter(ScopeKind::Members(def));
            self.outside = Some((def, owner));
        }
        self.s.enter_function();
        self.template_names(node, def);
        let (takes, params) = self.parameters(node, declarator);
        let declared = ["type", "returns", "return_type"]
            .iter()
            .find_map(|it| field(node, it))
            .map(|it| self.type_term(it));
        self.s.set_body(def, field(node, "body"));
        self.inside(cursor);
        self.s.leave_function();
        if owner.is_some() {
            self.s.leave();
        }
        self.outside = outside;
        self.s.close();
        let it = self.s.def(def);
        (it.takes, it.params) = (takes, params);
        it.declared = declared.filter(|it| *it != Sketch::UNKNOWN);
    }

    fn flags(&mut self, node: Node<'_>, name: &str, owner: Option<TermId>) -> Flags {
        let class = self.s.class();
        let of = match owner {
            Some(owner) => self.s.last_word(owner),
            None => class.filter(|_| self.is_c()).map(|it| self.s.def(it).name),
        };
        let is_constructor = matches!(name, "__construct" | "initialize")
            || node.kind() == "constructor_declaration"
            || of.is_some_and(|it| it == self.s.word(name));
        let is_hidden = match self.s.lang {
            Lang::C | Lang::Cpp => self.n_hidden > 0 || self.is_static(node),
            // Every function is a method; what seems to be none lost its class to a parser.
            Lang::CSharp => true,
            // A method of whatever the block around is run by.
            Lang::Ruby => self.n_blocks > 0,
            _ => false,
        };
        let is_private = is_hidden && class.is_none() && owner.is_none();
        let is_static = node.kind() == "singleton_method"
            || children(node).any(|it| {
                matches!(it.kind(), "static_modifier" | "modifier" | "storage_class_specifier")
                    && self.s.text(it) == "static"
            });
        let is_test = self.s.is_test && (name.starts_with("test") || has_test_mark(self.s, node));
        Flags::default()
            .when(is_constructor, Flags::CONSTRUCTOR)
            .when(is_private, Flags::PRIVATE)
            .when(is_static && class.is_some(), Flags::STATIC)
            .when(is_test, Flags::TEST)
            .when(field(node, "body").is_none() && self.s.lang != Lang::Ruby, Flags::ABSTRACT)
    }

    /// Binds the parameters: how many there are, and what they are where that tells namesakes apart.
    pub(super) fn parameters(
        &mut self,
        node: Node<'_>,
        declarator: Option<Node<'_>>,
    ) -> ((u8, u8), Option<TermId>) {
        let mut at = declarator;
        while let Some(it) = at.filter(|it| !it.kind().ends_with("function_declarator")) {
            at = field(it, "declarator")
                .or_else(|| children(it).find(|it| it.kind().ends_with("_declarator")));
        }
        let list = field(at.unwrap_or(node), "parameters");
        let (mut least, mut most) = (0_u8, 0_u8);
        let mut types = Vec::new();
        // `params T[] rest` of C# has no node of its own.
        let rest = list.filter(|_| self.s.lang == Lang::CSharp).and_then(|it| field(it, "type"));
        let is_rest = |it: Node<'_>| rest.is_some() && it.kind() != "parameter";
        for it in list.into_iter().flat_map(children) {
            if it.kind() == "comment" || self.s.text(it) == "void" || is_rest(it) {
                continue;
            }
            let is_many = matches!(
                it.kind(),
                "variadic_parameter"
                    | "splat_parameter"
                    | "variadic_parameter_declaration"
                    | "block_parameter"
                    | "hash_splat_parameter"
            );
            let is_optional = it.kind().starts_with("optional_")
                || field(it, "default_value").is_some()
                || (!self.is_c() && it.named_child_count() > 2);
            most = if is_many { ANY_NUMBER } else { most.saturating_add(1) };
            least += u8::from(!is_many && !is_optional && least < 250);
            let declared = field(it, "type").map(|it| self.type_term(it));
            types.push(declared.unwrap_or(Sketch::UNKNOWN));
            let name = match field(it, "declarator") {
                Some(it) => heart(it).0,
                None => field(it, "name").or(Some(it).filter(|it| it.kind() == "identifier")),
            };
            let Some(name) = name else { continue };
            let text = self.s.text(name).trim_start_matches('$');
            let word = self.s.word(text);
            self.s.bind_local(word, declared, None);
            if it.kind() == "property_promotion_parameter"
                && let Some(class) = self.s.class()
            {
                self.s.assign(class, word, declared.unwrap_or(Sketch::UNKNOWN), name, it);
            }
        }
        if let Some(rest) = rest {
            let of = field(rest, "type").unwrap_or(rest);
            types.push(self.type_term(of));
            most = ANY_NUMBER;
            let all = self.type_term(rest);
            if let Some(name) = list.and_then(|it| field(it, "name")) {
                let word = self.s.word_of(name);
                self.s.bind_local(word, Some(all), None);
            }
        }
        // `f(...)` in C takes what it is given.
        if list.is_some_and(|it| self.is_c() && self.s.text(it).ends_with("...)")) {
            most = ANY_NUMBER;
        }
        let by_types = self.s.lang.tells_by_types();
        ((least, most), by_types.then(|| self.s.all_of(&types)).flatten())
    }
}

/// `[Test]`, `[Fact]` before a method.
fn has_test_mark(sketch: &Sketch<'_>, node: Node<'_>) -> bool {
    let lists = children(node).filter(|it| it.kind() == "attribute_list");
    lists.flat_map(children).any(|it| {
        let name = field(it, "name").map_or("", |it| sketch.text(it));
        matches!(name, "Test" | "Fact" | "Theory" | "TestMethod" | "TestCase")
    })
}
