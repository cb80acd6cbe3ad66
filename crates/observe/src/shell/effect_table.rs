//! The table of programs and their effects, and the rules that apply it. The input is the words of one simple
//! command (one program with its arguments): `sed -i s/a/b/ x.rs` → `Edit("x.rs")`.
//!
//! Programs whose arguments matter (`sed`, `git`, `gh`, readers, searches and lists) have a function;
//! programs that test or check are rows of [`CHECK_PROGRAMS`]. A program in no table has the effect
//! [`ShellEffect::Other`].

use super::ShellEffect;

/// Programs whose file arguments are read.
const READER_PROGRAMS: &[&str] =
    &["cat", "head", "tail", "less", "more", "bat", "nl", "tac", "batcat"];
const SEARCH_PROGRAMS: &[&str] = &["grep", "rg", "egrep", "fgrep", "ag", "ack", "ripgrep"];
/// Options of search programs that take a value. The value is not the pattern.
#[rustfmt::skip]
const OPTIONS_WITH_VALUE: &[&str] = &["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "--include", "--exclude", "--exclude-dir",
                                      "--type", "--glob", "--max-count", "--context", "--after-context", "--before-context"];

/// Programs that test or check: program, subcommands, effect. One of the subcommands must be among the
/// arguments; `""` needs none. The first matching row counts, so that `make test` is a test.
#[rustfmt::skip]
const CHECK_PROGRAMS: &[(&str, &[&str], ShellEffect)] = &[
    // program        one of these arguments                                       effect
    ("cargo",         &["test", "nextest", "t"],                                   ShellEffect::Test),
    ("cargo",         &["build", "check", "clippy", "fmt", "b", "c", "doc"],       ShellEffect::Check),
    ("go",            &["test"],                                                   ShellEffect::Test),
    ("go",            &["build", "vet", "fmt", "install"],                         ShellEffect::Check),
    ("gofmt",         &[""],                                                       ShellEffect::Check),
    ("golangci-lint", &[""],                                                       ShellEffect::Check),
    ("pytest",        &[""],                                                       ShellEffect::Test),
    ("tox",           &[""],                                                       ShellEffect::Test),
    ("nox",           &[""],                                                       ShellEffect::Test),
    ("python",        &["pytest", "unittest", "test"],                             ShellEffect::Test),
    ("python3",       &["pytest", "unittest", "test"],                             ShellEffect::Test),
    ("ruff",          &[""],                                                       ShellEffect::Check),
    ("mypy",          &[""],                                                       ShellEffect::Check),
    ("black",         &[""],                                                       ShellEffect::Check),
    ("flake8",        &[""],                                                       ShellEffect::Check),
    ("npm",           &["test", "t"],                                              ShellEffect::Test),
    ("npm",           &["build", "lint", "typecheck", "check", "format"],          ShellEffect::Check),
    ("yarn",          &["test"],                                                   ShellEffect::Test),
    ("yarn",          &["build", "lint", "typecheck", "check", "format"],          ShellEffect::Check),
    ("pnpm",          &["test"],                                                   ShellEffect::Test),
    ("pnpm",          &["build", "lint", "typecheck", "check", "format"],          ShellEffect::Check),
    ("bun",           &["test"],                                                   ShellEffect::Test),
    ("bun",           &["build", "lint", "typecheck", "check"],                    ShellEffect::Check),
    ("deno",          &["test"],                                                   ShellEffect::Test),
    ("deno",          &["check", "lint", "fmt"],                                   ShellEffect::Check),
    ("npx",           &["jest", "vitest", "mocha", "playwright", "ava"],           ShellEffect::Test),
    ("npx",           &["tsc", "eslint", "prettier", "biome"],                     ShellEffect::Check),
    ("jest",          &[""],                                                       ShellEffect::Test),
    ("vitest",        &[""],                                                       ShellEffect::Test),
    ("mocha",         &[""],                                                       ShellEffect::Test),
    ("playwright",    &["test"],                                                   ShellEffect::Test),
    ("tsc",           &[""],                                                       ShellEffect::Check),
    ("eslint",        &[""],                                                       ShellEffect::Check),
    ("prettier",      &[""],                                                       ShellEffect::Check),
    ("biome",         &[""],                                                       ShellEffect::Check),
    ("make",          &["test", "check", "tests"],                                 ShellEffect::Test),
    ("make",          &[""],                                                       ShellEffect::Check),
    ("just",          &["test"],                                                   ShellEffect::Test),
    ("just",          &["build", "lint", "check", "fmt"],                          ShellEffect::Check),
    ("mise",          &["test"],                                                   ShellEffect::Test),
    ("mise",          &["build", "lint", "check", "fmt", "format", "typecheck"],   ShellEffect::Check),
    ("task",          &["test"],                                                   ShellEffect::Test),
    ("mvn",           &["test", "verify"],                                         ShellEffect::Test),
    ("mvn",           &["compile", "package", "install"],                          ShellEffect::Check),
    ("gradle",        &["test"],                                                   ShellEffect::Test),
    ("gradle",        &["build", "check", "assemble"],                             ShellEffect::Check),
    ("gradlew",       &["test"],                                                   ShellEffect::Test),
    ("gradlew",       &["build", "check", "assemble"],                             ShellEffect::Check),
    ("dotnet",        &["test"],                                                   ShellEffect::Test),
    ("dotnet",        &["build", "format"],                                        ShellEffect::Check),
    ("rspec",         &[""],                                                       ShellEffect::Test),
    ("rake",          &["test", "spec"],                                           ShellEffect::Test),
    ("rubocop",       &[""],                                                       ShellEffect::Check),
    ("phpunit",       &[""],                                                       ShellEffect::Test),
    ("ctest",         &[""],                                                       ShellEffect::Test),
    ("cmake",         &["--build"],                                                ShellEffect::Check),
    ("mix",           &["test"],                                                   ShellEffect::Test),
    ("swift",         &["test"],                                                   ShellEffect::Test),
    ("swift",         &["build"],                                                  ShellEffect::Check),
    ("bazel",         &["test"],                                                   ShellEffect::Test),
    ("bazel",         &["build"],                                                  ShellEffect::Check),
    ("zig",           &["test"],                                                   ShellEffect::Test),
    ("zig",           &["build"],                                                  ShellEffect::Check),
    ("terraform",     &["validate", "plan", "fmt"],                                ShellEffect::Check),
];

