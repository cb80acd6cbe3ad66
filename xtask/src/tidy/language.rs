//! The language of the code: names that stand alone, comments that name their actor, small types.
//!
//! [`check`] reports single places that break a rule; [`measure`] counts over all crates, and every run
//! prints the counts beside their goals. Both read [`FileOutline`]s: the items and comments of a file
//! with their lines, without its tests.

use std::collections::{BTreeMap, BTreeSet};

use super::outline::{ConstantItem, FileOutline, FunctionItem, outline_crates};
use super::{Grade, Problem};
use crate::tree::Tree;

/// Type names that several crates may share: their module says the rest.
const SHARED_TYPE_NAMES: &[&str] = &["Config", "Error"];
/// A type with more methods than this does several jobs.
const MAX_METHODS: usize = 40;
/// A function longer than this is worth a second look.
const MAX_FUNCTION_LINES: usize = 60;

/// A doc comment must not open with one of these: it names the thing and asks no question.
const RIDDLES: &[&str] = &["What", "Whatever", "Whether", "Who", "Whoever", "Whose"];
/// As `RIDDLES`, counted but not forbidden: "How far …" can be a title.
const QUESTIONS: &[&str] = &["How", "Where", "Which", "Why"];
/// Words that hide the actor.
const UNNAMED_ACTORS: &[&str] = &["anybody", "everybody", "nobody", "somebody", "whoever"];

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    let files = outline_crates(tree);
    check_type_names(acc, &files);
    check_types(acc, &files);
    for file in &files {
        check_constants(acc, file);
        check_comments(acc, file);
        check_functions(acc, file);
    }
}

/// A public type name occurs once in the workspace.
fn check_type_names(acc: &mut Vec<Problem>, files: &[FileOutline]) {
    let mut first_places: BTreeMap<&str, String> = BTreeMap::new();
    for file in files {
        for item in file.types.iter().filter(|it| it.is_public) {
            let name = item.name.as_str();
            if SHARED_TYPE_NAMES.contains(&name) {
                continue;
            }
            if let Some(first_place) = first_places.get(name) {
                let what = format!("the public type `{name}` also stands at {first_place}");
                let remedy = "give one of the two a name that stands alone";
                acc.push(Problem::failure(&file.path, item.line, what, remedy));
            } else {
                first_places.insert(name, format!("{}:{}", file.path, item.line));
            }
        }
    }
}

/// An inherent impl stands beside its type, and no type has too many methods.
fn check_types(acc: &mut Vec<Problem>, files: &[FileOutline]) {
    // The files that define a type, by crate and name. Several, if private types share a name.
    let mut defining_files: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        for item in &file.types {
            let key = (crate_of(&file.path), item.name.as_str());
            defining_files.entry(key).or_default().insert(&file.path);
        }
    }
    for file in files {
        // By type: the line of its first impl block, and the methods of all its blocks.
        let mut first_line_and_methods: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for item in &file.impls {
            let type_name = item.type_name.as_str();
            // Types of other crates are not found here, and their impls are no concern.
            let defined_in = defining_files.get(&(crate_of(&file.path), type_name));
            if defined_in.is_some_and(|it| !it.contains(file.path.as_str())) {
                let what = format!("an impl of `{type_name}` outside the file of the type");
                let remedy =
                    "make it free functions that take the value first, or a type of its own";
                acc.push(Problem::failure(&file.path, item.line, what, remedy));
            }
            let (_, n_methods) = first_line_and_methods.entry(type_name).or_insert((item.line, 0));
            *n_methods += item.n_methods;
        }
        for (type_name, (line, n_methods)) in first_line_and_methods {
            if n_methods > MAX_METHODS {
                let what = format!("`{type_name}` has {n_methods} methods");
                let remedy = "split it by what its parts are for";
                acc.push(Problem::failure(&file.path, line, what, remedy));
            }
        }
    }
}

/// A limit says what it bounds: `MAX_NOTES_PER_FILE`, never `MOST`.
fn check_constants(acc: &mut Vec<Problem>, file: &FileOutline) {
    for item in &file.constants {
        if is_one_word(&item.name) && is_limit(&item.type_name) {
            let what = format!("`{}` does not say what it bounds", item.name);
            acc.push(Problem::failure(&file.path, item.line, what, "name the thing and its unit"));
        }
    }
}

/// True for the name of a function or constant without `_`.
fn is_one_word(name: &str) -> bool {
    !name.contains('_')
}

/// A constant of one of these types bounds something.
fn is_limit(type_name: &str) -> bool {
    let numbers = ["usize", "u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64", "Duration"];
    numbers.contains(&type_name)
}

