//! Ids of modules that survive renamed folders: a module keeps its id while most of its files stay.
//!
//! The map is detected anew after changes, but memories refer to modules by id. Therefore the new
//! modules take over the ids of the earlier modules that they continue: if `auth` had the files a, b
//! and c, and the new module `login` has a, b and x, its id is `auth`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Module;
use crate::naming::unique_slug;

/// Gives modules the ids of an earlier map; `before` maps each file to the id of its module there.
///
/// A module takes over an id if most files of the earlier module are in it, or most of its files
/// come from the earlier module. All others get an id that no earlier module had, because memories
/// may still refer to the earlier one.
pub fn reuse_module_ids(modules: &mut [Module], before: &BTreeMap<String, String>) {
    let mut earlier_sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for id in before.values() {
        *earlier_sizes.entry(id).or_default() += 1;
    }
    let mut overlaps: Vec<ModuleOverlap<'_>> = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        let mut n_shared: BTreeMap<&str, usize> = BTreeMap::new();
        for id in module.files.iter().filter_map(|it| before.get(it)) {
            *n_shared.entry(id).or_default() += 1;
        }
        for (earlier_id, n_files) in n_shared {
            let has_most_of_earlier = 2 * n_files > earlier_sizes[earlier_id];
            let is_mostly_earlier = 2 * n_files > module.files.len();
            if has_most_of_earlier || is_mostly_earlier {
                overlaps.push(ModuleOverlap { n_files, module: index, earlier_id });
            }
        }
    }
    // The largest overlap takes the id first: of two halves, the larger one keeps it.
    overlaps.sort_by_key(|it| (Reverse(it.n_files), it.module, it.earlier_id));
    let mut reused: BTreeMap<usize, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for overlap in overlaps {
        if !reused.contains_key(&overlap.module) && taken.insert(overlap.earlier_id.to_owned()) {
            reused.insert(overlap.module, overlap.earlier_id.to_owned());
        }
    }
    // From here on no earlier id is free, whether a module took it over or not.
    taken.extend(earlier_sizes.keys().map(|it| (*it).to_owned()));
    let mut new_ids: HashMap<String, String> = HashMap::new();
    for (index, module) in modules.iter().enumerate() {
        let id = match reused.get(&index) {
            Some(id) => id.clone(),
            None => unique_slug(&module.name, &mut taken),
        };
        new_ids.insert(module.id.clone(), id);
    }
    // Modules refer to one another by id, so the references change with the ids.
    for module in modules {
        for list in [&mut module.dependencies, &mut module.dependents, &mut module.co_changing] {
            for id in list.iter_mut() {
                id.clone_from(&new_ids[id]);
            }
        }
        module.id.clone_from(&new_ids[&module.id]);
    }
}

/// A module that shares most of its files, or most of the earlier module's, with an earlier module.
struct ModuleOverlap<'a> {
    /// Number of shared files.
    n_files: usize,
    /// Index of the new module.
    module: usize,
    earlier_id: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module; `files` are separated by blanks.
    fn module(id: &str, files: &str) -> Module {
        let files = files.split(' ').map(str::to_owned).collect();
        Module { id: id.to_owned(), name: id.to_owned(), files, ..Module::default() }
    }

    /// An earlier map from rows of a module's id and its files.
    fn before(lines: &[(&str, &str)]) -> BTreeMap<String, String> {
        let members = |(id, files): &(&str, &str)| {
            let id = (*id).to_owned();
            files.split(' ').map(move |it| (it.to_owned(), id.clone())).collect::<Vec<_>>()
        };
        lines.iter().flat_map(members).collect()
    }

    /// The ids of the modules after the reuse.
    fn ids(mut modules: Vec<Module>, before: &BTreeMap<String, String>) -> Vec<String> {
        reuse_module_ids(&mut modules, before);
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
    fn a_new_module_never_takes_an_earlier_id() {
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
    fn references_of_other_modules_follow_the_new_id() {
        let mut modules = vec![module("login", "a b"), module("db", "d")];
        modules[1].dependencies = vec!["login".to_owned()];
        reuse_module_ids(&mut modules, &before(&[("auth", "a b")]));
        assert_eq!(modules[1].dependencies, ["auth"]);
    }
}
