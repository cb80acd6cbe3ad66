//! Go.

mod bind;
mod define;
mod term;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, steps, unquoted};
use crate::facts::{ImportKind, RefKind};
use crate::sketch::{ANY_NUMBER, ScopeKind, Sketch};

names! {
    pub(crate) enum K {
        Comment = "comment", Text = "interpreted_string_literal", RawText = "raw_string_literal", Rune = "rune_literal",
        Int = "int_literal", Float = "float_literal", True = "true", False = "false", Nil = "nil",
        Identifier = "identifier", TypeIdentifier = "type_identifier", Qualified = "qualified_type",
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

names! {
    pub(crate) enum F {
        Name = "name", Path = "path", Type = "type", Body = "body", Parameters = "parameters", Result = "result",
        Receiver = "receiver", Value = "value", Left = "left", Right = "right", Function = "function", Arguments = "arguments",
        Operand = "operand", Field = "field", Package = "package", Element = "element", Key = "key", Alias = "alias",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_go::LANGUAGE.into()));

struct Go<'a, 's> {
    w: Walk<'a, 's, K, F>,
    spoken: Option<usize>,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        Go { w, spoken: None }.visit(&mut tree.walk());
    });
}

steps!(Go);

impl Go<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::Comment => self.w.s.comment(node),
            K::Text | K::RawText | K::Rune => self.w.s.string(node),
            K::Identifier => self.mention(node),
            K::TypeIdentifier => {
                let name = self.w.text(node);
                let term = self.w.s.free(name);
                self.w.s.refer(RefKind::Type, term, node, 0);
            }
            K::Qualified => {
                let term = self.type_name(node);
                if let Some(at) = self.w.field(node, F::Name) {
                    self.w.s.refer(RefKind::Type, term, at, 0);
                }
            }
            K::Import => self.import(node),
            K::Function => self.function(cursor, node),
            K::Method => self.method(cursor, node),
            K::FuncLiteral => {
                self.w.s.enter_function();
                self.parameters(node);
                self.inside(cursor);
                self.w.s.leave_function();
            }
            K::TypeSpec | K::TypeAlias => self.type_spec(cursor, node),
            K::VarSpec | K::ConstSpec => self.variables(cursor, node),
            K::ShortVar => {
                self.bind_lists(node);
                self.inside(cursor);
            }
            K::Range => {
                self.bind_range(node);
                self.inside(cursor);
            }
            K::Return => {
                self.returned(node);
                self.inside(cursor);
            }
            K::TypeSwitch => {
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::TypeCase => self.type_case(cursor, node),
            K::Block | K::If | K::For | K::Switch | K::Select | K::CommCase | K::ExpressionCase => {
                self.w.s.enter(ScopeKind::Block);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::Selector => self.first_only(cursor),
            K::KeyedElement => self.keyed(cursor),
            K::Call => self.call(cursor, node),
            K::Composite => {
                if let Some(of) = self.w.field(node, F::Type) {
                    let term = self.type_name(of);
                    self.w.s.refer(RefKind::New, term, self.last_name(of), ANY_NUMBER);
                }
                self.inside(cursor);
            }
            _ => self.inside(cursor),
        }
    }

    /// The key of a field is no name of its own.
    fn keyed(&mut self, cursor: &mut TreeCursor<'_>) {
        if self.w.descend(cursor) {
            let key = cursor.node();
            let is_name = key.named_child(0).is_some_and(|it| self.w.kind(it) == K::Identifier);
            if !is_name {
                self.visit(cursor);
            }
            while cursor.goto_next_sibling() {
                self.visit(cursor);
            }
            self.w.ascend(cursor);
        }
    }

    fn last_name<'t>(&self, node: Node<'t>) -> Node<'t> {
        match self.w.kind(node) {
            K::Qualified => self.w.field(node, F::Name).unwrap_or(node),
            K::GenericType => self.w.field(node, F::Type).map_or(node, |it| self.last_name(it)),
            _ => node,
        }
    }

    fn mention(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(RefKind::Use, term, node, 0);
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let callee = self.w.field(node, F::Function);
        let at = match callee.map(|it| (self.w.kind(it), it)) {
            Some((K::Identifier, it)) => {
                self.spoken = Some(it.id());
                Some(it)
            }
            Some((K::Selector, it)) => self.w.field(it, F::Field),
            _ => None,
        };
        if let (Some(callee), Some(at)) = (callee, at) {
            let arguments = self.w.field(node, F::Arguments);
            let n_args =
                self.w.n_args(arguments, |it| it == K::Comment, |it| it == K::VariadicArgument);
            let term = self.term(callee);
            self.w.s.refer(RefKind::Call, term, at, n_args);
        }
        self.inside(cursor);
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(path) = self.w.field(node, F::Path).map(|it| unquoted(self.w.text(it))) else {
            return;
        };
        let name = self.w.field(node, F::Name);
        let (kind, local) = match name.map(|it| self.w.kind(it)) {
            Some(K::Dot) => (ImportKind::Star, None),
            Some(K::Blank) => (ImportKind::Effect, None),
            Some(_) => (ImportKind::Module, name.map(|it| self.w.text(it))),
            None => (ImportKind::Module, Some(package_name(path))),
        };
        let import = self.w.s.import(kind, path, "*", local, node);
        if local.is_some() {
            self.w.s.bind_import(import);
        }
    }
}

/// What a package is called when its import does not say: the last part of its path, by habit.
fn package_name(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let is_version =
        last.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let last = if is_version { parts.next().unwrap_or(last) } else { last };
    let last = last.split(".v").next().unwrap_or(last);
    last.strip_prefix("go-").unwrap_or(last)
}
