//! Go's packages: every folder is one, named by its module's path.

use super::script::{join, parent, within};
use super::{Found, Place, Resolver};
use crate::world::{Entry, FileId, Name, Want};

impl Resolver<'_> {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the modules of all languages are asked for alike"
    )]
    pub(super) fn go_module(&self, entry: &Entry, path: &str) -> Option<Place> {
        // The module around comes first: several may claim the same prefix.
        let mut at = Some(entry.folder());
        while let Some(folder) = at {
            if let Some(manifest) = self.lens.file(&within(folder, "go.mod"))
                && let Some(place) = self.go_folder(manifest, path)
            {
                return Some(place);
            }
            at = parent(folder);
        }
        let mut prefix = Some(path);
        while let Some(it) = prefix {
            for manifest in self.lens.packages(it) {
                if let Some(place) = self.go_folder(manifest, path) {
                    return Some(place);
                }
            }
            prefix = it.rsplit_once('/').map(|it| it.0);
        }
        Some(Place::External)
    }

    fn go_folder(&self, manifest: FileId, path: &str) -> Option<Place> {
        let entry = self.lens.entry(manifest);
        if !entry.path.ends_with("go.mod") {
            return None;
        }
        let module = self.word(entry, entry.facts.space?);
        let rest = path.strip_prefix(module)?;
        let rest = rest.strip_prefix('/').or(rest.is_empty().then_some(""))?;
        Some(Place::Space(format!("go:{}", join(entry.folder(), rest)?).into()))
    }

    pub(super) fn go_name(&self, file: FileId, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(file);
        self.open_name(file, name, want).or_else(|| {
            for star in entry.stars(None) {
                let module = entry.name(entry.facts.imports[star as usize].module);
                if let Some(place) = self.module(file, module) {
                    let found = self.module_member(&place, name, want);
                    if !matches!(found, Found::Nothing | Found::External) {
                        return found;
                    }
                }
            }
            Found::Nothing
        })
    }
}