fn check_comments(acc: &mut Vec<Problem>, file: &FileOutline) {
    for (line, text) in &file.doc_openings {
        if let Some(word) = opening_word(text, RIDDLES) {
            let what = format!("a doc comment that opens with `{word}`");
            let remedy = "open with what it is (a noun phrase) or does (a verb)";
            acc.push(Problem::failure(&file.path, *line, what, remedy));
        }
    }
    for (line, text) in &file.comments {
        for word in unnamed_actors(text) {
            let what = format!("`{word}` in a comment");
            let remedy = "name the actor: the caller, the host, the user, the daemon";
            acc.push(Problem::failure(&file.path, *line, what, remedy));
        }
    }
}

fn check_functions(acc: &mut Vec<Problem>, file: &FileOutline) {
    for it in file.functions.iter().filter(|it| it.n_lines > MAX_FUNCTION_LINES) {
        let what = format!("`{}` has {} lines", it.name, it.n_lines);
        let remedy = "give its steps names, or leave it if they only make sense together";
        acc.push(Problem {
            path: file.path.clone(),
            line: it.line,
            what,
            remedy,
            grade: Grade::Notice,
        });
    }
}

/// The first word of a text, if it is one of these.
fn opening_word<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let first = text.split(|it: char| !it.is_alphanumeric()).next()?;
    words.iter().find(|it| **it == first).copied()
}

/// The words of a comment that hide the actor, each once.
fn unnamed_actors(text: &str) -> impl Iterator<Item = &'static str> {
    let words: BTreeSet<String> =
        text.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase).collect();
    UNNAMED_ACTORS.iter().copied().filter(move |it| words.contains(*it))
}

/// `store` for `crates/store/src/lib.rs`.
fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// One measure of the language of a code base.
#[derive(Debug)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// The goal as it is written.
    pub(crate) goal: &'static str,
}

/// The measures of all crates together, in the order of the report.
pub(crate) fn measure(tree: &Tree) -> Vec<Measure> {
    // Collect the items of all files.
    let files = outline_crates(tree);
    let types: Vec<&str> =
        files.iter().flat_map(|it| &it.types).map(|it| it.name.as_str()).collect();
    let functions: Vec<&FunctionItem> = files.iter().flat_map(|it| &it.functions).collect();
    let constants: Vec<&ConstantItem> = files.iter().flat_map(|it| &it.constants).collect();
    let docs: Vec<&str> =
        files.iter().flat_map(|it| &it.doc_openings).map(|(_, text)| text.as_str()).collect();
    let comments = files.iter().flat_map(|it| &it.comments);

    // Count.
    let n_one_word_types = types.iter().filter(|it| is_one_word_type(it)).count();
    let n_one_word_functions = functions.iter().filter(|it| is_one_word(&it.name)).count();
    let n_one_word_constants = constants.iter().filter(|it| is_one_word(&it.name)).count();
    let n_questions = docs.iter().filter(|it| is_question(it)).count();
    let n_actors: usize = comments.map(|(_, text)| unnamed_actors(text).count()).sum();
    let n_comments: usize = files.iter().map(|it| it.n_inline_comments).sum();
    let n_code: usize = files.iter().map(|it| it.n_code_lines).sum();
    let n_with_bool = functions.iter().filter(|it| it.takes_bool).count();
    let n_long = functions.iter().filter(|it| it.n_lines > MAX_FUNCTION_LINES).count();

    let row = |name, value, goal| Measure { name, value, goal };
    let percent = |part: usize, all: usize| 100.0 * ratio(part, all);
    let per_1000_lines = |part: usize| 1000.0 * ratio(part, n_code);
    vec![
        row("one-word types, %", percent(n_one_word_types, types.len()), "≤ 28"),
        row("types that share a name, %", percent(count_shared(&types), types.len()), "≤ 14"),
        row("one-word functions, %", percent(n_one_word_functions, functions.len()), "≤ 38"),
        row("one-word constants, %", percent(n_one_word_constants, constants.len()), "≤ 22"),
        row("docs that open with a question, %", percent(n_questions, docs.len()), "≤ 3"),
        row("unnamed actors per 1,000 lines", per_1000_lines(n_actors), "≤ 0.1"),
        row("inline comments per 1,000 lines", per_1000_lines(n_comments), "≥ 25"),
        row("functions with a bool", ratio(n_with_bool, 1), "≤ 25"),
        row("functions over 60 lines", ratio(n_long, 1), "≤ 8"),
    ]
}

/// True for `Score`, false for `QueryPlan`.
fn is_one_word_type(name: &str) -> bool {
    name.chars().filter(|it| it.is_uppercase()).count() <= 1
}

