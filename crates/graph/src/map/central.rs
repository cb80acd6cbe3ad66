//! Which files of a module matter most.

use std::collections::{BTreeSet, HashMap};

use super::split::{Area, is_data};
use super::{NAMED, Site};

/// The files others lean on, and those that change. What is empty, only says what a package is for, or is
/// worked on by tests is not among them.
pub(super) fn core(sites: &[Site], area: &Area, is_test: bool) -> Vec<String> {
    let inside: BTreeSet<usize> = area.files.iter().copied().collect();
    let mut into: HashMap<usize, f64> = HashMap::new();
    for site in sites.iter().filter(|it| !it.is_test || is_test) {
        for (other, weight) in site.links.iter().filter(|it| inside.contains(&it.0)) {
            // Many who lean a little are more than one who leans a lot.
            *into.entry(*other).or_default() += (f64::from(*weight) / 1000.0).sqrt();
        }
    }
    let out = |at: usize| -> f64 {
        sites[at].links.iter().map(|it| (f64::from(it.1) / 1000.0).sqrt()).sum()
    };
    let value = |at: usize| {
        let leaned = into.get(&at).copied().unwrap_or_default();
        (1.0 + leaned + 0.5 * out(at)) * (1.0 + f64::from(sites[at].churn).ln_1p())
    };
    let counts = |it: &&usize| {
        let site = &sites[**it];
        (is_test || !site.is_test) && !site.is_empty && !is_data(&site.path) && !is_note(&site.path)
    };
    let mut ranked: Vec<(usize, f64)> =
        area.files.iter().filter(counts).map(|it| (*it, value(*it))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.into_iter().take(NAMED).map(|it| sites[it.0].path.clone()).collect()
}

/// Files that hold nothing but what is said about their folder.
fn is_note(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("package-info.java" | "doc.go" | "docs.go"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_or_a_note_or_data_is_not_core() {
        let paths = ["a/__init__.py", "a/package-info.java", "a/x.py", "a/testdata/y.py"];
        let mut sites: Vec<Site> =
            paths.iter().map(|it| Site { path: (*it).to_owned(), ..Site::default() }).collect();
        sites[0].is_empty = true;
        let area = Area { root: "a".to_owned(), files: vec![0, 1, 2, 3], by_community: false };
        assert_eq!(core(&sites, &area, false), ["a/x.py"]);
    }
}
