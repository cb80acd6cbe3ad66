//! One file of the index: its facts, its strings as interned names, and sorted tables to query it.
//!
//! The resolver queries a file by name: for all definitions, imports or exports with the name, or
//! for the definition that fits a [`DefQuery`] best. An interned name is the number of a text, the
//! same in all files; the facts themselves number the strings of each file apart.
//!
//! ```text
//! file               function open(a) {}   function open(a, b) {}   interface Open {}
//! query for `open`   called with 2 arguments: the second function
//! query for `Open`   as a type: the interface; as a value: nothing
//! ```

use super::index_keys::{collect_index_keys, intern_path_segments, open_namespace};
use super::name_interner::hash_str;
use super::{LookupKey, LookupKind, NameId, NameInterner};
use crate::facts::{
    DefFlags, DefId, DefKind, ExportEntry, FileFacts, ImportEntry, ImportId, ImportKind, Reference,
    ReferenceFacts, StringId, StringTable,
};
use crate::facts_builder::{ANY_ARG_COUNT, DeclarationSpace, to_index};
use crate::ids::FileId;
use crate::lang::LanguageFamily;
use crate::precise::PreciseReferences;

/// The kind of definition that a name should lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DefQuery {
    pub(crate) space: DeclarationSpace,
    /// The number of arguments of a call; `ANY_ARG_COUNT` if it is no call or the number is
    /// unknown.
    pub(crate) n_args: u8,
}

impl DefQuery {
    pub(crate) const ANY_VALUE: Self = Self::in_space(DeclarationSpace::Value);
    pub(crate) const ANY_TYPE: Self = Self::in_space(DeclarationSpace::Type);

    /// Any definition of the space, called or not.
    pub(crate) const fn in_space(space: DeclarationSpace) -> Self {
        Self { space, n_args: ANY_ARG_COUNT }
    }

    /// A value that is called with this number of arguments.
    pub(crate) const fn call(n_args: u8) -> Self {
        Self { space: DeclarationSpace::Value, n_args }
    }

    pub(crate) fn is_type(self) -> bool {
        self.space == DeclarationSpace::Type
    }

    /// Returns whether a number of arguments is wanted. A call with an unknown number restricts
    /// nothing and counts as no call.
    pub(crate) const fn is_call(self) -> bool {
        self.n_args != ANY_ARG_COUNT
    }
}

/// A file with its lookup tables.
#[derive(Clone, Debug)]
pub(crate) struct IndexedFile {
    pub(crate) id: FileId,
    pub(crate) path: Box<str>,
    /// The key of lookups by this path.
    pub(crate) path_key: LookupKey,
    /// The open namespace that its top-level definitions join, if that is more than the file.
    pub(crate) namespace: Option<Box<str>>,
    /// The facts that other files can see. `strings` is empty: `name_ids` replaces it.
    pub(crate) facts: FileFacts,
    /// Its references; empty unless the file is being resolved.
    pub(crate) refs: Vec<Reference>,
    /// Targets of its references from a SCIP index, which a compiler made.
    pub(crate) precise: Option<Box<PreciseReferences>>,
    /// The interned name of each string of the facts, by [`StringId`]. Without the strings of
    /// `reference_name_ids`, unless the references are decoded.
    name_ids: Vec<NameId>,
    /// The names that only its references use; their numbers follow those of `name_ids`.
    reference_name_ids: Box<[NameId]>,
    /// Definitions by [`parent_slot`] and name.
    members: Box<[(u32, NameId, DefId)]>,
    /// Imports by [`parent_slot`] of the enclosing module and local name.
    imports: Box<[(u32, NameId, ImportId)]>,
    /// Positions in `facts.exports` by name.
    exports: Box<[(NameId, u32)]>,
    /// The entries that the file adds to the index, sorted.
    pub(super) index_keys: Box<[(LookupKey, DefId)]>,
}

