//! Relations between modules: the references and co-changes of their files, summed per pair of
//! modules. [`crate::find_modules`] lists the strongest of them with each module.
//!
//! A *co-change* is a pair of files that git commits change together. If two files of `cli` refer to
//! files of `store`, `store` is a dependency of `cli`, and `cli` a dependent of `store`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::FileNode;
use crate::module::MAX_LISTED;
use crate::partition::FileGroup;

/// Smallest co-change strength per file of a module for which two modules count as co-changing.
const MIN_CO_CHANGE_SHARE: f32 = 0.02;

/// Edges between modules. A *group* is a set of files that the partition found; each group becomes a
/// module, and its index in `groups` stands for the module here. An edge is the pair (from, to).
pub(crate) struct ModuleRelations {
    /// Sums of reference weights, in thousandths.
    references: BTreeMap<(usize, usize), u64>,
    /// The modules that refer to each module, with the same sums.
    dependents: Vec<Vec<(usize, u64)>>,
    /// Sums of co-change strengths.
    co_changes: BTreeMap<(usize, usize), f32>,
    /// Number of files of each module; a float, because it only divides.
    sizes: Vec<f32>,
    are_tests: Vec<bool>,
}

impl ModuleRelations {
    /// Sums the edges of files that lead to another module. `group_of` is the module of each file.
    pub(crate) fn collect(
        nodes: &[FileNode],
        group_of: &[Option<usize>],
        groups: &[FileGroup],
    ) -> Self {
        let mut relations = Self {
            references: BTreeMap::new(),
            dependents: vec![Vec::new(); groups.len()],
            co_changes: BTreeMap::new(),
            sizes: vec![0.0; groups.len()],
            are_tests: groups.iter().map(|it| it.is_all_tests(nodes)).collect(),
        };
        for (file, node) in nodes.iter().enumerate() {
            // A few files at the top belong to no module.
            let Some(from) = group_of[file] else { continue };
            relations.sizes[from] += 1.0;
            // A reference from a test is not a dependency of the module that holds the test.
            for (other, weight) in node.references.iter().filter(|_| !node.is_test) {
                if let Some(to) = group_of[*other].filter(|it| *it != from) {
                    *relations.references.entry((from, to)).or_default() += u64::from(*weight);
                }
            }
            for (other, strength) in &node.co_changes {
                if let Some(to) = group_of[*other].filter(|it| *it != from) {
                    *relations.co_changes.entry((from, to)).or_default() += strength;
                }
            }
        }
        for ((from, to), weight) in &relations.references {
            relations.dependents[*to].push((*from, *weight));
        }
        relations
    }

    pub(crate) fn dependencies_of(&self, module: usize) -> Vec<usize> {
        let edges = self.references.range(edges_from(module));
        take_strongest(edges.map(|((_, to), weight)| (*to, *weight)).collect())
    }

    pub(crate) fn dependents_of(&self, module: usize) -> Vec<usize> {
        take_strongest(self.dependents[module].clone())
    }

    /// Modules that change together with this one although neither refers to the other.
    pub(crate) fn co_changing_with(&self, module: usize) -> Vec<usize> {
        let mut strengths: Vec<(usize, u64)> = Vec::new();
        for ((_, other), sum) in self.co_changes.range(edges_from(module)) {
            // A dependency explains the co-change and is listed as such.
            let is_dependency = self.references.contains_key(&(module, *other))
                || self.references.contains_key(&(*other, module));
            // Tests always change with the code they test, so a module of code does not list them. A
            // module of tests does list the code.
            let is_test_of_code = self.are_tests[*other] && !self.are_tests[module];
            if is_dependency || is_test_of_code {
                continue;
            }
            // Divided by the size of the module: one busy file does not relate two large modules.
            let share = sum / self.sizes[module].max(1.0);
            if share > MIN_CO_CHANGE_SHARE {
                strengths.push((*other, to_thousandths(share)));
            }
        }
        take_strongest(strengths)
    }

    /// References lead from the module to another one, or from another one to it.
    pub(crate) fn has_references(&self, module: usize) -> bool {
        !self.dependents[module].is_empty()
            || self.references.range(edges_from(module)).next().is_some()
    }
}

/// The edges that begin at a module.
fn edges_from(module: usize) -> RangeInclusive<(usize, usize)> {
    (module, 0)..=(module, usize::MAX)
}

/// The modules with the largest weights, strongest first; ties go to the lower index.
fn take_strongest(mut edges: Vec<(usize, u64)>) -> Vec<usize> {
    edges.sort_by_key(|(module, weight)| (Reverse(*weight), *module));
    edges.into_iter().map(|(module, _)| module).take(MAX_LISTED).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares between 0 and a few, in thousandths"
)]
fn to_thousandths(share: f32) -> u64 {
    (share * 1000.0) as u64
}
