//! Python's modules: packages are folders, and what counts is where the search for them begins.

use super::script::{join, parent, within};
use super::{Found, How, Place, Resolver};
use crate::world::{Entry, FileId, Name, Want};

impl Resolver<'_> {
    pub(super) fn python_module(&self, entry: &Entry, module: &str) -> Option<Place> {
        let rest = module.trim_start_matches('.');
        let path = rest.replace('.', "/");
        let n_dots = module.len() - rest.len();
        if n_dots > 0 {
            let mut folder = entry.folder();
            for _ in 1..n_dots {
                folder = parent(folder)?;
            }
            let path = join(folder, &path)?;
            return Some(self.python_path(&path).unwrap_or_else(|| Place::Folder(path.into())));
        }
        let top = path.split('/').next().unwrap_or(&path);
        let mut at = Some(entry.folder());
        while let Some(folder) = at {
            at = parent(folder);
            // A search never begins inside a package.
            if self.lens.file(&within(folder, "__init__.py")).is_some() {
                continue;
            }
            for root in [folder.to_owned(), within(folder, "src"), within(folder, "lib")] {
                if let Some(it) = self.python_path(&within(&root, &path)) {
                    return Some(it);
                }
                if self.python_path(&within(&root, top)).is_some() {
                    return None;
                }
            }
        }
        self.elsewhere(top, &path)
    }

    /// A package that lies under none of the folders above: another part of the repository.
    fn elsewhere(&self, top: &str, path: &str) -> Option<Place> {
        let mut roots: Vec<&str> = Vec::new();
        for file in self.lens.tops(top) {
            let folder = self.lens.entry(file).folder();
            let Some(root) = parent(folder) else { continue };
            if self.lens.file(&within(root, "__init__.py")).is_none() && !roots.contains(&root) {
                roots.push(root);
            }
        }
        match roots.as_slice() {
            [root] => self.python_path(&within(root, path)),
            _ => Some(Place::External),
        }
    }

    fn python_path(&self, path: &str) -> Option<Place> {
        let file = self.lens.file(&format!("{path}.py"));
        let file = file.or_else(|| self.lens.file(&within(path, "__init__.py")));
        file.or_else(|| self.lens.file(&format!("{path}.pyi"))).map(Place::File)
    }

    pub(super) fn python_child(&self, folder: &str, name: Name) -> Found {
        match self.python_path(&within(folder, self.text(name))) {
            Some(place) => Found::Module(place),
            None => Found::Nothing,
        }
    }

    /// A name of a module as others see it.
    pub(super) fn python_member(&self, file: FileId, name: Name, want: Want) -> Found {
        self.step(Found::Nothing, || {
            let entry = self.lens.entry(file);
            if let Some(it) = entry.member(None, name, want) {
                return Found::def(file, it, How::Import);
            }
            let imported = entry.import(None, name).last();
            let found = imported.map_or(Found::Nothing, |it| {
                self.imported(file, &entry.facts.imports[it as usize], want)
            });
            found
                .or_else(|| {
                    if entry.path.ends_with("__init__.py") {
                        self.python_child(entry.folder(), name)
                    } else {
                        Found::Nothing
                    }
                })
                .or_else(|| self.python_name(file, name, want))
        })
    }

    /// What star imports bring in.
    pub(super) fn python_name(&self, file: FileId, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(file);
        for star in entry.stars(None) {
            let module = entry.name(entry.facts.imports[star as usize].module);
            let found = match self.module(file, module) {
                Some(Place::File(from)) if from != file => self.python_member(from, name, want),
                _ => Found::Nothing,
            };
            if !found.is_nothing() {
                return found.by(How::Import);
            }
        }
        Found::Nothing
    }
}
