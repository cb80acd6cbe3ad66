//! Partition of the files of a project into groups, each of which becomes a module.
//!
//! Three criteria apply in this order: files belong to their package; a large package is split into
//! its folders; many files directly in one folder are split into communities of files that refer to
//! one another and change together. At the end, groups that are too small or too many are merged
//! (`merge.rs`). [`crate::find_modules`] turns the groups into modules.
//!
//! ```text
//! pkg/small/src       10 files       group pkg/small           the package is small enough
//! pkg/large/src/net   50 files       group pkg/large/src/net   the package is split
//! pkg/large/src/io    30 files       group pkg/large/src/io
//! pkg/large            4 files       group pkg/large           the rest of the package
//! setup.py                           no group                  too few files at the top
//! ```
//!
//! The *root* of a group is the folder of its files; that of the project, the *top*, is empty.

mod group_tree;
pub(crate) mod merge;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::community::detect_communities;
use crate::folder_roles::{
    folders_above, has_unsplit_folder, is_inside, is_test_data_package,
    outermost_test_or_demo_folder,
};
use crate::{FileNode, naming};

/// A folder with a manifest of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRoot {
    /// Empty for the project's root.
    pub root: String,
    /// The name in the manifest, if there is one.
    pub name: Option<String>,
}

/// The files of one module: those of a folder, or of a community in it, that are in no other group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileGroup {
    pub(crate) root: String,
    /// Indices of nodes, sorted.
    pub(crate) files: Vec<usize>,
    /// Found by community detection, not by folder; other groups may have the same root.
    pub(crate) is_community: bool,
}

impl FileGroup {
    pub(crate) fn is_all_tests(&self, nodes: &[FileNode]) -> bool {
        self.files.iter().all(|it| nodes[*it].is_test)
    }
}

/// Fewest files of a module. Fewer do not deserve a line in an overview.
pub(crate) const MIN_MODULE_FILES: usize = 3;
/// A package with more files than this is split into its folders.
const PACKAGE_SPLIT_THRESHOLD: usize = 60;

/// A folder inside a package is split if it has more files than this fraction of the project (one
/// eighth), but at least and at most as many as the range allows.
const FOLDER_SPLIT_DIVISOR: usize = 8;
const FOLDER_SPLIT_RANGE: RangeInclusive<usize> = 25..=110;

/// A subfolder becomes a group if it has at least this fraction of the project's files, within the
/// range. In a large project small folders would make too many modules.
const SUBFOLDER_MIN_DIVISOR: usize = 150;
const SUBFOLDER_MIN_RANGE: RangeInclusive<usize> = MIN_MODULE_FILES..=5;

/// More modules than this do not fit into an overview; the smallest are merged.
pub(crate) const MAX_MODULES: usize = 70;

/// Percentage of the project's files from which on a folder holds nearly the whole project.
pub(crate) const NEARLY_ALL_PERCENT: usize = 90;

/// Fewest files of a community. It has no folder that proves its unity, so it needs more files than
/// a folder does.
const MIN_COMMUNITY_FILES: usize = 2 * MIN_MODULE_FILES;
/// Weight of co-changes relative to references in community detection.
const CO_CHANGE_WEIGHT: f64 = 2.0;
/// Divides the square roots of reference weights: one plain reference (1000) weighs about 1.
const REFERENCE_SCALE: f64 = 30.0;

