//! Java.

mod term;

use std::collections::HashMap;
use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps};
use crate::facts::{DefKind, Flags, Import, ImportKind, RefKind, Term, TermId};
use crate::fast::FastHasher;
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

names! {
    pub(crate) enum K {
        LineComment = "line_comment", BlockComment = "block_comment", Text = "string_literal", Char = "character_literal",
        Int = "decimal_integer_literal", HexInt = "hex_integer_literal", BinaryInt = "binary_integer_literal",
        OctalInt = "octal_integer_literal", Float = "decimal_floating_point_literal", Unary = "unary_expression", True = "true", False = "false", Null = "null_literal",
        Identifier = "identifier", TypeIdentifier = "type_identifier", ScopedType = "scoped_type_identifier",
        Package = "package_declaration", Import = "import_declaration", Asterisk = "asterisk", ScopedIdentifier = "scoped_identifier",
        Class = "class_declaration", Interface = "interface_declaration", Enum = "enum_declaration", Record = "record_declaration",
        Annotation = "annotation_type_declaration", Method = "method_declaration", Constructor = "constructor_declaration",
        CompactConstructor = "compact_constructor_declaration", Field = "field_declaration", ConstantField = "constant_declaration",
        Declarator = "variable_declarator", LocalVariable = "local_variable_declaration", EnumConstant = "enum_constant",
        EnhancedFor = "enhanced_for_statement", For = "for_statement", Block = "block", ConstructorBody = "constructor_body",
        Catch = "catch_clause", CatchParameter = "catch_formal_parameter", CatchType = "catch_type", Resource = "resource",
        TryResources = "try_with_resources_statement", Lambda = "lambda_expression", InferredParameters = "inferred_parameters",
        FormalParameter = "formal_parameter", SpreadParameter = "spread_parameter", InstanceOf = "instanceof_expression",
        Invocation = "method_invocation", Creation = "object_creation_expression", FieldAccess = "field_access",
        MethodReference = "method_reference", This = "this", Super = "super", Parenthesized = "parenthesized_expression",
        Cast = "cast_expression", Assignment = "assignment_expression", Ternary = "ternary_expression", ArrayAccess = "array_access",
        ArrayCreation = "array_creation_expression", ClassLiteral = "class_literal", Binary = "binary_expression",
        GenericType = "generic_type", ArrayType = "array_type", Integral = "integral_type", Floating = "floating_point_type",
        BooleanType = "boolean_type", Void = "void_type", TypeArguments = "type_arguments", Wildcard = "wildcard",
        TypeParameter = "type_parameter", TypeBound = "type_bound", Superclass = "superclass", SuperInterfaces = "super_interfaces",
        ExtendsInterfaces = "extends_interfaces", TypeList = "type_list", Modifiers = "modifiers", MarkerAnnotation = "marker_annotation",
        FullAnnotation = "annotation", Return = "return_statement", ExplicitConstructor = "explicit_constructor_invocation",
        ClassBody = "class_body", StaticWord = "'static", PrivateWord = "'private", PublicWord = "'public",
        SwitchBlock = "switch_block", TypePattern = "type_pattern",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Body = "body", Type = "type", Value = "value", Parameters = "parameters", Superclass = "superclass",
        Interfaces = "interfaces", Declarator = "declarator", Object = "object", Arguments = "arguments", Field = "field",
        Left = "left", Right = "right", Constructor = "constructor", Array = "array", TypeParameters = "type_parameters",
        Element = "element", Operator = "operator", Operand = "operand", Consequence = "consequence", Alternative = "alternative",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_java::LANGUAGE.into()));

/// Methods that call their argument with one of what they hold.
const WITH_ELEMENT: &[&str] = &[
    "forEach",
    "map",
    "filter",
    "anyMatch",
    "allMatch",
    "noneMatch",
    "flatMap",
    "removeIf",
    "peek",
    "ifPresent",
    "mapToInt",
    "sorted",
    "mapToObj",
    "toMap",
    "orElseGet",
];

struct Java<'a, 's> {
    w: Walk<'a, 's, K, F>,
    /// What a lambda's parameter is, by the id of its node.
    contexts: HashMap<usize, TermId, FastHasher>,
    spoken: Option<usize>,
    /// How deep in a type the walk is.
    n_types: u32,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        Java { w, contexts: HashMap::default(), spoken: None, n_types: 0 }.visit(&mut tree.walk());
    });
}

steps!(Java);

