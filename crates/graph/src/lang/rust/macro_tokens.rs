//! Rust: expressions read from the tokens of a macro call, as chains of names, members and calls.
//!
//! `macros` calls this for arguments such as `assert!(db.rows().len() == 2)`, which the grammar
//! leaves as a flat list of tokens. The reader goes through them once. Whether a name is called
//! shows only in the next token, so the last name stays pending:
//!
//! ```text
//! token   pending name   value so far    recorded
//! db      db
//! .       db
//! rows    db.rows                        use of `db`
//! ()                     Call(db.rows)   call of `db.rows`
//! .                      Call(db.rows)
//! len     ….len
//! ()                     Call(….len)     call of `db.rows().len`
//! ==                                     the value of an expression with operators is unknown
//! 2                      int
//! ```
//!
//! Values are *terms*, expressions reduced to what name lookup needs. To *settle* the pending name
//! is to record it as used, because no call followed it. References go to `walker.builder`, like
//! those of parsed code.
//!
//! The file is a small state machine: [`ExpressionReader`] is its state, [`read_expressions`] its
//! loop, and the functions below handle one kind of token each.

use tree_sitter::Node;

use super::macros::read_macro_argument;
use super::patterns::bind_pattern;
use super::terms::{TRANSPARENT_CONSTRUCTORS, self_type_name};
use super::{ELEMENT_CALLBACK_METHODS, NodeKind, RustWalker};
use crate::facts::{RefKind, Term, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, UNKNOWN_TERM};

/// Keywords that the grammar takes for identifiers inside a token tree.
const KEYWORDS_AS_IDENTIFIERS: &[&str] = &["move", "dyn", "ref", "in", "else"];

/// The tokens between two brackets. They are collected once, because stepping from one node to its
/// sibling is slow.
pub(super) struct TokenList<'t> {
    pub(super) opening: Option<Node<'t>>,
    pub(super) content: Vec<Node<'t>>,
}

impl<'t> TokenList<'t> {
    pub(super) fn from_tree(tree: Node<'t>) -> Self {
        let mut cursor = tree.walk();
        let mut tokens = tree.children(&mut cursor);
        let opening = tokens.next();
        let mut content: Vec<Node<'t>> = tokens.collect();
        // The closing bracket.
        content.pop();
        Self { opening, content }
    }
}

/// State of reading a comma-separated list of expressions.
struct ExpressionReader<'t> {
    tokens: Vec<Node<'t>>,
    next_token: usize,
    /// The last name, which is not recorded yet: it may turn out to be a callee.
    pending_name: Option<PendingName<'t>>,
    /// The value of the current expression up to the last token; `None` at its start and while a
    /// name is pending.
    value: Option<TermId>,
    /// The separator that was just read, between two names.
    separator: PathSeparator,
    /// The current expression has operators, so that its value is unknown.
    has_operator: bool,
    /// The current expression has an `if`, so that braces after a name are a block.
    is_condition: bool,
    /// The value of the first expression, once that was read.
    first_value: Option<TermId>,
    /// The value of the first parameter of a closure in this list.
    closure_argument: TermId,
    /// Number of closures in the current expression; they end with it.
    n_open_closures: usize,
    /// Remaining depth of nested brackets.
    depth: u32,
}

/// A name whose use is not known yet.
#[derive(Clone, Copy)]
struct PendingName<'t> {
    /// The whole chain up to and including the name.
    term: TermId,
    node: Node<'t>,
    /// Start of the path that ends in this name: of `a` in `a::b`.
    start_byte: usize,
    /// The name follows a dot.
    is_member: bool,
}

/// The separator before the next name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum PathSeparator {
    #[default]
    None,
    Dot,
    Colons,
}

