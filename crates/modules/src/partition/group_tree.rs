//! The groups of a partition in the tree of their folders, so that the group around another one and
//! those below it are found without comparing all pairs.
//!
//! A group is known by its position in the list of groups, which never changes; a removed group
//! leaves a gap. The *top* is the root of the project, the empty path.
//!
//! ```text
//! groups     0: pkg   1: pkg/net   2: pkg/net/tls
//! around 2   1, then 0
//! below 0    2 groups
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::FileGroup;
use super::merge::is_structural;
use crate::folder_roles::folders_above;

/// Index of a folder in a [`GroupTree`].
pub(super) type FolderIndex = usize;

/// The roots of groups and all folders above them. Index 0 is the top.
pub(super) struct GroupTree {
    folders: Vec<TreeFolder>,
    /// By position of the group.
    folder_of: Vec<FolderIndex>,
    n_groups: usize,
}

#[derive(Default)]
struct TreeFolder {
    /// `None` for the top only.
    parent: Option<FolderIndex>,
    /// The subfolders with their names.
    subfolders: Vec<(String, FolderIndex)>,
    path_bytes: usize,
    /// The groups with this root, by position.
    groups: BTreeSet<usize>,
    /// Number of groups whose root lies below this folder.
    n_below: usize,
}

const TOP: FolderIndex = 0;

impl GroupTree {
    pub(super) fn new(groups: &[FileGroup]) -> Self {
        let mut tree =
            Self { folders: vec![TreeFolder::default()], folder_of: Vec::new(), n_groups: 0 };
        let mut index_of: HashMap<&str, FolderIndex> = HashMap::from([("", TOP)]);
        for (position, group) in groups.iter().enumerate() {
            let folder = tree.add_folder(&mut index_of, &group.root);
            tree.folder_of.push(folder);
            tree.insert(position, folder);
            tree.n_groups += 1;
        }
        tree
    }

