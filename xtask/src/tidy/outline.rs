//! A line-based outline of a Rust file: its types, functions, constants, impl blocks and comments.
//!
//! Not a parser. It relies on rustfmt's layout (one item per line, closing braces at the indentation
//! of their item), which `make test` guarantees, and reads code with comments and literals blanked.
//! For example
//!
//! ```text
//! pub(crate) async fn read_all(       →  a function `read_all`, up to the `}` at the same indentation
//! impl<'a> Reader<'a> {               →  an inherent impl of `Reader`
//! ```

use super::blank::blank;
use super::is_fixture;
use crate::tree::{File, Tree};

/// Named places of one file. Lines are counted from 1; test modules are left out.
#[derive(Debug, Default)]
pub(super) struct FileOutline {
    pub(super) path: String,
    pub(super) n_code_lines: usize,
    pub(super) types: Vec<TypeItem>,
    pub(super) functions: Vec<FunctionItem>,
    pub(super) constants: Vec<ConstantItem>,
    pub(super) impls: Vec<ImplItem>,
    /// The first line of each block of doc comments.
    pub(super) doc_openings: Vec<(usize, String)>,
    /// Comment lines of both kinds.
    pub(super) comments: Vec<(usize, String)>,
    /// Lines that are nothing but an ordinary comment.
    pub(super) n_inline_comments: usize,
}

#[derive(Debug)]
pub(super) struct TypeItem {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) is_public: bool,
}

#[derive(Debug)]
pub(super) struct FunctionItem {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) n_lines: usize,
    /// A bool parameter stands in the first line of the signature.
    pub(super) takes_bool: bool,
}

#[derive(Debug)]
pub(super) struct ConstantItem {
    pub(super) line: usize,
    pub(super) name: String,
    /// The text between the colon and the equals sign.
    pub(super) type_name: String,
}

/// An inherent impl block.
#[derive(Debug)]
pub(super) struct ImplItem {
    pub(super) line: usize,
    pub(super) type_name: String,
    pub(super) n_methods: usize,
}

/// Outlines of the crates' own sources: no tests, fixtures, or support code for tests.
pub(super) fn outline_crates(tree: &Tree) -> Vec<FileOutline> {
    tree.files.iter().filter(|it| is_crate_source(&it.path)).map(outline_file).collect()
}

fn is_crate_source(path: &str) -> bool {
    let is_rust = path.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs");
    let is_for_tests = path.split('/').any(|it| matches!(it, "tests" | "testkit" | "tests.rs"));
    path.starts_with("crates/") && is_rust && !is_for_tests && !is_fixture(path)
}

pub(super) fn outline_file(file: &File) -> FileOutline {
    let source = without_tests(&file.text);
    let blanked = blank(source);
    let code: Vec<&str> = blanked.lines().collect();
    let mut outline = FileOutline { path: file.path.clone(), ..FileOutline::default() };
    add_comments(&mut outline, source);
    for (i, line) in code.iter().enumerate() {
        add_item(&mut outline, &code, i, line);
    }
    outline
}

/// The text before the module of tests.
fn without_tests(text: &str) -> &str {
    let start = text.find("#[cfg(test)]\nmod ");
    &text[..start.unwrap_or(text.len())]
}

/// Counts lines of code and comments. Every non-blank line is one of three: doc comment, ordinary
/// comment, code.
fn add_comments(acc: &mut FileOutline, source: &str) {
    let mut in_docs = false;
    for (i, line) in source.lines().enumerate() {
        let line = line.trim();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(text) = doc {
            if !in_docs && !text.trim().is_empty() {
                acc.doc_openings.push((i + 1, text.trim().to_owned()));
            }
        } else if line.starts_with("//") {
            acc.n_inline_comments += 1;
        } else if !line.is_empty() {
            acc.n_code_lines += 1;
        }
        in_docs = doc.is_some();
        if line.starts_with("//") {
            acc.comments.push((i + 1, line.to_owned()));
        }
    }
}

/// Adds the item that begins in the line with this index, if one does.
fn add_item(acc: &mut FileOutline, code: &[&str], i: usize, line: &str) {
    let (is_public, item) = split_visibility(line.trim_start());
    let line_number = i + 1;
    if let Some(name) = name_after(item, &["struct ", "enum ", "trait ", "type ", "union "]) {
        acc.types.push(TypeItem { line: line_number, name, is_public });
    } else if let Some(name) = function_name(item) {
        let (n_lines, takes_bool) = (item_length(code, i), has_bool_parameter(line));
        acc.functions.push(FunctionItem { line: line_number, name, n_lines, takes_bool });
    } else if let Some(name) = name_after(item, &["const ", "static "])
        && let Some((_, rest)) = item.split_once(':')
    {
        let type_name = rest.split('=').next().unwrap_or_default().trim().to_owned();
        acc.constants.push(ConstantItem { line: line_number, name, type_name });
    } else if let Some(type_name) = inherent_impl(line) {
        let body = &code[i..i + item_length(code, i)];
        let n_methods = body.iter().filter(|it| is_method(it)).count();
        acc.impls.push(ImplItem { line: line_number, type_name, n_methods });
    }
}

