//! Consolidation: merges memories that state the same into one, with the evidence of both.
//!
//! Learning compares a new statement with the stored ones only once. Texts change afterwards, and a
//! long session that reports subtasks is learned subtask by subtask, so duplicates can arise. This
//! file searches for them at the end of such a session and once a week. Of two duplicates one survives
//! and gains the sessions and files of the other, which is deprecated. A memory that the user protects
//! (wrote, confirmed or pinned) is never merged into another. *Tainted* means derived from text outside
//! the project.

use std::collections::HashMap;

use model::{
    Actor, Deprecation, Memory, MemoryId, Payload, PerMille, Relation, RelationKind,
    RelationTarget, Timestamp,
};
use promote::{MAX_EARNED_CONFIDENCE, MemoryStatement, StatementRelation};
use store::{AuditAction, MemoryFilter, StoreChange, StoreReader, WriteBatch};

use super::fresh_memory::MAX_PROVENANCE;
use super::protection::{is_active, is_user_protected};
use crate::draft_resolution::{
    MAX_COMPARED_MEMORIES, extend_unique, similar_memories, statement_of,
};
use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project};

/// Fewest succeeded subtasks of a session that ends with a consolidation.
pub(super) const MIN_SUBTASKS_TO_CONSOLIDATE: usize = 10;
/// Confidence that the duplicate adds to the survivor, in per mille.
const DUPLICATE_BONUS: u16 = 30;
/// Most memories that one run examines.
const MAX_EXAMINED_MEMORIES: u32 = 500;

/// A memory and the stored memories that share words with it, the best match first.
struct ExaminedMemory {
    memory: Memory,
    similar: Vec<Memory>,
}

/// A merge of two memories that state the same, both as this merge writes them.
struct PlannedMerge {
    survivor: Memory,
    /// Deprecated in favour of the survivor.
    duplicate: Memory,
}

/// Merges each memory that changed since `since` with a stored one that states the same. Returns
/// the deprecated duplicates. `at` is the time that the changed memories get, the end of the
/// learned session or now; the audit entry is always dated now.
pub(super) async fn consolidate_since(
    project: &Project,
    store: &StoreReader,
    since: Timestamp,
    at: Timestamp,
) -> Result<Vec<MemoryId>, Error> {
    let examined = load_examined(store, since).await?;
    let mut duplicates = Vec::new();
    for PlannedMerge { survivor, duplicate } in plan_merges(examined, at) {
        duplicates.push(duplicate.id);
        let changes = vec![
            StoreChange::MoveEvidence { from: duplicate.id, to: survivor.id },
            StoreChange::Replace(Box::new(duplicate)),
            StoreChange::Replace(Box::new(survivor)),
        ];
        // One batch per merge, so that each can be undone by itself.
        let batch = user_batch(AuditAction::Merge, project.now, changes);
        let batch = WriteBatch { actor: Actor::Observer, ..batch };
        project.write(NotebookScope::Project, batch).await?;
    }
    Ok(duplicates)
}

/// Loads the memories changed since a time, each with its similar ones.
async fn load_examined(
    store: &StoreReader,
    since: Timestamp,
) -> Result<Vec<ExaminedMemory>, Error> {
    let mut recent = store.memories().list(MemoryFilter::active(MAX_EXAMINED_MEMORIES)).await?;
    recent.retain(|it| it.updated_at >= since && is_sentence(it));
    // Oldest first, so that the result does not depend on the order of the list.
    recent.sort_by_key(|it| (it.created_at, it.id));
    // `plan_merges` skips matches that were merged away before it takes the best
    // `MAX_COMPARED_MEMORIES`. Each of the recent memories can cause one such merge, so this many
    // spares are loaded.
    let n_recent = u32::try_from(recent.len()).unwrap_or(u32::MAX);
    let limit = MAX_COMPARED_MEMORIES.saturating_add(n_recent);
    let mut acc = Vec::new();
    for memory in recent {
        let similar = similar_memories(store, &memory.content, limit).await?;
        acc.push(ExaminedMemory { memory, similar });
    }
    Ok(acc)
}

/// Plans the merges in the order they are written. A memory that takes part in several merges
/// enters each one in the state that the previous one left.
fn plan_merges(examined: Vec<ExaminedMemory>, at: Timestamp) -> Vec<PlannedMerge> {
    let mut merges: Vec<PlannedMerge> = Vec::new();
    let mut merged_away: Vec<MemoryId> = Vec::new();
    // Survivors as the store will have them after the write.
    let mut changed: HashMap<MemoryId, Memory> = HashMap::new();
    for ExaminedMemory { memory, similar } in examined {
        if merged_away.contains(&memory.id) {
            continue;
        }
        let latest = |it: Memory| changed.get(&it.id).cloned().unwrap_or(it);
        let similar = similar.into_iter().filter(|it| !merged_away.contains(&it.id));
        let similar = similar.take(MAX_COMPARED_MEMORIES as usize).map(latest).collect();
        let Some((survivor, duplicate)) = find_duplicate(latest(memory), similar) else { continue };
        let retired = retire_duplicate(&duplicate, &survivor, at);
        let after = merge_into(survivor, duplicate, at);
        merged_away.push(retired.id);
        // The store refuses a replacement of an older version, and increments the version with
        // each replacement.
        let stored = Memory { version: after.version + 1, ..after.clone() };
        changed.insert(stored.id, stored);
        merges.push(PlannedMerge { survivor: after, duplicate: retired });
    }
    merges
}

