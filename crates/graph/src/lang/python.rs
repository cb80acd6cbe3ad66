//! Python: the walk, names, calls and annotations. Declarations, bindings, imports and terms have
//! files of their own. A *term*, such as `Member(…)` below, is an expression or a type, reduced to
//! what name resolution needs; the builder collects the facts and looks names up after the walk.
//! A *shape* is the form of a node as a term, with its operands. A function whose name ends with
//! `_within` looks at most `depth` levels below a node.
//!
//! ```text
//! class Store(Base):          definition: class `Store`, base `Base`
//!     def get(self, id):      definition: method `Store.get`, exactly 1 argument
//!         return self.db[id]  returned value: ElementOf(Member(This(Store), "db"))
//! Store().get(1)              references: call of `Store`, call of `get` of its result
//! ```

mod bindings;
mod declarations;
mod imports;
mod terms;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{
    LanguageWalk, MAX_LOOKAHEAD_DEPTH, SyntaxWalker, named_children, walk_source,
};
use super::term_shape::{TermShape, expression_term, expression_within};
use crate::facts::{DefFlags, RefKind, TermId};
use crate::facts_builder::{FactsBuilder, ScopeKind};
use bindings::{bind_alias, bind_loop_target, bind_walrus, visit_assignment};
use declarations::{visit_class, visit_decorated, visit_function, visit_lambda};
use imports::{visit_from_import, visit_import};

// grammar_names! declares an enum and adds the variant `Other` for every name that is not listed.
grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammar.
    enum NodeKind {
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
        Expression = "expression_statement", ExceptClause = "except_clause",
    }
}

grammar_names! {
    enum Field {
        Name = "name", Body = "body", Parameters = "parameters", ReturnType = "return_type", Superclasses = "superclasses",
        Definition = "definition", ModuleName = "module_name", Alias = "alias", Function = "function", Arguments = "arguments",
        Object = "object", AttributeName = "attribute", Left = "left", Right = "right", Type = "type", Value = "value",
        TypeParameters = "type_parameters", Operator = "operator", Subscript = "subscript",
    }
}

static PYTHON_GRAMMAR: LazyLock<Grammar<NodeKind, Field>> =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::Python));

struct PythonWalk;

type PythonWalker<'a, 's> = SyntaxWalker<'a, 's, PythonWalk>;

#[derive(Default)]
struct PythonState<'s> {
    /// First parameters of the enclosing methods (`self`, `cls`) and their values (the object, the
    /// class), innermost last.
    self_parameters: Vec<(&'s str, TermId)>,
    /// Decorators of the definition that follows.
    decorators: Option<DecoratorInfo>,
}

/// The decorators of a function or class, as far as they matter.
#[derive(Clone, Copy)]
struct DecoratorInfo {
    flags: DefFlags,
    is_static_method: bool,
    is_class_method: bool,
    /// Start of the first decorator.
    start_byte: u32,
    /// Line of the first decorator.
    start_line: u32,
}

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    walk_source::<PythonWalk>(builder, &PYTHON_GRAMMAR, builder.source);
}

