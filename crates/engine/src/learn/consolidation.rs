//! Consolidation: memories that say the same become one, with the evidence of both.
//!
//! Learning compares each new statement with the stored ones. Statements grow and are reworded
//! afterwards, and a long build is learned piece by piece, so that duplicates are looked for again
//! at the end of such a build and once a week. What the user protects is never merged into another.

use std::collections::HashMap;

use model::{
    Actor, Deprecation, Memory, MemoryId, Payload, PerMille, Relation, RelationKind,
    RelationTarget, Timestamp,
};
use promote::{MAX_EARNED_CONFIDENCE, MemoryStatement, StatementRelation};
use store::{AuditAction, MemoryFilter, StoreChange, StoreReader, WriteBatch};

use super::fresh_memory::{MAX_PROVENANCE, statement};
use super::protection::{is_active, is_user_protected};
use crate::draft_resolution::{MAX_COMPARED_MEMORIES, extend_unique, similar_memories};
use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project};

/// Subtasks from which on a build ends with a consolidation.
pub(super) const MIN_SUBTASKS_TO_CONSOLIDATE: usize = 10;
/// Per mille that two memories which say the same add to one another.
const DUPLICATE_BONUS: u16 = 30;
/// Recent memories that are examined.
const MAX_EXAMINED_MEMORIES: u32 = 500;

/// A memory and the stored memories that share words with it, the best match first.
struct ExaminedMemory {
    memory: Memory,
    similar: Vec<Memory>,
}

/// Two memories that say the same.
struct PlannedMerge {
    survivor: Memory,
    duplicate: Memory,
}

/// Merges the memories changed since `since` with those that say the same. Returns the memories that
/// were merged into another.
pub(super) async fn consolidate_since(
    project: &Project,
    store: &StoreReader,
    since: Timestamp,
    at: Timestamp,
) -> Result<Vec<MemoryId>, Error> {
    let examined = load_examined(store, since).await?;
    let mut acc = Vec::new();
    for PlannedMerge { survivor, duplicate } in plan_merges(examined, at) {
        acc.push(duplicate.id);
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
    Ok(acc)
}

async fn load_examined(
    store: &StoreReader,
    since: Timestamp,
) -> Result<Vec<ExaminedMemory>, Error> {
    let mut recent = store.memories().list(MemoryFilter::active(MAX_EXAMINED_MEMORIES)).await?;
    recent.retain(|it| it.updated_at >= since && is_sentence(it));
    // Oldest first, so that the result does not depend on the order of the list.
    recent.sort_by_key(|it| (it.created_at, it.id));
    // Each merge removes one memory from the matches of the others, so that many more are needed.
    let n_recent = u32::try_from(recent.len()).unwrap_or(u32::MAX);
    let limit = MAX_COMPARED_MEMORIES.saturating_add(n_recent);
    let mut acc = Vec::new();
    for memory in recent {
        let similar = similar_memories(store, &memory.content, limit).await?;
        acc.push(ExaminedMemory { memory, similar });
    }
    Ok(acc)
}

/// Plans the merges in the order they are written. Each memory comes as the merges before leave it.
fn plan_merges(examined: Vec<ExaminedMemory>, at: Timestamp) -> Vec<PlannedMerge> {
    let mut acc: Vec<PlannedMerge> = Vec::new();
    let mut gone: Vec<MemoryId> = Vec::new();
    let mut changed: HashMap<MemoryId, Memory> = HashMap::new();
    for ExaminedMemory { memory, similar } in examined {
        if gone.contains(&memory.id) {
            continue;
        }
        let latest = |it: Memory| changed.get(&it.id).cloned().unwrap_or(it);
        let similar = similar.into_iter().filter(|it| !gone.contains(&it.id));
        let similar = similar.take(MAX_COMPARED_MEMORIES as usize).map(latest).collect();
        let Some((survivor, duplicate)) = find_duplicate(latest(memory), similar) else { continue };
        let retired = retire_duplicate(&duplicate, &survivor, at);
        let merged = merge_into(survivor, duplicate, at);
        gone.push(retired.id);
        // The store raises the version with each replacement and refuses one that saw an older.
        let stored = Memory { version: merged.version + 1, ..merged.clone() };
        changed.insert(stored.id, stored);
        acc.push(PlannedMerge { survivor: merged, duplicate: retired });
    }
    acc
}

/// Finds the memory that says the same. Returns the one to keep and the one to merge into it.
fn find_duplicate(memory: Memory, similar: Vec<Memory>) -> Option<(Memory, Memory)> {
    let mut known = similar;
    known.retain(|it| it.id != memory.id && is_active(it) && is_sentence(it));
    let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement).collect();
    let nearest = promote::find_nearest(&statement(&memory), &statements);
    let Some((nth, StatementRelation::Same | StatementRelation::Near { .. })) = nearest else {
        return None;
    };
    let mut pair = [memory, known.swap_remove(nth)];
    // The more trusted memory survives; of equals the older one, whose id is cited already.
    pair.sort_by_key(|it| {
        (!is_user_protected(it), it.flags.tainted, it.flags.needs_review, it.created_at, it.id)
    });
    let [survivor, duplicate] = pair;
    // External text is no evidence for what the project's own sessions show.
    let may_merge =
        !is_user_protected(&duplicate) && duplicate.flags.tainted == survivor.flags.tainted;
    may_merge.then_some((survivor, duplicate))
}

/// Returns whether a memory is compared by its text. Patterns have keys and are never two.
fn is_sentence(memory: &Memory) -> bool {
    matches!(memory.payload, None | Some(Payload::DeadEnd(_)))
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

    fn examined(memory: &Memory, similar: &[&Memory]) -> ExaminedMemory {
        let similar = similar.iter().map(|it| (*it).clone()).collect();
        ExaminedMemory { memory: memory.clone(), similar }
    }

    #[test]
    fn three_duplicates_become_one_and_each_replacement_sees_the_latest_version() {
        let text = "Run `cargo xtask docs` after every change of the settings table.";
        let (a, mut b, mut c) = (memory(text), memory(text), memory(text));
        // The same text gives the same id in a test.
        b.id = memory("b").id;
        c.id = memory("c").id;
        (b.created_at, c.created_at) = (Timestamp(20_000), Timestamp(30_000));
        let all = [&a, &b, &c];
        let merges = plan_merges(
            vec![examined(&a, &all), examined(&b, &all), examined(&c, &all)],
            Timestamp(40_000),
        );
        let steps: Vec<_> = merges
            .iter()
            .map(|it| (it.survivor.id, it.survivor.version, it.duplicate.id))
            .collect();
        assert_eq!(steps, [(a.id, 0, b.id), (a.id, 1, c.id)]);
        assert_eq!(merges[1].survivor.relations.len(), 2);
    }

    #[test]
    fn a_memory_the_user_protects_is_not_merged_into_another() {
        let text = "Run `cargo xtask docs` after every change of the settings table.";
        let (mut a, mut b) = (memory(text), memory(text));
        b.id = memory("b").id;
        (a.flags.pinned, b.flags.user_verified) = (true, true);
        let merges = plan_merges(vec![examined(&a, &[&b]), examined(&b, &[&a])], Timestamp(40_000));
        assert!(merges.is_empty());
    }
}
