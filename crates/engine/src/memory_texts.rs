//! All texts of a memory, listed in one place so that a search for secrets cannot miss one.
//!
//! `purge` and `doctor` look for secrets that the current rules find in stored memories; `export`
//! masks them, and so does every write of a notebook. [`memory_texts`] names every field of `Memory`,
//! so that it does not compile until a new field is listed or left out on purpose.

use std::borrow::Cow;

use model::{Actor, Memory, MemoryId, MemoryKind, MemoryType, Payload, RelationTarget};
use store::{StoreChange, StoreReader, WriteBatch};

use crate::Error;
use crate::export::list_all_memories;

/// Parts of a memory that are paths, or names and hashes of symbols.
const PATH_PARTS: &[&str] = &["file", "anchor", "relation"];

/// Every stored text of a memory, with the name of its field. A payload is one text, as stored.
pub(crate) fn memory_texts(memory: &Memory) -> Vec<(&'static str, Cow<'_, str>)> {
    #[rustfmt::skip]
    let Memory {
        content, summary, citation, kind, created_by, tags, modules, files, commit, branch, states,
        anchors, relations, work_unit, payload,
        // Ids, numbers, times and closed words.
        id: _, project: _, source: _, scope: _, visibility: _, confidence: _, session: _,
        provenance: _, half_life_days: _, flags: _, created_at: _, updated_at: _, version: _,
        hlc: _, counters: _,
    } = memory;
    let mut acc: Vec<(&'static str, Cow<'_, str>)> = vec![
        ("content", content.into()),
        ("summary", summary.into()),
        ("citation", citation.into()),
        ("type", kind.slug().into()),
        ("author", created_by.to_string().into()),
    ];
    acc.extend(tags.iter().map(|it| ("tag", it.into())));
    acc.extend(modules.iter().map(|it| ("module", it.into())));
    acc.extend(files.iter().map(|it| ("file", it.as_str().into())));
    acc.extend(commit.iter().map(|it| ("commit", it.into())));
    acc.extend(branch.iter().map(|it| ("branch", it.into())));
    acc.extend(states.deprecated_reason.iter().map(|it| ("reason", it.into())));
    for anchor in anchors {
        acc.push(("anchor", anchor.file.as_str().into()));
        acc.push(("anchor", anchor.symbol.as_str().into()));
        acc.push(("anchor", anchor.hash.as_str().into()));
    }
    for relation in relations {
        if let RelationTarget::File(file) = &relation.target {
            acc.push(("relation", file.as_str().into()));
        }
    }
    if let Some(unit) = work_unit {
        acc.push(("work unit", unit.methodology.as_str().into()));
        acc.push(("work unit", unit.label.as_str().into()));
        acc.extend(unit.hierarchy.iter().map(|it| ("work unit", it.as_str().into())));
    }

    // One text: a secret can be in any field of the payload, also in one that this version ignores.
    acc.extend(payload.iter().map(|it| ("payload", it.to_json().to_string().into())));
    acc
}

/// The secrets that the current rules find in any text of a memory.
pub(crate) fn find_secrets_in_memory(memory: &Memory) -> Vec<String> {
    let mut found = Vec::new();
    for (part, text) in memory_texts(memory) {
        for secret in scan_part(part, &text) {
            found.push(text[secret.start..secret.end].to_owned());
        }
    }
    found
}

/// Searches one text of a memory. In a path only known formats count: folders named by a hash, and
/// names such as `token=abc`, are no secrets.
fn scan_part(part: &str, text: &str) -> Vec<secrets::SecretFinding> {
    if PATH_PARTS.contains(&part) { secrets::scan_path(text) } else { secrets::scan(text) }
}

/// The memory with every secret masked; `None` if it holds none. Values that a mask would make
/// invalid (paths, custom types, some payloads) are left out.
pub(crate) fn mask_memory(memory: &Memory) -> Option<Memory> {
    if find_secrets_in_memory(memory).is_empty() {
        return None;
    }
    let mut masked = memory.clone();
    let mask = |it: &mut String| *it = secrets::redact(it).text;
    let is_clean_path = |it: &str| secrets::scan_path(it).is_empty();
    for text in [&mut masked.content, &mut masked.summary, &mut masked.citation] {
        mask(text);
    }
    masked.tags.iter_mut().for_each(mask);
    masked.modules.iter_mut().for_each(mask);
    masked.commit.iter_mut().for_each(mask);
    masked.branch.iter_mut().for_each(mask);
    masked.states.deprecated_reason.iter_mut().for_each(mask);

    // A masked path would name another file.
    masked.files.retain(|it| is_clean_path(it.as_str()));
    for anchor in &mut masked.anchors {
        mask(&mut anchor.symbol);
        mask(&mut anchor.hash);
    }
    masked.anchors.retain(|it| is_clean_path(it.file.as_str()));
    masked.relations.retain(|it| match &it.target {
        RelationTarget::File(file) => is_clean_path(file.as_str()),
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
    if !secrets::scan(masked.kind.slug()).is_empty() {
        masked.kind = MemoryType::Core(MemoryKind::ModuleInsight);
    }
    masked.payload = masked.payload.and_then(|it| mask_payload(&masked.kind, &it));
    Some(masked)
}

/// The payload with every secret masked; `None` if the masks make it invalid or one is left.
fn mask_payload(kind: &MemoryType, payload: &Payload) -> Option<Payload> {
    let mut json = payload.to_json();
    store::mask_payload(&mut json);
    let MemoryType::Core(kind) = kind else { return None };
    let masked = Payload::parse(*kind, &json).ok()?;
    secrets::scan(&masked.to_json().to_string()).is_empty().then_some(masked)
}

/// Masks the secrets in every memory and every text of a batch. Every write passes here: texts of
/// users were admitted or refused before, so it only changes what programs wrote.
pub(crate) fn mask_batch(batch: &mut WriteBatch) {
    if let Actor::Agent(name) | Actor::Runner(name) | Actor::Import(name) = &mut batch.actor {
        *name = secrets::redact(name).text;
    }
    if let Some(detail) = &mut batch.detail {
        *detail = secrets::redact(detail).text;
    }
    for change in &mut batch.changes {
        if let StoreChange::Insert(memory) | StoreChange::Replace(memory) = change
            && let Some(masked) = mask_memory(memory)
        {
            **memory = masked;
        }
    }
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
