//! C, C++, C#, Ruby and PHP: one walk over five similar grammars.
//!
//! It reads definitions, imports, calls, base types, and the declared types of variables,
//! parameters and fields. Unlike the walks of the other languages, it does not infer the result of
//! a function from its `return` statements: the result of a call is followed only if the function
//! declares it. What C and C++ do differently from the other three is in `c`.
//!
//! The walk records *definitions*, and *references*: the places where a name is used. A reference
//! contains a *term*, an expression reduced to what name lookup needs: `Member(db, "Find")`.
//!
//! ```text
//! class Store : Base {                C#, definition: class `Store` with the base `Base`
//!   Db db;                            definition: field `Store.db` of type `Db`
//!   Row Get(int id) {                 definition: method `Store.Get`, exactly 1 argument
//!     return db.Find(id);             reference: call of Member(db, "Find")
//!   }
//! }
//! void Store::run() { … }             C++, definition: method `run`, owner `Store`
//! ```

pub(crate) mod c;
mod c_conditionals;
mod c_macros;
mod calls;
mod declarations;
mod functions;
mod imports;
mod terms;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, grammar_names};
use super::syntax_walker::{LanguageWalk, SyntaxWalker, walk_source};
use super::term_shape::{TermShape, type_name};
use crate::facts::{DefId, DefKind, RefKind, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, FactsBuilder};
use calls::{visit_call, visit_creation, visit_method_call};
use declarations::{
    bind_foreach_variable, define_member, visit_assignment, visit_class,
    visit_namespace_declaration, visit_php_namespace, visit_property, visit_variables,
};
use functions::visit_function;
use imports::{add_use_clause, add_using_directive};

