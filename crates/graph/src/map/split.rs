//! Where the parts of a project begin and end: packages, then folders, then communities.

use std::collections::BTreeMap;

use super::community::communities;
use super::{Site, name};

/// A folder with a manifest of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Empty for the project's own.
    pub root: String,
    /// What the manifest calls it, if it does.
    pub name: Option<String>,
}

/// One part: a folder and the files in it that belong to no deeper part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) root: String,
    /// Sorted.
    pub(super) files: Vec<usize>,
    /// Told by what hangs together, not by a folder.
    pub(super) by_community: bool,
}

/// A part with fewer files is none; below the first folders of a large project it takes more.
const FEWEST: usize = 3;
const FEWEST_BELOW: usize = 5;
/// A package with more files than this has parts.
const WHOLE: usize = 60;
/// A folder with more files than an eighth of all has parts, within these bounds.
const LARGE: std::ops::RangeInclusive<usize> = 25..=110;
/// More parts than this nobody reads; the smallest go back to where they came from.
const MOST: usize = 70;

/// Folders of tests, examples and the like stay in one piece, whatever is in them.
#[rustfmt::skip]
const CLOSED: &[&str] = &[
    "tests", "test", "testing", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "fixture", "examples", "example",
    "sample", "samples", "demo", "demos", "playground", "playgrounds", "bench", "benches", "benchmarks", "benchmark", "scripts",
    "tools", "docs", "doc", "locale", "locales", "i18n", "migrations", "stubs", "typings", "fuzz", "integration-tests",
    "integration_tests",
];

/// Folders whose packages are there to try the project out, to show or to test it: none is a part of its own.
#[rustfmt::skip]
const TRIALS: &[&str] = &[
    "tests", "test", "__tests__", "spec", "specs", "e2e", "examples", "example", "sample", "samples", "demo", "demos", "playground",
    "playgrounds", "bench", "benches", "benchmarks", "benchmark", "fuzz", "docs", "integration-tests", "integration_tests",
];

/// Folders that say nothing about what is in them.
pub(super) const SAY_NOTHING: &[&str] = &["src", "main", "java", "kotlin", "scala"];

/// Folders whose manifests are data of tests rather than packages.
const DATA: &[&str] =
    &["testdata", "fixtures", "fixture", "__fixtures__", "snapshots", "templates"];

/// Whether a folder is beside the point of a project: examples, benchmarks, scripts, documents.
pub(super) fn is_aside(path: &str) -> bool {
    let beside = |it: &str| {
        TRIALS.contains(&it)
            || matches!(it, "scripts" | "tools" | "doc" | "locale" | "locales")
            || it.starts_with("test-")
            || it.starts_with("tests-")
            || it.ends_with("-docs")
    };
    said(path).any(beside)
}

/// The folders of a path that say what is in it: those of a Java package are a name.
fn said(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').take_while(|it| !matches!(*it, "java" | "kotlin" | "scala"))
}

/// Whether a file is what tests and generators work on.
pub(super) fn is_data(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').any(|it| DATA.contains(&it))
}

pub(super) fn areas(sites: &[Site], packages: &[Package]) -> Vec<Area> {
    let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let packages = own(sites, packages);
    for (at, site) in sites.iter().enumerate() {
        by_package.entry(package_of(&site.path, &packages)).or_default().push(at);
    }
    // A package of one or two files is a detail of the one around it.
    let small: Vec<&str> =
        by_package.iter().filter(|it| it.1.len() < 2 && !it.0.is_empty()).map(|it| *it.0).collect();
    for root in small {
        let files = by_package.remove(root).unwrap_or_default();
        let around = by_package
            .keys()
            .filter(|it| is_below(root, it))
            .max_by_key(|it| it.len())
            .copied()
            .unwrap_or("");
        by_package.entry(around).or_default().extend(files);
    }
    let large = (sites.len() / 8).clamp(*LARGE.start(), *LARGE.end());
    let mut acc = Vec::new();
    let fewest = (sites.len() / 150).clamp(FEWEST, FEWEST_BELOW);
    for (root, mut files) in by_package {
        files.sort_unstable();
        let whole = if root.is_empty() { FEWEST } else { WHOLE.max(large) };
        if !root.is_empty() && files.len() <= whole {
            acc.push(Area { root: root.to_owned(), files, by_community: false });
        } else {
            let fewest = if root.is_empty() { FEWEST } else { fewest };
            split(&mut acc, sites, root, files, (whole, large, fewest));
        }
    }
    merge_rests(&mut acc, &packages);
    merge_most(&mut acc);
    settle_roots(&mut acc, &packages);
    acc
}

