//! Classifies a message by its shape: the kind of error, and the subject it is about.
//!
//! Many tools word the same error in the same way, so the table is shared by all families. Of
//! `Error: Cannot find module 'zod'` the kind is a missing module and the subject `zod`.
//!
//! A shape is a text in lower case in which `'` stands for any quote, `#` for digits, `*` for anything, and
//! the braces for the subject: `{}` reaches to the text after it, `{W}` is a word, `{U}` a word in upper case,
//! and `{V}` one with an underscore, as most variables have.

use super::error_kind::ErrorKind;

/// The longest subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 120;
/// Places of a message that are tried for one shape.
const MAX_PLACES: usize = 8;

/// Shapes by kind. The first that matches decides, so that special wordings come before general ones.
#[rustfmt::skip]
const SHAPES: &[(ErrorKind, &[&str])] = &[
    (ErrorKind::NotRun, &[
        "file has not been read yet", "has been modified since read", "string to replace not found", "matches of the string to replace",
        "old_string and new_string are", "old_string not found", "failed to find context", "failed to find expected lines", "did not match any lines",
        "no test files found", "no tests found", "no test suite found", "no tests ran", "no files matching the pattern", "no input files",
        "patch does not apply", "patch failed: ", "nothing to commit", "no tests to run", "build constraints exclude all", "collected 0 items", "0 passing",
    ]),
    (ErrorKind::MissingCommand, &[
        "command not found: {W}", "{W}: command not found", ": #: {W}: not found", "sh: {W}: not found", "'{}' is not recognized as",
        "exec: '{}': executable file not found", "exec: '{}'", "spawn {W} enoent", "failed to spawn: '{}'", "command '{}' not found", "command '{}' could not be found", "no such command: '{}'",
        "env: '{}': no such file", "env: {W}: no such file", "make: {W}: no such file", "could not determine executable to run", "unable to find command {W}",
    ]),
    (ErrorKind::MissingVariable, &[
        "{U}: unbound variable", "{U}: parameter not set", "{U}: parameter null or not set", "environment variable not found: {U}",
        "environment variable {U}", "environment variable '{U}'", "environment variable: {U}", "environment variable: '{U}'", "environment variable(s): {U}",
        "environment variables: {U}", "environment variables {U}", "env var {U}", "env var: {U}", "env var '{U}'", "{U} environment variable", "'{U}' environment variable", "{U} env var",
        "{V} is not set", "'{V}' is not set", "{V} not set", "'{V}' variable is not set", "{V} must be set", "{V} is required", "{V} is missing", "{V} is not defined",
        "'{V}' is required", "{V} is undefined", "{V} must be provided", "{V} must be defined", "{V} should be set", "{V} not found in env", "{V}: required", "{V}: [ 'required'", "missing {V}", "missing required {V}",
        "missing: {V}", "missing env: {V}", "please set {V}", "please provide {V}", "environment variable not found",
    ]),
    (ErrorKind::MissingModule, &[
        "cannot find module '{}'", "cannot find package '{}'", "no module named '{}'", "no module named {W}", "cannot import name '{}'", "failed to resolve import '{}'",
        "failed to load url {W}", "failed to resolve entry for package '{}'", "can't resolve '{}'", "could not resolve '{}'", "unable to resolve module {W}", "unresolved import '{}'",
        "unresolved module or unlinked crate '{}'", "can't find crate for '{}'", "no required module provides package {W}", "package {W} is not in ", "cannot find package {W}",
        "package {W} does not exist", "cannot load such file -- {W}", "no such module '{}'", "no matching package named '{}' found", "fatal error: '{}' file not found", "fatal error: {W}: no such file",
        "missing go.sum entry for module providing package {W}", "class '{}' not found", "no matching distribution found for {W}",
        "satisfies the requirement {W}", "declaration file for module '{}'", "library stub for module named '{}'", "library stubs not installed for '{}'", "import '{}' could not be resolved", "could not find gem '{}'",
    ]),
    (ErrorKind::UsageError, &[
        "missing script: '{}'", "missing script: {W}", "missing script {W}", "script not found '{}'", "couldn't find a script named '{}'", "unknown option '{}'", "unknown option: '{}'",
        "unknown option: {W}", "unknown option {W}", "unknown options '{}'", "unknown flag: {W}", "unknown flag '{}'", "unknown shorthand flag: '{}'", "unknown command '{}'", "unknown command: '{}'", "unknown command: {W}",
        "unrecognized arguments: {W}", "unrecognized option '{}'", "unrecognized option: {W}", "unrecognized argument: {W}", "unknown compiler option '{}'", "unrecognized cli parameter", "unrecognised option '{}'", "unexpected argument '{}'",
        "invalid option -- '{}'", "illegal option -- {W}", "invalid option: {W}", "invalid option {W}", "no such option: {W}", "bad option: {W}", "unrecognized subcommand '{}'",
        "unknown argument: '{}'", "unknown argument: {W}", "unknown argument '{}'", "unknown arguments: {W}", "flag provided but not defined: {W}", "flag needs an argument: {W}", "missing required argument '{}'", "missing required argument",
        "the following required arguments were not provided", "the following arguments are required: {W}", "'{}' is not a git command", "no rule to make target '{}'",
        "justfile does not contain recipe '{}'", "task '{}' does not exist", "no task '{}' found", "no task {W} found", "task not found: {W}", "unknown json field: '{}'", "accepts # arg", "accepts at most # arg",
        "requires at least # arg", "requires exactly # arg", "unknown revision or path", "pathspec '{}' did not match", "invalid choice: '{}'", "invalid value '*' for '{}'", "a value is required for '{}'",
        "no upstream branch", "no such remote", "no configured push destination", "unknown switch '{}'", "unknown subcommand: {W}", "unknown subcommand '{}'", "no such service: {W}", "requires an argument", "is not a valid command", "no such command '{}'", "requires the features: '{}'",
        "no such target: {W}", "target '{}' not found", "no test target named '{}'", "no bin target named '{}'", "no example target named '{}'", "package id specification '{}' did not match",
    ]),
    (ErrorKind::Conflict, &[
        "merge conflict in ", "automatic merge failed", "could not apply ", "would be overwritten by", "you have unstaged changes", "(non-fast-forward)", "(fetch first)", "failed to push some refs",
        "eresolve", "unable to resolve dependency tree", "failed to select a version for", "version solving failed", "no solution found when resolving", "resolutionimpossible",
        "could not find compatible versions", "your requirements could not be resolved", "conflicting dependencies", "you need to resolve your current index first", "unmerged files",
        "index.lock': file exists", "a branch named '*' already exists", "is already used by worktree", "is already checked out", "is already in use by container",
        "is not up to date with", "needs to be updated but",
    ]),
    (ErrorKind::Network, &[
        "econnrefused", "connection refused", "could not resolve host: {W}", "getaddrinfo enotfound {W}", "network is unreachable", "connection reset", "econnreset", "temporary failure in name resolution",
        "no such host", "address already in use", "eaddrinuse", "port is already allocated", "failed to lookup address", "could not connect to server", "cannot connect to the docker daemon", "unable to access 'http",
        "network request failed", "fetch failed", "max retries exceeded",
    ]),
    (ErrorKind::Permission, &[
        "permission denied", "eacces", "operation not permitted", "eperm", "access denied", "access is denied", "authentication failed", "403 forbidden", "401 unauthorized", "could not read username",
        "permission to * denied", "not authorized", "bad credentials",
    ]),
    (ErrorKind::Timeout, &["timed out", "timeout of #ms exceeded", "deadline exceeded", "etimedout", "exceeded timeout of"]),
    (ErrorKind::MissingFile, &[
        "no such file or directory, {W} '{}'", "no such file or directory: '{}'", "no such file or directory: {W}", "cannot access '{}': no such file", "can't open file '{}'", "can't cd to {W}",
        "cannot stat '{}': no such file", "{W}: open: no such file", "{W}: stat: no such file", "{W}: no such file or directory", "'{}': no such file or directory", "no such file or directory", "file does not exist", "could not read file '{}'", "couldn't read '{}'",
        "directory does not exist", "path does not exist", "the system cannot find the file", "could not find file '{}'", "could not open input file: {W}", "does not exist: {W}", "file not found: {W}", "enoent",
    ]),
    (ErrorKind::AssertionFailure, &[
        "assertionerror", "assertion failed", "assertion '*' failed", "assertion `*` failed", "expected * to be ", "expected * to equal", "expected * to have", "expected * to match", "expected * to contain", "expected: * received:", "expected * but ",
        "expect(received)", "expect(jest.fn", "not equal: expected", "does not match expected", "values are not equal", "expected values to be", "failed asserting that",
    ]),
    (ErrorKind::CompileError, &[
        "cannot find name '{}'", "'{}' undeclared", "cannot find '{}' in scope", "the name '{}' does not exist", "undefined: {W}", "undefined reference to '{}'", "implicit declaration of function '{}'", "is not assignable to", "property '{}' does not exist on type", "cannot find symbol", "mismatched types",
        "cannot find value '{}' in", "cannot find type '{}' in", "cannot find function '{}' in", "cannot find macro '{}' in", "no method named '{}' found", "unresolved reference: {W}", "unresolved reference '{}'", "declared and not used: {W}",
        "syntaxerror", "syntax error", "parse error", "could not compile", "indentationerror", "typescript error",
    ]),
];

