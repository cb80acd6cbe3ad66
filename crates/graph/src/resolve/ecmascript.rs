//! Modules of TypeScript and JavaScript. An import specifier is a relative path, a path that
//! `tsconfig.json` maps, or a package of the workspace; anything else is an external package.
//! `find_export` looks up the exports of a module, through re-exports.
//!
//! `tsconfig.json` and `package.json` are files of the index. The manifest extractor stores their
//! entries as exports: `pattern → target`.
//!
//! ```text
//! import { run } from './run.js'     relative; the source of the compiled file is run.ts
//! import { cut } from '@/tools'      with "paths": { "@/*": ["src/*"] } the file src/tools.ts
//! import { go } from '@acme/core'    the package.json in the project with that name
//! import fs from 'fs'                none of these: ModuleRef::External
//! run()                              calls run.ts:run (import)
//! ```
//!
//! A [`LookupResult`] is what a name led to: `External` is known to be outside the project,
//! `NotFound` is without evidence. A [`DefQuery`] states what is wanted, a value or a type, and for
//! a call the number of arguments. A [`Term`] is an expression as the facts store it, evaluated in
//! an [`EvalContext`], its file. `depth_left` bounds chains that may be cyclic.

use super::bind::bind_term;
use super::eval::eval_value;
use super::paths::{child_path, join_path, parent_folder};
use super::{EvalContext, LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module};
use crate::facts::{DefFlags, ExportEntry, StringId, Term, TermId};
use crate::file_index::{DefQuery, IndexedFile, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// Suffixes that an import may leave off, in the order in which they are tried.
#[rustfmt::skip]
const MODULE_SUFFIXES: &[&str] = &[
    "", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs",
    "/index.ts", "/index.tsx", "/index.d.ts", "/index.js", "/index.jsx", "/index.mjs",
];

/// Suffixes of compiled files. An import names the output; the source has another suffix.
const COMPILED_SUFFIXES: &[&str] = &[".js", ".jsx", ".mjs", ".cjs"];

/// Folders that hold build output, relative to the package.
const BUILD_FOLDERS: &[&str] =
    &["dist/", "lib/", "build/", "out/", "dist/esm/", "dist/types/", "dist/prod/", "dist/dev/"];

/// The number of re-exports that are followed.
const MAX_REEXPORT_DEPTH: u32 = 16;

/// The number of `extends` of a configuration that are followed.
const MAX_CONFIG_DEPTH: u32 = 4;

/// The module of an import specifier.
pub(super) fn resolve_ecmascript_module(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    specifier: &str,
) -> Option<ModuleRef> {
    // Bundlers append options: `./icon.svg?react`. A specifier that begins with `#` is kept.
    let path = specifier.split(['?', '#']).next().filter(|it| !it.is_empty());
    let path = path.unwrap_or(specifier);
    if path.starts_with('.') {
        let path = join_path(indexed.folder(), path)?;
        return find_source_file(resolver, &path).map(ModuleRef::File);
    }
    // A configuration may redirect even the name of a package.
    let mapped = find_by_tsconfig_paths(resolver, indexed.folder(), path);
    let found = mapped.or_else(|| find_workspace_package(resolver, path));
    Some(found.map_or(ModuleRef::External, ModuleRef::File))
}

/// The source file of a path whose suffix may be missing or that of the compiled file.
fn find_source_file(resolver: &Resolver<'_>, path: &str) -> Option<FileId> {
    let compiled_stem = COMPILED_SUFFIXES.iter().find_map(|it| path.strip_suffix(it));
    // The path as written first: a compiled file may be in the project itself.
    for stem in std::iter::once(path).chain(compiled_stem) {
        for suffix in MODULE_SUFFIXES {
            if let Some(file) = resolver.view.file_at_path(&[stem, suffix].concat())
                && resolver.family(file) == LanguageFamily::EcmaScript
            {
                return Some(file);
            }
        }
    }
    None
}

/// The file of an import according to the nearest configuration in an enclosing folder.
fn find_by_tsconfig_paths(resolver: &Resolver<'_>, folder: &str, module: &str) -> Option<FileId> {
    let mut next_folder = Some(folder);
    while let Some(folder) = next_folder {
        for name in ["tsconfig.json", "jsconfig.json"] {
            if let Some(config) = resolver.view.file_at_path(&child_path(folder, name)) {
                return apply_tsconfig_paths(resolver, config, module, MAX_CONFIG_DEPTH);
            }
        }
        next_folder = parent_folder(folder);
    }
    None
}

/// The file of an import according to the `paths` and `baseUrl` of a configuration, or of one that
/// it extends.
fn apply_tsconfig_paths(
    resolver: &Resolver<'_>,
    config: FileId,
    module: &str,
    depth_left: u32,
) -> Option<FileId> {
    let indexed = resolver.view.file(config);
    // The extractor stores `baseUrl` and the entries of `paths` in one list.
    let settings: Vec<(&str, &str)> = manifest_entries(resolver, indexed).collect();
    let base_url = settings.iter().find(|(key, _)| *key == "baseUrl").map(|(_, value)| *value);
    let root = join_path(indexed.folder(), base_url.unwrap_or("."))?;
    // 1. The entries of `paths`: `"@/*": ["src/*"]`.
    let mut has_paths = false;
    for (pattern, target) in settings {
        if pattern == "baseUrl" {
            continue;
        }
        has_paths = true;
        let Some(target) = expand_pattern(pattern, target, module) else { continue };
        let path = join_path(&root, &target);
        if let Some(file) = path.and_then(|it| find_source_file(resolver, &it)) {
            return Some(file);
        }
    }
    // 2. With a `baseUrl`, every path may be relative to it.
    if base_url.is_some()
        && let Some(path) = join_path(&root, module)
        && let Some(file) = find_source_file(resolver, &path)
    {
        return Some(file);
    }
    // 3. The extended configurations, unless `paths` replaces the inherited `paths` as a whole.
    if has_paths || depth_left == 0 {
        return None;
    }
    // The extractor stores `extends` as an import.
    for import in &indexed.facts.imports {
        let extended = resolver.string_text(indexed, import.module);
        // Other values name a configuration in an external package.
        if !extended.starts_with('.') {
            continue;
        }
        let Some(path) = join_path(indexed.folder(), extended) else { continue };
        let file = resolver.view.file_at_path(&path);
        let file = file.or_else(|| resolver.view.file_at_path(&format!("{path}.json")));
        let found = file.and_then(|it| apply_tsconfig_paths(resolver, it, module, depth_left - 1));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The key-value pairs that the manifest extractor stored as exports.
fn manifest_entries<'w>(
    resolver: &Resolver<'w>,
    manifest: &IndexedFile,
) -> impl Iterator<Item = (&'w str, &'w str)> {
    let text = |it: StringId| resolver.string_text(manifest, it);
    manifest.facts.exports.iter().filter_map(move |it| match it {
        ExportEntry::ModuleAs { name, module } => Some((text(*name), text(*module))),
        _ => None,
    })
}

/// The target of a path if it matches the pattern; a `*` stands for any text in both.
fn expand_pattern(pattern: &str, target: &str, path: &str) -> Option<String> {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = path.strip_prefix(before)?.strip_suffix(after)?;
            Some(target.replacen('*', rest, 1))
        }
        None => (pattern == path).then(|| target.to_owned()),
    }
}

