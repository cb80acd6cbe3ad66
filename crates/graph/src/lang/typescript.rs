//! TypeScript, TSX and JavaScript: one walk, three grammars.

mod bind;
mod define;
mod module;
mod shape;
mod term;
mod types;
mod variable;

use std::collections::HashMap;
use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps, unquoted};
use crate::facts::{DefKind, Flags, RefKind, Term, TermId};
use crate::fast::FastHasher;
use crate::lang::Lang;
use crate::sketch::{ANY_NUMBER, ScopeKind, Sketch};

names! {
    pub(crate) enum K {
        Comment = "comment", Text = "string", Template = "template_string", Regex = "regex", Number = "number",
        Identifier = "identifier", ShorthandProperty = "shorthand_property_identifier", TypeIdentifier = "type_identifier",
        ShorthandPattern = "shorthand_property_identifier_pattern", PropertyIdentifier = "property_identifier",
        PrivateProperty = "private_property_identifier",
        FunctionDeclaration = "function_declaration", GeneratorDeclaration = "generator_function_declaration",
        FunctionSignature = "function_signature", FunctionExpression = "function_expression",
        Generator = "generator_function", Arrow = "arrow_function", MethodDefinition = "method_definition",
        AbstractMethod = "abstract_method_signature", MethodSignature = "method_signature",
        FieldDefinition = "public_field_definition", JsField = "field_definition", PropertySignature = "property_signature",
        ClassDeclaration = "class_declaration", AbstractClass = "abstract_class_declaration", Class = "class",
        Interface = "interface_declaration", TypeAlias = "type_alias_declaration", Enum = "enum_declaration",
        EnumAssignment = "enum_assignment", EnumBody = "enum_body", ClassBody = "class_body",
        InternalModule = "internal_module", Module = "module",
        Lexical = "lexical_declaration", Variable = "variable_declaration", Declarator = "variable_declarator",
        Import = "import_statement", ImportClause = "import_clause", NamespaceImport = "namespace_import",
        NamedImports = "named_imports", ImportSpecifier = "import_specifier", ImportRequire = "import_require_clause",
        ImportKeyword = "import",
        Export = "export_statement", ExportClause = "export_clause", ExportSpecifier = "export_specifier",
        NamespaceExport = "namespace_export",
        Call = "call_expression", New = "new_expression", MemberAccess = "member_expression",
        Subscript = "subscript_expression", This = "this", Super = "super", Await = "await_expression",
        Parenthesized = "parenthesized_expression", NonNull = "non_null_expression", As = "as_expression",
        Satisfies = "satisfies_expression", Assignment = "assignment_expression", Ternary = "ternary_expression",
        Binary = "binary_expression", Object = "object", Array = "array", Pair = "pair", Spread = "spread_element",
        Sequence = "sequence_expression", Return = "return_statement", True = "true", False = "false",
        Null = "null", Undefined = "undefined", TypeAssertion = "type_assertion",
        Block = "statement_block", For = "for_statement", ForIn = "for_in_statement", Catch = "catch_clause",
        SwitchBody = "switch_body",
        JsxOpening = "jsx_opening_element", JsxSelfClosing = "jsx_self_closing_element", JsxClosing = "jsx_closing_element",
        JsxElement = "jsx_element", JsxText = "jsx_text", Decorator = "decorator",
        ObjectPattern = "object_pattern", ArrayPattern = "array_pattern", PairPattern = "pair_pattern",
        RestPattern = "rest_pattern", AssignmentPattern = "assignment_pattern",
        ObjectAssignmentPattern = "object_assignment_pattern",
        RequiredParameter = "required_parameter", OptionalParameter = "optional_parameter",
        Accessibility = "accessibility_modifier", OverrideModifier = "override_modifier",
        TypeAnnotation = "type_annotation", Predefined = "predefined_type", Nested = "nested_type_identifier",
        NestedIdentifier = "nested_identifier",
        Generic = "generic_type", ArrayType = "array_type", ReadonlyType = "readonly_type",
        ParenthesizedType = "parenthesized_type", Union = "union_type", Intersection = "intersection_type",
        ObjectType = "object_type", FunctionType = "function_type", Lookup = "lookup_type", TypeQuery = "type_query",
        Tuple = "tuple_type", Literal = "literal_type", ThisType = "this_type", TypeArguments = "type_arguments",
        OptionalType = "optional_type", RestType = "rest_type", TypePredicate = "type_predicate",
        Asserts = "asserts_annotation", TypePredicateAnnotation = "type_predicate_annotation",
        TypeParameters = "type_parameters", TypeParameter = "type_parameter", Constraint = "constraint",
        Heritage = "class_heritage", Extends = "extends_clause", Implements = "implements_clause",
        ExtendsTypes = "extends_type_clause",
        StaticWord = "'static", GetWord = "'get", DefaultWord = "'default", ReadonlyWord = "'readonly", OfWord = "'of",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Body = "body", Value = "value", Type = "type", ReturnType = "return_type",
        Parameters = "parameters", Parameter = "parameter", Pattern = "pattern", Function = "function",
        Constructor = "constructor", Object = "object", Property = "property", Index = "index", Arguments = "arguments",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters", Source = "source", Alias = "alias",
        Declaration = "declaration", Left = "left", Right = "right", Key = "key", Constraint = "constraint",
        Module = "module", Consequence = "consequence", Alternative = "alternative", Operator = "operator",
        Kind = "kind", Initializer = "initializer",
    }
}

