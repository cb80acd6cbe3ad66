//! Dependency policy: licences, banned crates, version requirements and sources, checked against
//! `deny.toml`, and the reason for every direct dependency, which is in the design note.
//!
//! Follows the part of cargo-deny's rules that needs no database and nothing but cargo, so that it can
//! run everywhere. Advisories are not checked here.
//!
//! Input are three files and the output of `cargo metadata`, a JSON list of packages:
//!
//! ```text
//! {"name":"serde","version":"1.0.0","license":"MIT OR Apache-2.0","source":"registry+https://…",
//!  "dependencies":[{"name":"serde_core","req":"^1","path":null}]}
//! ```
//!
//! A package of the workspace has no `source`; a dependency on one has a `path`.

mod licence;
mod policy;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use crate::tidy::{Grade, Problem};
use policy::Policy;

const POLICY: &str = "deny.toml";
const LOCK: &str = "Cargo.lock";
/// The design note with a row per direct dependency.
const NOTE: &str = "docs/design/dependencies.md";

/// The files that are read. The lock is only read to name lines.
pub(crate) struct Files {
    policy: String,
    lock: String,
    note: String,
}

pub(crate) fn read(root: &Path) -> anyhow::Result<Files> {
    let read_file = |name: &str| fs::read_to_string(root.join(name)).context(name.to_owned());
    Ok(Files { policy: read_file(POLICY)?, lock: read_file(LOCK)?, note: read_file(NOTE)? })
}

/// Checks the whole dependency graph from `cargo metadata`.
pub(crate) fn check(files: &Files, metadata: &Value) -> anyhow::Result<Vec<Problem>> {
    let Files { policy: policy_text, lock, note } = files;
    let policy = policy::read(policy_text)?;
    let mut acc = Vec::new();
    for what in &policy.unknown {
        acc.push(Problem::failure(POLICY, 1, what, "implement it in xtask/src/deny/policy.rs"));
    }
    let packages: Vec<Package> =
        json_array(&metadata["packages"]).iter().map(parse_package).collect();
    for package in &packages {
        check_licence(&mut acc, lock, package, &policy);
        check_source(&mut acc, lock, package, &policy);
        check_requirements(&mut acc, package);
        for banned in policy.banned.iter().filter(|it| it.name == package.name) {
            let what = format!("`{}` is banned: {}", package.name, banned.reason);
            let remedy = "find who needs it with `cargo tree --invert`, and another way";
            acc.push(Problem::failure(LOCK, line_of(lock, package), what, remedy));
        }
    }
    report_unneeded_licences(&mut acc, policy_text, &packages, &policy);
    check_reasons(&mut acc, note, &packages);
    report_duplicate_versions(&mut acc, &packages);
    Ok(acc)
}

/// A package in the output of `cargo metadata`.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    licence: &'a str,
    /// Empty for packages of the workspace.
    source: &'a str,
    dependencies: &'a [Value],
}

impl Package<'_> {
    fn is_in_workspace(&self) -> bool {
        self.source.is_empty()
    }
}

fn parse_package(value: &Value) -> Package<'_> {
    Package {
        name: json_str(&value["name"]),
        version: json_str(&value["version"]),
        licence: json_str(&value["license"]),
        source: json_str(&value["source"]),
        dependencies: json_array(&value["dependencies"]),
    }
}

fn check_licence(acc: &mut Vec<Problem>, lock: &str, package: &Package, policy: &Policy) {
    let Package { name, version, licence, .. } = package;
    let what = match licence::is_met(licence, &policy.licences) {
        Some(true) => return,
        Some(false) => format!("`{name}` {version} is under `{licence}`, which is not allowed"),
        None => format!("`{name}` {version} does not say its licence: `{licence}`"),
    };
    let remedy = "do without it, or argue for the licence in deny.toml";
    acc.push(Problem::failure(LOCK, line_of(lock, package), what, remedy));
}

fn check_source(acc: &mut Vec<Problem>, lock: &str, package: &Package, policy: &Policy) {
    let registry = package.source.strip_prefix("registry+");
    let is_known = registry.is_some_and(|it| policy.registries.iter().any(|known| known == it));
    if !package.is_in_workspace() && !is_known {
        let what = format!("`{}` comes from `{}`", package.name, package.source);
        let remedy = "take it from a registry that deny.toml allows";
        acc.push(Problem::failure(LOCK, line_of(lock, package), what, remedy));
    }
}

