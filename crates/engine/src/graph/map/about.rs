//! What modules say about themselves: in a manifest, in a README, in the file one enters by.

use std::collections::BTreeSet;
use std::path::Path;

use ::graph::{Module, described, descriptions_in};

/// Files that lead into a module and may say what it is for, best first.
const SPEAKERS: &[&str] = &["README.md", "README.rst", "readme.md", "Readme.md"];

/// Files of a module that may say what it is for, best first.
const OWN: &[&str] = &["src/lib.rs", "src/main.rs", "lib.rs", "mod.rs", "__init__.py", "doc.go"];

/// Describes modules. What is said of the project as a whole is said of its main module only, and nothing
/// is said twice: of two that say the same, the one further outside does. `texts` are the manifests.
pub(super) fn describe(
    modules: &mut [Module],
    project: Option<&str>,
    root: &Path,
    texts: &[(String, String)],
) {
    let whole = said_in("", root, texts);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|it| modules[*it].root.len());
    let is_main = |it: &Module| {
        it.root.is_empty() || project.is_some_and(|project| it.name.eq_ignore_ascii_case(project))
    };
    let main = order.iter().copied().find(|it| is_main(&modules[*it]));
    for at in order {
        let module = &modules[at];
        let is_main = main == Some(at);
        let mut found = descriptions(root, module, texts);
        if is_main {
            found.extend(whole.iter().cloned());
        } else {
            found.retain(|it| !whole.contains(it));
        }
        let first = found.into_iter().find(|it| !said.contains(it)).unwrap_or_default();
        said.insert(first.clone());
        modules[at].description = first;
    }
}

fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// What the manifests and the README of a folder say.
fn said_in(folder: &str, root: &Path, texts: &[(String, String)]) -> Vec<String> {
    let stated = texts.iter().filter_map(|(path, text)| {
        let name = path.rsplit('/').next()?;
        (*path == inside(folder, name)).then(|| described(name, text))?
    });
    let read = SPEAKERS.iter().flat_map(|it| read(root, &inside(folder, it)));
    stated.chain(read).collect()
}

/// All that a module says about itself, best first.
fn descriptions(root: &Path, module: &Module, texts: &[(String, String)]) -> Vec<String> {
    let folder = module.root.as_str();
    let mut res = said_in(folder, root, texts);
    let n_stated = res.len();
    let own = OWN.iter().map(|it| inside(folder, it));
    let beside = format!("{folder}.rs");
    // A door with a name of its own speaks of itself.
    let speaks = |it: &&String| {
        let stem = it.rsplit('/').next().and_then(|it| it.split('.').next()).unwrap_or_default();
        let is_namesake = folder.rsplit('/').next().is_some_and(|it| it.eq_ignore_ascii_case(stem));
        is_namesake
            || matches!(stem, "index" | "main" | "lib" | "mod" | "__init__" | "cli" | "server")
    };
    let doors = module.entries.iter().filter(speaks).cloned();
    res.extend(own.chain([beside]).chain(doors).flat_map(|it| read(root, &it)));
    if res.len() == n_stated {
        res.extend(of_package(root, module));
    }
    if let ([only], true) = (module.files.as_slice(), res.is_empty()) {
        res.extend(read(root, only));
    }
    res
}

fn read(root: &Path, path: &str) -> Vec<String> {
    source::glance(root, path).map(|it| descriptions_in(path, &it)).unwrap_or_default()
}

/// In Java one file says what a package is for; in Go any of its files may.
fn of_package(root: &Path, module: &Module) -> Option<String> {
    let named = |it: &&String| it.rsplit('/').next() == Some("package-info.java");
    let note = module.files.iter().filter(named).min_by_key(|it| it.matches('/').count());
    if let Some(note) = note {
        return read(root, note).into_iter().next();
    }
    let depth = module.root.matches('/').count() + usize::from(!module.root.is_empty());
    let own = module
        .files
        .iter()
        .filter(|it| model::words::extension(it) == Some("go") && it.matches('/').count() == depth);
    own.take(40).find_map(|it| {
        let text = source::glance(root, it)?;
        text.contains("// Package ").then(|| descriptions_in(it, &text).into_iter().next())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, root: &str, files: &[&str]) -> Module {
        let files = files.iter().map(|it| (*it).to_owned()).collect();
        Module { name: name.to_owned(), root: root.to_owned(), files, ..Module::default() }
    }

    #[test]
    fn what_is_said_of_the_project_is_said_once_and_of_its_main_module() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("docs/README.md", "A fast site generator.\n\nThis is where the guide lies.\n");
        write("clinic/package-info.java", "/** Owners and their pets. */\npackage clinic;\n");
        let manifest = "[project]\ndescription = \"A fast site generator\"\n".to_owned();
        let mut modules = vec![
            module("docs", "docs", &["docs/conf.py"]),
            module("hugo", "src/hugo", &["src/hugo/site.py", "src/hugo/page.py"]),
            module("clinic", "clinic", &["clinic/Owner.java", "clinic/package-info.java"]),
        ];
        let texts = [("pyproject.toml".to_owned(), manifest)];
        describe(&mut modules, Some("Hugo"), root.path(), &texts);
        let told: Vec<&str> = modules.iter().map(|it| it.description.as_str()).collect();
        assert_eq!(
            told,
            ["This is where the guide lies", "A fast site generator", "Owners and their pets"]
        );
    }
}
