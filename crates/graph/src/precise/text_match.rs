//! The check whether a file still has the text for which a SCIP index was made, and the positions of
//! its occurrences in bytes.
//!
//! An index has no hash of its files, so the text at the positions of occurrences is compared with the
//! names of their symbols. A few may differ: an import can rename a symbol.
//!
//! ```text
//! occurrence   0:3 to 0:5 `… crate/rt().`     the name of the symbol is `rt`
//! text         fn rt() {}                     at 0:3 is `rt`: it matches
//! text         // edited                      at 0:3 is `edited`: it does not
//! ```

use std::ops::Range;

use crate::facts::SourcePos;
use crate::scip::{ScipFile, ScipOccurrence};

/// Share of a file's indexed definitions that must be found in its text, by name and position;
/// otherwise the file changed after the index was made.
const MIN_DEFINITION_MATCH_PERCENT: usize = 95;
/// As before, for all occurrences. It is lower because an import may rename a symbol.
const MIN_NAME_MATCH_PERCENT: usize = 50;
/// Share of all occurrences that must be at their own name or at some other whole word.
const MIN_WORD_MATCH_PERCENT: usize = 70;

/// Occurrences with their columns in bytes.
pub(super) type LocatedOccurrences<'a> = Vec<(SourcePos, &'a ScipOccurrence<'a>)>;

/// Number of occurrences that match the text, and the share that must match.
struct MatchCount {
    n_matched: usize,
    n_checked: usize,
    min_percent: usize,
}

impl MatchCount {
    const fn new(min_percent: usize) -> Self {
        Self { n_matched: 0, n_checked: 0, min_percent }
    }

    fn add(&mut self, is_match: bool) {
        self.n_matched += usize::from(is_match);
        self.n_checked += 1;
    }

    const fn is_enough(&self) -> bool {
        self.n_matched * 100 >= self.n_checked * self.min_percent
    }
}

/// The occurrences of a file with their columns in bytes; `None` if they were made for another
/// text.
pub(super) fn locate_occurrences<'a>(
    file: &'a ScipFile<'a>,
    text: &[u8],
) -> Option<LocatedOccurrences<'a>> {
    let lines: Vec<&[u8]> = text.split(|it| *it == b'\n').collect();
    let mut located = Vec::with_capacity(file.occurrences.len());
    let mut definitions_at_name = MatchCount::new(MIN_DEFINITION_MATCH_PERCENT);
    let mut at_name = MatchCount::new(MIN_NAME_MATCH_PERCENT);
    let mut at_word = MatchCount::new(MIN_WORD_MATCH_PERCENT);
    for occurrence in &file.occurrences {
        let line = lines.get(occurrence.line as usize).copied();
        let to_bytes = |column: u32| line.and_then(|it| file.encoding.to_byte_column(it, column));
        let column = to_bytes(occurrence.column);
        // An occurrence over several lines (without `end`) is a whole file, which has no name in
        // the text.
        if let Some(end) = occurrence.end
            && let Some(name) = symbol_name(occurrence.symbol)
        {
            // Does the name of the symbol, or at least some word, stand at the position? Neither if
            // the line or the column does not exist in the text.
            let (mut has_name, mut has_word) = (false, false);
            if let (Some(line), Some(start)) = (line, column) {
                let start = start as usize;
                has_name = line[start..].starts_with(name.as_bytes());
                let word_end = to_bytes(end).map(|it| it as usize);
                has_word = has_name || word_end.is_some_and(|it| is_word(line, start..it));
            }
            if occurrence.is_definition {
                definitions_at_name.add(has_name);
            }
            at_name.add(has_name);
            at_word.add(has_word);
        }
        if let Some(column) = column {
            located.push((SourcePos { line: occurrence.line, column }, occurrence));
        }
    }
    let is_same_text =
        definitions_at_name.is_enough() && at_name.is_enough() && at_word.is_enough();
    is_same_text.then_some(located)
}