/// Partitions the files of a project. Files outside all packages may be in no group, if they are too
/// few for a module and no group is near them.
pub(crate) fn partition_files(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<FileGroup> {
    let package_roots = module_package_roots(nodes, packages);
    let mut groups = split_packages(nodes, files_by_package(nodes, &package_roots));
    merge::merge_small_groups(&mut groups, &package_roots);
    merge::merge_down_to_limit(&mut groups);
    merge::merge_equivalent_roots(&mut groups, &package_roots);
    groups
}

/// Splits the packages that are too large into their folders, and the files in no package.
pub(crate) fn split_packages(
    nodes: &[FileNode],
    files_by_package: BTreeMap<&str, Vec<usize>>,
) -> Vec<FileGroup> {
    let folder_bounds = SizeBounds::of_folders(nodes.len());
    // A package hangs together more than a folder does, so it is never split earlier than one.
    let package_bounds = SizeBounds {
        split_threshold: PACKAGE_SPLIT_THRESHOLD.max(folder_bounds.split_threshold),
        ..folder_bounds
    };
    // Files in no package share nothing but the project, so each of their folders is a group as soon
    // as it is large enough for a module.
    let top_bounds =
        SizeBounds { split_threshold: MIN_MODULE_FILES, subfolder_min_files: MIN_MODULE_FILES };
    let mut groups = Vec::new();
    for (root, files) in files_by_package {
        if root.is_empty() {
            split_folder(&mut groups, nodes, root, files, top_bounds, folder_bounds);
        } else if files.len() <= package_bounds.split_threshold {
            groups.push(FileGroup { root: root.to_owned(), files, is_community: false });
        } else {
            split_folder(&mut groups, nodes, root, files, package_bounds, folder_bounds);
        }
    }
    groups
}

/// File counts that decide how one folder is split.
#[derive(Clone, Copy)]
struct SizeBounds {
    /// The folder stays one group if it has at most this many files.
    split_threshold: usize,
    /// A subfolder with fewer files is no group; its files stay with the folder.
    subfolder_min_files: usize,
}

impl SizeBounds {
    /// The bounds for folders inside a package, in a project of `n_files`.
    fn of_folders(n_files: usize) -> Self {
        let clamp_to =
            |range: RangeInclusive<usize>, n: usize| n.clamp(*range.start(), *range.end());
        Self {
            split_threshold: clamp_to(FOLDER_SPLIT_RANGE, n_files / FOLDER_SPLIT_DIVISOR),
            subfolder_min_files: clamp_to(SUBFOLDER_MIN_RANGE, n_files / SUBFOLDER_MIN_DIVISOR),
        }
    }
}

/// The roots of the packages that can be modules. Manifests in test data are not packages. Packages
/// among tests or examples are not modules, unless nearly the whole project lies there.
fn module_package_roots<'a>(nodes: &[FileNode], packages: &'a [PackageRoot]) -> HashSet<&'a str> {
    // Counted only if a package lies among tests or examples.
    let n_files_below = LazyCell::new(|| count_files_by_folder(nodes));
    let holds_nearly_all = |folder: &str| {
        let n_inside = n_files_below.get(folder).copied().unwrap_or_default();
        100 * n_inside > NEARLY_ALL_PERCENT * nodes.len()
    };
    let can_be_module = |root: &&str| {
        !is_test_data_package(root)
            && outermost_test_or_demo_folder(root).is_none_or(holds_nearly_all)
    };
    packages.iter().map(|it| it.root.as_str()).filter(can_be_module).collect()
}

/// The number of files at any depth below each folder.
fn count_files_by_folder(nodes: &[FileNode]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for folder in nodes.iter().flat_map(|it| folders_above(&it.path)) {
        *counts.entry(folder).or_default() += 1;
    }
    counts
}

/// The files of each package by its root, sorted. Files in no package below the project's root have
/// the empty root.
fn files_by_package<'a>(
    nodes: &[FileNode],
    package_roots: &HashSet<&'a str>,
) -> BTreeMap<&'a str, Vec<usize>> {
    let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (file, node) in nodes.iter().enumerate() {
        let root = folders_above(&node.path).find_map(|it| package_roots.get(it).copied());
        by_package.entry(root.unwrap_or_default()).or_default().push(file);
    }
    // A package of one file is a detail of the package around it.
    let mut single_file_roots: Vec<&str> = Vec::new();
    for (root, files) in &by_package {
        if files.len() < 2 && !root.is_empty() {
            single_file_roots.push(root);
        }
    }
    for root in single_file_roots {
        let files = by_package.remove(root).unwrap_or_default();
        let around = folders_above(root).find(|it| by_package.contains_key(it)).unwrap_or_default();
        by_package.entry(around).or_default().extend(files);
    }
    for files in by_package.values_mut() {
        files.sort_unstable();
    }
    by_package
}

