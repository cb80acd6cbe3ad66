//! Assignment of test files to the modules they exercise, for the list of tests of each module.
//!
//! A test inside a module of code belongs to that module, whatever it refers to: `tpl/x_test.go` is a
//! test of `tpl`. A test in a folder of tests is assigned by its references: `tests/test_db.py`, which
//! refers to `db/a.py`, is a test of `db`. A *test helper* is a file that nearly only tests refer to.
//! Before the modules are formed, [`reclassify_test_libraries`] corrects which files are tests at all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::FileNode;
use crate::folder_roles::{is_at_or_inside, is_inside};
use crate::module::MAX_LISTED;
use crate::partition::FileGroup;

/// Number of tests that must refer to a file before it can count as a test helper, or to a folder
/// before it can count as a library for testing.
pub(crate) const MIN_DEPENDENT_TESTS: usize = 10;
/// Test helpers have at most one reference from product code per this many from tests.
const TESTS_PER_OTHER_REFERENCE: usize = 20;

/// Corrects `is_test` where the path misleads: a folder of tests in which no file is named like a
/// test, and to which tests elsewhere refer, holds a library for testing (`django/test`).
/// Corrected folder by folder: a file that is no test any more does not count as one for later folders.
pub fn reclassify_test_libraries(nodes: &mut [FileNode]) {
    let mut test_folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (file, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_test) {
        if let Some(folder) = outermost_test_folder(&node.path) {
            test_folders.entry(folder.to_owned()).or_default().push(file);
        }
    }
    // A folder with a file named like a test holds real tests, as its name suggests.
    test_folders.retain(|_, files| !files.iter().any(|it| is_named_like_test(&nodes[*it].path)));
    let dependent_tests = find_dependent_tests(nodes, &test_folders);
    for (files, tests) in test_folders.into_values().zip(dependent_tests) {
        // Asked only now: an earlier folder may have turned out to hold no tests.
        let n_dependent_tests = tests.into_iter().filter(|it| nodes[*it].is_test).count();
        if n_dependent_tests >= MIN_DEPENDENT_TESTS {
            for file in files {
                nodes[file].is_test = false;
            }
        }
    }
}

/// For each folder, in their order, the tests outside it that refer to one of its files.
fn find_dependent_tests(
    nodes: &[FileNode],
    files_by_folder: &BTreeMap<String, Vec<usize>>,
) -> Vec<Vec<usize>> {
    let folders: Vec<&str> = files_by_folder.keys().map(String::as_str).collect();
    let mut folder_of: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, files) in files_by_folder.values().enumerate() {
        for file in files {
            folder_of[*file] = Some(index);
        }
    }
    let mut dependent_tests: Vec<Vec<usize>> = vec![Vec::new(); folders.len()];
    for (test, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_test) {
        let is_outside = |folder: &usize| !is_inside(&node.path, folders[*folder]);
        let referred = node.references.iter().filter_map(|(other, _)| folder_of[*other]);
        let referred: BTreeSet<usize> = referred.filter(is_outside).collect();
        for folder in referred {
            dependent_tests[folder].push(test);
        }
    }
    dependent_tests
}

/// Weight of a test's references into each module.
type ModuleWeights = BTreeMap<usize, u64>;

/// A test in the list of its module. The derived order is best first: by the first field that
/// differs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RankedTest<'a> {
    /// The file is not named like a test; it may be a helper.
    is_unmarked: bool,
    /// Weight of its references into the module.
    weight: Reverse<u64>,
    path: &'a str,
}

