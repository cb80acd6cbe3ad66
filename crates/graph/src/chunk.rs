//! Files in pieces for search: whole functions and types, never half a statement.

use tree_sitter::{Node, Parser};

use crate::facts::{DefKind, Facts};
use crate::lang::{Lang, extract, language};

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// `File: a.ts | method: Server.run | Lines: 3–9`.
    pub title: String,
    /// The symbol it is, or is a part of; empty for code outside all of them.
    pub symbol: String,
    /// Counted from 1.
    pub lines: (u32, u32),
    /// What it means, when it is a whole symbol.
    pub meaning: Option<u64>,
    pub text: String,
}

/// A piece has no more lines than this where it can be helped.
const LARGEST: usize = 100;

/// Cuts a file: code at its symbols, Markdown at its headings, everything else every hundred lines.
pub fn chunks(path: &str, source: &[u8]) -> Vec<Chunk> {
    let text = String::from_utf8_lossy(source);
    let lines: Vec<&str> = text.lines().collect();
    match language(path).filter(|it| *it != Lang::Manifest) {
        Some(lang) => Cut {
            path,
            lines: &lines,
            source,
            lang,
            facts: &extract(lang, path, source),
            acc: Vec::new(),
        }
        .code(),
        None if path.ends_with(".md") => by_heading(path, &lines),
        None => plain(path, "", &lines, 0),
    }
}

struct Cut<'a> {
    path: &'a str,
    lines: &'a [&'a str],
    source: &'a [u8],
    lang: Lang,
    facts: &'a Facts,
    acc: Vec<Chunk>,
}

impl Cut<'_> {
    fn code(mut self) -> Vec<Chunk> {
        self.level(None, 0, self.lines.len());
        self.acc
    }

    /// Cuts the lines of a file or a type at what is defined directly inside it.
    fn level(&mut self, parent: Option<u32>, from: usize, to: usize) {
        let is_piece = |kind: DefKind| !matches!(kind, DefKind::Field | DefKind::Variable);
        let mut inner: Vec<(usize, usize, u32)> = (0_u32..)
            .zip(&self.facts.defs)
            .filter(|it| it.1.parent == parent && is_piece(it.1.kind))
            .map(|(i, it)| (it.lines.0 as usize, it.lines.1 as usize + 1, i))
            .filter(|it| it.0 >= from && it.1 <= to)
            .collect();
        inner.sort_unstable();
        let mut at = from;
        for (start, end, def) in inner {
            // Two on one line: the first has it.
            if start < at {
                continue;
            }
            self.loose(parent, at, start);
            self.symbol(def, start, end);
            at = end;
        }
        self.loose(parent, at, to);
    }

    /// Code between symbols.
    fn loose(&mut self, parent: Option<u32>, from: usize, to: usize) {
        let lines = &self.lines[from.min(self.lines.len())..to.min(self.lines.len())];
        if lines.iter().all(|it| it.trim().is_empty() || it.trim() == "}") {
            return;
        }
        let symbol = parent.map(|it| self.facts.qualified(it)).unwrap_or_default();
        self.acc.extend(plain(self.path, &symbol, lines, from));
    }

    fn symbol(&mut self, def: u32, from: usize, to: usize) {
        let it = &self.facts.defs[def as usize];
        let to = to.min(self.lines.len());
        if to - from <= LARGEST {
            return self.add(def, from, to, Some(it.meaning), None);
        }
        let has_inner =
            self.facts.defs.iter().any(|it| it.parent == Some(def) && it.kind.is_callable());
        if it.kind.is_type() || (has_inner && !it.kind.is_callable()) {
            return self.level(Some(def), from, to);
        }
        let head = self.lines[from].trim().to_owned();
        let mut start = from;
        for cut in self.statements(def, from, to) {
            self.add(def, start, cut, None, (start > from).then_some(head.as_str()));
            start = cut;
        }
    }

    /// Lines at which a long body may be cut: between its statements, the last being its end.
    fn statements(&self, def: u32, from: usize, to: usize) -> Vec<usize> {
        let it = &self.facts.defs[def as usize];
        let mut starts =
            statement_lines(self.lang, self.source, (it.bytes.1 as usize, it.bytes.2 as usize));
        starts.retain(|it| *it > from && *it < to);
        let mut res = Vec::new();
        let mut begin = from;
        let mut last = from;
        for start in starts {
            if start - begin > LARGEST && last > begin {
                res.push(last);
                begin = last;
            }
            last = start;
        }
        if to - begin > LARGEST && last > begin {
            res.push(last);
        }
        res.push(to);
        res
    }

    fn add(&mut self, def: u32, from: usize, to: usize, meaning: Option<u64>, head: Option<&str>) {
        let symbol = self.facts.qualified(def);
        let kind = self.facts.defs[def as usize].kind;
        let title = format!("File: {} | {kind}: {symbol} | Lines: {}–{to}", self.path, from + 1);
        let mut text = head.map(|it| format!("{it} …\n")).unwrap_or_default();
        text.push_str(&self.lines[from..to].join("\n"));
        self.acc.push(Chunk { title, symbol, lines: (line(from + 1), line(to)), meaning, text });
    }
}