/// The file of an import from a package of the project: `name` or `name/path`.
fn find_workspace_package(resolver: &Resolver<'_>, module: &str) -> Option<FileId> {
    // A scoped name contains one slash itself: `@scope/name`.
    let slashes_in_name = usize::from(module.starts_with('@'));
    let (name, subpath) = match module.match_indices('/').nth(slashes_in_name) {
        Some((end, _)) => (&module[..end], &module[end + 1..]),
        None => (module, ""),
    };
    for manifest in resolver.view.package_manifests(name) {
        let indexed = resolver.view.file(manifest);
        // A manifest of another language may have the same package name.
        if indexed.path.ends_with("package.json")
            && let Some(file) = package_entry_point(resolver, indexed, subpath)
        {
            return Some(file);
        }
    }
    None
}

/// The source file that a package exports under a subpath; the empty subpath is the package itself.
fn package_entry_point(
    resolver: &Resolver<'_>,
    manifest: &IndexedFile,
    subpath: &str,
) -> Option<FileId> {
    let exported_path = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
    for (pattern, target) in manifest_entries(resolver, manifest) {
        let Some(target) = expand_pattern(pattern, target, &exported_path) else { continue };
        if let Some(file) = source_of_build_output(resolver, manifest.folder(), &target) {
            return Some(file);
        }
    }
    // Without a matching entry in the manifest, conventions apply.
    let conventional = if subpath.is_empty() {
        vec!["src/index".to_owned(), "index".to_owned(), "src/main".to_owned()]
    } else {
        vec![subpath.to_owned(), format!("src/{subpath}")]
    };
    let folder = manifest.folder();
    conventional.iter().find_map(|it| find_source_file(resolver, &join_path(folder, it)?))
}

