//! Effects of a shell command: reads, searches, tests, fetches, commits.
//!
//! Agents do much of their work in a shell, so the log of a session counts `cat a.rs` like a call of the
//! read tool. A command line is first split into simple commands ([`split_commands`]); a table then maps
//! each program and subcommand to its effects (`effect_table`):
//! `cat a.rs | head && go test ./...` → `Read("a.rs")`, `Test`. `network_reach` decides which lines bring in
//! text from outside the project.
//!
//! The rest of this file brings command lines into three forms. Of `cd /p && go test -v ./... 2>&1 | tail`:
//!
//! - [`command_head`], by which commands are compared: `go test`;
//! - [`essential_command`], which a memory quotes: `go test -v ./...`;
//! - [`normalise_command`], which is logged: all of it, with single blanks.

mod command_split;
mod effect_table;
mod network_reach;
mod network_table;

use model::ContentChannel;
use network_table::WRAPPERS;

pub(crate) use command_split::is_assignment;
pub use command_split::{SimpleCommand, split_commands};
pub use network_reach::echoed_channel;

/// The longest normalised command, in bytes. Its start identifies it; a prefix of assignments and folders
/// must leave room for the command itself.
const MAX_COMMAND_BYTES: usize = 400;
/// The longest essential command, in bytes: it is quoted in a memory.
const MAX_ESSENTIAL_BYTES: usize = 160;

/// An effect of one simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellEffect {
    /// Reads the file at a path.
    Read(String),
    /// Edits the file at a path.
    Edit(String),
    /// Searches for a pattern.
    Search(String),
    /// Lists the files of a pattern or folder.
    List(String),
    /// Runs tests.
    Test,
    /// Builds, lints, formats or checks types.
    Check,
    Commit,
    /// Reads or reviews a pull request.
    Review,
    /// Brings in text from outside the project through a channel.
    Fetch(ContentChannel),
    /// Reverts edits of a path.
    Restore(String),
    /// Nothing that learning is interested in.
    Other,
}

/// The effects of a command line, in order; a fetch comes last.
pub fn find_effects(command: &str) -> Vec<ShellEffect> {
    let mut acc = Vec::new();
    for simple in split_commands(command) {
        let words = strip_wrappers(&simple.words);
        if !words.is_empty() {
            effect_table::add_effects(&mut acc, &words, simple.is_piped);
        }
    }
    acc.extend(network_reach::find_channel(command).map(ShellEffect::Fetch));
    acc
}

/// Returns whether a command runs scripts that the project defines (`npm run docs`, `make docs`). Such
/// programs print the commands they run.
pub fn is_script_runner(command: &str) -> bool {
    const SCRIPT_RUNNERS: &[&str] =
        &["npm", "pnpm", "yarn", "bun", "make", "gmake", "just", "task", "rake"];
    split_commands(command).iter().any(|it| {
        let words = strip_wrappers(&it.words);
        words.first().is_some_and(|it| SCRIPT_RUNNERS.contains(&program_name(it).as_str()))
    })
}

/// The name of a program in lower case, without its folder: `curl` of `/usr/bin/curl` and `curl.exe`.
pub(crate) fn program_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

/// The words of the command that a wrapper runs. Wrappers can be nested: `sudo timeout 60 make`. A wrapper
/// without a command is itself the program.
pub(crate) fn strip_wrappers(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `docker compose exec web …` is `docker exec web …`.
    if matches!(words[..], ["docker" | "podman", "compose", ..]) {
        words.remove(1);
    }
    while let Some(inner) = wrapped_words(&words) {
        words = inner.to_vec();
    }
    words
}

fn wrapped_words<'a, 'b>(words: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let (program, args) = words.split_first()?;
    // `command -v make` only looks for the program.
    if *program == "command" && args.first().is_some_and(|it| it.eq_ignore_ascii_case("-v")) {
        return None;
    }
    let program = program_name(program);
    let wrapper = WRAPPERS.iter().find(|it| {
        let is_named = it.subcommand.is_empty() || args.first() == Some(&it.subcommand);
        it.program == program && is_named
    })?;
    let mut rest = &args[usize::from(!wrapper.subcommand.is_empty())..];
    let mut n_arguments = wrapper.n_arguments;
    // Options and assignments (`env A=1`) precede the command.
    while let [word, more @ ..] = rest {
        rest = match *word {
            "--" => more,
            option if wrapper.options_with_value.contains(&option) => {
                more.get(1..).unwrap_or_default()
            }
            option if option.starts_with('-') => more,
            assignment if assignment.contains('=') && !assignment.contains(' ') => more,
            _ if n_arguments > 0 => {
                n_arguments -= 1;
                more
            }
            _ => break,
        };
    }
    (!rest.is_empty()).then_some(rest)
}

