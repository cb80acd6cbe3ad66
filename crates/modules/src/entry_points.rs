//! Entry points of a module: the files in which a program starts, or through which other modules
//! use this one. They are found by file name first (`main.rs`, `index.ts`), then by references.
//!
//! ```text
//! files of the module                         entry point
//! a/src/main.rs, a/src/x/mod.rs               a/src/main.rs          a reserved name at the top
//! x/picker/Picker.tsx, x/picker/chat/a.ts     x/picker/Picker.tsx    named after its folder
//! a/one.go, a/two.go (used by b and c)        a/two.go               most references from outside
//! ```
//!
//! A *group* is the set of files that becomes a module; its root is the folder of these files.

use std::cmp::Reverse;

use crate::FileNode;
use crate::folder_roles::{STRUCTURAL_FOLDERS, is_test_data};
use crate::partition::FileGroup;

/// File names that languages and frameworks reserve for entry points, best first.
#[rustfmt::skip]
const ENTRY_FILE_NAMES: &[&str] = &[
    "main.rs", "lib.rs", "mod.rs", "main.go", "main.py", "__main__.py", "__init__.py", "manage.py", "app.py", "cli.py",
    "wsgi.py", "asgi.py", "index.ts", "index.tsx", "index.js", "index.jsx", "index.mjs", "main.ts", "main.tsx", "main.js",
    "server.ts", "server.js", "app.ts", "app.tsx", "App.tsx", "cli.ts", "Main.java", "Application.java", "main.c",
    "main.cpp", "Program.cs", "index.php",
];

/// Entry points listed per module.
const MAX_ENTRY_POINTS: usize = 3;

/// Fewest references from other modules that make a file an entry point. One may be an accident.
const MIN_OUTSIDE_REFERENCES: u32 = 2;

/// Counts the files outside the module of each file that refer to it; tests do not count. `group_of`
/// is the module of each file.
pub(crate) fn count_outside_references(nodes: &[FileNode], group_of: &[Option<usize>]) -> Vec<u32> {
    let mut n_outside = vec![0; nodes.len()];
    for (from, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_test) {
        // A reference inside the module is not a use from outside.
        for (other, _) in node.references.iter().filter(|it| group_of[it.0] != group_of[from]) {
            n_outside[*other] += 1;
        }
    }
    n_outside
}

/// Finds the entry points of a module; `n_outside` as counted by [`count_outside_references`]. The
/// first rule that applies decides: reserved names at the top of the module, the file named after its folder, the file that other
/// modules refer to most, reserved names further down.
pub(crate) fn find_entry_points(
    nodes: &[FileNode],
    group: &FileGroup,
    n_outside: &[u32],
) -> Vec<String> {
    let mut paths: Vec<&str> = Vec::new();
    for file in &group.files {
        let node = &nodes[*file];
        if !node.is_test && !node.is_empty && !is_test_data(&node.path) {
            paths.push(&node.path);
        }
    }
    // Path parts below the root, the file name included. Folders such as `src` do not count, so
    // `src/main.rs` has depth 1: it is at the top.
    let depth = |path: &str| {
        let parts = relative_parts(path, &group.root);
        parts.iter().filter(|it| !STRUCTURAL_FOLDERS.contains(it)).count()
    };
    // The files with a reserved name that are nearest to the top, best name first.
    let mut reserved: Vec<ReservedFile<'_>> = Vec::new();
    for path in &paths {
        if let Some(name_rank) = entry_name_rank(path) {
            reserved.push(ReservedFile { depth: depth(path), name_rank, path });
        }
    }
    reserved.sort_unstable();
    let least_depth = reserved.first().map(|it| it.depth);
    reserved.retain(|it| Some(it.depth) == least_depth);
    let best_reserved =
        || reserved.iter().take(MAX_ENTRY_POINTS).map(|it| it.path.to_owned()).collect();
    // 1. A reserved name at the top.
    if least_depth == Some(1) {
        return best_reserved();
    }
    // 2. The file named after its folder.
    let folder = group.root.rsplit('/').next().unwrap_or_default();
    let namesake = paths.iter().find(|it| depth(it) == 1 && is_named_after_folder(it, folder));
    // The project's root has no name that a file could share.
    if let Some(path) = namesake
        && !folder.is_empty()
    {
        return vec![(*path).to_owned()];
    }
    // 3. The file that other modules refer to most. 4. Reserved names further down.
    match most_referenced_file(nodes, group, n_outside) {
        Some(path) => vec![path],
        None => best_reserved(),
    }
}

