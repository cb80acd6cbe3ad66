//! The module map and the history by the real binary.

use std::fs;
use std::process::Command;

use crate::kit::Desk;

fn write(desk: &Desk, path: &str, text: &str) {
    let path = desk.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(desk: &Desk, words: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(&desk.project).args(words);
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Ada")
            .env(format!("GIT_{who}_EMAIL"), "ada@example.com");
        git.env(format!("GIT_{who}_DATE"), "1700000000 +0000");
    }
    let done =
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(done.status.success(), "git {words:?}: {done:?}");
}

/// Two packages, the second of which needs the first.
fn workspace() -> Desk {
    let desk = Desk::new();
    write(
        &desk,
        "package.json",
        r#"{ "name": "shop", "scripts": { "test": "vitest" }, "devDependencies": { "vitest": "1" } }"#,
    );
    for (name, about) in [("auth", "Who may come in"), ("cart", "")] {
        write(
            &desk,
            &format!("packages/{name}/package.json"),
            &format!(r#"{{ "name": "{name}", "description": "{about}" }}"#),
        );
    }
    for file in ["token", "login", "verify"] {
        write(
            &desk,
            &format!("packages/auth/src/{file}.ts"),
            &format!("export function {file}() {{}}\n"),
        );
    }
    write(
        &desk,
        "packages/cart/src/index.ts",
        "import { verify } from '../../auth/src/verify'\nexport const buy = () => verify()\n",
    );
    write(&desk, "packages/cart/src/price.ts", "export const price = 1\n");
    write(&desk, "packages/cart/src/stock.ts", "export const stock = 1\n");
    desk
}

fn modules(desk: &Desk) -> Vec<(String, String, String)> {
    let map = desk.json(&["map"]);
    let text = |it: &serde_json::Value| it.as_str().unwrap().to_owned();
    let row =
        |it: &serde_json::Value| (text(&it["id"]), text(&it["name"]), text(&it["description"]));
    map["modules"].as_array().unwrap().iter().map(row).collect()
}

fn row(id: &str, name: &str, description: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), description.to_owned())
}

#[test]
fn a_map_is_found_corrected_and_stays_corrected() {
    let desk = workspace();
    desk.run(&["map"]).ends(2, "before it was indexed");
    let indexed = desk.json(&["index"]);
    assert_eq!(indexed["modules"], 2, "{indexed}");
    assert_eq!(modules(&desk), [row("auth", "auth", "Who may come in"), row("cart", "cart", "")]);
    let cart = desk.json(&["map", "cart"]);
    assert_eq!(cart["needs"][0], "auth", "{cart}");
    assert_eq!(cart["entry_points"][0], "packages/cart/src/index.ts", "{cart}");
    let tools = desk.json(&["map"])["tools"].clone();
    assert!(tools.to_string().contains("npm test"), "{tools}");

    desk.json(&["map", "describe", "cart", "What", "somebody", "wants", "to", "buy"]);
    desk.json(&["map", "rename", "cart", "Basket"]);
    desk.json(&["map", "move", "cart", "packages/auth/src/token.ts"]);
    let told = desk.run(&["context", "start", "--task", "The basket forgets what is in it"]);
    assert!(told.out.contains("`Basket`: What somebody wants to buy"), "{told:?}");
    desk.json(&["remember", "Prices are in cents", "--file", "packages/cart/src/price.ts"]);
    // The folder is renamed, and everything is read anew.
    fs::rename(desk.project.join("packages/cart"), desk.project.join("packages/basket")).unwrap();
    desk.json(&["index"]);
    let expected = [
        row("auth", "auth", "Who may come in"),
        row("cart", "Basket", "What somebody wants to buy"),
    ];
    assert_eq!(modules(&desk), expected);
    let cart = desk.json(&["map", "basket"]);
    assert_eq!((cart["files"].as_u64(), cart["edited"].as_bool()), (Some(4), Some(true)), "{cart}");
    desk.run(&["undo"]).ends(0, "undo of the memory");
    desk.run(&["undo"]).ends(0, "undo of the move");
    assert_eq!(desk.json(&["map", "cart"])["files"], 3);
    desk.run(&["map", "nothing"]).ends(2, "an unknown module");
}

#[test]
fn the_history_is_read_once_and_anew_when_it_was_rewritten() {
    let desk = workspace();
    git(&desk, &["init", "-q", "-b", "main"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "-q", "-m", "begin"]);
    write(&desk, "packages/cart/src/price.ts", "export const price = 2\n");
    write(&desk, "packages/auth/src/login.ts", "export const login = 2\n");
    git(&desk, &["commit", "-q", "-a", "-m", "prices after login"]);
    let read = |new: u64, anew: bool| {
        let history = desk.json(&["index"])["history"].clone();
        assert_eq!(
            (history["new"].as_u64(), history["anew"].as_bool()),
            (Some(new), Some(anew)),
            "{history}"
        );
    };
    read(2, false);
    read(0, false);
    let files = desk.json(&[
        "context",
        "files",
        "--task",
        "more of it",
        "--file",
        "packages/cart/src/price.ts",
    ]);
    assert_eq!(files["files"][0], "packages/auth/src/login.ts", "{files}");
    git(&desk, &["mv", "packages/auth/src/login.ts", "packages/auth/src/enter.ts"]);
    git(&desk, &["commit", "-q", "-m", "enter"]);
    read(1, false);
    let files = desk.json(&[
        "context",
        "files",
        "--task",
        "more of it",
        "--file",
        "packages/cart/src/price.ts",
    ]);
    assert_eq!(files["files"][0], "packages/auth/src/enter.ts", "the renamed file: {files}");
    git(&desk, &["commit", "-q", "--amend", "-m", "enter, said otherwise"]);
    read(3, true);
}

#[test]
fn a_named_file_leads_to_what_is_remembered_next_to_it() {
    let desk = workspace();
    desk.json(&[
        "remember",
        "Tokens of guests expire at midnight",
        "--file",
        "packages/auth/src/verify.ts",
    ]);
    desk.json(&[
        "remember",
        "The stock is counted twice a year",
        "--file",
        "packages/cart/src/stock.ts",
    ]);
    let paths = |without: &[&str]| -> Vec<String> {
        let mut args =
            vec!["search", "what depends on packages/cart/src/index.ts", "--without", "abstain"];
        args.extend(without);
        let hits = desk.json(&args)["hits"].as_array().unwrap().clone();
        let tokens =
            hits.iter().find(|it| it["memory"]["content"].as_str().unwrap().starts_with("Tokens"));
        let paths =
            tokens.map_or(Vec::new(), |it| it["because"]["paths"].as_array().unwrap().clone());
        paths.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
    };
    let by_graph = |paths: &[String]| paths.iter().any(|it| it == "graph");
    assert!(!by_graph(&paths(&[])), "without an index there is no such path");
    desk.json(&["index"]);
    assert!(by_graph(&paths(&[])), "the file it imports: {:?}", paths(&[]));
    assert!(!by_graph(&paths(&["--without", "graph"])));
}
