//! The intent of a command: the program and what it works on, without the words around them.
//!
//! Two command lines have the same *family* if they want the same thing done, whatever runs it:
//!
//! ```text
//! FOO=1 npx vitest run src/a.test.ts     family `vitest`   target `src/a.test.ts`
//! cd web && pnpm exec vitest             family `vitest`
//! npm test, bun run test, yarn test      family `test`
//! python -m pytest -q, uv run pytest     family `pytest`
//! python3 tools/run.py, ./tools/run.py   family `run.py`
//! ```
//!
//! What a family leaves out is kept beside it, because it can be the fix of a failure: assignments, folder,
//! wrappers, the program that was named, options. `ending` compares them. What `make test` runs is not known,
//! so that it is the same intent as nothing else.

use super::command_tables as tables;
use crate::shell::{self, SimpleCommand};

/// The longest command that is displayed, in bytes.
const MAX_DISPLAY_BYTES: usize = 160;
/// Levels of `bash -c` that are read.
const MAX_SHELL_DEPTH: usize = 2;

/// A simple command of a line, as far as failures are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandIntent {
    /// Identifies what is to be done, see the header of the file.
    pub family: String,
    /// The arguments that are neither options nor their values, in order.
    pub target: Vec<String>,
    /// The options, with the values that are known to belong to them.
    pub options: Vec<String>,
    /// Assignments before the program: `CI=1`.
    pub assignments: Vec<String>,
    /// The folder of a `cd` before it in the same line; empty if there is none.
    pub folder: String,
    /// The words before the arguments: wrappers, package manager, interpreter and program.
    pub launcher: Vec<String>,
    /// The command as it is displayed, with its assignments and its folder.
    pub text: String,
    /// Its success is not known from that of the line, because another command replaces it if it fails.
    pub has_fallback: bool,
}

impl CommandIntent {
    /// The intents of a command line, in order: `cd web && npm ci && npm test` has two.
    pub fn of_line(line: &str) -> Vec<Self> {
        let mut acc = Vec::new();
        add_intents(&mut acc, line, &[], MAX_SHELL_DEPTH);
        acc
    }

    /// The intent that a line is run for: its last command, which the ones before it prepare.
    pub fn main_of_line(line: &str) -> Option<Self> {
        Self::of_line(line).pop()
    }

    /// The options that are not only about the output.
    pub(super) fn relevant_options(&self) -> Vec<&str> {
        let is_relevant = |it: &&str| !tables::OUTPUT_OPTIONS.contains(&option_name(it).as_str());
        self.options.iter().map(String::as_str).filter(is_relevant).collect()
    }

    /// The options that narrow what is run, with their values.
    pub(super) fn scope_options(&self) -> Vec<&str> {
        let is_scope = |it: &&str| tables::SCOPE_OPTIONS.contains(&option_name(it).as_str());
        self.options.iter().map(String::as_str).filter(is_scope).collect()
    }
}

/// The name of an option in lower case, without its value.
pub(super) fn option_name(option: &str) -> String {
    let name = option.split(['=', ' ']).next().unwrap_or(option);
    name.to_ascii_lowercase()
}

/// The family of a command line, by which errors of different programs are told apart.
pub fn command_family(line: &str) -> String {
    CommandIntent::main_of_line(line).map_or_else(|| shell::command_head(line), |it| it.family)
}

fn add_intents(acc: &mut Vec<CommandIntent>, line: &str, outer: &[String], depth: usize) {
    let mut folder = String::new();
    // `echo y | npx migrate` is run for its second command, `npm test | tail` for its first.
    let mut is_fed = false;
    for command in shell::split_commands(line) {
        let was_fed = std::mem::replace(&mut is_fed, is_input(&command));
        if command.is_fallback {
            if let Some(last) = acc.last_mut() {
                last.has_fallback = true;
            }
            continue;
        }
        if (command.is_piped && !was_fed) || is_silent(&command) {
            continue;
        }
        if command.words[0] == "cd" || command.words[0] == "pushd" {
            folder = command.words.get(1).cloned().unwrap_or_default();
            continue;
        }
        let words = inner_words(&command);
        // `bash -c "npm test"` is `npm test`.
        if let Some(inner) = shell_code(&words)
            && depth > 0
        {
            let assignments = [outer, &command.assignments].concat();
            add_intents(acc, inner, &assignments, depth - 1);
            continue;
        }
        acc.push(read_intent(&command, &words, &folder, outer));
    }
}

