//! C and C++: one space for all files, divided by namespaces; headers announce what sources define.

use super::{Found, Here, How, Place, Resolver, Value};
use crate::facts::{DefKind, Flags};
use crate::lang::plain::c::{NAMESPACE, SEEN_FROM};
use crate::world::{DefRef, Entry, FileId, Name, Want};

impl Resolver<'_> {
    /// What an import speaks of: a header by its path, or a namespace.
    pub(super) fn c_module(&self, entry: &Entry, text: &str) -> Option<Place> {
        let Some((around, path)) =
            text.strip_prefix(NAMESPACE).and_then(|it| it.split_once(SEEN_FROM))
        else {
            return self.relative_module(entry, text);
        };
        if path.is_empty() {
            return Some(Place::Space("c:".into()));
        }
        // Seen from inside: the nearest namespace that has one of this name.
        let mut around = Some(around);
        while let Some(it) = around {
            let full = if it.is_empty() { path.to_owned() } else { [it, path].join(".") };
            if self.is_namespace(&full) {
                return Some(Place::Space(["c:", &full].concat().into()));
            }
            around = match it.rsplit_once('.') {
                Some((outer, _)) => Some(outer),
                None => (!it.is_empty()).then_some(""),
            };
        }
        Some(Place::External)
    }

    fn is_namespace(&self, path: &str) -> bool {
        let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
        let Some(last) = self.lens.world.names.get(last) else { return false };
        self.lens
            .open(&["c:", outer].concat(), last)
            .iter()
            .any(|it| self.kind(*it) == DefKind::Module)
    }

    fn kind(&self, at: DefRef) -> DefKind {
        self.lens.entry(at.file).facts.defs[at.def as usize].kind
    }

    /// The namespace that a definition is or stands in.
    pub(super) fn c_space(&self, file: FileId, def: Option<u32>) -> String {
        let entry = self.lens.entry(file);
        let mut parts = Vec::new();
        let mut at = def;
        while let Some(def) = at.map(|it| &entry.facts.defs[it as usize]) {
            if def.kind == DefKind::Module {
                parts.push(self.word(entry, def.name));
            }
            at = def.parent;
        }
        parts.reverse();
        ["c:", &parts.join(".")].concat()
    }

    /// A bare name: of the namespaces around it, from the innermost, and of those they use.
    pub(super) fn c_name(
        &self,
        file: FileId,
        within: Option<u32>,
        name: Name,
        want: Want,
    ) -> Found {
        let entry = self.lens.entry(file);
        let module = |mut at: Option<u32>| {
            while let Some(it) = at {
                let def = &entry.facts.defs[it as usize];
                if def.kind == DefKind::Module {
                    return at;
                }
                at = def.parent;
            }
            None
        };
        let mut at = module(within);
        loop {
            // What is seen in this file only is nowhere else.
            let own = entry.member(at, name, want);
            let own = own.map_or(Found::Nothing, |it| Found::def(file, it, How::Scope));
            let found = match own {
                Found::Def(it, ..) if !self.takes(it, want) => {
                    self.in_space(&self.c_space(file, at), name, want, Some(file))
                }
                own => {
                    own.or_else(|| self.in_space(&self.c_space(file, at), name, want, Some(file)))
                }
            };
            let found = found.or_else(|| self.used(file, at, name, want));
            let Some(it) = at.filter(|_| found.is_nothing()) else { return found };
            at = module(entry.facts.defs[it as usize].parent);
        }
    }

    /// A name of a namespace that is used as a whole.
    fn used(&self, file: FileId, within: Option<u32>, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(file);
        for star in entry.stars(within) {
            let module = entry.name(entry.facts.imports[star as usize].module);
            if self.text(module).starts_with(NAMESPACE)
                && let Some(Place::Space(space)) = self.module(file, module)
            {
                let found = self.in_space(&space, name, want, Some(file));
                if !found.is_nothing() {
                    return found;
                }
            }
        }
        Found::Nothing
    }

    fn takes(&self, at: DefRef, want: Want) -> bool {
        let takes = self.lens.entry(at.file).facts.defs[at.def as usize].takes;
        !want.is_called() || (takes.0 <= want.args && want.args <= takes.1)
    }

    /// What a declaration announces, where it is defined; itself where nobody does.
    pub(super) fn c_defined(&self, at: DefRef) -> DefRef {
        let entry = self.lens.entry(at.file);
        let def = &entry.facts.defs[at.def as usize];
        let name = entry.name(def.name);
        let parent = def.parent.map(|it| DefRef { file: at.file, def: it });
        let is_type = parent.is_some_and(|it| self.kind(it).is_type());
        let mut found: Vec<DefRef> = if is_type {
            Vec::new()
        } else {
            self.lens.open(&self.c_space(at.file, def.parent), name)
        };
        if let Some(parent) = parent {
            let owner = entry.name(entry.facts.defs[parent.def as usize].name);
            found.extend(
                self.lens.outside(owner, name).iter().filter(|it| self.is_of(**it, parent)),
            );
        }
        let is_it = |it: &&DefRef| {
            let other = &self.lens.entry(it.file).facts.defs[it.def as usize];
            !other.flags.has(Flags::DECLARATION)
                && other.kind.is_callable()
                && other.takes.1 == def.takes.1
                && self.takes_alike(at, **it)
        };
        let near = |it: &&DefRef| {
            let path = self.lens.entry(it.file).path.bytes();
            std::cmp::Reverse(path.zip(entry.path.bytes()).take_while(|it| it.0 == it.1).count())
        };
        found.iter().filter(is_it).min_by_key(near).copied().unwrap_or(at)
    }

    /// What announces a definition: prototypes in headers, members in the body of their class.
    pub(super) fn c_announced(&self, at: DefRef) -> Vec<DefRef> {
        let entry = self.lens.entry(at.file);
        let def = &entry.facts.defs[at.def as usize];
        let name = entry.name(def.name);
        let found: Vec<DefRef> = match def.owner {
            None if def.parent.is_some_and(|it| entry.facts.defs[it as usize].kind.is_type()) => {
                Vec::new()
            }
            None => self.lens.open(&self.c_space(at.file, def.parent), name),
            Some(owner) => match self.eval(&Here { file: at.file, env: None }, owner, true) {
                Value::Type(of, _) | Value::Object(of, _) => {
                    let named = self.lens.entry(of.file).named(Some(of.def), name);
                    named.map(|def| DefRef { file: of.file, def }).collect()
                }
                Value::Module(Place::Def(of)) => {
                    self.lens.open(&self.c_space(of.file, Some(of.def)), name)
                }
                _ => Vec::new(),
            },
        };
        let is_it = |it: &DefRef| {
            let other = &self.lens.entry(it.file).facts.defs[it.def as usize];
            other.flags.has(Flags::DECLARATION)
                && other.kind.is_callable()
                && other.takes.1 == def.takes.1
                && self.takes_alike(*it, at)
        };
        found.into_iter().filter(is_it).collect()
    }

    /// The type that a constructor makes objects of.
    pub(super) fn c_made(&self, at: DefRef) -> DefRef {
        let def = &self.lens.entry(at.file).facts.defs[at.def as usize];
        let of = def.owner.map(|it| self.eval(&Here { file: at.file, env: None }, it, true));
        match (of, def.parent) {
            (Some(Value::Type(it, _) | Value::Object(it, _)), _) => it,
            (None, Some(parent)) => DefRef { file: at.file, def: parent },
            _ => at,
        }
    }

    fn is_of(&self, member: DefRef, parent: DefRef) -> bool {
        let entry = self.lens.entry(member.file);
        let Some(owner) = entry.facts.defs[member.def as usize].owner else { return false };
        match self.eval(&Here { file: member.file, env: None }, owner, true) {
            Value::Type(it, _) | Value::Object(it, _) => it == parent,
            Value::Module(Place::Def(it)) => {
                self.kind(parent) == DefKind::Module
                    && self.c_space(it.file, Some(it.def))
                        == self.c_space(parent.file, Some(parent.def))
            }
            _ => false,
        }
    }

    /// Whether the parameters of two are of the same types, as far as that is known.
    fn takes_alike(&self, a: DefRef, b: DefRef) -> bool {
        let (a, b) = (self.param_values(a), self.param_values(b));
        a.iter().zip(&b).all(|it| {
            matches!(
                it,
                (Value::Unknown | Value::External, _) | (_, Value::Unknown | Value::External)
            ) || it.0 == it.1
        })
    }
}
