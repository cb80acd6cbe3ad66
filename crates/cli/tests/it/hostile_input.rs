//! Tests with hostile texts, arguments and import files.
//!
//! Whatever the input, the program must not panic, must exit with a documented code other than
//! `ENVIRONMENT_FAILURE`, must not store a part of a rejected file, and must store accepted text
//! exactly (see `as_stored`). `expect_no_panic` asserts the first two, except that it allows
//! `ENVIRONMENT_FAILURE`; `\u{1b}` (escape) in an output would be a control sequence of a terminal.
//!
//! The cases come from `tests/fixtures` and from three public collections: `JSONTestSuite`, the Big
//! List of Naughty Strings, and utf8tests. A line of a fixture is one case, with escapes for what a
//! line cannot contain: `one\ntwo`, `\xff`, `\u{202e}`. An import file is JSON: an array of memory
//! records such as `{"id": "…", "content": "…"}`, or an object with such an array under `memories`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{
    CommandOutput, Sandbox, has_program, id_of, record, run_command, skip, string, workspace,
};

/// Hostile texts, one per line; `unescape` describes the notation.
const TEXTS: &str = include_str!("../fixtures/texts.txt");
/// Files that are no export, one per line, in the same notation.
const FILES: &str = include_str!("../fixtures/files.txt");
/// JSON objects with extreme values for the fields of a record, one per line.
const RECORDS: &str = include_str!("../fixtures/records.txt");

/// Exit code for a problem of the machine, such as a full disk. Input alone must never cause it.
const ENVIRONMENT_FAILURE: i32 = 3;

/// Number of files in `test_parsing` of `JSONTestSuite`.
const JSON_SUITE_FILES: usize = 318;

#[test]
fn any_text_is_stored_exactly_or_rejected() {
    let sandbox = Sandbox::new();
    sandbox.remember("words to find again");
    for text in fixture_cases(TEXTS) {
        let case = format!("{:?}", String::from_utf8_lossy(&text));

        // From standard input.
        let from_stdin = sandbox
            .run_with_input(&["remember", "--new", "--json", "-"], &text)
            .expect_no_panic(&case);
        assert_reads_back(&sandbox, &text, &from_stdin, &case);

        // As an argument, which contain a zero byte; `-` alone would mean standard input.
        if !text.contains(&0) && !text.starts_with(b"-") {
            let remember = ["remember", "--new", "--json", "--"];
            let from_argument =
                run_with_raw_argument(&sandbox, &remember, &text).expect_no_panic(&case);
            assert_reads_back(&sandbox, &text, &from_argument, &case);
        }
    }
    sandbox.assert_healthy("after all texts");
}

#[test]
fn any_text_can_be_an_argument_of_any_command() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("words to find again");
    for text in fixture_cases(TEXTS).into_iter().filter(|it| !it.contains(&0)) {
        let case = format!("{:?}", String::from_utf8_lossy(&text));

        // The text is appended to each of these commands.
        let commands: [&[&str]; 7] = [
            &["search", "--"],
            &["show", "--"],
            &["list", "--tag"],
            &["list", "--file"],
            &["config", "set", "list.limit", "--"],
            &["remember", "--dry-run", "something", "--module"],
            &["undo", "--"],
        ];
        for command in commands {
            let output = run_with_raw_argument(&sandbox, command, &text)
                .expect_no_panic(&format!("{command:?} {case}"));
            assert_ne!(output.code, ENVIRONMENT_FAILURE, "{command:?} {case}: {output:?}");
        }

        // `edit` replaces the text of the memory.
        let edited = sandbox
            .run_with_input(&["edit", &id, "--json", "--text", "-"], &text)
            .expect_no_panic(&case);
        assert_reads_back(&sandbox, &text, &edited, &case);
    }
    assert_eq!(sandbox.contents().len(), 1, "one of these commands created a memory");
}

#[test]
fn an_invalid_import_file_stores_nothing() {
    let sandbox = Sandbox::new();
    let mut files = fixture_cases(FILES);
    // The empty file.
    files.push(Vec::new());
    // Nesting that would overflow the stack of a recursive parser.
    for open in ["[", "{\"a\":", "{\"memories\":["] {
        files.push(open.repeat(100_000).into_bytes());
    }
    // Very many elements, and one very long string.
    files.push(["[", &"[],".repeat(1_000_000), "[]]"].concat().into_bytes());
    files.push(format!("{{\"memories\":[\"{}\"]}}", "x".repeat(3_000_000)).into_bytes());

    for file in files {
        // The first 80 bytes name the case.
        let case = format!("{:?}", String::from_utf8_lossy(&file[..file.len().min(80)]));
        let output =
            sandbox.run_with_input(&["import", "--trust", "-"], &file).expect_no_panic(&case);
        assert_ne!(output.code, ENVIRONMENT_FAILURE, "{case}: {output:?}");
        assert!(!output.out_and_err().contains('\u{1b}'), "{case}: {output:?}");
        assert_eq!(sandbox.contents(), Vec::new(), "{case}");
    }
}

