//! Recovery after syntax errors: cuts a file into pieces so that an error spoils one piece alone.
//!
//! Where a grammar stumbles, tree-sitter skips text until it can go on, and that may be the rest of
//! the file: the definitions there are lost. In nearly all code a line that begins at the left
//! margin with a word begins a new declaration, a *unit*. If an error reaches into another unit,
//! every unit from there on is parsed alone. Units with an error become pieces of their own; the
//! units between them are parsed together as before:
//!
//! ```text
//! import { a } from "./a";        piece 1: parses
//! interface Broken { <<< }        piece 2: has an error, its parts are read as far as possible
//! export const b = 1;             piece 3: parses
//! export const c = 2;
//! ```
//!
//! The pieces are used only if less text is skipped than before. `syntax_walker` calls this for a
//! file with an error and walks over the pieces in text order.

use tree_sitter::{Node, Point, Range, TreeCursor};

use super::SourceLanguage;
use super::grammar::{Grammar, GrammarNames};

/// Words at the left margin that continue the unit before them.
const CONTINUATION_WORDS: &[&str] = &[
    "end", "else", "elif", "elsif", "except", "finally", "rescue", "ensure", "when", "catch",
    "case", "default", "while", "where",
];

/// Syntax errors of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorExtent {
    /// Number of places with an error.
    pub(super) n_errors: u32,
    /// Bytes that the parser skipped; at least one per error.
    n_bytes: usize,
}

impl ErrorExtent {
    /// The errors at and below a node. Only nodes that contain errors are visited.
    pub(super) fn below(node: Node<'_>) -> Self {
        let mut extent = Self::default();
        if node.has_error() {
            extent.add_below(&mut node.walk());
        }
        extent
    }

