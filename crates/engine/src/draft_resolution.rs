//! Draft resolution: compares a user's new memory with the stored ones and decides what to write. A
//! repetition is merged into the stored memory, a contradiction supersedes it, anything else is
//! inserted.
//!
//! ```text
//! stored: "The retry limit is 3."
//! draft:  "The retry limit is 3."        same         merged: more confidence
//!         "The upload retry limit is 3." near         merged: the longer text, more confidence
//!         "The retry limit is 5."        contradicts  the draft supersedes the stored memory
//!         "Tests need docker."           unrelated    inserted
//! ```
//!
//! *Tainted* means derived from text outside the project and not confirmed by the user.
//!
//! `remember` and `correction` use it. Learned memories have stricter rules, see
//! `learn/novelty.rs`; the search and comparison helpers are shared.

use model::{
    Deprecation, Memory, MemoryScope, MemoryStatus, PerMille, Relation, RelationKind,
    RelationTarget, SymbolAnchor, words,
};
use promote::{MAX_EARNED_CONFIDENCE, MemoryStatement, StatementRelation};
use store::{AuditAction, MemoryFilter, StoreChange, StoreReader, WriteBatch};

use crate::editing::user_batch;
use crate::lookup::any_term_expression;
use crate::{Error, MemoryNovelty};

/// Most memories with the same words that a draft is compared with.
pub(crate) const MAX_COMPARED_MEMORIES: u32 = 30;
/// Confidence that a memory gains when it is stated again, in per mille.
const REPETITION_GAIN: u16 = 50;

/// The decision about a draft: the resulting memory, and the batch that writes it.
pub(crate) struct DraftResolution {
    pub(crate) memory: Memory,
    pub(crate) novelty: MemoryNovelty,
    pub(crate) batch: WriteBatch,
}

/// The origin of a draft's type. A type that the user gave replaces the stored one in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeOrigin {
    /// The user named the type.
    Given,
    /// The type was suggested from the text.
    Suggested,
}

/// The similarity of a draft to the memory it is merged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeKind {
    Same,
    Near,
}

/// The reason why a memory supersedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SupersedeCause {
    /// The user corrected the old memory.
    Correction,
    /// A comparison found a contradiction.
    Comparison,
}

/// Compares a draft with the stored memories and decides what to write.
pub(crate) async fn resolve_draft(
    store: &StoreReader,
    draft: Memory,
    type_origin: TypeOrigin,
) -> Result<DraftResolution, Error> {
    let known = similar_with_candidates(store, &draft.content).await?;
    let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement_of).collect();
    let Some((nearest, relation)) = promote::find_nearest(&statement_of(&draft), &statements)
    else {
        return Ok(insert_draft(draft));
    };
    let old = known[nearest].clone();

    // A draft that needs review (it reads like an instruction) must not change a trusted memory.
    let is_held = draft.flags.needs_review && !old.flags.tainted;
    Ok(match relation {
        // The stored memory is tainted, and a merge would taint the user's own statement.
        StatementRelation::Same | StatementRelation::Near { .. } if old.flags.tainted => {
            supersede(old, draft, "the same, but from outside and not confirmed".to_owned())
        }
        // The user's own words, not the similar ones of a claim that was never sure.
        StatementRelation::Near { .. } if old.flags.candidate && !is_held => {
            supersede(old, draft, "much the same, but not confirmed".to_owned())
        }
        // Also if it is held: it states the same, and `merge` takes over the need for review.
        StatementRelation::Same => merge(old, draft, MergeKind::Same, type_origin),
        StatementRelation::Near { .. } if !is_held => {
            merge(old, draft, MergeKind::Near, type_origin)
        }
        StatementRelation::Contradicts { conflict } if !is_held => {
            supersede(old, draft, conflict.to_string())
        }
        // Held drafts are stored beside the memory until the user has reviewed them.
        StatementRelation::Near { .. }
        | StatementRelation::Contradicts { .. }
        | StatementRelation::Unrelated => insert_draft(draft),
    })
}

/// Searches for active memories that share words with a text, the best match first.
pub(crate) async fn similar_memories(
    store: &StoreReader,
    text: &str,
    limit: u32,
) -> Result<Vec<Memory>, Error> {
    find_similar(store, text, vec![MemoryFilter::active(limit)]).await
}

/// Searches for active memories and candidates that share words with a text. Each group has its own
/// limit, so that many candidates do not hide a memory.
pub(crate) async fn similar_with_candidates(
    store: &StoreReader,
    text: &str,
) -> Result<Vec<Memory>, Error> {
    let active = MemoryFilter::active(MAX_COMPARED_MEMORIES);
    let candidates = MemoryFilter { statuses: vec![MemoryStatus::Candidate], ..active.clone() };
    find_similar(store, text, vec![active, candidates]).await
}

async fn find_similar(
    store: &StoreReader,
    text: &str,
    filters: Vec<MemoryFilter>,
) -> Result<Vec<Memory>, Error> {
    let terms = words::query_keywords(text);
    if terms.is_empty() || !store.exists() {
        return Ok(Vec::new());
    }
    let quoted = terms.iter().map(|it| any_term_expression(std::slice::from_ref(it)));
    Ok(store.memories().find_similar(quoted.collect(), filters).await?)
}

