//! Loading, second phase: makes memories of the drafts and reads the stored memories they may repeat
//! or contradict.
//!
//! Runs after the verdicts, because a search per draft is expensive and most drafts are dropped.
//! The random part of ids and the anchors in source files are read here too, so that planning is
//! pure.

use std::collections::HashMap;

use model::{Memory, MemoryId, MemoryKind, MemoryType, SignalKind};
use observe::{MemoryDraft, SessionOverview};
use store::{MemoryFilter, StoreReader};

use super::candidates::JudgedSighting;
use super::fresh_memory::{FreshMemory, MemoryParts, memory_from_draft};
use super::novelty::needs_comparison;
use super::plan::LessonDrafts;
use super::synthesis::{
    MAX_COMPARED_SYNTHESES, SYNTHESIS_TAG, SynthesisSource, synthesis_from_draft,
};
use super::work_unit::{MAX_STORED_OUTCOMES, outcome_verdict};
use crate::anchor::anchors_in_text;
use crate::draft_resolution::{MAX_COMPARED_MEMORIES, similar_memories};
use crate::{Error, ProjectReader};

/// The memories made of a lesson's drafts, and the stored memories that planning needs.
#[derive(Default)]
pub(super) struct RelatedMemories {
    /// Stored memories that earlier sightings of the patterns name.
    pub(super) known: HashMap<MemoryId, Memory>,
    /// For each judged sighting, the memory made of its draft if it was kept.
    pub(super) fresh: Vec<Option<FreshMemory>>,
    /// For each due module, the memories made of its drafts.
    pub(super) syntheses: Vec<Vec<FreshMemory>>,
    /// All stored syntheses; empty if no module is due.
    pub(super) earlier_syntheses: Vec<Memory>,
    pub(super) work_unit: Option<FreshMemory>,
}

/// Loads everything that the drafts of a lesson are compared with.
pub(super) async fn load_related(
    reader: &ProjectReader,
    session: &SessionOverview,
    drafts: &LessonDrafts,
) -> Result<RelatedMemories, Error> {
    let store = reader.project_store().expect("loading a lesson registers the project");
    let named = drafts.judged.iter().flat_map(|it| it.memory.iter().chain(&it.overtaken).copied());
    let mut ids: Vec<MemoryId> = named.collect();
    ids.sort_unstable();
    ids.dedup();
    // A memory that was erased since is missing here; its pattern then counts as new.
    let known = store.memories().get_many(ids).await?;
    let known: HashMap<MemoryId, Memory> = known.into_iter().map(|it| (it.id, it)).collect();
    // The order of the drafts decides which random bytes each id gets: sightings, then syntheses,
    // then the work unit.
    let mut fresh = Vec::new();
    for it in &drafts.judged {
        fresh.push(load_fresh(reader, &store, session, it, &known).await?);
    }
    let mut syntheses = Vec::new();
    for module_drafts in drafts.syntheses.clone() {
        let source = drafts.synthesis_source;
        syntheses.push(load_syntheses(reader, &store, session, module_drafts, source).await?);
    }
    let earlier_syntheses = if drafts.syntheses.is_empty() {
        Vec::new()
    } else {
        let tag = Some(SYNTHESIS_TAG.to_owned());
        let tagged = MemoryFilter { tag, ..MemoryFilter::active(MAX_COMPARED_SYNTHESES) };
        store.memories().list(tagged).await?
    };
    let mut work_unit = None;
    if let Some(draft) = drafts.work_unit.clone() {
        let parts = load_parts(reader, &draft);
        let verdict = outcome_verdict();
        let memory = memory_from_draft(session, draft, SignalKind::Recorded, &verdict, parts);
        // A unit is found by its name, not by similar words: "Subtask 3" and "Subtask 4" are similar.
        let kind = MemoryType::Core(MemoryKind::WorkUnitOutcome);
        let similar = list_kind(&store, &kind, MAX_STORED_OUTCOMES).await?;
        work_unit = memory.map(|memory| FreshMemory { memory, similar });
    }
    Ok(RelatedMemories { known, fresh, syntheses, earlier_syntheses, work_unit })
}

/// Makes the memory of a kept draft and searches for similar ones, unless the pattern has a memory
/// already or is known by its key alone.
async fn load_fresh(
    reader: &ProjectReader,
    store: &StoreReader,
    session: &SessionOverview,
    judged: &JudgedSighting,
    known: &HashMap<MemoryId, Memory>,
) -> Result<Option<FreshMemory>, Error> {
    let Some(draft) = judged.draft.clone().filter(|_| judged.is_kept()) else { return Ok(None) };
    let parts = load_parts(reader, &draft);
    let signal = judged.sighting.signal();
    let memory = memory_from_draft(session, draft, signal, &judged.verdict, parts);
    let Some(memory) = memory else { return Ok(None) };
    let is_stored = judged.memory.is_some_and(|it| known.contains_key(&it));
    let similar = if is_stored || !needs_comparison(signal) {
        Vec::new()
    } else {
        similar_memories(store, &memory.content, MAX_COMPARED_MEMORIES).await?
    };
    Ok(Some(FreshMemory { memory, similar }))
}

/// Makes syntheses of drafts and loads the memories of the same type or with the same words.
pub(super) async fn load_syntheses(
    reader: &ProjectReader,
    store: &StoreReader,
    session: &SessionOverview,
    drafts: Vec<MemoryDraft>,
    source: SynthesisSource,
) -> Result<Vec<FreshMemory>, Error> {
    let mut acc = Vec::new();
    for draft in drafts {
        let parts = load_parts(reader, &draft);
        let memory = synthesis_from_draft(session, draft, source, parts);
        let Some(memory) = memory else { continue };
        // Syntheses are matched by the subject of their payload, which a search for words can miss.
        let mut similar = list_kind(store, &memory.kind, MAX_COMPARED_SYNTHESES).await?;
        similar.extend(similar_memories(store, &memory.content, MAX_COMPARED_MEMORIES).await?);
        acc.push(FreshMemory { memory, similar });
    }
    Ok(acc)
}

async fn list_kind(
    store: &StoreReader,
    kind: &MemoryType,
    limit: u32,
) -> Result<Vec<Memory>, Error> {
    let kind = Some(kind.slug().to_owned());
    Ok(store.memories().list(MemoryFilter { kind, ..MemoryFilter::active(limit) }).await?)
}

/// Draws the random part of an id and reads the anchors of the symbols that a draft names.
fn load_parts(reader: &ProjectReader, draft: &MemoryDraft) -> MemoryParts {
    MemoryParts {
        project: reader.state.id(),
        // Anchors hash the symbols as they are now, which may be later than the session.
        anchors: anchors_in_text(reader, &draft.content, &draft.files),
        entropy: (reader.config.random)(),
    }
}