impl<'t> ExpressionReader<'t> {
    fn next(&mut self) -> Option<Node<'t>> {
        let token = self.tokens.get(self.next_token).copied();
        self.next_token += 1;
        token
    }

    fn peek(&self) -> Option<Node<'t>> {
        self.tokens.get(self.next_token).copied()
    }

    /// Returns whether the current expression has no value yet.
    fn is_at_start(&self) -> bool {
        self.pending_name.is_none() && self.value.is_none()
    }
}

/// Reads a comma-separated list of expressions and returns the value of the first.
/// `closure_argument` is the value that a closure in the list gets as its first argument.
pub(super) fn read_expressions(
    walker: &mut RustWalker<'_, '_>,
    tokens: TokenList<'_>,
    closure_argument: TermId,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    let mut reader = ExpressionReader {
        tokens: tokens.content,
        next_token: 0,
        pending_name: None,
        value: None,
        separator: PathSeparator::None,
        has_operator: false,
        is_condition: false,
        first_value: None,
        closure_argument,
        n_open_closures: 0,
        depth,
    };
    while let Some(token) = reader.next() {
        if !continue_chain(walker, &mut reader, token) {
            break_chain(walker, &mut reader, token);
        }
    }
    end_expression(walker, &mut reader);
    reader.first_value.unwrap_or(UNKNOWN_TERM)
}

/// Reads a token that continues the current chain of names, members and calls, such as
/// `db.rows()?.len`; returns `false` for any other.
fn continue_chain<'t>(
    walker: &mut RustWalker<'_, '_>,
    reader: &mut ExpressionReader<'t>,
    token: Node<'t>,
) -> bool {
    match walker.kind(token) {
        NodeKind::LineComment | NodeKind::BlockComment => walker.builder.mark_comment(token),
        NodeKind::Identifier
        | NodeKind::SelfWord
        | NodeKind::SuperWord
        | NodeKind::CrateWord
        | NodeKind::DefaultWord => read_name(walker, reader, token),
        NodeKind::TokenTree => read_brackets(walker, reader, token),
        // `tuple.0`
        NodeKind::Int if reader.separator == PathSeparator::Dot => {
            read_name(walker, reader, token);
        }
        NodeKind::Dot => reader.separator = PathSeparator::Dot,
        NodeKind::Colons => reader.separator = PathSeparator::Colons,
        // `f::<T>`
        NodeKind::Less if reader.separator == PathSeparator::Colons => {
            read_type_arguments(walker, reader);
        }
        NodeKind::AwaitWord if reader.separator == PathSeparator::Dot => {
            unwrap_value(walker, reader);
        }
        NodeKind::Question => unwrap_value(walker, reader),
        // `name!(…)`; any other `!` is an operator.
        NodeKind::Bang => return read_nested_macro(walker, reader),
        _ => return false,
    }
    true
}

/// Reads a token that ends the current chain: a literal, an operator, a comma.
fn break_chain<'t>(
    walker: &mut RustWalker<'_, '_>,
    reader: &mut ExpressionReader<'t>,
    token: Node<'t>,
) {
    let kind = walker.kind(token);
    // `name: value` and `name = value` give a name to a value; neither uses a variable.
    if matches!(kind, NodeKind::Colon | NodeKind::Equals) && reader.value.is_none() {
        reader.pending_name = None;
    }
    let is_at_start = reader.is_at_start();
    settle_name(walker, reader);
    reader.separator = PathSeparator::None;
    match kind {
        NodeKind::Text | NodeKind::RawText | NodeKind::Char => {
            walker.builder.mark_string(token);
            reader.value = Some(walker.builder.terms.literal_of("str"));
        }
        NodeKind::Int | NodeKind::Float | NodeKind::Bool => {
            reader.value = Some(walker.builder.terms.literal_of("int"));
        }
        // `u32` in `u32::MAX`
        NodeKind::Primitive => reader.value = Some(UNKNOWN_TERM),
        NodeKind::Comma | NodeKind::Semicolon => end_expression(walker, reader),
        // `|x| …` and `|| …`; after a value the bars are operators.
        NodeKind::Bar if is_at_start => read_closure_parameters(walker, reader),
        NodeKind::BarBar if is_at_start => enter_closure(walker, reader),
        // A lifetime: the name after the quote is skipped.
        NodeKind::Quote => reader.next_token += 1,
        NodeKind::FnWord
            if reader.peek().is_some_and(|it| walker.kind(it) == NodeKind::Identifier) =>
        {
            // The name of a function that is defined here.
            reader.next_token += 1;
        }
        // References and dereferences do not change what a value is.
        NodeKind::And | NodeKind::AndAnd | NodeKind::Star if is_at_start => {}
        // A node such as `mutable_specifier` (`mut`), which changes nothing either.
        NodeKind::Other if token.is_named() => {}
        // An operator or a keyword.
        _ => {
            reader.is_condition |= kind == NodeKind::IfWord;
            reader.has_operator = true;
            reader.value = None;
        }
    }
}