static TYPESCRIPT: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()));
static TSX: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_typescript::LANGUAGE_TSX.into()));
static JAVASCRIPT: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_javascript::LANGUAGE.into()));

/// What a node further down is the value of.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// The body of this function.
    Function(u32),
    /// An object whose properties are members of this definition.
    Object(u32),
    /// A class expression that bears this definition's name.
    Class(u32),
}

struct Script<'a, 's> {
    w: Walk<'a, 's, K, F>,
    /// By the id of the node, which the walk has not reached yet.
    roles: HashMap<usize, Role, FastHasher>,
    /// What is known of a callback's first parameters, by the id of its node.
    contexts: HashMap<usize, [TermId; 2], FastHasher>,
    /// Callees that have been referred to as such already.
    spoken: Option<usize>,
    /// The statement around is an export.
    exporting: bool,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    let grammar = match sketch.lang {
        Lang::Tsx => &*TSX,
        Lang::JavaScript => &*JAVASCRIPT,
        _ => &*TYPESCRIPT,
    };
    grammar.parse(sketch.source, |tree| {
        let w = Walk { grammar, s: sketch, depth: 0 };
        let (roles, contexts) = (HashMap::default(), HashMap::default());
        let mut script = Script { w, roles, contexts, spoken: None, exporting: false };
        script.visit(&mut tree.walk());
    });
}

steps!(Script);

