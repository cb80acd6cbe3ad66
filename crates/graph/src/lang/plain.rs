//! C, C++, C#, Ruby and PHP: one walk for the five, by the names of their nodes.
//!
//! They get definitions, imports, calls, bases, and the declared types of variables, parameters and
//! fields. What a call returns is followed only where it is declared.

pub(crate) mod c;
mod define;
mod function;
mod macros;
mod module;
mod term;

use tree_sitter::{Node, TreeCursor};

use super::grammar::parse;
use super::walk::{MAX_DEPTH, Steps, children};
use crate::facts::{DefKind, RefKind, Term, TermId};
use crate::lang::Lang;
use crate::sketch::{ANY_NUMBER, ScopeKind, Sketch};

struct Plain<'a, 's> {
    s: &'a mut Sketch<'s>,
    depth: u32,
    spoken: Option<usize>,
    /// How deep in a type the walk is.
    n_types: u32,
    /// How many blocks of Ruby are around.
    n_blocks: u32,
    /// How many namespaces without a name are around.
    n_hidden: u32,
    /// The method around that stands outside its type, and that type.
    outside: Option<(u32, TermId)>,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    let Some(language) = sketch.lang.grammar() else { return };
    let is_c = matches!(sketch.lang, Lang::C | Lang::Cpp);
    let blanked = is_c.then(|| macros::without(sketch.source)).flatten();
    let text = blanked.as_deref().unwrap_or(sketch.source);
    parse(&language, text, &[], |tree| {
        Plain {
            s: sketch,
            depth: 0,
            spoken: None,
            n_types: 0,
            n_blocks: 0,
            n_hidden: 0,
            outside: None,
        }
        .visit(&mut tree.walk());
    });
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

impl Steps for Plain<'_, '_> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        Plain::visit(self, cursor);
    }

    fn descend(&mut self, cursor: &mut TreeCursor<'_>) -> bool {
        if self.depth >= MAX_DEPTH {
            self.s.n_too_deep += 1;
            return false;
        }
        let res = cursor.goto_first_child();
        self.depth += u32::from(res);
        res
    }

    fn ascend(&mut self, cursor: &mut TreeCursor<'_>) {
        cursor.goto_parent();
        self.depth -= 1;
    }
}