/// Rejects the version requirement `*` in the workspace's own manifests.
fn check_requirements(acc: &mut Vec<Problem>, package: &Package) {
    if !package.is_in_workspace() {
        return;
    }
    for dependency in package.dependencies {
        let takes_any = json_str(&dependency["req"]) == "*";
        // A dependency on another crate of the workspace has a path and needs no version.
        if takes_any && dependency["path"].is_null() {
            let name = json_str(&dependency["name"]);
            let what = format!("`{}` takes any version of `{name}`", package.name);
            acc.push(Problem::failure("Cargo.toml", 1, what, "say which version it needs"));
        }
    }
}

/// A licence is needed when some package could not be used without it.
fn report_unneeded_licences(
    acc: &mut Vec<Problem>,
    policy_text: &str,
    packages: &[Package],
    policy: &Policy,
) {
    for licence in &policy.licences {
        let others: Vec<String> =
            policy.licences.iter().filter(|it| *it != licence).cloned().collect();
        let is_needed =
            packages.iter().any(|it| licence::is_met(it.licence, &others) == Some(false));
        if !is_needed {
            let line = policy_text.lines().position(|it| it.contains(&format!("\"{licence}\"")));
            let what = format!("no package needs `{licence}`");
            acc.push(Problem::failure(POLICY, line.map_or(1, |it| it + 1), what, "remove it"));
        }
    }
}

/// Every direct dependency has a row in the note, and every row a direct dependency.
fn check_reasons(acc: &mut Vec<Problem>, note: &str, packages: &[Package]) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for package in packages.iter().filter(|it| it.is_in_workspace()) {
        let outside = package.dependencies.iter().filter(|it| it["path"].is_null());
        used.extend(outside.map(|it| json_str(&it["name"])));
    }
    // The crates with a reason, and the line of each.
    let mut argued: BTreeMap<&str, usize> = BTreeMap::new();
    for (line_number, line) in (1..).zip(note.lines()) {
        argued.extend(crates_of_row(line).into_iter().map(|name| (name, line_number)));
    }

    for name in &used {
        if !argued.contains_key(name) {
            let what = format!("nothing says why `{name}` is needed");
            acc.push(Problem::failure(NOTE, 1, what, "add a row with the reason"));
        }
    }
    for (name, line_number) in &argued {
        if !used.contains(name) {
            let what = format!("no manifest names `{name}`");
            let remedy = "remove it, or move it to what was rejected";
            acc.push(Problem::failure(NOTE, *line_number, what, remedy));
        }
    }
}

/// The crates in the first cell of a row: `serde` and `serde_json` for "| `serde`, `serde_json` | …".
/// Empty for any other line.
fn crates_of_row(line: &str) -> Vec<&str> {
    let Some((cell, _)) = line.strip_prefix("| `").and_then(|it| it.split_once('|')) else {
        return Vec::new();
    };
    let names = cell.split(',').map(|it| it.trim_matches([' ', '`']));
    names.filter(|it| !it.is_empty()).collect()
}