impl<'s> Script<'_, 's> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::Comment => self.w.s.comment(node),
            K::Text | K::Regex | K::JsxText => self.w.s.string(node),
            K::Template => {
                self.w.s.string(node);
                self.inside(cursor);
            }
            K::Identifier | K::ShorthandProperty => self.mention(node),
            K::TypeIdentifier => {
                let name = self.w.text(node);
                let name = self.w.s.free(name);
                let term = self.w.s.object(name);
                self.w.s.refer(RefKind::Type, term, node, 0);
            }
            K::Import => self.import(node),
            K::Export => self.export(cursor, node),
            K::FunctionDeclaration | K::GeneratorDeclaration | K::FunctionSignature => {
                self.function_declaration(cursor, node);
            }
            K::Arrow | K::FunctionExpression | K::Generator => self.function_value(cursor, node),
            K::ClassDeclaration | K::AbstractClass | K::Class => self.class(cursor, node),
            K::Interface => self.interface(cursor, node),
            K::TypeAlias => self.type_alias(cursor, node),
            K::Enum => self.enumeration(cursor, node),
            K::InternalModule | K::Module => self.namespace(cursor, node),
            K::Lexical | K::Variable => self.variables(cursor, node),
            K::Object if self.roles.contains_key(&node.id()) => self.object_members(cursor, node),
            K::Call => self.call(cursor, node),
            K::New => self.construction(cursor, node),
            K::JsxOpening | K::JsxSelfClosing => self.element(cursor, node),
            K::JsxClosing => {}
            K::Assignment => self.assignment(cursor, node),
            K::Return => {
                if let Some(value) = node.named_child(0).filter(|it| self.w.kind(*it) != K::Comment)
                {
                    let term = self.term(value);
                    self.w.s.add_return(term);
                }
                self.inside(cursor);
            }
            K::Block | K::SwitchBody | K::For => self.scoped(cursor),
            K::ForIn => {
                self.w.s.enter(ScopeKind::Block);
                self.bind_loop(node);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Catch => {
                self.w.s.enter(ScopeKind::Block);
                if let Some(it) = self.w.field(node, F::Parameter) {
                    self.bind_pattern(it, None, None);
                }
                self.inside(cursor);
                self.w.s.leave();
            }
            _ => self.inside(cursor),
        }
    }

    fn scoped(&mut self, cursor: &mut TreeCursor<'_>) {
        self.w.s.enter(ScopeKind::Block);
        self.inside(cursor);
        self.w.s.leave();
    }

    /// A bare name that is no callee.
    fn mention(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(RefKind::Use, term, node, 0);
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let callee = self.w.field(node, F::Function).map(|it| self.unwrap(it));
        let n_args = self.n_args(node);
        if let Some(callee) = callee {
            self.refer_to(callee, RefKind::Call, n_args);
            self.give_context(callee, node);
        }
        if let Some(test) = callee.and_then(|it| self.test_case(it, node)) {
            self.w.s.open(test);
            self.inside(cursor);
            self.w.s.close();
            return;
        }
        self.inside(cursor);
    }

    fn construction(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let Some(it) = self.w.field(node, F::Constructor) {
            let it = self.unwrap(it);
            let n_args = self.n_args(node);
            self.refer_to(it, RefKind::New, n_args);
        }
        self.inside(cursor);
    }

    /// A component in JSX; a name in lower case is the browser's.
    fn element(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let Some(name) = self.w.field(node, F::Name) {
            let is_own = self.w.kind(name) != K::Identifier
                || self
                    .w
                    .text(name)
                    .starts_with(|it: char| it.is_uppercase() || it == '_' || it == '$');
            if is_own {
                self.refer_to(name, RefKind::Call, ANY_NUMBER);
            } else {
                self.spoken = Some(name.id());
            }
        }
        self.inside(cursor);
    }

    fn refer_to(&mut self, callee: Node<'_>, kind: RefKind, n_args: u8) {
        let at = match self.w.kind(callee) {
            K::Identifier => {
                self.spoken = Some(callee.id());
                callee
            }
            K::MemberAccess => match self.w.field(callee, F::Property) {
                Some(it) => it,
                None => return,
            },
            K::NestedIdentifier => match children(callee).last() {
                Some(it) => it,
                None => return,
            },
            _ => return,
        };
        let term = self.term(callee);
        self.w.s.refer(kind, term, at, n_args);
    }

    fn n_args(&self, node: Node<'_>) -> u8 {
        let arguments = self.w.field(node, F::Arguments);
        self.w.n_args(arguments, |it| it == K::Comment, |it| it == K::Spread)
    }

    /// `it("works", …)`: a test without a name of its own.
    fn test_case(&mut self, callee: Node<'_>, node: Node<'_>) -> Option<u32> {
        if !self.w.s.is_test {
            return None;
        }
        let head = self.text_head(callee);
        if !matches!(head, "it" | "test" | "describe" | "suite") {
            return None;
        }
        let arguments = self.w.field(node, F::Arguments)?;
        let title = arguments
            .named_child(0)
            .filter(|it| matches!(self.w.kind(*it), K::Text | K::Template))?;
        let word = self.w.s.word(unquoted(self.w.text(title)));
        Some(self.w.s.define(DefKind::Test, word, title, node, Flags::TEST))
    }

    /// The first name of `a.b.c` or `a.b(…)`.
    fn text_head(&self, mut node: Node<'_>) -> &'s str {
        for _ in 0..4 {
            let next = match self.w.kind(node) {
                K::MemberAccess => self.w.field(node, F::Object),
                K::Call => self.w.field(node, F::Function),
                _ => return self.w.text(node),
            };
            let Some(next) = next else { return "" };
            node = next;
        }
        ""
    }

    /// `this.x = …` declares a property; `exports.x = …` hands one out.
    fn assignment(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (left, right) = (self.w.field(node, F::Left), self.w.field(node, F::Right));
        if let (Some(left), Some(right)) = (left, right)
            && self.w.kind(left) == K::MemberAccess
            && let (Some(object), Some(property)) =
                (self.w.field(left, F::Object), self.w.field(left, F::Property))
        {
            let right = self.unwrap(right);
            match (self.w.kind(object), self.w.s.class()) {
                (K::This, Some(class)) => {
                    let (name, made) = (self.w.s.word_of(property), self.term(right));
                    self.w.s.assign(class, name, made, property, node);
                }
                _ if !self.w.s.is_inside_function() => {
                    self.assign_outside(node, object, property, right);
                }
                _ => {}
            }
        }
        self.inside(cursor);
    }

    /// The class around, for `this`; inside a plain function `this` is anybody's guess.
    fn this(&self) -> Option<Term> {
        self.w.s.class().map(Term::This)
    }
}
