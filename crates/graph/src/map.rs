//! The module map: which parts a project has, what each is for, and how they hang together.
//!
//! Parts are told by manifests first, then by folders, then by what imports and changes together.
//! Texts come in as values and are somebody else's: what they say is passed on, never acted upon.

mod code;
mod community;
mod describe;
mod name;
mod split;
mod stable;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::closed;

pub use code::{decode_module, encode_module};
pub use community::communities;
pub use describe::{described, description_in};
pub use split::Package;
pub use stable::keep_ids;
pub use tools::{MANIFESTS, Tool, ToolKind, WORKFLOWS, tools};

/// A file of the project, with the others it refers to.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub path: String,
    pub is_test: bool,
    /// Other files by their place in the list, with how much it refers to them.
    pub links: Vec<(usize, u32)>,
    /// Files it changed together with, by their place, and how strongly.
    pub ties: Vec<(usize, f32)>,
    /// How much it changes of late.
    pub churn: f32,
}

closed! {
    /// How well a module is known.
    pub enum Coverage : "coverage" {
        /// Only where it lies.
        Shallow = "shallow",
        /// What hangs on what, too.
        Partial = "partial",
        /// And what it is for.
        Mapped = "mapped",
    }
}

/// One part of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Stays while most of its files do.
    pub id: String,
    pub name: String,
    /// The folder that holds all of it; empty for the project's own.
    pub root: String,
    pub description: String,
    /// In the order of their paths.
    pub files: Vec<String>,
    /// The files that matter most, first things first.
    pub core: Vec<String>,
    /// Where one comes in.
    pub entries: Vec<String>,
    /// The tests that exercise it, most telling first.
    pub tests: Vec<String>,
    /// Ids of modules it needs, strongest first, and of those that need it.
    pub needs: Vec<String>,
    pub needed_by: Vec<String>,
    /// Ids of modules that change together with it although neither needs the other.
    pub related: Vec<String>,
    /// Its files are tests, and nothing else.
    pub is_test: bool,
    pub is_linked: bool,
}

impl Module {
    pub fn coverage(&self) -> Coverage {
        match (self.is_linked, self.description.is_empty()) {
            (false, _) => Coverage::Shallow,
            (true, true) => Coverage::Partial,
            (true, false) => Coverage::Mapped,
        }
    }
}

/// How many are named of everything.
const NAMED: usize = 6;
/// Modules that changed together less than this are not related.
const RELATED: f32 = 0.02;

/// Finds the modules of a project, largest parts first; ids are those of their names.
pub fn modules(sites: &[Site], packages: &[Package]) -> Vec<Module> {
    let areas = split::areas(sites, packages);
    let of: HashMap<usize, usize> = areas
        .iter()
        .enumerate()
        .flat_map(|(at, area)| area.files.iter().map(move |it| (*it, at)))
        .collect();
    let names = name::names(&areas, sites);
    let ids = name::ids(&names);
    let bonds = Bonds::between(sites, &of, areas.len());
    let mut res = Vec::new();
    for (at, area) in areas.iter().enumerate() {
        let is_test = area.files.iter().all(|it| sites[*it].is_test);
        let ids_of = |list: Vec<usize>| list.into_iter().map(|it| ids[it].clone()).collect();
        res.push(Module {
            id: ids[at].clone(),
            name: names[at].clone(),
            root: area.root.clone(),
            description: String::new(),
            files: area.files.iter().map(|it| sites[*it].path.clone()).collect(),
            core: core(sites, area, is_test),
            entries: entries(sites, area, &of, at),
            tests: tests(sites, &of, at),
            needs: ids_of(bonds.needs(at)),
            needed_by: ids_of(bonds.needed_by(at)),
            related: ids_of(bonds.related(at)),
            is_test,
            is_linked: bonds.is_linked(at) || has_links(sites, area),
        });
    }
    res.sort_by(|a, b| (a.is_test, &a.root, &a.id).cmp(&(b.is_test, &b.root, &b.id)));
    res
}

fn has_links(sites: &[Site], area: &split::Area) -> bool {
    area.files.iter().any(|it| !sites[*it].links.is_empty())
}

