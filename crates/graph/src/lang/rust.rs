//! Rust.

mod items;
mod macros;
mod term;
mod tokens;
mod uses;

use std::collections::HashMap;
use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps, unquoted};
use crate::facts::{DefKind, Flags, Import, ImportKind, RefKind, Term, TermId, Word};
use crate::fast::FastHasher;
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

names! {
    pub(crate) enum K {
        LineComment = "line_comment", BlockComment = "block_comment", Text = "string_literal", RawText = "raw_string_literal",
        Char = "char_literal", Int = "integer_literal", Float = "float_literal", Bool = "boolean_literal",
        Identifier = "identifier", TypeIdentifier = "type_identifier", FieldIdentifier = "field_identifier",
        ShorthandField = "shorthand_field_identifier", SelfWord = "self", SuperWord = "super", CrateWord = "crate",
        Use = "use_declaration", UseList = "use_list", ScopedUseList = "scoped_use_list", UseAs = "use_as_clause",
        UseWildcard = "use_wildcard", Mod = "mod_item", Attribute = "attribute_item", Visibility = "visibility_modifier",
        Function = "function_item", Signature = "function_signature_item", Struct = "struct_item", EnumItem = "enum_item",
        UnionItem = "union_item", Trait = "trait_item", Impl = "impl_item", TypeItem = "type_item", Const = "const_item",
        Static = "static_item", Macro = "macro_definition", AssociatedType = "associated_type", Variant = "enum_variant",
        VariantList = "enum_variant_list", FieldDeclaration = "field_declaration", FieldList = "field_declaration_list",
        OrderedFields = "ordered_field_declaration_list", Parameter = "parameter", SelfParameter = "self_parameter",
        Let = "let_declaration", LetCondition = "let_condition", For = "for_expression", Closure = "closure_expression",
        MatchArm = "match_arm", MatchPattern = "match_pattern", Match = "match_expression", Block = "block", Return = "return_expression",
        Call = "call_expression", MacroCall = "macro_invocation", TokenTree = "token_tree", FieldExpression = "field_expression",
        Scoped = "scoped_identifier", ScopedType = "scoped_type_identifier", GenericFunction = "generic_function",
        GenericType = "generic_type", GenericTypeTurbo = "generic_type_with_turbofish", StructExpression = "struct_expression",
        FieldInitializer = "field_initializer", ShorthandInitializer = "shorthand_field_initializer", Try = "try_expression",
        Await = "await_expression", Reference = "reference_expression", Unary = "unary_expression", Parenthesized = "parenthesized_expression",
        Index = "index_expression", TypeCast = "type_cast_expression", Array = "array_expression", Tuple = "tuple_expression",
        If = "if_expression", Binary = "binary_expression", Expression = "expression_statement",
        ReferenceType = "reference_type", PointerType = "pointer_type", ArrayType = "array_type", TupleType = "tuple_type",
        Dynamic = "dynamic_type", Abstract = "abstract_type", FunctionType = "function_type", Primitive = "primitive_type",
        Bounded = "bounded_type", TypeArguments = "type_arguments", TypeParameter = "type_parameter", TraitBounds = "trait_bounds",
        TypeBinding = "type_binding",
        Dot = "'.", Colons = "'::", Colon = "':", Comma = "',", Semicolon = "';", Bar = "'|", BarBar = "'||", Bang = "'!", Question = "'?",
        Less = "'<", Greater = "'>", GreaterTwo = "'>>", Quote = "''", Hash = "'#", And = "'&", AndAnd = "'&&", Star = "'*", Equals = "'=",
        Arrow = "'=>", AwaitWord = "'await", IfWord = "'if", LetWord = "'let", MatchWord = "'match", ForWord = "'for", WhileWord = "'while",
        LoopWord = "'loop", PubWord = "'pub", FnWord = "'fn", StructWord = "'struct", EnumWord = "'enum", ImplWord = "'impl",
        ModWord = "'mod", UseWord = "'use", TraitWord = "'trait", TypeWord = "'type", ConstWord = "'const", StaticWord = "'static",
        DefaultWord = "'default",
        TuplePattern = "tuple_pattern", TupleStruct = "tuple_struct_pattern", StructPattern = "struct_pattern",
        FieldPattern = "field_pattern", RefPattern = "ref_pattern", ReferencePattern = "reference_pattern", MutPattern = "mut_pattern",
        OrPattern = "or_pattern", CapturedPattern = "captured_pattern", LetChain = "let_chain", ElseClause = "else_clause",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Body = "body", Type = "type", Trait = "trait", Value = "value", Pattern = "pattern", Path = "path",
        Parameters = "parameters", ReturnType = "return_type", Function = "function", Arguments = "arguments", Field = "field",
        Argument = "argument", List = "list", Alias = "alias", TypeParameters = "type_parameters", TypeArguments = "type_arguments",
        Bounds = "bounds", Element = "element", Consequence = "consequence", Alternative = "alternative", MacroName = "macro",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_rust::LANGUAGE.into()));