/// One notice for all, because most duplicates come from transitive dependencies.
fn report_duplicate_versions(acc: &mut Vec<Problem>, packages: &[Package]) {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(package.name).or_default().push(package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let names: Vec<String> =
        versions.iter().map(|(name, versions)| format!("{name} {}", versions.join("+"))).collect();
    if !names.is_empty() {
        acc.push(Problem {
            path: LOCK.to_owned(),
            line: 1,
            what: format!("in more than one version: {}", names.join(", ")),
            remedy: "see whether an update brings them together",
            grade: Grade::Notice,
        });
    }
}

/// The line of a package in the lock file, where its name and its version follow each other.
fn line_of(lock: &str, package: &Package) -> usize {
    let lines: Vec<&str> = lock.lines().collect();
    let name = format!("name = \"{}\"", package.name);
    let version = format!("version = \"{}\"", package.version);
    let found = lines.windows(2).position(|it| it[0] == name && it[1] == version);
    found.map_or(1, |it| it + 1)
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
    use super::Files;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    const POLICY: &str = r#"
[graph]
all-features = true
[licenses]
allow = ["Apache-2.0", "MIT"]
[bans]
wildcards = "deny"
allow-wildcard-paths = true
multiple-versions = "warn"
deny = [{ crate = "libsqlite3-sys", reason = "symbols clash" }]
[sources]
unknown-registry = "deny"
unknown-git = "deny"
allow-registry = ["https://index"]
"#;

    /// Checks packages given one per line: name, version, source (`-` for our own) and licence. A
    /// package called `loose` takes any version of its dependency.
    ///
    /// Two more packages, `m` and `waylore`, are always there, so that no allowed licence is unneeded.
    fn check(script: &str, expect: Expect) {
        let mut packages = vec![
            json!({"name": "m", "version": "1.0.0", "license": "MIT", "source": "registry+https://index"}),
            json!({"name": "waylore", "version": "1.0.0", "license": "Apache-2.0", "source": null, "dependencies": [
                {"name": "model", "req": "*", "path": "crates/model"}, {"name": "m", "req": "^1"}, {"name": "any", "req": "^1"},
            ]}),
        ];
        let mut lock = Vec::new();
        for line in script.lines() {
            let parts: Vec<&str> = line.splitn(4, ' ').collect();
            lock.push(format!("[[package]]\nname = \"{}\"\nversion = \"{}\"", parts[0], parts[1]));
            let source = (parts[2] != "-").then_some(parts[2]);
            packages.push(json!({"name": parts[0], "version": parts[1], "source": source, "license": parts[3], "dependencies": [
                {"name": "any", "req": if parts[0] == "loose" { "*" } else { "^1" }, "path": null},
            ]}));
        }
        check_all(&lock.join("\n"), "| `m`, `any` | a | b |", &packages, expect);
    }

    fn check_all(lock: &str, note: &str, packages: &[Value], expect: Expect) {
        let files =
            Files { policy: POLICY.to_owned(), lock: lock.to_owned(), note: note.to_owned() };
        let problems = super::check(&files, &json!({"packages": packages})).unwrap();
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        expect.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn allowed_packages_pass() {
        check("a 1.0.0 registry+https://index MIT OR GPL-3.0", expect![""]);
    }

    #[test]
    fn violations_are_reported_with_their_line() {
        check(
            "a 1.0.0 registry+https://index GPL-3.0\nb 1.0.0 registry+https://index MIT OR",
            expect![[r"
                Cargo.lock:2: `a` 1.0.0 is under `GPL-3.0`, which is not allowed; do without it, or argue for the licence in deny.toml
                Cargo.lock:5: `b` 1.0.0 does not say its licence: `MIT OR`; do without it, or argue for the licence in deny.toml"]],
        );
        check(
            "a 1.0.0 git+https://somewhere MIT\nb 1.0.0 registry+https://other MIT",
            expect![[r"
            Cargo.lock:2: `a` comes from `git+https://somewhere`; take it from a registry that deny.toml allows
            Cargo.lock:5: `b` comes from `registry+https://other`; take it from a registry that deny.toml allows"]],
        );
        check(
            "libsqlite3-sys 0.1.0 registry+https://index MIT",
            expect![
                "Cargo.lock:2: `libsqlite3-sys` is banned: symbols clash; find who needs it with `cargo tree --invert`, and another way"
            ],
        );
        check(
            "loose 1.0.0 - MIT",
            expect!["Cargo.toml:1: `loose` takes any version of `any`; say which version it needs"],
        );
        check(
            "m 2.0.0 registry+https://index MIT",
            expect![
                "Cargo.lock:1: notice: in more than one version: m 1.0.0+2.0.0; see whether an update brings them together"
            ],
        );
    }

    #[test]
    fn an_unused_allowance_is_reported() {
        check_all(
            "",
            "",
            &[json!({"name": "m", "license": "MIT OR Apache-2.0"})],
            expect![[r"
                deny.toml:5: no package needs `Apache-2.0`; remove it
                deny.toml:5: no package needs `MIT`; remove it"]],
        );
    }

    #[test]
    fn every_dependency_has_its_reason_and_every_reason_its_dependency() {
        let package = |name: &str, licence: &str| {
            let dependency = json!({"name": name, "req": "^1", "path": null});
            json!({"name": format!("w-{name}"), "license": licence, "version": "1", "dependencies": [dependency]})
        };
        let packages = [package("a", "MIT"), package("b", "Apache-2.0")];
        let note = "| crate | why |\n|---|---|\n| `a`, `c` | it is good |\n| d | rejected |";
        check_all(
            "",
            note,
            &packages,
            expect![[r"
                docs/design/dependencies.md:1: nothing says why `b` is needed; add a row with the reason
                docs/design/dependencies.md:3: no manifest names `c`; remove it, or move it to what was rejected"]],
        );
    }
}
