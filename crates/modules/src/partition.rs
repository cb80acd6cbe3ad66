//! Partition of the files of a project into groups: by package, then by folder, then by community.

mod merge;

use std::collections::BTreeMap;

use crate::community::detect_communities;
use crate::{FileNode, naming};

/// A folder with a manifest of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRoot {
    /// Empty for the project's root.
    pub root: String,
    /// The name in the manifest, if there is one.
    pub name: Option<String>,
}

/// The files of one module: a folder, or a community of files in it, without deeper groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileGroup {
    pub(crate) root: String,
    /// Indices of nodes, sorted.
    pub(crate) files: Vec<usize>,
    /// Found by community detection, not by folder; its root may hold other groups, too.
    pub(crate) is_community: bool,
}

impl FileGroup {
    pub(crate) fn is_all_tests(&self, nodes: &[FileNode]) -> bool {
        self.files.iter().all(|it| nodes[*it].is_test)
    }
}

/// Fewest files of a module. In a large project the folders inside a package need more, up to the
/// second number.
const MIN_MODULE_FILES: usize = 3;
const MAX_MIN_MODULE_FILES: usize = 5;
/// The minimum grows by one with every so many files of the project.
const FILES_PER_MIN_STEP: usize = 150;
/// A package of more files than this is split, even if its folders are small.
const MAX_UNSPLIT_PACKAGE_FILES: usize = 60;
/// A folder that holds more than one eighth of all files is split, within these bounds.
const MAX_UNSPLIT_FOLDER_FILES: std::ops::RangeInclusive<usize> = 25..=110;
/// More modules than this do not fit into an overview; the smallest are merged.
const MAX_MODULES: usize = 70;
/// Weight of co-changes beside references in community detection.
const CO_CHANGE_WEIGHT: f64 = 2.0;
/// Scales the square roots of reference weights: a plain reference (1000) weighs about 1.
const REFERENCE_SCALE: f64 = 30.0;

/// Folders that are never split, however many files they hold.
#[rustfmt::skip]
const UNSPLIT_FOLDERS: &[&str] = &[
    "tests", "test", "testing", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "fixture", "examples", "example",
    "sample", "samples", "demo", "demos", "playground", "playgrounds", "bench", "benches", "benchmarks", "benchmark", "scripts",
    "tools", "docs", "doc", "locale", "locales", "i18n", "migrations", "stubs", "typings", "fuzz", "integration-tests",
    "integration_tests",
];

/// Folders whose packages demonstrate, measure or test the project; none is a module by itself.
#[rustfmt::skip]
const SUPPORTING_FOLDERS: &[&str] = &[
    "tests", "test", "__tests__", "spec", "specs", "e2e", "examples", "example", "sample", "samples", "demo", "demos", "playground",
    "playgrounds", "bench", "benches", "benchmarks", "benchmark", "fuzz", "docs", "integration-tests", "integration_tests",
];

/// Folders of a build layout, which say nothing about the files in them.
pub(crate) const STRUCTURAL_FOLDERS: &[&str] = &["src", "main", "java", "kotlin", "scala"];

/// Folders whose manifests are input of tests or generators, not packages.
const TEST_DATA_FOLDERS: &[&str] =
    &["testdata", "fixtures", "fixture", "__fixtures__", "snapshots", "templates"];

/// A folder beside the product: examples, benchmarks, scripts, documentation.
pub(crate) fn is_supporting_folder(path: &str) -> bool {
    let is_supporting = |folder: &str| {
        SUPPORTING_FOLDERS.contains(&folder)
            || matches!(folder, "scripts" | "tools" | "doc" | "locale" | "locales")
            || folder.starts_with("test-")
            || folder.starts_with("tests-")
            || folder.ends_with("-docs")
    };
    folders_outside_package_name(path).any(is_supporting)
}

/// The folders of a path up to a JVM source root. Those after it spell a package name, in which
/// `samples` or `docs` has no meaning.
fn folders_outside_package_name(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').take_while(|it| !matches!(*it, "java" | "kotlin" | "scala"))
}

/// A file that tests or generators read.
pub(crate) fn is_test_data(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').any(|it| TEST_DATA_FOLDERS.contains(&it))
}

