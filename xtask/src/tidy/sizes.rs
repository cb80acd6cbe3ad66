//! Limits of file size: a notice at 400 lines, a failure at 600. Tests and tables do not count.

use super::{Grade, Problem, is_fixture};
use crate::tree::{File, Tree};

const NOTICE_LINES: usize = 400;
const MAX_LINES: usize = 600;

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    for file in tree.files.iter().filter(|it| is_limited(it)) {
        let n_lines = code_lines(&file.text);
        if n_lines <= NOTICE_LINES {
            continue;
        }
        let grade = if n_lines > MAX_LINES { Grade::Failure } else { Grade::Notice };
        let what = format!("{n_lines} lines before the tests");
        let remedy =
            "split it by the purposes of its parts, or say in the header that it is a table";
        acc.push(Problem { path: file.path.clone(), line: 1, what, remedy, grade });
    }
}

/// True for code that is neither test nor fixture nor table.
fn is_limited(file: &File) -> bool {
    let path = file.path.as_str();
    let is_code = path.rsplit_once('.').is_some_and(|(_, it)| matches!(it, "rs" | "ts"));
    let is_test =
        path.split('/').any(|it| matches!(it, "test" | "tests")) || path.ends_with("/tests.rs");
    is_code && !is_test && !is_fixture(path) && !is_table(&file.text)
}

/// A header that contains "is a table" exempts its file.
fn is_table(text: &str) -> bool {
    text.lines().take_while(|it| it.starts_with("//!")).any(|it| it.contains("is a table"))
}

/// Lines up to the module of tests; other items for tests only are part of the file.
fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines
        .windows(2)
        .position(|it| it[0] == "#[cfg(test)]" && it[1].trim_start().starts_with("mod "));
    tests.unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::problems;
    use expect_test::{Expect, expect};

    /// Checks a file with a header, so many lines of code (with the header) and so many of tests.
    fn check(path: &str, header: &str, n_code: usize, n_tests: usize, expect: Expect) {
        let code = "x\n".repeat(n_code - 1);
        let tests = "x\n".repeat(n_tests);
        let text = format!("{header}\n{code}#[cfg(test)]\nmod tests {{\n{tests}}}\n");
        expect.assert_eq(&problems(super::check, &[(path, &text)]));
    }

    #[test]
    fn only_code_counts_towards_the_size() {
        check("crates/a/src/b.rs", "//! B.", 400, 900, expect![""]);
        check(
            "crates/a/src/b.rs",
            "//! B.",
            401,
            0,
            expect![[r"
            crates/a/src/b.rs:1: notice: 401 lines before the tests; split it by the purposes of its parts, or say in the header that it is a table
        "]],
        );
        check(
            "crates/a/src/b.rs",
            "//! B.",
            601,
            0,
            expect![[r"
            crates/a/src/b.rs:1: 601 lines before the tests; split it by the purposes of its parts, or say in the header that it is a table
        "]],
        );
    }

    #[test]
    fn tables_tests_and_fixtures_may_be_long() {
        check("crates/a/src/b.rs", "//! This file is a table.", 900, 0, expect![""]);
        check("crates/a/src/b/tests.rs", "//! B.", 900, 0, expect![""]);
        check("crates/a/tests/it/b.rs", "//! B.", 900, 0, expect![""]);
        check("crates/a/fixtures/b.rs", "//! B.", 900, 0, expect![""]);
        check("clients/a/test/b.ts", "/** B. */", 900, 0, expect![""]);
    }

    #[test]
    fn packages_for_others_are_held_to_the_same_size() {
        check(
            "clients/a/src/b.ts",
            "/** B. */",
            601,
            0,
            expect![[r"
            clients/a/src/b.ts:1: 601 lines before the tests; split it by the purposes of its parts, or say in the header that it is a table
        "]],
        );
    }
}