/// Splits the files of the folder `root` by its subfolders, and those again. `bounds` hold for this
/// folder, `nested_bounds` for the folders below.
fn split_folder(
    acc: &mut Vec<FileGroup>,
    nodes: &[FileNode],
    root: &str,
    files: Vec<usize>,
    bounds: SizeBounds,
    nested_bounds: SizeBounds,
) {
    // Folders with a single subfolder and no files are skipped: they would not split anything.
    let dir = common_folder(nodes, root, &files);
    if files.len() <= bounds.split_threshold || has_unsplit_folder(&dir, root) {
        acc.push(FileGroup { root: dir, files, is_community: false });
        return;
    }
    let mut by_subfolder: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    // Files directly in the folder, later also those of its small subfolders.
    let mut own_files = Vec::new();
    let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
    for file in files {
        match nodes[file].path[prefix.len()..].split_once('/') {
            Some((subfolder, _)) => {
                by_subfolder.entry(format!("{prefix}{subfolder}")).or_default().push(file);
            }
            None => own_files.push(file),
        }
    }
    for (subfolder, files) in by_subfolder {
        if files.len() < bounds.subfolder_min_files {
            own_files.extend(files);
        } else {
            split_folder(acc, nodes, &subfolder, files, nested_bounds, nested_bounds);
        }
    }
    own_files.sort_unstable();
    // Files directly in a folder are judged like any other folder; the bounds of the top, where
    // three files are many, would look for communities among too few.
    if own_files.len() > nested_bounds.split_threshold {
        own_files = split_by_community(acc, nodes, &dir, own_files);
    }
    if !own_files.is_empty() {
        acc.push(FileGroup { root: dir, files: own_files, is_community: false });
    }
}

/// The deepest folder that holds all of these files, at least `root`.
fn common_folder(nodes: &[FileNode], root: &str, files: &[usize]) -> String {
    let mut paths = files.iter().map(|it| nodes[*it].path.as_str());
    let parent_folder = |path| str::rsplit_once(path, '/').map_or("", |(folder, _)| folder);
    let Some(mut dir) = paths.next().map(parent_folder) else { return root.to_owned() };
    for path in paths {
        while !is_inside(path, dir) {
            dir = parent_folder(dir);
        }
    }
    if dir.len() < root.len() { root.to_owned() } else { dir.to_owned() }
}