/// Reads a name and makes it the pending one: `b` in `a.b`, in `a::b` or by itself.
fn read_name<'t>(
    walker: &mut RustWalker<'_, '_>,
    reader: &mut ExpressionReader<'t>,
    node: Node<'t>,
) {
    let text = walker.text(node);
    let start_byte = node.start_byte();
    let name = match std::mem::take(&mut reader.separator) {
        PathSeparator::Dot => {
            let object = settle_name(walker, reader);
            let term = walker.builder.terms.member_of(object, text);
            PendingName { term, node, start_byte, is_member: true }
        }
        // `a::b` is one name: `a` is not recorded by itself.
        PathSeparator::Colons if !reader.is_at_start() => {
            let (parent, start_byte) = match reader.pending_name {
                Some(name) => (name.term, name.start_byte),
                None => (reader.value.unwrap_or(UNKNOWN_TERM), start_byte),
            };
            let term = walker.builder.terms.member_of(parent, text);
            PendingName { term, node, start_byte, is_member: false }
        }
        // A name that begins a chain; `::a` begins one, too.
        PathSeparator::Colons | PathSeparator::None => {
            settle_name(walker, reader);
            if KEYWORDS_AS_IDENTIFIERS.contains(&text) {
                reader.value = None;
                return;
            }
            let term = match text {
                "Self" => self_type_name(walker),
                _ => walker.builder.unbound_name(text),
            };
            PendingName { term, node, start_byte, is_member: false }
        }
    };
    reader.pending_name = Some(name);
    reader.value = None;
}

/// Records the pending name as used, since no call followed it; returns the value up to here.
fn settle_name(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) -> TermId {
    if let Some(name) = reader.pending_name.take() {
        // A member that is only read (`a.b`) and a word such as `self` are no references.
        if !name.is_member && walker.kind(name.node) == NodeKind::Identifier {
            walker.builder.add_reference(RefKind::Use, name.term, name.node, 0);
        }
        reader.value = Some(name.term);
    }
    reader.value.unwrap_or(UNKNOWN_TERM)
}

/// Reads a token tree after the chain so far: `(…)`, `[…]` or `{…}`.
fn read_brackets<'t>(
    walker: &mut RustWalker<'_, '_>,
    reader: &mut ExpressionReader<'t>,
    tree: Node<'t>,
) {
    reader.separator = PathSeparator::None;
    let depth = reader.depth;
    let is_at_start = reader.is_at_start();
    let opening = walker.text(tree).as_bytes().first();
    let value = match (opening, reader.pending_name) {
        // `name(…)`
        (Some(b'('), Some(callee)) => {
            reader.pending_name = None;
            read_call(walker, callee, TokenList::from_tree(tree), depth)
        }
        // Parentheses, a tuple, or the call of a value.
        (Some(b'('), None) => {
            let tokens = TokenList::from_tree(tree);
            let is_single = count_expressions(walker, &tokens) == 1;
            let inner = read_expressions(walker, tokens, UNKNOWN_TERM, depth);
            match reader.value {
                // A call of a returned function: `f()()`.
                Some(callee) => walker.builder.terms.add(Term::Call(callee)),
                // `(x)` is `x`.
                None if is_single => inner,
                // A tuple.
                None => UNKNOWN_TERM,
            }
        }
        // A list at the start of an expression, an index after a value.
        (Some(b'['), _) => {
            let container = settle_name(walker, reader);
            let tokens = TokenList::from_tree(tree);
            let first = read_expressions(walker, tokens, UNKNOWN_TERM, depth);
            let term = if is_at_start { Term::ListOf(first) } else { Term::ElementOf(container) };
            walker.builder.terms.add(term)
        }
        _ => read_braces(walker, reader, tree),
    };
    reader.value = Some(value);
}

