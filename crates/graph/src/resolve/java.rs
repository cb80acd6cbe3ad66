//! Java's packages, and C#'s and PHP's namespaces, which work alike: open namespaces by their names.

use super::{Found, Place, Resolver};
use crate::world::{FileId, Name, Want};

impl Resolver<'_> {
    /// A bare name: of the own package, else of one that was imported whole.
    pub(super) fn java_name(&self, file: FileId, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(file);
        let Some(mut space) = entry.space.as_deref() else { return Found::Nothing };
        loop {
            let found = self.in_space(space, name, want, Some(file));
            // An inner namespace of C# sees the outer ones.
            if !found.is_nothing() || !space.starts_with("cs:") {
                if !found.is_nothing() {
                    return found;
                }
                break;
            }
            match space.rsplit_once('.') {
                Some((outer, _)) => space = outer,
                None => break,
            }
        }
        for star in entry.stars(None) {
            let module = entry.name(entry.facts.imports[star as usize].module);
            if let Some(Place::Space(space)) = self.module(file, module) {
                let found = self.in_space(&space, name, want, Some(file));
                if !matches!(found, Found::Nothing | Found::External) {
                    return found;
                }
            }
        }
        Found::Nothing
    }
}
