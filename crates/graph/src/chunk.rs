//! Splitting of files into chunks for search: whole functions and types, never half a statement.
//!
//! `engine` embeds and indexes the chunks. Each has a title that names the file and the symbol, so
//! that a chunk found alone can be understood. In this file, lines count from 0 and ranges end
//! before their last number; a chunk counts from 1, like an editor.
//!
//! A *symbol* is a definition in the *facts* of a file, which the extractor of its language makes.
//! For example, a file with two imports, a short function and a class of 300 lines gives
//!
//! ```text
//! File: a.ts | Lines: 1–2                            loose code, between symbols
//! File: a.ts | function: run | Lines: 4–9            a short symbol as a whole
//! File: a.ts | in: Server | Lines: 11–12             the head of a long class
//! File: a.ts | method: Server.start | Lines: 13–40   and each of its methods
//! ```

use std::ops::Range;

use tree_sitter::{Node, Parser};

use crate::facts::{DefId, DefKind, FileFacts};
use crate::lang::{SourceLanguage, extract_facts, language_of_path};

/// A part of a file that is found and shown as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChunk {
    /// `File: a.ts | method: Server.run | Lines: 3–9`.
    pub title: String,
    /// Qualified name of the symbol it is or belongs to; empty outside all symbols.
    pub symbol: String,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    /// Structural hash of the symbol, if the chunk is a whole one.
    pub structural_hash: Option<u64>,
    pub text: String,
}

/// Longer symbols are split. A single statement may still be longer.
const MAX_CHUNK_LINES: usize = 100;

/// Splits a file: code at its symbols, Markdown at its headings, other text by number of lines.
pub fn split_into_chunks(path: &str, source: &[u8]) -> Vec<CodeChunk> {
    let text = String::from_utf8_lossy(source);
    let lines: Vec<&str> = text.lines().collect();
    match language_of_path(path).filter(|it| *it != SourceLanguage::Manifest) {
        Some(lang) => ChunkSplitter {
            path,
            lines: &lines,
            source,
            lang,
            facts: &extract_facts(lang, path, source),
            acc: Vec::new(),
        }
        .split_code(),
        None if path.ends_with(".md") => split_markdown(path, &lines),
        None => split_by_lines(path, "", &lines, 0),
    }
}

/// State while a file of code is split.
struct ChunkSplitter<'a> {
    path: &'a str,
    lines: &'a [&'a str],
    source: &'a [u8],
    lang: SourceLanguage,
    facts: &'a FileFacts,
    acc: Vec<CodeChunk>,
}

