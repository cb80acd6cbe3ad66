//! TypeScript, TSX and JavaScript: one walk over three grammars, which share most node kinds.
//!
//! This file has the walk, calls and test cases; declarations, patterns, imports, exports and terms
//! have files of their own. A *term*, such as `Member(…)` below, is an expression or a type, reduced
//! to what name resolution needs; the builder collects the facts and looks names up after the walk.
//!
//! ```text
//! import { Db } from "./db";      import: item `Db` of `./db`
//! export class Store {            definition: class `Store`, exported
//!   db = new Db();                definition: field `Store.db`; reference: new `Db`
//!   get(id: string) {             definition: method `Store.get`, exactly 1 argument
//!     return this.db.find(id);    reference: call of Member(Member(This(Store), "db"), "find")
//!   }
//! }
//! ```

mod assignments;
mod call_signatures;
mod classes;
mod contextual_types;
mod exports;
mod functions;
mod imports;
mod patterns;
mod terms;
mod type_declarations;
mod type_terms;
mod variables;

use std::collections::HashMap;
use std::sync::LazyLock;

use model::hasher::FastBuildHasher;
use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{LanguageWalk, SyntaxWalker, named_children, strip_quotes, walk_source};
use super::term_shape::{TermShape, expression_term};
use crate::facts::{DefFlags, DefId, DefKind, RefKind, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, FactsBuilder};
use assignments::visit_assignment;
use classes::{visit_class, visit_object_members};
use contextual_types::{expect_arguments, expect_returned_value};
use exports::visit_export;
use functions::{record_callback_arguments, visit_function_declaration, visit_function_value};
use imports::visit_import;
use patterns::{bind_catch_parameter, bind_loop_variable};
use terms::strip_wrappers;
use type_declarations::{visit_enum, visit_interface, visit_namespace, visit_type_alias};
use variables::visit_variables;

// grammar_names! declares an enum and adds the variant `Other` for every name that is not listed.
grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammars. A name that one of the
    /// grammars lacks is never found there. A leading quote marks a token: a keyword (`'static`) or a
    /// sign (`',`).
    enum NodeKind {
        Comment = "comment", Text = "string", Template = "template_string", Regex = "regex", Number = "number",
        Identifier = "identifier", ShorthandProperty = "shorthand_property_identifier", TypeIdentifier = "type_identifier",
        ShorthandPattern = "shorthand_property_identifier_pattern", PropertyIdentifier = "property_identifier",
        PrivateProperty = "private_property_identifier",
        FunctionDeclaration = "function_declaration", GeneratorDeclaration = "generator_function_declaration",
        FunctionSignature = "function_signature", FunctionExpression = "function_expression",
        Generator = "generator_function", Arrow = "arrow_function", MethodDefinition = "method_definition",
        AbstractMethod = "abstract_method_signature", MethodSignature = "method_signature",
        CallSignature = "call_signature",
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
        Comma = "',",
    }
}

grammar_names! {
    enum Field {
        Name = "name", Body = "body", Value = "value", Type = "type", ReturnType = "return_type",
        Parameters = "parameters", Parameter = "parameter", Pattern = "pattern", Function = "function",
        Constructor = "constructor", Object = "object", Property = "property", Index = "index", Arguments = "arguments",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters", Source = "source", Alias = "alias",
        Declaration = "declaration", Left = "left", Right = "right", Key = "key", Constraint = "constraint",
        Module = "module", Consequence = "consequence", Alternative = "alternative", Operator = "operator",
        Kind = "kind", Initializer = "initializer",
    }
}

type ScriptGrammar = LazyLock<Grammar<NodeKind, Field>>;

static TYPESCRIPT_GRAMMAR: ScriptGrammar =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::TypeScript));
static TSX_GRAMMAR: ScriptGrammar = LazyLock::new(|| Grammar::for_language(SourceLanguage::Tsx));
static JAVASCRIPT_GRAMMAR: ScriptGrammar =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::JavaScript));

/// Argument count of a reference that is no call.
const NO_ARGUMENTS: u8 = 0;

struct ScriptWalk;

type ScriptWalker<'a, 's> = SyntaxWalker<'a, 's, ScriptWalk>;

/// The part that an expression plays for the definition whose value it is.
#[derive(Clone, Copy, Debug)]
enum ValueRole {
    /// The function of this definition: `const f = () => …`.
    Function(DefId),
    /// An object whose properties are members of this definition: `const a = { b: 1 }`.
    Object(DefId),
    /// The class of this definition: `const A = class { … }`.
    Class(DefId),
}