impl Java<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::LineComment | K::BlockComment => self.w.s.comment(node),
            K::Text | K::Char => self.w.s.string(node),
            K::Identifier => self.mention(node),
            K::TypeIdentifier => {
                let name = self.w.text(node);
                let term = self.w.s.free(name);
                self.w.s.refer(RefKind::Type, term, node, 0);
            }
            K::Package => {
                let grammar = self.w.grammar;
                let name = children(node)
                    .find(|it| matches!(grammar.kind(*it), K::Identifier | K::ScopedIdentifier));
                self.w.s.space = name.map(|it| self.w.s.word_of(it));
            }
            K::Import => self.import(node),
            K::Class | K::Interface | K::Enum | K::Record | K::Annotation => {
                self.class(cursor, node);
            }
            K::Method | K::Constructor | K::CompactConstructor => self.method(cursor, node),
            K::Field | K::ConstantField => self.field(cursor, node),
            K::EnumConstant => self.constant(cursor, node),
            K::LocalVariable => {
                self.bind_variables(node);
                self.inside(cursor);
            }
            K::EnhancedFor => {
                self.w.s.enter(ScopeKind::Block);
                self.bind_loop(node);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Resource | K::InstanceOf | K::TypePattern => {
                self.bind_named(node);
                self.inside(cursor);
            }
            K::CatchParameter => {
                let grammar = self.w.grammar;
                let of = children(node)
                    .find(|it| grammar.kind(*it) == K::CatchType)
                    .and_then(|it| it.named_child(0));
                let declared = of.map(|it| self.type_term(it));
                if let Some(name) = self.w.field(node, F::Name) {
                    let word = self.w.s.word_of(name);
                    self.w.s.bind_local(word, declared, None);
                }
                self.inside(cursor);
            }
            K::Block
            | K::ConstructorBody
            | K::Catch
            | K::For
            | K::TryResources
            | K::SwitchBlock => {
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Lambda => self.lambda(cursor, node),
            K::FieldAccess | K::MethodReference => self.accessed(cursor, node),
            K::Invocation => self.invocation(cursor, node),
            K::Creation => self.creation(cursor, node),
            K::Return => {
                if let Some(value) = node.named_child(0) {
                    let term = self.term(value);
                    self.w.s.add_return(term);
                }
                self.inside(cursor);
            }
            _ => self.inside(cursor),
        }
    }

    /// `a.b` names only `a` by itself; `a::b` refers to a method.
    fn accessed(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if self.w.kind(node) == K::MethodReference {
            let (of, name) = (node.named_child(0), node.named_child(1));
            if let (Some(of), Some(name)) =
                (of, name.filter(|it| self.w.kind(*it) == K::Identifier))
            {
                let of = self.term(of);
                let text = self.w.text(name);
                let term = self.w.s.member(of, text);
                self.w.s.refer(RefKind::Use, term, name, 0);
            }
        }
        self.first_only(cursor);
    }

    fn mention(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(RefKind::Use, term, node, 0);
    }

    fn n_args(&self, node: Node<'_>) -> u8 {
        let arguments = self.w.field(node, F::Arguments);
        let is_comment = |it| matches!(it, K::LineComment | K::BlockComment);
        self.w.n_args(arguments, is_comment, |_| false)
    }

    fn given(&mut self, node: Node<'_>) -> Vec<TermId> {
        let arguments = self.w.field(node, F::Arguments).into_iter().flat_map(children);
        let grammar = self.w.grammar;
        let arguments =
            arguments.filter(|it| !matches!(grammar.kind(*it), K::LineComment | K::BlockComment));
        arguments.map(|it| self.term(it)).collect()
    }

    fn invocation(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let term = self.callee(node, name);
        let given = self.given(node);
        self.w.s.refer_with(term, name, &given);
        if WITH_ELEMENT.contains(&self.w.text(name))
            && let (Some(of), Some(arguments)) =
                (self.w.field(node, F::Object), self.w.field(node, F::Arguments))
            && let Some(lambda) =
                arguments.named_child(0).filter(|it| self.w.kind(*it) == K::Lambda)
        {
            let of = self.term(of);
            let element = self.w.s.term(Term::Element(of));
            self.contexts.insert(lambda.id(), element);
        }
        // The method's name is no variable.
        self.spoken = Some(name.id());
        self.inside(cursor);
    }

    fn callee(&mut self, node: Node<'_>, name: Node<'_>) -> TermId {
        let text = self.w.text(name);
        match self.w.field(node, F::Object) {
            Some(of) => {
                let of = self.term(of);
                self.w.s.member(of, text)
            }
            None => self.w.s.implicit(text),
        }
    }

    fn creation(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(of) = self.w.field(node, F::Type) else { return self.inside(cursor) };
        let term = self.type_name(of);
        let at = self.last_name(of);
        let n_args = self.n_args(node);
        self.w.s.refer(RefKind::New, term, at, n_args);
        self.inside(cursor);
    }

    fn last_name<'t>(&self, node: Node<'t>) -> Node<'t> {
        match self.w.kind(node) {
            K::GenericType => node.named_child(0).map_or(node, |it| self.last_name(it)),
            K::ScopedType => children(node).last().unwrap_or(node),
            _ => node,
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let grammar = self.w.grammar;
        let Some(path) = children(node)
            .find(|it| matches!(grammar.kind(*it), K::Identifier | K::ScopedIdentifier))
        else {
            return;
        };
        let path = self.w.text(path);
        let is_star = children(node).any(|it| grammar.kind(it) == K::Asterisk);
        let (module, item) =
            if is_star { (path, "*") } else { path.rsplit_once('.').unwrap_or(("", path)) };
        let kind = if is_star { ImportKind::Star } else { ImportKind::Named };
        let (module, word) = (self.w.s.word(module), self.w.s.word(item));
        let import = index(self.w.s.imports.len());
        let line = index(node.start_position().row);
        self.w.s.imports.push(Import {
            kind,
            module,
            item: word,
            local: word,
            within: None,
            public: false,
            line,
        });
        if !is_star {
            self.w.s.bind(word, Bound::Import(import));
        }
    }

    /// What modifiers say, and whether an annotation makes it a test.
    fn flags(&self, node: Node<'_>) -> Flags {
        let mut res = Flags::default();
        let Some(modifiers) = children(node).find(|it| self.w.kind(*it) == K::Modifiers) else {
            return res;
        };
        let mut words = modifiers.walk();
        for it in modifiers.children(&mut words) {
            res = match self.w.kind(it) {
                K::StaticWord => res.with(Flags::STATIC),
                K::PublicWord => res.with(Flags::EXPORTED),
                K::MarkerAnnotation | K::FullAnnotation => {
                    let name = self.w.field(it, F::Name).map_or("", |it| self.w.text(it));
                    res.when(
                        matches!(name, "Test" | "ParameterizedTest" | "RepeatedTest"),
                        Flags::TEST,
                    )
                }
                _ => res,
            };
        }
        res
    }

    fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let kind = match self.w.kind(node) {
            K::Interface | K::Annotation => DefKind::Interface,
            K::Enum => DefKind::Enum,
            _ => DefKind::Class,
        };
        let (word, flags) = (self.w.s.word_of(name), self.flags(node));
        let def = self.w.s.define(kind, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.w.s.open(def);
        // What a type builds on is named from outside it.
        self.w.s.enter(ScopeKind::Block);
        self.generics(node, def);
        self.bases(node, def);
        self.w.s.enter(ScopeKind::Members(def));
        if self.w.kind(node) == K::Record {
            self.components(node);
        }
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.leave();
        self.w.s.close();
    }

    fn bases(&mut self, node: Node<'_>, def: u32) {
        for clause in children(node) {
            let implements = match self.w.kind(clause) {
                K::Superclass | K::ExtendsInterfaces => false,
                K::SuperInterfaces => true,
                _ => continue,
            };
            let grammar = self.w.grammar;
            let list =
                children(clause).find(|it| grammar.kind(*it) == K::TypeList).unwrap_or(clause);
            for it in children(list) {
                let term = self.type_name(it);
                self.w.s.add_base(def, term, implements);
            }
        }
    }

    /// Binds type parameters with their bounds.
    fn generics(&mut self, node: Node<'_>, def: u32) {
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
            if let Some(name) = children(*it).find(|it| grammar.kind(*it) == K::TypeIdentifier) {
                let word = self.w.s.word_of(name);
                self.w.s.bind(word, Bound::Type(local));
            }
        }
        self.w.s.def(def).generics = (start, index(self.w.s.locals.len()));
        for (i, it) in parameters.iter().enumerate() {
            let bound = children(*it)
                .find(|it| grammar.kind(*it) == K::TypeBound)
                .and_then(|it| it.named_child(0));
            let bound = bound.map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
            self.w.s.locals[start as usize + i].declared = bound;
        }
    }

    /// A record's components are fields, and methods of the same name.
    fn components(&mut self, node: Node<'_>) {
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            let (Some(name), Some(of)) = (self.w.field(it, F::Name), self.w.field(it, F::Type))
            else {
                continue;
            };
            let declared = self.type_term(of);
            let word = self.w.s.word_of(name);
            for kind in [DefKind::Field, DefKind::Method] {
                let def = self.w.s.define(kind, word, name, it, Flags::EXPORTED);
                let def = self.w.s.def(def);
                def.declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
                def.takes = (0, 0);
            }
        }
    }

    fn method(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let is_constructor = self.w.kind(node) != K::Method;
        let word = self.w.s.word_of(name);
        let body = self.w.field(node, F::Body);
        let flags = self
            .flags(node)
            .when(is_constructor, Flags::CONSTRUCTOR)
            .when(body.is_none(), Flags::ABSTRACT);
        let def = self.w.s.define(DefKind::Method, word, name, node, flags);
        self.w.s.open(def);
        self.w.s.enter_function();
        self.generics(node, def);
        let (takes, params) = self.parameters(node);
        let params = self.w.s.all_of(&params);
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        self.w.s.set_body(def, body);
        self.inside(cursor);
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.params) = (takes, params);
        (it.declared, it.made) = (some(declared), some(Some(made)));
    }

    /// How many there are and what they are.
    fn parameters(&mut self, node: Node<'_>) -> ((u8, u8), Vec<TermId>) {
        let (mut n, mut any, mut params) = (0_u8, false, Vec::new());
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            match self.w.kind(it) {
                K::FormalParameter => {
                    n = n.saturating_add(1);
                    let of = self.w.field(it, F::Type);
                    params.push(of.map_or(Sketch::UNKNOWN, |it| self.type_term(it)));
                    self.bind_named(it);
                }
                K::SpreadParameter => {
                    any = true;
                    let grammar = self.w.grammar;
                    let name = children(it).find(|it| grammar.kind(*it) == K::Declarator);
                    let of = children(it)
                        .find(|it| !matches!(grammar.kind(*it), K::Modifiers | K::Declarator));
                    let of = of.map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                    params.push(of);
                    let declared = self.w.s.term(Term::Many(of));
                    if let Some(name) = name.and_then(|it| self.w.field(it, F::Name)) {
                        let word = self.w.s.word_of(name);
                        self.w.s.bind_local(word, Some(declared), None);
                    }
                }
                _ => {}
            }
        }
        (if any { (n, ANY_NUMBER) } else { (n, n) }, params)
    }

    /// Binds the name of a node with a type and perhaps a value.
    fn bind_named(&mut self, node: Node<'_>) {
        let of = self.w.field(node, F::Type).or_else(|| self.w.field(node, F::Right));
        let (name, of) = match (self.w.field(node, F::Name), of) {
            (Some(name), of) => (name, of),
            (None, _) if self.w.kind(node) == K::TypePattern => {
                match (node.named_child(1), node.named_child(0)) {
                    (Some(name), of) => (name, of),
                    _ => return,
                }
            }
            _ => return,
        };
        let declared = of.map(|it| self.type_term(it));
        let made = self.w.field(node, F::Value).map(|it| self.term(it));
        let word = self.w.s.word_of(name);
        self.w.s.bind_local(word, declared.filter(|it| *it != Sketch::UNKNOWN), made);
    }

    fn lambda(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let context = self.contexts.remove(&node.id());
        self.w.s.enter_function();
        if let Some(parameters) = self.w.field(node, F::Parameters) {
            match self.w.kind(parameters) {
                K::Identifier => {
                    let word = self.w.s.word_of(parameters);
                    self.w.s.bind_local(word, None, context);
                }
                K::InferredParameters => {
                    for (i, it) in children(parameters).enumerate() {
                        let word = self.w.s.word_of(it);
                        self.w.s.bind_local(word, None, context.filter(|_| i == 0));
                    }
                }
                _ => {
                    self.parameters(node);
                }
            }
        }
        self.inside(cursor);
        self.w.s.leave_function();
    }

    fn field(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let flags = self.flags(node);
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let grammar = self.w.grammar;
        let mut first = None;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Declarator) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let made = self.w.field(it, F::Value).map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            let def = self.w.s.define(DefKind::Field, word, name, node, flags);
            let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
            let def_ref = self.w.s.def(def);
            (def_ref.declared, def_ref.made) = (some(declared), some(made));
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

    fn constant(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let (Some(name), Some(class)) = (self.w.field(node, F::Name), self.w.s.class()) {
            let word = self.w.s.word_of(name);
            let def = self.w.s.define(
                DefKind::Field,
                word,
                name,
                node,
                Flags::STATIC.with(Flags::EXPORTED),
            );
            let made = self.w.s.term(Term::This(class));
            self.w.s.def(def).declared = Some(made);
            self.spoken = Some(name.id());
        }
        self.inside(cursor);
    }

    fn bind_variables(&mut self, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let grammar = self.w.grammar;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Declarator) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let made = self.w.field(it, F::Value).map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            self.w.s.bind_local(word, declared, made);
        }
    }

    fn bind_loop(&mut self, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return };
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let of = self.w.field(node, F::Value).map(|it| self.term(it));
        let made = of.map(|it| self.w.s.term(Term::Element(it)));
        let word = self.w.s.word_of(name);
        self.w.s.bind_local(word, declared, made);
    }
}
