//! The code graph on the command line: `index` builds it from a small TypeScript project; `impact`,
//! `deps`, `path`, `neighbours`, `symbols` and `chunks` query it. Covered are also changed, hostile and
//! damaged files, and memories attached to code.
//!
//! Exit codes: 0 success, 1 no result, 2 wrong usage or no index. In the JSON, `reached` lists the
//! symbols that a query found, `read` is the number of files that `index` parsed, `gone` that of deleted
//! files, and `freshness` has `complete` and the files that have changed since.

use std::fs;
use std::process::Command;

use crate::sandbox::{CommandOutput, Sandbox, string};

#[test]
fn an_indexed_project_answers_code_queries() {
    let sandbox = typescript_project();
    let refused = sandbox.run(&["impact", "verify"]).expect_code(2, "before `index`");
    assert!(refused.err.contains("not indexed yet"), "{refused:?}");
    let indexed = sandbox.json(&["index"]);
    assert_eq!(
        (indexed["files"].as_u64(), indexed["complete"].as_bool()),
        (Some(3), Some(true)),
        "without node_modules: {indexed}"
    );

    // `impact` finds the callers, tests included; a symbol may be given by its line.
    let impact = sandbox
        .run(&["--json", "impact", "src/auth.ts:verify", "--depth", "3"])
        .expect_code(0, "impact");
    assert_eq!(reached_symbols(&impact), ["src/login.ts:login", "test/login.test.ts:logs in"]);
    assert_eq!(impact.json()["reached"][1]["symbol"]["test"], true, "{impact:?}");
    assert_eq!(impact.json()["freshness"]["complete"], true);
    // Line 1 of the file is the function `verify`.
    let by_line =
        sandbox.run(&["--json", "impact", "src/auth.ts:1"]).expect_code(0, "impact of a line");
    assert_eq!(by_line.json()["targets"][0]["name"], "verify");

    // The other queries: what `login` depends on, the steps from the test over `login` to `verify`, and
    // the two files that `login.ts` is connected with.
    let deps = sandbox.run(&["--json", "deps", "login"]).expect_code(0, "deps");
    assert_eq!(reached_symbols(&deps), ["src/auth.ts:verify"]);
    let path = sandbox.json(&["path", "logs in", "verify"]);
    assert_eq!(path["steps"].as_array().unwrap().len(), 3, "{path}");
    let neighbours = sandbox.json(&["neighbours", "src/login.ts"]);
    assert_eq!(neighbours["files"].as_array().unwrap().len(), 2, "{neighbours}");
    let symbols = sandbox.run(&["symbols", "auth.ts"]).expect_code(0, "symbols");
    assert!(symbols.out.contains("verify"), "{symbols:?}");
    let chunks = sandbox.json(&["chunks", "src/auth.ts"]);
    assert_eq!(chunks["chunks"][0]["title"], "File: src/auth.ts | function: verify | Lines: 1–1");
}

#[test]
fn an_unchanged_project_has_the_same_totals() {
    let sandbox = typescript_project();
    write(&sandbox, "src/huge.min.js", "");
    let first = sandbox.json(&["index"]);
    // The first run may have met files that were written just now; the last one finds nothing to do.
    sandbox.json(&["index"]);
    let last = sandbox.json(&["index"]);
    assert_eq!(last["read"], 0, "{last}");
    for key in
        ["files", "symbols", "edges", "unresolved_calls", "foreign_calls", "skipped", "modules"]
    {
        assert!(!first[key].is_null(), "{key}: {first}");
        assert_eq!(first[key], last[key], "{key}");
    }
    sandbox.run(&["impact", "src/auth.ts:verify"]).expect_code(0, "impact");
}

