//! The repository contains no machine-specific paths and no private registries.
//!
//! A path is specific to a machine if it is a folder of this checkout (for a checkout at
//! `/srv/checkout/waylore`: that one and the one above it, but not `/srv`, which many machines have), or
//! the home of a user whose name is not one for examples.

use super::Problem;
use crate::tree::Tree;

/// Folders that exist on many machines and identify none.
#[rustfmt::skip]
const COMMON_FOLDERS: &[&str] = &[
    "app", "build", "builds", "code", "data", "etc", "home", "mnt", "opt", "private", "project", "projects", "repo",
    "root", "src", "srv", "tmp", "usr", "Users", "var", "workspace", "workspaces",
];

/// User names for examples. Any other name below `/home` counts as a real user.
#[rustfmt::skip]
const EXAMPLE_USERS: &[&str] = &[
    "ada", "alice", "app", "bob", "ci", "dev", "grace", "jane", "me", "name", "runner", "shared", "someone", "user", "username", "x", "you",
];

/// Files in which package managers note where a package came from.
#[rustfmt::skip]
const REGISTRY_FILES: &[&str] = &[
    ".cargo/config.toml", ".npmrc", ".yarnrc.yml", "Cargo.lock", "bun.lock", "npm-shrinkwrap.json", "package-lock.json",
    "pip.conf", "pnpm-lock.yaml", "requirements.txt", "uv.lock", "yarn.lock",
];

/// Public package registries.
#[rustfmt::skip]
const PUBLIC_HOSTS: &[&str] = &[
    "files.pythonhosted.org", "github.com", "index.crates.io", "pypi.org", "registry.npmjs.org", "registry.yarnpkg.com",
];

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    let folders = machine_folders(&tree.root);
    for file in &tree.files {
        let names_registries = REGISTRY_FILES.iter().any(|it| ends_with_path(&file.path, it));
        for (i, line) in file.text.lines().enumerate() {
            if let Some(path) = machine_path(line, &folders) {
                let remedy = "write it relative to the project, or as `/home/user/…`";
                let what = format!("`{path}` is a path of one machine");
                acc.push(Problem::failure(&file.path, i + 1, what, remedy));
            }
            if names_registries && let Some(host) = private_host(line) {
                let remedy = "resolve it again against the public registry";
                let what = format!("`{host}` is not a public registry");
                acc.push(Problem::failure(&file.path, i + 1, what, remedy));
            }
        }
    }
}

/// True if a path ends with these whole parts: `panel/yarn.lock` with `yarn.lock`.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with('/'))
}

/// The folders of this checkout that identify the machine, outermost first: from the first part that is
/// neither common nor an example. `/srv/checkout` and `/srv/checkout/waylore` in the example above.
fn machine_folders(root: &str) -> Vec<String> {
    let mut folder = String::new();
    let mut acc = Vec::new();
    for part in root.split('/').filter(|it| !it.is_empty()) {
        folder.push('/');
        folder.push_str(part);
        let is_common = COMMON_FOLDERS.contains(&part) || EXAMPLE_USERS.contains(&part);
        // Below a folder of this machine, every folder is one too.
        if !is_common || !acc.is_empty() {
            acc.push(folder.clone());
        }
    }
    acc
}

/// The first path of this machine in a line.
fn machine_path(line: &str, folders: &[String]) -> Option<String> {
    let checkout = folders.iter().find(|it| contains_path(line, it)).cloned();
    checkout.or_else(|| real_home(line))
}

/// Returns whether `line` contains `path` as an absolute path, not as the end of a longer one.
fn contains_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let after = line[at + path.len()..].bytes().next();
        begins_path(line, at) && after.is_none_or(|it| !is_name_byte(it))
    })
}

