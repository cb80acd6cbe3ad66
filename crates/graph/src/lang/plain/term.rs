//! Expressions and types of the five as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children};
use super::{Plain, field};
use crate::facts::{Term, TermId};
use crate::lang::Lang;
use crate::sketch::Sketch;

impl Plain<'_, '_> {
    pub(super) fn term(&mut self, node: Node<'_>) -> TermId {
        self.term_within(node, MAX_TERM)
    }

    pub(super) fn term_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        if let Some(it) = self.is_c().then(|| self.c_term(node, left)).flatten() {
            return it;
        }
        let text = self.s.text(node);
        match node.kind() {
            "this" | "self" | "this_expression" => self.own(Term::This),
            "base" | "base_expression" | "super" => self.own(Term::Super),
            "relative_scope" if text == "parent" => self.own(Term::Super),
            "relative_scope" => self.own(Term::This),
            "variable_name" if text == "$this" => self.own(Term::This),
            "identifier" | "constant" | "name" | "type_identifier" | "namespace_identifier" => {
                self.s.free(text)
            }
            "variable_name" => {
                let name = text.trim_start_matches('$');
                self.s.free(name)
            }
            // A field of the object, which Ruby spells with a sign.
            "instance_variable" => {
                let of = self.own(Term::This);
                self.s.member(of, text.trim_start_matches('@'))
            }
            "member_access_expression" | "field_expression" | "conditional_access_expression" => {
                let of = ["expression", "argument", "object"].iter().find_map(|it| field(node, it));
                let name = field(node, "name").or_else(|| field(node, "field"));
                let (Some(of), Some(name)) = (of, name) else { return Sketch::UNKNOWN };
                let of = self.term_within(of, left);
                let name = field(name, "name").unwrap_or(name);
                let name = self.s.text(name);
                self.s.member(of, name)
            }
            "scope_resolution" | "qualified_name" => {
                let parts: Vec<Node<'_>> = children(node).collect();
                let Some((last, before)) = parts.split_last() else { return Sketch::UNKNOWN };
                let last_text = self.s.text(*last);
                // `\f` is a function of no namespace: PHP's own.
                if self.s.lang == Lang::Php && text.rfind('\\') == Some(0) {
                    let word = self.s.word(last_text);
                    return self.s.term(Term::Literal(word));
                }
                match before.first() {
                    Some(of) if self.s.lang != Lang::Php => {
                        let of = self.term_within(*of, left);
                        self.s.member(of, last_text)
                    }
                    _ => self.s.free(last_text),
                }
            }
            "call_expression" | "invocation_expression" | "function_call_expression" => {
                let Some(callee) = field(node, "function") else { return Sketch::UNKNOWN };
                let is_bare = matches!(callee.kind(), "identifier" | "name");
                let of = if is_bare {
                    let name = self.s.text(callee);
                    self.bare(name)
                } else {
                    self.term_within(callee, left)
                };
                self.s.term(Term::Call(of))
            }
            "member_call_expression" | "scoped_call_expression" | "call" => {
                let of = ["object", "receiver", "scope"].iter().find_map(|it| field(node, it));
                let name = field(node, "name").or_else(|| field(node, "method"));
                let Some(name) = name.map(|it| self.s.text(it)) else { return Sketch::UNKNOWN };
                let Some(of) = of else {
                    let of = self.bare(name);
                    return self.s.term(Term::Call(of));
                };
                let of = self.term_within(of, left);
                if name == "new" && self.s.lang == Lang::Ruby {
                    return self.s.object(of);
                }
                let of = self.s.member(of, name);
                self.s.term(Term::Call(of))
            }
            "object_creation_expression" | "new_expression" => {
                let of = field(node, "type").or_else(|| node.named_child(0));
                let of = of.map_or(Sketch::UNKNOWN, |it| self.type_name(it));
                self.s.object(of)
            }
            "parenthesized_expression" | "pointer_expression" | "await_expression" => {
                let inner = field(node, "argument").or_else(|| node.named_child(0));
                inner.map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            "cast_expression" => {
                field(node, "type").map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            "subscript_expression" | "element_access_expression" | "element_reference" => {
                let of =
                    node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left));
                self.s.term(Term::Element(of))
            }
            // A name before it may say for what.
            "argument" => {
                let of = children(node).last();
                of.map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            _ => self.foreign(node),
        }
    }

