//! Go: the walk, references and imports. Declarations, variables and terms have files of their own.
//! A *term*, such as `Member(…)` below, is an expression or a type, reduced to what name resolution
//! needs; the builder collects the facts and looks names up after the walk.
//!
//! ```text
//! import "app/db"                          import: module `app/db` as `db`
//! type Store struct { conn *db.Conn }      definitions: class `Store`, field `Store.conn`
//! func (s *Store) Get(id int) Row {        definition: method `Get`, owner `Store`, 1 argument
//!     return s.conn.Find(id)               reference: call of Member(Member(s, "conn"), "Find")
//! }
//! ```

mod bindings;
mod declarations;
mod terms;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{LanguageWalk, SyntaxWalker, strip_quotes, walk_source};
use super::term_shape::{TermShape, expression_term, type_name};
use crate::facts::{ImportKind, RefKind, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, FactsBuilder};
use bindings::{
    bind_range_variables, bind_short_variables, bind_switched_variable, visit_variables,
};
use declarations::{bind_parameters, record_return, visit_function, visit_method, visit_type_spec};

// grammar_names! declares an enum and adds the variant `Other` for every name that is not listed.
grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammar.
    enum NodeKind {
        Comment = "comment", Text = "interpreted_string_literal", RawText = "raw_string_literal", Rune = "rune_literal",
        Int = "int_literal", Float = "float_literal", True = "true", False = "false", Nil = "nil",
        Identifier = "identifier", TypeIdentifier = "type_identifier", Qualified = "qualified_type",
        FieldIdentifier = "field_identifier",
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

grammar_names! {
    enum Field {
        Name = "name", Path = "path", Type = "type", Body = "body", Parameters = "parameters", Result = "result",
        Receiver = "receiver", Value = "value", Left = "left", Right = "right", Function = "function", Arguments = "arguments",
        Operand = "operand", Member = "field", Package = "package", Element = "element", Key = "key", Alias = "alias",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters",
    }
}

static GO_GRAMMAR: LazyLock<Grammar<NodeKind, Field>> =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::Go));

struct GoWalk;

type GoWalker<'a, 's> = SyntaxWalker<'a, 's, GoWalk>;

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    walk_source::<GoWalk>(builder, &GO_GRAMMAR, builder.source);
}

