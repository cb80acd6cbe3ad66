//! Rules about project paths: the folder of a file, and which files are tests.

/// The folder that contains a file; empty for a file at the project root.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// Returns whether one of two files is the test of the other: `a.rs` and `a_test.rs`, `test_a.py`,
/// `a.spec.ts`. Folders and extensions do not count, so that any two files of the same name are a pair.
pub fn is_test_pair(a: &str, b: &str) -> bool {
    tested_name(a) == tested_name(b)
}

/// The name of the tested file: without folder, extensions and the marks of a test. `a` of `t/a.spec.ts`,
/// `test_a.py` and `a_test.rs`.
fn tested_name(path: &str) -> String {
    const TEST_SUFFIXES: &[&str] = &["_test", "_tests", "test", "tests", "_spec", "-test"];
    let file_name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    // `a.spec.ts` and `a.ts` have the same first part.
    let stem = file_name.split('.').next().unwrap_or(&file_name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    // The first suffix that matches is removed.
    let without_suffix = TEST_SUFFIXES.iter().find_map(|it| stem.strip_suffix(it));
    without_suffix.unwrap_or(stem).to_owned()
}

/// Returns whether a path is a test by its folder or its file name.
pub fn is_test_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let test_folders =
        ["test", "tests", "__tests__", "spec", "integration_test", "e2e", "testdata"];
    // All parts of the path but the last are folders.
    lower.split('/').rev().skip(1).any(|it| test_folders.contains(&it))
        || name.starts_with("test_")
        || ["_test.", ".test.", ".spec.", "_spec.", "tests."].iter().any(|it| name.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_recognised_by_their_names() {
        assert!(is_test_pair("src/a.go", "src/a_test.go") && is_test_pair("a.ts", "t/a.spec.ts"));
        assert!(!is_test_pair("src/a.go", "src/b_test.go"));
        assert!(
            is_test_path("x/a_test.go")
                && is_test_path("tests/it/a.rs")
                && is_test_path("a.spec.ts")
        );
        assert!(!is_test_path("src/attest.rs") && !is_test_path("src/contest/a.rs"));
    }
}