/// The words of a command without its wrappers.
fn inner_words(command: &SimpleCommand) -> Vec<&str> {
    let words = shell::strip_wrappers(&command.words);
    match words.first().copied() {
        // A subcommand of compose is not one of docker.
        Some("docker" | "podman") => command.words.iter().map(String::as_str).collect(),
        // `mise exec node@20 -- npm test` names the versions first.
        Some(it) if it.contains('@') && command.words[0] == "mise" => {
            words.into_iter().skip_while(|it| it.contains('@') || *it == "--").collect()
        }
        _ => words,
    }
}

/// Returns whether a command only prints a heading between two outputs.
fn is_silent(command: &SimpleCommand) -> bool {
    matches!(command.words[0].as_str(), "echo" | "printf" | "true" | "set" | "exit")
}

/// Returns whether a command only gives input to the one that it is piped into.
fn is_input(command: &SimpleCommand) -> bool {
    !command.is_piped && matches!(command.words[0].as_str(), "echo" | "printf" | "yes")
}

/// The code of `bash -c CODE`, also of `bash -lc CODE`.
fn shell_code<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_shell = matches!(shell::program_name(words.first()?).as_str(), "bash" | "sh" | "zsh");
    let is_code_option = |it: &&str| it.starts_with('-') && it.ends_with('c');
    let code = words.iter().position(is_code_option).filter(|_| is_shell)?;
    words.get(code + 1).copied()
}

/// Reads one simple command, `words` of which are left without wrappers.
fn read_intent(
    command: &SimpleCommand,
    words: &[&str],
    folder: &str,
    outer: &[String],
) -> CommandIntent {
    let mut assignments = [outer, &command.assignments].concat();
    let n_wrapper_words = command.words.len().saturating_sub(words.len());
    let mut launcher: Vec<String> = Vec::new();
    for word in command.words.iter().take(n_wrapper_words) {
        // `env A=1 make` assigns like `A=1 make`.
        if shell::is_assignment(word) {
            assignments.push(word.clone());
        } else if word != "env" {
            launcher.push(word.clone());
        }
    }
    let words: Vec<&str> = words.iter().copied().filter(|it| !is_redirection(it)).collect();
    let named = name_family(&words);
    launcher.extend(words.iter().take(named.n_words).map(|it| (*it).to_owned()));
    let (mut target, mut options) = sort_arguments(&words[named.n_words.min(words.len())..]);
    options.extend(named.options);
    // Two commits with other messages are the same attempt.
    if named.family == "git commit" {
        target.clear();
        options.retain(|it| !matches!(option_name(it).as_str(), "-m" | "-am" | "--message" | "-f"));
    }
    let text = display(command, &assignments, folder);
    CommandIntent {
        family: named.family,
        target,
        options,
        assignments,
        folder: folder.to_owned(),
        launcher,
        text,
        has_fallback: false,
    }
}

fn is_redirection(word: &str) -> bool {
    let bare = word.trim_start_matches(|it: char| it.is_ascii_digit() || it == '&');
    bare.starts_with('>') || bare.starts_with('<')
}

/// The command as a person would type it.
fn display(command: &SimpleCommand, assignments: &[String], folder: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    // The folder of one machine is the same for all commands there and is left out.
    if !folder.is_empty() && !folder.starts_with(['/', '~', '$']) {
        words.push(format!("cd {} &&", shell::quote_word(folder)));
    }
    words.extend(assignments.iter().map(|it| quote_assignment(it)));
    let is_own = |it: &&String| !is_redirection(it) && !assignments.contains(it);
    let own = command.words.iter().filter(is_own).map(|it| shell::quote_word(it));
    words.extend(own.skip_while(|it| it == "env"));
    let text = words.join(" ");
    if text.len() <= MAX_DISPLAY_BYTES {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_DISPLAY_BYTES)])
}

