//! Finds the names in the lines that an edit changes, by which an edit is related to what was said before it.
//!
//! A name is a run of letters, digits and `_`. Names that are put together from several words come first,
//! because they are rarely words of a sentence or of a language; plain words fill the rest. This edit has the
//! names `round_half_even`, `let`, `total`, `round`, `sum`:
//!
//! ```text
//! -    let total = round(sum);
//! +    let total = round_half_even(sum, "EUR");
//! ```
//!
//! The lines that both texts have are context, and their names do not count. Neither do the words of literal
//! texts and the values of settings: a password there could not be recognised without the words around it.

use std::collections::HashSet;

/// Most names of one call.
const MAX_NAMES: usize = 40;
/// Shortest and longest name, in bytes.
const NAME_BYTES: std::ops::RangeInclusive<usize> = 3..=80;
/// Most digits of a name. A run with more is a number, a hash or a key.
const MAX_DIGITS: usize = 3;
/// Bytes that are searched of each text of an edit.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// The names in the changed lines of edits, given as the removed and the added text of each.
pub(crate) fn names_in_changes<'a>(edits: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut names = NameList::default();
    for (removed, added) in edits {
        let lines_of = |text: &'a str| text[..text.floor_char_boundary(MAX_TEXT_BYTES)].lines();
        let removed_lines: HashSet<&str> = lines_of(removed).map(str::trim).collect();
        let added_lines: HashSet<&str> = lines_of(added).map(str::trim).collect();
        for line in lines_of(removed).filter(|it| !added_lines.contains(it.trim())) {
            names.add_line(line);
        }
        for line in lines_of(added).filter(|it| !removed_lines.contains(it.trim())) {
            names.add_line(line);
        }
    }
    names.into_names()
}

/// The names in the changed lines of a patch.
pub(crate) fn names_in_patch(patch: &str) -> Vec<String> {
    let mut names = NameList::default();
    for line in patch[..patch.floor_char_boundary(MAX_TEXT_BYTES)].lines() {
        if let Some(changed) = line.strip_prefix(['+', '-']) {
            names.add_line(changed);
        }
    }
    names.into_names()
}

/// The names found so far, in order of appearance.
#[derive(Default)]
struct NameList<'a> {
    seen: HashSet<&'a str>,
    distinctive: Vec<&'a str>,
    plain: Vec<&'a str>,
}

impl<'a> NameList<'a> {
    fn add_line(&mut self, line: &'a str) {
        for part in code_parts(setting_name(line).unwrap_or(line)) {
            self.add_names(part);
        }
    }

    fn add_names(&mut self, code: &'a str) {
        let is_separator = |it: char| !it.is_alphanumeric() && it != '_';
        for name in code.split(is_separator).filter(|it| NAME_BYTES.contains(&it.len())) {
            let is_number = name.starts_with(|it: char| it.is_ascii_digit());
            let n_digits = name.bytes().filter(u8::is_ascii_digit).count();
            if is_number || n_digits > MAX_DIGITS || !self.seen.insert(name) {
                continue;
            }
            let list = if is_distinctive(name) { &mut self.distinctive } else { &mut self.plain };
            if list.len() < MAX_NAMES {
                list.push(name);
            }
        }
    }

    fn into_names(self) -> Vec<String> {
        let names = self.distinctive.into_iter().chain(self.plain);
        names.take(MAX_NAMES).map(str::to_owned).collect()
    }
}

/// The name in a line `NAME=value` of an environment file.
fn setting_name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let is_upper = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let bare = name.trim_start().trim_start_matches("export ");
    (!bare.is_empty() && bare.chars().all(is_upper)).then_some(bare)
}

/// The parts of a line outside of quotes. A quote without an end is an apostrophe or a lifetime.
fn code_parts(line: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'']) {
        let behind = &rest[open + 1..];
        acc.push(&rest[..open]);
        let close = behind.find(&rest[open..=open]);
        rest = close.map_or(behind, |close| &behind[close + 1..]);
    }
    acc.push(rest);
    acc
}

/// True for a name of several words, such as `parse_total`, `parseTotal` and `utf8`.
fn is_distinctive(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let has_hump = || {
        let mut chars = inner.chars().zip(inner.chars().skip(1));
        chars.any(|(left, right)| left.is_lowercase() && right.is_uppercase())
    };
    inner.contains('_') || inner.contains(|it: char| it.is_ascii_digit()) || has_hump()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_changed_lines_are_found_distinctive_ones_first() {
        let removed = "fn cart() {\n    let total = round(sum);\n}";
        let added = "fn cart() {\n    let total = round_half_even(parseTotal(sum), 0x1f, b);\n}";
        let names = names_in_changes([(removed, added)].into_iter());
        assert_eq!(names, ["round_half_even", "parseTotal", "let", "total", "round", "sum"]);
        assert!(names_in_changes([(added, added)].into_iter()).is_empty());
    }

    #[test]
    fn literal_texts_and_values_have_no_names() {
        let code = "login(\"hunter\", 'secret word', it's_open, c0ffee1234)\nexport API_TOKEN=hunter\nDB_USER=root";
        let names = names_in_changes([("", code)].into_iter());
        assert_eq!(names, ["s_open", "API_TOKEN", "DB_USER", "login"]);
    }

    #[test]
    fn names_of_a_patch_are_those_of_its_changed_lines() {
        let patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@ fn other()\n context\n-old_name\n+newName\n*** End Patch";
        assert_eq!(names_in_patch(patch), ["old_name", "newName"]);
    }

    #[test]
    fn the_number_of_names_is_limited() {
        let words: Vec<String> =
            (0..100).map(|it| format!("name_{it} word{}", "x".repeat(it))).collect();
        let text = words.join("\n");
        let names = names_in_changes([("", text.as_str())].into_iter());
        assert!(names.len() == MAX_NAMES && names.iter().all(|it| it.starts_with("name_")));
    }
}
