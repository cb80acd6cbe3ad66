//! Decides by their paths which pairs of files are worth a note when the first is edited and the second is
//! not. The numbers (how often commits changed both) come from the git history and are checked elsewhere.
//!
//! Left out: pairs that begin with a test, because the test follows the source; lock files, which tools
//! write; and parent and child of one module tree, which the same change touches anyway.

use crate::path_rules::{folder_of, is_test_path};

/// File names without extension that stand for their folder.
const FOLDER_FILES: &[&str] = &["mod", "lib", "main", "index", "__init__"];
/// Names of lock files that have none of [`LOCK_ENDINGS`], in lower case.
const LOCK_NAMES: &[&str] = &[
    "bun.lockb",
    "go.sum",
    "go.work.sum",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.resolved",
    "packages.lock.json",
    "pnpm-lock.yaml",
];
const LOCK_ENDINGS: &[&str] = &[".lock", ".lock.json", ".min.js", ".min.css", ".snap"];

/// Returns whether a note may say that a change of `edited` usually needs one of `partner`.
pub fn is_source_and_dependent(edited: &str, partner: &str) -> bool {
    edited != partner
        && !is_test_path(edited)
        && !is_lock_file(edited)
        && !is_lock_file(partner)
        && !is_parent_of(edited, partner)
        && !is_parent_of(partner, edited)
}

/// Returns whether a tool writes a file, by its name.
fn is_lock_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    LOCK_NAMES.contains(&name) || LOCK_ENDINGS.iter().any(|it| name.ends_with(it))
}

/// Returns whether a file stands for a folder around the other: `src/wire.rs` or `src/wire/mod.rs` for
/// `src/wire/frame.rs`.
fn is_parent_of(parent: &str, child: &str) -> bool {
    let name = parent.rsplit('/').next().unwrap_or(parent);
    let stem = name.split('.').next().unwrap_or(name);
    let folder = folder_of(parent);
    let owned = if FOLDER_FILES.contains(&stem) {
        folder.to_owned()
    } else if folder.is_empty() {
        stem.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    // A file such as `main.go` at the root stands for no folder in particular.
    !owned.is_empty() && child.strip_prefix(&owned).is_some_and(|it| it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_and_what_depends_on_it_are_a_pair() {
        for (edited, partner) in [
            ("src/api.rs", "web/wire.ts"),
            ("src/api.rs", "tests/api.rs"),
            ("src/api.rs", "docs/api.md"),
            ("main.go", "cmd/root.go"),
            ("src/wire.rs", "src/wire_codec.rs"),
        ] {
            assert!(is_source_and_dependent(edited, partner), "{edited} {partner}");
        }
    }

    #[test]
    fn tests_lock_files_and_parents_are_no_pair() {
        for (edited, partner) in [
            ("tests/api.rs", "src/api.rs"),
            ("src/api_test.go", "src/api.go"),
            ("Cargo.toml", "Cargo.lock"),
            ("web/package.json", "web/package-lock.json"),
            ("go.sum", "go.mod"),
            ("src/wire.rs", "src/wire/frame.rs"),
            ("src/wire/frame.rs", "src/wire.rs"),
            ("src/wire/mod.rs", "src/wire/frame.rs"),
            ("src/lib.rs", "src/wire.rs"),
            ("app/index.ts", "app/view.ts"),
            ("a.rs", "a.rs"),
        ] {
            assert!(!is_source_and_dependent(edited, partner), "{edited} {partner}");
        }
    }
}
