//! Last step of the partition: merges groups that are too small, too many, or that differ only by
//! build-layout folders such as `src`.
//!
//! The functions run in the order in which they stand here. Each changes the list of groups in
//! place and keeps the files of a group sorted.

use super::{FileGroup, MAX_MODULES, MIN_MODULE_FILES};
use crate::folder_roles::{STRUCTURAL_FOLDERS, is_inside};

/// Merges groups of too few files into another group, see [`merge_target`]. A few files at the very
/// top without a target are dropped, because they belong to no module.
pub(super) fn merge_small_groups(groups: &mut Vec<FileGroup>, package_roots: &[String]) {
    // A small package stays a group, unless other groups lie below it: then it is the remainder of
    // a package that was split.
    let is_whole_package = |group: &FileGroup, groups: &[FileGroup]| {
        package_roots.contains(&group.root)
            && groups.iter().all(|it| it == group || !is_inside(&it.root, &group.root))
    };
    let is_too_small = |group: &FileGroup, groups: &[FileGroup]| {
        group.files.len() < MIN_MODULE_FILES && !is_whole_package(group, groups)
    };
    // Every merge can make other groups large enough, so the search starts again each time.
    while let Some(index) = groups.iter().position(|it| is_too_small(it, groups)) {
        // The only group stays, however small: the project has a module.
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

/// The group that takes over the files of a small one: the group in `src` of the same folder (at
/// the top also the one in `lib`), else the innermost group around it, else the group below it with
/// the shortest path. The group at the top takes part only in the first rule: it surrounds every
/// other group, so being inside it does not mean belonging to it.
fn merge_target(groups: &[FileGroup], small: &FileGroup) -> Option<usize> {
    let is_top = small.root.is_empty();
    let indices = 0..groups.len();
    let is_below = |it: &usize| is_inside(&groups[*it].root, &small.root);
    let is_source_folder = |it: &usize| {
        let relative = &groups[*it].root[small.root.len()..];
        is_structural(relative) || (is_top && relative == "lib")
    };
    let is_around =
        |it: &usize| is_inside(&small.root, &groups[*it].root) && !groups[*it].root.is_empty();
    let source_folder = indices.clone().filter(is_below).find(is_source_folder);
    let innermost_around =
        || indices.clone().filter(is_around).max_by_key(|it| groups[*it].root.len());
    let nearest_below = || {
        let below = indices.clone().filter(|it| is_below(it) && !is_top);
        // Of several at the same depth, the largest.
        below.min_by_key(|it| (groups[*it].root.len(), usize::MAX - groups[*it].files.len()))
    };
    source_folder.or_else(innermost_around).or_else(nearest_below)
}

/// Merges the smallest groups into the group around them until at most `MAX_MODULES` are left, or
/// none is left that lies in another.
pub(super) fn merge_down_to_limit(groups: &mut Vec<FileGroup>) {
    while groups.len() > MAX_MODULES {
        // The slash makes a group with the same root count as around it: communities share a root.
        let around = |index: usize| {
            let path = format!("{}/", groups[index].root);
            (0..groups.len())
                .filter(|it| *it != index && is_inside(&path, &groups[*it].root))
                .max_by_key(|it| groups[*it].root.len())
        };
        let mergeable = (0..groups.len()).filter_map(|it| Some((it, around(it)?)));
        let smallest = mergeable.min_by_key(|(index, _)| (groups[*index].files.len(), *index));
        let Some((index, target)) = smallest else { return };
        let files = std::mem::take(&mut groups[index].files);
        add_files(&mut groups[target], files);
        groups.remove(index);
    }
}

/// Merges groups that differ only by structural folders: `pkg/types` and `pkg/src/types`. A group
/// that differs from its package only by such folders gets the package's root.
pub(super) fn merge_equivalent_roots(groups: &mut Vec<FileGroup>, package_roots: &[String]) {
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
        // Communities share a root with other groups and still stay apart.
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
        // `index` stays: after the removal it is the next group.
        let later = groups.remove(index);
        if later.root.len() < groups[earlier].root.len() {
            groups[earlier].root = later.root;
        }
        add_files(&mut groups[earlier], later.files);
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