/// Reads the fields of `Type { … }`, or the block `{ … }`.
fn read_braces<'t>(
    walker: &mut RustWalker<'_, '_>,
    reader: &mut ExpressionReader<'t>,
    tree: Node<'t>,
) -> TermId {
    let struct_name = reader.pending_name.filter(|it| {
        let is_type = !it.is_member && walker.text(it.node).starts_with(char::is_uppercase);
        // In `if CONSTANT { … }` the braces are a block.
        is_type && !reader.is_condition
    });
    if let Some(name) = struct_name {
        reader.pending_name = None;
        walker.builder.add_reference(RefKind::New, name.term, name.node, ANY_ARG_COUNT);
        read_expressions(walker, TokenList::from_tree(tree), UNKNOWN_TERM, reader.depth);
        return walker.builder.terms.instance_of(name.term);
    }
    settle_name(walker, reader);
    read_macro_argument(walker, tree, reader.depth);
    UNKNOWN_TERM
}

/// Reads the arguments of `callee(…)` and records the call; returns its result.
fn read_call(
    walker: &mut RustWalker<'_, '_>,
    callee: PendingName<'_>,
    arguments: TokenList<'_>,
    depth: u32,
) -> TermId {
    let n_args = count_expressions(walker, &arguments);
    walker.builder.add_reference(RefKind::Call, callee.term, callee.node, n_args);
    // The object of `object.method(…)`, whose elements a closure argument may get.
    let object = match walker.builder.terms.get(callee.term) {
        Term::Member(object, _) if callee.is_member => object,
        _ => UNKNOWN_TERM,
    };
    let passes_element =
        callee.is_member && ELEMENT_CALLBACK_METHODS.contains(&walker.text(callee.node));
    let closure_argument = if passes_element {
        walker.builder.terms.add(Term::ElementOf(object))
    } else {
        UNKNOWN_TERM
    };
    let first = read_expressions(walker, arguments, closure_argument, depth);
    let path = callee.start_byte..callee.node.end_byte();
    let path = walker.builder.source.get(path).unwrap_or_default();
    if TRANSPARENT_CONSTRUCTORS.iter().any(|it| it.as_bytes() == path) {
        return first;
    }
    walker.builder.terms.add(Term::Call(callee.term))
}

/// Counts the expressions of a list: those between its commas. [`ANY_ARG_COUNT`] if a comma may
/// separate something else.
fn count_expressions(walker: &RustWalker<'_, '_>, tokens: &TokenList<'_>) -> u8 {
    let (mut n_expressions, mut is_in_expression) = (0_u8, false);
    for token in &tokens.content {
        match walker.kind(*token) {
            // Commas between closure parameters or type arguments.
            NodeKind::Bar | NodeKind::Less => return ANY_ARG_COUNT,
            NodeKind::Comma => is_in_expression = false,
            NodeKind::LineComment | NodeKind::BlockComment => {}
            _ => {
                n_expressions = n_expressions.saturating_add(u8::from(!is_in_expression));
                is_in_expression = true;
            }
        }
    }
    n_expressions
}

