//! Tests of `waylore index --scip`: importing a precise index that a compiler wrote in SCIP format.
//!
//! An *edge* is a resolved reference of the code, here always a call: `src/b.ts:go` calls `B.run`.
//! Waylore *infers* edges from the text of the files; a compiler knows the types and so gives
//! *precise* ones. Precise edges replace the inferred ones, for as long as the file that contains the
//! reference is unchanged. `calls_of` lists the edges of a function with the method that resolved
//! them: `A.run by type` (annotation) and `f by scope` are inferred, `B.run by precise` is not.
//!
//! The helpers write a small SCIP file by hand, which is a protocol buffer
//! (`https://github.com/sourcegraph/scip/blob/main/scip.proto`): an `Index` has `Document`s (field 2),
//! one per file; a `Document` has a path (field 1) and `Occurrence`s (field 2); an `Occurrence` is a
//! place in the text (field 1) that defines or refers to a symbol (field 2).

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{Sandbox, SeededRandom, string};

/// Two classes with a method of the same name.
const FILE_A: &str = "export class A {\n  run() {}\n}\nexport class B {\n  run() {}\n}\n";
/// `x.run()`: the type of `x` is unknown, so only a compiler can resolve the call.
const FILE_B: &str = "import { A } from './a'\nexport function go(x: any) { x.run() }\n";
/// `é.run()`: resolvable by the type annotation. The name tests columns that are not bytes.
const FILE_C: &str =
    "import { A } from './a'\nexport function f(é: A) { é.run() }\nexport const g = () => f(1)\n";

fn typescript_project() -> Sandbox {
    let sandbox = Sandbox::new();
    write_file(&sandbox, "src/a.ts", FILE_A);
    write_file(&sandbox, "src/b.ts", FILE_B);
    write_file(&sandbox, "src/c.ts", FILE_C);
    sandbox
}

