//! What only C and C++ have: declarators, headers, namespaces, members that stand outside their types.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{MAX_TERM, Steps, children};
use super::{Plain, field};
use crate::facts::{DefKind, Flags, Import, ImportKind, RefKind, Term, TermId};
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
        let text: Vec<&str> = parts.iter().map(|it| self.s.text(*it)).collect();
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

    /// `namespace a::b { … }`. What has no name is seen in its file only, what is inline is not told
    /// apart from what is around it.
    fn namespace(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
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
    fn namespace_alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(of)) = (field(node, "name"), children(node).last()) else { return };
        let local = self.s.text(name);
        let of: Vec<&str> = leaves(of).iter().map(|it| self.s.text(*it)).collect();
        self.import_space(ImportKind::Module, &of, "*", Some(local), node);
    }

    /// `using a::f;` and `using namespace a;`
    fn using_name(&mut self, node: Node<'_>) {
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
        let (module, item) = (self.s.word(&module), self.s.word(item));
        let name = local.map_or(item, |it| self.s.word(it));
        let import = index(self.s.imports.len());
        let line = index(node.start_position().row);
        self.s.imports.push(Import {
            kind,
            module,
            item,
            local: name,
            within,
            public: false,
            line,
        });
        if local.is_some() {
            self.s.bind(name, Bound::Import(import));
        }
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

    /// The type of `Type::name`, where a name is qualified, and the name.
    pub(super) fn owner<'t>(&mut self, name: Node<'t>) -> (Option<TermId>, Node<'t>) {
        let (mut of, mut name, mut left) = (None, name, MAX_TERM);
        while name.kind() == "qualified_identifier" {
            if let Some(scope) = field(name, "scope") {
                left = left.saturating_sub(1);
                of = Some(if left > 0 { self.scoped(of, scope) } else { Sketch::UNKNOWN });
            }
            match field(name, "name") {
                Some(it) => name = it,
                None => break,
            }
        }
        (of, name)
    }

    /// One step of a qualified name.
    fn scoped(&mut self, of: Option<TermId>, scope: Node<'_>) -> TermId {
        let scope = match scope.kind() {
            "template_type" | "template_function" => field(scope, "name").unwrap_or(scope),
            "dependent_name" | "decltype" => return Sketch::UNKNOWN,
            _ => scope,
        };
        let text = self.s.text(scope);
        match of {
            Some(of) => self.s.member(of, text),
            None => self.s.free(text),
        }
    }

    /// `a::b::c` as a term: of the standard library by its last name, everything else step by step.
    pub(super) fn qualified(&mut self, node: Node<'_>) -> TermId {
        let is_absolute = field(node, "scope").is_none();
        let (of, last) = self.owner(node);
        let head = match last.kind() {
            "template_type" | "template_function" | "template_method" => field(last, "name"),
            "identifier" | "type_identifier" | "field_identifier" | "operator_name"
            | "destructor_name" => Some(last),
            _ => None,
        };
        let Some(head) = head else { return Sketch::UNKNOWN };
        let text = self.s.text(head);
        let is_standard = self.s.text(node).trim_start_matches(':').starts_with("std::");
        let name = match of {
            Some(_) if is_standard => {
                let word = self.s.word(text);
                self.s.term(Term::Literal(word))
            }
            Some(of) => self.s.member(of, text),
            None if is_absolute => {
                let word = self.s.word(text);
                self.s.term(Term::Name(word))
            }
            None => self.s.free(text),
        };
        match last.kind() {
            "template_type" => self.with_arguments(name, last),
            _ => name,
        }
    }

    pub(super) fn with_arguments(&mut self, of: TermId, node: Node<'_>) -> TermId {
        let mut items = vec![of];
        for it in field(node, "arguments").into_iter().flat_map(children).take(4) {
            items.push(self.type_term(it));
        }
        let list = self.s.list(&items);
        self.s.term(Term::Args(list))
    }

    /// A qualified name that nobody calls.
    fn mention_qualified(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if self.spoken != Some(node.id()) {
            let (_, last) = self.owner(node);
            let kind = match last.kind() {
                "type_identifier" | "template_type" => Some(RefKind::Type),
                "identifier" => Some(RefKind::Use),
                _ => None,
            };
            if let Some(kind) = kind {
                let term = self.qualified(node);
                self.s.refer(kind, term, last, 0);
            }
        }
        // What a template is given may be named nowhere else.
        if node.named_child_count() > 1 && self.descend(cursor) {
            while cursor.goto_next_sibling() {}
            if matches!(cursor.node().kind(), "template_type" | "template_function")
                && self.descend(cursor)
            {
                while cursor.goto_next_sibling() {}
                self.visit(cursor);
                self.ascend(cursor);
            }
            self.ascend(cursor);
        }
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

    /// Expressions that only C and C++ have, or read in their own way.
    pub(super) fn c_term(&mut self, node: Node<'_>, left: u32) -> Option<TermId> {
        let text = self.s.text(node);
        Some(match node.kind() {
            "qualified_identifier" => self.qualified(node),
            "template_function" => {
                field(node, "name").map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            "field_expression" => {
                let (of, name) = (field(node, "argument")?, field(node, "field")?);
                let is_arrow = field(node, "operator").is_some_and(|it| it.kind() == "->");
                let through = is_arrow && of.kind() != "this";
                let mut of = self.term_within(of, left);
                if through {
                    of = self.s.term(Term::Await(of));
                }
                let name = self.s.text(field(name, "name").unwrap_or(name));
                self.s.member(of, name)
            }
            "pointer_expression" if text.starts_with('*') => {
                let of = self.term_within(field(node, "argument")?, left);
                self.s.term(Term::Await(of))
            }
            "call_expression" => {
                return field(node, "function").and_then(|it| self.plain_to_see(it, node));
            }
            "true" | "false" => self.s.literal("bool"),
            "char_literal" => self.s.literal("char"),
            "number_literal" if text.contains('.') => self.s.literal("double"),
            _ => return None,
        })
    }

    /// `static_cast<T*>(x)`, `std::make_unique<T>(…)`, `std::move(x)`: what they give is plain to see.
    fn plain_to_see(&mut self, callee: Node<'_>, call: Node<'_>) -> Option<TermId> {
        let text = self.s.text(callee);
        let name = text.split('<').next()?.trim_start_matches(':');
        match name {
            "static_cast" | "dynamic_cast" | "reinterpret_cast" | "const_cast"
            | "std::make_unique" | "std::make_shared" | "make_unique" | "make_shared" => {
                let (_, last) = self.owner(callee);
                let of = field(last, "arguments").and_then(|it| it.named_child(0))?;
                Some(self.type_term(of))
            }
            "std::move" | "std::forward" | "std::ref" | "std::cref" => {
                let of = field(call, "arguments").and_then(|it| it.named_child(0))?;
                Some(self.term(of))
            }
            _ => None,
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