/// The path lies below the folder `root`; every path lies below the empty one.
pub(crate) fn is_inside(path: &str, root: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|it| it.starts_with('/'))
}

/// Partitions the files of a project. A few files at the very top may be in no group.
pub(crate) fn partition_files(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<FileGroup> {
    let packages = module_packages(nodes, packages);
    let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        by_package.entry(enclosing_package(&node.path, &packages)).or_default().push(at);
    }
    // A package of one file is a detail of the package around it.
    let small: Vec<&str> =
        by_package.iter().filter(|it| it.1.len() < 2 && !it.0.is_empty()).map(|it| *it.0).collect();
    for root in small {
        let files = by_package.remove(root).unwrap_or_default();
        let enclosing = by_package
            .keys()
            .filter(|it| is_inside(root, it))
            .max_by_key(|it| it.len())
            .copied()
            .unwrap_or("");
        by_package.entry(enclosing).or_default().extend(files);
    }
    let nested = SizeBounds::of_folders(nodes.len());
    let mut acc = Vec::new();
    for (root, mut files) in by_package {
        files.sort_unstable();
        // What lies outside all packages is split into its folders, however small they are.
        let own = if root.is_empty() {
            SizeBounds { max_unsplit: MIN_MODULE_FILES, min_files: MIN_MODULE_FILES }
        } else {
            SizeBounds { max_unsplit: MAX_UNSPLIT_PACKAGE_FILES.max(nested.max_unsplit), ..nested }
        };
        if !root.is_empty() && files.len() <= own.max_unsplit {
            acc.push(FileGroup { root: root.to_owned(), files, is_community: false });
        } else {
            split_folder(&mut acc, nodes, root, files, own, nested);
        }
    }
    merge::merge_small_groups(&mut acc, &packages);
    merge::merge_down_to_limit(&mut acc);
    merge::merge_equivalent_roots(&mut acc, &packages);
    acc
}

/// Number of files that decides whether a folder is split and which of its folders are groups.
#[derive(Clone, Copy)]
struct SizeBounds {
    max_unsplit: usize,
    min_files: usize,
}

impl SizeBounds {
    /// For folders inside a package, by the size of the project.
    fn of_folders(n_files: usize) -> Self {
        let (least, most) = MAX_UNSPLIT_FOLDER_FILES.into_inner();
        Self {
            max_unsplit: (n_files / 8).clamp(least, most),
            min_files: (n_files / FILES_PER_MIN_STEP).clamp(MIN_MODULE_FILES, MAX_MIN_MODULE_FILES),
        }
    }
}

/// The roots of the packages that can be modules. Manifests in test data are not packages. Packages
/// among tests or examples are not modules, unless nearly the whole project lies there.
fn module_packages(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<String> {
    // The outermost supporting folder above a package.
    let supporting_folder = |root: &str| {
        let mut end = 0;
        root.split('/').find_map(|it| {
            let folder = &root[..end + it.len()];
            end += it.len() + 1;
            (SUPPORTING_FOLDERS.contains(&it) && folder.len() < root.len())
                .then(|| folder.to_owned())
        })
    };
    let holds_project = |folder: &str| {
        10 * nodes.iter().filter(|it| is_inside(&it.path, folder)).count() > 9 * nodes.len()
    };
    let is_module = |package: &&PackageRoot| {
        let mut folders = package.root.split('/');
        let is_data =
            folders.any(|it| TEST_DATA_FOLDERS.contains(&it) || it.starts_with("template-"));
        !is_data && supporting_folder(&package.root).is_none_or(|it| holds_project(&it))
    };
    packages.iter().filter(is_module).map(|it| it.root.clone()).collect()
}

fn enclosing_package<'a>(path: &str, packages: &'a [String]) -> &'a str {
    let enclosing = packages.iter().map(String::as_str).filter(|it| is_inside(path, it));
    enclosing.max_by_key(|it| it.len()).unwrap_or("")
}

