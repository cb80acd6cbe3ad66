//! Errors by what they are, not by where and when: the same failure on two machines has one fingerprint.

/// An error as it is recognised and shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of the class and the message with everything accidental taken out.
    pub fingerprint: String,
    /// The message with everything accidental taken out.
    pub message: String,
    /// The telling line as it stood, for people.
    pub shown: String,
}

/// Lines that come with every run and tell nothing, by their beginning.
#[rustfmt::skip]
const NOISE: &[&str] = &[
    "exit code", "=== run", "=== pause", "=== cont", "--- pass", "ok ", "ok\t", "pass", "> ", "$ ", "?   ", "running ", "compiling ", "finished ", "downloading ", "checking ",
    "total", "note:", "warning:", "chunk id", "# ", "wall time", "[lint] $", "[fmt] $", "[test] $", "[build] $", "process exited", "npm warn", "debug", "info",
];

/// Words of lines that say what went wrong, in lower case.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "error", "fail", "panic", "fatal", "undefined", "cannot", "can't", "could not", "couldn't", "not found", "no such", "denied", "exception", "invalid", "unexpected", "missing",
    "mismatch", "unable", "not enough", "too many", "unknown", "conflict", "refused", "unused", "expected", "has not been", "is not", "must", "no matching", "timed out", "timeout", "not a ", "did not",
];

/// Lines that say only that something failed; one that says what is wanted first.
const GENERIC: &[&str] = &[
    "fail",
    "--- fail",
    "error task failed",
    "make: ***",
    "npm err! code",
    "elifecycle",
    "error: test failed",
];

/// Phrases that look like trouble and are none.
const HARMLESS: &[&str] = &[
    "0 errors",
    "0 error",
    "no errors",
    "0 failed",
    "0 failures",
    "no failures",
    "error_test",
    "errors.go",
    "without error",
];

/// Whether a message says only that something failed.
pub fn is_generic(shown: &str) -> bool {
    let lower = shown.to_ascii_lowercase();
    let bare =
        lower.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(&*lower, |it| it.1);
    GENERIC.iter().any(|it| bare.starts_with(it))
}

/// The failure in what a tool answered; `None` when it says nothing but that it failed, as a search
/// without a match does.
pub fn failure(class: &str, answer: &str) -> Option<Failure> {
    let shown = telling_line(answer)?;
    // A line of megabytes is told by its beginning.
    let shown = &shown[..shown.floor_char_boundary(model::MAX_EXCERPT)];
    let message = normalised(shown);
    if message.len() < 4 {
        return None;
    }
    let fingerprint = model::fingerprint(&format!("{class}\n{message}"));
    Some(Failure { fingerprint, message, shown: readable(shown) })
}

fn telling_line(answer: &str) -> Option<&str> {
    let mut first = None;
    for line in answer.lines().take(200) {
        let line = line
            .trim()
            .trim_start_matches("<tool_use_error>")
            .trim_end_matches("</tool_use_error>");
        let head = line[..line.floor_char_boundary(400)].to_ascii_lowercase();
        let echoes = head.starts_with('[') && head.contains("] $ ");
        if line.len() < 4 || echoes || NOISE.iter().any(|it| head.starts_with(it)) {
            continue;
        }
        let bare =
            head.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(&*head, |it| it.1);
        let generic = GENERIC.iter().any(|it| bare.starts_with(it));
        let harmless = HARMLESS.iter().any(|it| head.contains(it));
        if !harmless && !generic && TELLING.iter().any(|it| head.contains(it)) {
            return Some(line);
        }
        if !harmless && line.chars().any(char::is_alphabetic) {
            first = first.or(Some(line));
        }
    }
    first
}

/// The line for people: folders of one machine taken off, positions left out, cut.
fn readable(line: &str) -> String {
    let word = |it: &str| {
        let bare = it.trim_start_matches(['(', '"', '\'', '`']);
        let is_machine = bare.starts_with('/') && bare.matches('/').count() > 2;
        if is_machine { it.rsplit('/').next().unwrap_or(it).to_owned() } else { it.to_owned() }
    };
    let words: Vec<String> = without_position(line).split_whitespace().map(word).collect();
    model::clean_label(&words.join(" "), 180)
}

/// `cmd/a.go:221:3: error …` → `error …`: where it stood is different every time.
fn without_position(line: &str) -> &str {
    let Some((place, rest)) = line.split_once(": ") else { return line };
    let numbered =
        place.rsplit(':').next().is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let named = !place.contains(' ') && place.contains('.');
    if numbered && named && rest.len() > 8 { rest } else { line }
}