/// The roots of the packages that can be parts. Not those in a folder of tests or examples, unless nearly
/// all of the project lies there; nor manifests that are data.
fn own(sites: &[Site], packages: &[Package]) -> Vec<String> {
    let trial = |root: &str| {
        let mut to = 0;
        root.split('/').find_map(|it| {
            let folder = &root[..to + it.len()];
            to += it.len() + 1;
            (TRIALS.contains(&it) && folder.len() < root.len()).then(|| folder.to_owned())
        })
    };
    let is_most = |folder: &str| {
        10 * sites.iter().filter(|it| is_below(&it.path, folder)).count() > 9 * sites.len()
    };
    let is_own = |it: &&Package| {
        !it.root.split('/').any(|it| DATA.contains(&it) || it.starts_with("template-"))
            && trial(&it.root).is_none_or(|folder| is_most(&folder))
    };
    packages.iter().filter(is_own).map(|it| it.root.clone()).collect()
}

/// A part that differs from its package only by folders that say nothing is that package; two that lie in
/// the same place so are one.
fn settle_roots(areas: &mut Vec<Area>, packages: &[String]) {
    let plain = |root: &str| {
        let telling = root.split('/').filter(|it| !SAY_NOTHING.contains(it));
        telling.collect::<Vec<_>>().join("/")
    };
    for area in areas.iter_mut().filter(|it| !it.by_community) {
        let around = packages.iter().filter(|it| !it.is_empty() && is_below(&area.root, it));
        if let Some(package) = around.max_by_key(|it| it.len())
            && area.root[package.len()..]
                .split('/')
                .all(|it| it.is_empty() || SAY_NOTHING.contains(&it))
        {
            area.root.clone_from(package);
        }
    }
    let mut at = 0;
    while at < areas.len() {
        let same = |it: &Area| {
            !areas[at].by_community && !it.by_community && plain(&it.root) == plain(&areas[at].root)
        };
        let Some(first) = areas[..at].iter().position(same) else {
            at += 1;
            continue;
        };
        let later = areas.remove(at);
        if later.root.len() < areas[first].root.len() {
            areas[first].root = later.root;
        }
        areas[first].files.extend(later.files);
        areas[first].files.sort_unstable();
    }
}

/// A few files beside larger parts are no part of their own. They go to what lies in the same package
/// below `src`, else to the part around them, else to the first part below them. A few at the very top
/// go to what lies in `src` or `lib`; if there is no such part, they are left out.
fn merge_rests(areas: &mut Vec<Area>, packages: &[String]) {
    let is_rest = |it: &Area, all: &[Area]| {
        let is_package = packages.contains(&it.root)
            && all.iter().all(|other| other == it || !is_below(&other.root, &it.root));
        it.files.len() < FEWEST && !is_package
    };
    while let Some(at) = (0..areas.len()).find(|it| is_rest(&areas[*it], areas)) {
        if areas.len() == 1 {
            return;
        }
        let rest = areas.remove(at);
        let is_top = rest.root.is_empty();
        let below = |it: &&usize| is_below(&areas[**it].root, &rest.root);
        let around =
            |it: &&usize| is_below(&rest.root, &areas[**it].root) && !areas[**it].root.is_empty();
        let places: Vec<usize> = (0..areas.len()).collect();
        let own = |it: &&usize| {
            let inside = &areas[**it].root[rest.root.len()..];
            let is_main = |it: &str| is_top && inside == it;
            is_main("lib") || inside.split('/').all(|it| it.is_empty() || SAY_NOTHING.contains(&it))
        };
        let to = places
            .iter()
            .filter(below)
            .find(own)
            .or_else(|| places.iter().filter(around).max_by_key(|it| areas[**it].root.len()))
            .or_else(|| {
                places
                    .iter()
                    .filter(|it| below(it) && !is_top)
                    .min_by_key(|it| (areas[**it].root.len(), usize::MAX - areas[**it].files.len()))
            })
            .copied();
        let Some(to) = to else { continue };
        if is_below(&areas[to].root, &rest.root) {
            areas[to].root = rest.root;
        }
        areas[to].files.extend(rest.files);
        areas[to].files.sort_unstable();
    }
}

fn package_of<'a>(path: &str, packages: &'a [String]) -> &'a str {
    let around = packages.iter().map(String::as_str).filter(|it| is_below(path, it));
    around.max_by_key(|it| it.len()).unwrap_or("")
}

pub(super) fn is_below(path: &str, root: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|it| it.starts_with('/'))
}

