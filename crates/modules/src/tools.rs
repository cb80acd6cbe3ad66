//! Tools and commands with which a project is built, tested, checked and run, found in its
//! manifests and CI configuration. Agents get the list, so that they need not look it up.
//!
//! ```text
//! Cargo.toml   [dependencies] clap    →  build tool cargo; cargo build, cargo clippy; framework clap
//! Makefile     test:                  →  build tool make; make test
//! ```
//!
//! The knowledge is in the tables at the top; [`detect_tools`] applies them in order of authority.

mod ci;
mod dependencies;

use std::collections::BTreeSet;

use model::closed;
use serde_json::Value;

use self::ci::find_ci_commands;
use self::dependencies::{has_dependency, is_python_manifest};
use crate::folder_roles::{is_supporting_folder, is_test_data};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Purpose of a tool or a command. Tools are listed in this order.
    pub enum ProjectToolKind : "tool kind" {
        BuildTool = "build_tool",
        Build = "build",
        Test = "test",
        Lint = "lint",
        Run = "run",
        TestFramework = "test_framework",
        Framework = "framework",
    }
}

/// A tool or a command, and the file that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTool {
    pub kind: ProjectToolKind,
    /// Name of the tool, or the command.
    pub value: String,
    pub declared_in: String,
}

/// File names that the caller looks for in every folder; `true` if the file makes its folder a
/// package.
#[rustfmt::skip]
pub const MANIFEST_FILES: &[(&str, bool)] = &[
    ("Cargo.toml", true), ("package.json", true), ("pyproject.toml", true), ("setup.py", true), ("go.mod", true),
    ("pom.xml", true), ("build.gradle", true), ("build.gradle.kts", true), ("composer.json", true), ("Gemfile", false),
    ("CMakeLists.txt", false), ("Makefile", false), ("justfile", false), ("setup.cfg", false), ("tox.ini", false),
    ("noxfile.py", false), ("requirements.txt", false), ("requirements-dev.txt", false), ("yarn.lock", false),
    ("pnpm-lock.yaml", false), ("package-lock.json", false), ("bun.lock", false), ("uv.lock", false), ("poetry.lock", false),
    ("gradlew", false), ("mvnw", false), ("magefile.go", false), ("deno.json", false), (".pre-commit-config.yaml", false),
];

/// Folders and files that hold CI configuration.
pub const CI_CONFIG_PATHS: &[&str] =
    &[".github/workflows", ".gitlab-ci.yml", ".circleci/config.yml"];

/// Commands of a tool by purpose.
type ToolCommands = &'static [(ProjectToolKind, &'static str)];

/// Tools that a file identifies: file name, tool, default commands.
#[rustfmt::skip]
const BUILD_TOOLS: &[(&str, &str, ToolCommands)] = {
    use ProjectToolKind::{Build, Lint, Test};
    &[
        ("Cargo.toml",              "cargo",      &[(Build, "cargo build"), (Test, "cargo test"), (Lint, "cargo clippy")]),
        ("go.mod",                  "go",         &[(Build, "go build ./..."), (Test, "go test ./..."), (Lint, "go vet ./...")]),
        ("pom.xml",                 "maven",      &[(Build, "mvn package"), (Test, "mvn test")]),
        ("build.gradle",            "gradle",     &[(Build, "gradle build"), (Test, "gradle test")]),
        ("build.gradle.kts",        "gradle",     &[(Build, "gradle build"), (Test, "gradle test")]),
        ("uv.lock",                 "uv",         &[]),
        ("poetry.lock",             "poetry",     &[]),
        ("CMakeLists.txt",          "cmake",      &[(Build, "cmake --build build"), (Test, "ctest --test-dir build")]),
        ("Gemfile",                 "bundler",    &[]),
        ("composer.json",           "composer",   &[]),
        ("magefile.go",             "mage",       &[]),
        ("tox.ini",                 "tox",        &[(Test, "tox")]),
        (".pre-commit-config.yaml", "pre-commit", &[(Lint, "pre-commit run --all-files")]),
    ]
};

/// Build backends of Python packages: prefix of the backend's module, name of the tool.
#[rustfmt::skip]
const PYTHON_BACKENDS: &[(&str, &str)] = &[
    ("setuptools", "setuptools"), ("hatchling", "hatch"), ("flit_core", "flit"), ("poetry", "poetry"), ("pdm", "pdm"),
    ("maturin", "maturin"), ("scikit_build", "scikit-build"), ("uv_build", "uv"), ("mesonpy", "meson"),
];

