//! Last step of the partition: merges groups of files that are too small, too many, or that differ
//! only by folders of a build layout such as `src` ("structural" folders).
//!
//! A group is known by its root, the folder of its files; the root of the project is the empty path,
//! "the top". A group is the files of a package (a folder with a manifest), of a folder in it, or a
//! community: some files of one folder that refer to one another. Several communities and the rest
//! of the folder then have the same root.
//!
//! The public functions run in the order in which they stand here. Each changes the list of groups
//! in place and keeps the files of a group sorted.
//!
//! ```text
//! merge_small_groups        pkg/net: 2 files, pkg: 9 files     → pkg: 11 files
//! merge_down_to_limit       90 groups                          → 70 groups, the smallest merged
//! merge_equivalent_roots    pkg/types, pkg/src/types           → pkg/types
//! ```

use std::cmp::Reverse;

use super::{FileGroup, MAX_MODULES, MIN_MODULE_FILES};
use crate::folder_roles::{STRUCTURAL_FOLDERS, is_at_or_inside, is_inside};

/// Merges groups of too few files into another group, see [`merge_target`]. A small group without a
/// target is removed and its files are in no module, for example a single script at the top.
pub(super) fn merge_small_groups(groups: &mut Vec<FileGroup>, package_roots: &[String]) {
    // A small package stays a group if it is whole. If other groups lie below it, it is only the
    // remainder of a package that was split.
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
        // Without a target, `small` is dropped here.
        let Some(target) = merge_target(groups, &small) else { continue };
        let target = &mut groups[target];
        // The merged group lies in the outer one of both folders.
        if is_inside(&target.root, &small.root) {
            target.root = small.root;
        }
        add_files(target, small.files);
    }
}

/// The index of the group that takes over the files of `small`. The first rule that applies decides:
///
/// 1. the group in the source folder of the same folder: `pkg/src` for `pkg`; at the top also `lib`;
/// 2. the innermost group around it;
/// 3. the nearest group below it.
///
/// Every group lies below the top, so that alone relates no two groups: a group at the top is no
/// target by the second rule, and a small group at the top gets no target by the third.
fn merge_target(groups: &[FileGroup], small: &FileGroup) -> Option<usize> {
    let is_top = small.root.is_empty();
    let below = |it: &usize| is_inside(&groups[*it].root, &small.root);

    let source_folder = (0..groups.len()).filter(below).find(|it| {
        // `/src` for the group `pkg/src` and the small group `pkg`; `src` if that is at the top.
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

    // The shortest path is the nearest; of several equally long ones, the largest group.
    (0..groups.len())
        .filter(below)
        .min_by_key(|it| (groups[*it].root.len(), Reverse(groups[*it].files.len())))
}

/// Merges the smallest groups into the group around them until at most `MAX_MODULES` are left, or
/// no group is left that lies in another. The top counts as around every group here: with so many
/// groups, its module is the place for whatever is small.
pub(super) fn merge_down_to_limit(groups: &mut Vec<FileGroup>) {
    while groups.len() > MAX_MODULES {
        // A group with the same root counts as around, because communities share their folder.
        let innermost_around = |index: usize| {
            let root = &groups[index].root;
            (0..groups.len())
                .filter(|it| *it != index && is_at_or_inside(root, &groups[*it].root))
                .max_by_key(|it| groups[*it].root.len())
        };
        // Pairs of a group and the group around it, both as indices.
        let mergeable = (0..groups.len()).filter_map(|it| Some((it, innermost_around(it)?)));
        let smallest = mergeable.min_by_key(|(index, _)| (groups[*index].files.len(), *index));
        let Some((index, target)) = smallest else { return };
        let files = std::mem::take(&mut groups[index].files);
        add_files(&mut groups[target], files);
        groups.remove(index);
    }
}

/// Merges groups whose roots differ only by structural folders: `pkg/types` and `pkg/src/types`. The
/// merged group has the shorter root. A group that differs from its package only by such folders
/// gets the package's root, also if there is nothing to merge: `pkg/src` becomes `pkg`.
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
        // `index` stays as it is: after the removal the next group is there.
        let later = groups.remove(index);
        if later.root.len() < groups[earlier].root.len() {
            groups[earlier].root = later.root;
        }
        add_files(&mut groups[earlier], later.files);
    }
}

/// Every folder of a relative path is structural. The empty part before a leading slash is ignored.
fn is_structural(path: &str) -> bool {
    path.split('/').all(|it| it.is_empty() || STRUCTURAL_FOLDERS.contains(&it))
}

fn add_files(group: &mut FileGroup, files: Vec<usize>) {
    group.files.extend(files);
    group.files.sort_unstable();
}