impl ChunkSplitter<'_> {
    fn split_code(mut self) -> Vec<CodeChunk> {
        self.split_level(None, 0, self.lines.len());
        self.acc
    }

    /// Splits the lines of a file or a type at the symbols defined directly inside it.
    fn split_level(&mut self, parent: Option<DefId>, from: usize, to: usize) {
        let has_own_chunk = |kind: DefKind| !matches!(kind, DefKind::Field | DefKind::Variable);
        // Start line, end line, symbol.
        let mut symbols: Vec<(usize, usize, DefId)> = Vec::new();
        for (id, def) in self.facts.defs_with_ids() {
            // The facts hold the last line; ranges here end one after it.
            let (start, end) = (def.lines.0 as usize, def.lines.1 as usize + 1);
            let is_directly_inside = def.parent == parent && start >= from && end <= to;
            if is_directly_inside && has_own_chunk(def.kind) {
                symbols.push((start, end, id));
            }
        }
        symbols.sort_unstable();
        let mut next_line = from;
        for (start, end, def) in symbols {
            // Of two symbols on one line, the first gets the line.
            if start < next_line {
                continue;
            }
            self.add_loose_code(parent, next_line, start);
            self.add_symbol(def, start, end);
            next_line = end;
        }
        self.add_loose_code(parent, next_line, to);
    }

    /// Adds the code between symbols, if it is more than closing braces.
    fn add_loose_code(&mut self, parent: Option<DefId>, from: usize, to: usize) {
        // The facts may count one line more than `lines` if the text ends with a line break.
        let lines = &self.lines[from.min(self.lines.len())..to.min(self.lines.len())];
        if lines.iter().all(|it| it.trim().is_empty() || it.trim() == "}") {
            return;
        }
        let symbol = parent.map(|it| self.facts.qualified_name(it)).unwrap_or_default();
        self.acc.extend(split_by_lines(self.path, &symbol, lines, from));
    }

    /// Adds a symbol: whole if it is short, a type by its members, a function by its statements.
    fn add_symbol(&mut self, def: DefId, from: usize, to: usize) {
        let definition = &self.facts.defs[def.index()];
        let to = to.min(self.lines.len());
        // Short enough to be found as a whole.
        if to - from <= MAX_CHUNK_LINES {
            let structural_hash = Some(definition.structural_hash);
            return self.push_chunk(def, from, to, structural_hash, None);
        }
        // Functions in a namespace or an object are split like the members of a type.
        let has_functions =
            self.facts.defs.iter().any(|it| it.parent == Some(def) && it.kind.is_callable());
        if definition.kind.is_type() || (has_functions && !definition.kind.is_callable()) {
            return self.split_level(Some(def), from, to);
        }
        // A long function, or a long constant without functions.
        // Every part repeats the signature, so that a part found alone can be understood.
        let signature = self.lines[from].trim().to_owned();
        let mut start = from;
        for end in self.part_ends(def, from, to) {
            let is_first = start == from;
            self.push_chunk(def, start, end, None, (!is_first).then_some(signature.as_str()));
            start = end;
        }
    }

    /// The lines at which the parts of a long body end: between statements, each part as long as
    /// allowed. The last is the end of the symbol.
    fn part_ends(&self, def: DefId, from: usize, to: usize) -> Vec<usize> {
        let definition = &self.facts.defs[def.index()];
        let body = definition.span.body as usize..definition.span.end as usize;
        let mut starts = statement_start_lines(self.lang, self.source, body);
        starts.retain(|it| *it > from && *it < to);
        let mut ends = Vec::new();
        let mut part_start = from;
        // Where the last statement began. A statement ends where the next one begins.
        let mut last_statement = from;
        for start in starts {
            // With the last statement the part would be too long, so it ends before it.
            if start - part_start > MAX_CHUNK_LINES && last_statement > part_start {
                ends.push(last_statement);
                part_start = last_statement;
            }
            last_statement = start;
        }
        if to - part_start > MAX_CHUNK_LINES && last_statement > part_start {
            ends.push(last_statement);
        }
        ends.push(to);
        ends
    }

    /// Adds the lines of a symbol, or of a part of it, which then begins with the signature.
    fn push_chunk(
        &mut self,
        def: DefId,
        from: usize,
        to: usize,
        structural_hash: Option<u64>,
        signature: Option<&str>,
    ) {
        let symbol = self.facts.qualified_name(def);
        let kind = self.facts.defs[def.index()].kind;
        let title = format!("File: {} | {kind}: {symbol} | Lines: {}–{to}", self.path, from + 1);
        let mut text = signature.map(|it| format!("{it} …\n")).unwrap_or_default();
        text.push_str(&self.lines[from..to].join("\n"));
        let lines = (to_line_number(from + 1), to_line_number(to));
        self.acc.push(CodeChunk { title, symbol, lines, structural_hash, text });
    }
}

/// First lines of the statements of a body, which is a range of bytes. The facts hold no
/// statements, so the file is parsed again; few symbols are that long.
fn statement_start_lines(lang: SourceLanguage, source: &[u8], body: Range<usize>) -> Vec<usize> {
    let mut parser = Parser::new();
    let Some(()) = lang.grammar().and_then(|it| parser.set_language(&it).ok()) else {
        return Vec::new();
    };
    let Some(tree) = parser.parse(source, None) else { return Vec::new() };
    let last_byte = body.end.saturating_sub(1);
    let mut node = tree.root_node().descendant_for_byte_range(body.start, last_byte);
    // The node around the body may wrap it (an expression statement, a block in a block). The first
    // node with several children holds the statements.
    while let Some(wrapper) = node.filter(|it| it.named_child_count() < 2) {
        // A child much smaller than the body is one short statement and does not hold the others.
        let holds_body = |it: &Node<'_>| it.byte_range().len() > body.len() / 2;
        node = wrapper.named_child(0).filter(holds_body);
    }
    let Some(node) = node else { return Vec::new() };
    let mut cursor = node.walk();
    node.named_children(&mut cursor).map(|it: Node<'_>| it.start_position().row).collect()
}

/// Splits at headings, which become the symbols of the chunks.
fn split_markdown(path: &str, lines: &[&str]) -> Vec<CodeChunk> {
    let mut chunks = Vec::new();
    let (mut start, mut heading, mut in_code_block) = (0, String::new(), false);
    for (index, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
        }
        // In a code block `#` begins a comment.
        if line.starts_with('#') && !in_code_block {
            chunks.extend(split_by_lines(path, &heading, &lines[start..index], start));
            (start, heading) = (index, line.trim_start_matches('#').trim().to_owned());
        }
    }
    chunks.extend(split_by_lines(path, &heading, &lines[start..], start));
    chunks
}