/// Returns whether a memory is a free sentence, which only its text identifies. The payloads of the
/// others name their subject (a file pair, an error …), which keeps them unique already; the
/// payload of a dead end is free text too.
fn is_sentence(memory: &Memory) -> bool {
    matches!(memory.payload, None | Some(Payload::DeadEnd(_)))
}

/// Finds a memory that states the same. Returns the survivor and the duplicate, in this order.
fn find_duplicate(memory: Memory, similar: Vec<Memory>) -> Option<(Memory, Memory)> {
    let mut known = similar;
    known.retain(|it| it.id != memory.id && is_active(it) && is_sentence(it));
    let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement_of).collect();
    let nearest = promote::find_nearest(&statement_of(&memory), &statements);
    let Some((nth, StatementRelation::Same | StatementRelation::Near { .. })) = nearest else {
        return None;
    };
    let mut pair = [memory, known.swap_remove(nth)];
    // `false` sorts first: the protected memory survives, then the untainted, then the reviewed. Of
    // equals the older one survives, because agents may have cited its id.
    pair.sort_by_key(|it| {
        (!is_user_protected(it), it.flags.tainted, it.flags.needs_review, it.created_at, it.id)
    });
    let [survivor, duplicate] = pair;
    // A tainted memory derives from external text, which is no evidence for an untainted one.
    let may_merge =
        !is_user_protected(&duplicate) && duplicate.flags.tainted == survivor.flags.tainted;
    may_merge.then_some((survivor, duplicate))
}

fn retire_duplicate(duplicate: &Memory, survivor: &Memory, at: Timestamp) -> Memory {
    let mut retired = duplicate.clone();
    retired.states.deprecate(&Deprecation::duplicate_of(survivor.id), at);
    retired.updated_at = retired.updated_at.max(at);
    retired
}

fn merge_into(mut survivor: Memory, duplicate: Memory, at: Timestamp) -> Memory {
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(duplicate.id));
    survivor.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto: true });
    extend_unique(&mut survivor.provenance, duplicate.provenance);
    // The survivor's own sessions come first and are never cut for those of the duplicate.
    survivor.provenance.truncate(MAX_PROVENANCE);
    extend_unique(&mut survivor.files, duplicate.files);
    extend_unique(&mut survivor.modules, duplicate.modules);
    let raised = survivor.confidence.max(duplicate.confidence).saturating_add(DUPLICATE_BONUS);
    // The limit must not lower a confidence that the user set above it.
    survivor.confidence = survivor.confidence.max(raised.at_most(MAX_EARNED_CONFIDENCE));
    survivor.updated_at = survivor.updated_at.max(at);
    survivor
}

#[cfg(test)]
mod tests {
    use super::super::fresh_memory::tests::memory;
    use super::*;

    /// A memory as loaded, with the stored memories that share words with it.
    fn examined(memory: &Memory, similar: &[&Memory]) -> ExaminedMemory {
        let similar = similar.iter().map(|it| (*it).clone()).collect();
        ExaminedMemory { memory: memory.clone(), similar }
    }

    #[test]
    fn three_duplicates_become_one_and_each_replacement_sees_the_latest_version() {
        let text = "Run `cargo xtask docs` after every change of the settings table.";
        let (oldest, mut middle, mut newest) = (memory(text), memory(text), memory(text));
        // `memory` derives the id from the text, so the copies need ids of their own.
        middle.id = memory("b").id;
        newest.id = memory("c").id;
        (middle.created_at, newest.created_at) = (Timestamp(20_000), Timestamp(30_000));
        let all = [&oldest, &middle, &newest];
        let merges = plan_merges(
            vec![examined(&oldest, &all), examined(&middle, &all), examined(&newest, &all)],
            Timestamp(40_000),
        );
        let steps: Vec<_> = merges
            .iter()
            .map(|it| (it.survivor.id, it.survivor.version, it.duplicate.id))
            .collect();
        assert_eq!(steps, [(oldest.id, 0, middle.id), (oldest.id, 1, newest.id)]);
        assert_eq!(merges[1].survivor.relations.len(), 2);
    }

    #[test]
    fn a_memory_the_user_protects_is_not_merged_into_another() {
        let text = "Run `cargo xtask docs` after every change of the settings table.";
        let (mut pinned, mut verified) = (memory(text), memory(text));
        verified.id = memory("b").id;
        (pinned.flags.pinned, verified.flags.user_verified) = (true, true);
        let merges = plan_merges(
            vec![examined(&pinned, &[&verified]), examined(&verified, &[&pinned])],
            Timestamp(40_000),
        );
        assert!(merges.is_empty());
    }
}