grammar_names! {
    /// The node kinds that the walk reads, by their names in the grammars. Some are of a single
    /// grammar, and some names mean different things in two of them. A leading quote marks a token,
    /// that is, a keyword or sign.
    enum NodeKind {
        Comment = "comment", StringLiteral = "string_literal", Text = "string", CharLiteral = "char_literal",
        RawString = "raw_string_literal", EncapsedString = "encapsed_string", Heredoc = "heredoc",
        VerbatimString = "verbatim_string_literal", InterpolatedString = "interpolated_string_expression",
        NumberLiteral = "number_literal", IntegerLiteral = "integer_literal", Integer = "integer", RealLiteral = "real_literal",
        BooleanLiteral = "boolean_literal", True = "true", False = "false",
        Identifier = "identifier", Constant = "constant", Name = "name", TypeIdentifier = "type_identifier",
        FieldIdentifier = "field_identifier", NamespaceIdentifier = "namespace_identifier", NamedType = "named_type",
        VariableName = "variable_name", InstanceVariable = "instance_variable", DestructorName = "destructor_name",
        OperatorName = "operator_name", QualifiedIdentifier = "qualified_identifier", QualifiedName = "qualified_name",
        ScopeResolution = "scope_resolution", RelativeScope = "relative_scope", GenericName = "generic_name",
        TemplateType = "template_type", TemplateFunction = "template_function", TemplateMethod = "template_method",
        DependentName = "dependent_name", DependentType = "dependent_type", Decltype = "decltype",
        This = "this", SelfNode = "self", Super = "super",
        Include = "preproc_include", UsingDirective = "using_directive", UsingDeclaration = "using_declaration",
        UseClause = "namespace_use_clause", UseGroup = "namespace_use_group", NamespaceName = "namespace_name",
        NamespaceDeclaration = "namespace_declaration", FileScopedNamespace = "file_scoped_namespace_declaration",
        NamespaceDefinition = "namespace_definition", NamespaceAlias = "namespace_alias_definition",
        NestedNamespace = "nested_namespace_specifier", Module = "module",
        ClassDeclaration = "class_declaration", ClassSpecifier = "class_specifier", StructSpecifier = "struct_specifier",
        UnionSpecifier = "union_specifier", StructDeclaration = "struct_declaration", RecordDeclaration = "record_declaration",
        TraitDeclaration = "trait_declaration", Class = "class", InterfaceDeclaration = "interface_declaration",
        EnumDeclaration = "enum_declaration", EnumSpecifier = "enum_specifier", Enumerator = "enumerator",
        EnumMember = "enum_member_declaration", EnumCase = "enum_case",
        BaseClassClause = "base_class_clause", BaseList = "base_list", Superclass = "superclass", BaseClause = "base_clause",
        InterfaceClause = "class_interface_clause", AccessSpecifier = "access_specifier",
        FunctionDefinition = "function_definition", MethodDeclaration = "method_declaration",
        ConstructorDeclaration = "constructor_declaration", Method = "method", SingletonMethod = "singleton_method",
        LocalFunction = "local_function_statement", Lambda = "lambda_expression",
        Parameter = "parameter", VariadicParameter = "variadic_parameter", SplatParameter = "splat_parameter",
        HashSplatParameter = "hash_splat_parameter", BlockParameter = "block_parameter", OptionalParameter = "optional_parameter",
        VariadicDeclaration = "variadic_parameter_declaration", OptionalDeclaration = "optional_parameter_declaration",
        PromotedParameter = "property_promotion_parameter", TemplateDeclaration = "template_declaration",
        TypeParameter = "type_parameter_declaration", VariadicTypeParameter = "variadic_type_parameter_declaration",
        OptionalTypeParameter = "optional_type_parameter_declaration",
        VariableDeclaration = "variable_declaration", PropertyDeclaration = "property_declaration", PropertyElement = "property_element",
        Declaration = "declaration", FieldDeclaration = "field_declaration", AliasDeclaration = "alias_declaration",
        TypeDefinition = "type_definition", AttributeList = "attribute_list", Modifier = "modifier",
        StaticModifier = "static_modifier", StorageClass = "storage_class_specifier",
        AbstractArrayDeclarator = "abstract_array_declarator", AbstractFunctionDeclarator = "abstract_function_declarator",
        AbstractParenthesizedDeclarator = "abstract_parenthesized_declarator", AbstractPointerDeclarator = "abstract_pointer_declarator",
        AbstractReferenceDeclarator = "abstract_reference_declarator", ArrayDeclarator = "array_declarator",
        AttributedDeclarator = "attributed_declarator", FunctionDeclarator = "function_declarator", InitDeclarator = "init_declarator",
        NewDeclarator = "new_declarator", ParenthesizedDeclarator = "parenthesized_declarator", PointerDeclarator = "pointer_declarator",
        PointerTypeDeclarator = "pointer_type_declarator", ReferenceDeclarator = "reference_declarator",
        StructuredBinding = "structured_binding_declarator", VariableDeclarator = "variable_declarator",
        VariadicDeclarator = "variadic_declarator",
        Assignment = "assignment", AssignmentExpression = "assignment_expression",
        Block = "block", DoBlock = "do_block", CompoundStatement = "compound_statement", For = "for_statement",
        RangeLoop = "for_range_loop", Foreach = "foreach_statement", Catch = "catch_clause",
        CallExpression = "call_expression", Invocation = "invocation_expression", FunctionCall = "function_call_expression",
        MemberCall = "member_call_expression", NullsafeMemberCall = "nullsafe_member_call_expression",
        ScopedCall = "scoped_call_expression", Call = "call", ObjectCreation = "object_creation_expression", New = "new_expression",
        MemberAccess = "member_access_expression", FieldExpression = "field_expression",
        ConditionalAccess = "conditional_access_expression", Subscript = "subscript_expression",
        ElementAccess = "element_access_expression", ElementReference = "element_reference", Parenthesized = "parenthesized_expression",
        PointerExpression = "pointer_expression", Await = "await_expression", Cast = "cast_expression", Typeof = "typeof_expression",
        Argument = "argument", ArgumentList = "argument_list", InitializerList = "initializer_list",
        PrimitiveType = "primitive_type", PredefinedType = "predefined_type", SizedType = "sized_type_specifier",
        TypeDescriptor = "type_descriptor", ImplicitType = "implicit_type", PlaceholderType = "placeholder_type_specifier",
        ArrayType = "array_type", OptionalType = "optional_type", NullableType = "nullable_type",
        ThisWord = "'this", BaseWord = "'base", InlineWord = "'inline", NamespaceWord = "'namespace", ArrowSign = "'->",
        EqualsSign = "'=", StringWord = "'string",
    }
}

grammar_names! {
    enum Field {
        Name = "name", Body = "body", Type = "type", Declarator = "declarator", Parameters = "parameters", Arguments = "arguments",
        Function = "function", Method = "method", Object = "object", Receiver = "receiver", Scope = "scope", Expression = "expression",
        Argument = "argument", Member = "field", Operator = "operator", Left = "left", Right = "right", Value = "value",
        Returns = "returns", ReturnType = "return_type", DefaultValue = "default_value", Path = "path", Alias = "alias",
    }
}

type GenericGrammar = LazyLock<Grammar<NodeKind, Field>>;

static C_GRAMMAR: GenericGrammar = LazyLock::new(|| Grammar::for_language(SourceLanguage::C));
static CPP_GRAMMAR: GenericGrammar = LazyLock::new(|| Grammar::for_language(SourceLanguage::Cpp));
static CSHARP_GRAMMAR: GenericGrammar =
    LazyLock::new(|| Grammar::for_language(SourceLanguage::CSharp));