/// The first home of a user who is not an example.
fn real_home(line: &str) -> Option<String> {
    for homes in ["/home/", "/Users/", "\\Users\\"] {
        for (at, _) in line.match_indices(homes) {
            let rest = &line[at + homes.len()..];
            let end = rest.bytes().position(|it| !is_name_byte(it)).unwrap_or(rest.len());
            // The full stop of a sentence is not part of the name.
            let user = rest[..end].trim_end_matches('.');
            let is_real = !user.is_empty() && !EXAMPLE_USERS.contains(&user);
            if is_real && begins_path(line, at) {
                return Some(format!("{homes}{user}"));
            }
        }
    }
    None
}

/// True if a path from the root begins here. A drive letter or a scheme (`C:`, `file://`) may stand
/// before it; a name may not: `x/home/me` is relative.
fn begins_path(line: &str, at: usize) -> bool {
    !line[..at].bytes().next_back().is_some_and(is_name_byte)
}

fn is_name_byte(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')
}

/// The host of a package source, unless it is public.
fn private_host(line: &str) -> Option<&str> {
    // Keys with the address of a package. Other addresses, as of a home page, are not fetched.
    let source_keys = ["resolved", "source", "registry", "index", "tarball"];
    if !source_keys.iter().any(|it| line.contains(it)) {
        return None;
    }
    // `user@host` of `https://user@host:8080/path`, then without the user.
    let (_, rest) = line.split_once("://")?;
    let user_and_host = rest.split(['/', ':', '"', '\'', ' ', '?']).next()?;
    let host = user_and_host.rsplit('@').next()?;
    (!PUBLIC_HOSTS.contains(&host)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::problems;
    use expect_test::{Expect, expect};

    /// A user name is written `<klaus>` in the output, so that the rule accepts this file.
    fn check(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&problems(super::check, &[(path, text)]).replace("klaus", "<klaus>"));
    }

    #[test]
    fn the_path_of_the_checkout_is_rejected() {
        // Put together from parts, so that the rule accepts this file.
        let line = ["see /srv", "checkout", "notes.md"].join("/");
        check(
            "docs/a.md",
            &line,
            expect![[r"
            docs/a.md:1: `/srv/checkout` is a path of one machine; write it relative to the project, or as `/home/user/…`
        "]],
        );
        // A longer name, and a relative path.
        let line = ["cd /srv", "checkout-two; ls x/srv", "checkout"].join("/");
        check("docs/a.md", &line, expect![""]);
        assert!(machine_folders("/home/user/src").is_empty());
        assert!(machine_folders("/workspace").is_empty());
    }

    #[test]
    fn homes_of_example_users_are_allowed() {
        let line = ["open", "home", "klaus", "a.rs"].join("/").replacen("open", "\"", 1);
        check(
            "crates/a/src/b.rs",
            &line,
            expect![[r"
            crates/a/src/b.rs:1: `/home/<klaus>` is a path of one machine; write it relative to the project, or as `/home/user/…`
        "]],
        );
        check(
            "crates/a/src/b.rs",
            "/home/user/a /Users/me C:\\Users\\you\\b /home/<name>",
            expect![""],
        );
        check("crates/a/src/b.rs", "crates/home/klaus /etc/passwd", expect![""]);
    }

    #[test]
    fn packages_come_from_public_registries() {
        let line = r#"      "resolved": "https://npm.acme.test/left-pad.tgz","#;
        check(
            "panel/package-lock.json",
            line,
            expect![[r"
            panel/package-lock.json:1: `npm.acme.test` is not a public registry; resolve it again against the public registry
        "]],
        );
        check("docs/a.md", line, expect![""]);
        check(
            "Cargo.lock",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"",
            expect![""],
        );
        check(
            ".npmrc",
            "registry=https://me@npm.acme.test:8080/x",
            expect![[r"
            .npmrc:1: `npm.acme.test` is not a public registry; resolve it again against the public registry
        "]],
        );
        check("panel/package-lock.json", r#""url": "https://opencollective.com/x""#, expect![""]);
    }
}
