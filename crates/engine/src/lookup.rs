//! Lookup of memories by id and by filter, in the project's notebook and the user's; and small helpers
//! that search and lookup share: which notebooks are in scope, which memories the user excluded, how
//! terms are quoted and matched. A short id is the last eight characters of an id. *Quiet spans* are
//! times without work, in which memories do not age.

use std::collections::HashSet;

use model::{Memory, MemoryId, PerMille, ProjectPath, RelationTarget, current_confidence};
use store::MemoryFilter;

use crate::correction::EXCLUSION_PREFIX;
use crate::housekeeping::quiet_spans;
use crate::retrieval::{FileRenames, find_renames};
use crate::{Error, Notebook, NotebookScope, ProjectReader};

/// A number with its noun: `1 memory`, `2 memories`.
pub fn format_count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// A memory and the notebook that has it.
#[derive(Clone)]
pub struct LocatedMemory {
    pub notebook: Notebook,
    pub memory: Memory,
}

/// A memory with its confidence now: the stored confidence, lowered by age.
#[derive(Clone, Debug)]
pub struct RatedMemory {
    pub memory: Memory,
    pub scope: NotebookScope,
    pub current_confidence: PerMille,
}

/// Characters of the shortest id prefix that is looked up; fewer are probably a typing error.
pub(crate) const MIN_PREFIX_CHARS: usize = 4;

/// Finds the one memory that an id names: a full id, a prefix of the short form, or the beginning or the end of
/// the full one.
pub(crate) async fn find_by_id(reader: &ProjectReader, id: &str) -> Result<LocatedMemory, Error> {
    let prefix = id.trim().trim_start_matches('#').to_ascii_lowercase();
    let full_id: Option<MemoryId> = prefix.parse().ok();
    let is_prefix = prefix.len() >= MIN_PREFIX_CHARS
        && prefix.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if full_id.is_none() && !is_prefix {
        let hint =
            "an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them";
        return Err(Error::refuse(format!("`{id}` is not the id of a memory"), hint));
    }

    // Both notebooks are searched: a short id may be ambiguous across them.
    let mut found = Vec::new();
    for notebook in reader.notebooks() {
        let memories = match full_id {
            Some(id) => notebook.store.memories().get(id).await?.into_iter().collect(),
            None => notebook.store.memories().find_by_short_id(prefix.clone()).await?,
        };
        let locate = |memory| LocatedMemory { notebook: notebook.clone(), memory };
        found.extend(memories.into_iter().map(locate));
    }
    if found.is_empty() && full_id.is_none() {
        found = find_by_id_part(reader, &prefix).await?;
    }
    match found.len() {
        0 => Err(Error::NotFound { id: id.to_owned() }),
        1 => Ok(found.remove(0)),
        _ => {
            let matches = found.iter().map(|it| it.memory.id.to_string()).collect();
            Err(Error::Ambiguous { id: id.to_owned(), matches })
        }
    }
}

/// Memories in any state whose full id begins or ends with some characters, with or without its hyphens.
async fn find_by_id_part(reader: &ProjectReader, part: &str) -> Result<Vec<LocatedMemory>, Error> {
    let part = part.replace('-', "");
    let mut found = Vec::new();
    for notebook in reader.notebooks() {
        for memory in notebook.store.memories().find_by_id_part(part.clone()).await? {
            found.push(LocatedMemory { notebook: notebook.clone(), memory });
        }
    }
    Ok(found)
}

/// Lists the memories that pass a filter, newest first, the project's before the user's. A filter for a file
/// also finds memories that know it by an earlier name, after the others.
pub(crate) async fn list_memories(
    reader: &ProjectReader,
    filter: &MemoryFilter,
    scope: Option<NotebookScope>,
) -> Result<Vec<RatedMemory>, Error> {
    let mut listed = Vec::new();
    let user_excluded = user_excluded_memories(reader).await?;
    // A memory may know the file by an earlier name.
    let renames = match filter.file {
        Some(_) => find_renames(reader).await?,
        None => FileRenames::default(),
    };
    for notebook in notebooks_in_scope(reader, scope) {
        let filter = from_first_page(filter, user_excluded.len());
        let mut memories = Vec::new();
        for filter in renames.expand_filter(&filter) {
            memories.extend(notebook.store.memories().list(filter).await?);
        }
        // One memory may name the file by both names.
        let mut known = HashSet::new();
        memories.retain(|it| known.insert(it.id));
        let is_project = notebook.scope == NotebookScope::Project;
        // Only memories of the user's notebook can be excluded from a project.
        memories.retain(|it| is_project || !user_excluded.contains(&it.id));
        listed.extend(rate_memories(reader, &notebook, memories).await?);
    }
    Ok(take_page(listed, filter))
}