/// The tests of every module, best first. A test that lies in a module of code belongs to it. A test in a
/// folder of tests belongs to the module that it refers to most ([`find_subject`]), and if it refers to
/// none, to the module of tests that it lies in.
pub(crate) fn assign_tests(
    nodes: &[FileNode],
    groups: &[FileGroup],
    group_of: &[Option<usize>],
) -> Vec<Vec<String>> {
    let is_helper = find_test_helpers(nodes);
    let has_code: Vec<bool> = groups.iter().map(|it| !it.is_all_tests(nodes)).collect();
    // By module.
    let mut assigned_tests: Vec<Vec<RankedTest<'_>>> = vec![Vec::new(); groups.len()];
    for (file, node) in nodes.iter().enumerate() {
        if !node.is_test || node.is_empty {
            continue;
        }
        // References to the code under test are weighed apart from those to helpers; those to
        // other tests show nothing.
        let (mut to_subjects, mut to_helpers) = (ModuleWeights::new(), ModuleWeights::new());
        for (other, weight) in node.references.iter().filter(|(other, _)| !nodes[*other].is_test) {
            if let Some(module) = group_of[*other] {
                let weights = if is_helper[*other] { &mut to_helpers } else { &mut to_subjects };
                *weights.entry(module).or_default() += u64::from(*weight);
            }
        }
        let own_module = group_of[file];
        // A module of tests only, or the rest of the project at the top, is not the tested code.
        let own_code = own_module.filter(|it| has_code[*it] && !groups[*it].root.is_empty());
        let assigned = match own_code {
            Some(module) => Some((module, to_subjects.get(&module).copied().unwrap_or_default())),
            None => find_subject(&node.path, groups, &to_subjects, &to_helpers)
                .or(own_module.map(|it| (it, 0))),
        };
        if let Some((module, weight)) = assigned {
            assigned_tests[module].push(RankedTest {
                is_unmarked: !is_named_like_test(&node.path),
                weight: Reverse(weight),
                path: &node.path,
            });
        }
    }
    let best_paths = |mut tests: Vec<RankedTest<'_>>| {
        tests.sort_unstable();
        tests.into_iter().take(MAX_LISTED).map(|it| it.path.to_owned()).collect()
    };
    assigned_tests.into_iter().map(best_paths).collect()
}

/// The module that a test outside the modules of code exercises, with the weight of the references
/// that show it: to the code under test (`to_subjects`) and to test helpers. Of three groups the first
/// with a reference decides: subjects in the folder that holds the folder of tests, any subjects, helpers.
fn find_subject(
    test_path: &str,
    groups: &[FileGroup],
    to_subjects: &ModuleWeights,
    to_helpers: &ModuleWeights,
) -> Option<(usize, u64)> {
    // The folder that holds the folder of tests; empty at the top of the project, where every module is near.
    let around = outermost_test_folder(test_path).map_or("", enclosing_folder);
    let is_near = |module: usize| is_at_or_inside(&groups[module].root, around);
    // A module beside the folder of tests is the likeliest subject. A helper is used by tests of every
    // module, so references to helpers decide last.
    heaviest(to_subjects, is_near)
        .or_else(|| heaviest(to_subjects, |_| true))
        .or_else(|| heaviest(to_helpers, |_| true))
}

/// The module with the largest weight among those accepted, ties to the lower index.
fn heaviest(weights: &ModuleWeights, accept: impl Fn(usize) -> bool) -> Option<(usize, u64)> {
    let accepted = weights.iter().filter(|(module, _)| accept(**module));
    let heaviest = accepted.max_by_key(|(module, weight)| (*weight, Reverse(*module)));
    heaviest.map(|(module, weight)| (*module, *weight))
}

/// Marks the files to which nearly only tests refer. Such a reference does not show what a test
/// exercises.
fn find_test_helpers(nodes: &[FileNode]) -> Vec<bool> {
    let mut n_from_tests = vec![0; nodes.len()];
    let mut n_from_others = vec![0; nodes.len()];
    for node in nodes {
        let counts = if node.is_test { &mut n_from_tests } else { &mut n_from_others };
        for (other, _) in &node.references {
            counts[*other] += 1;
        }
    }
    let is_helper = |file: usize| {
        n_from_tests[file] >= MIN_DEPENDENT_TESTS
            && n_from_others[file] * TESTS_PER_OTHER_REFERENCE <= n_from_tests[file]
    };
    (0..nodes.len()).map(is_helper).collect()
}

/// The outermost folder of tests on the way to a file.
pub(crate) fn outermost_test_folder(path: &str) -> Option<&str> {
    let folders = path.rsplit_once('/')?.0;
    // `end` is where the current folder's name ends in `folders`.
    let mut end = 0;
    for folder in folders.split('/') {
        end += folder.len();
        if matches!(folder, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing") {
            return Some(&folders[..end]);
        }
        end += 1; // the slash
    }
    None
}

