//! Precise references: the targets of references in a file as a SCIP index gives them, expressed in
//! definitions of this graph.
//!
//! [`fit_index`] makes them from a parsed index (`scip.rs`) in two steps: it finds the definition
//! of the graph behind every symbol that the index defines, then translates the references of every
//! file. A file whose text is not the indexed one (`text_match.rs`) is left out.
//!
//! SCIP is a file format in which compilers list the *occurrences* of each *symbol*: a position in
//! a file, a symbol string, and whether the symbol is defined there. For example:
//!
//! ```text
//! index     a.ts 0:16 `… a.ts/run().` definition;  b.ts 3:2 `… a.ts/run().`
//! graph     the function `run` of a.ts is defined at 0:16
//! result    in b.ts, the reference at 3:2 leads to the definition `run` of a.ts
//! ```
//!
//! They are stored beside the facts of a file and dropped with them when the file changes. A target
//! is stored as path and name, so the definition may move inside its file. If it is gone, the
//! resolver looks for the target as if the index had none.

mod text_match;

use std::collections::{HashMap, HashSet};

use model::codec::{ByteReader, ByteWriter};

use crate::facts::{DefId, FileFacts, SourcePos};
use crate::facts_builder::to_index;
use crate::ids::FileId;
use crate::scip::ScipFile;
use crate::symbol_graph::SymbolGraph;
use text_match::{LocatedOccurrences, is_local_symbol, locate_occurrences};

/// Targets of some references of one file, by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreciseReferences {
    /// Sorted by position.
    targets: Vec<(SourcePos, PreciseTarget)>,
    /// The definitions that the targets refer to.
    pub(crate) definitions: Vec<NamedDefinition>,
}

/// Target of a precise reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreciseTarget {
    /// Index into [`PreciseReferences::definitions`].
    Definition(u32),
    /// A symbol that the repository does not define.
    External,
}

/// A definition identified by path and qualified name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NamedDefinition {
    pub(crate) path: Box<str>,
    pub(crate) name: Box<str>,
    /// Position among the definitions of that name in the file, from 0.
    pub(crate) ordinal: u32,
}

/// A SCIP index fitted to the graph.
#[derive(Debug, Default)]
pub struct FittedIndex {
    pub files: Vec<(FileId, PreciseReferences)>,
    /// Paths of files that changed after the index was made.
    pub stale: Vec<String>,
    /// Number of files that the graph does not have.
    pub n_unknown: usize,
}

impl PreciseReferences {
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The target of the reference at a position; `None` if the index has none there.
    pub(crate) fn target_at(&self, position: SourcePos) -> Option<PreciseTarget> {
        let found = self.targets.binary_search_by_key(&position, |it| it.0);
        found.ok().map(|it| self.targets[it].1)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut writer = ByteWriter::default();
        writer.write_len(self.definitions.len());
        for definition in &self.definitions {
            writer.write_str(&definition.path);
            writer.write_str(&definition.name);
            writer.write_u32(definition.ordinal);
        }
        writer.write_len(self.targets.len());
        for (position, target) in &self.targets {
            writer.write_u32(position.line);
            writer.write_u32(position.column);
            writer.write_optional_u32(match target {
                PreciseTarget::Definition(index) => Some(*index),
                PreciseTarget::External => None,
            });
        }
        writer.bytes
    }

    /// Returns `None` for bytes that `encode` does not produce.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let mut references = Self::default();
        for _ in 0..reader.read_len()? {
            let (path, name) = (reader.read_str()?.into(), reader.read_str()?.into());
            let ordinal = reader.read_u32()?;
            references.definitions.push(NamedDefinition { path, name, ordinal });
        }
        for _ in 0..reader.read_len()? {
            let position = SourcePos { line: reader.read_u32()?, column: reader.read_u32()? };
            let target = match reader.read_optional_u32()? {
                Some(index) if index as usize >= references.definitions.len() => return None,
                Some(index) => PreciseTarget::Definition(index),
                None => PreciseTarget::External,
            };
            references.targets.push((position, target));
        }
        // `target_at` searches by bisection.
        let is_sorted = references.targets.is_sorted_by_key(|it| it.0);
        (reader.is_empty() && is_sorted).then_some(references)
    }
}

/// Definitions by SCIP symbol, as seen from a place. The value is `None` if the symbol is ambiguous
/// there: some indexers give one symbol to items of different programs, such as two test binaries.
type DefinitionTable<'a> = HashMap<(SeenFrom, &'a str), Option<NamedDefinition>>;

/// The place from which a symbol is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SeenFrom {
    /// The file that defines the symbol.
    OwnFile(FileId),
    AnyFile,
}

/// A file of the index whose text is still the one that was indexed.
struct UnchangedFile<'a> {
    id: FileId,
    occurrences: LocatedOccurrences<'a>,
}