/// Adds the current confidence to memories of one notebook.
pub(crate) async fn rate_memories(
    reader: &ProjectReader,
    notebook: &Notebook,
    memories: Vec<Memory>,
) -> Result<Vec<RatedMemory>, Error> {
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let quiet = quiet_spans(reader, &notebook.store).await?;
    let rate = |memory: Memory| {
        let current_confidence =
            current_confidence(&memory, &reader.config.types, reader.now, &quiet);
        RatedMemory { memory, scope: notebook.scope, current_confidence }
    };
    Ok(memories.into_iter().map(rate).collect())
}

/// Lists the related memories that no notebook has: they were erased or never imported.
pub(crate) async fn missing_relation_targets(
    reader: &ProjectReader,
    memory: &Memory,
) -> Result<Vec<MemoryId>, Error> {
    let mut missing = Vec::new();
    for relation in &memory.relations {
        // A relation to a file is not looked up: files are checked for staleness.
        let RelationTarget::Memory(id) = relation.target else { continue };
        let mut is_found = false;
        for notebook in reader.notebooks() {
            is_found |= notebook.store.memories().get(id).await?.is_some();
        }
        if !is_found {
            missing.push(id);
        }
    }
    Ok(missing)
}

/// The memories of the user's notebook that the user excluded from this project.
pub(crate) async fn user_excluded_memories(reader: &ProjectReader) -> Result<Vec<MemoryId>, Error> {
    let Some(store) = reader.project_store_reader().filter(store::StoreReader::exists) else {
        return Ok(Vec::new());
    };
    // An exclusion is a setting of the project, with the id of the memory in its key.
    let mut excluded = Vec::new();
    for (key, _) in store.settings().await? {
        if let Some(id) = key.strip_prefix(EXCLUSION_PREFIX)
            && let Ok(id) = id.parse()
        {
            excluded.push(id);
        }
    }
    Ok(excluded)
}

/// The notebooks that exist in a scope; both without one.
pub(crate) fn notebooks_in_scope(
    reader: &ProjectReader,
    scope: Option<NotebookScope>,
) -> Vec<Notebook> {
    let mut notebooks = reader.notebooks();
    notebooks.retain(|it| scope.is_none_or(|scope| scope == it.scope));
    notebooks
}

/// The filter for one notebook. The page is cut from the joined list of both, so each notebook returns
/// everything up to the end of the page, plus as many memories as may be excluded afterwards.
fn from_first_page(filter: &MemoryFilter, n_excluded: usize) -> MemoryFilter {
    let n_excluded = u32::try_from(n_excluded).unwrap_or(u32::MAX);
    let limit = filter.offset.saturating_add(filter.limit).saturating_add(n_excluded);
    MemoryFilter { offset: 0, limit, ..filter.clone() }
}

/// The page that a filter asks for.
fn take_page<T>(all: Vec<T>, filter: &MemoryFilter) -> Vec<T> {
    let to_usize = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
    all.into_iter().skip(to_usize(filter.offset)).take(to_usize(filter.limit)).collect()
}

/// Builds the full-text expression that matches any of some terms. Terms are quoted, so that nothing
/// a user types is an operator.
pub(crate) fn any_term_expression(terms: &[String]) -> String {
    let quote = |it: &String| format!("\"{}\"", it.replace('"', "\"\""));
    terms.iter().map(quote).collect::<Vec<String>>().join(" OR ")
}

/// The terms that occur in the text, the tags or the file names of a memory. A term may be a part of
/// an identifier, so it need not be a whole word.
pub(crate) fn shared_terms(terms: &[String], memory: &Memory) -> Vec<String> {
    let tags = memory.tags.iter().map(String::as_str);
    let mut text = memory.content.to_lowercase();
    for part in tags.chain(memory.files.iter().map(ProjectPath::as_str)) {
        text.push(' ');
        text.push_str(&part.to_lowercase());
    }
    terms.iter().filter(|it| text.contains(it.as_str())).cloned().collect()
}
