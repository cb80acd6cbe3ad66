//! The module map by its plain definition, which compares every group with every other one. It is
//! the reference for [`crate::find_modules`] in a property test: both must give the same modules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proptest::prelude::*;

use crate::folder_roles::{
    STRUCTURAL_FOLDERS, is_at_or_inside, is_inside, is_test_data, is_test_data_package,
    outermost_test_or_demo_folder,
};
use crate::partition::{
    FileGroup, MAX_MODULES, MIN_MODULE_FILES, NEARLY_ALL_PERCENT, merge, partition_files,
    split_packages,
};
use crate::test_files::{MIN_DEPENDENT_TESTS, is_named_like_test, outermost_test_folder};
use crate::{FileNode, Module, PackageRoot, find_modules, reclassify_test_libraries};

fn partition_plainly(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<FileGroup> {
    let package_roots = module_package_roots(nodes, packages);
    let mut groups = split_packages(nodes, files_by_package(nodes, &package_roots));
    merge_small_groups(&mut groups, &package_roots);
    merge_down_to_limit(&mut groups);
    merge_equivalent_roots(&mut groups, &package_roots);
    groups
}

fn module_package_roots(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<String> {
    let holds_nearly_all = |folder: &str| {
        let n_inside = nodes.iter().filter(|it| is_inside(&it.path, folder)).count();
        100 * n_inside > NEARLY_ALL_PERCENT * nodes.len()
    };
    let can_be_module = |root: &&String| {
        !is_test_data_package(root)
            && outermost_test_or_demo_folder(root).is_none_or(holds_nearly_all)
    };
    packages.iter().map(|it| &it.root).filter(can_be_module).cloned().collect()
}

fn files_by_package<'a>(
    nodes: &[FileNode],
    package_roots: &'a [String],
) -> BTreeMap<&'a str, Vec<usize>> {
    let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (file, node) in nodes.iter().enumerate() {
        let root = innermost_root(&node.path, package_roots.iter().map(String::as_str));
        by_package.entry(root).or_default().push(file);
    }
    let is_single = |(root, files): &(&&str, &Vec<usize>)| files.len() < 2 && !root.is_empty();
    let single_file_roots: Vec<&str> =
        by_package.iter().filter(is_single).map(|(root, _)| *root).collect();
    for root in single_file_roots {
        let files = by_package.remove(root).unwrap_or_default();
        let around = innermost_root(root, by_package.keys().copied());
        by_package.entry(around).or_default().extend(files);
    }
    for files in by_package.values_mut() {
        files.sort_unstable();
    }
    by_package
}

fn innermost_root<'a>(path: &str, roots: impl Iterator<Item = &'a str>) -> &'a str {
    roots.filter(|it| is_inside(path, it)).max_by_key(|it| it.len()).unwrap_or("")
}

fn merge_small_groups(groups: &mut Vec<FileGroup>, package_roots: &[String]) {
    let is_whole_package = |group: &FileGroup, groups: &[FileGroup]| {
        package_roots.contains(&group.root)
            && groups.iter().all(|it| it == group || !is_inside(&it.root, &group.root))
    };
    let is_too_small = |group: &FileGroup, groups: &[FileGroup]| {
        group.files.len() < MIN_MODULE_FILES && !is_whole_package(group, groups)
    };
    while let Some(index) = groups.iter().position(|it| is_too_small(it, groups)) {
        if groups.len() == 1 {
            return;
        }
        let small = groups.remove(index);
        let Some(target) = merge_target(groups, &small) else { continue };
        let target = &mut groups[target];
        if is_inside(&target.root, &small.root) {
            target.root = small.root;
        }
        add_files(target, small.files);
    }
}

fn merge_target(groups: &[FileGroup], small: &FileGroup) -> Option<usize> {
    let is_top = small.root.is_empty();
    let below = |it: &usize| is_inside(&groups[*it].root, &small.root);
    let source_folder = (0..groups.len()).filter(below).find(|it| {
        let relative = &groups[*it].root[small.root.len()..];
        is_structural(relative) || (is_top && relative == "lib")
    });
    if source_folder.is_some() {
        return source_folder;
    }
    let around = (0..groups.len())
        .filter(|it| is_inside(&small.root, &groups[*it].root) && !groups[*it].root.is_empty());
    let innermost_around = around.max_by_key(|it| groups[*it].root.len());
    if innermost_around.is_some() || is_top {
        return innermost_around;
    }
    (0..groups.len())
        .filter(below)
        .min_by_key(|it| (groups[*it].root.len(), Reverse(groups[*it].files.len())))
}

