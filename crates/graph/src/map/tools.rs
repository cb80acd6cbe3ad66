//! How a project is built, tested, checked and run, told from its manifests and its CI.

use std::collections::BTreeSet;

use model::closed;
use serde_json::Value;

closed! {
    /// What a tool is for.
    pub enum ToolKind : "tool kind" {
        BuildTool = "build_tool",
        Build = "build",
        Test = "test",
        Lint = "lint",
        Run = "run",
        TestFramework = "test_framework",
        Framework = "framework",
    }
}

/// A tool or a command, and the file that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub kind: ToolKind,
    pub value: String,
    pub from: String,
}

/// Files that are looked for in every folder; whether one makes its folder a package.
#[rustfmt::skip]
pub const MANIFESTS: &[(&str, bool)] = &[
    ("Cargo.toml", true), ("package.json", true), ("pyproject.toml", true), ("setup.py", true), ("go.mod", true),
    ("pom.xml", true), ("build.gradle", true), ("build.gradle.kts", true), ("composer.json", true), ("Gemfile", false),
    ("CMakeLists.txt", false), ("Makefile", false), ("justfile", false), ("setup.cfg", false), ("tox.ini", false),
    ("noxfile.py", false), ("requirements.txt", false), ("requirements-dev.txt", false), ("yarn.lock", false),
    ("pnpm-lock.yaml", false), ("package-lock.json", false), ("bun.lock", false), ("uv.lock", false), ("poetry.lock", false),
    ("gradlew", false), ("mvnw", false), ("magefile.go", false), ("deno.json", false),
];

/// Where descriptions of CI lie.
pub const WORKFLOWS: &[&str] = &[".github/workflows", ".gitlab-ci.yml", ".circleci/config.yml"];

/// Commands of a tool, by what they are for.
type Commands = &'static [(ToolKind, &'static str)];

/// A tool that its file alone gives away, with its commands. The first of a row's files that is there counts.
#[rustfmt::skip]
const BY_FILE: &[(&str, &str, Commands)] = &[
    ("Cargo.toml",       "cargo",  &[(ToolKind::Build, "cargo build"), (ToolKind::Test, "cargo test"), (ToolKind::Lint, "cargo clippy")]),
    ("go.mod",           "go",     &[(ToolKind::Build, "go build ./..."), (ToolKind::Test, "go test ./..."), (ToolKind::Lint, "go vet ./...")]),
    ("pom.xml",          "maven",  &[(ToolKind::Build, "mvn package"), (ToolKind::Test, "mvn test")]),
    ("build.gradle",     "gradle", &[(ToolKind::Build, "gradle build"), (ToolKind::Test, "gradle test")]),
    ("build.gradle.kts", "gradle", &[(ToolKind::Build, "gradle build"), (ToolKind::Test, "gradle test")]),
    ("pyproject.toml",   "pyproject", &[]),
    ("uv.lock",          "uv",     &[]),
    ("poetry.lock",      "poetry", &[]),
    ("CMakeLists.txt",   "cmake",  &[(ToolKind::Build, "cmake --build build"), (ToolKind::Test, "ctest --test-dir build")]),
    ("Gemfile",          "bundler",&[]),
    ("composer.json",    "composer",&[]),
    ("magefile.go",      "mage",   &[]),
    ("tox.ini",          "tox",    &[(ToolKind::Test, "tox")]),
];

/// Targets of a Makefile or scripts of a package, best first.
#[rustfmt::skip]
const TARGETS: &[(ToolKind, &[&str])] = &[
    (ToolKind::Build, &["build", "build:app", "compile", "all"]),
    (ToolKind::Test,  &["test", "tests", "test:all", "test:unit", "test:app", "check"]),
    (ToolKind::Lint,  &["lint", "test:code", "lint:check", "clippy", "format:check"]),
    (ToolKind::Run,   &["start", "dev", "run", "serve"]),
];

/// What a line of CI begins with, and what it then is.
#[rustfmt::skip]
const IN_CI: &[(ToolKind, &[&str])] = &[
    (ToolKind::Test,  &["pytest", "python -m pytest", "tox", "nox", "python -Wall tests/runtests.py", "python tests/runtests.py", "npm test", "yarn test", "pnpm test", "bundle exec rspec", "bundle exec rake", "vendor/bin/phpunit", "ctest", "mage "]),
    (ToolKind::Lint,  &["ruff", "flake8", "pylint", "mypy", "black --check", "golangci-lint", "npm run lint", "yarn lint", "pnpm lint", "pre-commit run", "bundle exec rubocop"]),
    (ToolKind::Build, &["python -m build", "npm run build", "yarn build", "pnpm build", "cmake --build"]),
];

