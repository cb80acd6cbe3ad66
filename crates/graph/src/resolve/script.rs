//! Modules of TypeScript and JavaScript: relative paths, `paths` of a configuration, packages of the
//! workspace; and what a module hands out.

use super::{Found, Here, How, Place, Resolver};
use crate::facts::Export;
use crate::world::{Entry, FileId, Name, Want};

/// What may be left off a path, in the order of trying.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs",
    "/index.ts", "/index.tsx", "/index.d.ts", "/index.js", "/index.jsx", "/index.mjs",
];

/// Endings that the compiler will have written; the source has another.
const WRITTEN: &[&str] = &[".js", ".jsx", ".mjs", ".cjs"];

/// Folders that a build fills, and where its sources usually lie.
const BUILT: &[&str] =
    &["dist/", "lib/", "build/", "out/", "dist/esm/", "dist/types/", "dist/prod/", "dist/dev/"];

const MAX_EXPORTS: u32 = 16;

impl Resolver<'_> {
    pub(super) fn script_module(&self, entry: &Entry, module: &str) -> Option<Place> {
        let module = module.split(['?', '#']).next().filter(|it| !it.is_empty()).unwrap_or(module);
        if module.starts_with('.') {
            return self.script_file(&join(entry.folder(), module)?).map(Place::File);
        }
        let mapped = self.mapped(entry.folder(), module);
        let found = mapped.or_else(|| self.package_file(module));
        Some(found.map_or(Place::External, Place::File))
    }

    /// The file that a path without its ending means.
    fn script_file(&self, path: &str) -> Option<FileId> {
        let written = WRITTEN.iter().find_map(|it| path.strip_suffix(it));
        let stems = std::iter::once(path).chain(written);
        for stem in stems {
            for ending in ENDINGS {
                if let Some(it) = self.lens.file(&[stem, ending].concat()) {
                    let is_script =
                        self.lens.entry(it).facts.lang.family() == crate::lang::Family::Script;
                    if is_script {
                        return Some(it);
                    }
                }
            }
        }
        None
    }

    /// Through the `paths` of the nearest configuration above.
    fn mapped(&self, folder: &str, module: &str) -> Option<FileId> {
        let mut at = Some(folder);
        while let Some(folder) = at {
            for name in ["tsconfig.json", "jsconfig.json"] {
                if let Some(config) = self.lens.file(&within(folder, name)) {
                    return self.mapped_by(config, module, 4);
                }
            }
            at = parent(folder);
        }
        None
    }

    fn mapped_by(&self, config: FileId, module: &str, left: u32) -> Option<FileId> {
        let entry = self.lens.entry(config);
        let facts = &entry.facts;
        let said = facts.exports.iter().filter_map(|it| match it {
            Export::ModuleAs { name, module } => {
                Some((self.word(entry, *name), self.word(entry, *module)))
            }
            _ => None,
        });
        let base = said.clone().find(|it| it.0 == "baseUrl").map(|it| it.1);
        let root = join(entry.folder(), base.unwrap_or("."))?;
        let mut n_paths = 0;
        for (pattern, target) in said.filter(|it| it.0 != "baseUrl") {
            n_paths += 1;
            let target = match pattern.split_once('*') {
                Some((before, after)) => {
                    let rest = module.strip_prefix(before).and_then(|it| it.strip_suffix(after));
                    let Some(rest) = rest else { continue };
                    target.replacen('*', rest, 1)
                }
                None if pattern == module => target.to_owned(),
                None => continue,
            };
            if let Some(it) = join(&root, &target).and_then(|it| self.script_file(&it)) {
                return Some(it);
            }
        }
        if base.is_some()
            && let Some(it) = join(&root, module).and_then(|it| self.script_file(&it))
        {
            return Some(it);
        }
        if n_paths > 0 || left == 0 {
            return None;
        }
        facts.imports.iter().find_map(|it| {
            let path = self.word(entry, it.module);
            let path = join(entry.folder(), path).filter(|_| path.starts_with('.'))?;
            let parent =
                self.lens.file(&path).or_else(|| self.lens.file(&format!("{path}.json")))?;
            self.mapped_by(parent, module, left - 1)
        })
    }

    /// A package of this repository: `name` or `name/path`.
    fn package_file(&self, module: &str) -> Option<FileId> {
        let end =
            module.match_indices('/').nth(usize::from(module.starts_with('@'))).map(|it| it.0);
        let (name, rest) = end.map_or((module, ""), |it| (&module[..it], &module[it + 1..]));
        for manifest in self.lens.packages(name) {
            let entry = self.lens.entry(manifest);
            if !entry.path.ends_with("package.json") {
                continue;
            }
            let found = self.entry_point(entry, rest);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn entry_point(&self, entry: &Entry, rest: &str) -> Option<FileId> {
        let facts = &entry.facts;
        let wanted = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        let said = facts.exports.iter().filter_map(|it| match it {
            Export::ModuleAs { name, module } => {
                Some((self.word(entry, *name), self.word(entry, *module)))
            }
            _ => None,
        });
        for (pattern, target) in said {
            let target = match pattern.split_once('*') {
                Some((before, after)) => {
                    let rest = wanted.strip_prefix(before).and_then(|it| it.strip_suffix(after));
                    let Some(rest) = rest else { continue };
                    target.replacen('*', rest, 1)
                }
                None if pattern == wanted => target.to_owned(),
                None => continue,
            };
            if let Some(it) = self.source_of(entry.folder(), &target) {
                return Some(it);
            }
        }
        let places = if rest.is_empty() {
            vec!["src/index".to_owned(), "index".to_owned(), "src/main".to_owned()]
        } else {
            vec![rest.to_owned(), format!("src/{rest}")]
        };
        places.iter().find_map(|it| self.script_file(&join(entry.folder(), it)?))
    }

    /// The source of something that may only be there after a build.
    fn source_of(&self, folder: &str, target: &str) -> Option<FileId> {
        let plain = join(folder, target)?;
        if let Some(it) = self.script_file(&plain) {
            return Some(it);
        }
        let target = target.trim_start_matches("./");
        for built in BUILT {
            let Some(rest) = target.strip_prefix(built) else { continue };
            let stem = rest
                .strip_suffix(".d.ts")
                .or_else(|| WRITTEN.iter().find_map(|it| rest.strip_suffix(it)));
            let stem = stem.unwrap_or(rest);
            for source in ["src/", ""] {
                if let Some(it) = self.script_file(&join(folder, &format!("{source}{stem}"))?) {
                    return Some(it);
                }
            }
        }
        None
    }

    /// What a module hands out under a name.
    pub(super) fn export_of(&self, file: FileId, name: Name, want: Want) -> Found {
        self.export_within(file, name, want, MAX_EXPORTS, &mut Vec::new())
    }

    fn export_within(
        &self,
        file: FileId,
        name: Name,
        want: Want,
        left: u32,
        seen: &mut Vec<FileId>,
    ) -> Found {
        if left == 0 || seen.contains(&file) {
            return Found::Nothing;
        }
        let entry = self.lens.entry(file);
        let facts = &entry.facts;
        let own = entry
            .named(None, name)
            .filter(|it| facts.defs[*it as usize].flags.has(crate::facts::Flags::EXPORTED));
        if let Some(it) = entry.best(own, want) {
            return Found::def(file, it, How::Import);
        }
        for export in entry.export(name) {
            let found = match export {
                Export::Local { term, .. } => {
                    let here = Here { file, env: None };
                    let found = self.bind(&here, *term, want);
                    let is_named = !found.is_nothing();
                    if is_named { found } else { self.exported_type(file, *term, want) }
                }
                Export::From { module, item, .. } => match self.module(file, entry.name(*module)) {
                    Some(Place::File(from)) => {
                        self.export_within(from, entry.name(*item), want, left - 1, &mut Vec::new())
                    }
                    Some(Place::External) => Found::External,
                    _ => Found::Nothing,
                },
                Export::ModuleAs { module, .. } => match self.module(file, entry.name(*module)) {
                    Some(place) => Found::Module(place),
                    None => Found::Nothing,
                },
                Export::Star { .. } => Found::Nothing,
            };
            if !found.is_nothing() {
                return found;
            }
        }
        seen.push(file);
        let mut external = false;
        for export in &facts.exports {
            let Export::Star { module } = export else { continue };
            match self.module(file, entry.name(*module)) {
                Some(Place::File(from)) => {
                    let found = self.export_within(from, name, want, left - 1, seen);
                    if !found.is_nothing() {
                        return found;
                    }
                }
                Some(Place::External) => external = true,
                _ => {}
            }
        }
        if external { Found::External } else { Found::Nothing }
    }

    /// `export { Name }` where only a type has that name: the term was bound as a value.
    fn exported_type(&self, file: FileId, term: u32, want: Want) -> Found {
        let entry = self.lens.entry(file);
        let name = match entry.facts.terms[term as usize] {
            crate::facts::Term::Name(it) => entry.name(it),
            _ => return Found::Value(self.eval(&Here { file, env: None }, term, false)),
        };
        match entry.member(None, name, want) {
            Some(it) => Found::def(file, it, How::Import),
            None => Found::Nothing,
        }
    }
}

/// A path from a folder, without leaving the repository.
pub(super) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

pub(super) fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { [folder, "/", name].concat() }
}

/// The folder above; that of the outermost is the root, which is empty.
pub(super) fn parent(folder: &str) -> Option<&str> {
    if folder.is_empty() { None } else { Some(folder.rsplit_once('/').map_or("", |it| it.0)) }
}
