//! Allowed dependencies between crates: a table, checked against every manifest, as
//! `cargo metadata --no-deps` prints them:
//!
//! ```text
//! {"manifest_path":"/…/crates/sync/Cargo.toml",
//!  "dependencies":[{"name":"waylore-store","rename":"store","kind":null,"path":"/…/crates/store"}]}
//! ```

use std::path::Path;

use serde_json::Value;

use super::Problem;
use crate::tree::Tree;

/// One crate and the crates it may depend on.
struct CrateRow {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// A crate uses only crates above it, so there are no cycles. Crates may be listed before they exist.
#[rustfmt::skip]
const CRATE_TABLE: &[CrateRow] = &[
    //    crate      may use
    uses("model",   &[]),
    uses("secrets", &[]),
    uses("arena",   &[]),
    uses("graph",   &["model", "arena"]),
    uses("history", &["model"]),
    uses("modules", &["model"]),
    uses("observe", &["model"]),
    uses("promote", &["model"]),
    uses("claims",  &["model", "observe"]),
    uses("recall",  &["model"]),
    uses("agents",  &["model"]),
    uses("source",  &["model"]),
    uses("store",   &["model", "secrets"]),
    uses("infer",   &["model"]),
    uses("sync",    &["model", "store"]),
    uses("engine",  &["model", "secrets", "graph", "history", "modules", "observe", "claims", "promote", "recall", "agents", "source", "store", "infer", "sync"]),
    uses("serve",   &["model", "engine"]),
    uses("mcp",     &["model", "engine"]),
    uses("cli",     &["model", "engine", "serve", "mcp"]),
    uses("testkit", &["model", "secrets", "graph", "history", "modules", "observe", "claims", "promote", "recall", "agents", "source", "store", "infer", "sync", "engine"]),
];

/// Folders of tools that measure and check the crates and may use any of them.
const TOOL_FOLDERS: &[&str] = &["bench", "eval", "xtask"];

/// The tests of every crate may use this one as well.
const TEST_SUPPORT: &str = "testkit";

const TABLE_PATH: &str = "xtask/src/tidy/crates.rs";

const fn uses(name: &'static str, may_use: &'static [&'static str]) -> CrateRow {
    CrateRow { name, may_use }
}

/// Checks the output of `cargo metadata --no-deps`.
pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree, metadata: &Value) {
    for package in json_array(&metadata["packages"]) {
        // A package outside the checkout is not ours.
        let manifest = path_in_checkout(&tree.root, json_str(&package["manifest_path"]));
        let Some(manifest) = manifest else { continue };
        if TOOL_FOLDERS.iter().any(|it| manifest.split('/').next() == Some(it)) {
            continue;
        }
        let name = crate_name(&manifest);
        let Some(row) = CRATE_TABLE.iter().find(|it| it.name == name) else {
            let what = format!("`{name}` is not in the table of crates ({TABLE_PATH})");
            let remedy = "add a row there and to ARCHITECTURE.md, and write a design note";
            acc.push(Problem::failure(&manifest, 1, what, remedy));
            continue;
        };
        check_dependencies(acc, tree, row, &manifest, json_array(&package["dependencies"]));
    }
}

fn check_dependencies(
    acc: &mut Vec<Problem>,
    tree: &Tree,
    row: &CrateRow,
    manifest: &str,
    dependencies: &[Value],
) {
    for dependency in dependencies {
        // Only dependencies by path are crates of this workspace.
        let path = path_in_checkout(&tree.root, json_str(&dependency["path"]));
        let Some(path) = path else { continue };
        let used = crate_name(&format!("{path}/Cargo.toml")).to_owned();
        let is_for_tests = json_str(&dependency["kind"]) == "dev" && used == TEST_SUPPORT;
        if is_for_tests || row.may_use.contains(&used.as_str()) {
            continue;
        }
        // The name at the beginning of its line in the manifest.
        let known_as = if dependency["rename"].is_string() {
            &dependency["rename"]
        } else {
            &dependency["name"]
        };
        let line = line_of(tree, manifest, json_str(known_as));
        let what = format!("`{}` may not use `{used}` ({TABLE_PATH})", row.name);
        let remedy = "move what both need down to `model`, or let `engine` hold the two";
        acc.push(Problem::failure(manifest, line, what, remedy));
    }
}

/// `store` for `crates/store/Cargo.toml`: the folder of a manifest names its crate.
fn crate_name(manifest: &str) -> &str {
    let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or_default();
    folder.rsplit('/').next().unwrap_or_default()
}

/// A path relative to the checkout; `None` if it is outside.
fn path_in_checkout(root: &str, path: &str) -> Option<String> {
    let inside = Path::new(path).strip_prefix(root).ok()?;
    Some(inside.to_str()?.replace('\\', "/"))
}

/// The line of a dependency (`store.workspace = true`) in a manifest; 1 if it is not found.
fn line_of(tree: &Tree, manifest: &str, dependency: &str) -> usize {
    let Some(file) = tree.file(manifest) else { return 1 };
    let names_it = |line: &str| {
        line.strip_prefix(dependency).is_some_and(|it| it.starts_with([' ', '.', '=']))
    };
    file.text.lines().position(names_it).map_or(1, |it| it + 1)
}

/// The elements of a JSON array; none for any other value.
fn json_array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A JSON string; empty for any other value.
fn json_str(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::lines;
    use crate::tree::File;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[test]
    fn a_crate_uses_only_crates_above_it() {
        for (i, row) in CRATE_TABLE.iter().enumerate() {
            for used in row.may_use {
                let is_above = CRATE_TABLE[..i].iter().any(|it| it.name == *used);
                assert!(is_above, "{} → {used}", row.name);
            }
        }
    }

    /// Checks packages given one per line: `crates/recall: model store(dev)` is a folder and its
    /// dependencies. Each gets its metadata, and a manifest with an empty first line and one dependency
    /// in each further line, so that `model` is in line 2.
    fn check(script: &str, expect: Expect) {
        let root = "/srv/checkout/waylore";
        let mut packages = Vec::new();
        let mut files = Vec::new();
        for line in script.lines() {
            let (folder, words) = line.split_once(':').unwrap();
            let mut dependencies = Vec::new();
            let mut manifest = "\n".to_owned();
            for word in words.split_whitespace() {
                let (name, kind) = match word.strip_suffix("(dev)") {
                    Some(name) => (name, Some("dev")),
                    None => (word, None),
                };
                dependencies.push(json!({
                    "name": format!("waylore-{name}"), "rename": name,
                    "kind": kind, "path": format!("{root}/crates/{name}"),
                }));
                manifest.extend([name, ".workspace = true\n"]);
            }
            let manifest_path = format!("{root}/{folder}/Cargo.toml");
            packages.push(json!({"manifest_path": manifest_path, "dependencies": dependencies}));
            files.push(File { path: format!("{folder}/Cargo.toml"), text: manifest });
        }
        let tree = Tree { root: root.to_owned(), files };
        let mut acc = Vec::new();
        super::check(&mut acc, &tree, &json!({"packages": packages}));
        expect.assert_eq(&lines(&acc));
    }

    #[test]
    fn dependencies_in_the_table_are_allowed() {
        check(
            "crates/recall: model testkit(dev)\ncrates/sync: model store\ncrates/cli: serve engine model\nxtask: cli store",
            expect![""],
        );
    }

    #[test]
    fn other_dependencies_are_rejected() {
        check(
            "crates/recall: model store",
            expect![[r"
            crates/recall/Cargo.toml:3: `recall` may not use `store` (xtask/src/tidy/crates.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/recall: store(dev)",
            expect![[r"
            crates/recall/Cargo.toml:2: `recall` may not use `store` (xtask/src/tidy/crates.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/recall: testkit",
            expect![[r"
            crates/recall/Cargo.toml:2: `recall` may not use `testkit` (xtask/src/tidy/crates.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/model: secrets",
            expect![[r"
            crates/model/Cargo.toml:2: `model` may not use `secrets` (xtask/src/tidy/crates.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/serve: store",
            expect![[r"
            crates/serve/Cargo.toml:2: `serve` may not use `store` (xtask/src/tidy/crates.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/helpers: model",
            expect![[r"
            crates/helpers/Cargo.toml:1: `helpers` is not in the table of crates (xtask/src/tidy/crates.rs); add a row there and to ARCHITECTURE.md, and write a design note
        "]],
        );
    }
}
