//! Expressions out of the tokens that a macro is given: names, members, calls, one after another.

use tree_sitter::Node;

use super::term::WRAPPERS;
use super::{K, Rust, WITH_ELEMENT};
use crate::facts::{RefKind, Term, TermId};
use crate::sketch::{ANY_NUMBER, Sketch};

/// Words that join expressions and name nothing, but are written like names.
const JOINTS: &[&str] = &["move", "dyn", "ref", "in", "else"];

/// What stands between brackets, gathered once: steps from one token to the next are dear.
pub(super) struct Tokens<'t> {
    pub(super) bracket: Option<Node<'t>>,
    pub(super) inside: Vec<Node<'t>>,
}

impl<'t> Tokens<'t> {
    pub(super) fn of(tree: Node<'t>) -> Self {
        let mut cursor = tree.walk();
        let mut tokens = tree.children(&mut cursor);
        let bracket = tokens.next();
        let mut inside: Vec<Node<'t>> = tokens.collect();
        inside.pop();
        Self { bracket, inside }
    }
}

/// A list of expressions, as far as it has been read.
struct Run<'t> {
    tokens: Vec<Node<'t>>,
    at: usize,
    /// The name that was met last, of which nobody has spoken yet.
    name: Option<Name<'t>>,
    /// What the expression comes to, up to here.
    value: Option<TermId>,
    link: Link,
    /// More than names, members and calls: what it comes to is anybody's guess.
    is_operated: bool,
    is_condition: bool,
    /// The first of the list, once it has been read.
    first: Option<TermId>,
    /// What a closure is given here.
    element: TermId,
    n_closures: usize,
    left: u32,
}

#[derive(Clone, Copy)]
struct Name<'t> {
    term: TermId,
    at: Node<'t>,
    start: usize,
    is_member: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Link {
    #[default]
    None,
    Dot,
    Colons,
}

impl<'t> Run<'t> {
    fn next(&mut self) -> Option<Node<'t>> {
        let res = self.tokens.get(self.at).copied();
        self.at += 1;
        res
    }

    fn is_at_start(&self) -> bool {
        self.name.is_none() && self.value.is_none()
    }
}

