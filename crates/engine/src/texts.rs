//! Every text of a memory, in one list: whoever looks for secrets looks everywhere or nowhere.

use std::borrow::Cow;

use model::{Actor, Kind, Memory, MemoryId, MemoryType, RelationTarget};
use store::Store;

use crate::Error;
use crate::carry::everything;

/// Every text that is kept of a memory, with the name of its place. A payload is one text, as stored.
pub(crate) fn texts(memory: &Memory) -> Vec<(&'static str, Cow<'_, str>)> {
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
    acc.extend(memory.payload.iter().map(|it| ("payload", it.to_json().to_string().into())));
    acc
}

/// The secrets that today's rules find in any text of a memory.
pub(crate) fn secrets_of(memory: &Memory) -> Vec<String> {
    let found = |text: &str| -> Vec<String> {
        secrets::scan(text).iter().map(|it| text[it.start..it.end].to_owned()).collect()
    };
    texts(memory).iter().flat_map(|it| found(&it.1)).collect()
}

/// The memory with every secret masked; `None` when it holds none. What cannot be masked and stay
/// what it is — a path, a payload, a type of somebody's own — is left out.
pub(crate) fn redacted(memory: &Memory) -> Option<Memory> {
    if secrets_of(memory).is_empty() {
        return None;
    }
    let mut res = memory.clone();
    let mask = |it: &mut String| *it = secrets::redact(it).text;
    let clean = |it: &str| secrets::scan(it).is_empty();
    for text in [&mut res.content, &mut res.summary, &mut res.citation] {
        mask(text);
    }
    res.tags.iter_mut().for_each(mask);
    res.modules.iter_mut().for_each(mask);
    res.commit.iter_mut().for_each(mask);
    res.branch.iter_mut().for_each(mask);
    res.states.deprecated_reason.iter_mut().for_each(mask);
    res.files.retain(|it| clean(it.as_str()));
    for anchor in &mut res.anchors {
        mask(&mut anchor.symbol);
        mask(&mut anchor.hash);
    }
    res.anchors.retain(|it| clean(it.file.as_str()));
    res.relations.retain(|it| match &it.target {
        RelationTarget::File(file) => clean(file.as_str()),
        RelationTarget::Memory(_) => true,
    });
    if let Some(unit) = &mut res.work_unit {
        mask(&mut unit.methodology);
        mask(&mut unit.label);
        unit.hierarchy.iter_mut().for_each(mask);
    }
    if let Actor::Agent(name) | Actor::Runner(name) | Actor::Import(name) = &mut res.created_by {
        mask(name);
    }
    if !clean(res.kind.slug()) {
        res.kind = MemoryType::Core(Kind::ModuleInsight);
    }
    res.payload = res.payload.filter(|it| clean(&it.to_json().to_string()));
    Some(res)
}

/// Everything a store says or ever said: its memories, then their earlier versions.
pub(crate) async fn ever(store: &Store) -> Result<Vec<Memory>, Error> {
    let mut res = everything(store).await?;
    res.extend(store.every_version().await?);
    Ok(res)
}

/// The memories of a store in which, or in whose past, a secret is found; each once.
pub(crate) async fn holding_secrets(store: &Store) -> Result<Vec<MemoryId>, Error> {
    let all = ever(store).await?;
    let mut res: Vec<MemoryId> =
        all.iter().filter(|it| !secrets_of(it).is_empty()).map(|it| it.id).collect();
    res.sort_unstable();
    res.dedup();
    Ok(res)
}
