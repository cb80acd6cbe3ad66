//! Qualified names and expressions of C and C++ as terms.

use tree_sitter::{Node, TreeCursor};

use super::super::super::walk::{MAX_TERM, Steps, children};
use super::super::{Plain, field};
use crate::facts::{RefKind, Term, TermId};
use crate::sketch::Sketch;

impl Plain<'_, '_> {
    /// The type of `Type::name`, where a name is qualified, and the name.
    pub(in crate::lang::plain) fn owner<'t>(
        &mut self,
        name: Node<'t>,
    ) -> (Option<TermId>, Node<'t>) {
        let (mut of, mut name, mut left) = (None, name, MAX_TERM);
        while name.kind() == "qualified_identifier" {
            if let Some(scope) = field(name, "scope") {
                left = left.saturating_sub(1);
                of = Some(if left > 0 { self.scoped(of, scope) } else { Sketch::UNKNOWN });
            }
            match field(name, "name") {
                Some(it) => name = it,
                None => break,
            }
        }
        (of, name)
    }

    /// One step of a qualified name.
    fn scoped(&mut self, of: Option<TermId>, scope: Node<'_>) -> TermId {
        let scope = match scope.kind() {
            "template_type" | "template_function" => field(scope, "name").unwrap_or(scope),
            "dependent_name" | "decltype" => return Sketch::UNKNOWN,
            _ => scope,
        };
        let text = self.s.text(scope);
        match of {
            Some(of) => self.s.member(of, text),
            None => self.s.free(text),
        }
    }

    /// `a::b::c` as a term: of the standard library by its last name, everything else step by step.
    pub(in crate::lang::plain) fn qualified(&mut self, node: Node<'_>) -> TermId {
        let is_absolute = field(node, "scope").is_none();
        let (of, last) = self.owner(node);
        let head = match last.kind() {
            "template_type" | "template_function" | "template_method" => field(last, "name"),
            "identifier" | "type_identifier" | "field_identifier" | "operator_name"
            | "destructor_name" => Some(last),
            _ => None,
        };
        let Some(head) = head else { return Sketch::UNKNOWN };
        let text = self.s.text(head);
        let is_standard = self.s.text(node).trim_start_matches(':').starts_with("std::");
        let name = match of {
            Some(_) if is_standard => {
                let word = self.s.word(text);
                self.s.term(Term::Literal(word))
            }
            Some(of) => self.s.member(of, text),
            None if is_absolute => {
                let word = self.s.word(text);
                self.s.term(Term::Name(word))
            }
            None => self.s.free(text),
        };
        match last.kind() {
            "template_type" => self.with_arguments(name, last),
            _ => name,
        }
    }

    pub(in crate::lang::plain) fn with_arguments(&mut self, of: TermId, node: Node<'_>) -> TermId {
        let mut items = vec![of];
        for it in field(node, "arguments").into_iter().flat_map(children).take(4) {
            items.push(self.type_term(it));
        }
        let list = self.s.list(&items);
        self.s.term(Term::Args(list))
    }

    /// A qualified name that nobody calls.
    pub(super) fn mention_qualified(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if self.spoken != Some(node.id()) {
            let (_, last) = self.owner(node);
            let kind = match last.kind() {
                "type_identifier" | "template_type" => Some(RefKind::Type),
                "identifier" => Some(RefKind::Use),
                _ => None,
            };
            if let Some(kind) = kind {
                let term = self.qualified(node);
                self.s.refer(kind, term, last, 0);
            }
        }
        // What a template is given may be named nowhere else.
        if node.named_child_count() > 1 && self.descend(cursor) {
            while cursor.goto_next_sibling() {}
            if matches!(cursor.node().kind(), "template_type" | "template_function")
                && self.descend(cursor)
            {
                while cursor.goto_next_sibling() {}
                self.visit(cursor);
                self.ascend(cursor);
            }
            self.ascend(cursor);
        }
    }

    /// Expressions that only C and C++ have, or read in their own way.
    pub(in crate::lang::plain) fn c_term(&mut self, node: Node<'_>, left: u32) -> Option<TermId> {
        let text = self.s.text(node);
        Some(match node.kind() {
            "qualified_identifier" => self.qualified(node),
            "template_function" => {
                field(node, "name").map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            "field_expression" => {
                let (of, name) = (field(node, "argument")?, field(node, "field")?);
                let is_arrow = field(node, "operator").is_some_and(|it| it.kind() == "->");
                let through = is_arrow && of.kind() != "this";
                let mut of = self.term_within(of, left);
                if through {
                    of = self.s.term(Term::Await(of));
                }
                let name = self.s.text(field(name, "name").unwrap_or(name));
                self.s.member(of, name)
            }
            "pointer_expression" if text.starts_with('*') => {
                let of = self.term_within(field(node, "argument")?, left);
                self.s.term(Term::Await(of))
            }
            "call_expression" => {
                return field(node, "function").and_then(|it| self.plain_to_see(it, node));
            }
            "true" | "false" => self.s.literal("bool"),
            "char_literal" => self.s.literal("char"),
            "number_literal" if text.contains('.') => self.s.literal("double"),
            _ => return None,
        })
    }

    /// `static_cast<T*>(x)`, `std::make_unique<T>(…)`, `std::move(x)`: what they give is plain to see.
    fn plain_to_see(&mut self, callee: Node<'_>, call: Node<'_>) -> Option<TermId> {
        let text = self.s.text(callee);
        let name = text.split('<').next()?.trim_start_matches(':');
        match name {
            "static_cast" | "dynamic_cast" | "reinterpret_cast" | "const_cast"
            | "std::make_unique" | "std::make_shared" | "make_unique" | "make_shared" => {
                let (_, last) = self.owner(callee);
                let of = field(last, "arguments").and_then(|it| it.named_child(0))?;
                Some(self.type_term(of))
            }
            "std::move" | "std::forward" | "std::ref" | "std::cref" => {
                let of = field(call, "arguments").and_then(|it| it.named_child(0))?;
                Some(self.term(of))
            }
            _ => None,
        }
    }
}