#[test]
fn changed_files_are_reported_and_indexed_again() {
    let sandbox = typescript_project();
    sandbox.json(&["index"]);

    // A changed file: `impact` reports that its answer may be out of date, `index` reads only this file.
    let renamed_function =
        "import { verify } from './auth'\nexport const enter = () => { verify('b') }\n";
    write(&sandbox, "src/login.ts", renamed_function);
    let outdated = sandbox.run(&["--json", "impact", "verify"]).expect_code(0, "before `index`");
    assert_eq!(outdated.json()["freshness"]["changed"][0], "src/login.ts", "{outdated:?}");
    let indexed = sandbox.json(&["index"]);
    assert_eq!(indexed["read"], 1, "{indexed}");
    // The test still calls `login`, which no longer exists, so it is not reached any more.
    let current =
        sandbox.run(&["--json", "impact", "verify", "-d", "3"]).expect_code(0, "after `index`");
    assert_eq!(reached_symbols(&current), ["src/login.ts:enter"], "{current:?}");

    // A removed caller, and a second symbol of the same name.
    fs::remove_file(sandbox.project.join("src/login.ts")).unwrap();
    write(&sandbox, "src/twin.ts", "export function verify() {}\n");
    assert_eq!(sandbox.json(&["index"])["gone"], 1);
    let ambiguous = sandbox.run(&["impact", "verify"]).expect_code(2, "an ambiguous name");
    assert!(ambiguous.err.contains("src/auth.ts:verify, src/twin.ts:verify"), "{ambiguous:?}");
    sandbox.run(&["impact", "src/auth.ts:verify"]).expect_code(1, "no caller is left");
    assert_eq!(sandbox.json(&["index"])["read"], 0, "nothing has changed since");
}

#[test]
fn impact_includes_the_memories_of_the_file() {
    let sandbox = typescript_project();
    let text = "Tokens are verified twice on purpose";
    sandbox.json(&["remember", "--new", "--file", "src/auth.ts", "--", text]);
    sandbox.json(&["index"]);
    let impact = sandbox.json(&["impact", "src/auth.ts:verify"]);
    assert_eq!(impact["memories"][0]["content"], text, "{impact}");
}

#[test]
fn a_memory_of_a_symbol_loses_confidence_when_its_code_changes() {
    let sandbox = typescript_project();
    let text = "Tokens are verified twice on purpose";
    let remembered = sandbox.json(&["remember", "--new", "--at", "src/auth.ts:verify", "--", text]);
    let id = string(&remembered["memory"]["id"]);
    assert_eq!(remembered["memory"]["anchors"][0]["symbol"], "verify", "{remembered}");

    // Comments and white space do not count as a change.
    let reformatted = "// Twice.\nexport function verify(t: string) {\n  return t\n}\n";
    write(&sandbox, "src/auth.ts", reformatted);
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(shown["caveats"].as_array().unwrap().len(), 0, "{shown}");
    let confidence_before = shown["memory"]["current_confidence"].as_f64().unwrap();

    // A change of the code adds a caveat and lowers the confidence.
    write(&sandbox, "src/auth.ts", "export function verify(t: string) { return t + t }\n");
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(shown["caveats"][0], "`verify` in `src/auth.ts` changed since", "{shown}");
    let confidence_after = shown["memory"]["current_confidence"].as_f64().unwrap();
    assert!(confidence_after < confidence_before, "{shown}");

    // `--file` with `--symbol` means the same as `--at`.
    let two_options =
        ["remember", "--file", "src/auth.ts", "--symbol", "verify", "--new", "--", text];
    assert_eq!(sandbox.json(&two_options)["memory"]["anchors"][0]["file"], "src/auth.ts");
    sandbox
        .run(&["remember", "--at", "src/auth.ts:nothing", "--", text])
        .expect_code(2, "an unknown symbol");
}

#[test]
fn hostile_files_do_not_stop_the_index() {
    let sandbox = typescript_project();
    // Deep nesting, a wrong encoding, and a file over the size limit.
    write(&sandbox, "src/deep.ts", &"(\n".repeat(100_000));
    fs::write(sandbox.project.join("src/odd.py"), b"\xff\xfe def f(): pass\n").unwrap();
    fs::File::create(sandbox.project.join("src/huge.js")).unwrap().set_len(50 << 20).unwrap();
    // A link that leads back to the project, and a named pipe.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&sandbox.project, sandbox.project.join("src/loop")).unwrap();
        // Opening a named pipe would block until there is a writer.
        let pipe = sandbox.project.join("src/pipe.ts");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let indexed = sandbox.json(&["index"]);
    // The three files of the project, `deep.ts` and `odd.py`.
    assert_eq!(indexed["files"], 5, "{indexed}");
    assert_eq!(indexed["skipped"][0]["why"], "larger than 2 MB", "{indexed}");
}

