//! Dependencies listed in manifests, for the question whether a project uses a well-known library.
//! Most manifests are searched for the name and not parsed: a rare wrong answer does no harm.
//! `tools.rs` asks it for each library of its table.
//!
//! ```text
//! Cargo.toml         tokio = "1" below [dependencies]   has_dependency(…, "tokio")    true
//! requirements.txt   pytest-cov==4                      has_dependency(…, "pytest")   false
//! ```

use serde_json::Value;

/// The manifest at `path` lists a dependency, other than as its own name.
pub(super) fn has_dependency(path: &str, text: &str, dependency: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "package.json" => {
            let Ok(json) = serde_json::from_str::<Value>(text) else { return false };
            ["dependencies", "devDependencies", "peerDependencies"]
                .iter()
                .any(|it| !json[*it][dependency].is_null())
        }
        "Cargo.toml" => is_in_cargo_toml(text, dependency),
        // `require github.com/x/y v1`, or the same without `require` in a block.
        "go.mod" => {
            text.lines().any(|it| it.trim().trim_start_matches("require ").starts_with(dependency))
        }
        // `<artifactId>spring-boot…` in Maven, `"group:spring-boot…"` in Gradle.
        "pom.xml" | "build.gradle" | "build.gradle.kts" => {
            text.contains(&format!(">{dependency}")) || text.contains(&format!(":{dependency}"))
        }
        "Gemfile" | "composer.json" => {
            text.contains(&format!("'{dependency}'")) || text.contains(&format!("\"{dependency}\""))
        }
        _ if is_python_manifest(path) => is_in_python_manifest(text, dependency),
        _ => false,
    }
}

pub(super) fn is_python_manifest(path: &str) -> bool {
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

/// A line of a dependency section of a `Cargo.toml` has the dependency as its key.
fn is_in_cargo_toml(text: &str, dependency: &str) -> bool {
    let mut in_dependencies = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_dependencies = line.contains("dependencies");
            // `[dependencies.tokio]` names the dependency in the section itself.
            let names_it = line.trim_end_matches(']').ends_with(&format!(".{dependency}"));
            if in_dependencies && names_it {
                return true;
            }
            continue;
        }
        // `tokio = …` or `tokio.workspace = true`.
        let key = line.split(['=', '.']).next().unwrap_or_default();
        if in_dependencies && key.trim() == dependency {
            return true;
        }
    }
    false
}

/// A line of a Python manifest begins with the dependency. The manifest of the library itself names
/// it as well and does not count.
fn is_in_python_manifest(text: &str, dependency: &str) -> bool {
    let lower = text.to_lowercase();
    let own_names = [
        format!("name = \"{dependency}\""),
        format!("name = {dependency}\n"),
        format!("name=\"{dependency}\""),
    ];
    if own_names.iter().any(|it| lower.contains(it)) {
        return false;
    }
    text.lines().any(|line| is_requirement_of(line, dependency))
}

/// A line requires the dependency: `pytest>=8`, `"pytest[all]",`, `- pytest`.
fn is_requirement_of(line: &str, dependency: &str) -> bool {
    let line = line.trim().trim_start_matches(['"', '\'', '[', '-', ' ']).to_lowercase();
    let Some(rest) = line.strip_prefix(dependency) else { return false };
    // After the name, a requirement has a version, an extra, a marker or a quote. Other characters
    // continue a longer name: `pytest-cov` does not require `pytest`.
    rest.is_empty()
        || rest.starts_with(['=', '<', '>', '~', '!', '[', '"', '\'', ' ', ';', '.', ']'])
}
