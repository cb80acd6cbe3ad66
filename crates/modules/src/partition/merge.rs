//! Last step of the partition: merges groups of files that are too small, too many, or that differ
//! only by folders of a build layout such as `src` ("structural" folders).
//!
//! A group is known by its root, the folder of its files; the root of the project is the empty path,
//! "the top". A group is the files of a package (a folder with a manifest), of a folder in it, or a
//! community: some files of one folder that refer to one another. Several communities and the rest
//! of the folder then have the same root.
//!
//! The public functions run in the order in which they stand here. Each changes the list of groups
//! in place and keeps the files of a group sorted. Their work grows with the number of groups, not
//! with its square: [`GroupTree`] finds the groups around and below another one.
//!
//! ```text
//! merge_small_groups        pkg/net: 2 files, pkg: 9 files     → pkg: 11 files
//! merge_down_to_limit       90 groups                          → 70 groups, the smallest merged
//! merge_equivalent_roots    pkg/types, pkg/src/types           → pkg/types
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};

use super::group_tree::GroupTree;
use super::{FileGroup, MAX_MODULES, MIN_MODULE_FILES};
use crate::folder_roles::{STRUCTURAL_FOLDERS, folders_above, is_inside};

/// Merges groups of too few files into another group, see [`merge_target`]. A small group without a
/// target is removed and its files are in no module, for example a single script at the top.
pub(crate) fn merge_small_groups(groups: &mut Vec<FileGroup>, package_roots: &HashSet<&str>) {
    let mut tree = GroupTree::new(groups);
    // A small package stays a group if it is whole. If other groups lie below it, it is only the
    // remainder of a package that was split.
    let is_too_small = |index: usize, groups: &[FileGroup], tree: &GroupTree| {
        let is_whole_package =
            || package_roots.contains(&*groups[index].root) && !tree.has_groups_below(index);
        groups[index].files.len() < MIN_MODULE_FILES && !is_whole_package()
    };
    let mut too_small: BTreeSet<usize> =
        (0..groups.len()).filter(|it| is_too_small(*it, groups, &tree)).collect();
    // The first group that is too small comes next; a merge can make it and others large enough.
    // The only group stays, however small: the project has a module.
    while tree.n_groups() > 1
        && let Some(index) = too_small.pop_first()
    {
        tree.remove(index);
        let mut changed = tree.lowest_groups_from(tree.folder_of(index));
        let files = std::mem::take(&mut groups[index].files);
        // Without a target, the files are dropped here.
        if let Some(target) = merge_target(&tree, groups, index) {
            groups[target].files.extend(files);
            changed.push(target);
            // The merged group lies in the outer one of both folders.
            if is_inside(&groups[target].root, &groups[index].root) {
                let inner_folder = tree.folder_of(target);
                groups[target].root = std::mem::take(&mut groups[index].root);
                tree.move_group(target, tree.folder_of(index));
                changed.extend(tree.lowest_groups_from(inner_folder));
            }
        }
        for index in changed {
            if is_too_small(index, groups, &tree) {
                too_small.insert(index);
            } else {
                too_small.remove(&index);
            }
        }
    }
    remove_merged(groups);
}

/// The group that takes over the files of `small`, which is no longer in the tree. The first rule
/// that applies decides:
///
/// 1. the group in the source folder of the same folder: `pkg/src` for `pkg`; at the top also `lib`;
/// 2. the innermost group around it;
/// 3. the nearest group below it.
///
/// Every group lies below the top, so that alone relates no two groups: a group at the top is no
/// target by the second rule, and a small group at the top gets no target by the third.
fn merge_target(tree: &GroupTree, groups: &[FileGroup], small: usize) -> Option<usize> {
    let is_top = groups[small].root.is_empty();
    let outer = tree.find_in_source_folder(small).or_else(|| tree.find_around_below_top(small));
    if outer.is_some() || is_top {
        return outer;
    }
    tree.find_nearest_below(small, groups)
}

/// Merges the smallest groups into the group around them until at most `MAX_MODULES` are left, or
/// no group is left that lies in another. The top counts as around every group here: with so many
/// groups, its module is the place for whatever is small.
pub(crate) fn merge_down_to_limit(groups: &mut Vec<FileGroup>) {
    let mut tree = GroupTree::new(groups);
    let mut by_size: BTreeSet<(usize, usize)> =
        groups.iter().enumerate().map(|(index, group)| (group.files.len(), index)).collect();
    while tree.n_groups() > MAX_MODULES
        && let Some((_, index)) = by_size.pop_first()
    {
        // A group with the same root counts as around, because communities share their folder. A
        // group with none around it will have none later, as groups are only removed.
        let Some(target) = tree.find_at_or_around(index) else { continue };
        tree.remove(index);
        let files = std::mem::take(&mut groups[index].files);
        let is_mergeable = by_size.remove(&(groups[target].files.len(), target));
        groups[target].files.extend(files);
        if is_mergeable {
            by_size.insert((groups[target].files.len(), target));
        }
    }
    remove_merged(groups);
}

/// Merges groups whose roots differ only by structural folders: `pkg/types` and `pkg/src/types`. The
/// merged group has the shorter root. A group that differs from its package only by such folders
/// gets the package's root, also if there is nothing to merge: `pkg/src` becomes `pkg`.
pub(crate) fn merge_equivalent_roots(groups: &mut Vec<FileGroup>, package_roots: &HashSet<&str>) {
    for group in groups.iter_mut().filter(|it| !it.is_community) {
        let is_package = |it: &&str| !it.is_empty() && package_roots.contains(it);
        let package = folders_above(&group.root).find(is_package).map(str::to_owned);
        if let Some(package) = package
            && is_structural(&group.root[package.len()..])
        {
            group.root = package;
        }
    }
    let without_structural = |root: &str| {
        let folders = root.split('/').filter(|it| !STRUCTURAL_FOLDERS.contains(it));
        folders.collect::<Vec<_>>().join("/")
    };
    // The first group with each root, without its structural folders.
    let mut first: HashMap<String, usize> = HashMap::new();
    for index in 0..groups.len() {
        // Communities share a root with other groups and still stay apart.
        if groups[index].is_community {
            continue;
        }
        let earlier = *first.entry(without_structural(&groups[index].root)).or_insert(index);
        if earlier == index {
            continue;
        }
        let later = std::mem::take(&mut groups[index]);
        if later.root.len() < groups[earlier].root.len() {
            groups[earlier].root = later.root;
        }
        groups[earlier].files.extend(later.files);
    }
    remove_merged(groups);
}

/// Every folder of a relative path is structural. The empty part before a leading slash is ignored.
pub(super) fn is_structural(path: &str) -> bool {
    path.split('/').all(|it| it.is_empty() || STRUCTURAL_FOLDERS.contains(&it))
}

/// Removes the groups whose files were moved to others, and sorts the files that came together.
fn remove_merged(groups: &mut Vec<FileGroup>) {
    groups.retain(|it| !it.files.is_empty());
    for group in groups {
        group.files.sort_unstable();
    }
}