/// Splits by number of lines; `first_line` is the index of the first of them in the file.
fn split_by_lines(path: &str, symbol: &str, lines: &[&str], first_line: usize) -> Vec<CodeChunk> {
    let mut chunks = Vec::new();
    for (index, part) in lines.chunks(MAX_CHUNK_LINES).enumerate() {
        let from = first_line + index * MAX_CHUNK_LINES;
        if part.iter().all(|it| it.trim().is_empty()) {
            continue;
        }
        let owner = if symbol.is_empty() { String::new() } else { format!(" | in: {symbol}") };
        let title = format!("File: {path}{owner} | Lines: {}–{}", from + 1, from + part.len());
        let lines = (to_line_number(from + 1), to_line_number(from + part.len()));
        let (symbol, text) = (symbol.to_owned(), part.join("\n"));
        chunks.push(CodeChunk { title, symbol, lines, structural_hash: None, text });
    }
    chunks
}

fn to_line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Compares the titles and sizes of the chunks of a file.
    fn check(path: &str, source: &str, expect: Expect) {
        let chunks = split_into_chunks(path, source.as_bytes());
        let lines: Vec<String> =
            chunks.iter().map(|it| format!("{} ({} bytes)\n", it.title, it.text.len())).collect();
        expect.assert_eq(&lines.concat());
    }

    #[test]
    fn code_is_split_at_its_symbols() {
        check(
            "a.py",
            "import os\n\nX = 1\n\nclass A:\n    def f(self):\n        pass\n\n@dec\ndef g():\n    pass\n",
            expect![[r"
                File: a.py | Lines: 1–4 (17 bytes)
                File: a.py | class: A | Lines: 5–7 (38 bytes)
                File: a.py | function: g | Lines: 9–11 (22 bytes)
            "]],
        );
    }

    #[test]
    fn a_long_body_is_split_between_statements_and_repeats_its_signature() {
        // Every statement takes two lines, so a cut at an odd place would be inside one.
        let body: String =
            (0..130).map(|it| format!("  call{it}(\n    1)\n")).collect::<Vec<_>>().concat();
        let text = format!("function long() {{\n{body}}}\n");
        check(
            "a.ts",
            &text,
            expect![[r"
            File: a.ts | function: long | Lines: 1–99 (840 bytes)
            File: a.ts | function: long | Lines: 100–199 (871 bytes)
            File: a.ts | function: long | Lines: 200–262 (580 bytes)
        "]],
        );
        for chunk in split_into_chunks("a.ts", text.as_bytes()) {
            assert!(chunk.text.starts_with("function long() {"), "{}", chunk.text);
            assert!(!chunk.text.trim_end().ends_with('('), "cut inside a statement");
        }
    }

    #[test]
    fn a_large_type_is_split_at_its_members() {
        let body: String = (0..40)
            .map(|it| format!("  m{it}() {{\n    return {it}\n  }}\n"))
            .collect::<Vec<_>>()
            .concat();
        let chunks = split_into_chunks("a.ts", format!("class Big {{\n{body}}}\n").as_bytes());
        // The first line of the class and its 40 methods.
        assert_eq!(chunks.len(), 41);
        assert_eq!(chunks[1].symbol, "Big.m0");
    }

    #[test]
    fn markdown_is_split_at_its_headings() {
        check(
            "a.md",
            "intro\n# One\ntext\n```\n# no heading\n```\n## Two\nmore\n",
            expect![[r"
            File: a.md | Lines: 1–1 (5 bytes)
            File: a.md | in: One | Lines: 2–6 (31 bytes)
            File: a.md | in: Two | Lines: 7–8 (11 bytes)
        "]],
        );
    }
}