/// Libraries by the name manifests know them by.
#[rustfmt::skip]
const LIBRARIES: &[(&str, &str, ToolKind)] = &[
    ("react", "React", ToolKind::Framework), ("vue", "Vue", ToolKind::Framework), ("svelte", "Svelte", ToolKind::Framework),
    ("@angular/core", "Angular", ToolKind::Framework), ("next", "Next.js", ToolKind::Framework), ("nuxt", "Nuxt", ToolKind::Framework),
    ("express", "Express", ToolKind::Framework), ("fastify", "Fastify", ToolKind::Framework), ("@nestjs/core", "NestJS", ToolKind::Framework),
    ("electron", "Electron", ToolKind::Framework), ("vite", "Vite", ToolKind::Framework), ("webpack", "webpack", ToolKind::Framework),
    ("vitest", "Vitest", ToolKind::TestFramework), ("jest", "Jest", ToolKind::TestFramework), ("mocha", "Mocha", ToolKind::TestFramework),
    ("@playwright/test", "Playwright", ToolKind::TestFramework), ("cypress", "Cypress", ToolKind::TestFramework),
    ("tokio", "Tokio", ToolKind::Framework), ("axum", "axum", ToolKind::Framework), ("actix-web", "Actix Web", ToolKind::Framework),
    ("clap", "clap", ToolKind::Framework), ("bevy", "Bevy", ToolKind::Framework), ("tauri", "Tauri", ToolKind::Framework),
    ("proptest", "proptest", ToolKind::TestFramework), ("criterion", "Criterion", ToolKind::TestFramework),
    ("django", "Django", ToolKind::Framework), ("flask", "Flask", ToolKind::Framework), ("fastapi", "FastAPI", ToolKind::Framework),
    ("pytest", "pytest", ToolKind::TestFramework), ("hypothesis", "Hypothesis", ToolKind::TestFramework),
    ("github.com/gin-gonic/gin", "Gin", ToolKind::Framework), ("github.com/spf13/cobra", "Cobra", ToolKind::Framework),
    ("github.com/stretchr/testify", "testify", ToolKind::TestFramework), ("github.com/frankban/quicktest", "quicktest", ToolKind::TestFramework),
    ("spring-boot", "Spring Boot", ToolKind::Framework), ("junit", "JUnit", ToolKind::TestFramework), ("truth", "Truth", ToolKind::TestFramework),
    ("rails", "Rails", ToolKind::Framework), ("rspec", "RSpec", ToolKind::TestFramework), ("laravel/framework", "Laravel", ToolKind::Framework),
    ("phpunit/phpunit", "PHPUnit", ToolKind::TestFramework),
];

/// What the files of a project say; each command once, what people wrote down for themselves before what
/// a tool does anyway.
/// `sources` are the paths of its source files: what most of it is written in is asked first.
pub fn tools(files: &[(String, String)], sources: &[&str]) -> Vec<Tool> {
    let is_script = |it: &&&str| {
        [".ts", ".tsx", ".js", ".jsx", ".mjs", ".vue", ".svelte"]
            .iter()
            .any(|end| it.ends_with(end))
    };
    let by_script = 2 * sources.iter().filter(is_script).count() > sources.len();
    let mut acc = Vec::new();
    let top = |name: &str| files.iter().find(|it| it.0 == name);
    if let Some((from, text)) = top("Makefile") {
        targets(&mut acc, from, "make", &make_targets(text));
    }
    if let Some((from, text)) = top("justfile") {
        targets(&mut acc, from, "just", &make_targets(text));
    }
    let package = top("package.json");
    if let Some((from, text)) = package.filter(|_| by_script) {
        scripts(&mut acc, files, from, text);
    }
    for (from, text) in files.iter().filter(|it| is_workflow(&it.0)) {
        in_ci(&mut acc, from, text);
    }
    for (file, tool, commands) in BY_FILE {
        let Some((from, _)) = nearest(files, file) else { continue };
        add(&mut acc, ToolKind::BuildTool, (*tool).to_owned(), from);
        let wrapper = ["gradlew", "mvnw"].into_iter().find(|it| top(it).is_some());
        for (kind, command) in *commands {
            // Only the project's own manifest says how the project is built.
            if from == file {
                let command = match (wrapper, command.split_once(' ')) {
                    (Some(it), Some(("gradle" | "mvn", rest))) => format!("./{it} {rest}"),
                    _ => (*command).to_owned(),
                };
                add_command(&mut acc, *kind, command, from);
            }
        }
    }
    if let Some((from, text)) = package.filter(|_| !by_script) {
        scripts(&mut acc, files, from, text);
    }
    if acc.iter().all(|it| it.kind != ToolKind::Test)
        && let Some((from, _)) =
            files.iter().find(|it| is_python(&it.0) && mentions(&it.0, &it.1, "pytest"))
    {
        add_command(&mut acc, ToolKind::Test, "pytest".to_owned(), from);
    }
    for (needle, label, kind) in LIBRARIES {
        let own = [format!("name = \"{needle}\""), format!("\"name\": \"{needle}\"")];
        if files.iter().any(|it| own.iter().any(|own| it.1.contains(own))) {
            continue;
        }
        let mut ours = files.iter().filter(|it| !is_aside(&it.0));
        if let Some((from, _)) = ours.find(|it| mentions(&it.0, &it.1, needle)) {
            add(&mut acc, *kind, (*label).to_owned(), from);
        }
    }
    acc.sort_by_key(|it| ToolKind::ALL.iter().position(|kind| *kind == it.kind));
    acc
}