/// Splits the files of a folder by the folders in it. Up to `whole` files stay together, `large` in the
/// folders below; a folder of fewer than `fewest` is no part.
fn split(
    acc: &mut Vec<Area>,
    sites: &[Site],
    root: &str,
    files: Vec<usize>,
    (whole, large, fewest): (usize, usize, usize),
) {
    let dir = common(sites, root, &files);
    // The folder itself, and those that were passed on the way to where its files part.
    let closed = said(&dir).skip(root.split('/').count() - 1).any(|it| CLOSED.contains(&it));
    if files.len() <= whole || closed {
        acc.push(Area { root: dir, files, by_community: false });
        return;
    }
    let mut below: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut own = Vec::new();
    for at in files {
        let rest = &sites[at].path[if dir.is_empty() { 0 } else { dir.len() + 1 }..];
        match rest.split_once('/') {
            Some((child, _)) => below.entry(child.to_owned()).or_default().push(at),
            None => own.push(at),
        }
    }
    for (child, files) in below {
        let child = if dir.is_empty() { child } else { format!("{dir}/{child}") };
        if files.len() < fewest {
            own.extend(files);
        } else {
            let fewest = (sites.len() / 150).clamp(FEWEST, FEWEST_BELOW);
            split(acc, sites, &child, files, (large, large, fewest));
        }
    }
    own.sort_unstable();
    if own.len() > large {
        own = by_community(acc, sites, &dir, own);
    }
    if !own.is_empty() {
        acc.push(Area { root: dir, files: own, by_community: false });
    }
}

/// The deepest folder that holds all of some files, at least `root`.
fn common(sites: &[Site], root: &str, files: &[usize]) -> String {
    let mut paths = files.iter().map(|it| sites[*it].path.as_str());
    let folder = |it: &str| it.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    let Some(mut dir) = paths.next().map(folder) else { return root.to_owned() };
    for path in paths {
        while !is_below(path, &dir) {
            dir = folder(&dir);
        }
    }
    if dir.len() < root.len() { root.to_owned() } else { dir }
}