    /// What is known of these is that they are not ours.
    fn foreign(&mut self, node: Node<'_>) -> TermId {
        match node.kind() {
            "predefined_type" => self.type_term(node),
            "typeof_expression" => self.s.literal("Type"),
            "boolean_literal" => self.s.literal("bool"),
            "real_literal" => self.s.literal("double"),
            "string"
            | "string_literal"
            | "encapsed_string"
            | "verbatim_string_literal"
            | "interpolated_string_expression" => self.s.literal("string"),
            "number_literal" | "integer_literal" | "integer" | "true" | "false" => {
                self.s.literal("int")
            }
            _ => Sketch::UNKNOWN,
        }
    }

    fn own(&mut self, of: fn(u32) -> Term) -> TermId {
        if let Some((_, owner)) = self.outside {
            return self.s.object(owner);
        }
        self.s.class().map_or(Sketch::UNKNOWN, |it| self.s.term(of(it)))
    }

    /// A value of a type.
    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        if self.n_types >= MAX_TERM {
            return Sketch::UNKNOWN;
        }
        self.n_types += 1;
        let res = self.type_within(node);
        self.n_types -= 1;
        res
    }

    fn type_within(&mut self, node: Node<'_>) -> TermId {
        match node.kind() {
            "primitive_type" | "sized_type_specifier" | "predefined_type"
                if self.s.lang.tells_by_types() =>
            {
                let word = self.s.word_of(node);
                self.s.term(Term::Literal(word))
            }
            "type_descriptor" | "dependent_type" => {
                let of = field(node, "type").or_else(|| node.named_child(0));
                of.map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            "implicit_type"
            | "placeholder_type_specifier"
            | "primitive_type"
            | "predefined_type" => Sketch::UNKNOWN,
            "array_type" => {
                let of = field(node, "type").or_else(|| node.named_child(0));
                let of = of.map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                self.s.term(Term::Many(of))
            }
            "optional_type" | "nullable_type" => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            _ => {
                let of = self.type_name(node);
                if of == Sketch::UNKNOWN { of } else { self.s.object(of) }
            }
        }
    }

    /// The type itself.
    pub(super) fn type_name(&mut self, node: Node<'_>) -> TermId {
        let text = self.s.text(node);
        match node.kind() {
            "identifier" | "type_identifier" | "name" | "constant" => self.s.free(text),
            "named_type" => node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_name(it)),
            "struct_specifier" | "class_specifier" | "enum_specifier" | "union_specifier" => {
                field(node, "name").map_or(Sketch::UNKNOWN, |it| self.type_name(it))
            }
            "qualified_identifier" => self.qualified(node),
            "template_type" if self.is_c() => {
                let of = field(node, "name").map_or(Sketch::UNKNOWN, |it| self.type_name(it));
                self.with_arguments(of, node)
            }
            "qualified_name" | "scope_resolution" => {
                let last = children(node).last();
                last.map_or(Sketch::UNKNOWN, |it| self.type_name(it))
            }
            "generic_name" | "template_type" | "generic_type" => {
                let mut parts = children(node);
                let Some(of) = parts.next().map(|it| self.type_name(it)) else {
                    return Sketch::UNKNOWN;
                };
                let mut items = vec![of];
                for it in parts.next().into_iter().flat_map(children).take(4) {
                    let it = field(it, "type").unwrap_or(it);
                    items.push(self.type_term(it));
                }
                let list = self.s.list(&items);
                self.s.term(Term::Args(list))
            }
            _ => Sketch::UNKNOWN,
        }
    }
}
