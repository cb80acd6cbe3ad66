//! Effects of a shell command: reads, searches, tests, fetches, commits.
//!
//! Agents do much of their work in a shell, so a command counts like a call of the matching tool. The
//! table also decides which commands bring in external text.

mod command_split;
mod effect_table;

pub use command_split::{SimpleCommand, split_commands};

/// The longest normalised command, in bytes.
const MAX_COMMAND_BYTES: usize = 200;
/// The longest essential command, in bytes: it is quoted in a memory.
const MAX_ESSENTIAL_BYTES: usize = 160;

/// Programs that only run another one.
const WRAPPER_PROGRAMS: &[&str] =
    &["sudo", "time", "env", "nice", "nohup", "command", "exec", "timeout", "xargs"];

/// An effect of one simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellEffect {
    Read(String),
    Edit(String),
    Search(String),
    List(String),
    /// Runs tests.
    Test,
    /// Builds, lints, formats or checks types.
    Check,
    Commit,
    /// Reads or reviews a pull request.
    Review,
    /// Brings in text from outside the project.
    Fetch,
    /// Reverts edits of a path.
    Restore(String),
    Other,
}

/// The effects of a command line, in order.
pub fn find_effects(command: &str) -> Vec<ShellEffect> {
    let mut acc = Vec::new();
    for simple in split_commands(command) {
        let words = strip_wrappers(&simple.words);
        if !words.is_empty() {
            effect_table::add_effects(&mut acc, &words, simple.is_piped);
        }
    }
    acc
}

/// The words of the command that a wrapper runs.
fn strip_wrappers(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while words.first().is_some_and(|it| WRAPPER_PROGRAMS.contains(it)) && words.len() > 1 {
        words.remove(0);
        // Options, assignments and the duration of `timeout` belong to the wrapper.
        while words.first().is_some_and(|it| {
            it.starts_with('-')
                || it.contains('=')
                || it.bytes().all(|b| b.is_ascii_digit() || b == b's')
        }) {
            words.remove(0);
        }
    }
    words
}

/// Returns whether the output of tests or checks reports a failure, whatever the exit code was.
pub fn reports_failure(output: &str) -> bool {
    const FAILURE_PREFIXES: &[&str] = &[
        "FAIL\t",
        "FAIL:",
        "--- FAIL",
        "FAIL ",
        "FAILED ",
        "error: test failed",
        "test result: FAILED",
        "ERROR task failed",
        "error: could not compile",
        "npm ERR!",
        "ELIFECYCLE",
        "BUILD FAILED",
        "make: ***",
    ];
    output.lines().any(|line| {
        let line = line.trim_start();
        // Some runners put their own name in brackets before each line.
        let line =
            line.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(line, |it| it.1);
        line == "FAIL" || FAILURE_PREFIXES.iter().any(|it| line.starts_with(it))
    })
}

/// The command on one line: runs of blanks become one, the end is cut.
pub fn normalise_command(command: &str) -> String {
    let folded = command.split_whitespace().collect::<Vec<_>>().join(" ");
    folded[..folded.floor_char_boundary(MAX_COMMAND_BYTES)].to_owned()
}

/// The program and its subcommand: `mise run`, `go test`, `cat`. A leading `cd` is skipped.
pub fn command_head(command: &str) -> String {
    let simples = split_commands(command);
    let main = simples.iter().find(|it| it.words[0] != "cd").or(simples.first());
    let Some(words) = main.map(|it| &it.words) else { return String::new() };
    let is_word = |it: &&String| {
        it.chars().next().is_some_and(char::is_alphabetic)
            && it.chars().all(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | ':'))
    };
    // `git -C web commit` is `git commit`.
    let rest = &words[1..];
    let rest = if words[0] == "git" { effect_table::skip_git_options(rest) } else { rest };
    match rest.first().filter(is_word) {
        Some(second) => format!("{} {second}", words[0]),
        None => words[0].clone(),
    }
}

/// The command as a person would type it: without a leading `cd` and without pipes that only shorten
/// the output.
pub fn essential_command(command: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for simple in split_commands(command) {
        let first = simple.words[0].as_str();
        let shortens_output = simple.is_piped
            && matches!(first, "head" | "tail" | "grep" | "cat" | "less" | "wc" | "sort");
        if shortens_output || first == "cd" || (first == "echo" && !simple.is_piped) {
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

/// The splitter removed the quotes; words that need some get them back.
fn quote_word(word: &str) -> String {
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

    fn check(command: &str, expect: Expect) {
        let effects: Vec<String> =
            find_effects(command).iter().map(|it| format!("{it:?}")).collect();
        expect.assert_eq(&effects.join(" "));
    }

    #[test]
    fn commands_are_recognised() {
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
        assert_eq!(command_head("git -C web -c a.b=c commit -qam x"), "git commit");
        check("gh pr view 12 --comments", expect!["Review Fetch"]);
        check("curl -s https://example.com | sh", expect!["Fetch Other"]);
        check("git checkout -- src/a.rs", expect![[r#"Restore("src/a.rs")"#]]);
        check("git checkout main", expect!["Other"]);
        check("git stash", expect!["Other"]);
        check("echo await test", expect!["Other"]);
    }

    #[test]
    fn a_failure_behind_a_pipe_is_recognised() {
        assert!(reports_failure("ok  pkg/a\n--- FAIL: TestX (0.00s)\nFAIL\tpkg/b"));
        assert!(reports_failure("[test] ERROR task failed"));
        assert!(!reports_failure("0 failed, 12 passed\nok  failing_test.go\nFAILURES: 0"));
    }

    #[test]
    fn a_command_has_a_head_and_an_essential_form() {
        assert_eq!(command_head("cd x && mise run lint 2>&1"), "mise run");
        assert_eq!(command_head("go test ./..."), "go test");
        assert_eq!(command_head("cat a.rs"), "cat");
        assert_eq!(command_head("./run.sh -x"), "./run.sh");
        assert_eq!(
            essential_command("cd /p && go test -run 'A|B' ./... 2>&1 | tail -40"),
            "go test -run 'A|B' ./..."
        );
    }
}
