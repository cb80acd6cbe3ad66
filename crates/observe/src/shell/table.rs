//! Which program does what. This file is a table, and the few rules that read it.

use super::Deed;

/// Programs whose file arguments are read.
const READERS: &[&str] = &["cat", "head", "tail", "less", "more", "bat", "nl", "tac", "batcat"];
const SEARCHERS: &[&str] = &["grep", "rg", "egrep", "fgrep", "ag", "ack", "ripgrep"];
/// Options of searchers that take a value, which is then not the pattern.
#[rustfmt::skip]
const VALUED: &[&str] = &["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "--include", "--exclude", "--exclude-dir",
                          "--type", "--glob", "--max-count", "--context", "--after-context", "--before-context"];
const FETCHERS: &[&str] = &["curl", "wget", "http", "https", "lynx", "w3m", "aria2c"];

/// Program and the words one of which must follow somewhere → what it does. `""`: the program alone.
#[rustfmt::skip]
const CHECKS: &[(&str, &[&str], Deed)] = &[
    ("cargo",         &["test", "nextest", "t"],                                   Deed::Test),
    ("cargo",         &["build", "check", "clippy", "fmt", "b", "c", "doc"],       Deed::Check),
    ("go",            &["test"],                                                   Deed::Test),
    ("go",            &["build", "vet", "fmt", "install"],                         Deed::Check),
    ("gofmt",         &[""],                                                       Deed::Check),
    ("golangci-lint", &[""],                                                       Deed::Check),
    ("pytest",        &[""],                                                       Deed::Test),
    ("tox",           &[""],                                                       Deed::Test),
    ("nox",           &[""],                                                       Deed::Test),
    ("python",        &["pytest", "unittest", "test"],                             Deed::Test),
    ("python3",       &["pytest", "unittest", "test"],                             Deed::Test),
    ("ruff",          &[""],                                                       Deed::Check),
    ("mypy",          &[""],                                                       Deed::Check),
    ("black",         &[""],                                                       Deed::Check),
    ("flake8",        &[""],                                                       Deed::Check),
    ("npm",           &["test", "t"],                                              Deed::Test),
    ("npm",           &["build", "lint", "typecheck", "check", "format"],          Deed::Check),
    ("yarn",          &["test"],                                                   Deed::Test),
    ("yarn",          &["build", "lint", "typecheck", "check", "format"],          Deed::Check),
    ("pnpm",          &["test"],                                                   Deed::Test),
    ("pnpm",          &["build", "lint", "typecheck", "check", "format"],          Deed::Check),
    ("bun",           &["test"],                                                   Deed::Test),
    ("bun",           &["build", "lint", "typecheck", "check"],                    Deed::Check),
    ("deno",          &["test"],                                                   Deed::Test),
    ("deno",          &["check", "lint", "fmt"],                                   Deed::Check),
    ("npx",           &["jest", "vitest", "mocha", "playwright", "ava"],           Deed::Test),
    ("npx",           &["tsc", "eslint", "prettier", "biome"],                     Deed::Check),
    ("jest",          &[""],                                                       Deed::Test),
    ("vitest",        &[""],                                                       Deed::Test),
    ("mocha",         &[""],                                                       Deed::Test),
    ("playwright",    &["test"],                                                   Deed::Test),
    ("tsc",           &[""],                                                       Deed::Check),
    ("eslint",        &[""],                                                       Deed::Check),
    ("prettier",      &[""],                                                       Deed::Check),
    ("biome",         &[""],                                                       Deed::Check),
    ("make",          &["test", "check", "tests"],                                 Deed::Test),
    ("make",          &[""],                                                       Deed::Check),
    ("just",          &["test"],                                                   Deed::Test),
    ("just",          &["build", "lint", "check", "fmt"],                          Deed::Check),
    ("mise",          &["test"],                                                   Deed::Test),
    ("mise",          &["build", "lint", "check", "fmt", "format", "typecheck"],   Deed::Check),
    ("task",          &["test"],                                                   Deed::Test),
    ("mvn",           &["test", "verify"],                                         Deed::Test),
    ("mvn",           &["compile", "package", "install"],                          Deed::Check),
    ("gradle",        &["test"],                                                   Deed::Test),
    ("gradle",        &["build", "check", "assemble"],                             Deed::Check),
    ("gradlew",       &["test"],                                                   Deed::Test),
    ("gradlew",       &["build", "check", "assemble"],                             Deed::Check),
    ("dotnet",        &["test"],                                                   Deed::Test),
    ("dotnet",        &["build", "format"],                                        Deed::Check),
    ("rspec",         &[""],                                                       Deed::Test),
    ("rake",          &["test", "spec"],                                           Deed::Test),
    ("rubocop",       &[""],                                                       Deed::Check),
    ("phpunit",       &[""],                                                       Deed::Test),
    ("ctest",         &[""],                                                       Deed::Test),
    ("cmake",         &["--build"],                                                Deed::Check),
    ("mix",           &["test"],                                                   Deed::Test),
    ("swift",         &["test"],                                                   Deed::Test),
    ("swift",         &["build"],                                                  Deed::Check),
    ("bazel",         &["test"],                                                   Deed::Test),
    ("bazel",         &["build"],                                                  Deed::Check),
    ("zig",           &["test"],                                                   Deed::Test),
    ("zig",           &["build"],                                                  Deed::Check),
    ("terraform",     &["validate", "plan", "fmt"],                                Deed::Check),
];

