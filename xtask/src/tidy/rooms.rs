//! Who may see whom: the table of rooms, held against every manifest.

use std::path::Path;

use serde_json::Value;

use super::Problem;
use crate::tree::Tree;

/// One room and the rooms it may depend on.
struct Room {
    name: &'static str,
    sees: &'static [&'static str],
}

/// A room sees only rooms above it, so there is no way round. Rooms may be listed before they exist.
#[rustfmt::skip]
const ROOMS: &[Room] = &[
    //   room       sees
    room("model",   &[]),
    room("secrets", &[]),
    room("graph",   &["model"]),
    room("observe", &["model"]),
    room("promote", &["model"]),
    room("recall",  &["model"]),
    room("agents",  &["model"]),
    room("source",  &["model"]),
    room("store",   &["model"]),
    room("infer",   &["model"]),
    room("sync",    &["model", "store"]),
    room("engine",  &["model", "secrets", "graph", "observe", "promote", "recall", "agents", "source", "store", "infer", "sync"]),
    room("serve",   &["model", "engine"]),
    room("mcp",     &["model", "engine"]),
    room("cli",     &["model", "engine", "serve", "mcp"]),
    room("testkit", &["model", "secrets", "graph", "observe", "promote", "recall", "agents", "source", "store", "infer", "sync", "engine"]),
];

/// Folders that are no rooms: they measure and check the others and may see any.
const OUTSIDE: &[&str] = &["bench", "eval", "xtask"];

/// Seen by every room's tests, beside what the room itself sees.
const FOR_TESTS: &str = "testkit";

const TABLE: &str = "xtask/src/tidy/rooms.rs";

const fn room(name: &'static str, sees: &'static [&'static str]) -> Room {
    Room { name, sees }
}

/// Reads what `cargo metadata --no-deps` says.
pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree, metadata: &Value) {
    for package in array(&metadata["packages"]) {
        let Some(manifest) = within(&tree.root, text(&package["manifest_path"])) else { continue };
        if OUTSIDE.iter().any(|it| manifest.split('/').next() == Some(it)) {
            continue;
        }
        let name = room_of(&manifest);
        let Some(room) = ROOMS.iter().find(|it| it.name == name) else {
            let what = format!("`{name}` is not in the table of rooms ({TABLE})");
            let remedy = "add a row there, to ARCHITECTURE.md, and a design note for the new door";
            acc.push(Problem::failure(&manifest, 1, what, remedy));
            continue;
        };
        check_doors(acc, tree, room, &manifest, array(&package["dependencies"]));
    }
}

fn check_doors(acc: &mut Vec<Problem>, tree: &Tree, room: &Room, manifest: &str, doors: &[Value]) {
    for door in doors {
        // Only dependencies by path are rooms.
        let Some(path) = within(&tree.root, text(&door["path"])) else { continue };
        let seen = room_of(&format!("{path}/Cargo.toml")).to_owned();
        let for_tests = text(&door["kind"]) == "dev" && seen == FOR_TESTS;
        if for_tests || room.sees.contains(&seen.as_str()) {
            continue;
        }
        let known_as = if door["rename"].is_string() { &door["rename"] } else { &door["name"] };
        let line = line_of(tree, manifest, text(known_as));
        let what = format!("`{}` may not see `{seen}` ({TABLE})", room.name);
        let remedy = "move what both need down to `model`, or let `engine` hold the two";
        acc.push(Problem::failure(manifest, line, what, remedy));
    }
}

/// The folder of a manifest names its room.
fn room_of(manifest: &str) -> &str {
    let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or_default();
    folder.rsplit('/').next().unwrap_or_default()
}

fn within(root: &str, path: &str) -> Option<String> {
    let inside = Path::new(path).strip_prefix(root).ok()?;
    Some(inside.to_str()?.replace('\\', "/"))
}

fn line_of(tree: &Tree, manifest: &str, dependency: &str) -> usize {
    let names = |line: &str| {
        line.strip_prefix(dependency).is_some_and(|it| it.starts_with([' ', '.', '=']))
    };
    let found = tree.file(manifest).and_then(|it| it.text.lines().position(names));
    found.map_or(1, |it| it + 1)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
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
    fn a_room_sees_only_rooms_above_it() {
        for (i, room) in ROOMS.iter().enumerate() {
            for seen in room.sees {
                assert!(ROOMS[..i].iter().any(|it| it.name == *seen), "{} → {seen}", room.name);
            }
        }
    }

    /// One package a line: `crates/recall: model store(dev)`.
    fn check(script: &str, expect: Expect) {
        let root = "/srv/checkout/waylore";
        let mut packages = Vec::new();
        let mut files = Vec::new();
        for line in script.lines() {
            let (folder, doors) = line.split_once(':').unwrap();
            let door = |it: &str| {
                let dev = it.strip_suffix("(dev)");
                let name = dev.unwrap_or(it);
                json!({
                    "name": format!("waylore-{name}"), "rename": name,
                    "kind": dev.map(|_| "dev"), "path": format!("{root}/crates/{name}"),
                })
            };
            let dependencies: Vec<Value> = doors.split_whitespace().map(door).collect();
            let manifest_path = format!("{root}/{folder}/Cargo.toml");
            packages.push(json!({"manifest_path": manifest_path, "dependencies": dependencies}));
            let text =
                doors.replace(' ', "\n").replace("(dev)", "").replace('\n', ".workspace = true\n");
            files.push(File {
                path: format!("{folder}/Cargo.toml"),
                text: format!("{text}.workspace = true"),
            });
        }
        let tree = Tree { root: root.to_owned(), files };
        let mut acc = Vec::new();
        super::check(&mut acc, &tree, &json!({"packages": packages}));
        expect.assert_eq(&lines(&acc));
    }

    #[test]
    fn doors_that_are_in_the_table_are_open() {
        check(
            "crates/recall: model testkit(dev)\ncrates/sync: model store\ncrates/cli: serve engine model\nxtask: cli store",
            expect![""],
        );
    }

    #[test]
    fn other_doors_are_closed() {
        check(
            "crates/recall: model store",
            expect![[r"
            crates/recall/Cargo.toml:3: `recall` may not see `store` (xtask/src/tidy/rooms.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/recall: store(dev)",
            expect![[r"
            crates/recall/Cargo.toml:2: `recall` may not see `store` (xtask/src/tidy/rooms.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/recall: testkit",
            expect![[r"
            crates/recall/Cargo.toml:2: `recall` may not see `testkit` (xtask/src/tidy/rooms.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/model: secrets",
            expect![[r"
            crates/model/Cargo.toml:2: `model` may not see `secrets` (xtask/src/tidy/rooms.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/serve: store",
            expect![[r"
            crates/serve/Cargo.toml:2: `serve` may not see `store` (xtask/src/tidy/rooms.rs); move what both need down to `model`, or let `engine` hold the two
        "]],
        );
        check(
            "crates/helpers: model",
            expect![[r"
            crates/helpers/Cargo.toml:1: `helpers` is not in the table of rooms (xtask/src/tidy/rooms.rs); add a row there, to ARCHITECTURE.md, and a design note for the new door
        "]],
        );
    }
}