/// Splits the files of a folder by the folders in it; `own` are the bounds for this folder,
/// `nested` those for the folders below.
fn split_folder(
    acc: &mut Vec<FileGroup>,
    nodes: &[FileNode],
    root: &str,
    files: Vec<usize>,
    own: SizeBounds,
    nested: SizeBounds,
) {
    let dir = common_folder(nodes, root, &files);
    // From the folder's own name on, including those skipped on the way to the common folder.
    let is_unsplit = folders_outside_package_name(&dir)
        .skip(root.split('/').count() - 1)
        .any(|it| UNSPLIT_FOLDERS.contains(&it));
    if files.len() <= own.max_unsplit || is_unsplit {
        acc.push(FileGroup { root: dir, files, is_community: false });
        return;
    }
    let mut by_child: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut direct = Vec::new();
    for at in files {
        let rest = &nodes[at].path[if dir.is_empty() { 0 } else { dir.len() + 1 }..];
        match rest.split_once('/') {
            Some((child, _)) => by_child.entry(child.to_owned()).or_default().push(at),
            None => direct.push(at),
        }
    }
    for (child, files) in by_child {
        let child = if dir.is_empty() { child } else { format!("{dir}/{child}") };
        if files.len() < own.min_files {
            direct.extend(files);
        } else {
            split_folder(acc, nodes, &child, files, nested, nested);
        }
    }
    direct.sort_unstable();
    if direct.len() > nested.max_unsplit {
        direct = split_by_community(acc, nodes, &dir, direct);
    }
    if !direct.is_empty() {
        acc.push(FileGroup { root: dir, files: direct, is_community: false });
    }
}

/// The deepest folder that holds all of these files, at least `root`.
fn common_folder(nodes: &[FileNode], root: &str, files: &[usize]) -> String {
    let mut paths = files.iter().map(|it| nodes[*it].path.as_str());
    let parent = |it: &str| it.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    let Some(mut dir) = paths.next().map(parent) else { return root.to_owned() };
    for path in paths {
        while !is_inside(path, &dir) {
            dir = parent(&dir);
        }
    }
    if dir.len() < root.len() { root.to_owned() } else { dir }
}