/// Methods that call their argument with one of what they hold.
const WITH_ELEMENT: &[&str] = &[
    "map",
    "for_each",
    "filter",
    "find",
    "any",
    "all",
    "position",
    "flat_map",
    "filter_map",
    "inspect",
    "partition",
    "take_while",
    "skip_while",
    "find_map",
    "and_then",
    "is_some_and",
    "is_none_or",
    "map_or",
    "min_by_key",
    "max_by_key",
    "sort_by_key",
    "retain",
];

struct Rust<'a, 's> {
    w: Walk<'a, 's, K, F>,
    /// What `Self` means: the types of the blocks around, with the value that `self` is.
    owners: Vec<(TermId, TermId)>,
    /// What attributes say about the item that follows.
    is_test: bool,
    path: Option<&'s str>,
    contexts: HashMap<usize, TermId, FastHasher>,
    /// `impl Trait for Type`: the type's name and the trait, to be joined at the end.
    implemented: Vec<(Word, TermId)>,
    /// Inline modules around, for paths that go up.
    inline: Vec<String>,
    spoken: Option<usize>,
    /// What the `match` expressions around look at, outermost first.
    matched: Vec<TermId>,
    /// How many macros are around whose tokens were read as code of their own.
    n_macros: u32,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        let (owners, contexts, implemented) = (Vec::new(), HashMap::default(), Vec::new());
        let mut rust = Rust {
            w,
            owners,
            is_test: false,
            path: None,
            contexts,
            implemented,
            inline: Vec::new(),
            spoken: None,
            matched: Vec::new(),
            n_macros: 0,
        };
        rust.visit(&mut tree.walk());
        for (name, of) in std::mem::take(&mut rust.implemented) {
            let found = rust.w.s.defs.iter().position(|it| it.name == name && it.kind.is_type());
            if let Some(def) = found {
                rust.w.s.add_base(index(def), of, true);
            }
        }
    });
}

steps!(Rust);