/// Fits a SCIP index to the graph. `read_text` returns the text from which a file's facts were
/// extracted, or `None` if that text is not available any more.
pub fn fit_index(
    graph: &SymbolGraph,
    index: &[ScipFile<'_>],
    read_text: &dyn Fn(FileId, &str) -> Option<Vec<u8>>,
) -> FittedIndex {
    let mut fitted = FittedIndex::default();
    let mut unchanged = Vec::new();
    let mut definitions = DefinitionTable::new();
    // All symbols that the index defines, also those in files that changed or are unknown.
    let mut indexed_symbols: HashSet<&str> = HashSet::new();
    // First step: the definitions of all files, by symbol.
    for file in index {
        let defined = file.occurrences.iter().filter(|it| it.is_definition);
        indexed_symbols.extend(defined.map(|it| it.symbol));
        let id_and_facts = graph.file_id(&file.path).and_then(|id| Some((id, graph.facts(id)?)));
        let Some((id, facts)) = id_and_facts else {
            fitted.n_unknown += 1;
            continue;
        };
        // The text is gone, or it is not the indexed one.
        let text = read_text(id, &file.path);
        let Some(occurrences) = text.and_then(|it| locate_occurrences(file, &it)) else {
            fitted.stale.push(file.path.clone());
            continue;
        };
        let file_definitions = definitions_by_position(&facts, &file.path);
        add_definitions(&mut definitions, id, &occurrences, file_definitions);
        unchanged.push(UnchangedFile { id, occurrences });
    }
    // Second step: the references, now that the definitions of all files are known.
    for file in &unchanged {
        let references = resolve_occurrences(file, &definitions, &indexed_symbols);
        fitted.files.push((file.id, references));
    }
    fitted
}

/// Enters the definitions of one file under their symbols: once as seen from the file itself, and,
/// unless the symbol is local to the file, once as seen from any file.
fn add_definitions<'a>(
    acc: &mut DefinitionTable<'a>,
    file: FileId,
    occurrences: &LocatedOccurrences<'a>,
    mut by_position: HashMap<SourcePos, NamedDefinition>,
) {
    for (position, occurrence) in occurrences.iter().filter(|it| it.1.is_definition) {
        // A parameter or a local, which is no definition of the graph; or a second symbol at the
        // same position.
        let Some(definition) = by_position.remove(position) else { continue };
        let symbol = occurrence.symbol;
        // A local symbol is numbered per file, so the same text means something else in another file.
        if !is_local_symbol(symbol) {
            let known =
                acc.entry((SeenFrom::AnyFile, symbol)).or_insert_with(|| Some(definition.clone()));
            // Two files define it: from elsewhere it is ambiguous. Two names in one file do not matter
            // here; the entry below decides about them for the file itself.
            if known.as_ref().is_some_and(|it| it.path != definition.path) {
                *known = None;
            }
        }
        // Overloads share both symbol and name; a symbol with two names is ambiguous.
        let known = acc
            .entry((SeenFrom::OwnFile(file), symbol))
            .or_insert_with(|| Some(definition.clone()));
        if known.as_ref().is_some_and(|it| it.name != definition.name) {
            *known = None;
        }
    }
}

/// The targets of the references of one file. `indexed_symbols` are all symbols that the index
/// defines, including those in changed files.
fn resolve_occurrences<'a>(
    file: &UnchangedFile<'a>,
    definitions: &DefinitionTable<'a>,
    indexed_symbols: &HashSet<&str>,
) -> PreciseReferences {
    // `None` is an external symbol.
    let mut targets: HashMap<SourcePos, Option<&NamedDefinition>> = HashMap::new();
    // The file's own definition of a symbol comes first: elsewhere it may be ambiguous. `None` if
    // the graph has no definition of the symbol, or if it is ambiguous.
    let definition_of = |symbol: &'a str| {
        let in_own_file = definitions.get(&(SeenFrom::OwnFile(file.id), symbol));
        // `add_definitions` enters no local symbol under `AnyFile`.
        let in_any_file = definitions.get(&(SeenFrom::AnyFile, symbol));
        in_own_file.or(in_any_file)?.as_ref()
    };
    for (position, occurrence) in &file.occurrences {
        let symbol = occurrence.symbol;
        if occurrence.is_definition || is_impl_symbol(symbol) {
            continue;
        }
        // A call of a constructor (of TypeScript or Python) refers to its class, as in the graph.
        let class = symbol.strip_suffix("`<constructor>`().");
        let class = class.or_else(|| symbol.strip_suffix("__init__()."));
        match class.and_then(definition_of).or_else(|| definition_of(symbol)) {
            Some(definition) => {
                targets.insert(*position, Some(definition));
            }
            // Defined in a file that changed, or as something that is not a definition of the
            // graph, or ambiguous. The target is inside the repository but unknown, so it is not
            // external. This does not hold for a local symbol: its target is a parameter or a local
            // of this file, so it is certain that the reference leads to no definition.
            None if indexed_symbols.contains(symbol) && !is_local_symbol(symbol) => {}
            // Several symbols may occur at one position; a definition beats an external symbol.
            None => {
                targets.entry(*position).or_insert(None);
            }
        }
    }
    to_precise_references(targets)
}

