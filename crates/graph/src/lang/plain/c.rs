//! What only C and C++ have: declarators, headers, namespaces, members that stand outside their types.

mod name;
mod space;

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{Plain, field};
use crate::facts::{DefKind, Flags, RefKind, Term, TermId};
use crate::sketch::{Bound, ScopeKind, Sketch, index};

/// Before the name of a namespace that an import speaks of: no path begins like this.
pub(crate) const NAMESPACE: &str = "::";

/// Between the namespaces around an import and the one it names.
pub(crate) const SEEN_FROM: char = '|';

/// Macros of test frameworks that define a test case, and whether they name the class it is part of.
const TESTS: &[(&str, bool)] = &[
    ("TEST", false),
    ("TEST_F", true),
    ("TEST_P", true),
    ("TYPED_TEST", true),
    ("TYPED_TEST_P", true),
    ("BOOST_AUTO_TEST_CASE", false),
];

impl Plain<'_, '_> {
    /// What only C and C++ have; says whether it was that.
    pub(super) fn visit_c(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        node: Node<'_>,
        kind: &str,
    ) -> bool {
        match kind {
            "preproc_include" => self.include(node),
            "namespace_definition" => self.namespace(cursor, node),
            "namespace_alias_definition" => self.namespace_alias(node),
            "using_declaration" => self.using_name(node),
            "alias_declaration" | "type_definition" => self.alias(cursor, node),
            "declaration" | "field_declaration" => self.declaration(cursor, node),
            "qualified_identifier" => self.mention_qualified(cursor, node),
            "function_definition" => return self.test_case(cursor, node),
            "compound_statement" | "for_statement" | "catch_clause" => self.block(cursor),
            "for_range_loop" | "lambda_expression" => {
                self.s.enter(ScopeKind::Block);
                if kind == "for_range_loop" {
                    self.bind_range(node);
                } else {
                    self.parameters(node, field(node, "declarator"));
                }
                self.inside(cursor);
                self.s.leave();
            }
            _ => return false,
        }
        true
    }

    /// `TEST_F(StoreTest, KeepsOrder) { … }`; says whether it was one.
    fn test_case(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) -> bool {
        let declarator = field(node, "declarator").filter(|it| it.kind() == "function_declarator");
        let named = declarator.and_then(|it| field(it, "declarator")).map(|it| self.s.text(it));
        let Some((_, of_class)) = TESTS.iter().find(|it| Some(it.0) == named) else { return false };
        let parts = declarator.and_then(|it| field(it, "parameters"));
        let parts: Vec<Node<'_>> = parts.into_iter().flat_map(children).collect();
        let Some(name) = parts.last().filter(|_| field(node, "type").is_none()) else {
            return false;
        };
        let owner = parts.first().filter(|_| *of_class).map(|it| {
            let text = self.s.text(*it);
            self.s.free(text)
        });
        // One that has a class for its owner bears its name already.
        let named = parts.iter().skip(usize::from(owner.is_some()));
        let text: Vec<&str> = named.map(|it| self.s.text(*it)).collect();
        let word = self.s.word(&text.join("."));
        let def = self.s.define(DefKind::Test, word, *name, node, Flags::TEST);
        self.s.set_body(def, field(node, "body"));
        let outside = std::mem::replace(&mut self.outside, owner.map(|it| (def, it)));
        self.s.def(def).owner = owner;
        self.s.open(def);
        self.s.enter(ScopeKind::Members(def));
        self.s.enter_function();
        self.last_only(cursor);
        self.s.leave_function();
        self.s.leave();
        self.s.close();
        self.outside = outside;
        true
    }

    /// `using Short = a::Long;`, `typedef struct long short;`
    fn alias(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let name = match field(node, "name") {
            Some(it) => Some(it),
            None => field(node, "declarator").and_then(|it| heart(it).0),
        };
        let name = name.filter(|it| it.kind() == "type_identifier");
        let Some(name) = name.filter(|_| !self.s.is_inside_function()) else {
            return self.inside(cursor);
        };
        let of = field(node, "type");
        // `typedef struct list { … } list;` is one type with one name.
        let is_same = of.and_then(|it| field(it, "name")).map(|it| self.s.text(it))
            == Some(self.s.text(name));
        if !is_same {
            let word = self.s.word_of(name);
            let def = self.s.define(DefKind::TypeAlias, word, name, node, self.seen());
            self.s.bind(word, Bound::Def(def));
            let declared = of.map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
            self.s.def(def).declared = declared;
        }
        self.spoken = Some(name.id());
        self.inside(cursor);
    }

    /// Whether others can see what is defined here.
    pub(super) fn seen(&self) -> Flags {
        if self.n_hidden > 0 { Flags::PRIVATE } else { Flags::EXPORTED }
    }