/// Takes out of many files in one folder those that hang together; returns the rest.
fn by_community(acc: &mut Vec<Area>, sites: &[Site], dir: &str, files: Vec<usize>) -> Vec<usize> {
    let place: BTreeMap<usize, usize> = files.iter().enumerate().map(|it| (*it.1, it.0)).collect();
    let mut edges = Vec::new();
    for (from, at) in files.iter().enumerate() {
        for (other, weight) in &sites[*at].links {
            if let Some(to) = place.get(other) {
                edges.push((from, *to, f64::from(*weight).sqrt() / 30.0));
            }
        }
        for (other, strength) in &sites[*at].ties {
            if let Some(to) = place.get(other) {
                edges.push((from, *to, 2.0 * f64::from(*strength)));
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, group) in communities(files.len(), &edges).into_iter().enumerate() {
        groups.entry(group).or_default().push(files[at]);
    }
    let mut rest = Vec::new();
    for files in groups.into_values() {
        // A group that nobody can name is no part.
        if files.len() < 2 * FEWEST || name::shared_words(sites, &files).is_empty() {
            rest.extend(files);
        } else {
            acc.push(Area { root: dir.to_owned(), files, by_community: true });
        }
    }
    rest.sort_unstable();
    rest
}

/// Gives the smallest parts back to the part around them until few enough are left.
fn merge_most(areas: &mut Vec<Area>) {
    while areas.len() > MOST {
        let around = |at: usize, areas: &[Area]| {
            let root = &areas[at].root;
            (0..areas.len())
                .filter(|it| *it != at && is_below(&format!("{root}/"), &areas[*it].root))
                .max_by_key(|it| areas[*it].root.len())
        };
        let smallest = (0..areas.len())
            .filter(|it| around(*it, areas).is_some())
            .min_by_key(|it| (areas[*it].files.len(), *it));
        let Some(at) = smallest else { return };
        let to = around(at, areas).expect("only those with one around them were looked at");
        let files = std::mem::take(&mut areas[at].files);
        areas[to].files.extend(files);
        areas[to].files.sort_unstable();
        areas.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(paths: &[String], packages: &[&str]) -> Vec<(String, usize)> {
        let site = |it: &String| Site { path: it.clone(), ..Site::default() };
        let sites: Vec<Site> = paths.iter().map(site).collect();
        let packages: Vec<Package> =
            packages.iter().map(|it| Package { root: (*it).to_owned(), name: None }).collect();
        areas(&sites, &packages).into_iter().map(|it| (it.root, it.files.len())).collect()
    }

    fn many(dir: &str, n: usize) -> Vec<String> {
        (0..n).map(|it| format!("{dir}/f{it}.py")).collect()
    }

    #[test]
    fn a_small_package_is_one_part_and_a_large_one_has_parts() {
        let mut paths = many("pkg/small/src", 10);
        paths.extend(many("pkg/large/src/net", 50));
        paths.extend(many("pkg/large/src/io", 30));
        paths.push("pkg/large/src/lib.py".to_owned());
        paths.push("pkg/large/build.py".to_owned());
        paths.push("pkg/large/src/b.py".to_owned());
        paths.push("pkg/large/src/c.py".to_owned());
        paths.push("setup.py".to_owned());
        let expected = [
            ("pkg/large/src/io", 30),
            ("pkg/large/src/net", 50),
            ("pkg/large", 4),
            ("pkg/small", 10),
        ];
        let expected = expected.map(|it| (it.0.to_owned(), it.1));
        assert_eq!(told(&paths, &["pkg/small", "pkg/large"]), expected);
    }

    #[test]
    fn a_folder_of_tests_stays_in_one_piece() {
        let mut paths = many("app", 20);
        (0..40).for_each(|it| paths.extend(many(&format!("tests/t{it}"), 10)));
        assert_eq!(told(&paths, &[]), [("app".to_owned(), 20), ("tests".to_owned(), 400)]);
    }

    #[test]
    fn a_manifest_among_fixtures_is_no_package() {
        let paths = vec![
            "a/x.py".to_owned(),
            "a/fixtures/p/y.py".to_owned(),
            "a/fixtures/p/z.py".to_owned(),
            "a/template-x/u.py".to_owned(),
            "a/template-x/v.py".to_owned(),
        ];
        let packages = ["a", "a/fixtures/p", "a/template-x"];
        assert_eq!(told(&paths, &packages), [("a".to_owned(), 5)]);
    }

    #[test]
    fn packages_among_examples_are_one_part_unless_there_is_nothing_else() {
        let mut paths = many("examples/a", 5);
        paths.extend(many("examples/b", 5));
        let packages = ["examples/a", "examples/b"];
        let apart = [("examples/a", 5), ("examples/b", 5)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(told(&paths, &packages), apart);
        paths.extend(many("src", 5));
        let whole = [("examples", 10), ("src", 5)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(told(&paths, &packages), whole);
    }

    #[test]
    fn the_folders_of_a_java_package_are_a_name() {
        let root = "src/main/java/org/acme/samples/clinic";
        let mut paths = many(&format!("{root}/owner"), 20);
        paths.extend(many(&format!("{root}/vet"), 20));
        let expected = [(format!("{root}/owner"), 20), (format!("{root}/vet"), 20)];
        assert_eq!(told(&paths, &[]), expected);
        assert!(!is_aside(root));
    }

    #[test]
    fn what_lies_beside_and_in_src_is_one_part() {
        let mut paths = many("pkg/src/node", 100);
        paths.extend(many("pkg/src/types", 20));
        paths.extend(many("pkg/types", 20));
        paths.extend(many("pkg/bin", 2));
        paths.extend(many("pkg/src", 4));
        let expected = [("pkg/src/node", 100), ("pkg/types", 40), ("pkg", 6)]
            .map(|it| (it.0.to_owned(), it.1));
        assert_eq!(told(&paths, &["pkg"]), expected);
    }

    #[test]
    fn a_few_files_at_the_top_belong_to_src_or_lib() {
        let mut paths = many("lib", 6);
        paths.extend(many("examples", 10));
        paths.push("index.py".to_owned());
        let expected = [("examples", 10), ("", 7)].map(|it| (it.0.to_owned(), it.1));
        assert_eq!(told(&paths, &[]), expected);
    }

    #[test]
    fn a_group_in_one_folder_that_nobody_can_name_is_no_part() {
        let site =
            |path: String, to: usize| Site { path, links: vec![(to, 9000)], ..Site::default() };
        let mut sites: Vec<Site> =
            (0..30).map(|it| site(format!("x/library_{it}.py"), 0)).collect();
        let odd = ["apple", "bear", "cloud", "door", "earth", "fire", "glass", "house"];
        sites.extend(odd.iter().map(|it| site(format!("x/{it}.py"), 30)));
        let found: Vec<(bool, usize)> =
            areas(&sites, &[]).iter().map(|it| (it.by_community, it.files.len())).collect();
        assert_eq!(found, [(true, 30), (false, 8)]);
    }
}
