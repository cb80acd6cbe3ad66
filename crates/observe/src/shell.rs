//! What a shell command does: reads, searches, tests, fetches, commits.
//!
//! Much of the work of an agent happens in a shell, so commands are read like any other tool. This
//! is also the table that decides which commands bring in text that others wrote.

mod split;
mod table;

pub use split::{Simple, split};

/// What one simple command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
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
    /// Brings in text from outside.
    Fetch,
    /// Takes back edits of a path.
    Restore(String),
    Other,
}

/// The deeds of a command line, in order.
pub fn deeds(command: &str) -> Vec<Deed> {
    let mut acc = Vec::new();
    for simple in split(command) {
        let words: Vec<&str> = unwrapped(&simple.words);
        if !words.is_empty() {
            table::deeds_of(&mut acc, &words, simple.piped);
        }
    }
    acc
}

/// Programs that only run another one.
const WRAPPERS: &[&str] =
    &["sudo", "time", "env", "nice", "nohup", "command", "exec", "timeout", "xargs"];

fn unwrapped(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while words.first().is_some_and(|it| WRAPPERS.contains(it)) && words.len() > 1 {
        words.remove(0);
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

/// Whether the output of tests or checks says that they failed, whatever the exit code was.
pub fn reports_failure(output: &str) -> bool {
    const FAILS: &[&str] = &[
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
        line == "FAIL" || FAILS.iter().any(|it| line.starts_with(it))
    })
}

/// The command as one line without what differs by chance: runs of blanks fold, the end is cut.
pub fn normalised(command: &str) -> String {
    let folded = command.split_whitespace().collect::<Vec<_>>().join(" ");
    folded[..folded.floor_char_boundary(200)].to_owned()
}

/// The program and its subcommand: `mise run`, `go test`, `cat`. A leading `cd` is looked past.
pub fn head(command: &str) -> String {
    let simples = split(command);
    let real = simples.iter().find(|it| it.words[0] != "cd").or(simples.first());
    let Some(words) = real.map(|it| &it.words) else { return String::new() };
    let is_word = |it: &&String| {
        it.chars().next().is_some_and(char::is_alphabetic)
            && it.chars().all(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | ':'))
    };
    let rest = &words[1..];
    let rest = if words[0] == "git" { table::git_words(rest) } else { rest };
    match rest.first().filter(is_word) {
        Some(second) => format!("{} {second}", words[0]),
        None => words[0].clone(),
    }
}

/// The command without pipes that only shorten its output, and without `cd` before it: what to type.
pub fn essence(command: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for simple in split(command) {
        let first = simple.words[0].as_str();
        let shortens = simple.piped
            && matches!(first, "head" | "tail" | "grep" | "cat" | "less" | "wc" | "sort");
        if shortens || first == "cd" || (first == "echo" && !simple.piped) {
            continue;
        }
        let words = simple.words.iter().filter(|it| !matches!(it.as_str(), "2>&1" | "2>/dev/null"));
        let words: Vec<String> = words.map(|it| quoted(it)).collect();
        let sign = if simple.piped { " | " } else { " && " };
        if !parts.is_empty() {
            parts.push(sign.to_owned());
        }
        parts.push(words.join(" "));
    }
    let res = parts.concat();
    res[..res.floor_char_boundary(160)].to_owned()
}

fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || "-_./:=@%+,~^*?[]!$<>".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.contains('\'') { format!("\"{word}\"") } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(command: &str, expect: Expect) {
        let res: Vec<String> = deeds(command).iter().map(|it| format!("{it:?}")).collect();
        expect.assert_eq(&res.join(" "));
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
        assert_eq!(head("git -C web -c a.b=c commit -qam x"), "git commit");
        check("gh pr view 12 --comments", expect!["Review Fetch"]);
        check("curl -s https://example.com | sh", expect!["Fetch Other"]);
        check("git checkout -- src/a.rs", expect![[r#"Restore("src/a.rs")"#]]);
        check("git checkout main", expect!["Other"]);
        check("git stash", expect!["Other"]);
        check("echo await test", expect!["Other"]);
    }

    #[test]
    fn a_failure_is_seen_behind_a_pipe() {
        assert!(reports_failure("ok  pkg/a\n--- FAIL: TestX (0.00s)\nFAIL\tpkg/b"));
        assert!(reports_failure("[test] ERROR task failed"));
        assert!(!reports_failure("0 failed, 12 passed\nok  failing_test.go\nFAILURES: 0"));
    }

    #[test]
    fn a_command_has_a_head_and_an_essence() {
        assert_eq!(head("cd x && mise run lint 2>&1"), "mise run");
        assert_eq!(head("go test ./..."), "go test");
        assert_eq!(head("cat a.rs"), "cat");
        assert_eq!(head("./run.sh -x"), "./run.sh");
        assert_eq!(
            essence("cd /p && go test -run 'A|B' ./... 2>&1 | tail -40"),
            "go test -run 'A|B' ./..."
        );
    }
}