fn merge_down_to_limit(groups: &mut Vec<FileGroup>) {
    while groups.len() > MAX_MODULES {
        let innermost_around = |index: usize| {
            let root = &groups[index].root;
            (0..groups.len())
                .filter(|it| *it != index && is_at_or_inside(root, &groups[*it].root))
                .max_by_key(|it| groups[*it].root.len())
        };
        let mergeable = (0..groups.len()).filter_map(|it| Some((it, innermost_around(it)?)));
        let smallest = mergeable.min_by_key(|(index, _)| (groups[*index].files.len(), *index));
        let Some((index, target)) = smallest else { return };
        let files = std::mem::take(&mut groups[index].files);
        add_files(&mut groups[target], files);
        groups.remove(index);
    }
}

fn merge_equivalent_roots(groups: &mut Vec<FileGroup>, package_roots: &[String]) {
    for group in groups.iter_mut().filter(|it| !it.is_community) {
        let around = package_roots.iter().filter(|it| !it.is_empty() && is_inside(&group.root, it));
        if let Some(package) = around.max_by_key(|it| it.len())
            && is_structural(&group.root[package.len()..])
        {
            group.root.clone_from(package);
        }
    }
    let without_structural = |root: &str| {
        let folders = root.split('/').filter(|it| !STRUCTURAL_FOLDERS.contains(it));
        folders.collect::<Vec<_>>().join("/")
    };
    let is_same_root = |a: &FileGroup, b: &FileGroup| {
        !a.is_community
            && !b.is_community
            && without_structural(&a.root) == without_structural(&b.root)
    };
    let mut index = 0;
    while index < groups.len() {
        let earlier = groups[..index].iter().position(|it| is_same_root(it, &groups[index]));
        let Some(earlier) = earlier else {
            index += 1;
            continue;
        };
        let later = groups.remove(index);
        if later.root.len() < groups[earlier].root.len() {
            groups[earlier].root = later.root;
        }
        add_files(&mut groups[earlier], later.files);
    }
}

fn is_structural(path: &str) -> bool {
    path.split('/').all(|it| it.is_empty() || STRUCTURAL_FOLDERS.contains(&it))
}

fn add_files(group: &mut FileGroup, files: Vec<usize>) {
    group.files.extend(files);
    group.files.sort_unstable();
}

fn reclassify_plainly(nodes: &mut [FileNode]) {
    let mut test_folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (file, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_test) {
        if let Some(folder) = outermost_test_folder(&node.path) {
            test_folders.entry(folder.to_owned()).or_default().push(file);
        }
    }
    for (folder, files) in test_folders {
        if files.iter().any(|it| is_named_like_test(&nodes[*it].path)) {
            continue;
        }
        let refers_into = |it: &&FileNode| it.references.iter().any(|it| files.contains(&it.0));
        let outside = nodes.iter().filter(|it| it.is_test && !is_inside(&it.path, &folder));
        if outside.filter(refers_into).count() >= MIN_DEPENDENT_TESTS {
            for file in files {
                nodes[file].is_test = false;
            }
        }
    }
}

/// The file of a module to which most files of other modules refer.
fn most_referenced_file(nodes: &[FileNode], files: &BTreeSet<usize>) -> Option<usize> {
    let mut n_outside: BTreeMap<usize, u32> = BTreeMap::new();
    let outside =
        nodes.iter().enumerate().filter(|(it, node)| !files.contains(it) && !node.is_test);
    for (other, _) in outside.flat_map(|(_, node)| &node.references) {
        if files.contains(other) {
            *n_outside.entry(*other).or_default() += 1;
        }
    }
    n_outside.retain(|it, n| *n >= 2 && !nodes[*it].is_empty && !nodes[*it].is_test);
    n_outside.into_iter().max_by_key(|(file, n)| (*n, Reverse(*file))).map(|(file, _)| file)
}

/// The core files of a module, best first.
fn rank_core_files(nodes: &[FileNode], files: &BTreeSet<usize>) -> Vec<String> {
    let is_test_group = files.iter().all(|it| nodes[*it].is_test);
    let damped = |weight: u32| (f64::from(weight) / 1000.0).sqrt();
    let mut incoming: HashMap<usize, f64> = HashMap::new();
    for node in nodes.iter().filter(|it| !it.is_test || is_test_group) {
        for (other, weight) in node.references.iter().filter(|it| files.contains(&it.0)) {
            *incoming.entry(*other).or_default() += damped(*weight);
        }
    }
    let score = |file: usize| {
        let references = &nodes[file].references;
        let outgoing: f64 = references.iter().map(|(_, weight)| damped(*weight)).sum();
        let centrality = 1.0 + incoming.get(&file).copied().unwrap_or_default() + 0.5 * outgoing;
        centrality * (1.0 + f64::from(nodes[file].churn).ln_1p())
    };
    let is_listed = |it: &&usize| {
        let FileNode { path, is_test, .. } = &nodes[**it];
        (!is_test || is_test_group) && !is_test_data(path)
    };
    let mut ranked: Vec<usize> = files.iter().filter(is_listed).copied().collect();
    ranked.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
    ranked.into_iter().take(6).map(|it| nodes[it].path.clone()).collect()
}

