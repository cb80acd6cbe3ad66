//! Tests of the module map (`waylore map`), of the commit history that `waylore index` reads, and of
//! searches that use the code graph.
//!
//! A *module* is a part of the project that belongs together; here each package of a TypeScript
//! workspace is one: `auth` and `cart`. In the JSON of a module, `needs` lists the modules it depends
//! on, `files` is the number of its files, and `edited` is true if the user has corrected it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::{answer_text, run_server, tool_call};
use crate::sandbox::Sandbox;

fn write_file(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs git in the project with a fixed author and date, so that commit ids are the same in every run.
fn run_git(sandbox: &Sandbox, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(&sandbox.project).args(args);
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Ada")
            .env(format!("GIT_{role}_EMAIL"), "ada@example.com");
        git.env(format!("GIT_{role}_DATE"), "1700000000 +0000");
    }
    let output =
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

/// A workspace of two packages, each with three files; `cart` imports a file of `auth`.
fn workspace_project() -> Sandbox {
    let sandbox = Sandbox::new();
    write_file(
        &sandbox,
        "package.json",
        r#"{ "name": "shop", "scripts": { "test": "vitest" }, "devDependencies": { "vitest": "1" } }"#,
    );
    for (name, description) in [("auth", "Who may come in"), ("cart", "")] {
        write_file(
            &sandbox,
            &format!("packages/{name}/package.json"),
            &format!(r#"{{ "name": "{name}", "description": "{description}" }}"#),
        );
    }
    for file in ["token", "login", "verify"] {
        write_file(
            &sandbox,
            &format!("packages/auth/src/{file}.ts"),
            &format!("export function {file}() {{}}\n"),
        );
    }
    write_file(
        &sandbox,
        "packages/cart/src/index.ts",
        "import { verify } from '../../auth/src/verify'\nexport const buy = () => verify()\n",
    );
    write_file(&sandbox, "packages/cart/src/price.ts", "export const price = 1\n");
    write_file(&sandbox, "packages/cart/src/stock.ts", "export const stock = 1\n");
    sandbox
}

/// Id, name and description of a module.
type ModuleRow = (String, String, String);

fn listed_modules(sandbox: &Sandbox) -> Vec<ModuleRow> {
    let map = sandbox.json(&["map"]);
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let row = |it: &Value| (text(&it["id"]), text(&it["name"]), text(&it["description"]));
    map["modules"].as_array().unwrap().iter().map(row).collect()
}

fn module_row(id: &str, name: &str, description: &str) -> ModuleRow {
    (id.to_owned(), name.to_owned(), description.to_owned())
}

#[test]
fn a_misspelt_module_gets_similar_names() {
    let sandbox = workspace_project();
    sandbox.json(&["index"]);
    let rename = ["map", "rename", "packages/outh", "Login"];
    for args in [&["map", "outh"][..], &["map", "auht"], &rename] {
        let refused = sandbox.run(args).expect_code(2, "a misspelt module");
        assert!(refused.err.contains("did you mean `auth`?"), "{refused:?}");
    }
    let call = tool_call(1, "get_module_map", json!({ "module": "Carts" }));
    let answers = run_server(&sandbox, &["mcp"], &[call]);
    assert!(answer_text(&answers[1]).contains("did you mean `cart`?"), "{}", answers[1]);
}

#[cfg(unix)]
#[test]
fn the_daemon_suggests_similar_names_for_a_misspelt_module() {
    let sandbox = workspace_project();
    sandbox.json(&["index"]);
    let _daemon = crate::daemon::RunningDaemon::start(&sandbox);
    let answer = crate::daemon::DaemonClient::connect(&sandbox).request(
        json!({ "id": 1, "request": "module_map", "project": sandbox.project, "module": "carts" }),
    );
    assert!(answer["error"].to_string().contains("did you mean `cart`?"), "{answer}");
}

#[test]
fn corrections_of_the_map_survive_a_new_index() {
    let sandbox = workspace_project();
    sandbox.run(&["map"]).expect_code(2, "map without an index");

    // The map as detected.
    let indexed = sandbox.json(&["index"]);
    assert_eq!(indexed["modules"], 2, "{indexed}");
    assert_eq!(
        listed_modules(&sandbox),
        [module_row("auth", "auth", "Who may come in"), module_row("cart", "cart", "")]
    );
    let cart = sandbox.json(&["map", "cart"]);
    assert_eq!(cart["needs"][0], "auth", "{cart}");
    assert_eq!(cart["entry_points"][0], "packages/cart/src/index.ts", "{cart}");
    let tools = sandbox.json(&["map"])["tools"].clone();
    assert!(tools.to_string().contains("npm test"), "{tools}");

    // The user corrects description, name and files of a module.
    sandbox.json(&["map", "describe", "cart", "What", "somebody", "wants", "to", "buy"]);
    sandbox.json(&["map", "rename", "cart", "Basket"]);
    sandbox.json(&["map", "move", "cart", "packages/auth/src/token.ts"]);
    let context = sandbox.run(&["context", "start", "--task", "The basket forgets what is in it"]);
    assert!(context.out.contains("`Basket`: What somebody wants to buy"), "{context:?}");
    sandbox.json(&["remember", "Prices are in cents", "--file", "packages/cart/src/price.ts"]);

    // The corrections survive when the folder is renamed and the project indexed again.
    fs::rename(sandbox.project.join("packages/cart"), sandbox.project.join("packages/basket"))
        .unwrap();
    sandbox.json(&["index"]);
    let expected = [
        module_row("auth", "auth", "Who may come in"),
        module_row("cart", "Basket", "What somebody wants to buy"),
    ];
    assert_eq!(listed_modules(&sandbox), expected);
    // The id stays `cart`; the module is also found by its new name, in any case. It has its own three
    // files and the moved `token.ts`.
    let cart = sandbox.json(&["map", "basket"]);
    assert_eq!(cart["files"], 4, "{cart}");
    assert_eq!(cart["edited"], true, "{cart}");

    // Corrections can be undone like changes of memories, the latest first.
    sandbox.run(&["undo"]).expect_code(0, "undo of the memory");
    sandbox.run(&["undo"]).expect_code(0, "undo of the move");
    assert_eq!(sandbox.json(&["map", "cart"])["files"], 3);
    sandbox.run(&["map", "nothing"]).expect_code(2, "an unknown module");
}

/// Part of the history that `index` has read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HistoryRead {
    NewCommits,
    /// All commits, because the known ones are no longer part of the history.
    AllAgain,
}

#[test]
fn history_is_read_incrementally_and_again_after_a_rewrite() {
    let sandbox = workspace_project();
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    run_git(&sandbox, &["add", "."]);
    run_git(&sandbox, &["commit", "-q", "-m", "begin"]);
    write_file(&sandbox, "packages/cart/src/price.ts", "export const price = 2\n");
    write_file(&sandbox, "packages/auth/src/login.ts", "export const login = 2\n");
    run_git(&sandbox, &["commit", "-q", "-a", "-m", "prices after login"]);
    // Indexes and asserts the number of commits read (`new`), and whether the known ones were read
    // again (`anew`).
    let assert_commits_read = |n_commits: u64, part: HistoryRead| {
        let history = sandbox.json(&["index"])["history"].clone();
        assert_eq!(history["new"], n_commits, "{history}");
        assert_eq!(history["anew"], part == HistoryRead::AllAgain, "{history}");
    };
    assert_commits_read(2, HistoryRead::NewCommits);
    assert_commits_read(0, HistoryRead::NewCommits);

    // `context files` predicts which files a task will need. The first one for `price.ts` is the file
    // that was committed together with it.
    let first_prediction = || {
        let price = "packages/cart/src/price.ts";
        let files = sandbox.json(&["context", "files", "--task", "more of it", "--file", price]);
        files["files"][0].clone()
    };
    assert_eq!(first_prediction(), "packages/auth/src/login.ts");

    // A renamed file keeps its history.
    run_git(&sandbox, &["mv", "packages/auth/src/login.ts", "packages/auth/src/enter.ts"]);
    run_git(&sandbox, &["commit", "-q", "-m", "enter"]);
    assert_commits_read(1, HistoryRead::NewCommits);
    assert_eq!(first_prediction(), "packages/auth/src/enter.ts");

    // After an amended commit the known history is no longer a prefix of the current one, so all three
    // commits are read.
    run_git(&sandbox, &["commit", "-q", "--amend", "-m", "enter, reworded"]);
    assert_commits_read(3, HistoryRead::AllAgain);
}

#[test]
fn a_named_file_finds_memories_of_neighbouring_files() {
    let sandbox = workspace_project();
    sandbox.json(&[
        "remember",
        "Tokens of guests expire at midnight",
        "--file",
        "packages/auth/src/verify.ts",
    ]);
    sandbox.json(&[
        "remember",
        "The stock is counted twice a year",
        "--file",
        "packages/cart/src/stock.ts",
    ]);
    // Searches for a file of `cart` and returns whether the memory about the imported file of `auth`
    // was found through the code graph.
    let is_found_by_graph = |extra_args: &[&str]| {
        let query = "what depends on packages/cart/src/index.ts";
        // Without abstention, weak matches are hits, too.
        let mut args = vec!["search", query, "--without", "abstain"];
        args.extend(extra_args);
        let hits = sandbox.json(&args)["hits"].as_array().unwrap().clone();
        let is_token_memory =
            |it: &&Value| it["memory"]["content"].as_str().unwrap().starts_with("Tokens");
        hits.iter().find(is_token_memory).is_some_and(|hit| {
            hit["because"]["paths"].as_array().unwrap().iter().any(|it| it["path"] == "graph")
        })
    };
    assert!(!is_found_by_graph(&[]), "found before the project was indexed");
    sandbox.json(&["index"]);
    assert!(is_found_by_graph(&[]));
    assert!(!is_found_by_graph(&["--without", "graph"]), "found without the graph");
}
