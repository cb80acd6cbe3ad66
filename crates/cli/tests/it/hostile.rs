//! Whatever a text, a query or a file holds: never a panic, an exit code of the table, nothing half
//! taken in, and what is accepted reads back exactly.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::{Desk, Said, finish, has, id_of, record, skip, string, workspace};

const TEXTS: &str = include_str!("../fixtures/texts.txt");
const FILES: &str = include_str!("../fixtures/files.txt");
const RECORDS: &str = include_str!("../fixtures/records.txt");

#[test]
fn any_text_is_kept_exactly_or_refused() {
    let desk = Desk::new();
    desk.remember("words to find again");
    for text in cases(TEXTS) {
        let what = format!("{:?}", String::from_utf8_lossy(&text));
        let fed = desk.feed(&["remember", "--new", "--json", "-"], &text).sound(&what);
        reads_back(&desk, &text, &fed, &what);
        if !text.contains(&0) && !text.starts_with(b"-") {
            let given =
                arguments(&desk, &["remember", "--new", "--json", "--"], &text).sound(&what);
            reads_back(&desk, &text, &given, &what);
        }
    }
    desk.is_healthy("after all texts");
}

#[test]
fn any_text_can_be_asked_for() {
    let desk = Desk::new();
    let id = desk.remember("words to find again");
    for text in cases(TEXTS).into_iter().filter(|it| !it.contains(&0)) {
        let what = format!("{:?}", String::from_utf8_lossy(&text));
        let doors: [&[&str]; 7] = [
            &["search", "--"],
            &["show", "--"],
            &["list", "--tag"],
            &["list", "--file"],
            &["config", "set", "list.limit", "--"],
            &["remember", "--dry-run", "something", "--module"],
            &["undo", "--"],
        ];
        for door in doors {
            let said = arguments(&desk, door, &text).sound(&format!("{door:?} {what}"));
            assert_ne!(said.code, 3, "{door:?} {what}: {said:?}");
        }
        let edited = desk.feed(&["edit", &id, "--json", "--text", "-"], &text).sound(&what);
        reads_back(&desk, &text, &edited, &what);
    }
    assert_eq!(desk.contents().len(), 1, "asking makes no memories");
}

#[test]
fn a_file_that_is_no_export_leaves_nothing_behind() {
    let desk = Desk::new();
    let mut files = cases(FILES);
    files.push(Vec::new());
    for open in ["[", "{\"a\":", "{\"memories\":["] {
        files.push(open.repeat(100_000).into_bytes());
    }
    files.push(["[", &"[],".repeat(1_000_000), "[]]"].concat().into_bytes());
    files.push(format!("{{\"memories\":[\"{}\"]}}", "x".repeat(3_000_000)).into_bytes());
    for file in files {
        let what = format!("{:?}", String::from_utf8_lossy(&file[..file.len().min(80)]));
        let said = desk.feed(&["import", "--trust", "-"], &file).sound(&what);
        assert_ne!(said.code, 3, "{what}: {said:?}");
        assert!(!said.all().contains('\u{1b}'), "{what}: {said:?}");
        assert_eq!(desk.contents(), Vec::new(), "{what}");
    }
}

#[test]
fn a_record_at_the_edge_harms_nothing() {
    for fields in RECORDS.lines().filter(|it| !it.starts_with('#')) {
        let desk = Desk::new();
        let mut full = record(&id_of(0, 1), "a thing at the edge");
        let fields: Value = serde_json::from_str(fields).unwrap();
        full.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let id = string(&full["id"]);
        let what = fields.to_string();
        let said =
            desk.feed(&["import", "--trust", "-"], format!("[{full}]").as_bytes()).sound(&what);
        assert_eq!(desk.contents().len(), usize::from(said.code == 0), "{what}: {said:?}");
        let after: [&[&str]; 9] = [
            &["show", &id],
            &["history", &id],
            &["remember", "--new", "another thing"],
            &["edit", &id, "--text", "said anew"],
            &["undo"],
            &["maintain"],
            &["export"],
            &["list", "--all"],
            &["restore", &id],
        ];
        for args in after {
            let said = desk.run(args).sound(&format!("{args:?} after {what}"));
            assert!(said.code != 3, "{args:?} after {what}: {said:?}");
            assert!(
                args[0] == "export" || !said.out.contains('\u{1b}'),
                "{args:?} after {what}: {said:?}"
            );
        }
        desk.is_healthy(&what);
    }
}

#[test]
fn the_json_test_suite_leaves_nothing_behind() {
    let Some(data) = robustness("JSON test suite") else { return };
    if !has("tar") {
        return skip("JSON test suite", "tar is absent");
    }
    let desk = Desk::new();
    let mut tar = std::process::Command::new("tar");
    tar.arg("-xzf").arg(data.join("jsontestsuite_test_parsing.tar.gz")).arg("-C").arg(&desk.root);
    finish(tar).ends(0, "tar");
    let files = crate::kit::files(&desk.root.join("test_parsing"));
    assert_eq!(files.len(), 318);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let said = desk.run(&["import", file.to_str().unwrap()]).sound(&name);
        assert_ne!(said.code, 3, "{name}: {said:?}");
        assert!(said.code != 0 || !name.starts_with("n_"), "{name}: {said:?}");
    }
    assert_eq!(desk.contents(), Vec::new());
}