/// Sign that a package is a program and not only a library.
enum ProgramSign {
    /// The manifest contains this text.
    InManifest(&'static str),
    /// The project has this source file.
    SourceFile(&'static str),
}

/// Commands that start a program: manifest, sign that there is a program, command.
#[rustfmt::skip]
const RUN_COMMANDS: &[(&str, ProgramSign, &str)] = &[
    ("Cargo.toml",       ProgramSign::InManifest("[[bin]]"),                  "cargo run"),
    ("Cargo.toml",       ProgramSign::InManifest("default-run"),              "cargo run"),
    ("Cargo.toml",       ProgramSign::SourceFile("src/main.rs"),              "cargo run"),
    ("go.mod",           ProgramSign::SourceFile("main.go"),                  "go run ."),
    ("pom.xml",          ProgramSign::InManifest("spring-boot-maven-plugin"), "mvn spring-boot:run"),
    ("build.gradle",     ProgramSign::InManifest("org.springframework.boot"), "gradle bootRun"),
    ("build.gradle.kts", ProgramSign::InManifest("org.springframework.boot"), "gradle bootRun"),
];

/// Names of Makefile targets and package scripts by purpose, best first.
#[rustfmt::skip]
const TARGET_NAMES: &[(ProjectToolKind, &[&str])] = &[
    (ProjectToolKind::Build, &["build", "build:app", "compile", "all"]),
    (ProjectToolKind::Test,  &["test", "tests", "test:all", "test:unit", "test:app", "check"]),
    (ProjectToolKind::Lint,  &["lint", "test:code", "lint:check", "clippy", "format:check"]),
    (ProjectToolKind::Run,   &["start", "dev", "run", "serve"]),
];

/// Well-known libraries by kind: the name under which a manifest lists them, the name to show.
#[rustfmt::skip]
const KNOWN_LIBRARIES: &[(ProjectToolKind, &[(&str, &str)])] = &[
    (ProjectToolKind::Framework, &[
        ("react", "React"), ("vue", "Vue"), ("svelte", "Svelte"), ("@angular/core", "Angular"), ("next", "Next.js"),
        ("nuxt", "Nuxt"), ("express", "Express"), ("fastify", "Fastify"), ("@nestjs/core", "NestJS"),
        ("electron", "Electron"), ("vite", "Vite"), ("webpack", "webpack"), ("tokio", "Tokio"), ("axum", "axum"),
        ("actix-web", "Actix Web"), ("clap", "clap"), ("bevy", "Bevy"), ("tauri", "Tauri"), ("django", "Django"),
        ("flask", "Flask"), ("fastapi", "FastAPI"), ("github.com/gin-gonic/gin", "Gin"),
        ("github.com/spf13/cobra", "Cobra"), ("spring-boot", "Spring Boot"), ("rails", "Rails"),
        ("laravel/framework", "Laravel"),
    ]),
    (ProjectToolKind::TestFramework, &[
        ("vitest", "Vitest"), ("jest", "Jest"), ("mocha", "Mocha"), ("@playwright/test", "Playwright"),
        ("cypress", "Cypress"), ("proptest", "proptest"), ("criterion", "Criterion"), ("pytest", "pytest"),
        ("hypothesis", "Hypothesis"), ("github.com/stretchr/testify", "testify"),
        ("github.com/frankban/quicktest", "quicktest"), ("junit", "JUnit"), ("truth", "Truth"), ("rspec", "RSpec"),
        ("phpunit/phpunit", "PHPUnit"),
    ]),
];

/// Folders above a manifest, at most, for its tool to count as a tool of the project.
const MAX_TOOL_DEPTH: usize = 2;

/// Language of most of the project's source files, as far as the choice of commands needs it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MainLanguage {
    EcmaScript,
    Other,
}

impl MainLanguage {
    fn of_sources(sources: &[&str]) -> Self {
        let is_ecmascript = |path: &&&str| {
            [".ts", ".tsx", ".js", ".jsx", ".mjs", ".vue", ".svelte"]
                .iter()
                .any(|it| path.ends_with(it))
        };
        let n_ecmascript = sources.iter().filter(is_ecmascript).count();
        if 2 * n_ecmascript > sources.len() { Self::EcmaScript } else { Self::Other }
    }
}

/// Manifests and CI configuration, as pairs of path and text.
type ManifestTexts = [(String, String)];

/// Finds the tools of a project, sorted by kind; one command per purpose. `sources` are the paths
/// of its source files.
///
/// The steps run in order of authority, and the first command for a purpose wins: commands that
/// the project defines (Makefile, scripts, CI), then the default commands of its tools. Package
/// scripts come early only if most of the project is JavaScript or TypeScript; elsewhere they
/// usually build a website or documentation.
pub fn detect_tools(files: &ManifestTexts, sources: &[&str]) -> Vec<ProjectTool> {
    let language = MainLanguage::of_sources(sources);
    let mut acc = Vec::new();
    for (name, tool) in [("Makefile", "make"), ("justfile", "just")] {
        if let Some((path, text)) = at_root(files, name) {
            add_make_commands(&mut acc, path, tool, &parse_make_targets(text));
        }
    }
    if language == MainLanguage::EcmaScript {
        add_package_scripts(&mut acc, files);
    }
    for found in find_ci_commands(files, language) {
        add_command(&mut acc, found.kind, found.command, &found.path);
    }
    add_python_backend(&mut acc, files);
    add_build_tools(&mut acc, files);
    add_run_commands(&mut acc, files, sources);
    if language == MainLanguage::Other {
        add_package_scripts(&mut acc, files);
    }
    add_pytest(&mut acc, files);
    add_frameworks(&mut acc, files);
    acc.sort_by_key(|it| ProjectToolKind::ALL.iter().position(|kind| *kind == it.kind));
    acc
}

/// Adds a tool unless it is listed already.
fn add_tool(acc: &mut Vec<ProjectTool>, kind: ProjectToolKind, value: String, path: &str) {
    if !acc.iter().any(|it| it.kind == kind && it.value == value) {
        acc.push(ProjectTool { kind, value, declared_in: path.to_owned() });
    }
}

/// Adds a command unless there is one for the same purpose: an earlier source has more authority.
fn add_command(acc: &mut Vec<ProjectTool>, kind: ProjectToolKind, value: String, path: &str) {
    if acc.iter().all(|it| it.kind != kind) {
        acc.push(ProjectTool { kind, value, declared_in: path.to_owned() });
    }
}

/// The file of that name in the project's root.
fn at_root<'a>(files: &'a ManifestTexts, name: &str) -> Option<&'a (String, String)> {
    files.iter().find(|(path, _)| path == name)
}

