//! Rust: the walk, paths, calls and attributes. Items, functions, patterns, macros, imports and
//! terms have files of their own.
//!
//! The walk records *definitions*, and *references*: the places where a name is used. A reference
//! contains a *term*, an expression reduced to what name lookup needs: that of `self.rows.find(id)`
//! is `Member(Member(self, "rows"), "find")`.
//!
//! ```text
//! impl Store {                          self_types: `Self` means `Store`
//!     pub fn get(&self, id: u64) -> Row {
//!                                       definition: method `get`, owner `Store`, 1 to 2 arguments
//!                                       references: types `Row`, `Store`
//!         self.rows.find(id)            call of `find`, a member of `rows` of a `Store`
//!     }
//! }
//! ```

mod functions;
mod imports;
mod items;
mod macro_tokens;
mod macros;
mod patterns;
mod terms;

use std::collections::HashMap;
use std::sync::LazyLock;

use model::hasher::FastBuildHasher;
use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{LanguageWalk, SyntaxWalker, strip_quotes, walk_source};
use super::term_shape::{TermShape, expression_term, type_name};
use crate::facts::{DefFlags, DefId, RefKind, StringId, Term, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, BaseRelation, FactsBuilder, ScopeKind};
use functions::{visit_closure, visit_function};
use imports::visit_use;
use items::{
    define_macro, visit_constant, visit_enum, visit_impl, visit_module, visit_struct, visit_trait,
    visit_type_alias,
};
use macros::visit_macro_call;
use patterns::{bind_arm_pattern, bind_loop_pattern, visit_let, visit_let_condition, visit_match};

grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammar. Those that begin with a
    /// quote are tokens, which occur inside macro calls.
    enum NodeKind {
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
        OrPattern = "or_pattern", CapturedPattern = "captured_pattern", LetChain = "let_chain", ElseClause = "else_clause", Lifetime = "lifetime",
    }
}

grammar_names! {
    enum Field {
        Name = "name", Body = "body", Type = "type", Trait = "trait", Value = "value", Pattern = "pattern", Path = "path",
        Parameters = "parameters", ReturnType = "return_type", Function = "function", Arguments = "arguments", Member = "field",
        Argument = "argument", List = "list", Alias = "alias", TypeParameters = "type_parameters", TypeArguments = "type_arguments",
        Bounds = "bounds", Element = "element", Consequence = "consequence", Alternative = "alternative", MacroName = "macro",
    }
}

static RUST_GRAMMAR: LazyLock<Grammar<NodeKind, Field>> =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::Rust));

/// Methods that pass an element of their object to the closure they are given: `xs.map(|x| …)`. The
/// content of an option counts as its element.
#[rustfmt::skip]
const ELEMENT_CALLBACK_METHODS: &[&str] = &[
    "map", "for_each", "filter", "find", "any", "all", "position", "flat_map", "filter_map", "inspect",
    "partition", "take_while", "skip_while", "find_map", "and_then", "is_some_and", "is_none_or",
    "map_or", "min_by_key", "max_by_key", "sort_by_key", "retain",
];

struct RustWalk;

type RustWalker<'a, 's> = SyntaxWalker<'a, 's, RustWalk>;

/// The meaning of `Self` and `self` inside a trait or an `impl`.
#[derive(Clone, Copy)]
struct SelfType {
    /// `Self`
    type_name: TermId,
    /// `self`
    object: TermId,
}

#[derive(Default)]
struct RustState<'s> {
    /// Traits and `impl` blocks around the current node, innermost last.
    self_types: Vec<SelfType>,
    /// The attributes before the next item mark a test.
    is_test_item: bool,
    /// The file in `#[path = "…"]` before the next item.
    module_file: Option<&'s str>,
    /// The value of a closure's first parameter, by the id of the closure's node.
    closure_arguments: HashMap<usize, TermId, FastBuildHasher>,
    /// The type's simple name and the trait of each `impl Trait for Type` so far.
    trait_impls: Vec<(StringId, TermId)>,
    /// Names of the inline modules around the current node, outermost first.
    inline_modules: Vec<String>,
    /// The values that the enclosing `match` expressions inspect, innermost last.
    matched_values: Vec<TermId>,
    /// Number of enclosing macro calls whose tokens were parsed as code.
    macro_depth: u32,
}

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    walk_source::<RustWalk>(builder, &RUST_GRAMMAR, builder.source);
}

