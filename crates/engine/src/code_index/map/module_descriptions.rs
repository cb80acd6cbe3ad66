//! Descriptions of modules, taken from manifests, README files and the header comments of entry points.
//! `detection` calls [`describe_modules`] after the files are grouped.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use modules::{Module, extract_descriptions, manifest_description};

use super::project_folders::{ProjectFolders, join_path};

/// Go files that are searched for a package comment, at most.
const MAX_PACKAGE_COMMENT_FILES: usize = 40;

/// README files of a folder, best first.
pub(super) const README_FILES: &[&str] = &["README.md", "README.rst", "readme.md", "Readme.md"];

/// Source files that may describe a module in their header, best first.
const HEADER_FILES: &[&str] =
    &["src/lib.rs", "src/main.rs", "lib.rs", "mod.rs", "__init__.py", "doc.go"];

/// Describes modules. The description of the whole project goes to its main module only, and no
/// description is used twice: of two modules the one with the shorter root gets it.
pub(super) fn describe_modules(
    modules: &mut [Module],
    project: Option<&str>,
    texts: &DescriptionTexts<'_>,
) {
    let of_project = texts.describe_folder("");
    // Modules near the root choose first.
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|it| modules[*it].root.len());
    let is_main = |it: &Module| {
        it.root.is_empty() || project.is_some_and(|project| it.name.eq_ignore_ascii_case(project))
    };
    let main = order.iter().copied().find(|it| is_main(&modules[*it]));
    for position in order {
        let module = &modules[position];
        let is_main = main == Some(position);
        let mut found = list_descriptions(module, texts);
        if is_main {
            found.extend(of_project.iter().cloned());
        } else {
            // A subfolder may repeat the description of the project.
            found.retain(|it| !of_project.contains(it));
        }
        let first = found.into_iter().find(|it| !used.contains(it)).unwrap_or_default();
        used.insert(first.clone());
        modules[position].description = first;
    }
}

/// The texts in which descriptions are found.
pub(super) struct DescriptionTexts<'a> {
    root: &'a Path,
    folders: &'a ProjectFolders,
    /// Name and text of the manifests by folder, in their order.
    manifests: HashMap<&'a str, Vec<(&'a str, &'a str)>>,
}

impl<'a> DescriptionTexts<'a> {
    /// `manifests` are pairs of path and text.
    pub(super) fn new(
        root: &'a Path,
        folders: &'a ProjectFolders,
        manifests: &'a [(String, String)],
    ) -> Self {
        let mut by_folder: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
        for (path, text) in manifests {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            by_folder.entry(folder).or_default().push((name, text));
        }
        Self { root, folders, manifests: by_folder }
    }

    /// The descriptions in the manifests and the README directly in a folder.
    fn describe_folder(&self, folder: &str) -> Vec<String> {
        let mut descriptions = Vec::new();
        for (name, text) in self.manifests.get(folder).into_iter().flatten() {
            descriptions.extend(manifest_description(name, text));
        }
        for name in README_FILES {
            descriptions.extend(self.describe_file(&join_path(folder, name)));
        }
        descriptions
    }

    /// The descriptions in a file; none if it is missing.
    fn describe_file(&self, path: &str) -> Vec<String> {
        if !self.folders.may_have(path) {
            return Vec::new();
        }
        source::read_small_text(self.root, path)
            .map(|it| extract_descriptions(path, &it))
            .unwrap_or_default()
    }
}

/// All descriptions of a module, best first.
fn list_descriptions(module: &Module, texts: &DescriptionTexts<'_>) -> Vec<String> {
    let folder = module.root.as_str();
    let mut descriptions = texts.describe_folder(folder);
    let n_from_folder = descriptions.len();
    let headers = HEADER_FILES.iter().map(|it| join_path(folder, it));

    // In Rust `foo.rs` may be the root of the module in `foo/`.
    let beside = format!("{folder}.rs");

    // An entry point with a name of its own describes itself, not the module.
    let describes_module = |it: &&String| {
        let stem = it.rsplit('/').next().and_then(|it| it.split('.').next()).unwrap_or_default();
        let is_namesake = folder.rsplit('/').next().is_some_and(|it| it.eq_ignore_ascii_case(stem));
        is_namesake
            || matches!(stem, "index" | "main" | "lib" | "mod" | "__init__" | "cli" | "server")
    };
    let entry_points = module.entry_points.iter().filter(describes_module).cloned();
    for path in headers.chain([beside]).chain(entry_points) {
        descriptions.extend(texts.describe_file(&path));
    }

    // Package comments may be in any file, so they are searched for only if nothing else was found.
    if descriptions.len() == n_from_folder {
        descriptions.extend(package_comment(module, texts));
    }

    // A module of one file is described by that file.
    if let [only] = module.files.as_slice()
        && descriptions.is_empty()
    {
        descriptions.extend(texts.describe_file(only));
    }
    descriptions
}

/// The package comment: in Java of one file, in Go of any file of the package.
fn package_comment(module: &Module, texts: &DescriptionTexts<'_>) -> Option<String> {
    // Java: of several packages in the module, the one nearest to the root.
    let is_package_info = |it: &&String| it.rsplit('/').next() == Some("package-info.java");
    let package_infos = module.files.iter().filter(is_package_info);
    if let Some(path) = package_infos.min_by_key(|it| it.matches('/').count()) {
        return texts.describe_file(path).into_iter().next();
    }
    // Go: only files directly in the module's folder, because a subfolder is a package of its own.
    let depth = module.root.matches('/').count() + usize::from(!module.root.is_empty());
    let own_files = module.files.iter().filter(|it| {
        model::words::file_extension(it) == Some("go") && it.matches('/').count() == depth
    });
    for path in own_files.take(MAX_PACKAGE_COMMENT_FILES) {
        let text = source::read_small_text(texts.root, path).unwrap_or_default();
        if text.contains("// Package ")
            && let Some(description) = extract_descriptions(path, &text).into_iter().next()
        {
            return Some(description);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that has no description yet.
    fn module(name: &str, root: &str, files: &[&str]) -> Module {
        let files = files.iter().map(|it| (*it).to_owned()).collect();
        Module { name: name.to_owned(), root: root.to_owned(), files, ..Module::default() }
    }

    #[test]
    fn the_description_of_the_project_goes_to_its_main_module_only() {
        // The README of `docs` repeats the description of the project before its own.
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
        let manifests = [("pyproject.toml".to_owned(), manifest)];
        let files = modules.iter().flat_map(|it| &it.files).map(String::as_str);
        let folders = ProjectFolders::list(root.path(), files);
        let texts = DescriptionTexts::new(root.path(), &folders, &manifests);
        describe_modules(&mut modules, Some("Hugo"), &texts);
        let descriptions: Vec<&str> = modules.iter().map(|it| it.description.as_str()).collect();
        assert_eq!(
            descriptions,
            ["This is where the guide lies", "A fast site generator", "Owners and their pets"]
        );
    }
}
