//! Go.

mod term;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps, unquoted};
use crate::facts::{DefKind, Flags, Import, ImportKind, RefKind, Term, TermId};
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

names! {
    pub(crate) enum K {
        Comment = "comment", Text = "interpreted_string_literal", RawText = "raw_string_literal", Rune = "rune_literal",
        Int = "int_literal", Float = "float_literal", True = "true", False = "false", Nil = "nil",
        Identifier = "identifier", TypeIdentifier = "type_identifier", Qualified = "qualified_type",
        Import = "import_spec", ImportDeclaration = "import_declaration", ImportList = "import_spec_list",
        Function = "function_declaration", Method = "method_declaration", FuncLiteral = "func_literal",
        TypeSpec = "type_spec", TypeAlias = "type_alias", Struct = "struct_type", Interface = "interface_type",
        FieldDeclaration = "field_declaration", FieldList = "field_declaration_list", MethodElem = "method_elem",
        TypeElem = "type_elem", VarSpec = "var_spec", ConstSpec = "const_spec", VarSpecList = "var_spec_list",
        Parameter = "parameter_declaration", Variadic = "variadic_parameter_declaration", ParameterList = "parameter_list",
        ShortVar = "short_var_declaration", Range = "range_clause", Call = "call_expression", Selector = "selector_expression",
        Composite = "composite_literal", KeyedElement = "keyed_element", LiteralElement = "literal_element",
        Unary = "unary_expression", Binary = "binary_expression",
        Parenthesized = "parenthesized_expression", TypeAssertion = "type_assertion_expression", Index = "index_expression",
        Slice = "slice_expression", TypeInstantiation = "type_instantiation_expression",
        Pointer = "pointer_type", SliceType = "slice_type", ArrayType = "array_type", MapType = "map_type",
        ChannelType = "channel_type", FunctionType = "function_type", GenericType = "generic_type", ParenthesizedType = "parenthesized_type",
        TypeArguments = "type_arguments", Return = "return_statement", ExpressionList = "expression_list",
        Block = "block", If = "if_statement", For = "for_statement", Switch = "expression_switch_statement",
        TypeSwitch = "type_switch_statement", TypeCase = "type_case", Select = "select_statement", CommCase = "communication_case",
        ExpressionCase = "expression_case", Dot = "dot", Blank = "blank_identifier", VariadicArgument = "variadic_argument",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Path = "path", Type = "type", Body = "body", Parameters = "parameters", Result = "result",
        Receiver = "receiver", Value = "value", Left = "left", Right = "right", Function = "function", Arguments = "arguments",
        Operand = "operand", Field = "field", Package = "package", Element = "element", Key = "key", Alias = "alias",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_go::LANGUAGE.into()));

struct Go<'a, 's> {
    w: Walk<'a, 's, K, F>,
    spoken: Option<usize>,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        Go { w, spoken: None }.visit(&mut tree.walk());
    });
}

steps!(Go);