/// Kind and subject of a message; the kind `Other` if no shape matches.
pub(crate) fn classify_message(message: &str) -> (ErrorKind, Option<String>) {
    let canonical = to_canonical(message);
    for (kind, shapes) in SHAPES {
        for shape in *shapes {
            if let Some(subject) = match_shape(shape, &canonical, message) {
                return (*kind, clean_subject(subject));
            }
        }
    }
    (ErrorKind::Other, None)
}

/// The message in lower case with one kind of quote. Every byte keeps its place.
fn to_canonical(message: &str) -> String {
    message.to_ascii_lowercase().replace(['"', '`'], "'")
}

/// The subject without punctuation around it; `None` if nothing is left.
fn clean_subject(subject: &str) -> Option<String> {
    let subject = subject.trim_matches(|it: char| {
        it.is_whitespace() || matches!(it, '\'' | '"' | '`' | ',' | ';' | ':' | '(' | ')')
    });
    let subject = subject.trim_end_matches('.');
    (!subject.is_empty() && subject.len() <= MAX_SUBJECT_BYTES).then(|| subject.to_owned())
}

/// The subject of a message of this shape, empty if the shape names none; `None` if the shape is another.
fn match_shape<'a>(shape: &str, canonical: &str, message: &'a str) -> Option<&'a str> {
    let (leading, rest) = split_capture(shape);
    let literal = &rest[..literal_length(rest)];
    let mut from = 0;
    for _ in 0..MAX_PLACES {
        let at = from + canonical.get(from..)?.find(literal)?;
        from = at + 1;
        let subject_before = match leading {
            Some(class) => match last_word(&message[..at], class) {
                Some(word) => word,
                None => continue,
            },
            None => "",
        };
        if let Some(subject) =
            match_rest(&rest[literal.len()..], &canonical[at + literal.len()..], message)
        {
            return Some(if subject_before.is_empty() { subject } else { subject_before });
        }
        // The next search must begin at a character.
        from = canonical.ceil_char_boundary(from);
    }
    None
}