#[derive(Default)]
struct ScriptState {
    /// Roles of nodes that the walk has not reached yet, by node id. The definition sets the role,
    /// the visit of the value takes it.
    value_roles: HashMap<usize, ValueRole, FastBuildHasher>,
    /// Values of a callback's first two parameters, by the id of the callback's node: for
    /// `users.map(u => u.save())` the value of `u` is `ElementOf(users)`.
    callback_arguments: HashMap<usize, [TermId; 2], FastBuildHasher>,
    /// Types that the code around functions expects of them, by the id of the function's node: in
    /// `const handle: Handler = c => …` the function is expected to be a `Handler`.
    expected_types: HashMap<usize, TermId, FastBuildHasher>,
    /// The results that the functions around the current node are expected to return, outermost
    /// first: inside `function make(): Handler { return c => … }` the last is `Handler`.
    expected_results: Vec<Option<TermId>>,
    /// The next definition is the declaration of an `export` statement.
    is_exporting: bool,
}

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    let grammar = match builder.lang {
        SourceLanguage::Tsx => &TSX_GRAMMAR,
        SourceLanguage::JavaScript => &JAVASCRIPT_GRAMMAR,
        // TypeScript; no other language comes here.
        _ => &TYPESCRIPT_GRAMMAR,
    };
    walk_source::<ScriptWalk>(builder, grammar, builder.source);
}

impl LanguageWalk for ScriptWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = ScriptState;

    fn visit_node(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else { return };
        match kind {
            NodeKind::Comment => walker.builder.mark_comment(node),
            NodeKind::Text | NodeKind::Regex | NodeKind::JsxText => {
                walker.builder.mark_string(node);
            }
            // The substitutions of a template are code.
            NodeKind::Template => {
                walker.builder.mark_string(node);
                walker.visit_children(cursor);
            }
            NodeKind::Identifier | NodeKind::ShorthandProperty => {
                walker.add_name_reference(node, RefKind::Use);
            }
            NodeKind::TypeIdentifier => add_type_reference(walker, node),
            NodeKind::Import => visit_import(walker, node),
            NodeKind::Export => visit_export(walker, cursor, node),
            NodeKind::FunctionDeclaration
            | NodeKind::GeneratorDeclaration
            | NodeKind::FunctionSignature => visit_function_declaration(walker, cursor, node),
            // A method here is part of an object that no definition has as its value.
            NodeKind::Arrow
            | NodeKind::FunctionExpression
            | NodeKind::Generator
            | NodeKind::MethodDefinition => visit_function_value(walker, cursor, node),
            NodeKind::ClassDeclaration | NodeKind::AbstractClass | NodeKind::Class => {
                visit_class(walker, cursor, node);
            }
            NodeKind::Interface => visit_interface(walker, cursor, node),
            NodeKind::TypeAlias => visit_type_alias(walker, cursor, node),
            NodeKind::Enum => visit_enum(walker, cursor, node),
            NodeKind::InternalModule | NodeKind::Module => visit_namespace(walker, cursor, node),
            NodeKind::Lexical | NodeKind::Variable => visit_variables(walker, cursor),
            // Only an object that is the value of a definition has members; others are expressions.
            NodeKind::Object if walker.state.value_roles.contains_key(&node.id()) => {
                visit_object_members(walker, cursor, node);
            }
            NodeKind::Call => visit_call(walker, cursor, node),
            NodeKind::New => visit_construction(walker, cursor, node),
            NodeKind::JsxOpening | NodeKind::JsxSelfClosing => {
                visit_jsx_element(walker, cursor, node);
            }
            // The opening tag was recorded.
            NodeKind::JsxClosing => {}
            NodeKind::Assignment => visit_assignment(walker, cursor, node),
            NodeKind::Return => visit_return_statement(walker, cursor, node),
            NodeKind::Block | NodeKind::SwitchBody | NodeKind::For => walker.visit_block(cursor),
            NodeKind::ForIn => {
                walker.visit_block_with(cursor, |walker| bind_loop_variable(walker, node));
            }
            NodeKind::Catch => {
                walker.visit_block_with(cursor, |walker| bind_catch_parameter(walker, node));
            }
            // Any other node has no facts of its own, but its children may have.
            _ => walker.visit_children(cursor),
        }
    }

    // The grammar misreads an interface with a member that begins with `<`.
    fn repair_text(_lang: SourceLanguage, source: &[u8]) -> Option<Vec<u8>> {
        call_signatures::separate_call_signatures(source)
    }

    fn expression_shape(kind: NodeKind) -> TermShape<Self> {
        terms::expression_shape(kind)
    }

    fn type_shape(kind: NodeKind) -> TermShape<Self> {
        type_terms::type_shape(kind)
    }

    fn type_name_within(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        type_terms::type_name_within(walker, node, depth)
    }
}

/// A returned value gets the type that the function is expected to return, then is read as usual.
fn visit_return_statement(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    expect_returned_value(walker, node);
    walker.visit_return(cursor);
}

/// `Name` in a type.
fn add_type_reference(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    let name = walker.builder.unbound_name(walker.text(node));
    let term = walker.builder.terms.instance_of(name);
    walker.builder.add_reference(RefKind::Type, term, node, NO_ARGUMENTS);
}