/// Sorts targets by position and lists each definition once; targets refer to it by index.
fn to_precise_references(
    targets: HashMap<SourcePos, Option<&NamedDefinition>>,
) -> PreciseReferences {
    let mut references = PreciseReferences::default();
    let mut indices: HashMap<&NamedDefinition, u32> = HashMap::new();
    let mut sorted: Vec<(SourcePos, Option<&NamedDefinition>)> = targets.into_iter().collect();
    sorted.sort_unstable();
    for (position, definition) in sorted {
        let target = match definition {
            Some(definition) => {
                let index = indices.entry(definition).or_insert_with(|| {
                    references.definitions.push(definition.clone());
                    to_index(references.definitions.len() - 1)
                });
                PreciseTarget::Definition(*index)
            }
            None => PreciseTarget::External,
        };
        references.targets.push((position, target));
    }
    references
}

/// The definitions of a file by position.
fn definitions_by_position(facts: &FileFacts, path: &str) -> HashMap<SourcePos, NamedDefinition> {
    let mut next_ordinals: HashMap<String, u32> = HashMap::new();
    let mut by_position = HashMap::with_capacity(facts.defs.len());
    for (id, definition) in facts.defs_with_ids() {
        let name = facts.qualified_name(id);
        let boxed_name = name.as_str().into();
        let next_ordinal = next_ordinals.entry(name).or_default();
        let named = NamedDefinition { path: path.into(), name: boxed_name, ordinal: *next_ordinal };
        // Of several definitions at one position, the first counts.
        by_position.entry(definition.position).or_insert(named);
        *next_ordinal += 1;
    }
    by_position
}

/// The definitions with a qualified name, in order.
pub(crate) fn definitions_named<'a>(
    facts: &'a FileFacts,
    name: &'a str,
) -> impl Iterator<Item = DefId> + 'a {
    // Building a qualified name allocates: most definitions are ruled out by their last part.
    let is_last_part = move |part: &str| {
        name.strip_suffix(part).is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    facts
        .defs_with_ids()
        .filter(move |it| is_last_part(facts.string(it.1.name)))
        .map(|it| it.0)
        .filter(move |it| facts.qualified_name(*it) == name)
}

/// Returns whether a symbol is that of an `impl` block, which rust-analyzer gives to `Self`. It is
/// not a definition of the graph.
fn is_impl_symbol(symbol: &str) -> bool {
    symbol.ends_with(']') && symbol.contains("impl#[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scip::ScipOccurrence;

    /// A reference on one line.
    fn occurrence(symbol: &str, line: u32, (column, end): (u32, u32)) -> ScipOccurrence<'_> {
        ScipOccurrence { line, column, end: Some(end), symbol, is_definition: false }
    }

    #[test]
    fn a_symbol_that_two_files_define_is_resolved_in_each_of_them_only() {
        // Two test binaries, each with a function `rt`, and a file that calls one of them.
        let texts = [
            ("one.rs", "fn rt() {}\nfn a() { rt() }\n"),
            ("two.rs", "fn rt() {}\nfn b() { rt() }\n"),
            ("three.rs", "fn c() { rt() }\n"),
        ];
        let put = |(path, text): &(&str, &str)| {
            let lang = crate::language_of_path(path).unwrap();
            let facts = crate::extract_facts(lang, path, text.as_bytes());
            crate::GraphChange::Put { path: (*path).to_owned(), facts }
        };
        let mut graph = SymbolGraph::default();
        graph.update(texts.iter().map(put).collect(), 1);
        // The indexer gives both functions the same symbol.
        let symbol = "rust-analyzer cargo p 1 rt().";
        let definition = ScipOccurrence { is_definition: true, ..occurrence(symbol, 0, (3, 5)) };
        let file = |path: &str, occurrences| ScipFile {
            path: path.to_owned(),
            occurrences,
            ..ScipFile::default()
        };
        let index = [
            file("one.rs", vec![definition.clone(), occurrence(symbol, 1, (9, 11))]),
            file("two.rs", vec![definition, occurrence(symbol, 1, (9, 11))]),
            file("three.rs", vec![occurrence(symbol, 0, (9, 11))]),
        ];
        let read_text =
            |_, path: &str| texts.iter().find(|it| it.0 == path).map(|it| it.1.as_bytes().to_vec());
        let fitted = fit_index(&graph, &index, &read_text);
        let target_paths =
            |it: &PreciseReferences| it.definitions.iter().map(|it| it.path.to_string()).collect();
        let targets: Vec<Vec<String>> = fitted.files.iter().map(|it| target_paths(&it.1)).collect();
        assert_eq!(targets, [vec!["one.rs"], vec!["two.rs"], vec![]]);
    }
}
