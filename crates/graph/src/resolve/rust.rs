//! Rust's modules: a tree of files below each crate's root, and crates by the names of their packages.

use super::script::{join, parent, within};
use super::{Found, How, Place, Resolver, Value};
use crate::facts::{DefKind, Export, ImportKind};
use crate::world::{DefRef, Entry, FileId, MACROS, Name, Want};

impl Resolver<'_> {
    /// The module of a path as an import writes it, seen from the file's own module.
    pub(super) fn rust_module(&self, entry: &Entry, path: &str) -> Option<Place> {
        if let Some(child) = path.strip_prefix("mod:") {
            return self.rust_child(entry, child).map(Place::File);
        }
        if let Some(given) = path.strip_prefix("path:") {
            return self.lens.file(&join(entry.folder(), given)?).map(Place::File);
        }
        let mut parts = path.split("::").filter(|it| !it.is_empty());
        let first = parts.next().unwrap_or("self");
        let mut at = self.rust_start(entry.id, first)?;
        for part in parts {
            if at == Place::External {
                return Some(at);
            }
            at = self.rust_step(&at, part)?;
        }
        Some(at)
    }

    fn rust_start(&self, file: FileId, first: &str) -> Option<Place> {
        match first {
            "crate" => Some(Place::File(self.crate_root(file))),
            "self" => Some(Place::File(file)),
            "super" => self.rust_parent(file).map(Place::File),
            _ => {
                let found = match self.lens.world.names.get(first) {
                    Some(name) => self.rust_name(file, None, name, Want::TYPE),
                    None => Found::Nothing,
                };
                match found {
                    Found::Nothing => Some(Place::External),
                    found => Self::as_place(found),
                }
            }
        }
    }

    fn rust_step(&self, at: &Place, part: &str) -> Option<Place> {
        match (part, at) {
            ("super", Place::File(file)) => self.rust_parent(*file).map(Place::File),
            ("super", Place::Def(def)) => {
                let above = self.lens.entry(def.file).facts.defs[def.def as usize].parent;
                Some(above.map_or(Place::File(def.file), |it| {
                    Place::Def(DefRef { file: def.file, def: it })
                }))
            }
            ("self", at) => Some(at.clone()),
            _ => {
                let name = self.lens.world.names.get(part)?;
                Self::as_place(self.module_member(at, name, Want::TYPE))
            }
        }
    }

    /// Types hold names, too: the variants of an enum.
    fn as_place(found: Found) -> Option<Place> {
        match found {
            Found::Module(place) => Some(place),
            Found::External => Some(Place::External),
            Found::Def(def, ..) => Some(Place::Def(def)),
            Found::Value(Value::Module(place)) => Some(place),
            _ => None,
        }
    }

    /// A bare name: what the module holds, else a crate.
    pub(super) fn rust_name(
        &self,
        file: FileId,
        within: Option<u32>,
        name: Name,
        want: Want,
    ) -> Found {
        match self.text(name) {
            "crate" => return Found::Module(Place::File(self.crate_root(file))),
            "self" => {
                return Found::Module(
                    within.map_or(Place::File(file), |def| Place::Def(DefRef { file, def })),
                );
            }
            "super" => {
                let above = match within {
                    Some(def) => self.rust_step(&Place::Def(DefRef { file, def }), "super"),
                    None => self.rust_parent(file).map(Place::File),
                };
                return above.map_or(Found::Nothing, Found::Module);
            }
            _ => {}
        }
        self.rust_member(file, within, name, want).or_else(|| self.crate_named(file, name))
    }

    pub(super) fn rust_member(
        &self,
        file: FileId,
        within: Option<u32>,
        name: Name,
        want: Want,
    ) -> Found {
        self.step(Found::Nothing, || {
            let entry = self.lens.entry(file);
            if let Some(it) = entry.member(within, name, want) {
                return Found::def(file, it, How::Import);
            }
            if let Some(def) = within
                && entry.facts.defs[def as usize].kind.is_type()
            {
                let of = Value::Type(DefRef { file, def }, None);
                return self.member(&of, name, want, How::Member);
            }
            let mut module = Found::Nothing;
            for import in entry.import(within, name) {
                let found = self.imported(file, &entry.facts.imports[import as usize], want);
                match found {
                    Found::Nothing => {}
                    // A function may bear the name of the module it comes from.
                    Found::Module(_) if want.is_called() => module = module.or_else(|| found),
                    found => return found,
                }
            }
            if !module.is_nothing() {
                return module;
            }
            for star in entry.stars(within) {
                let module = entry.name(entry.facts.imports[star as usize].module);
                let found = match self.module(file, module) {
                    Some(place)
                        if place != Place::External && place != Place::File(file)
                            || within.is_some() =>
                    {
                        self.module_member(&place, name, want)
                    }
                    _ => Found::Nothing,
                };
                if !matches!(found, Found::Nothing | Found::External) {
                    return found;
                }
            }
            if want == Want::VALUE { self.rust_macro(file, name) } else { Found::Nothing }
        })
    }

    /// A macro of the crate that a file is in. All of the crate sees it, wherever it stands, and others see
    /// it at the crate's root if it is exported. Of several files that have one, nobody knows which is meant.
    fn rust_macro(&self, file: FileId, name: Name) -> Found {
        let found = self.lens.open(MACROS, name);
        if found.is_empty() {
            return Found::Nothing;
        }
        let root = self.crate_root(file);
        let mut own = found.into_iter().filter(|it| self.crate_root(it.file) == root);
        match (own.next(), own.next()) {
            (Some(first), other) if other.is_none_or(|it| it.file == first.file) => {
                Found::def(first.file, first.def, How::Import)
            }
            _ => Found::Nothing,
        }
    }

    /// A method that a type has not itself: the only trait that the file imports and that has it, as
    /// extensions are implemented for whatever implements something else.
    pub(super) fn rust_extension(&self, file: FileId, of: &Value, name: Name, want: Want) -> Found {
        if !matches!(of, Value::Object(..)) {
            return Found::Nothing;
        }
        let entry = self.lens.entry(file);
        let mut res: Option<DefRef> = None;
        for import in entry.facts.imports.iter().filter(|it| it.kind == ImportKind::Named) {
            if !self.word(entry, import.item).starts_with(char::is_uppercase) {
                continue;
            }
            let Found::Def(at, ..) = self.imported(file, import, Want::TYPE) else { continue };
            let other = self.lens.entry(at.file);
            if other.facts.defs[at.def as usize].kind != DefKind::Interface {
                continue;
            }
            let Some(def) = other.member(Some(at.def), name, want) else { continue };
            let found = DefRef { file: at.file, def };
            if res.is_some_and(|it| it != found) {
                return Found::Nothing;
            }
            res = Some(found);
        }
        res.map_or(Found::Nothing, |it| Found::def(it.file, it.def, How::Type))
    }

    /// A crate of this repository, under its own name or the one a manifest gives it.
    fn crate_named(&self, file: FileId, name: Name) -> Found {
        let text = self.text(name);
        let mut package = text.to_owned();
        let mut at = Some(self.lens.entry(file).folder());
        while let Some(folder) = at {
            if let Some(manifest) = self.lens.file(&within(folder, "Cargo.toml")) {
                let entry = self.lens.entry(manifest);
                let renamed = entry.facts.exports.iter().find_map(|it| match it {
                    Export::ModuleAs { name, module } if self.word(entry, *name) == text => {
                        Some(self.word(entry, *module))
                    }
                    _ => None,
                });
                if let Some(renamed) = renamed {
                    renamed.clone_into(&mut package);
                    break;
                }
            }
            at = parent(folder);
        }
        for manifest in self.lens.packages(&package) {
            let entry = self.lens.entry(manifest);
            if !entry.path.ends_with("Cargo.toml") {
                continue;
            }
            let said = entry.facts.exports.iter().find_map(|it| match it {
                Export::ModuleAs { name, module } if self.word(entry, *name) == "path" => {
                    Some(self.word(entry, *module))
                }
                _ => None,
            });
            let root = join(entry.folder(), said.unwrap_or("src/lib.rs"));
            if let Some(root) = root.and_then(|it| self.lens.file(&it)) {
                return Found::Module(Place::File(root));
            }
        }
        Found::Nothing
    }

    /// The file of a module that `entry` declares.
    fn rust_child(&self, entry: &Entry, name: &str) -> Option<FileId> {
        let (folder, stem) = (entry.folder(), stem(&entry.path));
        let own = within(folder, stem);
        let is_root = matches!(stem, "lib" | "main" | "mod");
        let folders = if is_root { vec![folder.to_owned()] } else { vec![own, folder.to_owned()] };
        folders.iter().find_map(|folder| {
            let plain = self.lens.file(&within(folder, &format!("{name}.rs")));
            plain.or_else(|| self.lens.file(&within(folder, &format!("{name}/mod.rs"))))
        })
    }

    /// The file whose module holds this one.
    fn rust_parent(&self, file: FileId) -> Option<FileId> {
        let entry = self.lens.entry(file);
        let (folder, name) = match stem(&entry.path) {
            "lib" | "main" | "build" => return None,
            "mod" => {
                let folder = entry.folder();
                (parent(folder)?, folder.rsplit('/').next()?)
            }
            stem => (entry.folder(), stem),
        };
        let mut places: Vec<String> =
            ["lib.rs", "main.rs", "mod.rs"].iter().map(|it| within(folder, it)).collect();
        if !folder.is_empty() {
            places.push(format!("{folder}.rs"));
        }
        places.iter().filter_map(|it| self.lens.file(it)).find(|it| {
            let entry = self.lens.entry(*it);
            entry
                .facts
                .imports
                .iter()
                .any(|it| it.kind == ImportKind::Child && self.word(entry, it.local) == name)
        })
    }

    fn crate_root(&self, file: FileId) -> FileId {
        let mut at = file;
        for _ in 0..32 {
            match self.rust_parent(at) {
                Some(above) if above != at => at = above,
                _ => break,
            }
        }
        at
    }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".rs").unwrap_or(name)
}
