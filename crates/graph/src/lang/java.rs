//! Java: the walk, references and imports. Declarations, local names and terms have files of their
//! own. A *term*, such as `Member(…)` below, is an expression or a type, reduced to what name
//! resolution needs; the builder collects the facts and looks names up after the walk.
//!
//! ```text
//! package app;                             the namespace of the file is `app`
//! import app.db.Db;                        import: item `Db` of `app.db`
//! class Store extends Base {               definition: class `Store` with the base `Base`
//!   private Db db = new Db();              definition: field `Store.db`; reference: new `Db`
//!   Row get(long id) {                     definition: method `Store.get`, exactly 1 argument
//!     return db.find(id);                  reference: call of Member(db, "find") with a `long`
//!   }
//! }
//! ```

mod bindings;
mod declarations;
mod terms;

use std::collections::HashMap;
use std::sync::LazyLock;

use model::hasher::FastBuildHasher;
use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{LanguageWalk, SyntaxWalker, named_children, walk_source};
use super::term_shape::{TermShape, expression_term, type_name};
use crate::facts::{ImportKind, RefKind, Term, TermId};
use crate::facts_builder::FactsBuilder;
use bindings::{
    bind_catch_parameter, bind_loop_variable, bind_typed_name, bind_variables, visit_lambda,
};
use declarations::{visit_class, visit_enum_constant, visit_field, visit_method};

// grammar_names! declares an enum and adds the variant `Other` for every name that is not listed.
grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammar. A leading quote marks a
    /// token, that is, a keyword.
    enum NodeKind {
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

grammar_names! {
    enum Field {
        Name = "name", Body = "body", Type = "type", Value = "value", Parameters = "parameters", Superclass = "superclass",
        Interfaces = "interfaces", Declarator = "declarator", Object = "object", Arguments = "arguments", Member = "field",
        Left = "left", Right = "right", Constructor = "constructor", Array = "array", TypeParameters = "type_parameters",
        Element = "element", Operator = "operator", Operand = "operand", Consequence = "consequence", Alternative = "alternative",
    }
}

static JAVA_GRAMMAR: LazyLock<Grammar<NodeKind, Field>> =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::Java));

/// Methods that pass an element of their object to the lambda they are given: `xs.map(x -> …)`.
#[rustfmt::skip]
const ELEMENT_CALLBACK_METHODS: &[&str] = &[
    "forEach", "map", "filter", "anyMatch", "allMatch", "noneMatch", "flatMap", "removeIf", "peek",
    "ifPresent", "mapToInt", "sorted", "mapToObj", "toMap", "orElseGet",
];

struct JavaWalk;

type JavaWalker<'a, 's> = SyntaxWalker<'a, 's, JavaWalk>;

#[derive(Default)]
struct JavaState {
    /// The value of a lambda's first parameter, by the id of the lambda's node.
    lambda_arguments: HashMap<usize, TermId, FastBuildHasher>,
}

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    walk_source::<JavaWalk>(builder, &JAVA_GRAMMAR, builder.source);
}