impl LanguageWalk for PythonWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = PythonState<'s>;

    fn visit_node(walker: &mut PythonWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else { return };
        match kind {
            NodeKind::Comment => walker.builder.mark_comment(node),
            NodeKind::Text => visit_string(walker, cursor, node),
            NodeKind::Identifier => walker.add_name_reference(node, RefKind::Use),
            NodeKind::Type => add_annotation_references(walker, node, MAX_LOOKAHEAD_DEPTH),
            // `object.name`: the name after the dot means nothing by itself.
            NodeKind::Attribute => walker.visit_first_child(cursor),
            // `f(name=value)`: the name is that of a parameter.
            NodeKind::KeywordArgument => walker.visit_last_child(cursor),
            NodeKind::Import => visit_import(walker, node),
            NodeKind::ImportFrom => visit_from_import(walker, node),
            // `from __future__ import …` imports nothing; it switches a feature of the compiler on.
            NodeKind::FutureImport => {}
            NodeKind::Decorated => visit_decorated(walker, cursor, node),
            NodeKind::Function => visit_function(walker, cursor, node),
            NodeKind::Class => visit_class(walker, cursor, node),
            NodeKind::Lambda => visit_lambda(walker, cursor, node),
            NodeKind::Assignment => visit_assignment(walker, cursor, node),
            NodeKind::Return => walker.visit_return(cursor),
            NodeKind::For | NodeKind::ForIn => {
                bind_loop_target(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::ListComprehension
            | NodeKind::SetComprehension
            | NodeKind::DictComprehension
            | NodeKind::Generator => {
                // `[x for x in xs]` has variables of its own, as a function has; it needs no more of
                // one, because it cannot hold a `return`.
                walker.builder.scopes.enter(ScopeKind::Function);
                walker.visit_children(cursor);
                walker.builder.scopes.leave();
            }
            NodeKind::AsPattern => {
                bind_alias(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::Walrus => {
                bind_walrus(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::Call => visit_call(walker, cursor, node),
            // Any other node has no facts of its own, but its children may have.
            _ => walker.visit_children(cursor),
        }
    }

    fn expression_shape(kind: NodeKind) -> TermShape<Self> {
        terms::expression_shape(kind)
    }

    fn type_shape(kind: NodeKind) -> TermShape<Self> {
        terms::type_shape(kind)
    }

    /// In Python the name of a type is an expression like any other.
    fn type_name_within(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        expression_within(walker, node, depth)
    }
}

/// `"text"`, `f"text {value}"`
fn visit_string(walker: &mut PythonWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    walker.builder.mark_string(node);
    // Only the replacement fields of an f-string or t-string are code.
    let text = walker.text(node);
    let prefix_len = text.find(['"', '\'']).unwrap_or_default();
    if text[..prefix_len].contains(['f', 'F', 't', 'T']) {
        walker.visit_children(cursor);
    }
}

/// Records the names in an annotation as references to types: `dict`, `str` and `Row` in
/// `x: dict[str, a.Row]`.
fn add_annotation_references(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) {
    match walker.kind(node) {
        NodeKind::Identifier => walker.add_name_reference(node, RefKind::Type),
        NodeKind::Attribute => {
            let term = expression_term(walker, node);
            // The reference points at the last name of `a.b.C`.
            if let Some(name) = walker.field(node, Field::AttributeName) {
                let no_args = 0;
                walker.builder.add_reference(RefKind::Type, term, name, no_args);
            }
        }
        // The names of a quoted type (`"Row"`) have no nodes.
        NodeKind::Text => walker.builder.mark_string(node),
        _ if depth > 0 => {
            named_children(node).for_each(|it| add_annotation_references(walker, it, depth - 1));
        }
        // Nested too deeply.
        _ => {}
    }
}

/// `f(x)`, `object.method(x)`
fn visit_call(walker: &mut PythonWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    if let Some(callee) = walker.field(node, Field::Function) {
        let arguments = walker.field(node, Field::Arguments);
        let is_comment = |it| it == NodeKind::Comment;
        // `*args` stands for any number of arguments.
        let is_splat = |it| matches!(it, NodeKind::Splat | NodeKind::DictionarySplat);
        let n_args = walker.count_arguments(arguments, is_comment, is_splat);
        add_call_reference(walker, callee, n_args);
    }
    walker.visit_children(cursor);
}

/// Records the call of `f` or `object.method`; a decorator calls in the same way.
fn add_call_reference(walker: &mut PythonWalker<'_, '_>, callee: Node<'_>, n_args: u8) {
    let name = match walker.kind(callee) {
        NodeKind::Identifier => {
            // The walk reaches the name later and must not record it as a plain use.
            walker.skip_next_use(callee);
            Some(callee)
        }
        NodeKind::Attribute => walker.field(callee, Field::AttributeName),
        // The callee is an expression without a name: `f()()`.
        _ => None,
    };
    if let Some(name) = name {
        let term = expression_term(walker, callee);
        walker.builder.add_reference(RefKind::Call, term, name, n_args);
    }
}