/// Groups many files of one folder by community; returns the files that are in no group.
fn split_by_community(
    acc: &mut Vec<FileGroup>,
    nodes: &[FileNode],
    dir: &str,
    files: Vec<usize>,
) -> Vec<usize> {
    let index_of: BTreeMap<usize, usize> =
        files.iter().enumerate().map(|(index, file)| (*file, index)).collect();
    let mut edges = Vec::new();
    for (from, file) in files.iter().enumerate() {
        for (other, weight) in &nodes[*file].references {
            if let Some(to) = index_of.get(other) {
                edges.push((from, *to, f64::from(*weight).sqrt() / REFERENCE_SCALE));
            }
        }
        for (other, strength) in &nodes[*file].co_changes {
            if let Some(to) = index_of.get(other) {
                edges.push((from, *to, CO_CHANGE_WEIGHT * f64::from(*strength)));
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, group) in detect_communities(files.len(), &edges).into_iter().enumerate() {
        groups.entry(group).or_default().push(files[index]);
    }
    let mut rest = Vec::new();
    for files in groups.into_values() {
        // A community has no folder to be named after. Without shared words in its file names it
        // would have no name that helps a reader.
        if files.len() < 2 * MIN_MODULE_FILES || naming::find_shared_words(nodes, &files).is_empty()
        {
            rest.extend(files);
        } else {
            acc.push(FileGroup { root: dir.to_owned(), files, is_community: true });
        }
    }
    rest.sort_unstable();
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_sizes(paths: &[String], packages: &[&str]) -> Vec<(String, usize)> {
        let node = |it: &String| FileNode { path: it.clone(), ..FileNode::default() };
        let nodes: Vec<FileNode> = paths.iter().map(node).collect();
        let packages: Vec<PackageRoot> =
            packages.iter().map(|it| PackageRoot { root: (*it).to_owned(), name: None }).collect();
        partition_files(&nodes, &packages).into_iter().map(|it| (it.root, it.files.len())).collect()
    }

    fn files_in(dir: &str, n: usize) -> Vec<String> {
        (0..n).map(|it| format!("{dir}/f{it}.py")).collect()
    }

    #[test]
    fn a_small_package_is_one_group_and_a_large_one_is_split() {
        let mut paths = files_in("pkg/small/src", 10);
        paths.extend(files_in("pkg/large/src/net", 50));
        paths.extend(files_in("pkg/large/src/io", 30));
        paths.push("pkg/large/src/lib.py".to_owned());
        paths.push("pkg/large/build.py".to_owned());
        paths.push("pkg/large/src/b.py".to_owned());
        paths.push("pkg/large/src/c.py".to_owned());
        paths.push("setup.py".to_owned());
        let expected = [
            ("pkg/large/src/io", 30),
            ("pkg/large/src/net", 50),
            ("pkg/large", 4),
            ("pkg/small", 10),
        ];
        let expected = expected.map(|it| (it.0.to_owned(), it.1));
        assert_eq!(root_sizes(&paths, &["pkg/small", "pkg/large"]), expected);
    }

    #[test]
    fn a_folder_of_tests_is_not_split() {
        let mut paths = files_in("app", 20);
        (0..40).for_each(|it| paths.extend(files_in(&format!("tests/t{it}"), 10)));
        assert_eq!(root_sizes(&paths, &[]), [("app".to_owned(), 20), ("tests".to_owned(), 400)]);
    }

    #[test]
    fn a_manifest_among_fixtures_is_not_a_package() {
        let paths = vec![
            "a/x.py".to_owned(),
            "a/fixtures/p/y.py".to_owned(),
            "a/fixtures/p/z.py".to_owned(),
            "a/template-x/u.py".to_owned(),
            "a/template-x/v.py".to_owned(),
        ];
        let packages = ["a", "a/fixtures/p", "a/template-x"];
        assert_eq!(root_sizes(&paths, &packages), [("a".to_owned(), 5)]);
    }

    #[test]
    fn packages_among_examples_are_one_group_unless_there_is_nothing_else() {
        let mut paths = files_in("examples/a", 5);
        paths.extend(files_in("examples/b", 5));
        let packages = ["examples/a", "examples/b"];
        let apart = [("examples/a", 5), ("examples/b", 5)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(root_sizes(&paths, &packages), apart);
        paths.extend(files_in("src", 5));
        let whole = [("examples", 10), ("src", 5)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(root_sizes(&paths, &packages), whole);
    }

    #[test]
    fn folders_of_a_java_package_have_no_special_meaning() {
        let root = "src/main/java/org/acme/samples/clinic";
        let mut paths = files_in(&format!("{root}/owner"), 20);
        paths.extend(files_in(&format!("{root}/vet"), 20));
        let expected = [(format!("{root}/owner"), 20), (format!("{root}/vet"), 20)];
        assert_eq!(root_sizes(&paths, &[]), expected);
        assert!(!is_supporting_folder(root));
    }

    #[test]
    fn files_beside_and_in_src_are_one_group() {
        let mut paths = files_in("pkg/src/node", 100);
        paths.extend(files_in("pkg/src/types", 20));
        paths.extend(files_in("pkg/types", 20));
        paths.extend(files_in("pkg/bin", 2));
        paths.extend(files_in("pkg/src", 4));
        let expected = [("pkg/src/node", 100), ("pkg/types", 40), ("pkg", 6)]
            .map(|it| (it.0.to_owned(), it.1));
        assert_eq!(root_sizes(&paths, &["pkg"]), expected);
    }

    #[test]
    fn a_few_files_at_the_top_belong_to_src_or_lib() {
        let mut paths = files_in("lib", 6);
        paths.extend(files_in("examples", 10));
        paths.push("index.py".to_owned());
        let expected = [("examples", 10), ("", 7)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(root_sizes(&paths, &[]), expected);
    }

    #[test]
    fn a_community_without_shared_words_is_not_a_group() {
        let node = |path: String, to: usize| FileNode {
            path,
            references: vec![(to, 9000)],
            ..FileNode::default()
        };
        let mut nodes: Vec<FileNode> =
            (0..30).map(|it| node(format!("x/library_{it}.py"), 0)).collect();
        let unrelated = ["apple", "bear", "cloud", "door", "earth", "fire", "glass", "house"];
        nodes.extend(unrelated.iter().map(|it| node(format!("x/{it}.py"), 30)));
        let groups: Vec<(bool, usize)> = partition_files(&nodes, &[])
            .iter()
            .map(|it| (it.is_community, it.files.len()))
            .collect();
        assert_eq!(groups, [(true, 30), (false, 8)]);
    }
}