#[test]
fn a_record_with_extreme_values_breaks_nothing() {
    for line in RECORDS.lines().filter(|it| !it.starts_with('#')) {
        // Arrange: a valid record in which some fields are replaced.
        let sandbox = Sandbox::new();
        let mut extreme = record(&id_of(0, 1), "a thing at the edge");
        let fields: Value = serde_json::from_str(line).unwrap();
        extreme.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let id = string(&extreme["id"]);
        let case = fields.to_string();

        // The record is either stored or rejected.
        let output = sandbox
            .run_with_input(&["import", "--trust", "-"], format!("[{extreme}]").as_bytes())
            .expect_no_panic(&case);
        let is_accepted = output.code == 0;
        assert_eq!(sandbox.contents().len(), usize::from(is_accepted), "{case}: {output:?}");

        // Afterwards every command works, with that memory or with others.
        let later_commands: [&[&str]; 9] = [
            &["show", &id],
            &["history", &id],
            &["remember", "--new", "another thing"],
            &["edit", &id, "--text", "a new text"],
            &["undo"],
            &["maintain"],
            &["export"],
            &["list", "--all"],
            &["restore", &id],
        ];
        for args in later_commands {
            let output = sandbox.run(args).expect_no_panic(&format!("{args:?} after {case}"));
            assert_ne!(output.code, ENVIRONMENT_FAILURE, "{args:?} after {case}: {output:?}");
            // An export is data and may contain escape characters; other output goes to a terminal.
            assert!(
                args[0] == "export" || !output.out.contains('\u{1b}'),
                "{args:?} after {case}: {output:?}"
            );
        }
        sandbox.assert_healthy(&case);
    }
}

#[test]
fn the_json_parsing_suite_stores_nothing() {
    let Some(data) = robustness_data("JSON test suite") else { return };
    if !has_program("tar") {
        return skip("JSON test suite", "tar is absent");
    }

    let sandbox = Sandbox::new();
    let mut tar = std::process::Command::new("tar");
    tar.arg("-xzf")
        .arg(data.join("jsontestsuite_test_parsing.tar.gz"))
        .arg("-C")
        .arg(&sandbox.root);
    run_command(tar).expect_code(0, "tar");

    // No file of the suite is an export, so even valid JSON stores nothing.
    let files = crate::sandbox::files(&sandbox.root.join("test_parsing"));
    assert_eq!(files.len(), JSON_SUITE_FILES);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let output = sandbox.run(&["import", file.to_str().unwrap()]).expect_no_panic(&name);
        assert_ne!(output.code, ENVIRONMENT_FAILURE, "{name}: {output:?}");
        // The prefix `n_` marks files that a parser must reject.
        let must_be_rejected = name.starts_with("n_");
        assert!(output.code != 0 || !must_be_rejected, "{name}: {output:?}");
    }
    assert_eq!(sandbox.contents(), Vec::new());
}

#[test]
fn naughty_strings_are_stored_exactly_or_rejected() {
    let Some(data) = robustness_data("naughty strings") else { return };
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(data.join("naughty_strings.json")).unwrap();
    let strings: Vec<String> = serde_json::from_str(&text).unwrap();
    assert_stored_exactly_in_one_import(&sandbox, &strings);

    // One process per string is slow, so this path gets every eighth only.
    for text in strings.iter().step_by(8) {
        let output = sandbox
            .run_with_input(&["remember", "--new", "--json"], text.as_bytes())
            .expect_no_panic(text);
        assert_reads_back(&sandbox, text.as_bytes(), &output, text);
    }
    sandbox.assert_healthy("after all strings");
}

#[test]
fn invalid_utf8_is_rejected() {
    let Some(data) = robustness_data("UTF-8 tests") else { return };
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(data.join("utf8tests.txt")).unwrap();
    let (mut valid_texts, mut n_invalid) = (Vec::new(), 0);
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        // `number:valid:text`, `number:valid hex:bytes` or `number:invalid hex:bytes:…`
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(kind), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            continue; // an empty line
        };
        let hex = rest.split(':').next().unwrap();
        match kind.trim() {
            "valid" => valid_texts.push(rest.to_owned()),
            "valid hex" => valid_texts.push(String::from_utf8(hex_bytes(hex)).unwrap()),
            _invalid_hex => {
                let output = sandbox
                    .run_with_input(&["remember", "--new"], &hex_bytes(hex))
                    .expect_code(2, number);
                assert!(output.err.contains("UTF-8"), "{number}: {output:?}");
                n_invalid += 1;
            }
        }
    }

    // Guards against a changed file format, which would leave nothing to test.
    let n_valid = valid_texts.len();
    assert!(n_valid > 50 && n_invalid > 50, "{n_valid} valid, {n_invalid} invalid");
    assert_stored_exactly_in_one_import(&sandbox, &valid_texts);
}