/// Strips `pub` and `pub(…)`; true only for plain `pub`.
fn split_visibility(item: &str) -> (bool, &str) {
    if let Some(rest) = item.strip_prefix("pub ") {
        return (true, rest);
    }
    let restricted = item.strip_prefix("pub(").and_then(|it| it.split_once(") "));
    (false, restricted.map_or(item, |(_, rest)| rest))
}

/// The identifier after one of the keywords: `Score` for `struct Score(u32);`.
fn name_after(item: &str, keywords: &[&str]) -> Option<String> {
    let rest = keywords.iter().find_map(|it| item.strip_prefix(it))?;
    let name = identifier(rest);
    // `const fn` is a function, not a constant.
    (!name.is_empty() && name != "fn").then(|| name.to_owned())
}

/// The name in `fn name`, after any of `const`, `async` and `unsafe`.
fn function_name(item: &str) -> Option<String> {
    let mut rest = item;
    while let Some(shorter) =
        ["const ", "async ", "unsafe "].iter().find_map(|it| rest.strip_prefix(it))
    {
        rest = shorter;
    }
    rest.strip_prefix("fn ").map(|it| identifier(it).to_owned())
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_');
    &text[..end.unwrap_or(text.len())]
}

/// True for `fn go(fast: bool)`, false for `fn is_fast() -> bool` and for a type like `bool_set`.
fn has_bool_parameter(line: &str) -> bool {
    line.match_indices(": bool").any(|(at, _)| {
        let type_name = identifier(&line[at + ": ".len()..]);
        // What follows `->` is part of the result.
        let is_parameter = !line[..at].contains("->");
        is_parameter && !type_name.contains('_')
    })
}

/// The type of `impl Type {` or `impl<'a> Type<'a> {`; none for a trait's impl.
fn inherent_impl(line: &str) -> Option<String> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => &generics[end_of_generics(generics)?..],
        None => rest,
    };
    let rest = rest.strip_prefix(' ')?;
    if rest.contains(" for ") || !rest.contains('{') {
        return None;
    }
    let path = rest.split(['<', ' ', '{']).next()?;
    path.rsplit("::").next().map(str::to_owned)
}

/// The position after the `>` that closes the generics; the opening `<` is not part of the text.
fn end_of_generics(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, it) in text.char_indices() {
        match it {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn is_method(line: &str) -> bool {
    let (_, item) = split_visibility(line.trim_start());
    function_name(item).is_some()
}

/// Lines up to the closing brace at the item's own indentation.
fn item_length(code: &[&str], start: usize) -> usize {
    let indent = code[start].len() - code[start].trim_start().len();
    let is_end = |line: &&str| {
        let trimmed = line.trim_start();
        trimmed.starts_with('}') && line.len() - trimmed.len() == indent
    };
    // The whole item is in one line.
    if code[start].trim_end().ends_with(['}', ';']) {
        return 1;
    }
    // The first line, the lines between, and the closing one.
    let n_between = code[start + 1..].iter().position(is_end);
    n_between.map_or(1, |it| it + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the outline, one item a line with its line number: types, then functions, constants,
    /// impls with their number of methods, and first lines of doc comments.
    fn check(text: &str, expect: Expect) {
        let file = File { path: "crates/a/src/b.rs".to_owned(), text: text.to_owned() };
        let outline = outline_file(&file);
        let mut lines = Vec::new();
        for TypeItem { line, name, is_public } in &outline.types {
            let public = if *is_public { " (public)" } else { "" };
            lines.push(format!("{line}: type {name}{public}"));
        }
        for FunctionItem { line, name, n_lines, takes_bool } in &outline.functions {
            let bool_note = if *takes_bool { ", takes a bool" } else { "" };
            lines.push(format!("{line}: fn {name} of {n_lines} lines{bool_note}"));
        }
        for ConstantItem { line, name, type_name } in &outline.constants {
            lines.push(format!("{line}: const {name}: {type_name}"));
        }
        for ImplItem { line, type_name, n_methods } in &outline.impls {
            lines.push(format!("{line}: impl {type_name} with {n_methods}"));
        }
        for (line, text) in &outline.doc_openings {
            lines.push(format!("{line}: doc {text}"));
        }
        expect.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn items_are_found_with_their_lines() {
        let text = "\
//! Scores.

/// A score.
/// Second line.
pub struct Score(u32);

pub(crate) enum Side {
    Left,
}

const MAX_SCORE: u32 = 10;

impl Score {
    pub const fn new(it: u32) -> Self {
        Self(it)
    }

    fn is_high(&self, strict: bool) -> bool {
        // \"fn in_text()\" is no function.
        self.0 > 3
    }
}

impl<'a> From<&'a str> for Score {
    fn from(_: &'a str) -> Self {
        Self(0)
    }
}

#[cfg(test)]
mod tests {
    struct Ignored;
}
";
        check(
            text,
            expect![[r"
                5: type Score (public)
                7: type Side
                14: fn new of 3 lines
                18: fn is_high of 4 lines, takes a bool
                25: fn from of 3 lines
                11: const MAX_SCORE: u32
                13: impl Score with 2
                1: doc Scores.
                3: doc A score."]],
        );
    }

    #[test]
    fn generic_impls_and_result_types_are_told_apart() {
        check(
            "impl<T: Into<u8>> Pool<T> {\n    fn has_room(&self) -> bool {\n        true\n    }\n}\n",
            expect![[r"
                2: fn has_room of 3 lines
                1: impl Pool with 1"]],
        );
    }
}
