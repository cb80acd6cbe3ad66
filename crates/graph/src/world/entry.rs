//! One file in the world: its facts, its names as shared ones, and what it can be asked.

use super::names::hash;
use super::{FileId, Key, Name, Names, Sought, key};
use crate::facts::{Def, DefKind, Export, Facts, Flags, ImportKind, Inside, Ref, Texts, Word};
use crate::lang::{Family, Joins};
use crate::precise::Precise;
use crate::sketch::{ANY_NUMBER, index};

/// What kind of definition is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) as_type: bool,
    /// How many arguments it is called with; 255 when it is not, or cannot be said.
    pub(crate) args: u8,
}

impl Want {
    pub(crate) const VALUE: Self = Self { as_type: false, args: ANY_NUMBER };
    pub(crate) const TYPE: Self = Self { as_type: true, args: ANY_NUMBER };

    pub(crate) const fn is_called(self) -> bool {
        self.args != ANY_NUMBER
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: FileId,
    pub(crate) path: Box<str>,
    pub(crate) key: Key,
    /// The namespace that its top definitions join, when it is more than the file.
    pub(crate) space: Option<Box<str>>,
    /// What others can see of it. Names are in `words`.
    pub(crate) facts: Facts,
    /// Its references, while it is resolved.
    pub(crate) refs: Vec<Ref>,
    /// What a precise index says of its references.
    pub(crate) precise: Option<Box<Precise>>,
    words: Vec<Name>,
    /// Names that only its references need.
    inner_words: Box<[Name]>,
    /// Definitions by parent (one more than it is; 0 for the file) and name.
    members: Box<[(u32, Name, u32)]>,
    /// Imports by the module around (as above) and local name.
    imports: Box<[(u32, Name, u32)]>,
    exports: Box<[(Name, u32)]>,
    /// What it adds to the index, sorted.
    pub(super) provides: Box<[(Key, u32)]>,
}

impl Entry {
    pub(super) fn new(names: &mut Names, id: FileId, path: &str, mut facts: Facts) -> Self {
        let mut words: Vec<Name> = facts.names.iter().map(|it| names.add(it)).collect();
        let inner_words = words.split_off(facts.n_outer_names as usize).into();
        words.shrink_to_fit();
        facts.shrink();
        let name = |it: Word| words[it as usize];
        let step = |it: Option<u32>| it.map_or(0, |it| it + 1);
        let mut members: Vec<_> = facts
            .defs
            .iter()
            .enumerate()
            .filter(|it| it.1.owner.is_none())
            .map(|(i, it)| (step(it.parent), name(it.name), index(i)))
            .collect();
        members.sort_unstable();
        let mut imports: Vec<_> = facts
            .imports
            .iter()
            .enumerate()
            .filter(|it| !matches!(it.1.kind, ImportKind::Star | ImportKind::Effect))
            .map(|(i, it)| (step(it.within), name(it.local), index(i)))
            .collect();
        imports.sort_unstable();
        let mut exports: Vec<_> = facts
            .exports
            .iter()
            .enumerate()
            .filter_map(|(i, it)| match it {
                Export::Local { name: it, .. }
                | Export::From { name: it, .. }
                | Export::ModuleAs { name: it, .. } => Some((name(*it), index(i))),
                Export::Star { .. } => None,
            })
            .collect();
        exports.sort_unstable();
        let space = open_space(path, &facts);
        enter_parts(names, &facts);
        let provides = provides(names, path, &facts, &words, space.as_deref());
        let key = key(Sought::Path, hash(path), 0);
        facts.names = Texts::default();
        Self {
            id,
            path: path.into(),
            key,
            space: space.map(Into::into),
            facts,
            refs: Vec::new(),
            precise: None,
            words,
            inner_words,
            members: members.into(),
            imports: imports.into(),
            exports: exports.into(),
            provides,
        }
    }

    /// With what its references need, as long as it is resolved.
    pub(super) fn whole(&self) -> Self {
        let mut res = Self { provides: Box::default(), ..self.clone() };
        let inside = Inside::decode(&self.facts.inner).unwrap_or_default();
        res.words.extend(&self.inner_words);
        res.facts.terms.extend(inside.terms);
        res.facts.locals.extend(inside.locals);
        res.facts.lists.extend(inside.lists);
        res.refs = inside.refs;
        res
    }

