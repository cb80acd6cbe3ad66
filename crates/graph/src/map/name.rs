//! What a module is called: by its folder, without what every path has; or by the words its files share.

use std::collections::{BTreeMap, BTreeSet};

use model::words;

use super::Site;
use super::split::{Area, SAY_NOTHING};

/// Folders that only hold the parts of a project.
const HOLD_PARTS: &[&str] = &["crates", "packages", "apps", "libs", "modules", "lib"];
/// What only `src` and the like would be named by is named by the project.
const NAMELESS: &[&str] = &["", "src", "lib", "main", "app"];

/// A name for every area, each its own; `project` is what the project calls itself.
pub(super) fn names(areas: &[Area], sites: &[Site], project: Option<&str>) -> Vec<String> {
    let named = |it: &Area| match shared_words(sites, &it.files) {
        words if it.by_community && !words.is_empty() => {
            format!("{}: {}", by_folder(&it.root), words.join(" "))
        }
        _ => by_folder(&it.root),
    };
    let mut res: Vec<String> = areas.iter().map(named).collect();
    // One at most, so that nobody's name is taken.
    let nameless = areas.iter().position(|it| !it.by_community && NAMELESS.contains(&&*it.root));
    if let (Some(at), Some(project)) = (nameless, project)
        && !res.iter().any(|it| it.eq_ignore_ascii_case(project))
    {
        project.clone_into(&mut res[at]);
    }
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

/// Words that say what kind of file it is rather than what it is about.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "test", "tests", "integration", "util", "utils", "helper", "helpers", "common", "base", "type", "types", "index", "main",
    "with", "for", "the",
];

/// The words, two at most, that half of some files have in their names and their folder has not, in the
/// order in which they stand there.
pub(super) fn shared_words(sites: &[Site], files: &[usize]) -> Vec<String> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for at in files {
        let mut parts = sites[*at].path.rsplit('/');
        let stem = parts.next().and_then(|it| it.split('.').next()).unwrap_or_default();
        let folder = parts.next().unwrap_or_default().to_lowercase();
        let says = |it: &str| {
            it.len() > 2
                && !KINDS.contains(&it)
                && folder.strip_prefix(it).is_none_or(|it| it.len() > 1)
        };
        let mut own = BTreeSet::new();
        for (place, word) in words::parts(stem).into_iter().enumerate() {
            if says(&word) && own.insert(word.clone()) {
                let count = counts.entry(word).or_default();
                *count = (count.0 + 1, count.1 + place);
            }
        }
    }
    let mut shared: Vec<(String, (usize, usize))> =
        counts.into_iter().filter(|it| 2 * it.1.0 >= files.len()).collect();
    shared.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
    shared.truncate(2);
    // By where they stand on average.
    shared.sort_by(|a, b| (a.1.1 * b.1.0).cmp(&(b.1.1 * a.1.0)).then_with(|| a.0.cmp(&b.0)));
    shared.into_iter().map(|it| it.0).collect()
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

    fn area(root: &str, files: &[usize]) -> Area {
        Area { root: root.to_owned(), files: files.to_vec(), by_community: files.len() > 1 }
    }

    fn sites(paths: &[&str]) -> Vec<Site> {
        paths.iter().map(|it| Site { path: (*it).to_owned(), ..Site::default() }).collect()
    }

    #[test]
    fn what_hangs_together_in_one_folder_is_named_by_the_words_that_most_of_it_shares() {
        let sites = sites(&[
            "x/WelcomeScreen.tsx",
            "x/WelcomeScreen.Hints.tsx",
            "x/Footer.tsx",
            "x/cache_a.py",
            "x/cache_b.py",
        ]);
        let areas = [area("x", &[0, 1, 2]), area("x", &[3, 4])];
        let named = names(&areas, &sites, None);
        assert_eq!(named, ["x: welcome screen", "x: cache"]);
        assert_eq!(ids(&named), ["x-welcome-screen", "x-cache"]);
        assert!(shared_words(&sites, &[0, 2, 3]).is_empty());
    }

    #[test]
    fn what_has_no_name_of_its_own_has_that_of_the_project_once() {
        let sites = sites(&["index.js", "lib/a.js", "tool/b.js"]);
        let areas = [area("", &[0]), area("lib", &[1]), area("tool", &[2])];
        assert_eq!(names(&areas, &sites, Some("express")), ["express", "lib", "tool"]);
        assert_eq!(names(&areas, &sites, Some("tool")), ["project", "lib", "tool"]);
    }
}