/// A message without paths, positions, addresses, versions, moments, hashes, ports and quoted values.
pub fn normalised(line: &str) -> String {
    let line = &line[..line.floor_char_boundary(400)];
    let mut acc = String::new();
    for word in without_quoted(line).split_whitespace() {
        if !acc.is_empty() {
            acc.push(' ');
        }
        acc.push_str(&plain_word(word));
    }
    acc.to_lowercase()
}

/// Quoted values become `<v>`; an apostrophe inside a word quotes nothing.
fn without_quoted(line: &str) -> String {
    let mut acc = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`', '“']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        let inside_word = rest[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = &rest[at + quote.len_utf8()..];
        let close = if quote == '“' { '”' } else { quote };
        // A closing quote far away, or none, closes nothing; the search is bounded so that it stays linear.
        let window = &after[..after.floor_char_boundary(160)];
        if let Some(end) = window.find(close).filter(|_| !inside_word) {
            acc.push_str(&rest[..at]);
            acc.push_str("<v>");
            rest = &after[end + close.len_utf8()..];
        } else {
            acc.push_str(&rest[..at + quote.len_utf8()]);
            rest = after;
        }
    }
    acc + rest
}

fn plain_word(word: &str) -> String {
    let bare = word.trim_matches(|it: char| {
        !it.is_alphanumeric() && !matches!(it, '/' | '.' | '~' | '<' | '>')
    });
    if bare.contains("://") {
        return "<url>".to_owned();
    }
    let is_file = model::words::extension(bare.split(':').next().unwrap_or(bare)).is_some();
    if (bare.contains('/') && bare.len() > 2 && !bare.starts_with('<'))
        || is_file
        || bare.starts_with("~/")
    {
        return "<path>".to_owned();
    }
    let hex = bare.len() >= 7 && bare.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if (hex && bare.bytes().any(|it| it.is_ascii_digit())) || bare.starts_with("0x") {
        return "<id>".to_owned();
    }
    if !bare.bytes().any(|it| it.is_ascii_digit()) {
        return word.to_owned();
    }
    // Digits anywhere else: counts, ports, versions, durations, temporary names.
    let mut acc = String::new();
    for it in word.chars() {
        match it {
            '0'..='9' if acc.ends_with('#') => {}
            '0'..='9' => acc.push('#'),
            '.' | ':' | '-' | 'T' if acc.ends_with('#') && bare.len() > 4 => {}
            it => acc.push(it),
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(answer: &str, expect: Expect) {
        let res = failure("shell", answer);
        expect
            .assert_eq(&res.map_or("–".to_owned(), |it| format!("{} | {}", it.message, it.shown)));
    }

    #[test]
    fn the_telling_line_is_found_and_cleaned() {
        check(
            "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/a.go:221:3: error is not nil (line 219) but it returns nil (nilerr)",
            expect![
                "<path> error is not nil (line #) but it returns nil (nilerr) | error is not nil (line 219) but it returns nil (nilerr)"
            ],
        );
        check("Exit code 1", expect!["–"]);
        check("Exit code 1\n12 passed, 0 failed", expect!["–"]);
        check(
            "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
            expect![
                "file has not been read yet. read it first. | File has not been read yet. Read it first."
            ],
        );
        check(
            "bash: foo: command not found",
            expect!["bash: foo: command not found | bash: foo: command not found"],
        );
    }

    #[test]
    fn the_same_failure_on_two_machines_is_one() {
        let one = failure(
            "shell",
            "2026-01-05T13:29:29Z error: cannot open '/home/user/a/x.rs' at 0x7ffe12 port 8080, v1.2.3 (tmp.Xa12f) 550e8400-e29b-41d4-a716-446655440000",
        );
        let two = failure(
            "shell",
            "2025-11-30T01:02:03Z error: cannot open '/Users/me/b/y.rs' at 0x1234ab port 31337, v10.0.12 (tmp.Xa99f) 123e4567-e89b-12d3-a456-426614174000",
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.message, two.message);
        assert_eq!(one.fingerprint, two.fingerprint);
        let other = failure("shell", "error: cannot write '/x/y.rs'").unwrap();
        assert_ne!(one.fingerprint, other.fingerprint);
    }

    proptest! {
        #[test]
        fn any_answer_is_read(answer in "(\\PC|[\"'`\n ]){0,400}") {
            let _ = failure("x", &answer);
        }
    }
}