fn add(acc: &mut Vec<Tool>, kind: ToolKind, value: String, from: &str) {
    if !acc.iter().any(|it| it.kind == kind && it.value == value) {
        acc.push(Tool { kind, value, from: from.to_owned() });
    }
}

/// One command for each purpose: the first that is found.
fn add_command(acc: &mut Vec<Tool>, kind: ToolKind, value: String, from: &str) {
    if acc.iter().all(|it| it.kind != kind) {
        acc.push(Tool { kind, value, from: from.to_owned() });
    }
}

/// The file of that name that lies nearest to the top.
fn nearest<'a>(files: &'a [(String, String)], name: &str) -> Option<&'a (String, String)> {
    files
        .iter()
        .filter(|it| it.0.rsplit('/').next() == Some(name))
        .min_by_key(|it| (it.0.matches('/').count(), &it.0))
        .filter(|it| it.0.matches('/').count() <= 2)
}

/// What lies in such a folder is not what the project is made with.
fn is_aside(path: &str) -> bool {
    const ASIDE: &[&str] =
        &["example", "examples", "sample", "samples", "demo", "fixtures", "docs"];
    path.split('/').any(|it| ASIDE.contains(&it))
}

fn is_workflow(path: &str) -> bool {
    WORKFLOWS.iter().any(|it| path.starts_with(it))
}

fn is_python(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "requirements.txt",
        "requirements-dev.txt",
    ]
    .contains(&name)
}