/// Imports all strings as one file of records. Without `--skip-bad` the import must store nothing,
/// because some strings are invalid; with it, every record is stored exactly, known already, or
/// reported as a problem.
fn assert_stored_exactly_in_one_import(sandbox: &Sandbox, strings: &[String]) {
    let records: Vec<Value> =
        strings.iter().zip(0..).map(|(text, n)| record(&id_of(2, n), text)).collect();
    let file = serde_json::to_vec(&records).unwrap();

    // All or nothing.
    sandbox
        .run_with_input(&["import", "--json", "-"], &file)
        .expect_code(1, "import without --skip-bad");
    assert_eq!(sandbox.contents(), Vec::new());

    // Every record is counted in one of three ways.
    let output = sandbox
        .run_with_input(&["import", "--json", "--skip-bad", "-"], &file)
        .expect_no_panic("import")
        .json();
    let count = |field: &str| usize::try_from(output[field].as_u64().unwrap()).unwrap();
    let n_problems = output["problems"].as_array().unwrap().len();
    assert_eq!(count("added") + count("known") + n_problems, strings.len());

    // Every added record is stored exactly.
    let stored = sandbox.contents();
    assert_eq!(stored.len(), count("added"));
    for (id, content) in &stored {
        let position = records.iter().position(|it| it["id"] == *id.as_str()).unwrap();
        assert_eq!(*content, as_stored(&strings[position]));
    }
}

/// Asserts that a command which stores `text` either rejected it with a message or stored it exactly.
fn assert_reads_back(sandbox: &Sandbox, text: &[u8], output: &CommandOutput, case: &str) {
    assert_ne!(output.code, ENVIRONMENT_FAILURE, "{case}: {output:?}");
    if output.code != 0 {
        return assert!(!output.out_and_err().is_empty(), "{case}: rejected without a message");
    }
    let id = string(&output.json()["memory"]["id"]);
    let stored = string(&sandbox.json(&["show", &id])["memory"]["content"]);
    assert_eq!(stored, as_stored(std::str::from_utf8(text).unwrap()), "{case}");
}

/// The form in which a text is stored: trimmed, with `\n` as line end, otherwise unchanged.
fn as_stored(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// Runs a command whose last argument may be invalid UTF-8.
fn run_with_raw_argument(sandbox: &Sandbox, args: &[&str], last: &[u8]) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.arg(OsString::from_vec(last.to_vec()));
    run_command(command)
}

/// The lines of a fixture as bytes, without comments.
fn fixture_cases(fixture: &str) -> Vec<Vec<u8>> {
    fixture.lines().filter(|it| !it.starts_with("# ")).map(unescape).collect()
}

/// Decodes the notation of the fixtures: `\n \r \t \0 \\`, `\xHH` (a byte), `\u{HEX}` (a character).
fn unescape(line: &str) -> Vec<u8> {
    let mut res = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        res.extend_from_slice(before.as_bytes());
        // Number of bytes of the escape after the backslash: one letter, unless set below.
        let mut escape_len = 1;
        match after.as_bytes().first() {
            Some(b'n') => res.push(b'\n'),
            Some(b'r') => res.push(b'\r'),
            Some(b't') => res.push(b'\t'),
            Some(b'0') => res.push(0),
            Some(b'\\') => res.push(b'\\'),
            Some(b'x') => {
                res.push(u8::from_str_radix(&after[1..3], 16).unwrap());
                escape_len = 3;
            }
            Some(b'u') if after[1..].starts_with('{') => {
                let end = after.find('}').unwrap();
                let code_point = u32::from_str_radix(&after[2..end], 16).unwrap();
                let character = char::from_u32(code_point).unwrap();
                res.extend_from_slice(character.to_string().as_bytes());
                escape_len = end + 1;
            }
            other => panic!("unknown escape {other:?} in {line:?}"),
        }
        rest = &after[escape_len..];
    }
    res.extend_from_slice(rest.as_bytes());
    res
}

/// Decodes hexadecimal bytes; white space may separate any of them.
fn hex_bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|it| u8::from_str_radix(std::str::from_utf8(it).unwrap(), 16).unwrap())
        .collect()
}

/// The folder of the public collections. Reports a skip of `what` where it is missing.
fn robustness_data(what: &str) -> Option<PathBuf> {
    let res = workspace().join("../shared/data/robustness");
    if !res.is_dir() {
        skip(what, "the shared data is absent");
        return None;
    }
    Some(res)
}