static RUBY_GRAMMAR: GenericGrammar = LazyLock::new(|| Grammar::for_language(SourceLanguage::Ruby));
static PHP_GRAMMAR: GenericGrammar = LazyLock::new(|| Grammar::for_language(SourceLanguage::Php));

struct GenericWalk;

type GenericWalker<'a, 's> = SyntaxWalker<'a, 's, GenericWalk>;

/// A method that is defined outside its type: `void Store::run() { … }` of C++.
#[derive(Clone, Copy)]
struct OutOfLineMethod {
    method: DefId,
    /// The type that the method belongs to.
    owner: TermId,
}

#[derive(Default)]
struct GenericState {
    /// Number of enclosing Ruby blocks: `do … end`, `{ … }`. A function inside one cannot be called
    /// by its bare name from other files.
    block_depth: u32,
    /// Number of enclosing C++ namespaces without a name. Other files do not see their names.
    anonymous_namespace_depth: u32,
    /// The enclosing method, if it is defined outside its type.
    out_of_line_method: Option<OutOfLineMethod>,
}

pub(super) fn extract(builder: &mut FactsBuilder<'_>) {
    let grammar = match builder.lang {
        SourceLanguage::C => &C_GRAMMAR,
        SourceLanguage::Cpp => &CPP_GRAMMAR,
        SourceLanguage::CSharp => &CSHARP_GRAMMAR,
        SourceLanguage::Ruby => &RUBY_GRAMMAR,
        // PHP: no further language is walked by this file.
        _ => &PHP_GRAMMAR,
    };
    let has_macros = matches!(builder.lang, SourceLanguage::C | SourceLanguage::Cpp);
    // Only the parser gets the text without macros. Blanking keeps all positions, so the texts of
    // nodes are read from the original source.
    let blanked = has_macros.then(|| c_macros::blank_macros(builder.source)).flatten();
    let text = blanked.as_deref().unwrap_or(builder.source);
    walk_source::<GenericWalk>(builder, grammar, text);
}

impl LanguageWalk for GenericWalk {
    type NodeKind = NodeKind;
    type Field = Field;
    type State<'s> = GenericState;

    /// Visits declarations and statements; [`visit_expression`] does the rest.
    fn visit_node(walker: &mut GenericWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = walker.grammar.named_kind(node) else {
            return visit_token(walker, node);
        };
        let lang = walker.builder.lang;
        match kind {
            // C and C++ come first: they give another meaning to some kinds of the others.
            // `visit_c_node` returns false for the kinds that they share with the others.
            _ if is_c_family(walker) && c::visit_c_node(walker, cursor, node, kind) => {}
            NodeKind::UsingDirective => add_using_directive(walker, node),
            NodeKind::UseClause => add_use_clause(walker, node),
            NodeKind::NamespaceDeclaration | NodeKind::FileScopedNamespace => {
                visit_namespace_declaration(walker, cursor, node);
            }
            NodeKind::NamespaceDefinition => visit_php_namespace(walker, cursor, node),
            NodeKind::Module if lang == SourceLanguage::Ruby => {
                visit_class(walker, cursor, node, DefKind::Module);
            }
            NodeKind::ClassDeclaration
            | NodeKind::StructDeclaration
            | NodeKind::RecordDeclaration
            | NodeKind::TraitDeclaration
            | NodeKind::Class => visit_class(walker, cursor, node, DefKind::Class),
            NodeKind::InterfaceDeclaration => {
                visit_class(walker, cursor, node, DefKind::Interface);
            }
            NodeKind::EnumDeclaration | NodeKind::EnumSpecifier => {
                visit_class(walker, cursor, node, DefKind::Enum);
            }
            NodeKind::Enumerator | NodeKind::EnumMember | NodeKind::EnumCase => {
                visit_enum_constant(walker, cursor, node);
            }
            NodeKind::FunctionDefinition
            | NodeKind::MethodDeclaration
            | NodeKind::ConstructorDeclaration
            | NodeKind::Method
            | NodeKind::SingletonMethod
            | NodeKind::LocalFunction => visit_function(walker, cursor, node),
            NodeKind::VariableDeclaration => visit_variables(walker, cursor, node),
            NodeKind::PropertyDeclaration => visit_property(walker, cursor, node),
            // In Ruby and PHP a variable belongs to the whole function, not to a block.
            NodeKind::Block | NodeKind::For | NodeKind::Catch if lang == SourceLanguage::CSharp => {
                walker.visit_block(cursor);
            }
            NodeKind::Block | NodeKind::DoBlock if lang == SourceLanguage::Ruby => {
                walker.state.block_depth += 1;
                walker.visit_children(cursor);
                walker.state.block_depth -= 1;
            }
            // Of C#; the one of PHP binds nothing, so its block has no effect.
            NodeKind::Foreach => {
                walker.visit_block_with(cursor, |walker| bind_foreach_variable(walker, node));
            }
            _ => visit_expression(walker, cursor, node, kind),
        }
    }

