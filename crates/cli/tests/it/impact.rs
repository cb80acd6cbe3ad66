//! Targets and answers of the code queries: paths in every form a user or an agent writes, similar
//! names for a misspelt target, calls of unknown receivers, and files understood in part.

use std::fs;

use crate::sandbox::Sandbox;

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