impl<'s> Plain<'_, 's> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        match node.kind() {
            kind if self.is_c() && self.visit_c(cursor, node, kind) => {}
            "comment" => self.s.comment(node),
            "string_literal"
            | "string"
            | "char_literal"
            | "raw_string_literal"
            | "encapsed_string"
            | "heredoc"
            | "verbatim_string_literal" => {
                self.s.string(node);
                self.inside(cursor);
            }
            "identifier" | "constant" => self.mention(node),
            "type_identifier" | "named_type" => self.mention_type(node),
            "using_directive" => self.using(node),
            "namespace_use_clause" => self.use_clause(node),
            "namespace_declaration" | "file_scoped_namespace_declaration" => {
                self.s.space = field(node, "name").map(|it| self.s.word_of(it));
                self.inside(cursor);
            }
            "namespace_definition" if self.s.lang == Lang::Php => {
                let name = field(node, "name").map(|it| self.s.text(it).replace('\\', "."));
                self.s.space = name.map(|it| self.s.word(&it));
                self.inside(cursor);
            }
            "module" if self.s.lang == Lang::Ruby && field(node, "name").is_some() => {
                self.class(cursor, node, DefKind::Module);
            }
            "class_declaration" | "class_specifier" | "struct_specifier" | "union_specifier"
            | "struct_declaration" | "record_declaration" | "trait_declaration" | "class"
                if field(node, "name").is_some() =>
            {
                // `struct S x;` speaks of a type, it does not define one.
                let is_mention =
                    node.kind().ends_with("_specifier") && field(node, "body").is_none();
                if is_mention {
                    self.inside(cursor);
                } else {
                    self.class(cursor, node, DefKind::Class);
                }
            }
            "interface_declaration" => self.class(cursor, node, DefKind::Interface),
            "enum_declaration" | "enum_specifier" => self.class(cursor, node, DefKind::Enum),
            "enumerator" | "enum_member_declaration" | "enum_case" => {
                self.member(node, field(node, "name"), None);
                self.inside(cursor);
            }
            "function_definition"
            | "method_declaration"
            | "constructor_declaration"
            | "method"
            | "singleton_method"
            | "local_function_statement" => self.function(cursor, node),
            "variable_declaration" => self.variables(cursor, node),
            "property_declaration" => self.property(cursor, node),
            "assignment" | "assignment_expression" => self.assignment(cursor, node),
            "block" | "for_statement" | "catch_clause" if self.s.lang == Lang::CSharp => {
                self.block(cursor);
            }
            "block" | "do_block" if self.s.lang == Lang::Ruby => {
                self.n_blocks += 1;
                self.inside(cursor);
                self.n_blocks -= 1;
            }
            "foreach_statement" => {
                self.s.enter(ScopeKind::Block);
                self.bind_each(node);
                self.inside(cursor);
                self.s.leave();
            }
            "call_expression" | "invocation_expression" | "function_call_expression" => {
                if let Some(callee) = field(node, "function") {
                    self.refer_to(callee, RefKind::Call, node);
                }
                self.inside(cursor);
            }
            "member_call_expression"
            | "nullsafe_member_call_expression"
            | "scoped_call_expression"
            | "call" => {
                self.method_call(cursor, node);
            }
            "object_creation_expression" | "new_expression" => {
                let of = field(node, "type").or_else(|| node.named_child(0));
                if let Some(of) = of {
                    self.refer_to(of, RefKind::New, node);
                }
                self.inside(cursor);
            }
            "member_access_expression"
            | "field_expression"
            | "qualified_name"
            | "scope_resolution" => self.first_only(cursor),
            _ => self.inside(cursor),
        }
    }

    fn is_c(&self) -> bool {
        matches!(self.s.lang, Lang::C | Lang::Cpp)
    }

    fn block(&mut self, cursor: &mut TreeCursor<'_>) {
        self.s.enter(ScopeKind::Block);
        self.inside(cursor);
        self.s.leave();
    }

    fn mention(&mut self, node: Node<'_>) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.s.text(node);
        let term = self.s.free(name);
        // In Ruby a bare name may be a call.
        let is_call = self.s.lang == Lang::Ruby && node.kind() == "identifier";
        let kind = if is_call { RefKind::Call } else { RefKind::Use };
        self.s.refer(kind, term, node, ANY_NUMBER);
    }

    fn mention_type(&mut self, node: Node<'_>) {
        let term = self.type_name(node);
        self.s.refer(RefKind::Type, term, node, 0);
    }

    fn refer_to(&mut self, callee: Node<'_>, kind: RefKind, call: Node<'_>) {
        let at = match callee.kind() {
            "identifier" | "type_identifier" | "name" | "constant" => callee,
            "field_expression" => {
                let name = field(callee, "field").unwrap_or(callee);
                field(name, "name").unwrap_or(name)
            }
            "qualified_identifier" => {
                let (_, name) = self.owner(callee);
                field(name, "name").unwrap_or(name)
            }
            "member_access_expression" => field(callee, "name").unwrap_or(callee),
            "qualified_name" => children(callee).last().unwrap_or(callee),
            "generic_name" | "template_function" | "template_type" => {
                callee.named_child(0).unwrap_or(callee)
            }
            _ => return,
        };
        self.spoken = Some(callee.id());
        let is_bare = matches!(callee.kind(), "identifier" | "name") && kind == RefKind::Call;
        let term = if is_bare {
            let text = self.s.text(callee);
            self.bare(text)
        } else if kind == RefKind::New {
            self.type_name(callee)
        } else {
            self.term(callee)
        };
        let arguments = field(call, "arguments");
        if self.s.lang.tells_by_types() && kind == RefKind::Call {
            let given: Vec<TermId> = given(arguments).map(|it| self.term(it)).collect();
            return self.s.refer_with(term, at, &given);
        }
        let n_args = given(arguments).count();
        self.s.refer(kind, term, at, u8::try_from(n_args).unwrap_or(ANY_NUMBER));
    }

    /// A name that is called by itself: a local, a member of the type around, or a function.
    fn bare(&mut self, text: &'s str) -> TermId {
        if let Some((method, _)) = self.outside {
            let word = self.s.word(text);
            return self.s.term(Term::Implicit(method, word));
        }
        if self.s.lang == Lang::C || self.s.class().is_none() {
            self.s.free(text)
        } else {
            self.s.implicit(text)
        }
    }

    fn method_call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let of = ["object", "receiver", "scope"].iter().find_map(|it| field(node, it));
        let name = field(node, "name").or_else(|| field(node, "method"));
        let Some(name) = name else { return self.inside(cursor) };
        if self.require(node, name) {
            return;
        }
        self.spoken = Some(name.id());
        let text = self.s.text(name);
        let n_args = given(field(node, "arguments")).count();
        let n_args = u8::try_from(n_args).unwrap_or(ANY_NUMBER);
        let term = match of {
            Some(of) => {
                let of = self.term(of);
                // `Foo.new` makes an object; the class is what is meant.
                if text == "new" && self.s.lang == Lang::Ruby {
                    self.s.refer(RefKind::New, of, name, n_args);
                    return self.inside(cursor);
                }
                self.s.member(of, text)
            }
            None => self.bare(text),
        };
        self.s.refer(RefKind::Call, term, name, n_args);
        self.inside(cursor);
    }
}

fn given(list: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    list.into_iter().flat_map(children).filter(|it| it.kind() != "comment")
}