impl LanguageWalk for RustWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = RustState<'s>;

    fn visit_node(walker: &mut RustWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else { return };
        match kind {
            NodeKind::LineComment | NodeKind::BlockComment => walker.builder.mark_comment(node),
            NodeKind::Text | NodeKind::RawText | NodeKind::Char => walker.builder.mark_string(node),
            NodeKind::Identifier => walker.add_name_reference(node, RefKind::Use),
            NodeKind::TypeIdentifier => {
                let term = type_name(walker, node);
                walker.builder.add_reference(RefKind::Type, term, node, 0);
            }
            NodeKind::Scoped | NodeKind::ScopedType => add_path_reference(walker, node),
            NodeKind::Attribute => read_attribute(walker, node),
            NodeKind::Use => visit_use(walker, node),
            NodeKind::Mod => visit_module(walker, cursor, node),
            NodeKind::Function | NodeKind::Signature => visit_function(walker, cursor, node),
            NodeKind::Struct | NodeKind::UnionItem => visit_struct(walker, cursor, node),
            NodeKind::EnumItem => visit_enum(walker, cursor, node),
            NodeKind::Trait => visit_trait(walker, cursor, node),
            NodeKind::Impl => visit_impl(walker, cursor, node),
            NodeKind::TypeItem | NodeKind::AssociatedType => visit_type_alias(walker, cursor, node),
            NodeKind::Const | NodeKind::Static => visit_constant(walker, cursor, node),
            // The rules of a macro are not code and are not visited.
            NodeKind::Macro => define_macro(walker, node),
            NodeKind::Let => visit_let(walker, cursor, node),
            NodeKind::LetCondition => visit_let_condition(walker, cursor, node),
            NodeKind::For => {
                walker.visit_block_with(cursor, |walker| bind_loop_pattern(walker, node));
            }
            NodeKind::Match => visit_match(walker, cursor, node),
            NodeKind::MatchArm => {
                walker.visit_block_with(cursor, |walker| bind_arm_pattern(walker, node));
            }
            NodeKind::Closure => visit_closure(walker, cursor, node),
            NodeKind::Block | NodeKind::If => visit_scoped_block(walker, cursor),
            NodeKind::Return => walker.visit_return(cursor),
            NodeKind::Call => visit_call(walker, cursor, node),
            NodeKind::MacroCall => visit_macro_call(walker, node),
            NodeKind::StructExpression => visit_struct_expression(walker, cursor, node),
            // Any other node has no facts of its own, but its children may have.
            _ => walker.visit_children(cursor),
        }
    }

    /// Joins each `impl Trait for Type` with its type, which may be defined further down.
    fn finish_walk(walker: &mut RustWalker<'_, '_>) {
        for (name, trait_term) in std::mem::take(&mut walker.state.trait_impls) {
            let mut defs = walker.builder.defs.iter();
            // A type of another file gets no base here: facts refer to their own file only.
            if let Some(def) = defs.position(|it| it.name == name && it.kind.is_type()) {
                walker.builder.add_base(
                    DefId::from_index(def),
                    trait_term,
                    BaseRelation::Implements,
                );
            }
        }
    }

    fn expression_shape(kind: NodeKind) -> TermShape<Self> {
        terms::expression_shape(kind)
    }

    fn type_shape(kind: NodeKind) -> TermShape<Self> {
        terms::type_shape(kind)
    }

    fn type_name_within(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        terms::type_name_within(walker, node, depth)
    }
}

/// Visits `{ … }` or `if … { … }`. Every `let` in it opens a scope, and all of them end here.
fn visit_scoped_block(walker: &mut RustWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    let outer = walker.builder.scopes.current();
    walker.builder.scopes.enter(ScopeKind::Block);
    walker.visit_children(cursor);
    walker.builder.scopes.return_to(outer);
}

/// Records `a::b` as one reference, at the position of `b`.
fn add_path_reference(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    if walker.is_use_to_skip(node) {
        return;
    }
    let is_type = walker.kind(node) == NodeKind::ScopedType;
    let (term, kind) = if is_type {
        (type_name(walker, node), RefKind::Type)
    } else {
        (expression_term(walker, node), RefKind::Use)
    };
    if let Some(name) = walker.field(node, Field::Name) {
        walker.builder.add_reference(kind, term, name, 0);
    }
}

/// The node of the simple name at the end of a path or type: `Vec` in `std::vec::Vec<T>`.
fn last_name_node<'t>(walker: &RustWalker<'_, '_>, node: Node<'t>) -> Node<'t> {
    // The type without its arguments, which is never generic itself.
    let path = match walker.kind(node) {
        NodeKind::GenericType | NodeKind::GenericTypeTurbo => {
            walker.field(node, Field::Type).unwrap_or(node)
        }
        _ => node,
    };
    match walker.kind(path) {
        NodeKind::Scoped | NodeKind::ScopedType => walker.field(path, Field::Name).unwrap_or(path),
        _ => path,
    }
}

