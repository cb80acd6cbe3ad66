//! Discovery of the modules of a project from its files and packages: the main function of the
//! crate.
//!
//! [`partition_files`] forms groups of files; every group becomes a [`Module`]. The other files of
//! the crate fill in the fields of a module: name, core files, entry points, tests, relations. `engine`
//! passes the files of the code graph in, adds descriptions and stores the map.
//!
//! ```text
//! files     crates/store/src/lib.rs, crates/cli/src/main.rs (refers to lib.rs), tests/all_test.rs …
//! packages  crates/store, crates/cli
//! modules   cli: depends on store;  store: entry point lib.rs, tests/all_test.rs
//! ```

use crate::core_files::IncomingReferences;
use crate::folder_roles::is_supporting_folder;
use crate::partition::{FileGroup, PackageRoot, partition_files};
use crate::relations::ModuleRelations;
use crate::{FileNode, Module, core_files, entry_points, naming, test_files};

/// Finds the modules of a project. Ids are derived from the names; [`crate::reuse_module_ids`]
/// replaces them by those of an earlier map. Descriptions stay empty.
///
/// Order: product code first, then examples, benchmarks and the like, then tests.
pub fn find_modules(nodes: &[FileNode], packages: &[PackageRoot]) -> Vec<Module> {
    let groups = partition_files(nodes, packages);
    // Files and groups are indices here; a group and the module made of it have the same index. A few
    // files at the top are in no group.
    let mut group_of: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, group) in groups.iter().enumerate() {
        for file in &group.files {
            group_of[*file] = Some(index);
        }
    }
    let root_package = packages.iter().find(|it| it.root.is_empty());
    let project_name = root_package.and_then(|it| it.name.as_deref());
    let names = naming::name_modules(&groups, nodes, project_name);
    let ids = naming::assign_ids(&names);
    let relations = ModuleRelations::collect(nodes, &group_of, &groups);
    let tests = test_files::assign_tests(nodes, &groups, &group_of);
    let incoming = IncomingReferences::sum(nodes);
    let n_outside = entry_points::count_outside_references(nodes, &group_of);
    let mut modules = Vec::new();
    for (index, (group, test_files)) in groups.iter().zip(tests).enumerate() {
        let to_ids = |indices: Vec<usize>| indices.into_iter().map(|it| ids[it].clone()).collect();
        modules.push(Module {
            id: ids[index].clone(),
            name: names[index].clone(),
            root: group.root.clone(),
            description: String::new(),
            files: group.files.iter().map(|it| nodes[*it].path.clone()).collect(),
            core_files: core_files::rank_core_files(nodes, group, &incoming),
            entry_points: entry_points::find_entry_points(nodes, group, &n_outside),
            test_files,
            dependencies: to_ids(relations.dependencies_of(index)),
            dependents: to_ids(relations.dependents_of(index)),
            co_changing: to_ids(relations.co_changing_with(index)),
            is_test: group.is_all_tests(nodes),
            // The relations hold only references between two modules.
            is_linked: relations.has_references(index) || has_outgoing_references(nodes, group),
        });
    }
    modules.sort_by_cached_key(|it| {
        (it.is_test, is_supporting_folder(&it.root), it.root.clone(), it.id.clone())
    });
    modules
}

/// A file of the group refers to any file, also to one of its own group.
fn has_outgoing_references(nodes: &[FileNode], group: &FileGroup) -> bool {
    group.files.iter().any(|it| !nodes[*it].references.is_empty())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ModuleCoverage;

    /// Parses nodes from one line per file: its path, then the paths of the files it refers to. The
    /// path decides whether a file is a test.
    pub(crate) fn parse_nodes(lines: &str) -> Vec<FileNode> {
        let lines: Vec<Vec<&str>> = lines
            .lines()
            .map(|it| it.split_whitespace().collect())
            .filter(|it: &Vec<&str>| !it.is_empty())
            .collect();
        let index_of = |path: &str| lines.iter().position(|it| it[0] == path).unwrap();
        let is_test = |path: &str| {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
            folders.split('/').any(|it| matches!(it, "test" | "tests")) || name.contains("_test.")
        };
        let node = |line: &Vec<&str>| FileNode {
            path: line[0].to_owned(),
            is_test: is_test(line[0]),
            references: line[1..].iter().map(|it| (index_of(it), 1000)).collect(),
            ..FileNode::default()
        };
        lines.iter().map(node).collect()
    }

    fn package(root: &str) -> PackageRoot {
        PackageRoot { root: root.to_owned(), name: None }
    }

    #[test]
    fn packages_are_modules_with_their_dependencies_and_tests() {
        let nodes = parse_nodes(
            "crates/store/src/lib.rs crates/store/src/row.rs
             crates/store/src/row.rs
             crates/cli/src/main.rs crates/store/src/lib.rs
             crates/cli/src/args.rs
             tests/all_test.rs crates/store/src/row.rs",
        );
        let modules = find_modules(&nodes, &[package("crates/store"), package("crates/cli")]);
        // The one file in `tests` is too little for a module; it is listed with the code it tests.
        let [cli, store] = &modules[..] else { panic!("{modules:?}") };
        assert_eq!((cli.id.as_str(), cli.name.as_str()), ("cli", "cli"));
        assert_eq!(cli.dependencies, ["store"]);
        assert!(cli.test_files.is_empty());

        assert_eq!((store.id.as_str(), store.name.as_str()), ("store", "store"));
        assert!(store.dependencies.is_empty());
        assert_eq!(store.test_files, ["tests/all_test.rs"]);
        assert_eq!(store.entry_points, ["crates/store/src/lib.rs"]);
        assert_eq!(store.dependents, ["cli"]);
        assert_eq!(store.coverage(), ModuleCoverage::Partial);
    }

    #[test]
    fn an_empty_project_has_no_modules() {
        assert!(find_modules(&[], &[]).is_empty());
    }
}