fn is_question(doc: &str) -> bool {
    opening_word(doc, RIDDLES).is_some() || opening_word(doc, QUESTIONS).is_some()
}

/// Number of types whose name another one has too.
fn count_shared(names: &[&str]) -> usize {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *times.entry(name).or_default() += 1;
    }
    times.values().filter(|it| **it > 1).sum()
}

/// 0 if there is nothing.
#[expect(clippy::cast_precision_loss, reason = "counts of lines are small")]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::problems;
    use expect_test::{Expect, expect};

    fn check(files: &[(&str, &str)], expect: Expect) {
        expect.assert_eq(&problems(super::check, files));
    }

    #[test]
    fn a_public_type_name_occurs_once() {
        check(
            &[
                ("crates/a/src/lib.rs", "pub struct Answer;\npub struct Error;\nstruct Own;\n"),
                ("crates/b/src/lib.rs", "pub struct Answer;\npub struct Error;\nstruct Own;\n"),
            ],
            expect![[r"
                crates/b/src/lib.rs:1: the public type `Answer` also stands at crates/a/src/lib.rs:1; give one of the two a name that stands alone
            "]],
        );
    }

    #[test]
    fn impls_stand_beside_their_types() {
        check(
            &[
                ("crates/a/src/lib.rs", "pub struct Store;\n"),
                ("crates/a/src/read.rs", "impl Store {\n    fn read(&self) {}\n}\n"),
                ("crates/b/src/read.rs", "impl Store {\n    fn read(&self) {}\n}\n"),
            ],
            expect![[r"
                crates/a/src/read.rs:1: an impl of `Store` outside the file of the type; make it free functions that take the value first, or a type of its own
            "]],
        );
        let methods = "    fn m() {}\n".repeat(41);
        check(
            &[("crates/a/src/lib.rs", &format!("struct Store;\nimpl Store {{\n{methods}}}\n"))],
            expect![[r"
                crates/a/src/lib.rs:2: `Store` has 41 methods; split it by what its parts are for
            "]],
        );
    }

    #[test]
    fn limits_say_what_they_bound() {
        check(
            &[(
                "crates/a/src/lib.rs",
                "const MOST: usize = 3;\nconst MAX_NOTES: usize = 3;\nconst WORDS: &[&str] = &[];\n",
            )],
            expect![[r"
                crates/a/src/lib.rs:1: `MOST` does not say what it bounds; name the thing and its unit
            "]],
        );
    }

    #[test]
    fn comments_name_the_thing_and_the_actor() {
        check(
            &[(
                "crates/a/src/lib.rs",
                "/// What is kept.\nfn a() {}\n/// The log.\n/// Nobody reads it.\nfn b() {}\n// \"somebody\" twice: somebody\n",
            )],
            expect![[r"
                crates/a/src/lib.rs:1: a doc comment that opens with `What`; open with what it is (a noun phrase) or does (a verb)
                crates/a/src/lib.rs:4: `nobody` in a comment; name the actor: the caller, the host, the user, the daemon
                crates/a/src/lib.rs:6: `somebody` in a comment; name the actor: the caller, the host, the user, the daemon
            "]],
        );
    }

    #[test]
    fn tests_and_other_folders_are_not_measured() {
        let text = "/// What is kept.\npub struct Answer;\n";
        check(
            &[
                ("crates/a/tests/it/a.rs", text),
                ("crates/testkit/src/a.rs", text),
                ("xtask/src/a.rs", text),
                ("crates/a/src/tests.rs", text),
            ],
            expect![""],
        );
    }

    #[test]
    fn measures_count_what_they_say() {
        let text = "/// How far.\npub struct Answer;\n/// A plan.\nstruct QueryPlan;\nstruct Answer;\n// Why.\nfn go(fast: bool) {}\nfn run_fast() {}\nconst MOST: u8 = 1;\n";
        let file =
            crate::tree::File { path: "crates/a/src/a.rs".to_owned(), text: text.to_owned() };
        let tree = Tree { root: String::new(), files: vec![file] };
        let lines: Vec<String> =
            measure(&tree).iter().map(|it| format!("{}: {:.0}", it.name, it.value)).collect();
        expect![[r"
            one-word types, %: 67
            types that share a name, %: 67
            one-word functions, %: 50
            one-word constants, %: 100
            docs that open with a question, %: 50
            unnamed actors per 1,000 lines: 0
            inline comments per 1,000 lines: 167
            functions with a bool: 1
            functions over 60 lines: 0"]]
        .assert_eq(&lines.join("\n"));
    }
}