/// Adds the effects of a simple command. If it `is_piped`, it reads the output of another one.
pub(super) fn add_effects(acc: &mut Vec<ShellEffect>, words: &[&str], is_piped: bool) {
    let program = words[0].rsplit('/').next().unwrap_or(words[0]);
    let args = &words[1..];
    if READER_PROGRAMS.contains(&program) {
        // A program that reads a pipe or writes its output to a file reads no project file.
        if !is_piped && !args.iter().any(|it| it.starts_with('>')) {
            acc.extend(file_arguments(args).map(|it| ShellEffect::Read(it.to_owned())));
        }
        return;
    }
    if SEARCH_PROGRAMS.contains(&program) {
        // A search in a pipe only filters the output of the command before it.
        if !is_piped && let Some(pattern) = search_pattern(args) {
            acc.push(ShellEffect::Search(pattern.to_owned()));
        }
        return;
    }
    match program {
        "sed" => add_sed_effects(acc, args, is_piped),
        "git" => add_git_effects(acc, args),
        "gh" => add_gh_effects(acc, args),
        "find" | "fd" | "ls" | "tree" => {
            acc.push(ShellEffect::List(listed_pattern(args).to_owned()));
        }
        _ => acc.push(find_check(program, args).unwrap_or(ShellEffect::Other)),
    }
}

/// Returns whether a program tests or checks, whatever its arguments are.
pub(super) fn is_check_program(program: &str) -> bool {
    let is_runner =
        |it: &str| matches!(it, "npx" | "npm" | "yarn" | "pnpm" | "bun" | "python" | "python3");
    CHECK_PROGRAMS.iter().any(|(name, subcommands, _)| {
        *name == program && !is_runner(name) || is_runner(name) && subcommands.contains(&program)
    })
}

/// The effect of a program that tests or checks.
fn find_check(program: &str, args: &[&str]) -> Option<ShellEffect> {
    // `npm run test:ci` is a test as well.
    let is_given = |subcommand: &str| {
        subcommand.is_empty() || args.iter().any(|it| it.split(':').next() == Some(subcommand))
    };
    let (.., effect) = CHECK_PROGRAMS.iter().find(|(name, subcommands, _)| {
        *name == program && subcommands.iter().any(|it| is_given(it))
    })?;
    Some(effect.clone())
}