/// What hangs between modules.
struct Bonds {
    links: BTreeMap<(usize, usize), u64>,
    ties: BTreeMap<(usize, usize), f32>,
    sizes: Vec<f32>,
}

impl Bonds {
    fn between(sites: &[Site], of: &HashMap<usize, usize>, n_areas: usize) -> Self {
        let mut res =
            Self { links: BTreeMap::new(), ties: BTreeMap::new(), sizes: vec![0.0; n_areas] };
        for (at, site) in sites.iter().enumerate() {
            let Some(from) = of.get(&at) else { continue };
            res.sizes[*from] += 1.0;
            // What only tests need is not what a module needs.
            for (other, weight) in site.links.iter().filter(|_| !site.is_test) {
                let Some(to) = of.get(other).filter(|it| *it != from) else { continue };
                *res.links.entry((*from, *to)).or_default() += u64::from(*weight);
            }
            for (other, strength) in &site.ties {
                let Some(to) = of.get(other).filter(|it| *it != from) else { continue };
                *res.ties.entry((*from, *to)).or_default() += strength;
            }
        }
        res
    }

    fn needs(&self, at: usize) -> Vec<usize> {
        let found = self.links.iter().filter(|it| it.0.0 == at).map(|(it, n)| (it.1, *n));
        strongest(found.collect())
    }

    fn needed_by(&self, at: usize) -> Vec<usize> {
        let found = self.links.iter().filter(|it| it.0.1 == at).map(|(it, n)| (it.0, *n));
        strongest(found.collect())
    }

    fn related(&self, at: usize) -> Vec<usize> {
        let apart = |other: usize| {
            !self.links.contains_key(&(at, other)) && !self.links.contains_key(&(other, at))
        };
        let found = self.ties.iter().filter(|it| it.0.0 == at && apart(it.0.1));
        // A share of the module's own size: one busy file does not tie two large parts.
        let found = found.map(|(it, sum)| (it.1, sum / self.sizes[at].max(1.0)));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "shares between 0 and a few, in thousandths"
        )]
        let whole = |it: f32| (it * 1000.0) as u64;
        strongest(found.filter(|it| it.1 > RELATED).map(|it| (it.0, whole(it.1))).collect())
    }

    fn is_linked(&self, at: usize) -> bool {
        self.links.keys().any(|it| it.0 == at || it.1 == at)
    }
}

fn strongest(mut found: Vec<(usize, u64)>) -> Vec<usize> {
    found.sort_by_key(|it| (u64::MAX - it.1, it.0));
    found.into_iter().map(|it| it.0).take(NAMED).collect()
}

