//! Names of documents: dated design notes, and the length of AGENTS.md.

use super::Problem;
use crate::tree::{File, Tree};

/// Updated continuously instead of dated.
const UNDATED_NOTES: &[&str] = &["dependencies.md"];

/// AGENTS.md stays under this many lines.
const MAX_AGENTS_LINES: usize = 60;

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    for file in &tree.files {
        if let Some(name) = file.path.strip_prefix("docs/design/") {
            check_note(acc, file, name);
        }
        if file.path.rsplit('/').next() == Some("AGENTS.md") {
            check_agents(acc, file);
        }
    }
}

/// Checks the name of a design note.
fn check_note(acc: &mut Vec<Problem>, file: &File, name: &str) {
    if !is_dated(name) && !UNDATED_NOTES.contains(&name) {
        let remedy = "call it `YYYY-MM-DD-title.md`, the title in lower case with hyphens";
        acc.push(Problem::failure(&file.path, 1, "a design note without its date", remedy));
    }
}

/// True for `2026-11-15-one-writer.md`.
fn is_dated(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".md") else { return false };
    let parts: Vec<&str> = stem.splitn(4, '-').collect();
    let [year, month, day, title] = parts[..] else { return false };
    is_number(year, 4, 2000..=9999)
        && is_number(month, 2, 1..=12)
        && is_number(day, 2, 1..=31)
        && is_plain_title(title)
}

/// True for a number of so many digits within a range.
fn is_number(text: &str, n_digits: usize, range: std::ops::RangeInclusive<u32>) -> bool {
    let has_digits = text.len() == n_digits && text.bytes().all(|it| it.is_ascii_digit());
    has_digits && text.parse().is_ok_and(|it| range.contains(&it))
}

fn is_plain_title(title: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    !title.is_empty() && title.bytes().all(is_plain)
}

/// Checks the length of `AGENTS.md`.
fn check_agents(acc: &mut Vec<Problem>, file: &File) {
    let n_lines = file.text.lines().count();
    if n_lines >= MAX_AGENTS_LINES {
        let what = format!("{n_lines} lines, and agents read all of them every time");
        let remedy = "keep it under 60: commands, where to look, links";
        acc.push(Problem::failure(&file.path, MAX_AGENTS_LINES, what, remedy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::problems;
    use expect_test::expect;

    #[test]
    fn design_notes_carry_their_date() {
        assert!(is_dated("2026-11-15-one-writer.md"));
        for name in [
            "one-writer.md",
            "2026-11-15.md",
            "2026-13-01-x.md",
            "2026-11-00-x.md",
            "26-11-15-x.md",
            "2026-11-15-One Writer.md",
            "2026-11-15-x.txt",
            "2026-11-15-x/y.md",
        ] {
            assert!(!is_dated(name), "{name}");
        }
        expect![[r"
            docs/design/one-writer.md:1: a design note without its date; call it `YYYY-MM-DD-title.md`, the title in lower case with hyphens
        "]].assert_eq(&problems(check, &[("docs/design/one-writer.md", "")]));
        assert_eq!(problems(check, &[("docs/design/dependencies.md", "")]), "");
    }

    #[test]
    fn agents_md_stays_short() {
        let text = "x\n".repeat(60);
        expect![[r"
            AGENTS.md:60: 60 lines, and agents read all of them every time; keep it under 60: commands, where to look, links
        "]].assert_eq(&problems(check, &[("AGENTS.md", &text), ("docs/a.md", &text)]));
        assert_eq!(problems(check, &[("AGENTS.md", &text[2..])]), "");
    }
}