fn quote_assignment(assignment: &str) -> String {
    match assignment.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}={}", shell::quote_word(value)),
        _ => assignment.to_owned(),
    }
}

/// The family of a command, and the words that it was read from.
struct NamedFamily {
    family: String,
    /// Words before the arguments.
    n_words: usize,
    /// Options among these words.
    options: Vec<String>,
}

impl NamedFamily {
    fn new(family: impl Into<String>, n_words: usize) -> Self {
        Self { family: family.into(), n_words, options: Vec::new() }
    }
}

fn name_family(words: &[&str]) -> NamedFamily {
    let Some(first) = words.first() else { return NamedFamily::new("", 0) };
    let program = canonical_program(first);
    if let Some(named) = package_program(&program, words) {
        return named;
    }
    if tables::PACKAGE_MANAGERS.contains(&program.as_str()) {
        return manager_command(&program, words);
    }
    if program == "python" && words.get(1) == Some(&"-m") && words.len() > 2 {
        let inner = name_family(&words[2..]);
        return NamedFamily { n_words: inner.n_words + 2, ..inner };
    }
    // `uv pip install` is `pip install`.
    if program == "uv" && words.get(1) == Some(&"pip") {
        let inner = name_family(&words[1..]);
        return NamedFamily { n_words: inner.n_words + 1, ..inner };
    }
    if let Some(script) = script_name(&program, words) {
        return script;
    }
    if tables::TASK_PROGRAMS.contains(&program.as_str()) {
        // The tasks are what is to be done, wherever they stand; the options are arguments.
        let (tasks, options) = sort_arguments(&words[1..]);
        let tasks = tasks.into_iter().filter(|it| !it.contains('='));
        let family = std::iter::once(program).chain(tasks).collect::<Vec<_>>().join(" ");
        return NamedFamily { family, n_words: words.len(), options };
    }
    with_subcommand(&program, words)
}

/// The program in lower case, without its folder and version: `python` of `.venv/bin/python3.12`.
fn canonical_program(word: &str) -> String {
    let name = shell::program_name(word);
    if let Some((_, canonical)) = tables::PROGRAM_ALIASES.iter().find(|it| it.0 == name) {
        return (*canonical).to_owned();
    }
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    let has_versions = tables::INTERPRETERS.contains(&bare) || matches!(bare, "pip" | "clang");
    if has_versions { bare.to_owned() } else { name }
}

/// A program that a package runner starts: `npx --yes vitest` is `vitest`.
fn package_program(program: &str, words: &[&str]) -> Option<NamedFamily> {
    let (_, before) = tables::PACKAGE_RUNNERS
        .iter()
        .find(|(name, before)| *name == program && words[1..].starts_with(before))?;
    let (n_options, options) = skip_options(&words[1 + before.len()..]);
    let start = 1 + before.len() + n_options;
    let mut inner = name_family(words.get(start..).filter(|it| !it.is_empty())?);
    // `npx vitest@2` is `vitest`; a scoped package begins with `@`.
    if let Some((name, _)) = inner.family.rsplit_once('@').filter(|it| !it.0.is_empty()) {
        inner.family = name.to_owned();
    }
    inner.n_words += start;
    inner.options.extend(options);
    Some(inner)
}

/// Options before the first argument: the number of their words, and each with its value.
fn skip_options(words: &[&str]) -> (usize, Vec<String>) {
    let (mut n_words, mut options) = (0, Vec::new());
    while let Some(option) = words.get(n_words).filter(|it| it.starts_with('-')) {
        n_words += 1;
        match words.get(n_words) {
            Some(value) if tables::MANAGER_OPTIONS.contains(option) => {
                options.push(format!("{option} {value}"));
                n_words += 1;
            }
            _ => options.push((*option).to_owned()),
        }
    }
    (n_words, options)
}