    /// The names of a template before what it is a template of.
    pub(super) fn template_names(&mut self, node: Node<'_>, def: u32) {
        let Some(template) = node.parent().filter(|it| it.kind() == "template_declaration") else {
            return;
        };
        let start = index(self.s.locals.len());
        for it in field(template, "parameters").into_iter().flat_map(children) {
            let local = self.s.local(None, None);
            let name = match it.kind() {
                "type_parameter_declaration" | "variadic_type_parameter_declaration" => {
                    it.named_child(0)
                }
                "optional_type_parameter_declaration" => field(it, "name"),
                _ => None,
            };
            if let Some(name) = name {
                let word = self.s.word_of(name);
                self.s.bind(word, Bound::Type(local));
            }
        }
        self.s.def(def).generics = (start, index(self.s.locals.len()));
    }

    /// A declaration: of functions, fields or variables.
    fn declaration(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let of = field(node, "type");
        let declared = of.map(|it| self.type_term(it));
        let is_inside = self.s.is_inside_function();
        let mut walk = node.walk();
        let declarators: Vec<Node<'_>> =
            node.children_by_field_name("declarator", &mut walk).collect();
        for it in declarators {
            let (name, is_function) = heart(it);
            let Some(name) = name.filter(|it| it.kind() != "qualified_identifier") else {
                continue;
            };
            let word = self.s.word_of(name);
            if is_inside {
                let value = field(it, "value");
                self.makes(of, it, value);
                let made = value.map(|it| self.term(it));
                self.s.bind_local(word, declared, made);
            } else if is_function {
                self.announce(node, it, name, declared);
            } else {
                self.member(node, Some(name), declared);
            }
        }
        self.inside(cursor);
    }

    /// A function without a body.
    fn announce(
        &mut self,
        node: Node<'_>,
        declarator: Node<'_>,
        name: Node<'_>,
        declared: Option<TermId>,
    ) {
        let class = self.s.class();
        let kind = if class.is_some() { DefKind::Method } else { DefKind::Function };
        let word = self.s.word_of(name);
        let is_maker = class.is_some_and(|it| self.s.def(it).name == word);
        let flags = Flags::DECLARATION
            .when(class.is_none() && (self.n_hidden > 0 || self.is_static(node)), Flags::PRIVATE)
            .when(is_maker, Flags::CONSTRUCTOR)
            .when(class.is_some() && self.is_static(node), Flags::STATIC);
        let def = self.s.define(kind, word, name, node, flags);
        self.spoken = Some(name.id());
        self.s.enter(ScopeKind::Block);
        self.template_names(node, def);
        let (takes, params) = self.parameters(node, Some(declarator));
        self.s.leave();
        let it = self.s.def(def);
        (it.takes, it.params) = (takes, params);
        it.declared = declared.filter(|it| *it != Sketch::UNKNOWN);
    }

    pub(super) fn is_static(&self, node: Node<'_>) -> bool {
        children(node)
            .any(|it| it.kind() == "storage_class_specifier" && self.s.text(it) == "static")
    }

    /// `Type name;`, `Type name(…)` and `Type name{…}` make an object.
    fn makes(&mut self, of: Option<Node<'_>>, declarator: Node<'_>, value: Option<Node<'_>>) {
        let is_made = match declarator.kind() {
            "identifier" => true,
            "init_declarator" => {
                let inner = field(declarator, "declarator").map(|it| it.kind());
                let value = value.map(|it| it.kind());
                inner == Some("identifier")
                    && matches!(value, Some("argument_list" | "initializer_list"))
            }
            _ => false,
        };
        let named = of.filter(|it| {
            matches!(it.kind(), "type_identifier" | "qualified_identifier" | "template_type")
        });
        if let Some(of) = named.filter(|_| is_made && self.s.lang == crate::Lang::Cpp) {
            let term = self.type_name(of);
            let n_args = value.map_or(0, |it| children(it).count());
            self.s.refer(RefKind::New, term, of, u8::try_from(n_args).unwrap_or(255));
        }
    }

    /// `for (auto& it : all)`
    fn bind_range(&mut self, node: Node<'_>) {
        let (Some(name), Some(of)) =
            (field(node, "declarator").and_then(|it| heart(it).0), field(node, "right"))
        else {
            return;
        };
        let of = self.term(of);
        let element = self.s.term(Term::Element(of));
        let declared = field(node, "type").map(|it| self.type_term(it));
        let word = self.s.word_of(name);
        self.s.bind_local(word, declared, Some(element));
    }
}

/// The name at the heart of a declarator, and whether it is one of a function.
pub(super) fn heart(mut node: Node<'_>) -> (Option<Node<'_>>, bool) {
    let mut is_function = false;
    for _ in 0..16 {
        // `int (*f)(void)` is a variable.
        is_function |= node.kind() == "function_declarator"
            && field(node, "declarator").is_none_or(|it| it.kind() != "parenthesized_declarator");
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "type_identifier" => return (Some(node), is_function),
            _ => {}
        }
        let inner = field(node, "declarator");
        let Some(inner) = inner.or_else(|| {
            children(node).find(|it| it.kind().contains("declarator") || it.kind() == "identifier")
        }) else {
            break;
        };
        node = inner;
    }
    (None, is_function)
}