#[test]
fn generated_functions_have_callers_but_are_no_suggestions() {
    let sandbox = typescript_project();
    let generated =
        "// Code generated by openapi. DO NOT EDIT.\nexport function fetchUser() { return 1 }\n";
    write(&sandbox, "src/client.ts", generated);
    write(
        &sandbox,
        "src/page.ts",
        "import { fetchUser } from './client'\nexport const page = () => fetchUser()\n",
    );
    // A bundle stays out, whatever it says.
    let bundle = format!("// @generated\nvar a={};", "1+".repeat(20_000));
    write(&sandbox, "src/bundle.js", &bundle);
    let indexed = sandbox.json(&["index"]);
    assert_eq!(indexed["skipped"], serde_json::json!([{ "why": "minified", "files": 1 }]));

    let impact =
        sandbox.run(&["--json", "impact", "src/client.ts:fetchUser"]).expect_code(0, "impact");
    assert_eq!(reached_symbols(&impact), ["src/page.ts:page"]);
    assert_eq!(impact.json()["targets"][0]["generated"], true, "{impact:?}");
    assert_eq!(impact.json()["reached"][0]["symbol"]["generated"], false, "{impact:?}");

    let misspelt = sandbox.run(&["impact", "fetchUsre"]).expect_code(2, "a misspelt function");
    assert!(!misspelt.err.contains("fetchUser"), "{misspelt:?}");
    let map = sandbox.json(&["map"]);
    let id = string(&map["modules"][0]["id"]);
    let module = sandbox.json(&["map", &id]);
    assert_eq!(module["files"], 4, "auth, login, page and the test: {module}");
    assert!(!module.to_string().contains("client.ts"), "{module}");
    // The tree of the last commit suggests files by their names.
    for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "first"]] {
        let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let mut git = Command::new("git");
        assert!(
            git.arg("-C").arg(&sandbox.project).args(author).args(args).status().unwrap().success()
        );
    }
    let task = "change the client and the page";
    let predicted = sandbox.json(&["context", "files", "--task", task]).to_string();
    assert!(predicted.contains("page.ts") && !predicted.contains("client.ts"), "{predicted}");
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let sandbox = typescript_project();
    sandbox.json(&["index"]);
    let database = sandbox.project_data_dir().join("graph.db");
    assert!(database.exists());
    fs::write(&database, "not a database").unwrap();
    // The write-ahead log could still hold valid pages.
    let _ = fs::remove_file(database.with_extension("db-wal"));
    let rebuilt = sandbox.json(&["index"]);
    assert_eq!(
        (rebuilt["read"].as_u64(), rebuilt["files"].as_u64()),
        (Some(3), Some(3)),
        "{rebuilt}"
    );
    sandbox.run(&["impact", "src/auth.ts:verify"]).expect_code(0, "impact after the rebuild");
}

#[test]
fn purging_a_project_removes_its_index() {
    let sandbox = typescript_project();
    sandbox.json(&["index"]);
    let folder = sandbox.project_data_dir();
    sandbox.run(&["purge", "--this-project", "--yes"]).expect_code(0, "purge");
    assert!(!folder.exists());
}

/// A project in which a test calls `login`, which calls `verify`. `node_modules` must be ignored.
fn typescript_project() -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox, "src/auth.ts", "export function verify(t: string) { return t }\n");
    write(
        &sandbox,
        "src/login.ts",
        "import { verify } from './auth'\nexport const login = () => verify('a')\n",
    );
    write(
        &sandbox,
        "test/login.test.ts",
        "import { login } from '../src/login'\nit('logs in', () => { login() })\n",
    );
    write(&sandbox, "node_modules/x/index.ts", "export function verify() {}\n");
    sandbox
}

/// Writes a file of the project and the folders above it.
fn write(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The symbols in the answer of `impact` or `deps`, as `path:name`.
fn reached_symbols(output: &CommandOutput) -> Vec<String> {
    let reached = output.json()["reached"].as_array().unwrap().clone();
    let symbols = reached.iter().map(|it| &it["symbol"]);
    symbols.map(|it| format!("{}:{}", string(&it["path"]), string(&it["name"]))).collect()
}