impl IndexedFile {
    /// Interns the strings of the facts and builds the tables.
    pub(super) fn new(
        names: &mut NameInterner,
        id: FileId,
        path: &str,
        mut facts: FileFacts,
    ) -> Self {
        let mut name_ids: Vec<NameId> = facts.strings.iter().map(|it| names.intern(it)).collect();
        let reference_name_ids = name_ids.split_off(facts.n_visible_strings as usize).into();
        name_ids.shrink_to_fit();
        facts.shrink_to_fit();
        let (members, imports, exports) = sorted_tables(&facts, &name_ids);
        let namespace = open_namespace(path, &facts);
        intern_path_segments(names, &facts);
        let index_keys = collect_index_keys(names, path, &facts, &name_ids, namespace.as_deref());
        // The interner holds the texts now.
        facts.strings = StringTable::default();
        Self {
            id,
            path: path.into(),
            path_key: LookupKey::new(LookupKind::Path, hash_str(path), 0),
            namespace: namespace.map(Into::into),
            facts,
            refs: Vec::new(),
            precise: None,
            name_ids,
            reference_name_ids,
            members,
            imports,
            exports,
            index_keys,
        }
    }

    /// A copy with its references decoded. It is dropped when the file is resolved.
    pub(super) fn with_references(&self) -> Self {
        // The index keys are not needed to resolve the file.
        let mut file = Self { index_keys: Box::default(), ..self.clone() };
        let decoded = ReferenceFacts::decode(&self.facts.reference_bytes).unwrap_or_default();
        // The numbering of the reference facts continues that of the visible facts.
        file.name_ids.extend(&self.reference_name_ids);
        file.facts.terms.extend(decoded.terms);
        file.facts.locals.extend(decoded.locals);
        file.facts.lists.extend(decoded.lists);
        file.refs = decoded.refs;
        file
    }

    /// Its facts as they were inserted.
    pub(super) fn facts(&self, names: &NameInterner) -> FileFacts {
        let mut facts = self.facts.clone();
        let name_ids = self.name_ids.iter().chain(&self.reference_name_ids);
        name_ids.for_each(|it| facts.strings.push(names.text(*it)));
        facts
    }

    pub(crate) fn name_id(&self, string: StringId) -> NameId {
        self.name_ids[string.index()]
    }

    /// The definitions with a name directly inside `parent`, or at the top level.
    pub(crate) fn defs_named(
        &self,
        parent: Option<DefId>,
        name: NameId,
    ) -> impl Iterator<Item = DefId> {
        equal_range(&self.members, (parent_slot(parent), name))
    }

    /// The definition with a name directly inside `parent` that fits the query best.
    pub(crate) fn best_def_named(
        &self,
        parent: Option<DefId>,
        name: NameId,
        query: DefQuery,
    ) -> Option<DefId> {
        self.select_best(self.defs_named(parent, name), query)
    }

    /// Of several definitions with one name, the one that fits the query best.
    pub(crate) fn select_best(
        &self,
        defs: impl Iterator<Item = DefId>,
        query: DefQuery,
    ) -> Option<DefId> {
        let has_two_spaces = self.facts.lang.separates_types_from_values();
        let is_c = self.facts.lang.family() == LanguageFamily::C;
        // Smaller is better; the first criterion on which two candidates differ decides.
        let rank = |id: &DefId| {
            let def = self.facts.def(*id);
            // A module contains types, so it can be the first part of a type's path.
            let is_in_space = if query.is_type() {
                def.kind.is_type() || def.kind == DefKind::Module
            } else {
                def.kind.is_value()
            };
            // The number of arguments.
            let fits = !query.is_call() || def.accepts(query.n_args);
            (
                has_two_spaces && !is_in_space,
                // A module cannot be called.
                query.is_call() && def.kind == DefKind::Module,
                // In C++ a declaration that fits is better than a definition that does not;
                // elsewhere a definition comes first.
                is_c && !fits,
                def.flags.has(DefFlags::DECLARATION),
                !fits,
                // A method is better than a field with the same name.
                def.kind == DefKind::Field,
                // Of equal candidates, the first in the text.
                *id,
            )
        };
        // A constructor has the name of its type but is not the type; in C++ only a call means it.
        let excludes_constructors = query.is_type() || (is_c && !query.is_call());
        let is_candidate = |id: &DefId| {
            let is_constructor = self.facts.def(*id).flags.has(DefFlags::CONSTRUCTOR);
            !(excludes_constructors && is_constructor)
        };
        let best = defs.filter(is_candidate).min_by_key(rank)?;
        // If even the best is in the other space, none fits.
        let (is_in_other_space, ..) = rank(&best);
        (!is_in_other_space).then_some(best)
    }