/// A command of a package manager: a script of the project, or a subcommand of its own.
fn manager_command(program: &str, words: &[&str]) -> NamedFamily {
    let (n_options, mut options) = skip_options(&words[1..]);
    let mut rest = &words[1 + n_options..];
    let mut n_words = 1 + n_options;
    // `yarn workspace web test`
    if let ["workspace", name, more @ ..] = rest {
        options.push(format!("--workspace {name}"));
        (rest, n_words) = (more, n_words + 2);
    }
    let subcommand = rest.first().copied().unwrap_or_default();
    if matches!(subcommand, "run" | "run-script") {
        let (n_more, more) = skip_options(&rest[1..]);
        options.extend(more);
        if let Some(script) = rest.get(1 + n_more) {
            return NamedFamily {
                family: (*script).to_owned(),
                n_words: n_words + n_more + 2,
                options,
            };
        }
    }
    let family = match subcommand {
        "t" | "tst" => "test".to_owned(),
        "" | "i" | "install" | "ci" | "add" => {
            let names_package = rest.iter().skip(1).any(|it| !it.starts_with('-'));
            if names_package { "add package" } else { "install packages" }.to_owned()
        }
        it if tables::MANAGER_COMMANDS.contains(&it) => format!("{program} {it}"),
        // A script, or a program of a package.
        it => it.to_owned(),
    };
    NamedFamily { family, n_words: n_words + usize::from(!subcommand.is_empty()), options }
}

/// A script with or without its interpreter: `python tools/run.py`, `./run.sh`.
fn script_name(program: &str, words: &[&str]) -> Option<NamedFamily> {
    let base = |it: &str| it.rsplit('/').next().unwrap_or(it).to_owned();
    let is_script = |it: &str| !it.starts_with('-') && (it.contains('.') || it.contains('/'));
    if tables::INTERPRETERS.contains(&program) {
        let (n_options, options) = skip_options(&words[1..]);
        let script = words.get(1 + n_options).filter(|it| is_script(it))?;
        return Some(NamedFamily { family: base(script), n_words: n_options + 2, options });
    }
    let first = words.first()?;
    let is_path = first.starts_with("./") || first.starts_with("../");
    let has_extension = model::words::file_extension(first).is_some();
    (is_path && has_extension).then(|| NamedFamily::new(base(first), 1))
}

/// A program with its subcommand: `go test`, `git push`, `gh pr view`.
fn with_subcommand(program: &str, words: &[&str]) -> NamedFamily {
    if tables::PROGRAMS_WITHOUT_SUBCOMMAND.contains(&program) {
        return NamedFamily::new(program, 1);
    }
    let mut n_words = 1;
    let mut options = Vec::new();
    // `git -C web push`, `cargo +nightly test`, `docker --context x ps`.
    while let Some(word) = words.get(n_words).filter(|it| it.starts_with(['-', '+'])) {
        let takes_value =
            matches!((program, *word), ("git", "-C" | "-c") | (_, "--context" | "-C"));
        match words.get(n_words + 1).filter(|_| takes_value) {
            Some(value) => options.push(format!("{word} {value}")),
            None => options.push((*word).to_owned()),
        }
        n_words += 1 + usize::from(takes_value);
    }
    let n_subcommands = if tables::TWO_WORD_PROGRAMS.contains(&program) { 2 } else { 1 };
    let mut family = program.to_owned();
    for word in words.iter().skip(n_words).take(n_subcommands).take_while(|it| is_subcommand(it)) {
        let alias = tables::SUBCOMMAND_ALIASES.iter().find(|it| it.0 == program && it.1 == *word);
        family.push(' ');
        family.push_str(alias.map_or(word, |it| it.2));
        n_words += 1;
    }
    // `docker-compose up` is `docker compose up`.
    let family = family.replacen("docker-compose", "docker compose", 1);
    NamedFamily { family, n_words, options }
}

/// A subcommand is a plain word; options, paths and patterns are arguments.
fn is_subcommand(word: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | ':');
    word.starts_with(char::is_alphabetic) && word.chars().all(is_plain)
}