/// Arguments that can be files: no options, no redirections, no numbers.
fn file_arguments<'a>(args: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    args.iter().copied().filter(|it| {
        let is_option = it.starts_with('-');
        // `>out.txt`, `$FILE`, `*.rs`: the name of the file is not known.
        let is_expanded = it.contains(['>', '<', '$', '*']);
        // A bare word such as `main` is more often a branch or a name than a file.
        let has_path_sign = it.contains('.') || it.contains('/');
        has_path_sign && !is_option && !is_expanded
    })
}

/// The pattern of a search program: the value of `-e`, else the first argument.
fn search_pattern<'a>(args: &[&'a str]) -> Option<&'a str> {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            "-e" | "--regexp" => return words.next().copied(),
            // The word after such an option is its value.
            option if OPTIONS_WITH_VALUE.contains(&option) => {
                words.next();
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            pattern => return Some(pattern),
        }
    }
    None
}

/// The pattern or folder of a list program: `*.go` of `find . -name '*.go'`, `src` of `ls -l src`.
fn listed_pattern<'a>(args: &[&'a str]) -> &'a str {
    // The word after the option is the pattern.
    let is_name_option = |it: &&str| matches!(*it, "-name" | "-iname" | "-path");
    if let Some(option) = args.iter().position(is_name_option)
        && let Some(pattern) = args.get(option + 1)
    {
        return pattern;
    }
    // Without an argument, the working folder is listed.
    args.iter().find(|it| !it.starts_with('-')).copied().unwrap_or(".")
}

fn add_sed_effects(acc: &mut Vec<ShellEffect>, args: &[&str], is_piped: bool) {
    let in_place = args.iter().any(|it| it.starts_with("-i") || *it == "--in-place");
    let has_script_option = args.iter().any(|it| *it == "-e" || *it == "--expression");
    // Arguments that are neither options nor the script after `-e`.
    let mut positional: Vec<&str> = Vec::new();
    let mut previous = "";
    for arg in args {
        if !arg.starts_with('-') && previous != "-e" {
            positional.push(arg);
        }
        previous = arg;
    }
    // The first one is the script itself, unless it followed `-e`.
    let n_scripts = usize::from(!has_script_option);
    let files: Vec<&str> = positional.into_iter().skip(n_scripts).collect();
    // In a pipe it works on the output of the command before it.
    if is_piped {
        return;
    }
    for file in file_arguments(&files) {
        let file = file.to_owned();
        acc.push(if in_place { ShellEffect::Edit(file) } else { ShellEffect::Read(file) });
    }
}

/// The subcommand of git with its arguments, without the options before it, some of which take a value.
pub(super) fn skip_git_options<T: AsRef<str>>(args: &[T]) -> &[T] {
    match args {
        [option, _, more @ ..]
            if matches!(option.as_ref(), "-C" | "-c" | "--git-dir" | "--work-tree") =>
        {
            skip_git_options(more)
        }
        [option, more @ ..] if option.as_ref().starts_with('-') => skip_git_options(more),
        _ => args,
    }
}

fn add_git_effects(acc: &mut Vec<ShellEffect>, args: &[&str]) {
    match skip_git_options(args)[..] {
        ["grep", ref more @ ..] => {
            acc.extend(search_pattern(more).map(|it| ShellEffect::Search(it.to_owned())));
        }
        ["commit", ..] => acc.push(ShellEffect::Commit),
        // With `--staged` only the index changes, not the file.
        ["restore", ref more @ ..] if !more.contains(&"--staged") => {
            acc.extend(file_arguments(more).map(|it| ShellEffect::Restore(it.to_owned())));
        }
        // Without `--`, a checkout switches branches.
        ["checkout", ref more @ ..] if more.contains(&"--") => {
            let paths = more.iter().skip_while(|it| **it != "--").skip(1);
            acc.extend(paths.map(|it| ShellEffect::Restore((*it).to_owned())));
        }
        _ => acc.push(ShellEffect::Other),
    }
}

fn add_gh_effects(acc: &mut Vec<ShellEffect>, args: &[&str]) {
    let words: Vec<&str> = args.iter().copied().filter(|it| !it.starts_with('-')).collect();
    match words[..] {
        ["pr", "view" | "diff" | "review" | "checks" | "checkout", ..] => {
            acc.push(ShellEffect::Review);
        }
        _ => acc.push(ShellEffect::Other),
    }
}