/// The file of that name with the fewest folders above it, `MAX_TOOL_DEPTH` at most.
fn nearest_to_root<'a>(files: &'a ManifestTexts, name: &str) -> Option<&'a (String, String)> {
    let depth = |path: &str| path.matches('/').count();
    let same_name = files.iter().filter(|(path, _)| path.rsplit('/').next() == Some(name));
    // Of several at the same depth, the first by path.
    let nearest = same_name.min_by_key(|(path, _)| (depth(path), path))?;
    (depth(&nearest.0) <= MAX_TOOL_DEPTH).then_some(nearest)
}

/// A manifest among examples, tests or templates: the product does not use what it lists.
fn is_supporting_file(path: &str) -> bool {
    let is_template = |it: &str| it.starts_with("template");
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    is_supporting_folder(folders) || is_test_data(path) || folders.split('/').any(is_template)
}

/// Replaces a tool by its wrapper script if the project has one: `mvn test` becomes `./mvnw test`.
fn use_wrapper(files: &ManifestTexts, command: &str) -> String {
    let has_script = |name: &str| at_root(files, name).is_some();
    match command.split_once(' ') {
        Some(("gradle", rest)) if has_script("gradlew") => format!("./gradlew {rest}"),
        Some(("mvn", rest)) if has_script("mvnw") => format!("./mvnw {rest}"),
        _ => command.to_owned(),
    }
}

/// The names of the targets in a Makefile or a justfile.
fn parse_make_targets(text: &str) -> BTreeSet<String> {
    let mut targets = BTreeSet::new();
    for line in text.lines() {
        let Some((names, rest)) = line.split_once(':') else { continue };
        // `:=` assigns a variable; indented lines are recipes; `.PHONY` and the like are settings.
        let is_rule = !rest.starts_with('=') && !line.starts_with([' ', '\t', '#', '.']);
        if is_rule {
            targets.extend(names.split_whitespace().map(str::to_owned));
        }
    }
    targets
}