    fn repair_text(lang: SourceLanguage, source: &[u8]) -> Option<Vec<u8>> {
        let is_c = matches!(lang, SourceLanguage::C | SourceLanguage::Cpp);
        is_c.then(|| c_conditionals::blank_unbalanced_branches(source)).flatten()
    }

    fn expression_shape(kind: NodeKind) -> TermShape<Self> {
        terms::expression_shape(kind)
    }

    fn type_shape(kind: NodeKind) -> TermShape<Self> {
        terms::type_shape(kind)
    }

    fn type_name_within(walker: &mut GenericWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
        terms::type_name_within(walker, node, depth)
    }
}

/// Visits expressions, and any node that has no facts of its own.
fn visit_expression(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    kind: NodeKind,
) {
    match kind {
        NodeKind::Comment => walker.builder.mark_comment(node),
        NodeKind::StringLiteral
        | NodeKind::Text
        | NodeKind::CharLiteral
        | NodeKind::RawString
        | NodeKind::EncapsedString
        | NodeKind::Heredoc
        | NodeKind::VerbatimString => {
            // Interpolated expressions are code.
            walker.builder.mark_string(node);
            walker.visit_children(cursor);
        }
        NodeKind::Identifier | NodeKind::Constant => add_bare_name(walker, node),
        NodeKind::TypeIdentifier | NodeKind::NamedType => {
            let term = type_name(walker, node);
            let n_args = 0;
            walker.builder.add_reference(RefKind::Type, term, node, n_args);
        }
        NodeKind::Assignment | NodeKind::AssignmentExpression => {
            visit_assignment(walker, cursor, node);
        }
        NodeKind::CallExpression | NodeKind::Invocation | NodeKind::FunctionCall => {
            visit_call(walker, cursor, node);
        }
        NodeKind::MemberCall
        | NodeKind::NullsafeMemberCall
        | NodeKind::ScopedCall
        | NodeKind::Call => visit_method_call(walker, cursor, node),
        NodeKind::ObjectCreation | NodeKind::New => visit_creation(walker, cursor, node),
        // In `a.b`, `a->b` and `A::b` the name after the separator means nothing by itself.
        NodeKind::MemberAccess
        | NodeKind::FieldExpression
        | NodeKind::QualifiedName
        | NodeKind::ScopeResolution => walker.visit_first_child(cursor),
        _ => walker.visit_children(cursor),
    }
}

/// PHP's type keyword `string` counts as a string literal in structural hashes, which are hashes of
/// a definition's code without white space and comments. That is an accident, but stored hashes
/// contain it.
fn visit_token(walker: &mut GenericWalker<'_, '_>, token: Node<'_>) {
    if walker.kind(token) == NodeKind::StringWord {
        walker.builder.mark_string(token);
    }
}

fn is_c_family(walker: &GenericWalker<'_, '_>) -> bool {
    matches!(walker.builder.lang, SourceLanguage::C | SourceLanguage::Cpp)
}

/// The first of several fields that a node has. The grammars name equal parts differently.
fn first_field<'t>(
    walker: &GenericWalker<'_, '_>,
    node: Node<'t>,
    fields: &[Field],
) -> Option<Node<'t>> {
    fields.iter().find_map(|it| walker.field(node, *it))
}

/// `RED`, `RED = 1` in an enum, and PHP's `case Red;`.
fn visit_enum_constant(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let name = walker.field(node, Field::Name);
    define_member(walker, node, name, None);
    walker.visit_children(cursor);
}

/// Records a name that stands alone: `x`, `Store`.
fn add_bare_name(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    // The call or declaration around the name has recorded it already.
    if walker.is_use_to_skip(node) {
        return;
    }
    let term = walker.builder.unbound_name(walker.text(node));
    // In Ruby a bare name may be a call.
    let is_call =
        walker.builder.lang == SourceLanguage::Ruby && walker.kind(node) == NodeKind::Identifier;
    let kind = if is_call { RefKind::Call } else { RefKind::Use };
    // Without an argument list every number of parameters fits.
    walker.builder.add_reference(kind, term, node, ANY_ARG_COUNT);
}
