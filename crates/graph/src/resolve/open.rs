//! Open namespaces: what belongs together wherever it stands.

use super::script::{join, parent, within};
use super::{Found, How, Place, Resolver, Value};
use crate::facts::{DefKind, Flags};
use crate::lang::Family;
use crate::world::{DefRef, Entry, FileId, Name, Want};

impl Resolver<'_> {
    /// A definition of a namespace; of several, the one that fits, in the file that lies nearest.
    pub(super) fn in_space(
        &self,
        space: &str,
        name: Name,
        want: Want,
        near: Option<FileId>,
    ) -> Found {
        let found = self.lens.open(space, name);
        let near = near.map_or("", |it| self.lens.entry(it).folder());
        let rank = |it: &&DefRef| {
            let entry = self.lens.entry(it.file);
            let def = &entry.facts.defs[it.def as usize];
            let fits = want.args == crate::sketch::ANY_NUMBER
                || (def.takes.0 <= want.args && want.args <= def.takes.1);
            let shared = near.bytes().zip(entry.path.bytes()).take_while(|it| it.0 == it.1).count();
            // What is called in C may be a type, and of two with one name the other.
            let is_other = want.as_type && !def.kind.is_type() && def.kind != DefKind::Module;
            let is_c = entry.facts.lang.family() == Family::C;
            let is_announced = def.flags.has(Flags::DECLARATION);
            (is_c && (is_other || !fits), is_announced, !fits, usize::MAX - shared)
        };
        if let Some(best) = found.iter().min_by_key(rank) {
            return Found::Def(*best, None, How::Import);
        }
        // Not a namespace but a type: what is taken from it is a member.
        let named = Some(space).filter(|it| !it.starts_with(Family::C.ways().prefix));
        let Some((outer, last)) = named.and_then(|it| it.rsplit_once('.')) else {
            return Found::Nothing;
        };
        let Some(last) = self.lens.world.names.get(last) else { return Found::Nothing };
        match self.step(Found::Nothing, || self.in_space(outer, last, Want::TYPE, None)) {
            Found::Def(def, ..) => self.member(&Value::Type(def, None), name, want, How::Import),
            _ => Found::Nothing,
        }
    }

    /// A name that all files of a language share.
    pub(super) fn open_name(&self, file: FileId, name: Name, want: Want) -> Found {
        match &self.lens.entry(file).space {
            Some(space) => self.in_space(space, name, want, Some(file)),
            None => Found::Nothing,
        }
    }

    /// A constant may stand in any file, a function only in one that is required: the rest are scripts
    /// and tests, each with helpers of its own.
    pub(super) fn ruby_name(&self, file: FileId, name: Name, want: Want) -> Found {
        let found = self.open_name(file, name, want);
        let Found::Def(at, ..) = &found else { return found };
        if self.lens.entry(at.file).facts.defs[at.def as usize].kind != DefKind::Function {
            return found;
        }
        let entry = self.lens.entry(file);
        let mut required =
            entry.facts.imports.iter().map(|it| self.module(file, entry.name(it.module)));
        let is_required = at.file == file || required.any(|it| it == Some(Place::File(at.file)));
        if is_required { found } else { Found::Nothing }
    }

    /// A file named by a path: `#include "a/b.h"`, `require "a/b"`.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the modules of all languages are asked for alike"
    )]
    pub(super) fn relative_module(&self, entry: &Entry, path: &str) -> Option<Place> {
        let endings: &[&str] =
            if entry.facts.lang == crate::Lang::Ruby { &["", ".rb"] } else { &[""] };
        let mut at = Some(entry.folder());
        while let Some(folder) = at {
            for root in [
                folder.to_owned(),
                within(folder, "include"),
                within(folder, "src"),
                within(folder, "lib"),
            ] {
                for ending in endings {
                    let found =
                        join(&root, &[path, ending].concat()).and_then(|it| self.lens.file(&it));
                    if let Some(it) = found {
                        return Some(Place::File(it));
                    }
                }
            }
            at = parent(folder);
        }
        Some(Place::External)
    }
}
