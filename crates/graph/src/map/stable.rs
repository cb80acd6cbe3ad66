//! A module keeps its id while most of its files stay.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Module;
use super::name::fresh_id;

/// Gives modules the ids they had: `before` is the id of the module of each file then. Where most of an
/// old module went into a new one, or most of a new one came from it, the new one bears its id; one that
/// finds none gets an id that nobody ever had.
pub fn keep_ids(modules: &mut [Module], before: &BTreeMap<String, String>) {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    before.values().for_each(|it| *sizes.entry(it).or_default() += 1);
    let mut shared: Vec<(usize, usize, &str)> = Vec::new();
    for (at, module) in modules.iter().enumerate() {
        let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
        for id in module.files.iter().filter_map(|it| before.get(it)) {
            *by_id.entry(id).or_default() += 1;
        }
        for (id, n) in by_id {
            if 2 * n > sizes[id] || 2 * n > module.files.len() {
                shared.push((n, at, id));
            }
        }
    }
    shared.sort_by_key(|it| (usize::MAX - it.0, it.1, it.2));
    let mut ids: BTreeMap<usize, String> = BTreeMap::new();
    let mut given: BTreeSet<String> = BTreeSet::new();
    for (_, at, id) in shared {
        if !ids.contains_key(&at) && given.insert(id.to_owned()) {
            ids.insert(at, id.to_owned());
        }
    }
    // Nobody new gets an id that somebody had.
    given.extend(sizes.keys().map(|it| (*it).to_owned()));
    let mut renamed: HashMap<String, String> = HashMap::new();
    for (at, module) in modules.iter().enumerate() {
        let id = match ids.get(&at) {
            Some(id) => id.clone(),
            None => fresh_id(&module.name, &mut given),
        };
        renamed.insert(module.id.clone(), id);
    }
    for module in modules {
        for list in [&mut module.needs, &mut module.needed_by, &mut module.related] {
            for it in list.iter_mut() {
                it.clone_from(&renamed[it]);
            }
        }
        module.id.clone_from(&renamed[&module.id]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(id: &str, files: &str) -> Module {
        let files = files.split(' ').map(str::to_owned).collect();
        Module { id: id.to_owned(), name: id.to_owned(), files, ..Module::default() }
    }

    fn before(lines: &[(&str, &str)]) -> BTreeMap<String, String> {
        let one = |it: &(&str, &str)| {
            let id = it.0.to_owned();
            it.1.split(' ').map(move |it| (it.to_owned(), id.clone())).collect::<Vec<_>>()
        };
        lines.iter().flat_map(one).collect()
    }

    fn ids(mut modules: Vec<Module>, before: &BTreeMap<String, String>) -> Vec<String> {
        keep_ids(&mut modules, before);
        modules.into_iter().map(|it| it.id).collect()
    }

    #[test]
    fn a_renamed_folder_keeps_the_id_of_its_files() {
        let before = before(&[("auth", "a b c"), ("db", "d e f")]);
        assert_eq!(
            ids(vec![module("login", "a b x"), module("db", "d e f")], &before),
            ["auth", "db"]
        );
    }

    #[test]
    fn a_new_module_never_takes_an_id_that_was_somebodys() {
        let before = before(&[("auth", "a b c")]);
        assert_eq!(ids(vec![module("auth", "x y z")], &before), ["auth-2"]);
    }

    #[test]
    fn of_two_halves_the_larger_keeps_the_id() {
        let before = before(&[("auth", "a b c d e")]);
        assert_eq!(
            ids(vec![module("one", "a b"), module("two", "c d e")], &before),
            ["one", "auth"]
        );
    }

    #[test]
    fn others_follow() {
        let mut modules = vec![module("login", "a b"), module("db", "d")];
        modules[1].needs = vec!["login".to_owned()];
        keep_ids(&mut modules, &before(&[("auth", "a b")]));
        assert_eq!(modules[1].needs, ["auth"]);
    }
}