/// Matches the part of a shape after its first text, at the beginning of `canonical`, the end of `message`.
fn match_rest<'a>(shape: &str, canonical: &str, message: &'a str) -> Option<&'a str> {
    let (mut shape, mut at) = (shape, 0);
    let offset = message.len() - canonical.len();
    let mut subject = "";
    while !shape.is_empty() {
        let rest = &canonical[at..];
        let (capture, after) = split_capture(shape);
        let next = &after[..literal_length(after)];
        let reach = match capture {
            Some(_) if next.is_empty() => word_length(rest),
            Some(_) => rest.find(next)?,
            None if shape.starts_with('#') => rest.bytes().take_while(u8::is_ascii_digit).count(),
            None if shape.starts_with('*') => rest.find(&shape[1..=literal_length(&shape[1..])])?,
            None => next.len(),
        };
        match capture {
            Some(class) => {
                let text = &message[offset + at..offset + at + reach];
                subject = class.accepts(text).then_some(text)?;
                shape = after;
            }
            None if shape.starts_with(['#', '*']) => {
                if reach == 0 {
                    return None;
                }
                shape = &shape[1..];
            }
            None => {
                rest.strip_prefix(next)?;
                shape = &shape[next.len()..];
            }
        }
        at += reach;
    }
    Some(subject)
}

/// The characters that a subject may have.
#[derive(Clone, Copy)]
enum SubjectClass {
    Any,
    Word,
    UpperCase,
    Variable,
}

impl SubjectClass {
    fn accepts(self, text: &str) -> bool {
        let bare = text.trim_matches(|it: char| {
            matches!(it, '\'' | '"' | '`' | '$' | '{' | '}' | '.' | ',' | ':' | ';' | '(' | ')')
        });
        let is_upper = bare.len() >= 2
            && bare.starts_with(|it: char| it.is_ascii_uppercase() || it == '_')
            && bare.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
        match self {
            // A quote inside means that the shape began at an earlier quote.
            Self::Any => {
                let has_quote = text.contains(['\'', '"', '`']);
                !text.is_empty() && !has_quote && text.len() <= MAX_SUBJECT_BYTES
            }
            Self::Word => !bare.is_empty() && !text.contains(char::is_whitespace),
            Self::UpperCase => is_upper,
            Self::Variable => is_upper && bare.contains('_'),
        }
    }
}

/// The braces at the beginning of a shape, and the shape after them.
fn split_capture(shape: &str) -> (Option<SubjectClass>, &str) {
    for (braces, class) in [
        ("{}", SubjectClass::Any),
        ("{W}", SubjectClass::Word),
        ("{U}", SubjectClass::UpperCase),
        ("{V}", SubjectClass::Variable),
    ] {
        if let Some(rest) = shape.strip_prefix(braces) {
            return (Some(class), rest);
        }
    }
    (None, shape)
}

/// Length of the plain text at the beginning of a shape.
fn literal_length(shape: &str) -> usize {
    shape.find(['{', '#', '*']).unwrap_or(shape.len())
}

/// Length of the word at the beginning of a text.
fn word_length(text: &str) -> usize {
    text.find(|it: char| it.is_whitespace() || matches!(it, ',' | ';' | ')')).unwrap_or(text.len())
}

/// The last word of a text, if it is of the class.
fn last_word(text: &str, class: SubjectClass) -> Option<&str> {
    let start = text.rfind(char::is_whitespace).map_or(0, |it| it + 1);
    let start = text.ceil_char_boundary(start);
    Some(&text[start..]).filter(|it| class.accepts(it))
}