impl Rust<'_, '_> {
    /// Reads a list; what the first expression of it comes to.
    pub(super) fn expressions(&mut self, of: Tokens<'_>, element: TermId, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        let mut run = Run {
            tokens: of.inside,
            at: 0,
            name: None,
            value: None,
            link: Link::None,
            is_operated: false,
            is_condition: false,
            first: None,
            element,
            n_closures: 0,
            left,
        };
        while let Some(it) = run.next() {
            self.token(&mut run, it);
        }
        self.end(&mut run);
        run.first.unwrap_or(Sketch::UNKNOWN)
    }

    fn token<'t>(&mut self, run: &mut Run<'t>, it: Node<'t>) {
        let kind = self.w.kind(it);
        match kind {
            K::LineComment | K::BlockComment => return self.w.s.comment(it),
            K::Identifier | K::SelfWord | K::SuperWord | K::CrateWord | K::DefaultWord => {
                return self.name(run, it);
            }
            K::TokenTree => return self.brackets(run, it),
            K::Int if run.link == Link::Dot => return self.name(run, it),
            K::Dot => return run.link = Link::Dot,
            K::Colons => return run.link = Link::Colons,
            K::Less if run.link == Link::Colons => return self.type_arguments(run),
            K::AwaitWord if run.link == Link::Dot => return self.wait(run),
            K::Question => return self.wait(run),
            K::Bang if self.invocation(run) => return,
            K::Colon | K::Equals if run.value.is_none() => run.name = None,
            _ => {}
        }
        let is_at_start = run.is_at_start();
        self.spoken_of(run);
        run.link = Link::None;
        match kind {
            K::Text | K::RawText | K::Char => {
                self.w.s.string(it);
                run.value = Some(self.w.s.literal("str"));
            }
            K::Int | K::Float | K::Bool => run.value = Some(self.w.s.literal("int")),
            K::Primitive => run.value = Some(Sketch::UNKNOWN),
            K::Comma | K::Semicolon => self.end(run),
            K::Bar if is_at_start => self.closure_of(run),
            K::BarBar if is_at_start => self.enter_closure(run),
            K::Quote => _ = run.next(),
            K::FnWord
                if run.tokens.get(run.at).is_some_and(|it| self.w.kind(*it) == K::Identifier) =>
            {
                run.at += 1;
            }
            K::And | K::AndAnd | K::Star if is_at_start => {}
            K::Other if it.is_named() => {}
            _ => {
                run.is_condition |= kind == K::IfWord;
                run.is_operated = true;
                run.value = None;
            }
        }
    }

    fn name<'t>(&mut self, run: &mut Run<'t>, at: Node<'t>) {
        let text = self.w.text(at);
        let start = at.start_byte();
        run.name = Some(match std::mem::take(&mut run.link) {
            Link::Dot => {
                let of = self.spoken_of(run);
                Name { term: self.w.s.member(of, text), at, start, is_member: true }
            }
            Link::Colons if !run.is_at_start() => {
                let (of, start) = match run.name {
                    Some(it) => (it.term, it.start),
                    None => (run.value.unwrap_or(Sketch::UNKNOWN), start),
                };
                Name { term: self.w.s.member(of, text), at, start, is_member: false }
            }
            Link::Colons | Link::None => {
                self.spoken_of(run);
                if JOINTS.contains(&text) {
                    return run.value = None;
                }
                let term = if text == "Self" { self.own_type() } else { self.w.s.free(text) };
                Name { term, at, start, is_member: false }
            }
        });
        run.value = None;
    }

    /// What the expression comes to so far; a name that nothing followed is mentioned.
    fn spoken_of(&mut self, run: &mut Run<'_>) -> TermId {
        if let Some(name) = run.name.take() {
            if !name.is_member && self.w.kind(name.at) == K::Identifier {
                self.w.s.refer(RefKind::Use, name.term, name.at, 0);
            }
            run.value = Some(name.term);
        }
        run.value.unwrap_or(Sketch::UNKNOWN)
    }

    fn brackets<'t>(&mut self, run: &mut Run<'t>, tree: Node<'t>) {
        run.link = Link::None;
        let left = run.left;
        let is_at_start = run.is_at_start();
        let bracket = self.w.text(tree).as_bytes().first();
        run.value = Some(match (bracket, run.name) {
            (Some(b'('), Some(name)) => {
                run.name = None;
                self.called(name, Tokens::of(tree), left)
            }
            (Some(b'('), None) => {
                let tokens = Tokens::of(tree);
                let is_one = self.n_given(&tokens) == 1;
                let inner = self.expressions(tokens, Sketch::UNKNOWN, left);
                match run.value {
                    Some(of) => self.w.s.term(Term::Call(of)),
                    None if is_one => inner,
                    None => Sketch::UNKNOWN,
                }
            }
            (Some(b'['), _) => {
                let of = self.spoken_of(run);
                let first = self.expressions(Tokens::of(tree), Sketch::UNKNOWN, left);
                let term = if is_at_start { Term::Many(first) } else { Term::Element(of) };
                self.w.s.term(term)
            }
            _ => self.braces(run, tree),
        });
    }

    /// What a type is made with, or a block.
    fn braces<'t>(&mut self, run: &mut Run<'t>, tree: Node<'t>) -> TermId {
        if let Some(name) = run.name.filter(|it| !run.is_condition && self.names_type(*it)) {
            run.name = None;
            self.w.s.refer(RefKind::New, name.term, name.at, ANY_NUMBER);
            self.expressions(Tokens::of(tree), Sketch::UNKNOWN, run.left);
            return self.w.s.object(name.term);
        }
        self.spoken_of(run);
        self.given(tree, run.left);
        Sketch::UNKNOWN
    }

    fn names_type(&self, name: Name<'_>) -> bool {
        !name.is_member && self.w.text(name.at).starts_with(char::is_uppercase)
    }

    fn called(&mut self, name: Name<'_>, given: Tokens<'_>, left: u32) -> TermId {
        let n_args = self.n_given(&given);
        self.w.s.refer(RefKind::Call, name.term, name.at, n_args);
        let of = match self.w.s.get(name.term) {
            Term::Member(of, _) if name.is_member => of,
            _ => Sketch::UNKNOWN,
        };
        let gives_element = name.is_member && WITH_ELEMENT.contains(&self.w.text(name.at));
        let element =
            if gives_element { self.w.s.term(Term::Element(of)) } else { Sketch::UNKNOWN };
        let first = self.expressions(given, element, left);
        let callee = self.w.s.source.get(name.start..name.at.end_byte()).unwrap_or_default();
        if WRAPPERS.iter().any(|it| it.as_bytes() == callee) {
            return first;
        }
        self.w.s.term(Term::Call(name.term))
    }

    /// How many expressions a list has; any number where commas may separate other things.
    fn n_given(&self, tokens: &Tokens<'_>) -> u8 {
        let (mut n, mut is_open) = (0_u8, false);
        for it in &tokens.inside {
            match self.w.kind(*it) {
                K::Bar | K::Less => return ANY_NUMBER,
                K::Comma => is_open = false,
                K::LineComment | K::BlockComment => {}
                _ => {
                    n = n.saturating_add(u8::from(!is_open));
                    is_open = true;
                }
            }
        }
        n
    }

    /// `a::<B>`: a name stays what it is, whatever it is given.
    fn type_arguments(&mut self, run: &mut Run<'_>) {
        run.link = Link::None;
        let mut n_open = 1_u32;
        while n_open > 0
            && let Some(it) = run.next()
        {
            match self.w.kind(it) {
                K::Less => n_open += 1,
                K::Greater => n_open -= 1,
                K::GreaterTwo => n_open = n_open.saturating_sub(2),
                K::Identifier => {
                    let text = self.w.text(it);
                    let term = self.w.s.free(text);
                    self.w.s.refer(RefKind::Type, term, it, 0);
                }
                _ => {}
            }
        }
    }

    fn wait(&mut self, run: &mut Run<'_>) {
        run.link = Link::None;
        let of = self.spoken_of(run);
        run.value = Some(self.w.s.term(Term::Await(of)));
    }

    /// A macro inside: `name!(…)`.
    fn invocation(&mut self, run: &mut Run<'_>) -> bool {
        let tree = run.tokens.get(run.at).copied();
        let tree = tree.filter(|it| self.w.kind(*it) == K::TokenTree);
        let (Some(name), Some(tree)) = (run.name.filter(|it| !it.is_member), tree) else {
            return false;
        };
        if name.start == name.at.start_byte() {
            self.w.s.refer(RefKind::Call, name.term, name.at, ANY_NUMBER);
        }
        run.at += 1;
        run.name = None;
        self.given(tree, run.left);
        run.value = Some(Sketch::UNKNOWN);
        true
    }

    fn enter_closure(&mut self, run: &mut Run<'_>) {
        self.w.s.enter_function();
        run.n_closures += 1;
    }

    /// `|a, (b, c)| …`, to the end of the expression.
    fn closure_of(&mut self, run: &mut Run<'_>) {
        self.enter_closure(run);
        let mut of = run.element;
        let mut is_typed = false;
        while let Some(it) = run.next() {
            match self.w.kind(it) {
                K::Bar => break,
                K::Comma => (of, is_typed) = (Sketch::UNKNOWN, false),
                K::Colon => is_typed = true,
                K::Identifier if !is_typed => self.bind_pattern(it, of, 1),
                K::TokenTree if !is_typed => self.bind_all(it, run.left),
                _ => {}
            }
        }
    }

    /// Every name of a pattern, of which nothing is known.
    fn bind_all(&mut self, tree: Node<'_>, left: u32) {
        let Some(left) = left.checked_sub(1) else { return };
        let mut cursor = tree.walk();
        for it in tree.children(&mut cursor) {
            match self.w.kind(it) {
                K::Identifier => self.bind_pattern(it, Sketch::UNKNOWN, 1),
                K::TokenTree => self.bind_all(it, left),
                _ => {}
            }
        }
    }

    /// The end of one expression.
    fn end(&mut self, run: &mut Run<'_>) {
        let value = self.spoken_of(run);
        let value = if run.is_operated { Sketch::UNKNOWN } else { value };
        run.first.get_or_insert(value);
        (run.value, run.is_operated, run.is_condition) = (None, false, false);
        for _ in 0..std::mem::take(&mut run.n_closures) {
            self.w.s.leave_function();
        }
    }
}