pub(super) fn deeds_of(acc: &mut Vec<Deed>, words: &[&str], piped: bool) {
    let program = words[0].rsplit('/').next().unwrap_or(words[0]);
    let rest = &words[1..];
    if READERS.contains(&program) {
        // What reads a pipe, or writes a file, reads no file of the project.
        if !piped && !rest.iter().any(|it| it.starts_with('>')) {
            acc.extend(files(rest).map(|it| Deed::Read(it.to_owned())));
        }
        return;
    }
    if SEARCHERS.contains(&program) {
        acc.extend(pattern(rest).filter(|_| !piped).map(|it| Deed::Search(it.to_owned())));
        return;
    }
    match program {
        "sed" => sed(acc, rest, piped),
        "git" => git(acc, rest),
        "gh" => gh(acc, rest),
        "find" | "fd" | "ls" | "tree" => acc.push(Deed::List(listed(rest).to_owned())),
        _ if FETCHERS.contains(&program) => acc.push(Deed::Fetch),
        _ => acc.push(checked(program, rest).unwrap_or(Deed::Other)),
    }
}

fn checked(program: &str, rest: &[&str]) -> Option<Deed> {
    let fits = |wanted: &str| {
        wanted.is_empty()
            || rest.iter().any(|it| *it == wanted || it.split(':').next() == Some(wanted))
    };
    let row = CHECKS.iter().find(|it| it.0 == program && it.1.iter().any(|it| fits(it)))?;
    Some(row.2.clone())
}

/// Arguments that can be files: no options, no redirections, no numbers after an option.
fn files<'a>(rest: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let is_file = |it: &&str| {
        !it.starts_with('-')
            && !it.contains(['>', '<', '$', '*'])
            && !it.is_empty()
            && !it.bytes().all(|b| b.is_ascii_digit())
            && (it.contains('.') || it.contains('/'))
    };
    rest.iter().copied().filter(is_file)
}

fn pattern<'a>(rest: &[&'a str]) -> Option<&'a str> {
    let mut words = rest.iter();
    while let Some(it) = words.next() {
        match *it {
            "-e" | "--regexp" => return words.next().copied(),
            it if VALUED.contains(&it) => {
                words.next();
            }
            it if it.starts_with('-') && it.len() > 1 => {}
            it => return Some(it),
        }
    }
    None
}

fn listed<'a>(rest: &[&'a str]) -> &'a str {
    let named = rest.iter().skip_while(|it| !matches!(**it, "-name" | "-iname" | "-path")).nth(1);
    named.or_else(|| rest.iter().find(|it| !it.starts_with('-'))).copied().unwrap_or(".")
}

fn sed(acc: &mut Vec<Deed>, rest: &[&str], piped: bool) {
    let in_place = rest.iter().any(|it| it.starts_with("-i") || *it == "--in-place");
    // The script follows `-e`; without one it is the first argument that is no option.
    let scripted = rest.iter().any(|it| *it == "-e" || *it == "--expression");
    let is_argument =
        |nth: usize| !rest[nth].starts_with('-') && (nth == 0 || rest[nth - 1] != "-e");
    let arguments: Vec<&str> =
        (0..rest.len()).filter(|it| is_argument(*it)).map(|it| rest[it]).collect();
    let named: Vec<&str> = arguments.into_iter().skip(usize::from(!scripted)).collect();
    for file in files(&named).filter(|_| !piped) {
        let file = file.to_owned();
        acc.push(if in_place { Deed::Edit(file) } else { Deed::Read(file) });
    }
}

/// What follows the options that stand before a subcommand of git, some of which take a word.
pub(super) fn git_words<T: AsRef<str>>(rest: &[T]) -> &[T] {
    match rest {
        [option, _, more @ ..]
            if matches!(option.as_ref(), "-C" | "-c" | "--git-dir" | "--work-tree") =>
        {
            git_words(more)
        }
        [option, more @ ..] if option.as_ref().starts_with('-') => git_words(more),
        _ => rest,
    }
}

fn git(acc: &mut Vec<Deed>, rest: &[&str]) {
    match git_words(rest)[..] {
        ["grep", ref more @ ..] => acc.extend(pattern(more).map(|it| Deed::Search(it.to_owned()))),
        ["commit", ..] => acc.push(Deed::Commit),
        ["clone", ..] => acc.push(Deed::Fetch),
        ["restore", ref more @ ..] if !more.contains(&"--staged") => {
            acc.extend(files(more).map(|it| Deed::Restore(it.to_owned())));
        }
        ["checkout", ref more @ ..] if more.contains(&"--") => {
            let paths = more.iter().skip_while(|it| **it != "--").skip(1);
            acc.extend(paths.map(|it| Deed::Restore((*it).to_owned())));
        }
        _ => acc.push(Deed::Other),
    }
}

fn gh(acc: &mut Vec<Deed>, rest: &[&str]) {
    let words: Vec<&str> = rest.iter().copied().filter(|it| !it.starts_with('-')).collect();
    match words[..] {
        ["pr", "view" | "diff" | "review" | "checks" | "checkout", ..] => {
            acc.extend([Deed::Review, Deed::Fetch]);
        }
        ["api" | "issue" | "release" | "run" | "search", ..] => acc.push(Deed::Fetch),
        _ => acc.push(Deed::Other),
    }
}
