//! Which tests exercise which module.

use std::collections::{BTreeMap, HashMap};

use super::split::{Area, is_below};
use super::{NAMED, Site};

/// A file that so many tests lean on and hardly anybody else helps testing: it says nothing about what is
/// being tested.
const HELPED: usize = 10;

/// Corrects what paths say: files in a folder of tests, none of them called like one, that tests elsewhere
/// lean on are a library for testing.
pub fn know_tests(sites: &mut [Site]) {
    let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, site) in sites.iter().enumerate().filter(|it| it.1.is_test) {
        if let Some(folder) = test_folder(&site.path) {
            folders.entry(folder.to_owned()).or_default().push(at);
        }
    }
    for (folder, files) in folders {
        if files.iter().any(|it| is_called_test(&sites[*it].path)) {
            continue;
        }
        let outside = sites.iter().filter(|it| it.is_test && !is_below(&it.path, &folder));
        let leaning = outside.filter(|it| it.links.iter().any(|it| files.contains(&it.0)));
        if leaning.count() >= HELPED {
            files.iter().for_each(|it| sites[*it].is_test = false);
        }
    }
}

/// The tests of every module, most telling first. One that lies in a module is that module's. One in a
/// folder of tests belongs to what it leans on most around that folder, else anywhere.
pub(super) fn tests(
    sites: &[Site],
    areas: &[Area],
    of: &HashMap<usize, usize>,
) -> Vec<Vec<String>> {
    let is_support = support(sites);
    let has_code: Vec<bool> =
        areas.iter().map(|it| it.files.iter().any(|it| !sites[*it].is_test)).collect();
    let mut found: Vec<Vec<(bool, u64, &str)>> = vec![Vec::new(); areas.len()];
    for (nth, site) in sites.iter().enumerate().filter(|it| it.1.is_test && !it.1.is_empty) {
        let mut leans = [BTreeMap::new(), BTreeMap::new()];
        for (other, weight) in site.links.iter().filter(|it| !sites[it.0].is_test) {
            if let Some(to) = of.get(other) {
                let by_area: &mut BTreeMap<usize, u64> =
                    &mut leans[usize::from(is_support[*other])];
                *by_area.entry(*to).or_default() += u64::from(*weight);
            }
        }
        let home = of.get(&nth).copied();
        let most = match home {
            Some(home) if has_code[home] && !areas[home].root.is_empty() => {
                Some((home, leans[0].get(&home).copied().unwrap_or_default()))
            }
            _ => {
                let around = test_folder(&site.path).map_or("", above);
                let [telling, helping] = &leans;
                let near =
                    |it: &(&usize, &u64)| is_below(&format!("{}/", areas[*it.0].root), around);
                let best = |it: &BTreeMap<usize, u64>, near: &dyn Fn(&(&usize, &u64)) -> bool| {
                    it.iter()
                        .filter(near)
                        .max_by_key(|it| (it.1, usize::MAX - it.0))
                        .map(|it| (*it.0, *it.1))
                };
                best(telling, &near)
                    .or_else(|| best(telling, &|_| true))
                    .or_else(|| best(helping, &|_| true))
                    .or(home.map(|it| (it, 0)))
            }
        };
        if let Some((to, weight)) = most {
            found[to].push((!is_called_test(&site.path), u64::MAX - weight, &site.path));
        }
    }
    let told = |mut it: Vec<(bool, u64, &str)>| {
        it.sort_unstable();
        it.into_iter().take(NAMED).map(|it| it.2.to_owned()).collect()
    };
    found.into_iter().map(told).collect()
}

/// Files that help testing.
fn support(sites: &[Site]) -> Vec<bool> {
    let mut by = vec![(0, 0); sites.len()];
    for site in sites {
        for (other, _) in &site.links {
            let (tests, others) = &mut by[*other];
            *if site.is_test { tests } else { others } += 1;
        }
    }
    by.into_iter().map(|(tests, others)| tests >= HELPED && others * 20 <= tests).collect()
}

/// The outermost folder of tests on the way to a file.
fn test_folder(path: &str) -> Option<&str> {
    let folders = path.rsplit_once('/')?.0;
    let mut to = 0;
    for it in folders.split('/') {
        to += it.len();
        if matches!(it, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing") {
            return Some(&folders[..to]);
        }
        to += 1;
    }
    None
}

/// The folder around one, without those that say nothing.
fn above(folder: &str) -> &str {
    let above = folder.rsplit_once('/').map_or("", |it| it.0);
    above.strip_suffix("/src").unwrap_or(if above == "src" { "" } else { above })
}

/// Whether a file is called like a test, wherever it lies. What helps testing is not.
fn is_called_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_lowercase();
    matches!(lower.as_str(), "test" | "tests")
        || ["test_", "tests_", "test-"].iter().any(|it| lower.starts_with(it))
        || ["_test", "_tests", "-test", "_spec"].iter().any(|it| lower.ends_with(it))
        || ["Test", "Tests", "IT"].iter().any(|it| stem.ends_with(it))
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests_of_proof {
    use super::super::modules;
    use super::super::split::Package;
    use super::super::tests_of_map::sites;
    use super::*;

    fn told(lines: &str, packages: &[&str]) -> Vec<String> {
        let mut sites = sites(lines);
        know_tests(&mut sites);
        let package = |it: &&str| Package { root: (*it).to_owned(), name: None };
        let packages: Vec<Package> = packages.iter().map(package).collect();
        let line = |it: super::super::Module| format!("{}: {}", it.id, it.tests.join(" "));
        modules(&sites, &packages).into_iter().filter(|it| !it.is_test).map(line).collect()
    }

    #[test]
    fn a_test_in_a_module_is_its_own_whatever_it_leans_on() {
        let lines = "lib/a.go\nlib/b.go\nlib/c.go
            tpl/x.go\ntpl/y.go\ntpl/z.go\ntpl/x_test.go lib/a.go lib/b.go";
        assert_eq!(told(lines, &[]), ["lib: ", "tpl: tpl/x_test.go"]);
    }

    #[test]
    fn a_test_beside_its_package_belongs_to_that_package() {
        let lines = "p/math/src/a.ts\np/math/src/b.ts\np/math/tests/m.test.ts p/base/src/a.ts p/math/src/a.ts
            p/base/src/a.ts\np/base/src/b.ts";
        assert_eq!(
            told(lines, &["p/math", "p/base"]),
            ["p/base: ", "p/math: p/math/tests/m.test.ts"]
        );
    }

    #[test]
    fn a_library_for_testing_is_a_module_and_not_what_tests_are_about() {
        let mut lines = vec![
            "test/client.py\ntest/testcases.py\ntest/runner.py".to_owned(),
            "db/a.py\ndb/b.py db/a.py\ndb/c.py\ntests/models.py db/a.py".to_owned(),
        ];
        lines.extend((0..12).map(|it| format!("tests/test_{it}.py test/testcases.py db/a.py")));
        let told = told(&lines.join("\n"), &[]);
        assert_eq!(
            told,
            [
                "db: tests/test_0.py tests/test_1.py tests/test_10.py tests/test_11.py tests/test_2.py tests/test_3.py",
                "test: ",
            ]
        );
    }
}