/// The source of a file that may exist only after a build: `dist/index.js` is `src/index.ts`.
fn source_of_build_output(resolver: &Resolver<'_>, folder: &str, target: &str) -> Option<FileId> {
    if let Some(file) = find_source_file(resolver, &join_path(folder, target)?) {
        return Some(file);
    }
    let target = target.trim_start_matches("./");
    for build_folder in BUILD_FOLDERS {
        let Some(rest) = target.strip_prefix(build_folder) else { continue };
        let stem = rest
            .strip_suffix(".d.ts")
            .or_else(|| COMPILED_SUFFIXES.iter().find_map(|it| rest.strip_suffix(it)));
        let stem = stem.unwrap_or(rest);
        for source_folder in ["src/", ""] {
            let path = join_path(folder, &format!("{source_folder}{stem}"))?;
            if let Some(file) = find_source_file(resolver, &path) {
                return Some(file);
            }
        }
    }
    None
}

/// Looks up an export of a module.
pub(super) fn find_export(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    find_export_bounded(resolver, file, (name, query), MAX_REEXPORT_DEPTH, &mut Vec::new())
}

/// Looks up an export: definitions first, then export lists, then `export *`. `visited` holds the
/// modules whose `export *` are being searched: modules may re-export one another in a cycle.
fn find_export_bounded(
    resolver: &Resolver<'_>,
    file: FileId,
    (name, query): (NameId, DefQuery),
    depth_left: u32,
    visited: &mut Vec<FileId>,
) -> LookupResult {
    if depth_left == 0 || visited.contains(&file) {
        return LookupResult::NotFound;
    }
    let indexed = resolver.view.file(file);
    let facts = &indexed.facts;
    // 1. `export function name() {}`
    let named = indexed.defs_named(None, name);
    let exported = named.filter(|it| facts.def(*it).flags.has(DefFlags::EXPORTED));
    if let Some(def) = indexed.select_best(exported, query) {
        return LookupResult::from_def(file, def, ResolutionKind::Import);
    }
    // 2. `export { name }`, `export { name } from './other'`
    for export in indexed.exports_named(name) {
        let found = resolve_export_entry(resolver, file, export, query, depth_left);
        if !found.is_not_found() {
            return found;
        }
    }
    // 3. `export * from './other'`
    visited.push(file);
    let mut has_external = false;
    for export in &facts.exports {
        let ExportEntry::Star { module } = export else { continue };
        match resolve_module(resolver, file, indexed.name_id(*module)) {
            Some(ModuleRef::File(from)) => {
                let wanted = (name, query);
                let found = find_export_bounded(resolver, from, wanted, depth_left - 1, visited);
                if !found.is_not_found() {
                    return found;
                }
            }
            Some(ModuleRef::External) => has_external = true,
            // A path that leads to no file, or to no module of this language.
            _ => {}
        }
    }
    // A module that re-exports a library may have any export.
    if has_external { LookupResult::External } else { LookupResult::NotFound }
}

/// The target of one entry of an export list.
fn resolve_export_entry(
    resolver: &Resolver<'_>,
    file: FileId,
    export: &ExportEntry,
    query: DefQuery,
    depth_left: u32,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    match export {
        ExportEntry::Local { term, .. } => {
            bind_term(resolver, &EvalContext::of_file(file), *term, query)
                .or_else(|| find_exported_type(resolver, file, *term, query))
        }
        ExportEntry::From { module, item, .. } => {
            match resolve_module(resolver, file, indexed.name_id(*module)) {
                Some(ModuleRef::File(from)) => {
                    let wanted = (indexed.name_id(*item), query);
                    // A new list: under another name the same module may be searched again.
                    find_export_bounded(resolver, from, wanted, depth_left - 1, &mut Vec::new())
                }
                Some(ModuleRef::External) => LookupResult::External,
                _ => LookupResult::NotFound,
            }
        }
        ExportEntry::ModuleAs { module, .. } => {
            let module = resolve_module(resolver, file, indexed.name_id(*module));
            module.map_or(LookupResult::NotFound, LookupResult::Module)
        }
        // Has no name; `find_export_bounded` searches it after the named entries.
        ExportEntry::Star { .. } => LookupResult::NotFound,
    }
}

/// The target of `export { Name }` if only a type has the name. The extractor binds the term as a
/// value, so a type is left as a free name. An expression, as in `export default f()`, is evaluated.
fn find_exported_type(
    resolver: &Resolver<'_>,
    file: FileId,
    term: TermId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let Term::Name(name) = indexed.facts.term(term) else {
        return LookupResult::Value(eval_value(resolver, &EvalContext::of_file(file), term));
    };
    match indexed.best_def_named(None, indexed.name_id(name), query) {
        Some(def) => LookupResult::from_def(file, def, ResolutionKind::Import),
        None => LookupResult::NotFound,
    }
}