/// Where the statements of a body begin, by line.
fn statement_lines(lang: Lang, source: &[u8], body: (usize, usize)) -> Vec<usize> {
    let mut parser = Parser::new();
    let Some(()) = lang.grammar().and_then(|it| parser.set_language(&it).ok()) else {
        return Vec::new();
    };
    let Some(tree) = parser.parse(source, None) else { return Vec::new() };
    let mut node = tree.root_node().descendant_for_byte_range(body.0, body.1.saturating_sub(1));
    // The smallest node with several parts that is the body, or holds it.
    while let Some(it) = node.filter(|it| it.named_child_count() < 2) {
        node = it
            .named_child(0)
            .filter(|child| child.end_byte() - child.start_byte() > (body.1 - body.0) / 2);
        if node.is_none() {
            return Vec::new();
        }
    }
    let Some(node) = node else { return Vec::new() };
    let mut cursor = node.walk();
    node.named_children(&mut cursor).map(|it: Node<'_>| it.start_position().row).collect()
}

fn by_heading(path: &str, lines: &[&str]) -> Vec<Chunk> {
    let mut res = Vec::new();
    let (mut start, mut title, mut fenced) = (0, String::new(), false);
    for (i, it) in lines.iter().enumerate() {
        fenced ^= it.trim_start().starts_with("```");
        if it.starts_with('#') && !fenced {
            res.extend(plain(path, &title, &lines[start..i], start));
            (start, title) = (i, it.trim_start_matches('#').trim().to_owned());
        }
    }
    res.extend(plain(path, &title, &lines[start..], start));
    res
}

fn plain(path: &str, symbol: &str, lines: &[&str], first: usize) -> Vec<Chunk> {
    let mut res = Vec::new();
    for (i, part) in lines.chunks(LARGEST).enumerate() {
        let from = first + i * LARGEST;
        if part.iter().all(|it| it.trim().is_empty()) {
            continue;
        }
        let place = if symbol.is_empty() { String::new() } else { format!(" | in: {symbol}") };
        let title = format!("File: {path}{place} | Lines: {}–{}", from + 1, from + part.len());
        let lines = (line(from + 1), line(from + part.len()));
        res.push(Chunk {
            title,
            symbol: symbol.to_owned(),
            lines,
            meaning: None,
            text: part.join("\n"),
        });
    }
    res
}

fn line(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(path: &str, source: &str, expect: Expect) {
        let found = chunks(path, source.as_bytes());
        let lines: Vec<String> =
            found.iter().map(|it| format!("{} ({} bytes)\n", it.title, it.text.len())).collect();
        expect.assert_eq(&lines.concat());
    }

    #[test]
    fn code_is_cut_at_its_symbols() {
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
    fn a_long_body_is_cut_between_statements_and_repeats_its_head() {
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
        for it in chunks("a.ts", text.as_bytes()) {
            assert!(it.text.starts_with("function long() {"), "{}", it.text);
            assert!(!it.text.trim_end().ends_with('('), "cut inside a statement");
        }
    }

    #[test]
    fn a_large_type_is_cut_at_its_members() {
        let body: String = (0..40)
            .map(|it| format!("  m{it}() {{\n    return {it}\n  }}\n"))
            .collect::<Vec<_>>()
            .concat();
        let found = chunks("a.ts", format!("class Big {{\n{body}}}\n").as_bytes());
        assert_eq!(found.len(), 41);
        assert_eq!(found[1].symbol, "Big.m0");
    }

    #[test]
    fn prose_is_cut_at_its_headings() {
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