    /// Its facts as they came.
    pub(super) fn facts(&self, names: &Names) -> Facts {
        let mut res = self.facts.clone();
        let words = self.words.iter().chain(&self.inner_words);
        words.for_each(|it| res.names.push(names.text(*it)));
        res
    }

    pub(crate) fn name(&self, word: Word) -> Name {
        self.words[word as usize]
    }

    /// The definitions of a name directly inside another, or at the top.
    pub(crate) fn named(&self, parent: Option<u32>, name: Name) -> impl Iterator<Item = u32> {
        span(&self.members, (parent.map_or(0, |it| it + 1), name))
    }

    /// The one of them that fits best.
    pub(crate) fn member(&self, parent: Option<u32>, name: Name, want: Want) -> Option<u32> {
        self.best(self.named(parent, name), want)
    }

    pub(crate) fn best(&self, defs: impl Iterator<Item = u32>, want: Want) -> Option<u32> {
        let apart = self.facts.lang.keeps_types_apart();
        let is_c = self.facts.lang.family() == Family::C;
        let rank = |it: &u32| {
            let def = &self.facts.defs[*it as usize];
            let right_space = if want.as_type {
                def.kind.is_type() || def.kind == DefKind::Module
            } else {
                def.kind.is_value()
            };
            let fits =
                want.args == ANY_NUMBER || (def.takes.0 <= want.args && want.args <= def.takes.1);
            (
                apart && !right_space,
                want.is_called() && def.kind == DefKind::Module,
                is_c && !fits,
                def.flags.has(Flags::DECLARATION),
                !fits,
                def.kind == DefKind::Field,
                *it,
            )
        };
        // What makes an object may bear the name of its type, and is none.
        let is_maker = |it: &u32| self.facts.defs[*it as usize].flags.has(Flags::CONSTRUCTOR);
        let is_none = |it: &u32| (want.as_type || (is_c && !want.is_called())) && is_maker(it);
        let best = defs.filter(|it| !is_none(it)).min_by_key(rank)?;
        let is_wrong = apart && rank(&best).0;
        (!is_wrong).then_some(best)
    }

    pub(crate) fn import(&self, within: Option<u32>, name: Name) -> impl Iterator<Item = u32> {
        span(&self.imports, (within.map_or(0, |it| it + 1), name))
    }

    pub(crate) fn stars(&self, within: Option<u32>) -> impl Iterator<Item = u32> {
        let all = self.facts.imports.iter().enumerate();
        all.filter(move |it| it.1.kind == ImportKind::Star && it.1.within == within)
            .map(|it| index(it.0))
    }

    pub(crate) fn export(&self, name: Name) -> impl Iterator<Item = &Export> {
        let from = self.exports.partition_point(|it| it.0 < name);
        self.exports[from..]
            .iter()
            .take_while(move |it| it.0 == name)
            .map(|it| &self.facts.exports[it.1 as usize])
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |it| it.0)
    }

    pub(crate) fn has_members(&self, def: u32) -> bool {
        let from = self.members.partition_point(|it| it.0 <= def);
        self.members.get(from).is_some_and(|it| it.0 == def + 1)
    }
}

fn span(sorted: &[(u32, Name, u32)], wanted: (u32, Name)) -> impl Iterator<Item = u32> {
    let from = sorted.partition_point(|it| (it.0, it.1) < wanted);
    sorted[from..].iter().take_while(move |it| (it.0, it.1) == wanted).map(|it| it.2)
}

