//! Python.

mod bind;
mod define;
mod module;
mod term;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps};
use crate::facts::{Flags, RefKind, TermId};
use crate::sketch::{ScopeKind, Sketch};

names! {
    pub(crate) enum K {
        Comment = "comment", Text = "string", Identifier = "identifier", Attribute = "attribute", Call = "call",
        Function = "function_definition", Class = "class_definition", Decorated = "decorated_definition",
        Decorator = "decorator", Import = "import_statement", ImportFrom = "import_from_statement",
        FutureImport = "future_import_statement",
        Dotted = "dotted_name", Aliased = "aliased_import", Relative = "relative_import", Wildcard = "wildcard_import",
        Assignment = "assignment", Lambda = "lambda", Return = "return_statement", For = "for_statement",
        ForIn = "for_in_clause", AsPattern = "as_pattern", AsTarget = "as_pattern_target", Walrus = "named_expression",
        KeywordArgument = "keyword_argument", Type = "type", GenericType = "generic_type", Subscript = "subscript",
        TypeParameter = "type_parameter", Union = "union_type", Binary = "binary_operator", Boolean = "boolean_operator",
        PatternList = "pattern_list", TuplePattern = "tuple_pattern", ListPattern = "list_pattern",
        TypedParameter = "typed_parameter", TypedDefault = "typed_default_parameter", Default = "default_parameter",
        ListSplat = "list_splat_pattern", DictSplat = "dictionary_splat_pattern", Splat = "list_splat",
        DictionarySplat = "dictionary_splat", KeywordSeparator = "keyword_separator", PositionalSeparator = "positional_separator",
        ListComprehension = "list_comprehension", SetComprehension = "set_comprehension",
        DictComprehension = "dictionary_comprehension", Generator = "generator_expression",
        Parenthesized = "parenthesized_expression", Conditional = "conditional_expression", Await = "await",
        List = "list", Tuple = "tuple", Dictionary = "dictionary", Set = "set", Integer = "integer", Float = "float",
        True = "true", False = "false", None = "none", Concatenated = "concatenated_string", TypeAlias = "type_alias_statement",
        Expression = "expression_statement",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Body = "body", Parameters = "parameters", ReturnType = "return_type", Superclasses = "superclasses",
        Definition = "definition", ModuleName = "module_name", Alias = "alias", Function = "function", Arguments = "arguments",
        Object = "object", AttributeName = "attribute", Left = "left", Right = "right", Type = "type", Value = "value",
        TypeParameters = "type_parameters", Operator = "operator", Subscript = "subscript",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_python::LANGUAGE.into()));

struct Python<'a, 's> {
    w: Walk<'a, 's, K, F>,
    /// How the methods around call their object, and what that is.
    selfs: Vec<(&'s str, TermId)>,
    /// What decorators said about the definition that follows, and where they begin.
    decorated: Option<(Flags, bool, bool, u32, u32)>,
    spoken: Option<usize>,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        Python { w, selfs: Vec::new(), decorated: None, spoken: None }.visit(&mut tree.walk());
    });
}

steps!(Python);

impl Python<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::Comment => self.w.s.comment(node),
            K::Text => {
                self.w.s.string(node);
                // Only what is filled in is code.
                let quote = self.w.text(node).find(['"', '\'']).unwrap_or_default();
                if self.w.text(node)[..quote].contains(['f', 'F', 't', 'T']) {
                    self.inside(cursor);
                }
            }
            K::Identifier => self.mention(node, RefKind::Use),
            K::Type => self.types(node, 12),
            K::Attribute => self.first_only(cursor),
            K::KeywordArgument => self.last_only(cursor),
            K::Import => self.import(node),
            K::ImportFrom => self.import_from(node),
            K::FutureImport => {}
            K::Decorated => self.decorated(cursor, node),
            K::Function => self.function(cursor, node),
            K::Class => self.class(cursor, node),
            K::Lambda => self.lambda(cursor, node),
            K::Assignment => self.assignment(cursor, node),
            K::Return => {
                if let Some(value) = node.named_child(0) {
                    let term = self.term(value);
                    self.w.s.add_return(term);
                }
                self.inside(cursor);
            }
            K::For | K::ForIn => {
                self.bind_loop(node);
                self.inside(cursor);
            }
            K::ListComprehension | K::SetComprehension | K::DictComprehension | K::Generator => {
                self.w.s.enter(ScopeKind::Function);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::AsPattern => {
                self.bind_alias(node);
                self.inside(cursor);
            }
            K::Walrus => {
                if let (Some(name), Some(value)) =
                    (self.w.field(node, F::Name), self.w.field(node, F::Value))
                {
                    let made = self.term(value);
                    self.bind_target(name, None, made);
                }
                self.inside(cursor);
            }
            K::Call => self.call(cursor, node),
            _ => self.inside(cursor),
        }
    }

    fn mention(&mut self, node: Node<'_>, kind: RefKind) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(kind, term, node, 0);
    }

    /// The names in an annotation.
    fn types(&mut self, node: Node<'_>, left: u32) {
        match self.w.kind(node) {
            K::Identifier => self.mention(node, RefKind::Type),
            K::Attribute => {
                let term = self.term(node);
                if let Some(at) = self.w.field(node, F::AttributeName) {
                    self.w.s.refer(RefKind::Type, term, at, 0);
                }
            }
            K::Text => self.w.s.string(node),
            _ if left > 0 => children(node).for_each(|it| self.types(it, left - 1)),
            _ => {}
        }
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let Some(callee) = self.w.field(node, F::Function) {
            self.refer_to(callee, self.n_args(node));
        }
        self.inside(cursor);
    }

    fn refer_to(&mut self, callee: Node<'_>, n_args: u8) {
        let at = match self.w.kind(callee) {
            K::Identifier => {
                self.spoken = Some(callee.id());
                Some(callee)
            }
            K::Attribute => self.w.field(callee, F::AttributeName),
            _ => None,
        };
        if let Some(at) = at {
            let term = self.term(callee);
            self.w.s.refer(RefKind::Call, term, at, n_args);
        }
    }

    fn n_args(&self, node: Node<'_>) -> u8 {
        let arguments = self.w.field(node, F::Arguments);
        let is_spread = |it| matches!(it, K::Splat | K::DictionarySplat);
        self.w.n_args(arguments, |it| it == K::Comment, is_spread)
    }
}