/// Groups many files of one folder by community; returns the files that are in no group.
fn split_by_community(
    acc: &mut Vec<FileGroup>,
    nodes: &[FileNode],
    dir: &str,
    files: Vec<usize>,
) -> Vec<usize> {
    // Community detection numbers the files of this folder from 0; `files` translates back.
    let local_index: BTreeMap<usize, usize> =
        files.iter().enumerate().map(|(index, file)| (*file, index)).collect();
    let mut edges = Vec::new();
    for (from, file) in files.iter().enumerate() {
        // Edges that leave the folder are dropped: only its own files are grouped here.
        for (other, weight) in &nodes[*file].references {
            if let Some(to) = local_index.get(other) {
                edges.push((from, *to, f64::from(*weight).sqrt() / REFERENCE_SCALE));
            }
        }
        for (other, strength) in &nodes[*file].co_changes {
            if let Some(to) = local_index.get(other) {
                edges.push((from, *to, CO_CHANGE_WEIGHT * f64::from(*strength)));
            }
        }
    }
    let mut communities: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, community) in detect_communities(files.len(), &edges).into_iter().enumerate() {
        communities.entry(community).or_default().push(files[index]);
    }
    let mut ungrouped = Vec::new();
    for files in communities.into_values() {
        // A community has no folder to be named after. Without shared words in its file names it
        // would have no name that helps a reader.
        let has_name = !naming::find_shared_words(nodes, &files).is_empty();
        if files.len() >= MIN_COMMUNITY_FILES && has_name {
            acc.push(FileGroup { root: dir.to_owned(), files, is_community: true });
        } else {
            ungrouped.extend(files);
        }
    }
    ungrouped.sort_unstable();
    ungrouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder_roles::is_supporting_folder;

    /// The groups of a project without edges, each as `root: number of files`.
    fn group_sizes(paths: &[String], packages: &[&str]) -> Vec<String> {
        let node = |it: &String| FileNode { path: it.clone(), ..FileNode::default() };
        let nodes: Vec<FileNode> = paths.iter().map(node).collect();
        let packages: Vec<PackageRoot> =
            packages.iter().map(|it| PackageRoot { root: (*it).to_owned(), name: None }).collect();
        let groups = partition_files(&nodes, &packages);
        groups.iter().map(|it| format!("{}: {}", it.root, it.files.len())).collect()
    }

    /// The paths of `n` files in the folder `dir`.
    fn files_in(dir: &str, n: usize) -> Vec<String> {
        (0..n).map(|it| format!("{dir}/f{it}.py")).collect()
    }

    #[test]
    fn a_small_package_is_one_group_and_a_large_one_is_split() {
        let mut paths = files_in("pkg/small/src", 10);
        paths.extend(files_in("pkg/large/src/net", 50));
        paths.extend(files_in("pkg/large/src/io", 30));
        for single in ["src/lib.py", "build.py", "src/b.py", "src/c.py"] {
            paths.push(format!("pkg/large/{single}"));
        }
        // The four single files are the rest of the package that was split, with its root.
        // A single file at the top is in no group.
        paths.push("setup.py".to_owned());
        assert_eq!(
            group_sizes(&paths, &["pkg/small", "pkg/large"]),
            ["pkg/large/src/io: 30", "pkg/large/src/net: 50", "pkg/large: 4", "pkg/small: 10"]
        );
    }

    #[test]
    fn a_folder_of_tests_is_not_split() {
        let mut paths = files_in("app", 20);
        (0..40).for_each(|it| paths.extend(files_in(&format!("tests/t{it}"), 10)));
        assert_eq!(group_sizes(&paths, &[]), ["app: 20", "tests: 400"]);
    }

    #[test]
    fn a_manifest_among_fixtures_or_in_a_template_is_not_a_package() {
        let paths = [
            "a/x.py",
            "a/fixtures/p/y.py",
            "a/fixtures/p/z.py",
            "a/template-x/u.py",
            "a/template-x/v.py",
        ];
        let packages = ["a", "a/fixtures/p", "a/template-x"];
        assert_eq!(group_sizes(&paths.map(str::to_owned), &packages), ["a: 5"]);
    }

    #[test]
    fn packages_among_examples_are_one_group_unless_there_is_nothing_else() {
        let mut paths = files_in("examples/a", 5);
        paths.extend(files_in("examples/b", 5));
        let packages = ["examples/a", "examples/b"];
        assert_eq!(group_sizes(&paths, &packages), ["examples/a: 5", "examples/b: 5"]);
        paths.extend(files_in("src", 5));
        assert_eq!(group_sizes(&paths, &packages), ["examples: 10", "src: 5"]);
    }

    #[test]
    fn folders_of_a_java_package_have_no_special_meaning() {
        let root = "src/main/java/org/acme/samples/clinic";
        let mut paths = files_in(&format!("{root}/owner"), 20);
        paths.extend(files_in(&format!("{root}/vet"), 20));
        let expected = [format!("{root}/owner: 20"), format!("{root}/vet: 20")];
        assert_eq!(group_sizes(&paths, &[]), expected);
        assert!(!is_supporting_folder(root));
    }

    #[test]
    fn files_beside_and_in_src_are_one_group() {
        let mut paths = files_in("pkg/src/node", 100);
        paths.extend(files_in("pkg/src/types", 20));
        paths.extend(files_in("pkg/types", 20));
        paths.extend(files_in("pkg/bin", 2));
        paths.extend(files_in("pkg/src", 4));
        // `types` is merged with `src/types`, and the files of `src` with those of the small `bin`.
        assert_eq!(group_sizes(&paths, &["pkg"]), ["pkg/src/node: 100", "pkg/types: 40", "pkg: 6"]);
    }

    #[test]
    fn a_few_files_at_the_top_belong_to_src_or_lib() {
        let mut paths = files_in("lib", 6);
        paths.extend(files_in("examples", 10));
        paths.push("index.py".to_owned());
        // The merged group has the empty root.
        assert_eq!(group_sizes(&paths, &[]), ["examples: 10", ": 7"]);
    }

    #[test]
    fn a_community_without_shared_words_is_not_a_group() {
        let node = |path: String, refers_to: usize| FileNode {
            path,
            references: vec![(refers_to, 9000)],
            ..FileNode::default()
        };
        // Two communities around files 0 and 30. Only the names of the first share a word.
        let mut nodes: Vec<FileNode> =
            (0..30).map(|it| node(format!("x/library_{it}.py"), 0)).collect();
        let unrelated = ["apple", "bear", "cloud", "door", "earth", "fire", "glass", "house"];
        nodes.extend(unrelated.iter().map(|it| node(format!("x/{it}.py"), 30)));
        let groups = partition_files(&nodes, &[]);
        assert_eq!(groups.len(), 2);
        assert!(groups[0].is_community && groups[0].files.len() == 30);
        assert!(!groups[1].is_community && groups[1].files.len() == 8);
    }
}
