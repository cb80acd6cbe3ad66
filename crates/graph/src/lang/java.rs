//! Java.

mod bind;
mod define;
mod term;

use std::collections::HashMap;
use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps};
use crate::facts::{ImportKind, RefKind, Term, TermId};
use crate::fast::FastHasher;
use crate::sketch::{ScopeKind, Sketch};

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
        let import = self.w.s.import(kind, module, item, None, node);
        if !is_star {
            self.w.s.bind_import(import);
        }
    }
}