impl LanguageWalk for JavaWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = JavaState;

    fn visit_node(walker: &mut JavaWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else { return };
        match kind {
            NodeKind::LineComment | NodeKind::BlockComment => walker.builder.mark_comment(node),
            NodeKind::Text | NodeKind::Char => walker.builder.mark_string(node),
            NodeKind::Identifier => walker.add_name_reference(node, RefKind::Use),
            NodeKind::TypeIdentifier => walker.add_name_reference(node, RefKind::Type),
            // `package a.b;`
            NodeKind::Package => {
                let name = dotted_name(walker, node);
                walker.builder.namespace = name.map(|it| walker.builder.intern_node(it));
            }
            NodeKind::Import => visit_import(walker, node),
            NodeKind::Class
            | NodeKind::Interface
            | NodeKind::Enum
            | NodeKind::Record
            | NodeKind::Annotation => visit_class(walker, cursor, node),
            NodeKind::Method | NodeKind::Constructor | NodeKind::CompactConstructor => {
                visit_method(walker, cursor, node);
            }
            NodeKind::Field | NodeKind::ConstantField => visit_field(walker, cursor, node),
            NodeKind::EnumConstant => visit_enum_constant(walker, cursor, node),
            NodeKind::LocalVariable => {
                bind_variables(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::EnhancedFor => {
                walker.visit_block_with(cursor, |walker| bind_loop_variable(walker, node));
            }
            // `try (A a = …)`, `x instanceof A a`, `case A a`
            NodeKind::Resource | NodeKind::InstanceOf | NodeKind::TypePattern => {
                bind_typed_name(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::CatchParameter => {
                bind_catch_parameter(walker, node);
                walker.visit_children(cursor);
            }
            NodeKind::Block
            | NodeKind::ConstructorBody
            | NodeKind::Catch
            | NodeKind::For
            | NodeKind::TryResources
            | NodeKind::SwitchBlock => walker.visit_block(cursor),
            NodeKind::Lambda => visit_lambda(walker, cursor, node),
            // In `a.b` only `a` is a name by itself.
            NodeKind::FieldAccess => walker.visit_first_child(cursor),
            NodeKind::MethodReference => visit_method_reference(walker, cursor, node),
            NodeKind::Invocation => visit_invocation(walker, cursor, node),
            NodeKind::Creation => visit_creation(walker, cursor, node),
            NodeKind::Return => walker.visit_return(cursor),
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

    fn type_name_within(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        terms::type_name_within(walker, node, depth)
    }
}

/// The name `a.b` in a package or import declaration.
fn dotted_name<'t>(walker: &JavaWalker<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    named_children(node)
        .find(|it| matches!(walker.kind(*it), NodeKind::Identifier | NodeKind::ScopedIdentifier))
}

/// `Type::method` uses the method without calling it.
fn visit_method_reference(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let name = node.named_child(1).filter(|it| walker.kind(*it) == NodeKind::Identifier);
    if let (Some(object), Some(name)) = (node.named_child(0), name) {
        let object = expression_term(walker, object);
        let term = walker.builder.terms.member_of(object, walker.text(name));
        walker.builder.add_reference(RefKind::Use, term, name, 0);
    }
    walker.visit_first_child(cursor);
}

const fn is_comment(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::LineComment | NodeKind::BlockComment)
}

/// `method(x)`, `object.method(x)`
fn visit_invocation(walker: &mut JavaWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let Some(name) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    // Without an object the method is one of an enclosing type, or a static import.
    let callee = match walker.field(node, Field::Object) {
        Some(object) => {
            let object = expression_term(walker, object);
            walker.builder.terms.member_of(object, walker.text(name))
        }
        None => walker.builder.implicit_member(walker.text(name)),
    };
    let mut arguments = Vec::new();
    for argument in walker.field_children(node, Field::Arguments) {
        if !is_comment(walker.kind(argument)) {
            arguments.push(expression_term(walker, argument));
        }
    }
    walker.builder.add_typed_call(callee, name, &arguments);
    if ELEMENT_CALLBACK_METHODS.contains(&walker.text(name)) {
        record_lambda_argument(walker, node);
    }
    // The walk reaches the name later and must not record it as a variable.
    walker.skip_next_use(name);
    walker.visit_children(cursor);
}

/// Remembers, for `xs.forEach(x -> …)`, that `x` is an element of `xs`.
fn record_lambda_argument(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    // The callback is the first argument of nearly all of these methods.
    let lambda = walker.field(node, Field::Arguments).and_then(|it| it.named_child(0));
    let lambda = lambda.filter(|it| walker.kind(*it) == NodeKind::Lambda);
    if let (Some(container), Some(lambda)) = (walker.field(node, Field::Object), lambda) {
        let container = expression_term(walker, container);
        let element = walker.builder.terms.add(Term::ElementOf(container));
        walker.state.lambda_arguments.insert(lambda.id(), element);
    }
}

/// `new Store(x)`
fn visit_creation(walker: &mut JavaWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let Some(type_node) = walker.field(node, Field::Type) else {
        return walker.visit_children(cursor);
    };
    let term = type_name(walker, type_node);
    let name = last_name_node(walker, type_node);
    // Overloaded constructors are selected by the number of arguments only.
    let arguments = walker.field(node, Field::Arguments);
    let n_args = walker.count_arguments(arguments, is_comment, |_| false);
    walker.builder.add_reference(RefKind::New, term, name, n_args);
    walker.visit_children(cursor);
}

/// The node of the simple name at the end of a type: `Entry` in `Map.Entry<K, V>`.
fn last_name_node<'t>(walker: &JavaWalker<'_, '_>, node: Node<'t>) -> Node<'t> {
    // The type without its arguments, which is never generic itself.
    let path = match walker.kind(node) {
        NodeKind::GenericType => node.named_child(0).unwrap_or(node),
        _ => node,
    };
    match walker.kind(path) {
        NodeKind::ScopedType => named_children(path).last().unwrap_or(path),
        _ => path,
    }
}

/// `import a.b.C;`, `import a.b.*;`, `import static a.b.C.f;`
fn visit_import(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    let Some(path) = dotted_name(walker, node) else { return };
    let path = walker.text(path);
    // `import a.b.*` names the package, `import a.b.C` the package and a class of it.
    if walker.child_of_kind(node, NodeKind::Asterisk).is_some() {
        walker.builder.add_import(ImportKind::Star, path, "*", None, node);
        return;
    }
    let (module, item) = path.rsplit_once('.').unwrap_or(("", path));
    let import = walker.builder.add_import(ImportKind::Named, module, item, None, node);
    walker.builder.bind_import(import);
}
