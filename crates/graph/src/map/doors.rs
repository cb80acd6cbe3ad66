//! Where one comes into a module.

use std::collections::{BTreeMap, HashMap};

use super::Site;
use super::split::{Area, SAY_NOTHING, is_data};

/// Files that are made to be entered.
#[rustfmt::skip]
const DOORS: &[&str] = &[
    "main.rs", "lib.rs", "mod.rs", "main.go", "main.py", "__main__.py", "__init__.py", "manage.py", "app.py", "cli.py",
    "wsgi.py", "asgi.py", "index.ts", "index.tsx", "index.js", "index.jsx", "index.mjs", "main.ts", "main.tsx", "main.js",
    "server.ts", "server.js", "app.ts", "app.tsx", "App.tsx", "cli.ts", "Main.java", "Application.java", "main.c",
    "main.cpp", "Program.cs", "index.php",
];

/// How many are named.
const NAMED: usize = 3;

/// Doors by their names at the top of the module; else the file named like its folder, else the one others
/// come in by, else doors further below.
pub(super) fn entries(
    sites: &[Site],
    area: &Area,
    of: &HashMap<usize, usize>,
    at: usize,
) -> Vec<String> {
    let inside: Vec<&str> = area
        .files
        .iter()
        .map(|it| &sites[*it])
        .filter(|it| !it.is_test && !it.is_empty && !is_data(&it.path))
        .map(|it| it.path.as_str())
        .collect();
    let depth =
        |path: &str| below(path, &area.root).iter().filter(|it| !SAY_NOTHING.contains(it)).count();
    let mut doors: Vec<(usize, usize, &str)> =
        inside.iter().filter_map(|it| Some((depth(it), rank(it)?, *it))).collect();
    doors.sort_unstable();
    let nearest = doors.first().map(|it| it.0);
    doors.retain(|it| Some(it.0) == nearest);
    let named = || doors.iter().take(NAMED).map(|it| it.2.to_owned()).collect();
    if nearest == Some(1) {
        return named();
    }
    let folder = area.root.rsplit('/').next().unwrap_or_default();
    let namesake = inside.iter().find(|it| depth(it) == 1 && is_namesake(it, folder));
    if let Some(it) = namesake.filter(|_| !folder.is_empty()) {
        return vec![(*it).to_owned()];
    }
    most_entered(sites, of, at).map_or_else(named, |it| vec![it])
}

/// The parts of a path below a folder, its own name among them.
fn below<'a>(path: &'a str, root: &str) -> Vec<&'a str> {
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').split('/').collect()
}

fn rank(path: &str) -> Option<usize> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_name = DOORS.iter().position(|it| *it == name);
    by_name.or_else(|| name.ends_with("Application.java").then_some(DOORS.len()))
}

fn is_namesake(path: &str, folder: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().is_some_and(|it| it.eq_ignore_ascii_case(folder))
}

fn most_entered(sites: &[Site], of: &HashMap<usize, usize>, at: usize) -> Option<String> {
    let mut from_outside: BTreeMap<usize, u32> = BTreeMap::new();
    for (from, site) in sites.iter().enumerate().filter(|it| !it.1.is_test) {
        if of.get(&from) != Some(&at) {
            for (other, _) in site.links.iter().filter(|it| of.get(&it.0) == Some(&at)) {
                *from_outside.entry(*other).or_default() += 1;
            }
        }
    }
    let counts = |it: &(usize, u32)| it.1 > 1 && !sites[it.0].is_empty && !sites[it.0].is_test;
    let most = from_outside.into_iter().filter(counts).max_by_key(|it| (it.1, usize::MAX - it.0));
    most.map(|it| sites[it.0].path.clone())
}

#[cfg(test)]
mod tests {
    use super::super::tests_of_map::sites;
    use super::*;

    fn told(lines: &str, root: &str) -> Vec<String> {
        let sites = sites(lines);
        let is_inside = |it: &usize| sites[*it].path.starts_with(&format!("{root}/"));
        let files: Vec<usize> = (0..sites.len()).filter(is_inside).collect();
        let of = files.iter().map(|it| (*it, 0)).collect();
        entries(&sites, &Area { root: root.to_owned(), files, by_community: false }, &of, 0)
    }

    #[test]
    fn a_door_at_the_top_comes_before_one_further_below() {
        assert_eq!(told("a/src/main.rs\na/src/x/mod.rs", "a"), ["a/src/main.rs"]);
        assert_eq!(told("a/PetApplication.java\na/Pet.java", "a"), ["a/PetApplication.java"]);
    }

    #[test]
    fn a_file_named_like_its_folder_comes_before_what_lies_deeper() {
        assert_eq!(
            told("x/picker/Picker.tsx\nx/picker/chat/index.ts", "x/picker"),
            ["x/picker/Picker.tsx"]
        );
    }

    #[test]
    fn without_a_door_one_enters_where_others_do() {
        let lines = "a/one.go\na/two.go\na/gen/main.go\nb/x.go a/two.go\nc/y.go a/two.go a/one.go";
        assert_eq!(told(lines, "a"), ["a/two.go"]);
        assert_eq!(told("a/one.go\na/gen/main.go", "a"), ["a/gen/main.go"]);
    }
}