impl Rust<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::LineComment | K::BlockComment => self.w.s.comment(node),
            K::Text | K::RawText | K::Char => self.w.s.string(node),
            K::Identifier => self.mention(node),
            K::TypeIdentifier => {
                let term = self.type_name(node);
                self.w.s.refer(RefKind::Type, term, node, 0);
            }
            K::Scoped | K::ScopedType => self.path(node),
            K::Attribute => self.attribute(node),
            K::Use => self.use_declaration(node),
            K::Mod => self.module(cursor, node),
            K::Function | K::Signature => self.function(cursor, node),
            K::Struct | K::UnionItem => self.structure(cursor, node),
            K::EnumItem => self.enumeration(cursor, node),
            K::Trait => self.interface(cursor, node),
            K::Impl => self.implementation(cursor, node),
            K::TypeItem | K::AssociatedType => self.alias(cursor, node),
            K::Const | K::Static => self.constant(cursor, node),
            K::Macro => {
                if let Some(name) = self.w.field(node, F::Name) {
                    let word = self.w.s.word_of(name);
                    let def = self.w.s.define(DefKind::Function, word, name, node, Flags::STATIC);
                    self.w.s.bind(word, Bound::Def(def));
                }
            }
            K::Let => {
                let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
                let made = self.w.field(node, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it));
                self.inside(cursor);
                // A name counts from here on, to the end of the block; its value was named before.
                self.w.s.enter(ScopeKind::Block);
                if let Some(pattern) = self.w.field(node, F::Pattern) {
                    self.bind_pattern(pattern, declared.unwrap_or(made), 8);
                }
            }
            K::LetCondition => {
                let made = self.w.field(node, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it));
                if let Some(pattern) = self.w.field(node, F::Pattern) {
                    self.bind_pattern(pattern, made, 8);
                }
                self.inside(cursor);
            }
            K::For => {
                self.w.s.enter(ScopeKind::Block);
                let of = self.w.field(node, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it));
                let element = self.w.s.term(Term::Element(of));
                if let Some(pattern) = self.w.field(node, F::Pattern) {
                    self.bind_pattern(pattern, element, 8);
                }
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Match => {
                let of = self.w.field(node, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it));
                self.matched.push(of);
                self.inside(cursor);
                self.matched.pop();
            }
            K::MatchArm => {
                self.w.s.enter(ScopeKind::Block);
                let of = self.matched.last().copied().unwrap_or(Sketch::UNKNOWN);
                if let Some(pattern) =
                    self.w.field(node, F::Pattern).and_then(|it| it.named_child(0))
                {
                    self.bind_pattern(pattern, of, 8);
                }
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Closure => self.closure(cursor, node),
            K::Block | K::If => {
                let outer = self.w.s.scope();
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.back_to(outer);
            }
            K::Return => {
                if let Some(value) = node.named_child(0) {
                    let term = self.term(value);
                    self.w.s.add_return(term);
                }
                self.inside(cursor);
            }
            K::Call => self.call(cursor, node),
            K::MacroCall => self.macro_call(node),
            K::StructExpression => {
                if let Some(name) = self.w.field(node, F::Name) {
                    let term = self.type_name(name);
                    let at = self.last_name(name);
                    self.w.s.refer(RefKind::New, term, at, ANY_NUMBER);
                }
                self.inside(cursor);
            }
            _ => self.inside(cursor),
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

    fn path(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let is_type = self.w.kind(node) == K::ScopedType;
        let term = if is_type { self.type_name(node) } else { self.term(node) };
        let kind = if is_type { RefKind::Type } else { RefKind::Use };
        if let Some(at) = self.w.field(node, F::Name) {
            self.w.s.refer(kind, term, at, 0);
        }
    }

    fn last_name<'t>(&self, node: Node<'t>) -> Node<'t> {
        match self.w.kind(node) {
            K::GenericType | K::GenericTypeTurbo => {
                self.w.field(node, F::Type).map_or(node, |it| self.last_name(it))
            }
            K::Scoped | K::ScopedType => self.w.field(node, F::Name).unwrap_or(node),
            _ => node,
        }
    }

    fn attribute(&mut self, node: Node<'_>) {
        let text = self.w.text(node);
        let inner = text.trim_start_matches("#[").trim_end_matches(']');
        self.is_test |= inner == "test"
            || inner.ends_with("::test")
            || inner.contains("cfg(test")
            || inner.starts_with("test(");
        if let Some(path) =
            inner.strip_prefix("path").and_then(|it| it.trim_start().strip_prefix('='))
        {
            self.path = Some(unquoted(path.trim()));
        }
    }

    /// What is known of an item before it is looked into; attributes are used up.
    fn flags(&mut self, node: Node<'_>) -> Flags {
        let grammar = self.w.grammar;
        let is_public = node.named_child(0).is_some_and(|it| grammar.kind(it) == K::Visibility);
        let is_test = std::mem::take(&mut self.is_test);
        Flags::default().when(is_public, Flags::EXPORTED).when(is_test, Flags::TEST)
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let mut callee = self.w.field(node, F::Function);
        if let Some(it) = callee.filter(|it| self.w.kind(*it) == K::GenericFunction) {
            callee = self.w.field(it, F::Function);
        }
        let Some(callee) = callee else { return self.inside(cursor) };
        let at = match self.w.kind(callee) {
            K::Identifier => Some(callee),
            K::Scoped => self.w.field(callee, F::Name),
            K::FieldExpression => self.w.field(callee, F::Field),
            _ => None,
        };
        let arguments = self.w.field(node, F::Arguments);
        if let Some(at) = at {
            let is_comment = |it| matches!(it, K::LineComment | K::BlockComment);
            let n_args = self.w.n_args(arguments, is_comment, |_| false);
            let term = self.term(callee);
            self.w.s.refer(RefKind::Call, term, at, n_args);
            self.spoken = Some(callee.id());
            if self.w.kind(callee) == K::FieldExpression && WITH_ELEMENT.contains(&self.w.text(at))
            {
                self.give_context(callee, arguments);
            }
        }
        self.inside(cursor);
    }

    fn give_context(&mut self, callee: Node<'_>, arguments: Option<Node<'_>>) {
        let of = self.w.field(callee, F::Value);
        let grammar = self.w.grammar;
        let closure = arguments
            .and_then(|it| children(it).filter(|it| grammar.kind(*it) == K::Closure).last());
        if let (Some(of), Some(closure)) = (of, closure) {
            let of = self.term(of);
            let element = self.w.s.term(Term::Element(of));
            self.contexts.insert(closure.id(), element);
        }
    }

    fn module(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return };
        let word = self.w.s.word_of(name);
        let flags = self.flags(node);
        let path = self.path.take();
        if self.w.field(node, F::Body).is_none() {
            let text = self.w.text(name);
            let module = if let Some(path) = path {
                format!("path:{path}")
            } else {
                // What is declared inside another module lies in a folder of that name.
                let names = self.inline.iter().map(String::as_str).chain([text]);
                format!("mod:{}", names.collect::<Vec<_>>().join("/"))
            };
            let module = self.w.s.word(&module);
            self.add_import(
                ImportKind::Child,
                module,
                word,
                word,
                flags.has(Flags::EXPORTED),
                node,
            );
            return;
        }
        let def = self.w.s.define(DefKind::Module, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Module(def));
        self.inline.push(self.w.text(name).to_owned());
        self.inside(cursor);
        self.inline.pop();
        self.w.s.leave();
        self.w.s.close();
    }

    fn add_import(
        &mut self,
        kind: ImportKind,
        module: Word,
        item: Word,
        local: Word,
        public: bool,
        node: Node<'_>,
    ) {
        let import = index(self.w.s.imports.len());
        let line = index(node.start_position().row);
        let within = self.w.s.around();
        self.w.s.imports.push(Import { kind, module, item, local, within, public, line });
        if kind != ImportKind::Star {
            self.w.s.bind(local, Bound::Import(import));
        }
    }

    fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let body = self.w.field(node, F::Body);
        let flags = self.flags(node).when(body.is_none(), Flags::ABSTRACT);
        let is_nested = self.w.s.is_inside_function();
        let owner = self.owners.last().copied().filter(|_| !is_nested);
        let kind = if owner.is_some() { DefKind::Method } else { DefKind::Function };
        let def = self.w.s.define(kind, word, name, node, flags);
        let class = self.w.s.class();
        match owner {
            // A trait's methods stand inside it; those of an `impl` belong to its type.
            Some((of, _)) if class.is_none() => self.w.s.def(def).owner = Some(of),
            None => self.w.s.bind(word, Bound::Def(def)),
            Some(_) => {}
        }
        self.w.s.open(def);
        self.w.s.enter_function();
        self.generics(node);
        let takes = self.parameters(node);
        let declared = self.w.field(node, F::ReturnType).map(|it| self.type_term(it));
        self.w.s.set_body(def, body);
        let last = body.and_then(|it| children(it).last());
        let last = last.filter(|it| {
            !matches!(self.w.kind(*it), K::Expression | K::Let | K::LineComment | K::BlockComment)
        });
        if let Some(last) = last {
            let term = self.term(last);
            self.w.s.add_return(term);
        }
        self.inside(cursor);
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.declared) = (takes, some(declared));
        it.made = some(Some(made)).filter(|_| declared.is_some_and(|it| it == Sketch::UNKNOWN));
    }

    fn generics(&mut self, node: Node<'_>) -> (u32, u32) {
        let start = index(self.w.s.locals.len());
        let grammar = self.w.grammar;
        let list = self.w.field(node, F::TypeParameters);
        let parameters: Vec<Node<'_>> = list
            .into_iter()
            .flat_map(children)
            .filter(|it| grammar.kind(*it) == K::TypeParameter)
            .collect();
        for it in &parameters {
            let local = self.w.s.local(None, None);
            if let Some(name) = self.w.field(*it, F::Name) {
                let word = self.w.s.word_of(name);
                self.w.s.bind(word, Bound::Type(local));
            }
        }
        let end = index(self.w.s.locals.len());
        for (i, it) in parameters.iter().enumerate() {
            let bound = self.w.field(*it, F::Bounds).and_then(|it| it.named_child(0));
            let bound = bound.map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
            self.w.s.locals[start as usize + i].declared = bound;
        }
        (start, end)
    }

    fn parameters(&mut self, node: Node<'_>) -> (u8, u8) {
        let mut n = 0_u8;
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            match self.w.kind(it) {
                K::SelfParameter => {
                    if let Some((_, value)) = self.owners.last().copied() {
                        let word = self.w.s.word("self");
                        self.w.s.bind_local(word, Some(value), None);
                    }
                }
                K::Parameter => {
                    n = n.saturating_add(1);
                    let declared =
                        self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                    if let Some(pattern) = self.w.field(it, F::Pattern) {
                        self.bind_pattern(pattern, declared, 8);
                    }
                }
                _ => {}
            }
        }
        // A method may be called by its path, with the object as an argument.
        (n, n.saturating_add(1))
    }

    fn closure(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let context = self.contexts.remove(&node.id());
        self.w.s.enter_function();
        for (i, it) in self.w.field(node, F::Parameters).into_iter().flat_map(children).enumerate()
        {
            if self.w.kind(it) == K::Parameter {
                let declared =
                    self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                if let Some(pattern) = self.w.field(it, F::Pattern) {
                    self.bind_pattern(pattern, declared, 8);
                }
            } else {
                self.bind_pattern(it, context.filter(|_| i == 0).unwrap_or(Sketch::UNKNOWN), 8);
            }
        }
        self.inside(cursor);
        self.w.s.leave_function();
    }
}