/// Returns whether a range of a line is one whole word.
fn is_word(line: &[u8], range: Range<usize>) -> bool {
    let is_word_byte = |it: Option<&u8>| {
        // Bytes from 0x80 on are parts of characters outside ASCII, which count as letters.
        it.is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$') || *it >= 0x80)
    };
    let before = range.start.checked_sub(1).and_then(|it| line.get(it));
    let inside = line.get(range.clone()).unwrap_or_default();
    let is_separate = !is_word_byte(before) && !is_word_byte(line.get(range.end));
    is_separate && !inside.is_empty() && inside.iter().all(|it| is_word_byte(Some(it)))
}

/// Returns whether a symbol is inside a function. SCIP numbers these per file, so the symbol means
/// nothing elsewhere.
pub(super) fn is_local_symbol(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// The name that a symbol should have in the text, if it can be compared.
fn symbol_name(symbol: &str) -> Option<&str> {
    if is_local_symbol(symbol) {
        return None;
    }
    // Members of unnamed objects end with a number that is not in the text: `black0:`.
    let symbol = match symbol.strip_suffix(':') {
        Some(numbered) => numbered.trim_end_matches(|it: char| it.is_ascii_digit()),
        None => symbol,
    };
    // The suffix is the kind: `#` type, `.` term, `/` namespace, `!` macro, `().` method.
    let symbol = symbol.trim_end_matches(['.', '#', '/', '!']);
    let symbol = match symbol.strip_suffix(')') {
        Some(inner) => inner.rsplit_once('(')?.0,
        None => symbol,
    };
    let is_word_char = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    let start = symbol.rfind(|it| !is_word_char(it)).map_or(0, |it| it + 1);
    let name = symbol.get(start..)?;
    (!name.is_empty() && name != "__init__").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_ends_with_the_name_in_the_text() {
        let names = [
            ("scip-typescript npm p 1 src/`a.ts`/run().", Some("run")),
            ("scip-typescript npm p 1 src/`a.ts`/Shape#area.", Some("area")),
            ("scip-typescript npm p 1 src/`a.ts`/black0:", Some("black")),
            ("scip-typescript npm p 1 src/`a.ts`/level12:", Some("level")),
            ("scip-typescript npm p 1 src/`a.ts`/", None),
            ("rust-analyzer cargo p 1 q/impl#[`Queue<T>`]new().", Some("new")),
            ("rust-analyzer cargo p 1 q/impl#[`Queue<T>`]", None),
            ("local 3", None),
        ];
        for (symbol, name) in names {
            assert_eq!(symbol_name(symbol), name, "{symbol}");
        }
    }

    /// A reference on one line.
    fn occurrence(symbol: &str, line: u32, (column, end): (u32, u32)) -> ScipOccurrence<'_> {
        ScipOccurrence { line, column, end: Some(end), symbol, is_definition: false }
    }

    /// Returns whether the occurrences pass as made for this text.
    fn fits(text: &str, occurrences: &[ScipOccurrence<'_>]) -> bool {
        let file = ScipFile { occurrences: occurrences.to_vec(), ..ScipFile::default() };
        locate_occurrences(&file, text.as_bytes()).is_some()
    }

    #[test]
    fn renamed_imports_fit_and_edited_texts_do_not() {
        let text = "import Virgil from './a.woff2'\nexport const faces: Face[] = [Virgil]\n";
        let occurrences = [
            occurrence("s vite 5 `client.d.ts`/src.", 0, (7, 13)),
            occurrence("s p 1 `Fonts.ts`/Face#", 1, (20, 24)),
            occurrence("s p 1 `b.ts`/faces.", 1, (13, 18)),
            occurrence("s vite 5 `client.d.ts`/src.", 1, (30, 36)),
        ];
        assert!(fits(text, &occurrences));
        // The symbol of a whole file has no name in the text and is not compared.
        let whole_file = ScipOccurrence {
            end: None,
            is_definition: true,
            ..occurrence("r p 1 crate/", 0, (0, 0))
        };
        assert!(fits(text, &[&occurrences[..], &[whole_file]].concat()));
        assert!(!fits(&format!("// edited\n{text}"), &occurrences));
        assert!(!fits(&text.replace("faces", "all"), &occurrences));
    }
}