/// Adds `make` or `just` with the commands of its well-known targets.
fn add_make_commands(
    acc: &mut Vec<ProjectTool>,
    path: &str,
    tool: &str,
    targets: &BTreeSet<String>,
) {
    add_tool(acc, ProjectToolKind::BuildTool, tool.to_owned(), path);
    for (kind, names) in TARGET_NAMES {
        if let Some(name) = names.iter().find(|it| targets.contains(**it)) {
            add_command(acc, *kind, format!("{tool} {name}"), path);
        }
    }
}

/// Adds the scripts of `package.json`, run by the package manager whose lock file is there.
fn add_package_scripts(acc: &mut Vec<ProjectTool>, files: &ManifestTexts) {
    let Some((path, text)) = at_root(files, "package.json") else { return };
    let has_file = |name: &str| at_root(files, name).is_some();
    let tool = if has_file("pnpm-lock.yaml") {
        "pnpm"
    } else if has_file("yarn.lock") {
        "yarn"
    } else if has_file("bun.lock") {
        "bun"
    } else {
        "npm"
    };
    add_tool(acc, ProjectToolKind::BuildTool, tool.to_owned(), path);
    let Ok(json) = serde_json::from_str::<Value>(text) else { return };
    for (kind, names) in TARGET_NAMES {
        if let Some(name) = names.iter().find(|it| json["scripts"][**it].is_string()) {
            let command = match (tool, *name) {
                // npm has commands of its own for these two scripts.
                ("npm", "test" | "start") => format!("npm {name}"),
                ("npm" | "bun", _) => format!("{tool} run {name}"),
                // pnpm and yarn run a script by its name.
                _ => format!("{tool} {name}"),
            };
            add_command(acc, *kind, command, path);
        }
    }
}

/// Adds the tool behind the build backend that `pyproject.toml` names.
fn add_python_backend(acc: &mut Vec<ProjectTool>, files: &ManifestTexts) {
    let Some((path, text)) = at_root(files, "pyproject.toml") else { return };
    // `build-backend = "flit_core.buildapi"`: the text between the quotes.
    let backend =
        text.lines().find_map(|it| it.trim().strip_prefix("build-backend")?.split('"').nth(1));
    let Some(backend) = backend else { return };
    let known = PYTHON_BACKENDS.iter().find(|(prefix, _)| backend.starts_with(prefix));
    if let Some((_, tool)) = known {
        add_tool(acc, ProjectToolKind::BuildTool, (*tool).to_owned(), path);
    }
}

/// Adds the tools that a manifest or a lock file identifies, and their default commands.
fn add_build_tools(acc: &mut Vec<ProjectTool>, files: &ManifestTexts) {
    for (name, tool, commands) in BUILD_TOOLS {
        let Some((path, _)) = nearest_to_root(files, name) else { continue };
        add_tool(acc, ProjectToolKind::BuildTool, (*tool).to_owned(), path);
        // A manifest below the root identifies a tool, but its commands build only a part.
        let is_at_root = path == name;
        if !is_at_root {
            continue;
        }
        for (kind, command) in *commands {
            add_command(acc, *kind, use_wrapper(files, command), path);
        }
    }
}

/// Adds the command that starts the project's program, if it has one.
fn add_run_commands(acc: &mut Vec<ProjectTool>, files: &ManifestTexts, sources: &[&str]) {
    for (manifest, sign, command) in RUN_COMMANDS {
        let Some((path, text)) = at_root(files, manifest) else { continue };
        let is_program = match sign {
            ProgramSign::InManifest(needle) => text.contains(needle),
            ProgramSign::SourceFile(source) => sources.contains(source),
        };
        if is_program {
            add_command(acc, ProjectToolKind::Run, use_wrapper(files, command), path);
        }
    }
    // Django has no manifest of its own.
    if sources.contains(&"manage.py") {
        let command = "python manage.py runserver".to_owned();
        add_command(acc, ProjectToolKind::Run, command, "manage.py");
    }
}

/// Adds `pytest` as the test command if there is none yet and a Python manifest lists it.
fn add_pytest(acc: &mut Vec<ProjectTool>, files: &ManifestTexts) {
    if acc.iter().any(|it| it.kind == ProjectToolKind::Test) {
        return;
    }
    let listed = files
        .iter()
        .find(|(path, text)| is_python_manifest(path) && has_dependency(path, text, "pytest"));
    let Some((path, _)) = listed else { return };
    // These tools run a command in the environment that they manage.
    let command = if at_root(files, "uv.lock").is_some() {
        "uv run pytest"
    } else if at_root(files, "poetry.lock").is_some() {
        "poetry run pytest"
    } else {
        "pytest"
    };
    add_command(acc, ProjectToolKind::Test, command.to_owned(), path);
}

