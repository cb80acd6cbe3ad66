//! Roles of conventional folder names: tests, examples, fixtures, documentation, build layout.
//!
//! The tables overlap because each answers a different question: may the folder be split, may a
//! package in it be a module, are its files test data, does its name describe its files. The partition
//! and most other files of this crate ask them.
//!
//! ```text
//! folder      split?   packages in it are modules?   test data?   describes its files?
//! tests       no       no                            no           yes
//! scripts     no       yes                           no           yes
//! fixtures    no       no                            yes          yes
//! src         yes      yes                           no           no
//! ```

/// Folders that stay one group, however many files they hold.
#[rustfmt::skip]
const UNSPLIT_FOLDERS: &[&str] = &[
    "tests", "test", "testing", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "fixture", "examples", "example",
    "sample", "samples", "demo", "demos", "playground", "playgrounds", "bench", "benches", "benchmarks", "benchmark", "scripts",
    "tools", "docs", "doc", "locale", "locales", "i18n", "migrations", "stubs", "typings", "fuzz", "integration-tests",
    "integration_tests",
];

/// Folders of code that tests, measures or demonstrates the product. A package in such a folder is
/// not a module.
#[rustfmt::skip]
const TEST_AND_DEMO_FOLDERS: &[&str] = &[
    "tests", "test", "__tests__", "spec", "specs", "e2e", "examples", "example", "sample", "samples", "demo", "demos", "playground",
    "playgrounds", "bench", "benches", "benchmarks", "benchmark", "fuzz", "docs", "integration-tests", "integration_tests",
];

/// Further folders beside the product. Unlike those of `TEST_AND_DEMO_FOLDERS`, a package in one of
/// them is a module, because developers work on it as on any other package.
const TOOL_AND_TEXT_FOLDERS: &[&str] = &["scripts", "tools", "doc", "locale", "locales"];

/// Folders of a build layout, whose names do not describe the files in them.
pub(crate) const STRUCTURAL_FOLDERS: &[&str] = &["src", "main", "java", "kotlin", "scala"];

/// Folders whose files are the input of tests or generators.
const TEST_DATA_FOLDERS: &[&str] =
    &["testdata", "fixtures", "fixture", "__fixtures__", "snapshots", "templates"];

/// The path is or lies in a folder beside the product: tests, examples, benchmarks, scripts,
/// documentation.
pub(crate) fn is_supporting_folder(path: &str) -> bool {
    let is_supporting_name = |folder: &str| {
        let is_listed =
            TEST_AND_DEMO_FOLDERS.contains(&folder) || TOOL_AND_TEXT_FOLDERS.contains(&folder);
        // `test-utils`, `api-docs`
        let is_variant = folder.starts_with("test-")
            || folder.starts_with("tests-")
            || folder.ends_with("-docs");
        is_listed || is_variant
    };
    folders_before_package_name(path).any(is_supporting_name)
}

/// The outermost folder of tests or demonstrations above the folder `path`, which itself does not
/// count.
pub(crate) fn outermost_test_or_demo_folder(path: &str) -> Option<&str> {
    let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
    let mut test_or_demo = parents.filter(|parent| {
        let name = parent.rsplit('/').next().unwrap_or_default();
        TEST_AND_DEMO_FOLDERS.contains(&name)
    });
    test_or_demo.next()
}

/// One of the folders of `dir`, beginning with the last folder of `root`, is never split. Folders
/// above `root` do not count: the caller has already gone below them. `root` must be `dir` or lie
/// above it.
pub(crate) fn has_unsplit_folder(dir: &str, root: &str) -> bool {
    let n_folders_above_root = root.split('/').count() - 1;
    folders_before_package_name(dir)
        .skip(n_folders_above_root)
        .any(|it| UNSPLIT_FOLDERS.contains(&it))
}

/// The file lies in a folder of test data.
pub(crate) fn is_test_data(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').any(|it| TEST_DATA_FOLDERS.contains(&it))
}

/// The package is the input of a test or a template for new packages.
pub(crate) fn is_test_data_package(root: &str) -> bool {
    root.split('/').any(|it| TEST_DATA_FOLDERS.contains(&it) || it.starts_with("template-"))
}

/// The path lies below the folder `root`. No folder lies below itself, except the project's root:
/// every path lies below the empty one.
pub(crate) fn is_inside(path: &str, root: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|it| it.starts_with('/'))
}

/// The path is the folder `root` or lies below it.
pub(crate) fn is_at_or_inside(path: &str, root: &str) -> bool {
    path == root || is_inside(path, root)
}

/// The folders above a path: the deepest first, the project's root (the empty path) last.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(end, _)| &path[..end]).chain([""])
}

/// The folders of a path up to a JVM source root. Those after it spell a package name, in which
/// `samples` or `docs` has no meaning.
fn folders_before_package_name(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').take_while(|it| !matches!(*it, "java" | "kotlin" | "scala"))
}