/// Reads the type arguments of `name::<T>`. They do not change the name.
fn read_type_arguments(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) {
    reader.separator = PathSeparator::None;
    let mut n_open = 1_u32;
    while n_open > 0
        && let Some(token) = reader.next()
    {
        match walker.kind(token) {
            NodeKind::Less => n_open += 1,
            NodeKind::Greater => n_open -= 1,
            // `Vec<Vec<T>>` ends in one token `>>`.
            NodeKind::GreaterTwo => n_open = n_open.saturating_sub(2),
            NodeKind::Identifier => {
                let term = walker.builder.unbound_name(walker.text(token));
                walker.builder.add_reference(RefKind::Type, term, token, 0);
            }
            // Commas, lifetimes, references: no names.
            _ => {}
        }
    }
}

/// `x?` and `x.await`
fn unwrap_value(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) {
    reader.separator = PathSeparator::None;
    let value = settle_name(walker, reader);
    reader.value = Some(walker.builder.terms.add(Term::Unwrapped(value)));
}

/// Reads `name!(…)` from its `!` on; returns whether it was a macro call.
fn read_nested_macro(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) -> bool {
    let tree = reader.peek().filter(|it| walker.kind(*it) == NodeKind::TokenTree);
    let name = reader.pending_name.filter(|it| !it.is_member);
    let (Some(name), Some(tree)) = (name, tree) else { return false };
    // Only a bare name can be a macro of the project; `std::println` is not.
    if name.start_byte == name.node.start_byte() {
        walker.builder.add_reference(RefKind::Call, name.term, name.node, ANY_ARG_COUNT);
    }
    reader.next_token += 1;
    reader.pending_name = None;
    read_macro_argument(walker, tree, reader.depth);
    reader.value = Some(UNKNOWN_TERM);
    true
}

/// Opens the scope of a closure, which [`end_expression`] closes.
fn enter_closure(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) {
    walker.builder.enter_function();
    reader.n_open_closures += 1;
}

/// Reads the parameters of `|a, (b, c)| …`. The closure ends with the expression.
fn read_closure_parameters(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) {
    enter_closure(walker, reader);
    // Only the value of the first parameter is known.
    let mut value = reader.closure_argument;
    let mut is_in_type = false;
    while let Some(token) = reader.next() {
        match walker.kind(token) {
            NodeKind::Bar => break,
            NodeKind::Comma => (value, is_in_type) = (UNKNOWN_TERM, false),
            NodeKind::Colon => is_in_type = true,
            NodeKind::Identifier if !is_in_type => bind_pattern(walker, token, value),
            NodeKind::TokenTree if !is_in_type => bind_all_names(walker, token, reader.depth),
            // `&`, `mut`, and all tokens of a type.
            _ => {}
        }
    }
}

/// Binds every name of a pattern such as `(a, (b, c))` to an unknown value.
fn bind_all_names(walker: &mut RustWalker<'_, '_>, tree: Node<'_>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let mut cursor = tree.walk();
    for token in tree.children(&mut cursor) {
        match walker.kind(token) {
            NodeKind::Identifier => bind_pattern(walker, token, UNKNOWN_TERM),
            NodeKind::TokenTree => bind_all_names(walker, token, depth),
            _ => {}
        }
    }
}

/// Ends the current expression, at a comma or at the end of the list.
fn end_expression(walker: &mut RustWalker<'_, '_>, reader: &mut ExpressionReader<'_>) {
    let value = settle_name(walker, reader);
    let value = if reader.has_operator { UNKNOWN_TERM } else { value };
    reader.first_value.get_or_insert(value);
    (reader.value, reader.has_operator, reader.is_condition) = (None, false, false);
    // A closure without braces lasts to the end of its expression.
    for _ in 0..std::mem::take(&mut reader.n_open_closures) {
        walker.builder.leave_function();
    }
}
