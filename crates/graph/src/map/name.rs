//! What a module is called: by its folder, without what every path has; or by the words its files share.

use std::collections::{BTreeMap, BTreeSet};

use model::words;

use super::Site;
use super::split::Area;

/// Folders that say nothing about what is in them, and those that only hold the parts of a project.
const SAY_NOTHING: &[&str] = &["src", "main", "java", "kotlin", "scala"];
const HOLD_PARTS: &[&str] = &["crates", "packages", "apps", "libs", "modules", "lib"];

/// A name for every area, each its own.
pub(super) fn names(areas: &[Area], sites: &[Site]) -> Vec<String> {
    let mut res: Vec<String> = areas
        .iter()
        .map(|it| if it.by_community { by_words(it, areas, sites) } else { by_folder(&it.root) })
        .collect();
    // Two of the same name are told apart by where they lie, and if that does not help, by number.
    for again in [true, false] {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (at, name) in res.clone().iter().enumerate() {
            let n = seen.entry(name.clone()).or_default();
            *n += 1;
            if *n > 1 {
                res[at] = if again && !areas[at].root.is_empty() {
                    areas[at].root.clone()
                } else {
                    format!("{name} {n}")
                };
            }
        }
    }
    res
}

/// Ids that can be typed, each its own.
pub(super) fn ids(names: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    names.iter().map(|it| fresh_id(it, &mut taken)).collect()
}

pub(super) fn fresh_id(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut slug = String::new();
    for it in name.chars() {
        if it.is_alphanumeric() || matches!(it, '/' | '_' | '.') {
            slug.push(it);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug = slug.trim_matches(['-', '/', '.']).to_owned();
    if slug.is_empty() {
        "project".clone_into(&mut slug);
    }
    let mut res = slug.clone();
    let mut n = 2;
    while !taken.insert(res.clone()) {
        res = format!("{slug}-{n}");
        n += 1;
    }
    res
}

fn by_folder(root: &str) -> String {
    if root.is_empty() {
        return "project".to_owned();
    }
    // Whose package it is says less than which: `gson/src/main/java/com/google/gson/internal`.
    let telling = |it: &&str| !SAY_NOTHING.contains(it);
    let mut parts: Vec<&str> = match root.split_once("/java/") {
        Some((before, package)) => {
            before.split('/').filter(telling).chain(package.split('/').skip(3)).collect()
        }
        None => root.split('/').filter(telling).collect(),
    };
    if parts.len() > 1 && HOLD_PARTS.contains(&parts[0]) {
        parts.remove(0);
    }
    if parts.is_empty() { root.to_owned() } else { parts.join("/") }
}

/// The folder and the two words that its files have and those of other parts have not.
fn by_words(area: &Area, areas: &[Area], sites: &[Site]) -> String {
    let stems = |area: &Area| -> BTreeMap<String, usize> {
        let mut res = BTreeMap::new();
        for at in &area.files {
            let name = sites[*at].path.rsplit('/').next().unwrap_or_default();
            let stem = name.split('.').next().unwrap_or(name);
            let own: BTreeSet<String> =
                words::parts(stem).into_iter().filter(|it| it.len() > 2 && it != "test").collect();
            own.into_iter().for_each(|it| *res.entry(it).or_default() += 1);
        }
        res
    };
    let all: Vec<BTreeMap<String, usize>> =
        areas.iter().filter(|it| it.root == area.root).map(stems).collect();
    let mut ranked: Vec<(usize, String)> = stems(area)
        .into_iter()
        .filter(|it| it.1 > 1)
        .map(|(word, n)| {
            let elsewhere: usize = all.iter().filter_map(|it| it.get(&word)).sum::<usize>() - n;
            (n * n * 1000 / (n + elsewhere), word)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let words: Vec<&str> = ranked.iter().take(2).map(|it| it.1.as_str()).collect();
    let folder = by_folder(&area.root);
    if words.is_empty() { folder } else { format!("{folder}: {}", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_without_what_says_nothing() {
        for (root, name) in [
            ("crates/store", "store"),
            ("packages/excalidraw/components", "excalidraw/components"),
            ("gson/src/main/java/com/google/gson/internal", "gson/internal"),
            ("tokio/src/net", "tokio/net"),
            ("src", "src"),
            ("crates/source", "source"),
            ("django/apps", "django/apps"),
            ("", "project"),
        ] {
            assert_eq!(by_folder(root), name, "{root}");
        }
    }

    #[test]
    fn what_hangs_together_in_one_folder_is_named_by_its_words() {
        let paths =
            ["x/user_form.py", "x/user_list.py", "x/form_field.py", "x/cache_a.py", "x/cache_b.py"];
        let site = |it: &&str| Site { path: (*it).to_owned(), ..Site::default() };
        let sites: Vec<Site> = paths.iter().map(site).collect();
        let area = |files: &[usize]| Area {
            root: "x".to_owned(),
            files: files.to_vec(),
            by_community: true,
        };
        let areas = [area(&[0, 1, 2]), area(&[3, 4])];
        assert_eq!(names(&areas, &sites), ["x: form, user", "x: cache"]);
        assert_eq!(ids(&names(&areas, &sites)), ["x-form-user", "x-cache"]);
    }
}