/// A file with a reserved name. The derived order is best first: by the first field that differs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ReservedFile<'a> {
    depth: usize,
    /// Position of the name in [`ENTRY_FILE_NAMES`].
    name_rank: usize,
    path: &'a str,
}

/// The parts of a path below a folder, the file name included.
fn relative_parts<'a>(path: &'a str, root: &str) -> Vec<&'a str> {
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').split('/').collect()
}

/// Rank of a reserved file name, 0 for the best; `None` for other names.
fn entry_name_rank(path: &str) -> Option<usize> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let reserved = ENTRY_FILE_NAMES.iter().position(|it| *it == name);
    // Spring Boot names the main class after the project: `ShopApplication.java`.
    reserved.or_else(|| name.ends_with("Application.java").then_some(ENTRY_FILE_NAMES.len()))
}

fn is_named_after_folder(path: &str, folder: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().is_some_and(|it| it.eq_ignore_ascii_case(folder))
}

/// The file that most files of other modules refer to; tests do not count.
fn most_referenced_file(
    nodes: &[FileNode],
    group: &FileGroup,
    n_outside: &[u32],
) -> Option<String> {
    let is_entry = |file: &&usize| {
        let node = &nodes[**file];
        n_outside[**file] >= MIN_OUTSIDE_REFERENCES && !node.is_empty && !node.is_test
    };
    // Of files with equally many references, the first.
    let candidates = group.files.iter().filter(is_entry);
    let most_referenced = candidates.max_by_key(|file| (n_outside[**file], Reverse(**file)));
    most_referenced.map(|file| nodes[*file].path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::parse_nodes;

    /// The entry points of the module in `root`; `lines` as for [`parse_nodes`].
    fn entry_points(lines: &str, root: &str) -> Vec<String> {
        let nodes = parse_nodes(lines);
        let is_inside = |it: &usize| nodes[*it].path.starts_with(&format!("{root}/"));
        let files: Vec<usize> = (0..nodes.len()).filter(is_inside).collect();
        let group_of: Vec<Option<usize>> =
            (0..nodes.len()).map(|it| files.contains(&it).then_some(0)).collect();
        let n_outside = count_outside_references(&nodes, &group_of);
        let group = FileGroup { root: root.to_owned(), files, is_community: false };
        find_entry_points(&nodes, &group, &n_outside)
    }

    #[test]
    fn a_reserved_name_at_the_top_comes_before_one_further_down() {
        assert_eq!(entry_points("a/src/main.rs\na/src/x/mod.rs", "a"), ["a/src/main.rs"]);
        let application = "a/PetApplication.java\na/Pet.java";
        assert_eq!(entry_points(application, "a"), ["a/PetApplication.java"]);
    }

    #[test]
    fn a_file_named_after_its_folder_comes_before_deeper_ones() {
        assert_eq!(
            entry_points("x/picker/Picker.tsx\nx/picker/chat/index.ts", "x/picker"),
            ["x/picker/Picker.tsx"]
        );
    }

    #[test]
    fn without_a_reserved_name_the_file_that_others_refer_to_is_the_entry_point() {
        let lines = "a/one.go\na/two.go\na/gen/main.go\nb/x.go a/two.go\nc/y.go a/two.go a/one.go";
        assert_eq!(entry_points(lines, "a"), ["a/two.go"]);
        assert_eq!(entry_points("a/one.go\na/gen/main.go", "a"), ["a/gen/main.go"]);
    }
}
