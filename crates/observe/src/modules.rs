//! Looks up the module of a file: in the project's module map if there is one, else by its folder. The map
//! divides the project into modules and lists the files of each: `crates/wire/src/lib.rs` is in `wire`.
//!
//! The map can be created after the first sessions, whose patterns are then stored under folder names: the
//! pattern "change `api/v1`" of the time before is "change `api`" now. So the folders of a module count as
//! its earlier names ([`ModuleLookup::earlier_keys`]). Files can also be created after the map: such a file
//! belongs to the module of the nearest folder on the map.

use std::collections::{BTreeMap, HashMap};

use crate::path_rules::folder_of;
use crate::pattern_key::PatternKey;

/// The modules of a project; empty if it has no module map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleLookup {
    by_file: HashMap<String, String>,
    /// The module that most files of a folder belong to.
    by_folder: BTreeMap<String, String>,
}

impl ModuleLookup {
    /// Takes the files of the map, each with the id of its module.
    pub fn new(members: impl IntoIterator<Item = (String, String)>) -> Self {
        let by_file: HashMap<String, String> = members.into_iter().collect();
        // The number of files in each folder, by module.
        let mut n_files: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for (path, id) in &by_file {
            *n_files.entry((folder_of(path), id)).or_default() += 1;
        }
        // The most frequent module of each folder; ties go to the first id.
        let mut by_folder: BTreeMap<String, String> = BTreeMap::new();
        let mut most_files: BTreeMap<&str, u32> = BTreeMap::new();
        for ((folder, id), n) in n_files {
            // The root also contains files of no module; those that are not on the map stay without one.
            if folder.is_empty() {
                continue;
            }
            let most = most_files.entry(folder).or_default();
            if n > *most {
                *most = n;
                by_folder.insert(folder.to_owned(), id.to_owned());
            }
        }
        Self { by_file, by_folder }
    }

    /// The module of a file: its id on the map, else its folder, which is empty at the root.
    pub fn module_of_file<'a>(&'a self, path: &'a str) -> &'a str {
        if let Some(id) = self.by_file.get(path) {
            return id;
        }
        // A new file belongs to the module of the nearest folder on the map.
        let mut folder = folder_of(path);
        while !folder.is_empty() {
            if let Some(id) = self.by_folder.get(folder) {
                return id;
            }
            folder = folder_of(folder);
        }
        folder_of(path)
    }

    /// The folders of a module, which were its names before there was a map. A folder with the name of the
    /// module is left out.
    pub fn folders_of<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a str> {
        self.by_folder
            .iter()
            .filter(move |(folder, id)| *id == module && *folder != module)
            .map(|(folder, _)| folder.as_str())
    }

    /// The keys (texts that identify a pattern across sessions) that a pattern of a module had before there
    /// was a map.
    pub fn earlier_keys(&self, key: &PatternKey) -> Vec<PatternKey> {
        let folders = key.module().into_iter().flat_map(|it| self.folders_of(it));
        folders.filter_map(|it| key.with_module(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SignalKind;

    /// A map, given as paths with their modules.
    fn map(lines: &[(&str, &str)]) -> ModuleLookup {
        ModuleLookup::new(lines.iter().map(|it| (it.0.to_owned(), it.1.to_owned())))
    }

    #[test]
    fn a_file_belongs_to_its_module_on_the_map_or_to_its_folder() {
        let none = ModuleLookup::default();
        assert_eq!(
            (none.module_of_file("src/wire/a.rs"), none.module_of_file("a.rs")),
            ("src/wire", "")
        );
        let modules = map(&[
            ("crates/wire/src/lib.rs", "wire"),
            ("crates/wire/src/code/a.rs", "wire"),
            ("crates/wire/src/code/b.rs", "codes"),
            ("crates/wire/src/code/c.rs", "codes"),
            ("main.rs", "project"),
        ]);
        assert_eq!(modules.module_of_file("crates/wire/src/code/a.rs"), "wire");
        assert_eq!(
            modules.module_of_file("crates/wire/src/code/new.rs"),
            "codes",
            "most of its folder"
        );
        assert_eq!(
            modules.module_of_file("crates/wire/src/new/deep.rs"),
            "wire",
            "the folder around it"
        );
        assert_eq!(
            modules.module_of_file("docs/guide.md"),
            "docs",
            "no folder around it is on the map"
        );
        assert_eq!(
            (modules.module_of_file("main.rs"), modules.module_of_file("README.md")),
            ("project", "")
        );
    }

    #[test]
    fn keys_from_before_the_map_are_found_by_their_module() {
        let modules = map(&[("api/v1/a.go", "api"), ("api/v2/b.go", "api"), ("web/x.ts", "web")]);
        let keys = |signal, key: &str| {
            let keys = modules.earlier_keys(&PatternKey::from_stored(signal, key));
            keys.iter().map(PatternKey::as_str).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(keys(SignalKind::FileAccess, "api"), "api/v1, api/v2");
        assert_eq!(keys(SignalKind::Sequence, "change api"), "change api/v1, change api/v2");
        assert_eq!(keys(SignalKind::TestOrder, "api first"), "api/v1 first, api/v2 first");
        assert_eq!(keys(SignalKind::Sequence, "finish a change"), "");
        assert_eq!(keys(SignalKind::CoAccess, "api"), "");
        assert_eq!(keys(SignalKind::FileAccess, "web"), "", "it has that name already");
    }
}