/// The files others lean on, and those that change.
fn core(sites: &[Site], area: &split::Area, is_test: bool) -> Vec<String> {
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
    let counts = |it: &&usize| is_test || !sites[**it].is_test;
    let mut ranked: Vec<(usize, f64)> =
        area.files.iter().filter(counts).map(|it| (*it, value(*it))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.into_iter().take(NAMED).map(|it| sites[it.0].path.clone()).collect()
}

/// Files that are made to be entered.
#[rustfmt::skip]
const DOORS: &[&str] = &[
    "main.rs", "lib.rs", "mod.rs", "main.go", "main.py", "__main__.py", "__init__.py", "manage.py", "app.py", "cli.py",
    "wsgi.py", "asgi.py", "index.ts", "index.tsx", "index.js", "index.jsx", "index.mjs", "main.ts", "main.tsx", "main.js",
    "server.ts", "server.js", "app.ts", "app.tsx", "App.tsx", "cli.ts", "Main.java", "Application.java", "main.c",
    "main.cpp", "Program.cs", "index.php",
];

/// Doors by their names, nearest to the top first; else the file others come in by.
fn entries(
    sites: &[Site],
    area: &split::Area,
    of: &HashMap<usize, usize>,
    at: usize,
) -> Vec<String> {
    let depth = |path: &str| path.matches('/').count();
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut doors: Vec<&str> = area
        .files
        .iter()
        .filter(|it| !sites[**it].is_test)
        .map(|it| sites[*it].path.as_str())
        .filter(|it| DOORS.contains(&name(it).as_str()))
        .collect();
    doors.sort_by_key(|it| (depth(it), DOORS.iter().position(|door| *door == name(it))));
    let nearest = doors.first().map(|it| depth(it));
    doors.retain(|it| Some(depth(it)) == nearest);
    if !doors.is_empty() {
        return doors.into_iter().take(3).map(str::to_owned).collect();
    }
    let mut from_outside: BTreeMap<usize, u32> = BTreeMap::new();
    for (from, site) in sites.iter().enumerate().filter(|it| !it.1.is_test) {
        if of.get(&from) != Some(&at) {
            for (other, _) in site.links.iter().filter(|it| of.get(&it.0) == Some(&at)) {
                *from_outside.entry(*other).or_default() += 1;
            }
        }
    }
    let most =
        from_outside.into_iter().filter(|it| it.1 > 1).max_by_key(|it| (it.1, usize::MAX - it.0));
    most.map(|it| sites[it.0].path.clone()).into_iter().collect()
}

/// Tests that lie in a module or lean on it more than on any other.
fn tests(sites: &[Site], of: &HashMap<usize, usize>, at: usize) -> Vec<String> {
    let mut found: Vec<(u64, &str)> = Vec::new();
    for (nth, site) in sites.iter().enumerate().filter(|it| it.1.is_test) {
        let mut by_module: BTreeMap<usize, u64> = BTreeMap::new();
        for (other, weight) in site.links.iter().filter(|it| !sites[it.0].is_test) {
            if let Some(to) = of.get(other) {
                *by_module.entry(*to).or_default() += u64::from(*weight);
            }
        }
        let most = by_module.iter().max_by_key(|it| (it.1, usize::MAX - it.0));
        match most {
            Some((to, weight)) if *to == at => found.push((*weight, &site.path)),
            None if of.get(&nth) == Some(&at) => found.push((0, &site.path)),
            _ => {}
        }
    }
    found.sort_by_key(|it| (u64::MAX - it.0, it.1));
    found.into_iter().take(NAMED).map(|it| it.1.to_owned()).collect()
}

#[cfg(test)]
mod tests_of_map {
    use super::*;

    /// One file a line: `path` then the files it refers to.
    pub(super) fn sites(lines: &str) -> Vec<Site> {
        let lines: Vec<Vec<&str>> = lines
            .lines()
            .map(|it| it.split_whitespace().collect())
            .filter(|it: &Vec<&str>| !it.is_empty())
            .collect();
        let place = |path: &str| lines.iter().position(|it| it[0] == path).unwrap();
        let site = |it: &Vec<&str>| Site {
            path: it[0].to_owned(),
            is_test: crate::is_test_path(it[0]),
            links: it[1..].iter().map(|it| (place(it), 1000)).collect(),
            ..Site::default()
        };
        lines.iter().map(site).collect()
    }

    fn package(root: &str) -> Package {
        Package { root: root.to_owned() }
    }

    #[test]
    fn packages_are_modules_with_what_they_need_and_who_tests_them() {
        let sites = sites(
            "crates/store/src/lib.rs crates/store/src/row.rs
             crates/store/src/row.rs
             crates/cli/src/main.rs crates/store/src/lib.rs
             crates/cli/src/args.rs
             tests/all_test.rs crates/store/src/row.rs",
        );
        let found = modules(&sites, &[package("crates/store"), package("crates/cli")]);
        let told: Vec<(&str, &str, Vec<String>, Vec<String>)> = found
            .iter()
            .map(|it| (it.id.as_str(), it.name.as_str(), it.needs.clone(), it.tests.clone()))
            .collect();
        assert_eq!(
            told,
            [
                ("cli", "cli", vec!["store".to_owned()], vec![]),
                ("store", "store", vec![], vec!["tests/all_test.rs".to_owned()]),
            ]
        );
        let store = &found[1];
        assert_eq!(store.entries, ["crates/store/src/lib.rs"]);
        assert_eq!(store.needed_by, ["cli"]);
        assert_eq!(store.coverage(), Coverage::Partial);
    }

    #[test]
    fn nothing_has_no_modules() {
        assert!(modules(&[], &[]).is_empty());
    }
}
