//! Merging of groups that are too small, too many, or the same folder in two spellings.

use super::{FileGroup, MAX_MODULES, MIN_MODULE_FILES, STRUCTURAL_FOLDERS, is_inside};

/// Merges groups that differ only by structural folders: `pkg/types` and `pkg/src/types`. A group
/// that differs from its package only by such folders gets the package's root.
pub(super) fn merge_equivalent_roots(groups: &mut Vec<FileGroup>, packages: &[String]) {
    for group in groups.iter_mut().filter(|it| !it.is_community) {
        let enclosing = packages.iter().filter(|it| !it.is_empty() && is_inside(&group.root, it));
        if let Some(package) = enclosing.max_by_key(|it| it.len())
            && is_structural(&group.root[package.len()..])
        {
            group.root.clone_from(package);
        }
    }
    let specific = |root: &str| {
        let folders = root.split('/').filter(|it| !STRUCTURAL_FOLDERS.contains(it));
        folders.collect::<Vec<_>>().join("/")
    };
    let mut at = 0;
    while at < groups.len() {
        let is_same = |it: &FileGroup| {
            !groups[at].is_community
                && !it.is_community
                && specific(&it.root) == specific(&groups[at].root)
        };
        let Some(first) = groups[..at].iter().position(is_same) else {
            at += 1;
            continue;
        };
        let later = groups.remove(at);
        if later.root.len() < groups[first].root.len() {
            groups[first].root = later.root;
        }
        add_files(&mut groups[first], later.files);
    }
}

/// Every folder of a relative path is structural.
fn is_structural(path: &str) -> bool {
    path.split('/').all(|it| it.is_empty() || STRUCTURAL_FOLDERS.contains(&it))
}

fn add_files(group: &mut FileGroup, files: Vec<usize>) {
    group.files.extend(files);
    group.files.sort_unstable();
}

/// Merges groups of too few files into another group: the one in `src` of the same folder, else
/// the one around them, else the first below them. A few files at the very top go to `src` or
/// `lib`; without such a group they are dropped, because they belong to no module.
pub(super) fn merge_small_groups(groups: &mut Vec<FileGroup>, packages: &[String]) {
    // A small package stays a group, unless other groups lie below it: then it is the remainder of
    // a package that was split.
    let is_small = |it: &FileGroup, all: &[FileGroup]| {
        let is_package = packages.contains(&it.root)
            && all.iter().all(|other| other == it || !is_inside(&other.root, &it.root));
        it.files.len() < MIN_MODULE_FILES && !is_package
    };
    while let Some(at) = (0..groups.len()).find(|it| is_small(&groups[*it], groups)) {
        if groups.len() == 1 {
            return;
        }
        let small = groups.remove(at);
        let Some(target) = merge_target(groups, &small) else { continue };
        if is_inside(&groups[target].root, &small.root) {
            groups[target].root = small.root;
        }
        add_files(&mut groups[target], small.files);
    }
}

fn merge_target(groups: &[FileGroup], small: &FileGroup) -> Option<usize> {
    let is_top = small.root.is_empty();
    let indices = 0..groups.len();
    let is_below = |it: &usize| is_inside(&groups[*it].root, &small.root);
    let is_source_folder = |it: &usize| {
        let relative = &groups[*it].root[small.root.len()..];
        (is_top && relative == "lib") || is_structural(relative)
    };
    let is_around =
        |it: &usize| is_inside(&small.root, &groups[*it].root) && !groups[*it].root.is_empty();
    indices
        .clone()
        .filter(is_below)
        .find(is_source_folder)
        .or_else(|| indices.clone().filter(is_around).max_by_key(|it| groups[*it].root.len()))
        .or_else(|| {
            indices
                .filter(|it| is_below(it) && !is_top)
                .min_by_key(|it| (groups[*it].root.len(), usize::MAX - groups[*it].files.len()))
        })
}

/// Merges the smallest groups into the group around them until at most `MAX_MODULES` are left.
pub(super) fn merge_down_to_limit(groups: &mut Vec<FileGroup>) {
    while groups.len() > MAX_MODULES {
        let around = |at: usize, groups: &[FileGroup]| {
            let root = &groups[at].root;
            (0..groups.len())
                .filter(|it| *it != at && is_inside(&format!("{root}/"), &groups[*it].root))
                .max_by_key(|it| groups[*it].root.len())
        };
        let smallest = (0..groups.len())
            .filter(|it| around(*it, groups).is_some())
            .min_by_key(|it| (groups[*it].files.len(), *it));
        let Some(at) = smallest else { return };
        let target = around(at, groups).expect("groups without one around them were filtered out");
        let files = std::mem::take(&mut groups[at].files);
        add_files(&mut groups[target], files);
        groups.remove(at);
    }
}