/// Sums of reference weights between modules, and of co-changes, both by (from, to).
type Relations = (BTreeMap<(usize, usize), u64>, BTreeMap<(usize, usize), f32>);

fn relate_modules(nodes: &[FileNode], module_of: &HashMap<usize, usize>) -> Relations {
    let (mut references, mut co_changes) = Relations::default();
    for (file, node) in nodes.iter().enumerate() {
        let Some(from) = module_of.get(&file) else { continue };
        let other_module = |it: &usize| module_of.get(it).filter(|it| *it != from).copied();
        for (other, weight) in node.references.iter().filter(|_| !node.is_test) {
            if let Some(to) = other_module(other) {
                *references.entry((*from, to)).or_default() += u64::from(*weight);
            }
        }
        for (other, strength) in &node.co_changes {
            if let Some(to) = other_module(other) {
                *co_changes.entry((*from, to)).or_default() += strength;
            }
        }
    }
    (references, co_changes)
}

/// The ids of the modules with the largest sums: six, of equal ones those that come first.
fn strongest(mut edges: Vec<(usize, u64)>, modules: &[Module]) -> Vec<String> {
    edges.sort_by_key(|(module, weight)| (Reverse(*weight), *module));
    edges.into_iter().take(6).map(|(module, _)| modules[module].id.clone()).collect()
}

/// Compares everything that [`find_modules`] derives from the edges with its plain definition.
fn check_derived_fields(nodes: &[FileNode], modules: &[Module], groups: &[FileGroup]) {
    let index_of: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.path.as_str(), index)).collect();
    // In the order of the groups, which decides between equal sums.
    let position = |it: &Module| {
        let first = index_of[it.files[0].as_str()];
        groups.iter().position(|group| group.files.contains(&first)).unwrap()
    };
    let mut modules = modules.to_vec();
    modules.sort_by_key(position);
    let files: Vec<BTreeSet<usize>> = modules
        .iter()
        .map(|it| it.files.iter().map(|it| index_of[it.as_str()]).collect())
        .collect();
    let mut module_of: HashMap<usize, usize> = HashMap::new();
    for (index, files) in files.iter().enumerate() {
        module_of.extend(files.iter().map(|it| (*it, index)));
    }
    let (references, co_changes) = relate_modules(nodes, &module_of);
    for (index, (module, files)) in modules.iter().zip(&files).enumerate() {
        let from_here = references.iter().filter(|it| it.0.0 == index);
        let dependencies = from_here.map(|((_, to), weight)| (*to, *weight)).collect();
        assert_eq!(module.dependencies, strongest(dependencies, &modules));
        let to_here = references.iter().filter(|it| it.0.1 == index);
        let dependents = to_here.map(|((from, _), weight)| (*from, *weight)).collect();
        assert_eq!(module.dependents, strongest(dependents, &modules));
        let is_related = references.keys().any(|(from, to)| *from == index || *to == index);
        assert_eq!(
            module.is_linked,
            is_related || files.iter().any(|it| !nodes[*it].references.is_empty())
        );

        let is_listed = |other: usize| {
            let is_dependency = references.contains_key(&(index, other))
                || references.contains_key(&(other, index));
            !is_dependency && (module.is_test || !modules[other].is_test)
        };
        let mut shares = Vec::new();
        for ((_, other), sum) in co_changes.iter().filter(|it| it.0.0 == index) {
            #[expect(clippy::cast_precision_loss, reason = "a few files")]
            let share = sum / files.len() as f32;
            if share > 0.02 && is_listed(*other) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "as in `relations`"
                )]
                shares.push((*other, (share * 1000.0) as u64));
            }
        }
        assert_eq!(module.co_changing, strongest(shares, &modules));

        assert_eq!(module.core_files, rank_core_files(nodes, files));
        let has_other_entry = most_referenced_file(nodes, files)
            .is_some_and(|it| module.entry_points != [nodes[it].path.clone()]);
        // Every file is named `f…`, so that no other rule finds an entry point.
        assert!(!has_other_entry, "{module:?}");
    }
}