fn make_targets(text: &str) -> BTreeSet<String> {
    let target = |line: &str| {
        let (names, rest) = line.split_once(':')?;
        let is_rule = !rest.starts_with('=') && !line.starts_with([' ', '\t', '#', '.']);
        is_rule.then(|| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    text.lines().filter_map(target).flatten().collect()
}

fn targets(acc: &mut Vec<Tool>, from: &str, tool: &str, known: &BTreeSet<String>) {
    add(acc, ToolKind::BuildTool, tool.to_owned(), from);
    for (kind, names) in TARGETS {
        if let Some(name) = names.iter().find(|it| known.contains(**it)) {
            add_command(acc, *kind, format!("{tool} {name}"), from);
        }
    }
}

fn scripts(acc: &mut Vec<Tool>, files: &[(String, String)], from: &str, text: &str) {
    let has = |name: &str| files.iter().any(|it| it.0 == name);
    let tool = if has("pnpm-lock.yaml") {
        "pnpm"
    } else if has("yarn.lock") {
        "yarn"
    } else if has("bun.lock") {
        "bun"
    } else {
        "npm"
    };
    add(acc, ToolKind::BuildTool, tool.to_owned(), from);
    let Ok(json) = serde_json::from_str::<Value>(text) else { return };
    for (kind, names) in TARGETS {
        let Some(name) = names.iter().find(|it| json["scripts"][**it].is_string()) else {
            continue;
        };
        let command = match (tool, *name) {
            ("npm", "test" | "start") => format!("npm {name}"),
            ("npm" | "bun", _) => format!("{tool} run {name}"),
            _ => format!("{tool} {name}"),
        };
        add_command(acc, *kind, command, from);
    }
}

/// Commands in the steps of a workflow that stand for themselves.
fn in_ci(acc: &mut Vec<Tool>, from: &str, text: &str) {
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        let line = line.strip_prefix("run:").unwrap_or(line).trim().trim_matches(['"', '\'', ';']);
        if line.contains('$') || line.ends_with([':', '\\', '|']) || line.len() > 100 {
            continue;
        }
        for (kind, beginnings) in IN_CI {
            let begins = |it: &&str| {
                line.strip_prefix(it).is_some_and(|it| it.is_empty() || it.starts_with(' '))
            };
            if beginnings.iter().any(|it| begins(&it.trim_end())) {
                add_command(acc, *kind, line.to_owned(), from);
            }
        }
    }
}

/// Whether a manifest names a library, other than as its own.
fn mentions(path: &str, text: &str, needle: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "package.json" => {
            let Ok(json) = serde_json::from_str::<Value>(text) else { return false };
            ["dependencies", "devDependencies", "peerDependencies"]
                .iter()
                .any(|it| !json[*it][needle].is_null())
        }
        "Cargo.toml" => {
            let mut inside = false;
            text.lines().map(str::trim).any(|line| {
                if line.starts_with('[') {
                    inside = line.contains("dependencies");
                    return inside && line.trim_end_matches(']').ends_with(&format!(".{needle}"));
                }
                inside && line.split(['=', '.']).next().is_some_and(|it| it.trim() == needle)
            })
        }
        "go.mod" => {
            text.lines().any(|it| it.trim().trim_start_matches("require ").starts_with(needle))
        }
        "pom.xml" | "build.gradle" | "build.gradle.kts" => {
            text.contains(&format!(">{needle}")) || text.contains(&format!(":{needle}"))
        }
        "Gemfile" | "composer.json" => {
            text.contains(&format!("'{needle}'")) || text.contains(&format!("\"{needle}\""))
        }
        _ if is_python(path) => {
            let own = text.to_lowercase();
            let is_own = [
                format!("name = \"{needle}\""),
                format!("name = {needle}\n"),
                format!("name=\"{needle}\""),
            ];
            !is_own.iter().any(|it| own.contains(it))
                && text.lines().any(|it| {
                    let it = it.trim().trim_start_matches(['"', '\'', '[', '-', ' ']);
                    it.to_lowercase().strip_prefix(needle).is_some_and(|rest| {
                        rest.is_empty()
                            || rest.starts_with([
                                '=', '<', '>', '~', '!', '[', '"', '\'', ' ', ';', '.', ']',
                            ])
                    })
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, String)> =
            files.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let source = if files.iter().any(|it| it.0 == "yarn.lock") { "a.ts" } else { "a.py" };
        tools(&files, &[source]).into_iter().map(|it| format!("{} {}", it.kind, it.value)).collect()
    }

    #[test]
    fn what_people_wrote_down_comes_before_what_a_tool_does_anyway() {
        assert_eq!(
            told(&[
                ("Cargo.toml", "[dependencies]\nclap = \"4\"\n"),
                ("Makefile", "run: build\n\techo\ntest:\n\tcargo test\nX := 1\n")
            ]),
            [
                "build_tool make",
                "build_tool cargo",
                "build cargo build",
                "test make test",
                "lint cargo clippy",
                "run make run",
                "framework clap"
            ]
        );
    }

    #[test]
    fn scripts_are_run_by_whoever_locked_the_packages() {
        let json = r#"{"scripts":{"test":"vitest","dev":"vite"},"devDependencies":{"vitest":"1","react":"19"}}"#;
        assert_eq!(
            told(&[("package.json", json), ("yarn.lock", "")]),
            [
                "build_tool yarn",
                "test yarn test",
                "run yarn dev",
                "test_framework Vitest",
                "framework React"
            ]
        );
    }

    #[test]
    fn ci_says_what_no_manifest_says() {
        let ci = "jobs:\n  t:\n    steps:\n      - run: python -Wall tests/runtests.py -v2\n      - run: pytest ${{ x }}\n";
        assert_eq!(
            told(&[
                (
                    "pyproject.toml",
                    "[project]\nname = \"Django\"\ndependencies = [\n  \"django\",\n]\n"
                ),
                (".github/workflows/tests.yml", ci)
            ]),
            ["build_tool pyproject", "test python -Wall tests/runtests.py -v2"]
        );
    }

    #[test]
    fn a_command_ends_before_its_semicolon_and_examples_say_nothing_about_the_project() {
        let ci = "      - run: |\n          mage -v check;\n";
        let example = r#"{"dependencies":{"next":"15"}}"#;
        let files = [(".github/workflows/t.yml", ci), ("examples/web/package.json", example)];
        assert_eq!(told(&files), ["test mage -v check"]);
    }

    #[test]
    fn nothing_says_nothing() {
        assert!(told(&[]).is_empty());
        assert!(told(&[("package.json", "nonsense")]).contains(&"build_tool npm".to_owned()));
    }
}