/// The command truncated, with single blanks. Line ends stay: they separate commands.
pub fn normalise_command(command: &str) -> String {
    let lines = command.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let folded = lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n");
    folded[..folded.floor_char_boundary(MAX_COMMAND_BYTES)].to_owned()
}

/// The program and its subcommand: `mise run`, `go test`, `cat`. A leading `cd` is skipped.
pub fn command_head(command: &str) -> String {
    let commands = split_commands(command);
    let main = commands.iter().find(|it| it.words[0] != "cd").or(commands.first());
    let Some(words) = main.map(|it| &it.words) else { return String::new() };
    let (program, args) = (&words[0], &words[1..]);
    // A subcommand is a plain word; options, paths and patterns are arguments.
    let is_subcommand = |it: &&String| {
        it.starts_with(char::is_alphabetic)
            && it.chars().all(|char| char.is_alphanumeric() || matches!(char, '-' | '_' | ':'))
    };
    // `git -C web commit` is `git commit`.
    let args = if program == "git" { effect_table::skip_git_options(args) } else { args };
    match args.first().filter(is_subcommand) {
        Some(subcommand) => format!("{program} {subcommand}"),
        None => program.clone(),
    }
}

/// The command as a person would type it: without a leading `cd` and without pipes that only shorten
/// the output.
pub fn essential_command(command: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for simple in split_commands(command) {
        let program = simple.words[0].as_str();
        let shortens_output = simple.is_piped
            && matches!(program, "head" | "tail" | "grep" | "cat" | "less" | "wc" | "sort");
        // An `echo` that begins a command only prints a heading between two outputs.
        let is_heading = program == "echo" && !simple.is_piped;
        if shortens_output || program == "cd" || is_heading {
            continue;
        }
        // Redirections of errors only tidy the output.
        let words = simple.words.iter().filter(|it| !matches!(it.as_str(), "2>&1" | "2>/dev/null"));
        let words: Vec<String> = words.map(|it| quote_word(it)).collect();
        if !parts.is_empty() {
            parts.push(if simple.is_piped { " | " } else { " && " }.to_owned());
        }
        parts.push(words.join(" "));
    }
    let command = parts.concat();
    command[..command.floor_char_boundary(MAX_ESSENTIAL_BYTES)].to_owned()
}

/// The word with quotes if it needs them. [`split_commands`] removed the original ones.
pub(crate) fn quote_word(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:=@%+,~^*?[]!$<>".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.contains('\'') { format!("\"{word}\"") } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the effects of a command line, in order, as `Variant("argument")`.
    fn check(command: &str, expect: Expect) {
        let effects: Vec<String> =
            find_effects(command).iter().map(|it| format!("{it:?}")).collect();
        expect.assert_eq(&effects.join(" "));
    }

    #[test]
    fn a_command_line_has_the_effects_of_its_commands() {
        check("sed -n '1,240p' src/a.rs", expect![[r#"Read("src/a.rs")"#]]);
        check("cat a.rs b.rs | head -20", expect![[r#"Read("a.rs") Read("b.rs")"#]]);
        check(
            "cd web && rg -n --type ts 'fn \\w+' src | head",
            expect![[r#"Other Search("fn \\w+")"#]],
        );
        check("grep -rn -e total src/", expect![[r#"Search("total")"#]]);
        check("git log | grep fix", expect!["Other"]);
        check("find . -name '*.go'", expect![[r#"List("*.go")"#]]);
        check("sed -i 's/a/b/' x.rs", expect![[r#"Edit("x.rs")"#]]);
        check("mise run test:ci 2>&1 | tail -50", expect!["Test"]);
        check("npm run lint && go vet ./...", expect!["Check Check"]);
        check("FOO=1 timeout 60 python -m pytest -q", expect!["Test"]);
        check("git add -A && git commit -m 'x'", expect!["Other Commit"]);
        check("git -C web -c user.name=a --no-pager commit -qam x", expect!["Commit"]);
        check("gh pr view 12 --comments", expect!["Review Fetch(Shell)"]);
        check("curl -s https://example.com | sh", expect!["Other Other Fetch(Shell)"]);
        check("git checkout -- src/a.rs", expect![[r#"Restore("src/a.rs")"#]]);
        check("git checkout main", expect!["Other"]);
        check("git stash", expect!["Other"]);
        check("echo await test", expect!["Other"]);
    }

    #[test]
    fn a_command_has_a_head_and_an_essential_form() {
        assert_eq!(command_head("cd x && mise run lint 2>&1"), "mise run");
        assert_eq!(command_head("go test ./..."), "go test");
        assert_eq!(command_head("cat a.rs"), "cat");
        assert_eq!(command_head("./run.sh -x"), "./run.sh");
        assert_eq!(command_head("git -C web -c a.b=c commit -qam x"), "git commit");
        assert_eq!(
            essential_command("cd /p && go test -run 'A|B' ./... 2>&1 | tail -40"),
            "go test -run 'A|B' ./..."
        );
    }
}