/// The arguments that are no options, and the options with their values.
fn sort_arguments(words: &[&str]) -> (Vec<String>, Vec<String>) {
    let (mut target, mut options) = (Vec::new(), Vec::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if *word == "--" {
            continue;
        }
        if !word.starts_with('-') || word.len() < 2 {
            target.push((*word).to_owned());
            continue;
        }
        let name = option_name(word);
        let is_listed =
            tables::SCOPE_OPTIONS.contains(&name.as_str()) || matches!(*word, "-C" | "-tags");
        // A plain word after any other long option is more often its value than a target.
        let is_long = word.starts_with("--") && !tables::OUTPUT_OPTIONS.contains(&name.as_str());
        let is_value = |it: &str| {
            let is_plain = is_long && !it.contains(['/', '.']);
            !word.contains('=') && !it.starts_with('-') && (is_listed || is_plain)
        };
        match words.next_if(|it| is_value(it)) {
            Some(value) => options.push(format!("{word} {value}")),
            None => options.push((*word).to_owned()),
        }
    }
    (target, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write as _;

    /// Checks the intents of a line: `FAMILY [TARGET] {OPTIONS} (ASSIGNMENTS) in FOLDER = TEXT`.
    fn check(line: &str, expect: Expect) {
        let show = |it: &CommandIntent| {
            let mut acc = it.family.clone();
            for (list, open, close) in
                [(&it.target, '[', ']'), (&it.options, '{', '}'), (&it.assignments, '(', ')')]
            {
                if !list.is_empty() {
                    let _ = write!(acc, " {open}{}{close}", list.join(" "));
                }
            }
            if !it.folder.is_empty() {
                let _ = write!(acc, " in {}", it.folder);
            }
            format!("{acc} = {}", it.text)
        };
        let intents: Vec<String> = CommandIntent::of_line(line).iter().map(show).collect();
        expect.assert_eq(&intents.join("\n"));
    }

    /// Checks that all lines have one family.
    fn check_family(family: &str, lines: &[&str]) {
        for line in lines {
            assert_eq!(command_family(line), family, "{line}");
        }
    }

    #[test]
    fn the_family_is_the_same_through_wrappers_and_package_managers() {
        check_family(
            "vitest",
            &[
                "vitest run src/a.test.ts",
                "npx vitest",
                "CI=1 pnpm exec vitest run 2>&1 | tail -20",
                "bunx --bun vitest@2 run",
                "cd web && timeout 60 yarn vitest",
                "bash -lc 'cd web && npx vitest run'",
                "./node_modules/.bin/vitest",
            ],
        );
        check_family(
            "test",
            &[
                "npm test",
                "npm run test",
                "bun run test",
                "yarn test",
                "pnpm --filter web test",
                "npm t",
            ],
        );
        check_family(
            "pytest",
            &[
                "pytest -q",
                "python -m pytest",
                "python3.12 -m pytest tests",
                "uv run pytest",
                "poetry run pytest -k x",
                "sudo -n env A=1 pytest",
            ],
        );
        check_family(
            "run.py",
            &["python tools/run.py", "python3 tools/run.py --x", "./tools/run.py"],
        );
        check_family(
            "install packages",
            &["npm ci", "pnpm i", "yarn", "bun install --frozen-lockfile"],
        );
        check_family(
            "pip install",
            &["pip install x", "pip3 install x", "python -m pip install x", "uv pip install x"],
        );
        check_family("git push", &["git push", "git -C web push -u origin main"]);
        check_family("docker compose up", &["docker compose up -d", "docker-compose up"]);
        // The project decides what these run.
        check_family("make test", &["make test", "make -C web test"]);
        check_family("mise run lint", &["mise run lint"]);
        check_family("cargo test", &["cargo t", "cargo +nightly test -p x"]);
    }

    #[test]
    fn what_the_family_leaves_out_is_kept() {
        check(
            "cd web && DATABASE_URL=x npx vitest run -t 'adds one' src/a.test.ts 2>&1 | tail -5",
            expect![[r"
                vitest [run src/a.test.ts] {-t adds one} (DATABASE_URL=x) in web = cd web && DATABASE_URL=x npx vitest run -t 'adds one' src/a.test.ts"]],
        );
        check(
            "npm ci && npm run build && env CI=1 npm test -- --run",
            expect![[r"
                install packages = npm ci
                build = npm run build
                test {--run} (CI=1) = CI=1 npm test -- --run"]],
        );
        check("npm test || true", expect!["test = npm test"]);
        assert!(CommandIntent::main_of_line("npm test || true").unwrap().has_fallback);
        check("cd /home/me/p && git status", expect!["git status in /home/me/p = git status"]);
        check("", expect![""]);
    }
}