    /// An error inside another one is part of it. The loop is no recursion: a broken file may be
    /// nested as deeply as its text is long.
    fn add_below(&mut self, cursor: &mut TreeCursor<'_>) {
        loop {
            let node = cursor.node();
            let is_counted = node.is_error() || node.is_missing();
            if is_counted {
                self.n_errors += 1;
                self.n_bytes += node.byte_range().len().max(1);
            }
            if !is_counted && node.has_error() && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { n_errors: self.n_errors + other.n_errors, n_bytes: self.n_bytes + other.n_bytes }
    }

    /// Returns whether less text was skipped than in `other`.
    pub(super) const fn is_less_than(self, other: Self) -> bool {
        self.n_bytes < other.n_bytes
    }
}

/// A better way to parse a file with a syntax error.
pub(super) struct RecoveryPlan {
    /// The text to parse instead of the original one; all positions are the same.
    pub(super) repaired_text: Option<Vec<u8>>,
    /// Parts that cover the text, to be parsed one by one.
    pub(super) pieces: Vec<Range>,
}

/// Plans how to parse a file that has an error; `None` if the tree of the whole text, with this
/// root, is as good as any other. `repair` is the language's own repair of its text.
pub(super) fn plan_recovery<K: GrammarNames, F: GrammarNames>(
    grammar: &Grammar<K, F>,
    lang: SourceLanguage,
    source: &[u8],
    root: Node<'_>,
    repair: fn(SourceLanguage, &[u8]) -> Option<Vec<u8>>,
) -> Option<RecoveryPlan> {
    // 1. The language's own repair, if it leaves less text skipped.
    if let Some(text) = repair(lang, source) {
        let original_extent = ErrorExtent::below(root);
        let pieces = grammar.parse(&text, |tree| {
            let repaired_root = tree.root_node();
            if !ErrorExtent::below(repaired_root).is_less_than(original_extent) {
                return None;
            }
            // The repaired text may still have errors, which are split off as below.
            let pieces = split_around_errors(grammar, lang, &text, repaired_root);
            Some(pieces.unwrap_or_else(|| vec![root_range(repaired_root, &text)]))
        });
        if let Some(pieces) = pieces.flatten() {
            return Some(RecoveryPlan { repaired_text: Some(text), pieces });
        }
    }
    // 2. The original text, cut around its errors.
    let pieces = split_around_errors(grammar, lang, source, root)?;
    Some(RecoveryPlan { repaired_text: None, pieces })
}

/// The range of a whole text.
fn root_range(root: Node<'_>, text: &[u8]) -> Range {
    let start_point = Point { row: 0, column: 0 };
    Range { start_byte: 0, start_point, end_byte: text.len(), end_point: root.end_position() }
}

/// A part of a file that is parsed by itself.
struct Piece {
    range: Range,
    /// It parses without an error.
    is_sound: bool,
}

/// The pieces of a file that are parsed better one by one; `None` if the tree is as good. `root` is
/// the tree of the whole text.
fn split_around_errors<K: GrammarNames, F: GrammarNames>(
    grammar: &Grammar<K, F>,
    lang: SourceLanguage,
    source: &[u8],
    root: Node<'_>,
) -> Option<Vec<Range>> {
    if !root.has_error() {
        return None;
    }
    // A piece of a PHP file has no `<?php`, so the grammar takes it for text.
    if lang == SourceLanguage::Php {
        return None;
    }
    let units = unit_ranges(source);
    let first_damaged = first_damaged_byte(root, &units)?;
    let parse_alone = |range: Range| {
        grammar.parse_part(source, range, |tree| ErrorExtent::below(tree.root_node()))
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for unit in units {
        // Before the damage the tree of the whole text is right, so nothing is parsed again.
        let is_undamaged = unit.end_byte <= first_damaged;
        let is_sound = is_undamaged || parse_alone(unit)?.n_errors == 0;
        match pieces.last_mut() {
            // Sound units stay together.
            Some(last) if last.is_sound && is_sound => {
                (last.range.end_byte, last.range.end_point) = (unit.end_byte, unit.end_point);
            }
            _ => pieces.push(Piece { range: unit, is_sound }),
        }
    }
    // The pieces together must be better than the whole.
    let mut extent_of_pieces = ErrorExtent::default();
    for piece in &pieces {
        extent_of_pieces = extent_of_pieces.plus(parse_alone(piece.range)?);
    }
    let is_better = extent_of_pieces.is_less_than(ErrorExtent::below(root));
    is_better.then(|| pieces.into_iter().map(|piece| piece.range).collect())
}

/// The start of the first part of the tree that has an error and reaches into another unit; `None`
/// if every error stays in its unit.
fn first_damaged_byte(root: Node<'_>, units: &[Range]) -> Option<usize> {
    let reaches_into_unit = |node: Node<'_>| {
        let within = node.start_byte() + 1..node.end_byte();
        units.iter().any(|it| within.contains(&it.start_byte))
    };
    if root.is_error() {
        return Some(0);
    }
    let mut cursor = root.walk();
    let mut parts = root.children(&mut cursor);
    parts.find(|it| it.has_error() && reaches_into_unit(*it)).map(|it| it.start_byte())
}

/// The units of a text. They cover all of it: the first begins with the text.
fn unit_ranges(source: &[u8]) -> Vec<Range> {
    let mut units: Vec<Range> = Vec::new();
    let (mut line_start, mut row) = (0, 0);
    // An attribute or a decorator belongs to the declaration below it.
    let mut follows_attribute = false;
    for line in source.split_inclusive(|it| *it == b'\n') {
        let is_attribute = line.starts_with(b"@") || line.starts_with(b"#[");
        let is_start = (is_attribute || starts_declaration(line)) && !follows_attribute;
        if is_start || units.is_empty() {
            let point = Point { row, column: 0 };
            if let Some(last) = units.last_mut() {
                (last.end_byte, last.end_point) = (line_start, point);
            }
            units.push(Range {
                start_byte: line_start,
                start_point: point,
                end_byte: source.len(),
                end_point: point,
            });
        }
        follows_attribute = is_attribute || (follows_attribute && !starts_declaration(line));
        line_start += line.len();
        row += 1;
    }
    if let Some(last) = units.last_mut() {
        let last_line = source.rsplit(|it| *it == b'\n').next().unwrap_or_default();
        let row = source.split(|it| *it == b'\n').count() - 1;
        last.end_point = Point { row, column: last_line.len() };
    }
    units
}

/// Returns whether a line begins at the left margin with a word that may begin a declaration.
fn starts_declaration(line: &[u8]) -> bool {
    let is_word_byte = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_' || *it == b'$';
    let word_len = line.iter().take_while(|it| is_word_byte(it)).count();
    let word = &line[..word_len];
    let is_continuation = CONTINUATION_WORDS.iter().any(|it| it.as_bytes() == word);
    word.first().is_some_and(|it| !it.is_ascii_digit()) && !is_continuation
}

#[cfg(test)]
mod tests {
    use super::unit_ranges;

    #[test]
    fn a_unit_begins_with_a_word_at_the_left_margin() {
        let text = "// a\nimport x\n\n@decorated\nclass A {\n  b() {}\n}\nconst c = 1\n";
        let units = unit_ranges(text.as_bytes());
        let rows: Vec<usize> = units.iter().map(|it| it.start_point.row).collect();
        assert_eq!(rows, [0, 1, 3, 7]);
    }
}