/// Adds the well-known libraries that the manifests of the product list.
fn add_frameworks(acc: &mut Vec<ProjectTool>, files: &ManifestTexts) {
    for (kind, libraries) in KNOWN_LIBRARIES {
        for (dependency, label) in *libraries {
            // The framework's own repository does not use the framework.
            if is_own_project(files, dependency) {
                continue;
            }
            let listed = files.iter().find(|(path, text)| {
                !is_supporting_file(path) && has_dependency(path, text, dependency)
            });
            if let Some((path, _)) = listed {
                add_tool(acc, *kind, (*label).to_owned(), path);
            }
        }
    }
}

/// A manifest names the project like the library.
fn is_own_project(files: &ManifestTexts, library: &str) -> bool {
    let in_toml = format!("name = \"{library}\"");
    let in_json = format!("\"name\": \"{library}\"");
    files.iter().any(|(_, text)| text.contains(&in_toml) || text.contains(&in_json))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tools found in `files` (path, text), each as `kind value`. The project has one source
    /// file: TypeScript if there is a `yarn.lock`, else Python.
    fn summaries(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, String)> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let source = if at_root(&files, "yarn.lock").is_some() { "a.ts" } else { "a.py" };
        detect_tools(&files, &[source])
            .into_iter()
            .map(|it| format!("{} {}", it.kind, it.value))
            .collect()
    }

    #[test]
    fn commands_the_project_defines_come_before_default_commands() {
        assert_eq!(
            summaries(&[
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
    fn scripts_are_run_by_the_package_manager_that_wrote_the_lock_file() {
        let json = r#"{"scripts":{"test":"vitest","dev":"vite"},"devDependencies":{"vitest":"1","react":"19"}}"#;
        assert_eq!(
            summaries(&[("package.json", json), ("yarn.lock", "")]),
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
    fn ci_commands_serve_purposes_for_which_no_manifest_has_a_command() {
        // The second command has a variable, so it cannot be run as it is.
        let ci = "jobs:\n  t:\n    steps:\n      - run: python -Wall tests/runtests.py -v2\n      - run: pytest ${{ x }}\n";
        // The manifest is that of Django itself, which therefore is not listed as a framework.
        assert_eq!(
            summaries(&[
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
    fn a_ci_command_ends_before_its_semicolon_and_manifests_of_examples_are_ignored() {
        let ci = "      - run: |\n          mage -v check;\n";
        let example = r#"{"dependencies":{"next":"15"}}"#;
        let files = [(".github/workflows/t.yml", ci), ("examples/web/package.json", example)];
        assert_eq!(summaries(&files), ["test mage -v check"]);
    }

    #[test]
    fn wrappers_replace_their_tools_and_programs_have_a_run_command() {
        let pom = "<plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin>";
        let files = [("pom.xml", pom), ("build.gradle", ""), ("gradlew", ""), ("mvnw", "")];
        assert_eq!(
            summaries(&files),
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
        assert!(summaries(&bin).contains(&"run cargo run".to_owned()));
    }

    #[test]
    fn a_python_package_is_built_by_its_backend_and_tested_in_its_environment() {
        let manifest = "[build-system]\nbuild-backend = \"flit_core.buildapi\"\n\n[project]\ndependencies = [\n  \"pytest\",\n]\n";
        assert_eq!(
            summaries(&[
                ("pyproject.toml", manifest),
                ("uv.lock", ""),
                (".pre-commit-config.yaml", "")
            ]),
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
    fn manifests_of_templates_and_playgrounds_are_ignored() {
        let react = r#"{"dependencies":{"react":"19"}}"#;
        let files = [
            ("package.json", "{}"),
            ("packages/create/template-react/package.json", react),
            ("playground/hmr/package.json", react),
        ];
        assert_eq!(summaries(&files), ["build_tool npm"]);
    }

    #[test]
    fn unreadable_manifests_still_name_their_tool() {
        assert!(summaries(&[]).is_empty());
        assert!(summaries(&[("package.json", "nonsense")]).contains(&"build_tool npm".to_owned()));
    }
}
