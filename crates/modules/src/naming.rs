//! Names and ids of modules. A module is named after its folder, without parts such as `crates` or
//! `src`: `crates/store/src` is `store`. A *community* is a group of files of one folder that refer to
//! one another; its name also has the words that its file names share: `x: welcome screen`. The id is
//! the name in a form that a user can type: `x-welcome-screen`.

use std::collections::{BTreeMap, BTreeSet};

use model::words;

use crate::FileNode;
use crate::folder_roles::STRUCTURAL_FOLDERS;
use crate::partition::FileGroup;

/// Folders that only contain modules; as the first part of a name they are dropped.
const CONTAINER_FOLDERS: &[&str] = &["crates", "packages", "apps", "libs", "modules", "lib"];
/// Roots whose name describes nothing; such a module is named after the project.
const GENERIC_ROOTS: &[&str] = &["", "src", "lib", "main", "app"];
/// Number of leading folders of a Java package that name its owner: `com/google/gson`.
const JAVA_OWNER_FOLDERS: usize = 3;

/// Words in file names that describe the kind of file and not its subject.
#[rustfmt::skip]
const GENERIC_FILE_WORDS: &[&str] = &[
    "test", "tests", "integration", "util", "utils", "helper", "helpers", "common", "base", "type", "types", "index", "main",
    "with", "for", "the",
];
/// Shorter words are abbreviations and prepositions.
const MIN_WORD_BYTES: usize = 3;
/// Words in the name of a community.
const MAX_SHARED_WORDS: usize = 2;

/// A unique name for every group; `project` is the name in the project's own manifest.
pub(crate) fn name_modules(
    groups: &[FileGroup],
    nodes: &[FileNode],
    project: Option<&str>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(groups.len());
    for group in groups {
        let folder_name = name_from_folder(&group.root);
        let words = if group.is_community {
            find_shared_words(nodes, &group.files).join(" ")
        } else {
            String::new()
        };
        names.push(if words.is_empty() { folder_name } else { format!("{folder_name}: {words}") });
    }
    // Only the first generic module takes the project's name, and only if no other has it already.
    let generic =
        groups.iter().position(|it| !it.is_community && GENERIC_ROOTS.contains(&&*it.root));
    if let (Some(index), Some(project)) = (generic, project)
        && !names.iter().any(|it| it.eq_ignore_ascii_case(project))
    {
        project.clone_into(&mut names[index]);
    }
    // A repeated name becomes the root, or gets a number at the top, whose root is empty.
    for (index, n) in repeated_names(&names) {
        let root = &groups[index].root;
        names[index] = if root.is_empty() { format!("{} {n}", names[index]) } else { root.clone() };
    }
    // Communities share a root, so that a name can still be repeated.
    for (index, n) in repeated_names(&names) {
        names[index] = format!("{} {n}", names[index]);
    }
    names
}

/// The names that occur earlier in the list: each with its index and the count of its occurrences so
/// far, 2 for the second one.
fn repeated_names(names: &[String]) -> Vec<(usize, usize)> {
    let mut n_seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut repeated = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let n = n_seen.entry(name).or_default();
        *n += 1;
        if *n > 1 {
            repeated.push((index, *n));
        }
    }
    repeated
}

/// Unique ids that a user can type.
pub(crate) fn assign_ids(names: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    names.iter().map(|it| unique_slug(it, &mut taken)).collect()
}

/// Turns a name into an id that is not in `taken`, and adds it there.
pub(crate) fn unique_slug(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if character.is_alphanumeric() || matches!(character, '/' | '_' | '.') {
            slug.push(character);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug = slug.trim_matches(['-', '/', '.']).to_owned();
    if slug.is_empty() {
        "project".clone_into(&mut slug);
    }
    let mut candidate = slug.clone();
    let mut n = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{slug}-{n}");
        n += 1;
    }
    candidate
}

/// The path of a folder without structural and container folders.
fn name_from_folder(root: &str) -> String {
    if root.is_empty() {
        return "project".to_owned();
    }
    let is_specific = |it: &&str| !STRUCTURAL_FOLDERS.contains(it);
    let mut parts: Vec<&str> = match root.split_once("/java/") {
        // `gson/src/main/java/com/google/gson/internal` is `gson/internal`.
        Some((before, package)) => {
            let own_folders = package.split('/').skip(JAVA_OWNER_FOLDERS);
            before.split('/').filter(is_specific).chain(own_folders).collect()
        }
        None => root.split('/').filter(is_specific).collect(),
    };
    if parts.len() > 1 && CONTAINER_FOLDERS.contains(&parts[0]) {
        parts.remove(0);
    }
    if parts.is_empty() { root.to_owned() } else { parts.join("/") }
}