fn write_file(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Appends an integer in the base-128 encoding of protocol buffers.
fn push_varint(acc: &mut Vec<u8>, mut value: usize) {
    // Seven bits per byte, the lowest first; the high bit marks that more bytes follow.
    while value >= 0x80 {
        acc.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    acc.push(u8::try_from(value).unwrap());
}

/// Appends a length-delimited field: its number with wire type 2, its length, its bytes.
fn push_field(acc: &mut Vec<u8>, number: usize, bytes: &[u8]) {
    push_varint(acc, number << 3 | 2);
    push_varint(acc, bytes.len());
    acc.extend(bytes);
}

/// Role of an occurrence that defines its symbol (bit 1 of `symbol_roles`).
const DEFINITION_ROLE: usize = 1;
/// Role of a plain reference.
const NO_ROLE: usize = 0;

/// The place where `symbol` is defined: the n-th `name` in a text, counted from 0. For example, the
/// second `run` of `FILE_A` is `definition(FILE_A, "run", 1, "…B#run().")`.
fn definition(text: &str, name: &str, nth: usize, symbol: &str) -> Vec<u8> {
    occurrence(text, name, nth, symbol, DEFINITION_ROLE)
}

/// A place that refers to `symbol`, given as for `definition`.
fn reference(text: &str, name: &str, nth: usize, symbol: &str) -> Vec<u8> {
    occurrence(text, name, nth, symbol, NO_ROLE)
}

/// An `Occurrence` of a symbol where the n-th `name` of a text is. A name may include the next
/// character, such as `f(`, to be found at the right place. Columns count UTF-16 code units.
fn occurrence(text: &str, name: &str, nth: usize, symbol: &str, role: usize) -> Vec<u8> {
    let (offset, _name) = text.match_indices(name).nth(nth).unwrap();
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count();

    // Field 1, `range`: the line, and the columns where the name starts and ends.
    let (mut res, mut range) = (Vec::new(), Vec::new());
    for number in [line, column, column + name.len()] {
        push_varint(&mut range, number);
    }
    push_field(&mut res, 1, &range);
    push_field(&mut res, 2, symbol.as_bytes());
    // Field 3, `symbol_roles`, is a plain varint (wire type 0).
    push_varint(&mut res, 3 << 3);
    push_varint(&mut res, role);
    res
}

/// A `Document`: the path of a file and the occurrences in it.
fn document(path: &str, occurrences: &[Vec<u8>]) -> Vec<u8> {
    let mut res = Vec::new();
    push_field(&mut res, 1, path.as_bytes());
    for occurrence in occurrences {
        push_field(&mut res, 2, occurrence);
    }
    res
}

/// The index of the three files, whose paths start with `prefix`. It differs from what Waylore infers
/// in three references: `x.run` in `b.ts` is resolved, `é.run` in `c.ts` is `B.run` instead of
/// `A.run`, and the call of `f` in `c.ts` leads out of the project. One document has a path outside
/// the project, which must be ignored.
fn scip_index(prefix: &str) -> Vec<u8> {
    // A symbol's name starts with the indexer, the package manager, and name and version of a package.
    let symbol_of_a = |it: &str| format!("scip-typescript npm p 1.0 src/`a.ts`/{it}");
    let (a, b) = (symbol_of_a("A#"), symbol_of_a("B#"));
    let (a_run, b_run) = (symbol_of_a("A#run()."), symbol_of_a("B#run()."));
    let symbol_of_c = |it: &str| format!("scip-typescript npm p 1.0 src/`c.ts`/{it}");
    let (f, g) = (symbol_of_c("f()."), symbol_of_c("g."));
    let foreign = "scip-typescript npm other 1.0 `x.ts`/f().";

    let documents = [
        document(
            &format!("{prefix}a.ts"),
            &[
                definition(FILE_A, "A", 0, &a),
                definition(FILE_A, "run", 0, &a_run),
                definition(FILE_A, "B", 0, &b),
                definition(FILE_A, "run", 1, &b_run),
            ],
        ),
        document(
            &format!("{prefix}b.ts"),
            &[reference(FILE_B, "A", 0, &a), reference(FILE_B, "run", 0, &b_run)],
        ),
        document(
            &format!("{prefix}c.ts"),
            &[
                definition(FILE_C, "f(", 0, &f),
                definition(FILE_C, "g ", 0, &g),
                reference(FILE_C, "run", 0, &b_run),
                reference(FILE_C, "f(1", 0, foreign),
            ],
        ),
        document("../../../etc/passwd.ts", &[reference(FILE_A, "A", 0, &a)]),
    ];

    let mut res = Vec::new();
    for document in &documents {
        push_field(&mut res, 2, document);
    }
    res
}

/// Writes an index to a file and returns its path.
fn save_index(sandbox: &Sandbox, bytes: &[u8]) -> String {
    let path: PathBuf = sandbox.root.join("index.scip");
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The result of `calls_of` for a function without resolved calls.
const NO_CALLS: [&str; 0] = [];

/// The functions that a symbol calls, each with the method that resolved the call: `B.run by precise`.
fn calls_of(sandbox: &Sandbox, target: &str) -> Vec<String> {
    let output =
        sandbox.run(&["--json", "deps", "--depth", "1", target]).expect_no_panic(target).json();
    let mut res = Vec::new();
    for reached in output["reached"].as_array().unwrap() {
        // Other edges, such as imports, are left out.
        if reached["edge"] == "calls" {
            let (name, method) = (&reached["symbol"]["name"], &reached["resolved_by"]);
            res.push(format!("{} by {}", string(name), string(method)));
        }
    }
    res
}

#[test]
fn precise_edges_replace_inferred_ones() {
    let sandbox = typescript_project();

    // The inferred edges.
    sandbox.json(&["index"]);
    assert_eq!(calls_of(&sandbox, "src/b.ts:go"), NO_CALLS);
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["A.run by type"]);
    assert_eq!(calls_of(&sandbox, "src/c.ts:g"), ["f by scope"]);

    // The edges of the precise index.
    let path = save_index(&sandbox, &scip_index("src/"));
    let imported = sandbox.json(&["index", "--scip", &path]);
    assert_eq!(imported["files"], 3, "{imported}");
    assert_eq!(imported["unknown"], 1, "the document outside the project: {imported}");
    assert_eq!(calls_of(&sandbox, "src/b.ts:go"), ["B.run by precise"]);
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["B.run by precise"]);
    assert_eq!(calls_of(&sandbox, "src/c.ts:g"), NO_CALLS);

    // The other direction: `go` and `f` call `B.run`.
    let impact = sandbox.json(&["impact", "src/a.ts:B.run"]);
    assert_eq!(impact["reached"].as_array().unwrap().len(), 2, "{impact}");

    // With `--below`, the paths of the index are relative to a folder of the project.
    let path = save_index(&sandbox, &scip_index(""));
    let imported = sandbox.json(&["index", "--scip", &path, "--below", "src"]);
    assert_eq!(imported["files"], 3, "{imported}");
}

#[test]
fn precise_edges_last_until_the_file_changes() {
    let sandbox = typescript_project();
    let path = save_index(&sandbox, &scip_index("src/"));
    sandbox.json(&["index", "--scip", &path]);

    // They survive when the target moves inside its file and when files are added.
    write_file(&sandbox, "src/a.ts", &format!("export function first() {{}}\n{FILE_A}"));
    write_file(&sandbox, "src/d.ts", "export class D { run() {} }\n");
    sandbox.json(&["index"]);
    assert_eq!(calls_of(&sandbox, "src/b.ts:go"), ["B.run by precise"]);

    // Without the target (`B.run` becomes `B.walk`), the inferred edges apply; when the target returns,
    // so do the precise ones.
    write_file(&sandbox, "src/a.ts", &FILE_A.replacen("class B {\n  run", "class B {\n  walk", 1));
    sandbox.json(&["index"]);
    assert_eq!(calls_of(&sandbox, "src/b.ts:go"), NO_CALLS);
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["A.run by type"]);
    write_file(&sandbox, "src/a.ts", FILE_A);
    sandbox.json(&["index"]);
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["B.run by precise"]);

    // When the calling file changes, its own precise edges are dropped, but not those of others.
    write_file(&sandbox, "src/c.ts", &format!("\n{FILE_C}"));
    sandbox.json(&["index"]);
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["A.run by type"]);
    assert_eq!(calls_of(&sandbox, "src/b.ts:go"), ["B.run by precise"]);

    // A new import of the old index skips the changed file and names it.
    let repeated = sandbox.json(&["index", "--scip", &path]);
    assert_eq!(repeated["changed_since"][0], "src/c.ts", "{repeated}");
    assert_eq!(calls_of(&sandbox, "src/c.ts:f"), ["A.run by type"]);
}