/// Returns the part of a memory that duplicate detection compares.
pub(crate) fn statement_of(memory: &Memory) -> MemoryStatement<'_> {
    MemoryStatement { text: &memory.content, files: &memory.files, kind: &memory.kind }
}

/// Inserts a draft as a new memory.
pub(crate) fn insert_draft(draft: Memory) -> DraftResolution {
    let changes = vec![StoreChange::Insert(Box::new(draft.clone()))];
    let batch = user_batch(AuditAction::Remember, draft.updated_at, changes);
    DraftResolution { memory: draft, novelty: MemoryNovelty::New, batch }
}

/// Appends the items that `acc` does not have yet.
pub(crate) fn extend_unique<T: PartialEq>(acc: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !acc.contains(&item) {
            acc.push(item);
        }
    }
}

/// Turns a draft into the successor of `old`: it links to `old` and inherits what `old` is about.
pub(crate) fn to_successor(old: &Memory, mut draft: Memory, cause: SupersedeCause) -> Memory {
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    let auto = cause == SupersedeCause::Comparison;
    draft.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto });
    // Nothing is inherited from a tainted memory, which came from outside.
    if old.flags.tainted {
        return draft;
    }
    draft.flags.pinned |= old.flags.pinned;
    draft.scope = if draft.scope == MemoryScope::Global { old.scope } else { draft.scope };
    // The labels of the old memory come first.
    let (tags, files, modules) = (draft.tags, draft.files, draft.modules);
    (draft.tags, draft.files, draft.modules) =
        (old.tags.clone(), old.files.clone(), old.modules.clone());
    extend_unique(&mut draft.tags, tags);
    extend_unique(&mut draft.files, files);
    extend_unique(&mut draft.modules, modules);
    draft
}

/// Inserts a draft that takes the place of `old`, and deprecates `old`. The explanation states why.
fn supersede(old: Memory, draft: Memory, explanation: String) -> DraftResolution {
    let memory = to_successor(&old, draft, SupersedeCause::Comparison);
    let mut retired = old.clone();
    retired.states.deprecate(&Deprecation::superseded_by(memory.id), memory.updated_at);
    retired.updated_at = memory.updated_at;
    let changes = vec![
        StoreChange::Insert(Box::new(memory.clone())),
        StoreChange::Replace(Box::new(retired)),
    ];
    let batch = user_batch(AuditAction::Supersede, memory.updated_at, changes);
    let novelty = MemoryNovelty::Supersedes { old: Box::new(old), explanation };
    DraftResolution { memory, novelty, batch }
}

/// Merges a draft into a stored memory. The result has the longer text (of two equally long ones
/// the draft's) and the tags, files, modules and anchors of both.
fn merge(
    old: Memory,
    draft: Memory,
    merge_kind: MergeKind,
    type_origin: TypeOrigin,
) -> DraftResolution {
    let previous_text = old.content.clone();

    // The limit must not lower a confidence that is above it already.
    let gained = old.confidence.saturating_add(REPETITION_GAIN).at_most(MAX_EARNED_CONFIDENCE);
    let confidence = gained.max(old.confidence);
    let mut merged = Memory { confidence, updated_at: draft.updated_at, ..old };
    let takes_text = draft.content.len() >= merged.content.len();
    if takes_text {
        merged.content = draft.content;
    }
    if type_origin == TypeOrigin::Given {
        // A payload belongs to one type, so it is dropped if the type changes.
        merged.payload = merged.payload.filter(|it| Some(it.kind()) == draft.kind.core_kind());
        merged.kind = draft.kind;
    }
    merged.summary = promote::compose_summary(&merged.content, &merged.kind);
    merged.citation = promote::compose_citation(&merged.content);
    extend_unique(&mut merged.tags, draft.tags);
    extend_unique(&mut merged.files, draft.files);
    extend_unique(&mut merged.modules, draft.modules);

    // The draft was stated for the current code, so its anchors replace those of the same symbols.
    let is_replaced = |it: &SymbolAnchor| {
        draft.anchors.iter().any(|new| (&new.file, &new.symbol) == (&it.file, &it.symbol))
    };
    merged.anchors.retain(|it| !is_replaced(it));
    extend_unique(&mut merged.anchors, draft.anchors);
    merged.flags.pinned |= draft.flags.pinned;

    // If the text is the user's own now, it is verified. A near text that stays is not the user's.
    if merge_kind == MergeKind::Same || takes_text {
        merged.flags.user_verified = true;
        merged.flags.needs_review = draft.flags.needs_review;
        merged.flags.candidate = false;
        merged.states.stale_at = None;
    }
    let changes = vec![StoreChange::Replace(Box::new(merged.clone()))];
    let batch = user_batch(AuditAction::Merge, merged.updated_at, changes);
    DraftResolution { memory: merged, novelty: MemoryNovelty::Merged { previous_text }, batch }
}
