//! Ranking of the most important files of a module.

use std::collections::{BTreeSet, HashMap};

use crate::FileNode;
use crate::module::MAX_LISTED;
use crate::partition::{FileGroup, is_test_data};

/// The files that others refer to, that refer to others, and that change: best first. Empty files,
/// package documentation and test data are left out; so are tests, unless the group is only tests.
pub(crate) fn rank_core_files(nodes: &[FileNode], group: &FileGroup) -> Vec<String> {
    let is_test = group.is_all_tests(nodes);
    let members: BTreeSet<usize> = group.files.iter().copied().collect();
    // Weights enter as square roots: many files that refer to one a little count for more than one
    // file that refers to it a lot.
    let mut incoming: HashMap<usize, f64> = HashMap::new();
    for node in nodes.iter().filter(|it| !it.is_test || is_test) {
        for (other, weight) in node.references.iter().filter(|it| members.contains(&it.0)) {
            *incoming.entry(*other).or_default() += (f64::from(*weight) / 1000.0).sqrt();
        }
    }
    let outgoing = |at: usize| -> f64 {
        nodes[at].references.iter().map(|it| (f64::from(it.1) / 1000.0).sqrt()).sum()
    };
    // Being referred to counts twice as much as referring. Churn enters as a logarithm, so it
    // orders files of like centrality and cannot outweigh it.
    let score = |at: usize| {
        let incoming = incoming.get(&at).copied().unwrap_or_default();
        (1.0 + incoming + 0.5 * outgoing(at)) * (1.0 + f64::from(nodes[at].churn).ln_1p())
    };
    let is_candidate = |it: &&usize| {
        let node = &nodes[**it];
        (is_test || !node.is_test)
            && !node.is_empty
            && !is_test_data(&node.path)
            && !is_package_doc(&node.path)
    };
    let mut ranked: Vec<(usize, f64)> =
        group.files.iter().filter(is_candidate).map(|it| (*it, score(*it))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.into_iter().take(MAX_LISTED).map(|it| nodes[it.0].path.clone()).collect()
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
        assert_eq!(rank_core_files(&nodes, &group), ["a/x.py"]);
    }
}