/// Names of folders, with those that have a meaning.
const FOLDER_NAMES: &[&str] = &[
    "src", "src", "main", "java", "lib", "a", "b", "net", "io", "pkg", "crates", "tests",
    "examples", "test", "fixtures", "core",
];

/// A random folder, with few names, so that many lie in one another.
fn folder() -> impl Strategy<Value = String> {
    let names = prop::collection::vec((prop::sample::select(FOLDER_NAMES), 0..4_u8), 0..5);
    names.prop_map(|names| {
        let name =
            |(name, n): (&str, u8)| if n == 0 { name.to_owned() } else { format!("{name}{n}") };
        names.into_iter().map(name).collect::<Vec<_>>().join("/")
    })
}

/// Random groups, some with the same root, and the roots that are packages.
fn groups() -> impl Strategy<Value = (Vec<FileGroup>, Vec<String>)> {
    // From few folders, so that groups share them, or from many.
    let folders = prop_oneof![1..12_usize, 60..130_usize]
        .prop_flat_map(|n_folders| prop::collection::vec(folder(), n_folders));
    let row = (any::<prop::sample::Index>(), 1..6_usize, 0..4_u8);
    (folders, prop::collection::vec(row, 1..130)).prop_map(|(folders, rows)| {
        let (mut groups, mut packages, mut n_files) = (Vec::new(), Vec::new(), 0);
        for (folder, n, kind) in rows {
            let root = folders[folder.index(folders.len())].clone();
            if kind == 0 {
                packages.push(root.clone());
            }
            let files = (n_files..n_files + n).collect();
            groups.push(FileGroup { root, files, is_community: kind == 1 });
            n_files += n;
        }
        (groups, packages)
    })
}

/// A random project: nodes with edges, and packages in some of the folders.
fn project() -> impl Strategy<Value = (Vec<FileNode>, Vec<PackageRoot>)> {
    // Most folders have a few files, so that the limits of sizes are met.
    let n_files = prop_oneof![6 => 1..5_usize, 3 => 5..12_usize, 1 => 20..70_usize];
    let folders = prop::collection::btree_map(folder(), (n_files, 0..4_u8), 1..160);
    let edges = prop::collection::vec(
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..9_u32),
        0..400,
    );
    (folders, edges.clone(), edges).prop_map(|(folders, references, co_changes)| {
        let (mut nodes, mut packages) = (Vec::new(), Vec::new());
        for (folder, (n_files, kind)) in &folders {
            let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            for file in 0..*n_files {
                // Some words are shared, so that communities have names.
                let subject = ["", "_cache", "_login"][file % 3];
                let path = format!("{prefix}f{file}{subject}.py");
                let is_test = folder.split('/').any(|it| it.starts_with("test"));
                nodes.push(FileNode { path, is_test, ..FileNode::default() });
            }
            if *kind == 0 {
                packages.push(PackageRoot { root: folder.clone(), name: None });
            }
        }
        for (from, to, weight) in references {
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            nodes[from].references.push((to, weight * 700));
            // Neighbours as well, so that there are communities.
            let next = (from + 1 + to % 5).min(nodes.len() - 1);
            nodes[from].references.push((next, weight * 1900));
        }
        for (from, to, weight) in co_changes {
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            nodes[from].co_changes.push((to, weight as f32 / 10.0));
        }
        (nodes, packages)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merged_groups_equal_their_plain_definition((groups, packages) in groups()) {
        let roots: HashSet<&str> = packages.iter().map(String::as_str).collect();
        let (mut merged, mut plain) = (groups.clone(), groups.clone());
        merge::merge_small_groups(&mut merged, &roots);
        merge_small_groups(&mut plain, &packages);
        prop_assert_eq!(&merged, &plain);
        merge::merge_equivalent_roots(&mut merged, &roots);
        merge_equivalent_roots(&mut plain, &packages);
        prop_assert_eq!(&merged, &plain);
        let (mut merged, mut plain) = (groups.clone(), groups);
        merge::merge_down_to_limit(&mut merged);
        merge_down_to_limit(&mut plain);
        prop_assert_eq!(&merged, &plain);
    }

    #[test]
    fn the_module_map_equals_its_plain_definition((mut nodes, packages) in project()) {
        let mut plain = nodes.clone();
        reclassify_test_libraries(&mut nodes);
        reclassify_plainly(&mut plain);
        for (node, plain) in nodes.iter().zip(&plain) {
            prop_assert_eq!(node.is_test, plain.is_test, "{}", node.path);
        }
        let groups = partition_files(&nodes, &packages);
        prop_assert_eq!(&groups, &partition_plainly(&nodes, &packages));
        check_derived_fields(&nodes, &find_modules(&nodes, &packages), &groups);
    }
}
