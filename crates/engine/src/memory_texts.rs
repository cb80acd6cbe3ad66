//! All texts of a memory, listed in one place so that a search for secrets cannot miss one.
//!
//! `purge` and `doctor` look for secrets that the current rules find in stored memories, and `export`
//! masks them. A new text field of `Memory` must be added to [`memory_texts`] and [`mask_memory`].

use std::borrow::Cow;

use model::{Actor, Memory, MemoryId, MemoryKind, MemoryType, RelationTarget};
use store::StoreReader;

use crate::Error;
use crate::export::list_all_memories;

/// Every stored text of a memory, with the name of its field. A payload is one text, as stored.
pub(crate) fn memory_texts(memory: &Memory) -> Vec<(&'static str, Cow<'_, str>)> {
    let mut acc: Vec<(&'static str, Cow<'_, str>)> = vec![
        ("content", memory.content.as_str().into()),
        ("summary", memory.summary.as_str().into()),
        ("citation", memory.citation.as_str().into()),
        ("type", memory.kind.slug().into()),
        ("author", memory.created_by.to_string().into()),
    ];
    acc.extend(memory.tags.iter().map(|it| ("tag", it.as_str().into())));
    acc.extend(memory.modules.iter().map(|it| ("module", it.as_str().into())));
    acc.extend(memory.files.iter().map(|it| ("file", it.as_str().into())));
    acc.extend(memory.commit.iter().map(|it| ("commit", it.as_str().into())));
    acc.extend(memory.branch.iter().map(|it| ("branch", it.as_str().into())));
    acc.extend(memory.states.deprecated_reason.iter().map(|it| ("reason", it.as_str().into())));
    for anchor in &memory.anchors {
        acc.push(("anchor", anchor.file.as_str().into()));
        acc.push(("anchor", anchor.symbol.as_str().into()));
        acc.push(("anchor", anchor.hash.as_str().into()));
    }
    for relation in &memory.relations {
        if let RelationTarget::File(file) = &relation.target {
            acc.push(("relation", file.as_str().into()));
        }
    }
    if let Some(unit) = &memory.work_unit {
        acc.push(("work unit", unit.methodology.as_str().into()));
        acc.push(("work unit", unit.label.as_str().into()));
        acc.extend(unit.hierarchy.iter().map(|it| ("work unit", it.as_str().into())));
    }

    // One text: a secret can be in any field of the payload, also in one that this version ignores.
    acc.extend(memory.payload.iter().map(|it| ("payload", it.to_json().to_string().into())));
    acc
}

/// The secrets that the current rules find in any text of a memory.
pub(crate) fn find_secrets_in_memory(memory: &Memory) -> Vec<String> {
    let mut found = Vec::new();
    for (_, text) in memory_texts(memory) {
        for secret in secrets::scan(&text) {
            found.push(text[secret.start..secret.end].to_owned());
        }
    }
    found
}

/// The memory with every secret masked; `None` if it holds none. Values that a mask would make
/// invalid (paths, payloads, custom types) are left out.
pub(crate) fn mask_memory(memory: &Memory) -> Option<Memory> {
    if find_secrets_in_memory(memory).is_empty() {
        return None;
    }
    let mut masked = memory.clone();
    let mask = |it: &mut String| *it = secrets::redact(it).text;
    let is_clean = |it: &str| secrets::scan(it).is_empty();
    for text in [&mut masked.content, &mut masked.summary, &mut masked.citation] {
        mask(text);
    }
    masked.tags.iter_mut().for_each(mask);
    masked.modules.iter_mut().for_each(mask);
    masked.commit.iter_mut().for_each(mask);
    masked.branch.iter_mut().for_each(mask);
    masked.states.deprecated_reason.iter_mut().for_each(mask);

    // A masked path would name another file.
    masked.files.retain(|it| is_clean(it.as_str()));
    for anchor in &mut masked.anchors {
        mask(&mut anchor.symbol);
        mask(&mut anchor.hash);
    }
    masked.anchors.retain(|it| is_clean(it.file.as_str()));
    masked.relations.retain(|it| match &it.target {
        RelationTarget::File(file) => is_clean(file.as_str()),
        RelationTarget::Memory(_) => true,
    });
    if let Some(unit) = &mut masked.work_unit {
        mask(&mut unit.methodology);
        mask(&mut unit.label);
        unit.hierarchy.iter_mut().for_each(mask);
    }
    if let Actor::Agent(name) | Actor::Runner(name) | Actor::Import(name) = &mut masked.created_by {
        mask(name);
    }

    // Only a custom type can hold a secret; a masked slug would be an undeclared type.
    if !is_clean(masked.kind.slug()) {
        masked.kind = MemoryType::Core(MemoryKind::ModuleInsight);
    }
    masked.payload = masked.payload.filter(|it| is_clean(&it.to_json().to_string()));
    Some(masked)
}

/// Every memory of a store in every version: the current ones first.
pub(crate) async fn list_all_versions(store: &StoreReader) -> Result<Vec<Memory>, Error> {
    let mut versions = list_all_memories(store).await?;
    versions.extend(store.history().list_all_versions().await?);
    Ok(versions)
}

/// The memories that hold a secret in any version, each once.
pub(crate) async fn list_memories_with_secrets(
    store: &StoreReader,
) -> Result<Vec<MemoryId>, Error> {
    let versions = list_all_versions(store).await?;
    let with_secrets = versions.iter().filter(|it| !find_secrets_in_memory(it).is_empty());
    let mut ids: Vec<MemoryId> = with_secrets.map(|it| it.id).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
