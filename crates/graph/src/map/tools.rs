//! How a project is built, tested, checked and run, told from its manifests and its CI.

mod ci;

use std::collections::BTreeSet;

use model::closed;
use serde_json::Value;

use super::split;

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
    ("gradlew", false), ("mvnw", false), ("magefile.go", false), ("deno.json", false), (".pre-commit-config.yaml", false),
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
    ("uv.lock",          "uv",     &[]),
    ("poetry.lock",      "poetry", &[]),
    ("CMakeLists.txt",   "cmake",  &[(ToolKind::Build, "cmake --build build"), (ToolKind::Test, "ctest --test-dir build")]),
    ("Gemfile",          "bundler",&[]),
    ("composer.json",    "composer",&[]),
    ("magefile.go",      "mage",   &[]),
    ("tox.ini",          "tox",    &[(ToolKind::Test, "tox")]),
    (".pre-commit-config.yaml", "pre-commit", &[(ToolKind::Lint, "pre-commit run --all-files")]),
];

/// Who builds a Python package, by the beginning of what its manifest names.
#[rustfmt::skip]
const BACKENDS: &[(&str, &str)] = &[
    ("setuptools", "setuptools"), ("hatchling", "hatch"), ("flit_core", "flit"), ("poetry", "poetry"), ("pdm", "pdm"),
    ("maturin", "maturin"), ("scikit_build", "scikit-build"), ("uv_build", "uv"), ("mesonpy", "meson"),
];

/// What starts a program: a tool, a sign of it in the tool's own manifest (nothing: a source file at the
/// top), the command.
#[rustfmt::skip]
const STARTS: &[(&str, Option<&str>, &str, &str)] = &[
    ("Cargo.toml",       Some("[[bin]]"),               "",            "cargo run"),
    ("Cargo.toml",       Some("default-run"),           "",            "cargo run"),
    ("Cargo.toml",       None,                          "src/main.rs", "cargo run"),
    ("go.mod",           None,                          "main.go",     "go run ."),
    ("pom.xml",          Some("spring-boot-maven-plugin"), "",         "mvn spring-boot:run"),
    ("build.gradle",     Some("org.springframework.boot"), "",         "gradle bootRun"),
    ("build.gradle.kts", Some("org.springframework.boot"), "",         "gradle bootRun"),
];

/// Targets of a Makefile or scripts of a package, best first.
#[rustfmt::skip]
const TARGETS: &[(ToolKind, &[&str])] = &[
    (ToolKind::Build, &["build", "build:app", "compile", "all"]),
    (ToolKind::Test,  &["test", "tests", "test:all", "test:unit", "test:app", "check"]),
    (ToolKind::Lint,  &["lint", "test:code", "lint:check", "clippy", "format:check"]),
    (ToolKind::Run,   &["start", "dev", "run", "serve"]),
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
    for (kind, command, from) in ci::commands(files, by_script) {
        add_command(&mut acc, kind, command, &from);
    }
    if let Some((from, text)) = top("pyproject.toml") {
        backend(&mut acc, from, text);
    }
    for (file, tool, commands) in BY_FILE {
        let Some((from, _)) = nearest(files, file) else { continue };
        add(&mut acc, ToolKind::BuildTool, (*tool).to_owned(), from);
        // Only the project's own manifest says how the project is built.
        for (kind, command) in commands.iter().filter(|_| from == file) {
            add_command(&mut acc, *kind, wrapped(files, command), from);
        }
    }
    for (file, sign, source, command) in STARTS {
        let Some((from, text)) = top(file) else { continue };
        if sign.map_or_else(|| sources.contains(source), |it| text.contains(it)) {
            add_command(&mut acc, ToolKind::Run, wrapped(files, command), from);
        }
    }
    if sources.contains(&"manage.py") {
        let command = "python manage.py runserver".to_owned();
        add_command(&mut acc, ToolKind::Run, command, "manage.py");
    }
    if let Some((from, text)) = package.filter(|_| !by_script) {
        scripts(&mut acc, files, from, text);
    }
    if acc.iter().all(|it| it.kind != ToolKind::Test)
        && let Some((from, _)) =
            files.iter().find(|it| is_python(&it.0) && mentions(&it.0, &it.1, "pytest"))
    {
        let runner = ["uv", "poetry"].into_iter().find(|it| top(&format!("{it}.lock")).is_some());
        let command = runner.map_or_else(|| "pytest".to_owned(), |it| format!("{it} run pytest"));
        add_command(&mut acc, ToolKind::Test, command, from);
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

/// What lies among examples, tests, templates and the like is not what the project is made with.
fn is_aside(path: &str) -> bool {
    let is_template = |it: &str| it.starts_with("template");
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    split::is_aside(folders) || split::is_data(path) || folders.split('/').any(is_template)
}

/// A command by the wrapper that lies there for its tool.
fn wrapped(files: &[(String, String)], command: &str) -> String {
    let has = |name: &str| files.iter().any(|it| it.0 == name);
    match command.split_once(' ') {
        Some(("gradle", rest)) if has("gradlew") => format!("./gradlew {rest}"),
        Some(("mvn", rest)) if has("mvnw") => format!("./mvnw {rest}"),
        _ => command.to_owned(),
    }
}

fn backend(acc: &mut Vec<Tool>, from: &str, text: &str) {
    let named =
        text.lines().find_map(|it| it.trim().strip_prefix("build-backend")?.split('"').nth(1));
    let tool = BACKENDS.iter().find(|it| named.is_some_and(|named| named.starts_with(it.0)));
    if let Some((_, tool)) = tool {
        add(acc, ToolKind::BuildTool, (*tool).to_owned(), from);
    }
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
            ["test python -Wall tests/runtests.py -v2"]
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
    fn each_tool_has_its_own_wrapper_and_a_program_its_start() {
        let pom = "<plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin>";
        let files = [("pom.xml", pom), ("build.gradle", ""), ("gradlew", ""), ("mvnw", "")];
        assert_eq!(
            told(&files),
            [
                "build_tool maven",
                "build_tool gradle",
                "build ./mvnw package",
                "test ./mvnw test",
                "run ./mvnw spring-boot:run",
                "framework Spring Boot",
            ]
        );
        let bin = [("Cargo.toml", "[package]\nname = \"x\"\n\n[[bin]]\npath = \"x.rs\"\n")];
        assert!(told(&bin).contains(&"run cargo run".to_owned()));
    }

    #[test]
    fn a_python_package_is_built_by_its_backend_and_tested_where_its_packages_are() {
        let manifest = "[build-system]\nbuild-backend = \"flit_core.buildapi\"\n\n[project]\ndependencies = [\n  \"pytest\",\n]\n";
        assert_eq!(
            told(&[("pyproject.toml", manifest), ("uv.lock", ""), (".pre-commit-config.yaml", "")]),
            [
                "build_tool flit",
                "build_tool uv",
                "build_tool pre-commit",
                "test uv run pytest",
                "lint pre-commit run --all-files",
                "test_framework pytest",
            ]
        );
    }

    #[test]
    fn templates_and_playgrounds_say_nothing_about_the_project() {
        let react = r#"{"dependencies":{"react":"19"}}"#;
        let files = [
            ("package.json", "{}"),
            ("packages/create/template-react/package.json", react),
            ("playground/hmr/package.json", react),
        ];
        assert_eq!(told(&files), ["build_tool npm"]);
    }

    #[test]
    fn nothing_says_nothing() {
        assert!(told(&[]).is_empty());
        assert!(told(&[("package.json", "nonsense")]).contains(&"build_tool npm".to_owned()));
    }
}