impl Go<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::Comment => self.w.s.comment(node),
            K::Text | K::RawText | K::Rune => self.w.s.string(node),
            K::Identifier => self.mention(node),
            K::TypeIdentifier => {
                let name = self.w.text(node);
                let term = self.w.s.free(name);
                self.w.s.refer(RefKind::Type, term, node, 0);
            }
            K::Qualified => {
                let term = self.type_name(node);
                if let Some(at) = self.w.field(node, F::Name) {
                    self.w.s.refer(RefKind::Type, term, at, 0);
                }
            }
            K::Import => self.import(node),
            K::Function => self.function(cursor, node),
            K::Method => self.method(cursor, node),
            K::FuncLiteral => {
                self.w.s.enter_function();
                self.parameters(node);
                self.inside(cursor);
                self.w.s.leave_function();
            }
            K::TypeSpec | K::TypeAlias => self.type_spec(cursor, node),
            K::VarSpec | K::ConstSpec => self.variables(cursor, node),
            K::ShortVar => {
                self.bind_lists(node);
                self.inside(cursor);
            }
            K::Range => {
                self.bind_range(node);
                self.inside(cursor);
            }
            K::Return => {
                self.returned(node);
                self.inside(cursor);
            }
            K::TypeSwitch => {
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::TypeCase => self.type_case(cursor, node),
            K::Block | K::If | K::For | K::Switch | K::Select | K::CommCase | K::ExpressionCase => {
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Selector => self.first_only(cursor),
            K::KeyedElement => self.keyed(cursor),
            K::Call => self.call(cursor, node),
            K::Composite => {
                if let Some(of) = self.w.field(node, F::Type) {
                    let term = self.type_name(of);
                    self.w.s.refer(RefKind::New, term, self.last_name(of), ANY_NUMBER);
                }
                self.inside(cursor);
            }
            _ => self.inside(cursor),
        }
    }

    /// The key of a field is no name of its own.
    fn keyed(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.w.descend(cursor) {
            let key = cursor.node();
            let is_name = key.named_child(0).is_some_and(|it| self.w.kind(it) == K::Identifier);
            if !is_name {
                self.visit(cursor);
            }
            while cursor.goto_next_sibling() {
                self.visit(cursor);
            }
            self.w.ascend(cursor);
        }
    }

    fn last_name<'t>(&self, node: Node<'t>) -> Node<'t> {
        match self.w.kind(node) {
            K::Qualified => self.w.field(node, F::Name).unwrap_or(node),
            K::GenericType => self.w.field(node, F::Type).map_or(node, |it| self.last_name(it)),
            _ => node,
        }
    }

    fn mention(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(RefKind::Use, term, node, 0);
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let callee = self.w.field(node, F::Function);
        let at = match callee.map(|it| (self.w.kind(it), it)) {
            Some((K::Identifier, it)) => {
                self.spoken = Some(it.id());
                Some(it)
            }
            Some((K::Selector, it)) => self.w.field(it, F::Field),
            _ => None,
        };
        if let (Some(callee), Some(at)) = (callee, at) {
            let arguments = self.w.field(node, F::Arguments);
            let n_args =
                self.w.n_args(arguments, |it| it == K::Comment, |it| it == K::VariadicArgument);
            let term = self.term(callee);
            self.w.s.refer(RefKind::Call, term, at, n_args);
        }
        self.inside(cursor);
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(path) = self.w.field(node, F::Path).map(|it| unquoted(self.w.text(it))) else {
            return;
        };
        let name = self.w.field(node, F::Name);
        let (kind, local) = match name.map(|it| self.w.kind(it)) {
            Some(K::Dot) => (ImportKind::Star, None),
            Some(K::Blank) => (ImportKind::Effect, None),
            Some(_) => (ImportKind::Module, name.map(|it| self.w.text(it))),
            None => (ImportKind::Module, Some(package_name(path))),
        };
        let (module, item) = (self.w.s.word(path), self.w.s.word("*"));
        let word = local.map_or(item, |it| self.w.s.word(it));
        let import = index(self.w.s.imports.len());
        let line = index(node.start_position().row);
        self.w.s.imports.push(Import {
            kind,
            module,
            item,
            local: word,
            within: None,
            public: false,
            line,
        });
        if local.is_some() {
            self.w.s.bind(word, Bound::Import(import));
        }
    }

    fn flags(&self, name: &str) -> Flags {
        let is_exported = name.starts_with(char::is_uppercase);
        let is_test = self.w.s.is_test
            && ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|it| name.starts_with(it));
        Flags::default().when(is_exported, Flags::EXPORTED).when(is_test, Flags::TEST)
    }

    fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        // Every file may have several of these, and nobody calls them.
        let is_silent = matches!(self.w.text(name), "init" | "_");
        let flags = self.flags(self.w.text(name)).when(is_silent, Flags::PRIVATE);
        let def = self.w.s.define(DefKind::Function, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.body(cursor, node, def, None);
    }

    fn method(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = self.flags(self.w.text(name));
        let def = self.w.s.define(DefKind::Method, word, name, node, flags);
        let receiver = self.w.field(node, F::Receiver).and_then(|it| it.named_child(0));
        let owner = receiver.and_then(|it| self.w.field(it, F::Type)).map(|it| self.type_name(it));
        let owner = owner.map(|it| match self.w.s.get(it) {
            Term::Args(list) => self.w.s.lists[list.start as usize],
            _ => it,
        });
        self.w.s.def(def).owner = owner.filter(|it| *it != Sketch::UNKNOWN);
        self.body(cursor, node, def, receiver.zip(owner));
    }

    fn body(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        node: Node<'_>,
        def: u32,
        receiver: Option<(Node<'_>, TermId)>,
    ) {
        self.w.s.open(def);
        self.w.s.enter_function();
        if let Some((receiver, owner)) = receiver
            && let Some(name) = self.w.field(receiver, F::Name)
        {
            let word = self.w.s.word_of(name);
            let declared = self.w.s.object(owner);
            self.w.s.bind_local(word, Some(declared), None);
        }
        for it in self.w.field(node, F::TypeParameters).into_iter().flat_map(children) {
            if let Some(name) = self.w.field(it, F::Name) {
                let (word, local) = (self.w.s.word_of(name), self.w.s.local(None, None));
                self.w.s.bind(word, Bound::Type(local));
            }
        }
        let takes = self.parameters(node);
        let declared = self.w.field(node, F::Result).map(|it| self.results(it));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.inside(cursor);
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.declared, it.made) = (takes, some(declared), some(Some(made)));
    }

    fn parameters(&mut self, node: Node<'_>) -> (u8, u8) {
        let (mut n, mut any) = (0_u8, false);
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            let kind = self.w.kind(it);
            if !matches!(kind, K::Parameter | K::Variadic) {
                continue;
            }
            let mut declared =
                self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
            if kind == K::Variadic {
                any = true;
                declared = self.w.s.term(Term::Many(declared));
            }
            let grammar = self.w.grammar;
            let names: Vec<Node<'_>> =
                children(it).filter(|it| grammar.kind(*it) == K::Identifier).collect();
            n = n.saturating_add(u8::try_from(names.len().max(1)).unwrap_or(1));
            for name in names {
                let word = self.w.s.word_of(name);
                self.w.s.bind_local(word, Some(declared), None);
            }
        }
        if any { (n.saturating_sub(1), ANY_NUMBER) } else { (n, n) }
    }

    /// One result is itself; several are a record by their places.
    fn results(&mut self, node: Node<'_>) -> TermId {
        if self.w.kind(node) != K::ParameterList {
            return self.type_term(node);
        }
        let mut items = Vec::new();
        let mut place = 0;
        let grammar = self.w.grammar;
        for it in children(node) {
            let n_names =
                children(it).filter(|it| grammar.kind(*it) == K::Identifier).count().max(1);
            let of = self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
            for _ in 0..n_names {
                items.extend([self.w.s.word(&place.to_string()), of]);
                place += 1;
            }
        }
        if let [_, one] = items.as_slice() {
            *one
        } else {
            let list = self.w.s.list(&items);
            self.w.s.term(Term::Record(list))
        }
    }

    fn returned(&mut self, node: Node<'_>) {
        let Some(list) = node.named_child(0) else { return };
        let values: Vec<Node<'_>> = children(list).collect();
        if let [value] = values.as_slice() {
            let term = self.term(*value);
            self.w.s.add_return(term);
        }
    }

    fn type_spec(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (Some(name), Some(of)) = (self.w.field(node, F::Name), self.w.field(node, F::Type))
        else {
            return self.inside(cursor);
        };
        let word = self.w.s.word_of(name);
        let kind = match (self.w.kind(node), self.w.kind(of)) {
            (_, K::Interface) => DefKind::Interface,
            (K::TypeAlias, _) => DefKind::TypeAlias,
            _ => DefKind::Class,
        };
        let flags = self.flags(self.w.text(name));
        let is_inside = self.w.s.is_inside_function();
        let def = self.w.s.define(kind, word, name, node, flags.when(is_inside, Flags::PRIVATE));
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.open(def);
        match self.w.kind(of) {
            K::Struct => self.fields(def, of),
            K::Interface => self.elements(def, of),
            _ => {
                let declared = self.type_term(of);
                self.w.s.def(def).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
            }
        }
        self.inside(cursor);
        self.w.s.close();
    }

    fn fields(&mut self, def: u32, of: Node<'_>) {
        let grammar = self.w.grammar;
        let Some(list) = children(of).find(|it| grammar.kind(*it) == K::FieldList) else { return };
        for it in children(list).filter(|it| grammar.kind(*it) == K::FieldDeclaration) {
            let Some(of) = self.w.field(it, F::Type) else { continue };
            let declared = self.type_term(of);
            let names: Vec<Node<'_>> =
                children(it).filter(|it| it.kind() == "field_identifier").collect();
            if names.is_empty() {
                // An embedded type lends its members, and is a field of its name.
                let term = self.type_name(of);
                self.w.s.add_base(def, term, false);
                let name = self.last_name(of);
                let word = self.w.s.word_of(name);
                let field = self.w.s.define(DefKind::Field, word, name, it, Flags::default());
                self.w.s.def(field).declared = Some(declared);
            }
            for name in names {
                let word = self.w.s.word_of(name);
                let field = self.w.s.define(DefKind::Field, word, name, it, Flags::default());
                self.w.s.def(field).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
            }
        }
    }

    fn elements(&mut self, def: u32, of: Node<'_>) {
        for it in children(of) {
            match self.w.kind(it) {
                K::MethodElem => {
                    let Some(name) = self.w.field(it, F::Name) else { continue };
                    let word = self.w.s.word_of(name);
                    let declared = self.w.field(it, F::Result).map(|it| self.results(it));
                    let method = self.w.s.define(DefKind::Method, word, name, it, Flags::ABSTRACT);
                    self.w.s.def(method).declared = declared.filter(|it| *it != Sketch::UNKNOWN);
                }
                K::TypeElem => {
                    if let Some(of) = it.named_child(0) {
                        let term = self.type_name(of);
                        self.w.s.add_base(def, term, false);
                    }
                }
                _ => {}
            }
        }
    }

    fn variables(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let values: Vec<Node<'_>> =
            self.w.field(node, F::Value).into_iter().flat_map(children).collect();
        let grammar = self.w.grammar;
        let value_list = self.w.field(node, F::Value).map(|it| it.id());
        let names: Vec<Node<'_>> = children(node)
            .filter(|it| grammar.kind(*it) == K::Identifier && Some(it.id()) != value_list)
            .collect();
        let mut first = None;
        self.promise(node, &names, &values);
        for (i, name) in names.iter().enumerate() {
            let made = self.value_at(&values, i, names.len());
            let word = self.w.s.word_of(*name);
            if self.w.s.is_inside_function() {
                self.w.s.bind_local(word, declared, Some(made));
                continue;
            }
            let flags = self.flags(self.w.text(*name));
            let flags = flags.when(self.w.text(*name) == "_", Flags::PRIVATE);
            let def = self.w.s.define(DefKind::Variable, word, *name, node, flags);
            let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
            let it = self.w.s.def(def);
            (it.declared, it.made) = (some(declared), some(Some(made)));
            self.w.s.bind(word, Bound::Def(def));
            first = first.or(Some(def));
        }
        if let Some(def) = first {
            self.w.s.open(def);
        }
        self.inside(cursor);
        if first.is_some() {
            self.w.s.close();
        }
    }

    /// `var _ Shape = (*Circle)(nil)` says in as many words that a type implements an interface.
    fn promise(&mut self, node: Node<'_>, names: &[Node<'_>], values: &[Node<'_>]) {
        let ([name], [value]) = (names, values) else { return };
        let Some(of) = self.w.field(node, F::Type).filter(|_| self.w.text(*name) == "_") else {
            return;
        };
        let text = self.w.text(*value);
        let text = text.trim_start_matches(['(', '*', '&']);
        let class =
            text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
        let word = self.w.s.word(class);
        let found =
            self.w.s.defs.iter().position(|it| it.name == word && it.kind == DefKind::Class);
        if let Some(def) = found {
            let term = self.type_name(of);
            self.w.s.add_base(index(def), term, true);
        }
    }

    /// The value that the i-th of several names gets.
    fn value_at(&mut self, values: &[Node<'_>], i: usize, n_names: usize) -> TermId {
        match values {
            [] => Sketch::UNKNOWN,
            [call] if n_names > 1 && self.w.kind(*call) == K::Call => {
                let of = self.term(*call);
                let place = self.w.s.word(&i.to_string());
                self.w.s.term(Term::Member(of, place))
            }
            // The second tells whether there was a first.
            [value] if i == 0 => self.term(*value),
            _ => values.get(i).map_or(Sketch::UNKNOWN, |it| self.term(*it)),
        }
    }

    fn bind_lists(&mut self, node: Node<'_>) {
        let names: Vec<Node<'_>> =
            self.w.field(node, F::Left).into_iter().flat_map(children).collect();
        let values: Vec<Node<'_>> =
            self.w.field(node, F::Right).into_iter().flat_map(children).collect();
        for (i, name) in names.iter().enumerate() {
            if self.w.kind(*name) == K::Identifier {
                let made = self.value_at(&values, i, names.len());
                let word = self.w.s.word_of(*name);
                self.w.s.bind_local(word, None, Some(made));
            }
        }
    }

    fn bind_range(&mut self, node: Node<'_>) {
        let names: Vec<Node<'_>> =
            self.w.field(node, F::Left).into_iter().flat_map(children).collect();
        let Some(of) = self.w.field(node, F::Right).map(|it| self.term(it)) else { return };
        for (i, name) in
            names.iter().enumerate().filter(|it| self.w.grammar.kind(*it.1) == K::Identifier)
        {
            let made =
                if i == 1 { self.w.s.term(Term::Element(of)) } else { self.w.s.literal("int") };
            let word = self.w.s.word_of(*name);
            self.w.s.bind_local(word, None, Some(made));
        }
    }

    /// In a case, the switched name has the case's type.
    fn type_case(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        self.w.s.enter(ScopeKind::Block);
        let alias = node
            .parent()
            .and_then(|it| self.w.field(it, F::Alias))
            .and_then(|it| it.named_child(0));
        if let Some(alias) = alias {
            let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
            let word = self.w.s.word_of(alias);
            self.w.s.bind_local(word, declared, None);
        }
        self.inside(cursor);
        self.w.s.leave();
    }
}

/// What a package is called when its import does not say: the last part of its path, by habit.
fn package_name(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let is_version =
        last.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let last = if is_version { parts.next().unwrap_or(last) } else { last };
    let last = last.split(".v").next().unwrap_or(last);
    last.strip_prefix("go-").unwrap_or(last)
}