/// Remembers an attribute that matters for the item that follows: `#[test]`, `#[path = "a.rs"]`.
fn read_attribute(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    let attribute = walker.text(node).trim_start_matches("#[").trim_end_matches(']');
    // `#[test]`, `#[test(…)]`, `#[tokio::test]`
    let is_test =
        attribute == "test" || attribute.starts_with("test(") || attribute.ends_with("::test");
    // `#[cfg(test)]`, mostly of a module of tests.
    let is_test_only = attribute.contains("cfg(test");
    // Attributes accumulate until an item takes them: `#[tokio::test]` may be followed by others.
    walker.state.is_test_item |= is_test || is_test_only;
    let path = attribute.strip_prefix("path").and_then(|it| it.trim_start().strip_prefix('='));
    if let Some(path) = path {
        walker.state.module_file = Some(strip_quotes(path.trim()));
    }
}

/// Flags of an item, from its visibility and the attributes before it, which are used up.
fn take_item_flags(walker: &mut RustWalker<'_, '_>, node: Node<'_>) -> DefFlags {
    let is_test = std::mem::take(&mut walker.state.is_test_item);
    DefFlags::default()
        .when(is_public(walker, node), DefFlags::EXPORTED)
        .when(is_test, DefFlags::TEST)
}

/// Returns whether an item has a visibility modifier: `pub fn f()`, `pub(crate) fn f()`.
fn is_public(walker: &RustWalker<'_, '_>, item: Node<'_>) -> bool {
    item.named_child(0).is_some_and(|it| walker.kind(it) == NodeKind::Visibility)
}

/// `f(x)`, `a::f(x)`, `object.method(x)`
fn visit_call(walker: &mut RustWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let mut callee = walker.field(node, Field::Function);
    // `f::<T>(…)` calls `f`.
    if let Some(generic) = callee.filter(|it| walker.kind(*it) == NodeKind::GenericFunction) {
        callee = walker.field(generic, Field::Function);
    }
    let Some(callee) = callee else { return walker.visit_children(cursor) };
    let name = match walker.kind(callee) {
        NodeKind::Identifier => Some(callee),
        NodeKind::Scoped => walker.field(callee, Field::Name),
        NodeKind::FieldExpression => walker.field(callee, Field::Member),
        // The callee is an expression without a name: `f()()`, `(self.callback)()`.
        _ => None,
    };
    if let Some(name) = name {
        let arguments = walker.field(node, Field::Arguments);
        let is_comment = |it| matches!(it, NodeKind::LineComment | NodeKind::BlockComment);
        let n_args = walker.count_arguments(arguments, is_comment, |_| false);
        let term = expression_term(walker, callee);
        walker.builder.add_reference(RefKind::Call, term, name, n_args);
        walker.skip_next_use(callee);
        // `Iterator::map(xs, f)` is not followed: the object is an argument there.
        let is_method = walker.kind(callee) == NodeKind::FieldExpression;
        if is_method && ELEMENT_CALLBACK_METHODS.contains(&walker.text(name)) {
            record_closure_argument(walker, callee, arguments);
        }
    }
    walker.visit_children(cursor);
}

/// Remembers, for `xs.map(|x| …)`, that `x` is an element of `xs`.
fn record_closure_argument(
    walker: &mut RustWalker<'_, '_>,
    callee: Node<'_>,
    arguments: Option<Node<'_>>,
) {
    let container = walker.field(callee, Field::Value);
    // The last closure: `map_or` takes a default before it.
    let closure = arguments.and_then(|it| walker.children_of_kind(it, NodeKind::Closure).last());
    if let (Some(container), Some(closure)) = (container, closure) {
        let container = expression_term(walker, container);
        let element = walker.builder.terms.add(Term::ElementOf(container));
        walker.state.closure_arguments.insert(closure.id(), element);
    }
}

/// `Type { … }` creates a value of `Type`.
fn visit_struct_expression(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if let Some(type_node) = walker.field(node, Field::Name) {
        let term = type_name(walker, type_node);
        let name = last_name_node(walker, type_node);
        walker.builder.add_reference(RefKind::New, term, name, ANY_ARG_COUNT);
    }
    walker.visit_children(cursor);
}
