//! Precise indexes of other tools: what they say replaces what was guessed, for as long as it is true.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::{Desk, Seeded};

const A: &str = "export class A {\n  run() {}\n}\nexport class B {\n  run() {}\n}\n";
const B: &str = "import { A } from './a'\nexport function go(x: any) { x.run() }\n";
const C: &str =
    "import { A } from './a'\nexport function f(é: A) { é.run() }\nexport const g = () => f(1)\n";

fn desk() -> Desk {
    let desk = Desk::new();
    write(&desk, "src/a.ts", A);
    write(&desk, "src/b.ts", B);
    write(&desk, "src/c.ts", C);
    desk
}

fn write(desk: &Desk, path: &str, text: &str) {
    let path = desk.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn number(acc: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        acc.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    acc.push(u8::try_from(value).unwrap());
}

/// A field of a protocol buffer: its number, its length, its bytes.
fn field(acc: &mut Vec<u8>, n: usize, bytes: &[u8]) {
    number(acc, n << 3 | 2);
    number(acc, bytes.len());
    acc.extend(bytes);
}

/// An occurrence where the n-th `name` of a text stands; columns in UTF-16.
fn occurrence(text: &str, name: &str, nth: usize, symbol: &str, is_definition: bool) -> Vec<u8> {
    let at = text.match_indices(name).nth(nth).unwrap().0;
    let line = text[..at].matches('\n').count();
    let column = text[..at].rsplit('\n').next().unwrap().encode_utf16().count();
    let (mut res, mut range) = (Vec::new(), Vec::new());
    for it in [line, column, column + name.len()] {
        number(&mut range, it);
    }
    field(&mut res, 1, &range);
    field(&mut res, 2, symbol.as_bytes());
    number(&mut res, 3 << 3);
    number(&mut res, usize::from(is_definition));
    res
}

fn document(path: &str, occurrences: &[Vec<u8>]) -> Vec<u8> {
    let mut res = Vec::new();
    field(&mut res, 1, path.as_bytes());
    for it in occurrences {
        field(&mut res, 2, it);
    }
    res
}

/// The index that a compiler might have made of the three files, with one thing said that no guess
/// could know (`x.run`), one that contradicts a guess (`é.run`), and one that leaves the project (`f`).
fn index(prefix: &str) -> Vec<u8> {
    let symbol = |it: &str| format!("scip-typescript npm p 1.0 src/`a.ts`/{it}");
    let (a, b) = (symbol("A#"), symbol("B#"));
    let (a_run, b_run) = (symbol("A#run()."), symbol("B#run()."));
    let foreign = "scip-typescript npm other 1.0 `x.ts`/f().";
    let own = |it: &str| format!("scip-typescript npm p 1.0 src/`c.ts`/{it}");
    let (f, g) = (own("f()."), own("g."));
    let documents = [
        document(
            &format!("{prefix}a.ts"),
            &[
                occurrence(A, "A", 0, &a, true),
                occurrence(A, "run", 0, &a_run, true),
                occurrence(A, "B", 0, &b, true),
                occurrence(A, "run", 1, &b_run, true),
            ],
        ),
        document(
            &format!("{prefix}b.ts"),
            &[occurrence(B, "A", 0, &a, false), occurrence(B, "run", 0, &b_run, false)],
        ),
        document(
            &format!("{prefix}c.ts"),
            &[
                occurrence(C, "f(", 0, &f, true),
                occurrence(C, "g ", 0, &g, true),
                occurrence(C, "run", 0, &b_run, false),
                occurrence(C, "f(1", 0, foreign, false),
            ],
        ),
        document("../../../etc/passwd.ts", &[occurrence(A, "A", 0, &a, false)]),
    ];
    let mut res = Vec::new();
    for it in &documents {
        field(&mut res, 2, it);
    }
    res
}

fn keep(desk: &Desk, bytes: &[u8]) -> String {
    let path: PathBuf = desk.root.join("index.scip");
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Whom a symbol calls, with how that is known.
fn calls(desk: &Desk, target: &str) -> Vec<String> {
    let said = desk.run(&["--json", "deps", "--depth", "1", target]).sound(target).json();
    let line = |it: &Value| {
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        format!("{} by {}", text(&it["symbol"]["name"]), text(&it["resolved_by"]))
    };
    let calls = |it: &&Value| it["edge"] == "calls";
    said["reached"].as_array().unwrap().iter().filter(calls).map(line).collect()
}

#[test]
fn what_is_known_precisely_replaces_what_was_guessed() {
    let desk = desk();
    desk.json(&["index"]);
    assert_eq!(calls(&desk, "src/b.ts:go"), [""; 0]);
    assert_eq!(calls(&desk, "src/c.ts:f"), ["A.run by type"]);
    assert_eq!(calls(&desk, "src/c.ts:g"), ["f by scope"]);
    let path = keep(&desk, &index("src/"));
    let refined = desk.json(&["index", "--scip", &path]);
    assert_eq!((&refined["files"], &refined["unknown"]), (&3.into(), &1.into()), "{refined}");
    assert_eq!(calls(&desk, "src/b.ts:go"), ["B.run by precise"]);
    assert_eq!(calls(&desk, "src/c.ts:f"), ["B.run by precise"]);
    assert_eq!(calls(&desk, "src/c.ts:g"), [""; 0]);
    let impact = desk.json(&["impact", "src/a.ts:B.run"]);
    assert_eq!(impact["reached"].as_array().unwrap().len(), 2, "{impact}");
    // Paths may count from a folder of the project.
    let path = keep(&desk, &index(""));
    let refined = desk.json(&["index", "--scip", &path, "--below", "src"]);
    assert_eq!(refined["files"], 3, "{refined}");
}

#[test]
fn it_stays_until_the_file_changes_and_follows_what_it_names() {
    let desk = desk();
    let path = keep(&desk, &index("src/"));
    desk.json(&["index", "--scip", &path]);
    // The target moves inside its file, other files come and go.
    write(&desk, "src/a.ts", &format!("export function first() {{}}\n{A}"));
    write(&desk, "src/d.ts", "export class D { run() {} }\n");
    desk.json(&["index"]);
    assert_eq!(calls(&desk, "src/b.ts:go"), ["B.run by precise"]);
    // The target is gone: nothing is known but what can be found.
    write(&desk, "src/a.ts", &A.replacen("class B {\n  run", "class B {\n  walk", 1));
    desk.json(&["index"]);
    assert_eq!(calls(&desk, "src/b.ts:go"), [""; 0]);
    assert_eq!(calls(&desk, "src/c.ts:f"), ["A.run by type"]);
    write(&desk, "src/a.ts", A);
    desk.json(&["index"]);
    assert_eq!(calls(&desk, "src/c.ts:f"), ["B.run by precise"]);
    // The file itself changes: what was said of it was said of another.
    write(&desk, "src/c.ts", &format!("\n{C}"));
    desk.json(&["index"]);
    assert_eq!(calls(&desk, "src/c.ts:f"), ["A.run by type"]);
    assert_eq!(calls(&desk, "src/b.ts:go"), ["B.run by precise"]);
    let again = desk.json(&["index", "--scip", &path]);
    assert_eq!(again["changed_since"][0], "src/c.ts", "{again}");
    assert_eq!(calls(&desk, "src/c.ts:f"), ["A.run by type"]);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_lost() {
    let desk = desk();
    let path = keep(&desk, &index("src/"));
    desk.json(&["index", "--scip", &path]);
    let before = (calls(&desk, "src/b.ts:go"), calls(&desk, "src/c.ts:f"));
    let good = index("src/");
    let mut hostile = vec![vec![], b"hello, world".to_vec(), index("elsewhere/")];
    hostile.push(vec![0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    hostile.push([0x12, 0x80].repeat(5_000));
    hostile.push(good[..good.len() - 7].to_vec());
    for bytes in hostile {
        let path = keep(&desk, &bytes);
        let said = desk.run(&["index", "--scip", &path]).ends(2, "it does not fit");
        assert!(said.err.contains("nothing was changed"), "{said:?}");
    }
    desk.run(&["index", "--scip", "nowhere.scip"]).ends(2, "there is none");
    let folder = desk.project.to_str().unwrap().to_owned();
    desk.run(&["index", "--scip", &folder]).ends(2, "a folder");
    let mut seeded = Seeded::new(21);
    for _ in 0..40 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            let at = seeded.at(bytes.len());
            bytes[at] = u8::try_from(seeded.below(256)).unwrap();
        }
        let path = keep(&desk, &bytes);
        desk.run(&["index", "--scip", &path]).sound("bytes that are nearly right");
    }
    let path = keep(&desk, &good);
    desk.json(&["index", "--scip", &path]);
    assert_eq!((calls(&desk, "src/b.ts:go"), calls(&desk, "src/c.ts:f")), before);
}
