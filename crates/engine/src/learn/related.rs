//! Loading, second phase: builds memories from the kept drafts, and loads the stored memories that
//! they may repeat or contradict.
//!
//! A *draft* is the wording of a memory, composed from the *sightings* (occurrences in sessions) of
//! one pattern. A *synthesis* is a statement of a language model about a module. An *anchor* is a symbol that a text names, with the hash of its code.
//!
//! Runs after the drafts are judged, because a search per draft is expensive and most drafts are
//! dropped. Random bytes for ids and the anchors in source files are read here too, so that
//! [`plan_lesson`](super::plan::plan_lesson), which takes the result, is pure.

use std::collections::HashMap;
use std::path::Path;

use model::{Memory, MemoryId, MemoryKind, MemoryType, SignalKind};
use observe::{MemoryDraft, SessionOverview};
use source::GitHead;
use store::{MemoryFilter, StoreReader};

use super::candidates::JudgedSighting;
use super::fresh_memory::{FreshMemory, MemoryParts, memory_from_draft};
use super::novelty::needs_comparison;
use super::plan::LessonDrafts;
use super::synthesis::synthesis_from_draft;
use super::work_unit::{MAX_STORED_OUTCOMES, outcome_verdict};
use crate::anchor::anchors_in_text;
use crate::draft_resolution::{MAX_COMPARED_MEMORIES, similar_memories, similar_with_candidates};
use crate::{Error, ProjectReader};

/// The memories built from a lesson's drafts, and the stored memories to compare them with.
#[derive(Default)]
pub(super) struct RelatedMemories {
    /// Stored memories that earlier sessions made from the same patterns.
    pub(super) known_by_id: HashMap<MemoryId, Memory>,
    /// For each judged sighting, the memory built from its draft if it was kept.
    pub(super) fresh: Vec<Option<FreshMemory>>,
    /// The memories built from the model's statements about a module.
    pub(super) syntheses: Vec<FreshMemory>,
    pub(super) work_unit_outcome: Option<FreshMemory>,
}

/// Builds the memories of a lesson's drafts and loads everything they are compared with.
pub(super) async fn load_related(
    reader: &ProjectReader,
    session: &SessionOverview,
    drafts: &LessonDrafts,
) -> Result<RelatedMemories, Error> {
    let store = reader.project_store_reader().expect("loading a lesson registers the project");
    let head = session_head(reader, session);

    // The memories that earlier sessions made from the same patterns.
    let mut ids: Vec<MemoryId> = Vec::new();
    for judged in &drafts.judged {
        ids.extend(judged.memory);
    }
    ids.sort_unstable();
    ids.dedup();

    // An erased memory is missing here; its pattern then counts as new.
    let known = store.memories().get_many(ids).await?;
    let known: HashMap<MemoryId, Memory> = known.into_iter().map(|it| (it.id, it)).collect();

    // Each draft draws random bytes for its id. The order below is fixed (sightings, syntheses,
    // work unit), so that the same sessions and bytes give the same ids.
    let mut fresh = Vec::new();
    for judged in &drafts.judged {
        fresh.push(load_fresh(reader, &store, session, judged, &known, &head).await?);
    }
    let mut syntheses = Vec::new();
    for draft in drafts.syntheses.clone() {
        let parts = load_parts(reader, &draft, &head);
        // Never `None`: a synthesis always has the verdict to keep it.
        let Some(memory) = synthesis_from_draft(session, draft, parts) else { continue };
        let similar = similar_memories(&store, &memory.content, MAX_COMPARED_MEMORIES).await?;
        syntheses.push(FreshMemory { memory, similar });
    }
    let mut work_unit = None;
    if let Some(draft) = drafts.work_unit_outcome.clone() {
        let parts = load_parts(reader, &draft, &head);
        let verdict = outcome_verdict(&draft.content);
        // The signal only decides the author; any observed one makes it the observer.
        let signal = SignalKind::CoAccess;
        let memory = memory_from_draft(session, draft, signal, &verdict, parts);
        // The earlier result of the unit is found by the unit's name, not by similar words:
        // "Subtask 3" and "Subtask 4" are similar.
        let kind = MemoryType::Core(MemoryKind::WorkUnitOutcome);
        let similar = list_kind(&store, &kind, MAX_STORED_OUTCOMES).await?;
        work_unit = memory.map(|memory| FreshMemory { memory, similar });
    }
    Ok(RelatedMemories { known_by_id: known, fresh, syntheses, work_unit_outcome: work_unit })
}

/// Builds the memory of a kept draft; `None` for a dropped one. Searches for similar memories,
/// unless the pattern has a stored memory or its key alone identifies it.
async fn load_fresh(
    reader: &ProjectReader,
    store: &StoreReader,
    session: &SessionOverview,
    judged: &JudgedSighting,
    known: &HashMap<MemoryId, Memory>,
    head: &GitHead,
) -> Result<Option<FreshMemory>, Error> {
    let Some(draft) = judged.draft.clone().filter(|_| judged.is_kept()) else { return Ok(None) };
    let parts = load_parts(reader, &draft, head);
    let signal = judged.sighting.signal();
    let memory = memory_from_draft(session, draft, signal, &judged.verdict, parts);
    let Some(memory) = memory else { return Ok(None) };
    let is_stored = judged.memory.is_some_and(|it| known.contains_key(&it));
    let similar = if is_stored || !needs_comparison(signal) {
        Vec::new()
    } else {
        similar_with_candidates(store, &memory.content).await?
    };
    Ok(Some(FreshMemory { memory, similar }))
}

/// Reads the parts of a memory that need I/O: random bytes and the anchors of the symbols that the
/// draft names.
pub(super) fn load_parts(
    reader: &ProjectReader,
    draft: &MemoryDraft,
    head: &GitHead,
) -> MemoryParts {
    MemoryParts {
        project: reader.state.id(),
        // Anchors hash the symbols as they are now, which may be later than the session.
        anchors: anchors_in_text(reader, &draft.content, &draft.files),
        entropy: (reader.config.random)(),
        head: head.clone(),
    }
}

/// Reads the branch and commit that were checked out when the session ended; empty if the reflog of its
/// working tree does not reach back to it.
pub(super) fn session_head(reader: &ProjectReader, session: &SessionOverview) -> GitHead {
    // A session in another worktree has a head of its own. If its folder is gone or was moved, the
    // present place of the project stands for it.
    let root = Path::new(&session.root);
    let own_place = if session.root.is_empty() || root == reader.place.root {
        None
    } else {
        source::locate_project(root, None).ok().filter(|it| it.key_dir == reader.place.key_dir)
    };
    let place = own_place.as_ref().unwrap_or(&reader.place);
    source::read_head_at(place, session.ended.0 / 1000).unwrap_or_default()
}

async fn list_kind(
    store: &StoreReader,
    kind: &MemoryType,
    limit: u32,
) -> Result<Vec<Memory>, Error> {
    let kind = Some(kind.slug().to_owned());
    Ok(store.memories().list(MemoryFilter { kind, ..MemoryFilter::active(limit) }).await?)
}