#[test]
fn an_invalid_precise_index_is_refused() {
    let sandbox = typescript_project();
    let path = save_index(&sandbox, &scip_index("src/"));
    sandbox.json(&["index", "--scip", &path]);
    let before = (calls_of(&sandbox, "src/b.ts:go"), calls_of(&sandbox, "src/c.ts:f"));
    let valid = scip_index("src/");

    // 0x12 starts field 2, a document; its length follows.
    let invalid = [
        // An empty file, and one that is no protocol buffer.
        vec![],
        b"hello, world".to_vec(),
        // An index of files that the project does not have.
        scip_index("elsewhere/"),
        // A document of almost 2^63 bytes, and lengths without end.
        vec![0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        [0x12, 0x80].repeat(5_000),
        // A truncated index.
        valid[..valid.len() - 7].to_vec(),
    ];
    for bytes in invalid {
        let path = save_index(&sandbox, &bytes);
        let output = sandbox.run(&["index", "--scip", &path]).expect_code(2, "an invalid index");
        assert!(output.err.contains("nothing was changed"), "{output:?}");
    }

    // A path that is no file.
    sandbox.run(&["index", "--scip", "nowhere.scip"]).expect_code(2, "a missing file");
    let folder = sandbox.project.to_str().unwrap().to_owned();
    sandbox.run(&["index", "--scip", &folder]).expect_code(2, "a folder");

    // Three random bytes changed: the import may succeed or fail, but must not panic.
    let mut seeded = SeededRandom::new(21);
    for _ in 0..40 {
        let mut bytes = valid.clone();
        for _ in 0..3 {
            let position = seeded.index(bytes.len());
            bytes[position] = u8::try_from(seeded.below(256)).unwrap();
        }
        let path = save_index(&sandbox, &bytes);
        sandbox.run(&["index", "--scip", &path]).expect_no_panic("a mutated index");
    }

    // The valid index still gives the same edges.
    let path = save_index(&sandbox, &valid);
    sandbox.json(&["index", "--scip", &path]);
    assert_eq!((calls_of(&sandbox, "src/b.ts:go"), calls_of(&sandbox, "src/c.ts:f")), before);
}
