//! The entries that a file adds to the index, by which other files find its definitions without
//! knowing the file: names in open namespaces, members outside their type, methods, packages. An
//! open namespace is one that several files add to.
//!
//! ```text
//! code                                           keys
//! class Store {} in Java's `package app;`        Namespace("java:app", "Store")
//! func (s *Store) Get() {} in Go                 OutOfLineMember("Store", "Get"), Method("Get")
//! the file `api/__init__.py`                     PythonPackage("api")
//! { "name": "ui" } in a `package.json`           Package("ui")
//! ```
//!
//! The keys must be the same as those that [`super::TrackedView`] looks up.

use super::name_interner::hash_str;
use super::{LookupKey, LookupKind, NameId, NameInterner};
use crate::facts::{DefFlags, DefId, DefKind, Definition, ExportEntry, FileFacts, StringId};
use crate::lang::{LanguageFamily, NamespaceRule};

/// The namespace of Rust's `macro_rules!` macros, which are separate from all other names.
pub(crate) const MACRO_NAMESPACE: &str = "macro_rules!";

/// Stands for the file itself in an entry that names no definition.
const WHOLE_FILE: DefId = DefId(u32::MAX);

/// The index entries of a file, sorted.
pub(super) fn collect_index_keys(
    names: &NameInterner,
    path: &str,
    facts: &FileFacts,
    name_ids: &[NameId],
    namespace: Option<&str>,
) -> Box<[(LookupKey, DefId)]> {
    let mut keys = Vec::new();
    let family = facts.lang.family();
    let hash = |it: StringId| names.hash_of(name_ids[it.index()]);
    // A manifest has no definitions, only the name of its package.
    if family == LanguageFamily::Manifest {
        if let Some(name) = facts.namespace {
            keys.push((LookupKey::new(LookupKind::Package, hash(name), 0), WHOLE_FILE));
        }
        return keys.into();
    }
    if family == LanguageFamily::Python
        && let Some((folder, "__init__.py")) = path.rsplit_once('/')
    {
        let package = folder.rsplit('/').next().unwrap_or(folder);
        keys.push((LookupKey::new(LookupKind::PythonPackage, hash_str(package), 0), WHOLE_FILE));
    }
    let mut namespaces = OpenNamespaces { facts, namespace, cached: None };
    for (id, def) in facts.defs_with_ids() {
        let name = hash(def.name);
        // A definition is either a member outside its type, or joins at most one namespace.
        if let Some(owner) = def.owner_name {
            keys.push((LookupKey::new(LookupKind::OutOfLineMember, hash(owner), name), id));
        } else if let Some(namespace) = namespaces.hash_for_parent(def.parent)
            && !def.flags.has(DefFlags::PRIVATE)
        {
            keys.push((LookupKey::new(LookupKind::Namespace, namespace, name), id));
        } else if is_crate_visible_macro(facts, def) {
            let namespace = hash_str(MACRO_NAMESPACE);
            keys.push((LookupKey::new(LookupKind::Namespace, namespace, name), id));
        }
        if def.kind == DefKind::Method {
            keys.push((LookupKey::new(LookupKind::Method, name, family as u64), id));
        }
    }
    keys.sort_unstable();
    keys.into()
}

/// Interns the segments of the module paths that a file imports from.
///
/// A segment without a name id could not be looked up. No key would be recorded for it, and the
/// file would not be resolved again when another file defines the segment.
pub(super) fn intern_path_segments(names: &mut NameInterner, facts: &FileFacts) {
    let exported = facts.exports.iter().filter_map(|it| match it {
        ExportEntry::From { module, .. }
        | ExportEntry::ModuleAs { module, .. }
        | ExportEntry::Star { module } => Some(*module),
        ExportEntry::Local { .. } => None,
    });
    for module in facts.imports.iter().map(|it| it.module).chain(exported) {
        let is_separator = |it: char| !(it.is_alphanumeric() || it == '_');
        let segments = facts.string(module).split(is_separator);
        for segment in segments.filter(|it| !it.is_empty()) {
            names.intern(segment);
        }
    }
}

/// Returns whether a definition is a macro that is visible outside the function around it.
fn is_crate_visible_macro(facts: &FileFacts, def: &Definition) -> bool {
    // The extractor marks `macro_rules!` as a static function, which Rust does not have otherwise.
    let is_macro = facts.lang.family() == LanguageFamily::Rust
        && def.kind == DefKind::Function
        && def.flags.has(DefFlags::STATIC);
    let is_in_function = def.parent.is_some_and(|it| facts.def(it).kind.is_callable());
    is_macro && !is_in_function
}

/// The open namespaces that the definitions of a file join.
struct OpenNamespaces<'a> {
    facts: &'a FileFacts,
    /// The namespace of the top level, see [`open_namespace`].
    namespace: Option<&'a str>,
    /// The last parent and its result: most definitions of a file share one.
    cached: Option<(DefId, Option<u64>)>,
}

impl OpenNamespaces<'_> {
    /// The hash of the namespace that the definitions directly inside `parent` join; `None` if they
    /// are visible only through the file or a type.
    fn hash_for_parent(&mut self, parent: Option<DefId>) -> Option<u64> {
        let namespace = self.namespace?;
        let Some(parent) = parent else { return Some(hash_str(namespace)) };
        // Only in C++ is a namespace block open: other files add to the same namespace.
        if self.facts.lang.family() != LanguageFamily::C {
            return None;
        }
        if let Some(cached) = self.cached.filter(|it| it.0 == parent) {
            return cached.1;
        }
        // The names of the namespace blocks around the definition, innermost first.
        let mut segments = Vec::new();
        let mut next_block = Some(parent);
        while let Some(def) = next_block.map(|it| self.facts.def(it)) {
            // Inside a type it is a member of the type and joins no namespace.
            if def.kind != DefKind::Module {
                segments.clear();
                break;
            }
            segments.push(self.facts.string(def.name));
            next_block = def.parent;
        }
        segments.reverse();
        let hash =
            (!segments.is_empty()).then(|| hash_str(&[namespace, &segments.join(".")].concat()));
        self.cached = Some((parent, hash));
        hash
    }
}

/// The open namespace that a file's top-level definitions join, if that is more than the file.
pub(super) fn open_namespace(path: &str, facts: &FileFacts) -> Option<String> {
    let rules = facts.lang.family().rules();
    let name = match rules.namespace {
        NamespaceRule::File => return None,
        NamespaceRule::Folder => path.rsplit_once('/').map_or("", |it| it.0),
        NamespaceRule::Named => facts.namespace.map_or("", |it| facts.string(it)),
        NamespaceRule::All => "",
    };
    Some([rules.namespace_prefix, name].concat())
}