#[test]
fn naughty_strings_are_kept_exactly_or_refused() {
    let Some(data) = robustness("naughty strings") else { return };
    let desk = Desk::new();
    let text = fs::read_to_string(data.join("naughty_strings.json")).unwrap();
    let strings: Vec<String> = serde_json::from_str(&text).unwrap();
    packed(&desk, &strings);
    for text in strings.iter().step_by(8) {
        let said = desk.feed(&["remember", "--new", "--json"], text.as_bytes()).sound(text);
        reads_back(&desk, text.as_bytes(), &said, text);
    }
    desk.is_healthy("after all strings");
}

#[test]
fn utf8_is_told_from_what_is_not() {
    let Some(data) = robustness("UTF-8 tests") else { return };
    let desk = Desk::new();
    let text = fs::read_to_string(data.join("utf8tests.txt")).unwrap();
    let (mut good, mut bad) = (Vec::new(), 0);
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        let mut parts = line.splitn(3, ':');
        let (Some(name), Some(kind), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let hex = rest.split(':').next().unwrap();
        let kind = kind.trim();
        if kind == "valid" {
            good.push(rest.to_owned());
        } else if kind == "valid hex" {
            good.push(String::from_utf8(bytes(hex)).unwrap());
        } else {
            let said = desk.feed(&["remember", "--new"], &bytes(hex)).ends(2, name);
            assert!(said.err.contains("UTF-8"), "{name}: {said:?}");
            bad += 1;
        }
    }
    assert!(good.len() > 50 && bad > 50, "{} good, {bad} bad", good.len());
    packed(&desk, &good);
}

/// Takes many strings in as one file; whatever was taken reads back exactly.
fn packed(desk: &Desk, strings: &[String]) {
    let records: Vec<Value> =
        strings.iter().zip(0..).map(|(text, n)| record(&id_of(2, n), text)).collect();
    let file = serde_json::to_vec(&records).unwrap();
    desk.feed(&["import", "--json", "-"], &file).ends(1, "all or nothing");
    assert_eq!(desk.contents(), Vec::new());
    let said = desk.feed(&["import", "--json", "--skip-bad", "-"], &file).sound("import").json();
    let n = |name: &str| usize::try_from(said[name].as_u64().unwrap()).unwrap();
    assert_eq!(n("added") + n("known") + said["problems"].as_array().unwrap().len(), strings.len());
    let kept = desk.contents();
    assert_eq!(kept.len(), n("added"));
    for (id, content) in &kept {
        let at = records.iter().position(|it| it["id"] == *id.as_str()).unwrap();
        assert_eq!(*content, clean(&strings[at]));
    }
}

fn reads_back(desk: &Desk, text: &[u8], said: &Said, what: &str) {
    assert_ne!(said.code, 3, "{what}: {said:?}");
    if said.code != 0 {
        return assert!(!said.all().is_empty(), "{what}: refused without a word");
    }
    let id = string(&said.json()["memory"]["id"]);
    let kept = string(&desk.json(&["show", &id])["memory"]["content"]);
    assert_eq!(kept, clean(std::str::from_utf8(text).unwrap()), "{what}");
}

/// What is kept of a text: all of it but the blank ends, with one kind of line end.
fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

fn arguments(desk: &Desk, args: &[&str], last: &[u8]) -> Said {
    let mut command = desk.command(args);
    command.arg(OsString::from_vec(last.to_vec()));
    finish(command)
}

/// The lines of a fixture with their escapes undone.
fn cases(fixture: &str) -> Vec<Vec<u8>> {
    fixture.lines().filter(|it| !it.starts_with("# ")).map(unescaped).collect()
}

fn unescaped(line: &str) -> Vec<u8> {
    let mut res = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        res.extend_from_slice(before.as_bytes());
        let mut used = 1;
        match after.as_bytes().first() {
            Some(b'n') => res.push(b'\n'),
            Some(b'r') => res.push(b'\r'),
            Some(b't') => res.push(b'\t'),
            Some(b'0') => res.push(0),
            Some(b'\\') => res.push(b'\\'),
            Some(b'x') => {
                res.push(u8::from_str_radix(&after[1..3], 16).unwrap());
                used = 3;
            }
            Some(b'u') if after[1..].starts_with('{') => {
                let end = after.find('}').unwrap();
                let it = char::from_u32(u32::from_str_radix(&after[2..end], 16).unwrap()).unwrap();
                res.extend_from_slice(it.to_string().as_bytes());
                used = end + 1;
            }
            other => panic!("unknown escape {other:?} in {line:?}"),
        }
        rest = &after[used..];
    }
    res.extend_from_slice(rest.as_bytes());
    res
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().flat_map(pairs).collect()
}

fn pairs(run: &str) -> Vec<u8> {
    run.as_bytes()
        .chunks(2)
        .map(|it| u8::from_str_radix(std::str::from_utf8(it).unwrap(), 16).unwrap())
        .collect()
}

/// The shared test data, where it is there.
fn robustness(what: &str) -> Option<PathBuf> {
    let res = workspace().join("../shared/data/robustness");
    if !res.is_dir() {
        skip(what, "the shared data is absent");
        return None;
    }
    Some(res)
}