    /// The index of a folder. Adds the folder and those above it as far as they are missing.
    fn add_folder<'a>(
        &mut self,
        index_of: &mut HashMap<&'a str, FolderIndex>,
        path: &'a str,
    ) -> FolderIndex {
        // From the folder itself upwards to the first known one, which is the top at the latest.
        let missing: Vec<&str> = std::iter::once(path)
            .chain(folders_above(path))
            .take_while(|it| !index_of.contains_key(it))
            .collect();
        let known = missing.last().map_or(path, |it| folders_above(it).next().unwrap_or_default());
        let mut parent = index_of[known];
        for path in missing.into_iter().rev() {
            let folder = self.folders.len();
            let name = path.rsplit('/').next().unwrap_or(path).to_owned();
            self.folders[parent].subfolders.push((name, folder));
            let path_bytes = path.len();
            self.folders.push(TreeFolder {
                parent: Some(parent),
                path_bytes,
                ..TreeFolder::default()
            });
            index_of.insert(path, folder);
            parent = folder;
        }
        parent
    }

    /// Number of groups that are left.
    pub(super) const fn n_groups(&self) -> usize {
        self.n_groups
    }

    /// Removes a group from the tree.
    pub(super) fn remove(&mut self, group: usize) {
        self.detach(group);
        self.n_groups -= 1;
    }

    /// The folder of a group. Of a removed group, the folder where it was.
    pub(super) fn folder_of(&self, group: usize) -> FolderIndex {
        self.folder_of[group]
    }

    /// Moves a group to another folder.
    pub(super) fn move_group(&mut self, group: usize, folder: FolderIndex) {
        self.detach(group);
        self.insert(group, folder);
    }

    fn insert(&mut self, group: usize, folder: FolderIndex) {
        self.folder_of[group] = folder;
        self.folders[folder].groups.insert(group);
        let mut above = self.folders[folder].parent;
        while let Some(folder) = above {
            self.folders[folder].n_below += 1;
            above = self.folders[folder].parent;
        }
    }

    fn detach(&mut self, group: usize) {
        let folder = self.folder_of[group];
        self.folders[folder].groups.remove(&group);
        let mut above = self.folders[folder].parent;
        while let Some(folder) = above {
            self.folders[folder].n_below -= 1;
            above = self.folders[folder].parent;
        }
    }

    /// Other groups lie below the root of a group. Every group lies below the top.
    pub(super) fn has_groups_below(&self, group: usize) -> bool {
        let folder = self.folder_of[group];
        self.folders[folder].n_below > 0 || (folder == TOP && self.folders[TOP].groups.len() > 1)
    }

    /// The groups in a folder, or in the next one above it with groups, that have no group below.
    pub(super) fn lowest_groups_from(&self, folder: FolderIndex) -> Vec<usize> {
        let mut lowest = Vec::new();
        let mut next = Some(folder);
        // Above a folder with groups, every folder has groups below.
        while let Some(folder) = next.filter(|it| self.folders[*it].n_below == 0) {
            lowest.extend(&self.folders[folder].groups);
            next = self.folders[folder].parent;
        }
        lowest
    }

    /// The group around another one: one with the same root, otherwise with the deepest root above
    /// it; the top is above all. Of several groups there the last.
    pub(super) fn find_at_or_around(&self, group: usize) -> Option<usize> {
        let folder = self.folder_of[group];
        let beside = self.folders[folder].groups.iter().rev().find(|it| **it != group).copied();
        beside.or_else(|| self.find_above(folder))
    }

    /// The group with the deepest root above that of `group`. The top does not count.
    pub(super) fn find_around_below_top(&self, group: usize) -> Option<usize> {
        let around = self.find_above(self.folder_of[group])?;
        (self.folder_of[around] != TOP).then_some(around)
    }

    fn find_above(&self, folder: FolderIndex) -> Option<usize> {
        let mut next = self.folders[folder].parent;
        while let Some(folder) = next {
            if let Some(last) = self.folders[folder].groups.last() {
                return Some(*last);
            }
            next = self.folders[folder].parent;
        }
        None
    }

    /// The first group in a source folder of the root of `group`, such as `pkg/src/main` for `pkg`.
    /// At the top also another group there, or one in `lib`.
    pub(super) fn find_in_source_folder(&self, group: usize) -> Option<usize> {
        let folder = self.folder_of[group];
        let first_other =
            |it: FolderIndex| self.folders[it].groups.iter().find(|it| **it != group).copied();
        let mut first: Option<usize> = None;
        if folder == TOP {
            let lib = self.folders[TOP].subfolders.iter().find(|(name, _)| name == "lib");
            first =
                [Some(TOP), lib.map(|it| it.1)].into_iter().flatten().filter_map(first_other).min();
        }
        let mut pending = vec![folder];
        while let Some(folder) = pending.pop() {
            let subfolders = &self.folders[folder].subfolders;
            for (_, subfolder) in subfolders.iter().filter(|(name, _)| is_structural(name)) {
                first = first.into_iter().chain(first_other(*subfolder)).min();
                pending.push(*subfolder);
            }
        }
        first
    }

    /// The group below the root of `group` with the shortest root; of several the one with the most
    /// files, then the first.
    pub(super) fn find_nearest_below(&self, group: usize, groups: &[FileGroup]) -> Option<usize> {
        let mut nearest: Option<(usize, Reverse<usize>, usize)> = None;
        let mut pending = vec![self.folder_of[group]];
        while let Some(folder) = pending.pop() {
            for (_, subfolder) in &self.folders[folder].subfolders {
                let TreeFolder { path_bytes, groups: inside, n_below, .. } =
                    &self.folders[*subfolder];
                let candidates =
                    inside.iter().map(|it| (*path_bytes, Reverse(groups[*it].files.len()), *it));
                nearest = nearest.into_iter().chain(candidates).min();
                if *n_below > 0 {
                    pending.push(*subfolder);
                }
            }
        }
        nearest.map(|(_, _, group)| group)
    }
}