impl LanguageWalk for GoWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = ();

    fn visit_node(walker: &mut GoWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else { return };
        match kind {
            NodeKind::Comment => walker.builder.mark_comment(node),
            NodeKind::Text | NodeKind::RawText | NodeKind::Rune => walker.builder.mark_string(node),
            NodeKind::Identifier => walker.add_name_reference(node, RefKind::Use),
            NodeKind::TypeIdentifier => walker.add_name_reference(node, RefKind::Type),
            NodeKind::Qualified => add_qualified_type_reference(walker, node),
            NodeKind::Import => visit_import(walker, node),
            NodeKind::Function => visit_function(walker, cursor, node),
            NodeKind::Method => visit_method(walker, cursor, node),
            // `func(x T) { … }` has no definition; its calls belong to the enclosing one.
            NodeKind::FuncLiteral => {
                walker.builder.enter_function();
                bind_parameters(walker, node);
                walker.visit_children(cursor);
                walker.builder.leave_function();
            }
            NodeKind::TypeSpec | NodeKind::TypeAlias => visit_type_spec(walker, cursor, node),
            NodeKind::VarSpec | NodeKind::ConstSpec => visit_variables(walker, cursor, node),
            NodeKind::ShortVar => {
                bind_short_variables(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::Range => {
                bind_range_variables(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::Return => {
                record_return(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::TypeCase => {
                walker.visit_block_with(cursor, |walker| bind_switched_variable(walker, node));
            }
            NodeKind::Block
            | NodeKind::If
            | NodeKind::For
            | NodeKind::Switch
            | NodeKind::TypeSwitch
            | NodeKind::Select
            | NodeKind::CommCase
            | NodeKind::ExpressionCase => walker.visit_block(cursor),
            // In `a.b` the name after the dot means nothing by itself.
            NodeKind::Selector => walker.visit_first_child(cursor),
            NodeKind::KeyedElement => visit_keyed_element(walker, cursor),
            NodeKind::Call => visit_call(walker, cursor, node),
            NodeKind::Composite => visit_composite(walker, cursor, node),
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

    fn type_name_within(walker: &mut GoWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        terms::type_name_within(walker, node, depth)
    }
}

/// `db.Conn` in a type.
fn add_qualified_type_reference(walker: &mut GoWalker<'_, '_>, node: Node<'_>) {
    let term = type_name(walker, node);
    if let Some(name) = walker.field(node, Field::Name) {
        walker.builder.add_reference(RefKind::Type, term, name, 0);
    }
}

/// `T{…}` creates a value of `T`.
fn visit_composite(walker: &mut GoWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    if let Some(type_node) = walker.field(node, Field::Type) {
        // The name is recorded once more as a use of the type when the children are visited.
        let term = type_name(walker, type_node);
        let name = last_name_node(walker, type_node);
        walker.builder.add_reference(RefKind::New, term, name, ANY_ARG_COUNT);
    }
    walker.visit_children(cursor);
}

/// `key: value` in a composite literal. A bare key names a field of the type, no variable.
fn visit_keyed_element(walker: &mut GoWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    let mut is_key = true;
    walker.for_each_child(cursor, |walker, cursor| {
        let content = cursor.node().named_child(0);
        let is_field_name =
            is_key && content.is_some_and(|it| walker.kind(it) == NodeKind::Identifier);
        if !is_field_name {
            GoWalk::visit_node(walker, cursor);
        }
        is_key = false;
    });
}

/// The node of the simple name at the end of a type: `List` in `db.List[T]`.
fn last_name_node<'t>(walker: &GoWalker<'_, '_>, node: Node<'t>) -> Node<'t> {
    // The type without its arguments, which is never generic itself.
    let path = match walker.kind(node) {
        NodeKind::GenericType => walker.field(node, Field::Type).unwrap_or(node),
        _ => node,
    };
    match walker.kind(path) {
        NodeKind::Qualified => walker.field(path, Field::Name).unwrap_or(path),
        _ => path,
    }
}

/// `f(x)`, `object.Method(x)`
fn visit_call(walker: &mut GoWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let callee = walker.field(node, Field::Function);
    let name = callee.and_then(|it| match walker.kind(it) {
        NodeKind::Identifier => Some(it),
        NodeKind::Selector => walker.field(it, Field::Member),
        // The callee is an expression without a name: `f()()`, `f[T](x)`.
        _ => None,
    });
    if let (Some(callee), Some(name)) = (callee, name) {
        // The walk reaches the callee later and must not record it as a plain use.
        if walker.kind(callee) == NodeKind::Identifier {
            walker.skip_next_use(callee);
        }
        let n_args = walker.count_arguments(
            walker.field(node, Field::Arguments),
            |it| it == NodeKind::Comment,
            |it| it == NodeKind::VariadicArgument,
        );
        let term = expression_term(walker, callee);
        walker.builder.add_reference(RefKind::Call, term, name, n_args);
    }
    walker.visit_children(cursor);
}

/// One import: `"a"`, `b "a"`, `. "a"` or `_ "a"`.
fn visit_import(walker: &mut GoWalker<'_, '_>, node: Node<'_>) {
    let path = walker.field(node, Field::Path).map(|it| strip_quotes(walker.text(it)));
    let Some(path) = path else { return };
    let name = walker.field(node, Field::Name);
    let (kind, local) = match name.map(|it| walker.kind(it)) {
        // `. "a"`
        Some(NodeKind::Dot) => (ImportKind::Star, None),
        // `_ "a"`
        Some(NodeKind::Blank) => (ImportKind::Effect, None),
        // `b "a"`
        Some(_) => (ImportKind::Module, name.map(|it| walker.text(it))),
        // `"a"`
        None => (ImportKind::Module, Some(conventional_package_name(path))),
    };
    let import = walker.builder.add_import(kind, path, "*", local, node);
    if local.is_some() {
        walker.builder.bind_import(import);
    }
}

/// The name of a package whose import gives none: by convention the last part of its path, without
/// a version (`/v2`, `.v3`) and without the prefix `go-`.
fn conventional_package_name(path: &str) -> &str {
    let mut parts_from_end = path.rsplit('/');
    let last = parts_from_end.next().unwrap_or(path);
    let is_version =
        last.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let name = if is_version { parts_from_end.next().unwrap_or(last) } else { last };
    let name = name.split(".v").next().unwrap_or(name);
    name.strip_prefix("go-").unwrap_or(name)
}