/// `f(x)`, `object.method(x)`
fn visit_call(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let callee = walker.field(node, Field::Function).map(|it| strip_wrappers(walker, it));
    if let Some(callee) = callee {
        let n_args = count_call_arguments(walker, node);
        add_callee_reference(walker, callee, RefKind::Call, n_args);
        // For `xs.map(x => …)` and the like the meaning of `x` is known without a signature.
        let is_known_callback = record_callback_arguments(walker, callee, node);
        if !is_known_callback {
            expect_arguments(walker, callee, node);
        }
    }
    // Calls inside the callback of a test belong to the test.
    if let Some(test) = callee.and_then(|it| define_test_case(walker, it, node)) {
        walker.builder.open_definition(test);
        walker.visit_children(cursor);
        walker.builder.close_definition();
        return;
    }
    walker.visit_children(cursor);
}

/// `new Server(x)`
fn visit_construction(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if let Some(constructor) = walker.field(node, Field::Constructor) {
        let constructor = strip_wrappers(walker, constructor);
        let n_args = count_call_arguments(walker, node);
        add_callee_reference(walker, constructor, RefKind::New, n_args);
        expect_arguments(walker, constructor, node);
    }
    walker.visit_children(cursor);
}

/// `<Menu />` calls the component `Menu`; a name in lower case (`<div>`) is an element of the
/// browser.
fn visit_jsx_element(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if let Some(name) = walker.field(node, Field::Name) {
        let starts_component = |it: char| it.is_uppercase() || it == '_' || it == '$';
        // `Menu.Item` is a component, too.
        let is_component = walker.kind(name) != NodeKind::Identifier
            || walker.text(name).starts_with(starts_component);
        if is_component {
            // Attributes are no arguments, so their number means nothing.
            add_callee_reference(walker, name, RefKind::Call, ANY_ARG_COUNT);
        } else {
            // The walk reaches the name later and must not record it as a variable.
            walker.skip_next_use(name);
        }
    }
    walker.visit_children(cursor);
}

/// Records the callee of a call or construction: `f`, `object.method`, `Menu.Item`.
fn add_callee_reference(
    walker: &mut ScriptWalker<'_, '_>,
    callee: Node<'_>,
    kind: RefKind,
    n_args: u8,
) {
    let name = match walker.kind(callee) {
        NodeKind::Identifier => {
            // The walk reaches the name later and must not record it as a plain use.
            walker.skip_next_use(callee);
            Some(callee)
        }
        NodeKind::MemberAccess => walker.field(callee, Field::Property),
        // `<Menu.Item />`
        NodeKind::NestedIdentifier => named_children(callee).last(),
        // The callee is an expression without a name: `f()()`, `xs[0]()`.
        _ => None,
    };
    if let Some(name) = name {
        let term = expression_term(walker, callee);
        walker.builder.add_reference(kind, term, name, n_args);
    }
}

fn count_call_arguments(walker: &ScriptWalker<'_, '_>, node: Node<'_>) -> u8 {
    let arguments = walker.field(node, Field::Arguments);
    walker.count_arguments(arguments, |it| it == NodeKind::Comment, |it| it == NodeKind::Spread)
}

/// Defines the test of `it("works", …)`, named by its title.
fn define_test_case(
    walker: &mut ScriptWalker<'_, '_>,
    callee: Node<'_>,
    node: Node<'_>,
) -> Option<DefId> {
    if !walker.builder.is_test {
        return None;
    }
    // These functions are global in test files, so their names are not looked up.
    if !matches!(first_name(walker, callee), "it" | "test" | "describe" | "suite") {
        return None;
    }
    // A test without a literal title has no name that would be stable.
    let title = walker.field(node, Field::Arguments)?.named_child(0)?;
    if !matches!(walker.kind(title), NodeKind::Text | NodeKind::Template) {
        return None;
    }
    let name = walker.builder.intern(strip_quotes(walker.text(title)));
    Some(walker.builder.add_definition(DefKind::Test, name, title, node, DefFlags::TEST))
}

/// The first name of `a.b.c` or `a.b(…)`: `describe.each([…])` is still `describe`.
fn first_name<'s>(walker: &ScriptWalker<'_, 's>, mut node: Node<'_>) -> &'s str {
    // `describe.skip.each(…)` and the like; longer chains are no test cases.
    const MAX_CHAIN_LENGTH: u32 = 4;
    for _ in 0..MAX_CHAIN_LENGTH {
        let next = match walker.kind(node) {
            NodeKind::MemberAccess => walker.field(node, Field::Object),
            NodeKind::Call => walker.field(node, Field::Function),
            _ => return walker.text(node),
        };
        let Some(next) = next else { return "" };
        node = next;
    }
    ""
}
