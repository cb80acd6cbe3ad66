//! Targets and answers of the code queries: paths in every form a user or an agent writes, similar
//! names for a misspelt target, calls of unknown receivers, and files understood in part.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::mcp::{answer_text, run_server, tool_call};
use crate::sandbox::{Sandbox, run_command};

/// A class `Context` whose method `json` one file calls on a typed value and two on an unknown one.
fn context_project() -> Sandbox {
    let sandbox = Sandbox::new();
    let files = [
        ("src/context.ts", "export class Context { json(x: unknown) {} }\n"),
        (
            "src/typed.ts",
            "import { Context } from './context'\nexport function send(c: Context) { c.json(1) }\n",
        ),
        ("src/routes.ts", "export const a = (c) => c.json(1)\nexport const b = (c) => c.json(2)\n"),
        (
            "test/context.test.ts",
            "import { Context } from '../src/context'\nit('answers', () => { new Context().json(1) })\n",
        ),
    ];
    for (path, text) in files {
        let path = sandbox.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    sandbox
}

#[test]
fn absolute_and_dotted_paths_name_the_same_target() {
    let sandbox = context_project();
    sandbox.json(&["index"]);
    let absolute = sandbox.project.join("src/context.ts").display().to_string();
    for target in [absolute.clone(), "./src/context.ts".to_owned(), "src/context.ts".to_owned()] {
        let symbol = format!("{target}:Context.json");
        let impact = sandbox.json(&["impact", &symbol]);
        assert_eq!(impact["targets"][0]["path"], "src/context.ts", "{target}: {impact}");
        let symbols = sandbox.json(&["symbols", &target]);
        assert_eq!(symbols["symbols"][0]["name"], "Context", "{target}: {symbols}");
        sandbox.json(&["neighbours", &target]);
    }
    let refused = sandbox.run(&["impact", "/etc/passwd"]).expect_code(2, "outside the project");
    assert!(refused.err.contains("outside"), "{refused:?}");
}

/// Runs a command in a folder of the project and returns its JSON output.
fn json_in(sandbox: &Sandbox, folder: &str, args: &[&str]) -> Value {
    let mut command = sandbox.command(&[args, &["--json"]].concat());
    command.current_dir(sandbox.project.join(folder));
    run_command(command).expect_code(0, &args.join(" ")).json()
}

#[test]
fn dotted_paths_are_meant_from_the_folder_of_the_shell() {
    let sandbox = context_project();
    fs::write(sandbox.project.join("context.ts"), "export const other = 1\n").unwrap();
    // Without a repository, the folder of the shell would be a project of its own.
    let mut git = std::process::Command::new("git");
    sandbox.set_environment(&mut git);
    assert!(git.args(["init", "-q"]).status().unwrap().success());
    sandbox.json(&["index"]);
    for (folder, target) in
        [("test", "../src/context.ts:Context"), ("src", "./context.ts:Context.json")]
    {
        let impact = json_in(&sandbox, folder, &["impact", target]);
        assert_eq!(impact["targets"][0]["path"], "src/context.ts", "{target}: {impact}");
    }
    let symbols = json_in(&sandbox, "test", &["symbols", "../src/context.ts"]);
    assert_eq!(symbols["symbols"][0]["name"], "Context", "{symbols}");
    let symbols = json_in(&sandbox, "src", &["symbols", "../context.ts"]);
    assert_eq!(symbols["symbols"][0]["name"], "other", "{symbols}");
}

#[test]
fn agents_may_name_files_by_absolute_paths() {
    let sandbox = context_project();
    sandbox.json(&["index"]);
    let file = sandbox.project.join("src/context.ts").display().to_string();
    let target = format!("{file}:Context.json");
    for tool in ["analyze_impact", "get_dependencies"] {
        let call = tool_call(1, tool, json!({ "target": target }));
        let answers = run_server(&sandbox, &["mcp"], &[call]);
        let path = &answers[1]["result"]["structuredContent"]["targets"][0]["path"];
        assert_eq!(path, "src/context.ts", "{tool}: {}", answers[1]);
    }
    let outside = tool_call(1, "analyze_impact", json!({ "target": "/etc/passwd" }));
    let answers = run_server(&sandbox, &["mcp"], &[outside]);
    assert!(answer_text(&answers[1]).contains("outside"), "{}", answers[1]);

    let _daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    let project = sandbox.project.display().to_string();
    for request in ["impact", "dependencies"] {
        let answer = client.request(
            json!({ "id": request, "request": request, "project": project, "target": target }),
        );
        assert_eq!(answer["ok"]["targets"][0]["path"], "src/context.ts", "{answer}");
    }
}

#[test]
fn a_handler_of_a_route_is_a_caller_of_the_context_it_gets() {
    let sandbox = Sandbox::new();
    let files = [
        ("context.ts", "export class Context { json(x: unknown) {} }\nclass Other { json() {} }\n"),
        (
            "app.ts",
            "import type { Context } from './context'\nexport type Handler = (c: Context) => Response\n\
             export interface Route { (handler: Handler): App; (path: string, ...handlers: [Handler, Handler]): App }\n\
             export class App { get!: Route; use(path: string, ...handlers: Handler[]) {} }\n",
        ),
        (
            "routes.ts",
            "import { App } from './app'\nexport function first(app: App) { app.use('/', (c) => c.json(1)) }\n\
             export function second(app: App) { app.get('/', (c) => c.json(2)) }\n\
             export function third(app: any) { app.get('/', (c) => c.json(3)) }\n",
        ),
    ];
    for (path, text) in files {
        fs::write(sandbox.project.join(path), text).unwrap();
    }
    sandbox.json(&["index"]);
    let impact = sandbox.json(&["impact", "Context.json", "--depth", "1"]);
    let reached = impact["reached"].as_array().unwrap();
    let mut callers: Vec<&str> =
        reached.iter().map(|it| it["symbol"]["name"].as_str().unwrap()).collect();
    callers.sort_unstable();
    assert_eq!(callers, ["first", "second"], "{impact}");
}

#[test]
fn a_misspelt_target_gets_similar_names() {
    let sandbox = context_project();
    sandbox.json(&["index"]);
    for (written, meant) in [
        ("Contxt", "`src/context.ts:Context`"),
        ("src/contxt.ts", "`src/context.ts`"),
        ("src/context.ts:jsn", "`src/context.ts:Context.json`"),
    ] {
        let refused = sandbox.run(&["impact", written]).expect_code(2, written);
        assert!(refused.err.contains("did you mean"), "{refused:?}");
        assert!(refused.err.contains(meant), "{meant}: {refused:?}");
    }
}

#[test]
fn impact_counts_calls_of_unknown_receivers_and_folds_tests() {
    let sandbox = context_project();
    sandbox.json(&["index"]);
    let impact = sandbox.json(&["impact", "Context.json"]);
    let unknown = &impact["unknown_receivers"];
    // A method with a unique name is guessed, so a second one makes the receivers unknown.
    assert_eq!(unknown["calls"], 0, "{impact}");
    fs::write(sandbox.project.join("src/other.ts"), "export class Other { json() {} }\n").unwrap();
    sandbox.json(&["index"]);
    let impact = sandbox.json(&["impact", "Context.json"]);
    let unknown = &impact["unknown_receivers"];
    assert_eq!((&unknown["name"], &unknown["calls"]), (&"json".into(), &2.into()), "{impact}");
    assert_eq!(unknown["files"][0]["path"], "src/routes.ts", "{impact}");

    let folded = sandbox.run(&["impact", "Context.json"]).expect_code(0, "impact");
    assert!(folded.out.contains("2 calls of `json` in 1 file"), "{folded:?}");
    assert!(folded.out.contains("src/routes.ts (2)"), "{folded:?}");
    assert!(!folded.out.contains("context.test.ts"), "tests are folded: {folded:?}");
    assert!(folded.out.contains("and 1 test; --tests lists them"), "{folded:?}");
    let unfolded = sandbox.run(&["impact", "Context.json", "--tests"]).expect_code(0, "--tests");
    assert!(unfolded.out.contains("test/context.test.ts"), "{unfolded:?}");
}

#[test]
fn files_understood_in_part_are_reported() {
    let sandbox = context_project();
    let broken =
        "export const a = 1\nexport interface B {\n  <<< (((\nexport function after() {}\n";
    fs::write(sandbox.project.join("src/broken.ts"), broken).unwrap();
    let indexed = sandbox.run(&["index"]).expect_code(0, "index");
    assert!(indexed.err.contains("1 file understood in part"), "{indexed:?}");
    // The definition behind the error is there.
    let symbols = sandbox.run(&["symbols", "src/broken.ts"]).expect_code(0, "symbols");
    assert!(symbols.out.contains("after"), "{symbols:?}");
    assert!(symbols.err.contains("1 file understood in part"), "{symbols:?}");
    assert_eq!(sandbox.json(&["symbols", "src/broken.ts"])["freshness"]["understood_in_part"], 1);
    let health = sandbox.run(&["doctor"]);
    assert!(health.out.contains("complete; 1 file understood in part"), "{health:?}");
}