/// The folder that holds a folder, without a trailing `src`: `pkg` for `pkg/tests` and `pkg/src/tests`.
fn enclosing_folder(folder: &str) -> &str {
    match folder.rsplit_once('/') {
        None | Some(("src", _)) => "",
        Some((enclosing, _)) => enclosing.strip_suffix("/src").unwrap_or(enclosing),
    }
}

/// The file's own name marks it as a test, in whatever folder it lies. Test helpers have no such
/// name.
pub(crate) fn is_named_like_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_lowercase();
    let is_test_word = matches!(lower.as_str(), "test" | "tests");
    // `test_db.py`
    let has_prefix = ["test_", "tests_", "test-"].iter().any(|it| lower.starts_with(it));
    // `db_test.go`, and `ServerTest.java` or `ServerIT.java` (an integration test), where capitals matter.
    let has_suffix = ["_test", "_tests", "-test", "_spec"].iter().any(|it| lower.ends_with(it))
        || ["Test", "Tests", "IT"].iter().any(|it| stem.ends_with(it));
    // `user.test.ts`
    let has_infix = name.contains(".test.") || name.contains(".spec.");
    is_test_word || has_prefix || has_suffix || has_infix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::parse_nodes;
    use crate::{Module, PackageRoot, find_modules};

    /// The modules that are not only tests, each as `id: test files`. In `lines` each file is followed by the
    /// files that it refers to, as for [`parse_nodes`].
    fn tests_by_module(lines: &str, packages: &[&str]) -> Vec<String> {
        let mut nodes = parse_nodes(lines);
        reclassify_test_libraries(&mut nodes);
        let package = |root: &&str| PackageRoot { root: (*root).to_owned(), name: None };
        let packages: Vec<PackageRoot> = packages.iter().map(package).collect();
        let line = |it: Module| format!("{}: {}", it.id, it.test_files.join(" "));
        find_modules(&nodes, &packages).into_iter().filter(|it| !it.is_test).map(line).collect()
    }

    #[test]
    fn a_test_in_a_module_belongs_to_it_whatever_it_refers_to() {
        let lines = "lib/a.go\nlib/b.go\nlib/c.go
            tpl/x.go\ntpl/y.go\ntpl/z.go\ntpl/x_test.go lib/a.go lib/b.go";
        assert_eq!(tests_by_module(lines, &[]), ["lib: ", "tpl: tpl/x_test.go"]);
    }

    #[test]
    fn a_test_beside_its_package_belongs_to_that_package() {
        // The folder of tests lies outside of both packages, and the test refers more to the other one.
        let lines = "p/math/src/a.ts\np/math/src/b.ts
            p/math/tests/m.test.ts p/base/src/a.ts p/base/src/b.ts p/math/src/a.ts
            p/base/src/a.ts\np/base/src/b.ts";
        assert_eq!(
            tests_by_module(lines, &["p/math/src", "p/base/src"]),
            ["p/base: ", "p/math: p/math/tests/m.test.ts"]
        );
    }

    #[test]
    fn a_library_for_testing_is_a_module_and_not_the_subject_of_tests() {
        // `test` has no file named like a test, and twelve tests elsewhere use it, more than `db`.
        let mut lines = vec![
            "test/client.py\ntest/testcases.py\ntest/runner.py".to_owned(),
            "db/a.py\ndb/b.py db/a.py\ndb/c.py\ntests/models.py db/a.py".to_owned(),
        ];
        lines.extend(
            (0..12)
                .map(|it| format!("tests/test_{it}.py test/testcases.py test/client.py db/a.py")),
        );
        // Six tests are listed, those named like tests first.
        assert_eq!(
            tests_by_module(&lines.join("\n"), &[]),
            [
                "db: tests/test_0.py tests/test_1.py tests/test_10.py tests/test_11.py tests/test_2.py tests/test_3.py",
                "test: ",
            ]
        );
    }
}
