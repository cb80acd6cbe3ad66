//! Rejects unfinished code, stray printing, skipped tests and missing file headers in Rust files.

use super::blank::blank;
use super::{Problem, is_fixture};
use crate::tree::{File, Tree};

/// A banned macro, and the files in which it is banned: `todo!()` everywhere, `println!()` in
/// libraries.
struct Banned {
    name: &'static str,
    reach: Reach,
    remedy: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Everywhere,
    /// Library crates: only the command line prints to the user.
    Libraries,
}

const BANNED: &[Banned] = &[
    banned("todo", Reach::Everywhere, "finish it or leave it out"),
    banned("unimplemented", Reach::Everywhere, "finish it or leave it out"),
    banned("dbg", Reach::Everywhere, "remove it"),
    banned("print", Reach::Libraries, "return the text and let the edge print it"),
    banned("println", Reach::Libraries, "return the text and let the edge print it"),
    banned("eprint", Reach::Libraries, "return the text and let the edge print it"),
    banned("eprintln", Reach::Libraries, "return the text and let the edge print it"),
];

const fn banned(name: &'static str, reach: Reach, remedy: &'static str) -> Banned {
    Banned { name, reach, remedy }
}

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    for file in tree.files.iter().filter(|it| is_rust(&it.path) && !is_fixture(&it.path)) {
        check_file_name(acc, file);
        check_header(acc, file);
        check_code(acc, file);
    }
}

fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, it)| it == "rs")
}

fn check_file_name(acc: &mut Vec<Problem>, file: &File) {
    if file.path.ends_with("/mod.rs") {
        let remedy = "name it after its folder, beside it: `foo.rs` and `foo/`";
        acc.push(Problem::failure(&file.path, 1, "a file named `mod.rs`", remedy));
    }
}

fn check_header(acc: &mut Vec<Problem>, file: &File) {
    // The root of a test binary is a list of modules; they have the headers.
    if file.path.ends_with("tests/it/main.rs") {
        return;
    }
    let first_line = file.text.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
    if !first_line.starts_with("//!") {
        let remedy = "begin with `//!`, what the file is for and what it does not do";
        acc.push(Problem::failure(&file.path, 1, "no header", remedy));
    }
}

fn check_code(acc: &mut Vec<Problem>, file: &File) {
    let is_library = is_library(&file.path);
    // Only code counts: comments and texts are blanked.
    for (line_number, line) in (1..).zip(blank(&file.text).lines()) {
        for banned in BANNED {
            let applies = match banned.reach {
                Reach::Everywhere => true,
                Reach::Libraries => is_library,
            };
            if applies && calls_macro(line, banned.name) {
                let what = format!("`{}!`", banned.name);
                acc.push(Problem::failure(&file.path, line_number, what, banned.remedy));
            }
        }
        if ["#[ignore]", "#[ignore "].iter().any(|it| line.contains(it)) {
            let remedy = "assert today's wrong answer, with a FIXME";
            acc.push(Problem::failure(&file.path, line_number, "a skipped test", remedy));
        }
    }
}

/// Binaries and examples print, and a build script passes instructions to cargo by printing.
fn is_library(path: &str) -> bool {
    let is_program = path.starts_with("crates/cli/") || path.contains("/examples/");
    let is_build_script = path.ends_with("/build.rs");
    path.starts_with("crates/") && !is_program && !is_build_script
}

/// True for `print!(` of the macro `print`, false for `my_print!(` and `println!(`.
fn calls_macro(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].bytes().next_back();
        let after = &code[at + name.len()..];
        let begins_name = before.is_none_or(|it| !it.is_ascii_alphanumeric() && it != b'_');
        begins_name && ["!(", "![", "!{", "! {"].iter().any(|it| after.starts_with(it))
    })
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::problems;
    use expect_test::{Expect, expect};

    fn check(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&problems(super::check, &[(path, text)]));
    }

    #[test]
    fn unfinished_code_is_named_with_its_line() {
        check(
            "crates/recall/src/rank.rs",
            "//! Ranks.\nfn a() {\n    todo!()\n}\n#[ignore = \"slow\"]\nfn b() { dbg!(1); }\n",
            expect![[r"
                crates/recall/src/rank.rs:3: `todo!`; finish it or leave it out
                crates/recall/src/rank.rs:5: a skipped test; assert today's wrong answer, with a FIXME
                crates/recall/src/rank.rs:6: `dbg!`; remove it
            "]],
        );
    }

    #[test]
    fn words_in_comments_and_texts_are_not_code() {
        check(
            "crates/recall/src/rank.rs",
            "//! No println!() here.\n/// todo!()\nfn a() -> &str { \"dbg!(x)\" }\nmy_println!(1);\n",
            expect![""],
        );
    }

    #[test]
    fn only_the_edge_prints() {
        let text = "//! X.\nfn a() { println!(\"x\"); }\n";
        check(
            "crates/store/src/lib.rs",
            text,
            expect![[r"
            crates/store/src/lib.rs:2: `println!`; return the text and let the edge print it
        "]],
        );
        check("crates/cli/src/main.rs", text, expect![""]);
        check("crates/serve/build.rs", text, expect![""]);
        check("crates/promote/examples/pairs.rs", text, expect![""]);
    }

    #[test]
    fn files_have_a_header_and_a_name() {
        check(
            "crates/store/src/row.rs",
            "\nuse std::fmt;\n",
            expect![[r"
            crates/store/src/row.rs:1: no header; begin with `//!`, what the file is for and what it does not do
        "]],
        );
        check(
            "crates/store/src/row/mod.rs",
            "//! Rows.\n",
            expect![[r"
            crates/store/src/row/mod.rs:1: a file named `mod.rs`; name it after its folder, beside it: `foo.rs` and `foo/`
        "]],
        );
        check("crates/store/tests/it/main.rs", "mod rows;\n", expect![""]);
        check("crates/graph/fixtures/a/mod.rs", "todo!()", expect![""]);
    }
}