    /// The imports that bind a name in a module inside the file, or at the top level.
    pub(crate) fn imports_named(
        &self,
        module: Option<DefId>,
        name: NameId,
    ) -> impl Iterator<Item = ImportId> {
        equal_range(&self.imports, (parent_slot(module), name))
    }

    /// The star imports of a module inside the file, or of the top level.
    pub(crate) fn star_imports(&self, module: Option<DefId>) -> impl Iterator<Item = ImportId> {
        let is_star =
            move |it: &ImportEntry| it.kind == ImportKind::Star && it.parent_module == module;
        self.facts.imports_with_ids().filter(move |(_, it)| is_star(it)).map(|(id, _)| id)
    }

    pub(crate) fn exports_named(&self, name: NameId) -> impl Iterator<Item = &ExportEntry> {
        let start = self.exports.partition_point(|(exported, _)| *exported < name);
        self.exports[start..]
            .iter()
            .take_while(move |(exported, _)| *exported == name)
            .map(|(_, position)| &self.facts.exports[*position as usize])
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |it| it.0)
    }

    /// Returns whether any definition has this one as its parent.
    pub(crate) fn has_members(&self, def: DefId) -> bool {
        let slot = parent_slot(Some(def));
        let start = self.members.partition_point(|it| it.0 < slot);
        self.members.get(start).is_some_and(|it| it.0 == slot)
    }
}

/// A parent as a sort key: 0 for the top level of the file, otherwise the definition plus one.
fn parent_slot(parent: Option<DefId>) -> u32 {
    parent.map_or(0, |it| it.0 + 1)
}

/// `IndexedFile::members`, `imports` and `exports`.
type SortedTables =
    (Box<[(u32, NameId, DefId)]>, Box<[(u32, NameId, ImportId)]>, Box<[(NameId, u32)]>);

/// The members, imports and exports of a file, each sorted for binary search.
fn sorted_tables(facts: &FileFacts, name_ids: &[NameId]) -> SortedTables {
    let name = |it: StringId| name_ids[it.index()];
    // A member outside the body of its type is found through the index instead.
    let mut members: Vec<_> = facts
        .defs_with_ids()
        .filter(|(_, def)| def.owner_type.is_none())
        .map(|(id, def)| (parent_slot(def.parent), name(def.name), id))
        .collect();
    members.sort_unstable();
    // A star import binds unknown names, an import for its side effects none.
    let binds_name = |kind| !matches!(kind, ImportKind::Star | ImportKind::Effect);
    let mut imports: Vec<_> = facts
        .imports_with_ids()
        .filter(|(_, import)| binds_name(import.kind))
        .map(|(id, import)| (parent_slot(import.parent_module), name(import.local_name), id))
        .collect();
    imports.sort_unstable();
    let mut exports = Vec::new();
    for (index, export) in facts.exports.iter().enumerate() {
        let exported = match export {
            ExportEntry::Local { name, .. }
            | ExportEntry::From { name, .. }
            | ExportEntry::ModuleAs { name, .. } => *name,
            // Exports unknown names.
            ExportEntry::Star { .. } => continue,
        };
        exports.push((name(exported), to_index(index)));
    }
    exports.sort_unstable();
    (members.into(), imports.into(), exports.into())
}

/// The items of a sorted table with this parent and name.
fn equal_range<T: Copy>(
    sorted: &[(u32, NameId, T)],
    wanted: (u32, NameId),
) -> impl Iterator<Item = T> {
    let start = sorted.partition_point(|(parent, name, _)| (*parent, *name) < wanted);
    let is_wanted = move |(parent, name, _): &&(u32, NameId, T)| (*parent, *name) == wanted;
    sorted[start..].iter().take_while(is_wanted).map(|(_, _, item)| *item)
}