/// The index entries of a file; definitions that others can find without knowing the file.
fn provides(
    names: &Names,
    path: &str,
    facts: &Facts,
    words: &[Name],
    space: Option<&str>,
) -> Box<[(Key, u32)]> {
    let mut res = Vec::new();
    let hashed = |it: Word| names.hash(words[it as usize]);
    if facts.lang.family() == Family::Manifest {
        if let Some(name) = facts.space {
            res.push((key(Sought::Package, hashed(name), 0), u32::MAX));
        }
        return res.into();
    }
    if facts.lang.family() == Family::Python
        && let Some((folder, "__init__.py")) = path.rsplit_once('/')
    {
        let top = folder.rsplit('/').next().unwrap_or(folder);
        res.push((key(Sought::Top, hash(top), 0), u32::MAX));
    }
    let mut spaces = Spaces { facts, space, last: None };
    for (i, def) in facts.defs.iter().enumerate() {
        let i = index(i);
        if let Some(owner) = def.owned_by {
            res.push((key(Sought::Outside, hashed(owner), hashed(def.name)), i));
        } else if let Some(space) = spaces.of(def.parent)
            && !def.flags.has(Flags::PRIVATE)
        {
            res.push((key(Sought::Open, space, hashed(def.name)), i));
        } else if is_macro(facts, def) {
            res.push((key(Sought::Open, hash(MACROS), hashed(def.name)), i));
        }
        if def.kind == DefKind::Method {
            let family = facts.lang.family() as u64;
            res.push((key(Sought::Method, hashed(def.name), family), i));
        }
    }
    res.sort_unstable();
    res.into()
}

/// Enters the parts of the paths that a file imports from: a part that had no number could not be looked for,
/// and nobody would notice when it comes.
fn enter_parts(names: &mut Names, facts: &Facts) {
    let exported = facts.exports.iter().filter_map(|it| match it {
        Export::From { module, .. } | Export::ModuleAs { module, .. } | Export::Star { module } => {
            Some(*module)
        }
        Export::Local { .. } => None,
    });
    for module in facts.imports.iter().map(|it| it.module).chain(exported) {
        let is_inside = |it: char| it.is_alphanumeric() || it == '_';
        for part in facts.word(module).split(|it| !is_inside(it)).filter(|it| !it.is_empty()) {
            names.add(part);
        }
    }
}

/// The namespace of the macros of Rust, which have one of their own.
pub(crate) const MACROS: &str = "macro_rules!";

/// Whether a definition is a macro that more than its function can see.
fn is_macro(facts: &Facts, def: &Def) -> bool {
    let is_outside = |it: u32| !facts.defs[it as usize].kind.is_callable();
    facts.lang.family() == Family::Rust
        && def.kind == DefKind::Function
        && def.flags.has(Flags::STATIC)
        && def.parent.is_none_or(is_outside)
}

/// The open namespaces that the definitions of a file join.
struct Spaces<'a> {
    facts: &'a Facts,
    space: Option<&'a str>,
    /// The namespace inside the file that was asked for last, and what it is: most stand in one.
    last: Option<(u32, Option<u64>)>,
}

impl Spaces<'_> {
    /// What stands directly in `parent` joins this one, as a hash.
    fn of(&mut self, parent: Option<u32>) -> Option<u64> {
        let space = self.space?;
        let Some(parent) = parent else { return Some(hash(space)) };
        if self.facts.lang.family() != Family::C {
            return None;
        }
        if let Some(known) = self.last.filter(|it| it.0 == parent) {
            return known.1;
        }
        let mut parts = Vec::new();
        let mut at = Some(parent);
        while let Some(def) = at.map(|it| &self.facts.defs[it as usize]) {
            // What stands in a type is a member of it.
            if def.kind != DefKind::Module {
                parts.clear();
                break;
            }
            parts.push(self.facts.word(def.name));
            at = def.parent;
        }
        parts.reverse();
        let res = (!parts.is_empty()).then(|| hash(&[space, &parts.join(".")].concat()));
        self.last = Some((parent, res));
        res
    }
}

/// The namespace that a file's top definitions join, when it is more than the file.
fn open_space(path: &str, facts: &Facts) -> Option<String> {
    let ways = facts.lang.family().ways();
    let name = match ways.joins {
        Joins::File => return None,
        Joins::Folder => path.rsplit_once('/').map_or("", |it| it.0),
        Joins::Named => facts.space.map_or("", |it| facts.word(it)),
        Joins::All => "",
    };
    Some([ways.prefix, name].concat())
}
