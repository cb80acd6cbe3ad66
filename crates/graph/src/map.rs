//! The module map: which parts a project has, what each is for, and how they hang together.
//!
//! Parts are told by manifests first, then by folders, then by what imports and changes together.
//! Texts come in as values and are somebody else's: what they say is passed on, never acted upon.

mod central;
mod code;
mod community;
mod describe;
mod doors;
mod name;
mod proof;
mod split;
mod stable;
mod tools;

use std::collections::{BTreeMap, HashMap};

use model::closed;

pub use code::{decode_module, encode_module};
pub use community::communities;
pub use describe::{called, described, descriptions_in};
pub use proof::know_tests;
pub use split::Package;
pub use stable::keep_ids;
pub use tools::{MANIFESTS, Tool, ToolKind, WORKFLOWS, tools};

/// A file of the project, with the others it refers to.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub path: String,
    pub is_test: bool,
    /// There is nothing in it.
    pub is_empty: bool,
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
    let project = packages.iter().find(|it| it.root.is_empty()).and_then(|it| it.name.as_deref());
    let names = name::names(&areas, sites, project);
    let ids = name::ids(&names);
    let bonds = Bonds::between(sites, &of, &areas);
    let proofs = proof::tests(sites, &areas, &of);
    let mut res = Vec::new();
    for (at, (area, tests)) in areas.iter().zip(proofs).enumerate() {
        let is_test = bonds.are_tests[at];
        let ids_of = |list: Vec<usize>| list.into_iter().map(|it| ids[it].clone()).collect();
        res.push(Module {
            id: ids[at].clone(),
            name: names[at].clone(),
            root: area.root.clone(),
            description: String::new(),
            files: area.files.iter().map(|it| sites[*it].path.clone()).collect(),
            core: central::core(sites, area, is_test),
            entries: doors::entries(sites, area, &of, at),
            tests,
            needs: ids_of(bonds.needs(at)),
            needed_by: ids_of(bonds.needed_by(at)),
            related: ids_of(bonds.related(at)),
            is_test,
            is_linked: bonds.is_linked(at) || has_links(sites, area),
        });
    }
    // What the project is about comes first, then what shows, measures and tries it.
    let order =
        |it: &Module| (it.is_test, split::is_aside(&it.root), it.root.clone(), it.id.clone());
    res.sort_by_key(order);
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
    are_tests: Vec<bool>,
}

impl Bonds {
    fn between(sites: &[Site], of: &HashMap<usize, usize>, areas: &[split::Area]) -> Self {
        let all_tests = |it: &split::Area| it.files.iter().all(|it| sites[*it].is_test);
        let mut res = Self {
            links: BTreeMap::new(),
            ties: BTreeMap::new(),
            sizes: vec![0.0; areas.len()],
            are_tests: areas.iter().map(all_tests).collect(),
        };
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
        // That tests change with what they test goes without saying.
        let tells = |other: usize| self.are_tests[at] || !self.are_tests[other];
        let found = self.ties.iter().filter(|it| it.0.0 == at && apart(it.0.1) && tells(it.0.1));
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
        Package { root: root.to_owned(), name: None }
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
