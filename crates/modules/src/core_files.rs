//! Ranking of the most important files of a module, for the list of core files in the map.
//!
//! A file scores by its centrality in the reference graph, that is by the references from other files
//! to it and from it to others, raised by its churn, a measure of recent changes. For a file that two
//! others refer to (weight 1 each), that refers to one (weight 1), and changed twice (churn 2):
//!
//! ```text
//! centrality   1 + (1 + 1) + 0.5 × 1 = 3.5
//! score        3.5 × (1 + ln(1 + 2)) = 7.3
//! ```

use crate::FileNode;
use crate::folder_roles::is_test_data;
use crate::module::MAX_LISTED;
use crate::partition::FileGroup;

/// Weight of outgoing references relative to incoming ones: a file that many use matters more than
/// one that uses many.
const OUTGOING_WEIGHT: f64 = 0.5;

/// Damped weights of the references to each file, summed.
pub(crate) struct IncomingReferences {
    from_all: Vec<f64>,
    /// References from tests would make the files with most tests look central.
    from_code: Vec<f64>,
}

impl IncomingReferences {
    pub(crate) fn sum(nodes: &[FileNode]) -> Self {
        let mut sums = Self { from_all: vec![0.0; nodes.len()], from_code: vec![0.0; nodes.len()] };
        for node in nodes {
            for (other, weight) in &node.references {
                sums.from_all[*other] += damp_weight(*weight);
                if !node.is_test {
                    sums.from_code[*other] += damp_weight(*weight);
                }
            }
        }
        sums
    }
}

/// A weight (in thousandths) enters as its square root: many files that refer to one a little count
/// for more than one file that refers to it a lot.
fn damp_weight(weight: u32) -> f64 {
    (f64::from(weight) / 1000.0).sqrt()
}

/// The files that others refer to, that refer to others, and that change: best first. Empty files,
/// package documentation and test data are left out; so are tests, unless the group is only tests.
pub(crate) fn rank_core_files(
    nodes: &[FileNode],
    group: &FileGroup,
    incoming: &IncomingReferences,
) -> Vec<String> {
    let is_test_group = group.is_all_tests(nodes);
    let incoming = if is_test_group { &incoming.from_all } else { &incoming.from_code };
    // Churn enters as a logarithm, so it orders files of similar centrality and cannot outweigh it.
    let score = |file: usize| {
        let references = &nodes[file].references;
        let outgoing: f64 = references.iter().map(|(_, weight)| damp_weight(*weight)).sum();
        let centrality = 1.0 + incoming[file] + OUTGOING_WEIGHT * outgoing;
        centrality * (1.0 + f64::from(nodes[file].churn).ln_1p())
    };
    let mut ranked: Vec<(usize, f64)> = Vec::new();
    for file in &group.files {
        let node = &nodes[*file];
        let is_other_test = node.is_test && !is_test_group;
        let has_no_code = node.is_empty || is_test_data(&node.path) || is_package_doc(&node.path);
        if !is_other_test && !has_no_code {
            ranked.push((*file, score(*file)));
        }
    }
    // Ties go to the file that comes first in the list of nodes.
    ranked.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then(a.cmp(b)));
    ranked.into_iter().take(MAX_LISTED).map(|(file, _)| nodes[file].path.clone()).collect()
}

/// A file that holds only the documentation of its package.
fn is_package_doc(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("package-info.java" | "doc.go" | "docs.go"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_files_package_docs_and_test_data_are_not_core() {
        let paths = ["a/__init__.py", "a/package-info.java", "a/x.py", "a/testdata/y.py"];
        let node = |path: &&str| FileNode { path: (*path).to_owned(), ..FileNode::default() };
        let mut nodes: Vec<FileNode> = paths.iter().map(node).collect();
        nodes[0].is_empty = true;
        let group =
            FileGroup { root: "a".to_owned(), files: vec![0, 1, 2, 3], is_community: false };
        assert_eq!(rank_core_files(&nodes, &group, &IncomingReferences::sum(&nodes)), ["a/x.py"]);
    }
}
