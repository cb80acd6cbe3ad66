//! Which module a file is of: by the project's map where there is one, else by its folder.
//!
//! A map may come later than the first sessions, and files later than the map. So the names that folders
//! would have had are known as other names of a module, and a new file is of the module around it.

use std::collections::{BTreeMap, HashMap};

use crate::sighting::{Evidence, Sighting, module_of};
use crate::signal::sequence::{CHANGE, EDIT};
use model::SignalKind;

/// The modules of a project; empty where it has no map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    by_file: HashMap<String, String>,
    /// The module that most files of a folder are of.
    by_folder: BTreeMap<String, String>,
}

impl Modules {
    /// A map: files, each with the id of its module.
    pub fn new(members: impl IntoIterator<Item = (String, String)>) -> Self {
        let by_file: HashMap<String, String> = members.into_iter().collect();
        let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for (path, id) in &by_file {
            *counts.entry((module_of(path), id)).or_default() += 1;
        }
        let mut most: BTreeMap<String, (u32, String)> = BTreeMap::new();
        for ((folder, id), n) in counts {
            let best = most.entry(folder.to_owned()).or_default();
            if n > best.0 {
                *best = (n, id.to_owned());
            }
        }
        // The root holds what is of no module as well: what is not on the map there stays of none.
        most.remove("");
        let by_folder = most.into_iter().map(|(folder, it)| (folder, it.1)).collect();
        Self { by_file, by_folder }
    }

    /// The module of a file: its id on the map, else its folder, empty at the root.
    pub fn of<'a>(&'a self, path: &'a str) -> &'a str {
        if let Some(id) = self.by_file.get(path) {
            return id;
        }
        let mut folder = module_of(path);
        while !folder.is_empty() {
            if let Some(id) = self.by_folder.get(folder) {
                return id;
            }
            folder = module_of(folder);
        }
        module_of(path)
    }

    /// What is called so, for people.
    pub fn noun(&self, module: &str) -> &'static str {
        if self.by_folder.values().any(|it| it == module) { "module" } else { "folder" }
    }

    /// The folders of a module: what it was called before there was a map.
    pub fn folders<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a str> {
        self.by_folder
            .iter()
            .filter(move |it| it.1 == module && it.0 != module)
            .map(|it| it.0.as_str())
    }

    /// The keys under which a pattern of a module was seen before there was a map.
    pub fn earlier_keys(&self, signal: SignalKind, key: &str) -> Vec<String> {
        let around = |module: &str, before: &str, after: &str| {
            self.folders(module).map(|it| format!("{before}{it}{after}")).collect()
        };
        match signal {
            SignalKind::FileAccess | SignalKind::StepOverrun => around(key, "", ""),
            SignalKind::Sequence => match key.strip_prefix(CHANGE) {
                Some(module) => around(module, CHANGE, ""),
                None => Vec::new(),
            },
            SignalKind::TestOrder => match key.rsplit_once(' ') {
                Some((module, order)) => around(module, "", &format!(" {order}")),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Steps that name folders, with the modules of these folders instead.
    pub fn renamed(&self, mut evidence: Evidence) -> Evidence {
        let mut steps: Vec<String> = Vec::new();
        for step in evidence.steps {
            let module = step.strip_prefix(EDIT).and_then(|it| self.by_folder.get(it));
            let step = module.map(|it| format!("{EDIT}{it}")).unwrap_or(step);
            if !(step.starts_with(EDIT) && steps.contains(&step)) {
                steps.push(step);
            }
        }
        evidence.steps = steps;
        evidence
    }
}

impl Sighting {
    /// Whether its key is made of a module.
    pub fn is_of_module(&self) -> bool {
        match self.signal {
            SignalKind::FileAccess | SignalKind::StepOverrun | SignalKind::TestOrder => true,
            SignalKind::Sequence => self.key.starts_with(CHANGE),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&str, &str)]) -> Modules {
        Modules::new(lines.iter().map(|it| (it.0.to_owned(), it.1.to_owned())))
    }

    #[test]
    fn a_file_is_of_the_module_on_the_map_or_of_its_folder() {
        let none = Modules::default();
        assert_eq!((none.of("src/wire/a.rs"), none.of("a.rs")), ("src/wire", ""));
        assert_eq!(none.noun("src/wire"), "folder");
        let modules = map(&[
            ("crates/wire/src/lib.rs", "wire"),
            ("crates/wire/src/code/a.rs", "wire"),
            ("crates/wire/src/code/b.rs", "codes"),
            ("crates/wire/src/code/c.rs", "codes"),
            ("main.rs", "project"),
        ]);
        assert_eq!(modules.of("crates/wire/src/code/a.rs"), "wire");
        assert_eq!(modules.of("crates/wire/src/code/new.rs"), "codes", "most of its folder");
        assert_eq!(modules.of("crates/wire/src/new/deep.rs"), "wire", "the folder around it");
        assert_eq!(modules.of("docs/guide.md"), "docs", "nothing around it is on the map");
        assert_eq!((modules.of("main.rs"), modules.of("README.md")), ("project", ""));
        assert_eq!((modules.noun("wire"), modules.noun("docs")), ("module", "folder"));
    }

    #[test]
    fn what_was_seen_before_there_was_a_map_is_known_under_its_module() {
        let modules = map(&[("api/v1/a.go", "api"), ("api/v2/b.go", "api"), ("web/x.ts", "web")]);
        let keys = |signal, key: &str| modules.earlier_keys(signal, key).join(", ");
        assert_eq!(keys(SignalKind::FileAccess, "api"), "api/v1, api/v2");
        assert_eq!(keys(SignalKind::Sequence, "change api"), "change api/v1, change api/v2");
        assert_eq!(keys(SignalKind::TestOrder, "api first"), "api/v1 first, api/v2 first");
        assert_eq!(keys(SignalKind::Sequence, "finish a change"), "");
        assert_eq!(keys(SignalKind::CoAccess, "api"), "");
        assert_eq!(keys(SignalKind::FileAccess, "web"), "", "it is called so already");
        let steps = ["edit api/v1", "edit api/v2", "edit web", "go test", "git commit"];
        let steps: Vec<String> = steps.iter().map(|it| (*it).to_owned()).collect();
        let renamed = modules.renamed(Evidence { steps, ..Evidence::default() });
        assert_eq!(renamed.steps.join(", "), "edit api, edit web, go test, git commit");
    }
}