/// Occurrences of a word in file names.
#[derive(Clone, Copy, Default)]
struct WordCount {
    n_files: usize,
    /// Sum of the word's positions in those names; divided by `n_files`, the average position.
    position_sum: usize,
}

/// The words that occur in at least half of the file names and not in the folder's name: the most
/// frequent ones, in the order in which they usually occur.
pub(crate) fn find_shared_words(nodes: &[FileNode], files: &[usize]) -> Vec<String> {
    let mut counts: BTreeMap<String, WordCount> = BTreeMap::new();
    for file in files {
        let mut parts = nodes[*file].path.rsplit('/');
        let stem = parts.next().and_then(|it| it.split('.').next()).unwrap_or_default();
        let folder = parts.next().unwrap_or_default().to_lowercase();
        let is_specific = |word: &str| {
            word.len() >= MIN_WORD_BYTES
                && !GENERIC_FILE_WORDS.contains(&word)
                // One letter more is a plural: in the folder `caches`, the word `cache` adds nothing.
                && folder.strip_prefix(word).is_none_or(|it| it.len() > 1)
        };
        // A word counts once per file name.
        let mut seen = BTreeSet::new();
        for (position, word) in words::identifier_parts(stem).into_iter().enumerate() {
            if is_specific(&word) && seen.insert(word.clone()) {
                let count = counts.entry(word).or_default();
                count.n_files += 1;
                count.position_sum += position;
            }
        }
    }
    let mut shared: Vec<(String, WordCount)> =
        counts.into_iter().filter(|(_, count)| 2 * count.n_files >= files.len()).collect();
    // The most frequent words; of equally frequent ones, the first in the alphabet.
    shared.sort_by(|(a_word, a), (b_word, b)| {
        b.n_files.cmp(&a.n_files).then_with(|| a_word.cmp(b_word))
    });
    shared.truncate(MAX_SHARED_WORDS);
    // By average position. a/b < c/d is compared as a*d < c*b, without rounding.
    shared.sort_by(|(a_word, a), (b_word, b)| {
        let (a_scaled, b_scaled) = (a.position_sum * b.n_files, b.position_sum * a.n_files);
        a_scaled.cmp(&b_scaled).then_with(|| a_word.cmp(b_word))
    });
    shared.into_iter().map(|(word, _)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structural_and_container_folders_are_left_out_of_a_name() {
        for (root, name) in [
            ("crates/store", "store"),
            ("packages/excalidraw/components", "excalidraw/components"),
            ("gson/src/main/java/com/google/gson/internal", "gson/internal"),
            ("tokio/src/net", "tokio/net"),
            ("src", "src"),
            ("crates/source", "source"),
            ("django/apps", "django/apps"),
            ("", "project"),
        ] {
            assert_eq!(name_from_folder(root), name, "{root}");
        }
    }

    /// A group of nodes; more than one file makes it a community.
    fn group(root: &str, files: &[usize]) -> FileGroup {
        FileGroup { root: root.to_owned(), files: files.to_vec(), is_community: files.len() > 1 }
    }

    /// Files without edges.
    fn nodes(paths: &[&str]) -> Vec<FileNode> {
        paths.iter().map(|it| FileNode { path: (*it).to_owned(), ..FileNode::default() }).collect()
    }

    #[test]
    fn a_community_is_named_by_the_words_that_most_of_its_files_share() {
        let nodes = nodes(&[
            "x/WelcomeScreen.tsx",
            "x/WelcomeScreen.Hints.tsx",
            "x/Footer.tsx",
            "x/cache_a.py",
            "x/cache_b.py",
        ]);
        let groups = [group("x", &[0, 1, 2]), group("x", &[3, 4])];
        let names = name_modules(&groups, &nodes, None);
        assert_eq!(names, ["x: welcome screen", "x: cache"]);
        assert_eq!(assign_ids(&names), ["x-welcome-screen", "x-cache"]);
        // No word is in at least half of these three names.
        assert!(find_shared_words(&nodes, &[0, 2, 3]).is_empty());
    }

    #[test]
    fn one_module_with_a_generic_root_is_named_after_the_project() {
        let nodes = nodes(&["index.js", "lib/a.js", "tool/b.js"]);
        let groups = [group("", &[0]), group("lib", &[1]), group("tool", &[2])];
        assert_eq!(name_modules(&groups, &nodes, Some("express")), ["express", "lib", "tool"]);
        // The project's name is taken by another module.
        assert_eq!(name_modules(&groups, &nodes, Some("tool")), ["project", "lib", "tool"]);
    }
}
