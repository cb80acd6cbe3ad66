//! Consolidation: memories that say the same become one, with everything that spoke for either.
//!
//! While sessions are learned, each new statement is held against what is known. Statements grow and are
//! reworded afterwards, and a long build learns piece by piece: so what overlaps is looked for again, at
//! the end of such a build and once a week. What a person vouches for is never taken out.

use model::{Memory, MemoryId, Payload, Relation, RelationKind, RelationTarget, Source, Timestamp};
use promote::{Relationship, Statement};
use store::{Action, Batch, Change, Filter, Store};

use super::compose::{MAX_PROVENANCE, statement};
use super::stands;
use crate::change::by_user;
use crate::resolve::add;
use crate::{Engine, Error};

/// From so many subtasks on, a build ends with this.
pub(super) const MANY_PARTS: usize = 10;
/// What two memories that say the same add to one another, up to there.
const CONFIRMED: u16 = 30;
const SUREST: model::PerMille = model::PerMille::new(950);
/// Memories that are looked at.
const MOST: u32 = 500;

impl Engine {
    /// What was learned, confirmed or changed since.
    pub(super) async fn made_since(
        &self,
        store: &Store,
        since: Timestamp,
    ) -> Result<Vec<Memory>, Error> {
        let mut all = store.list(Filter::standing(MOST)).await?;
        all.retain(|it| it.updated_at >= since);
        Ok(all)
    }

    /// Merges each of these with what says the same; returns what was taken in by another.
    pub(super) async fn consolidate(
        &self,
        store: &Store,
        mut fresh: Vec<Memory>,
        at: Timestamp,
    ) -> Result<Vec<MemoryId>, Error> {
        fresh.retain(is_sentence);
        fresh.sort_by_key(|it| (it.created_at, it.id));
        let mut gone: Vec<MemoryId> = Vec::new();
        for it in fresh {
            // It may have grown, or gone, since the list was made.
            let Some(it) = store.get(it.id).await?.filter(|it| !gone.contains(&it.id)) else {
                continue;
            };
            let Some((kept, taken)) = self.overlapping(store, it).await? else { continue };
            gone.push(taken.id);
            let changes = vec![
                Change::Relink { from: taken.id, to: kept.id },
                Change::Replace(Box::new(retired(&taken, &kept, at))),
                Change::Replace(Box::new(merged(kept, taken, at))),
            ];
            let actor = model::Actor::Observer;
            self.write(store, Batch { actor, ..by_user(Action::Merge, self.now, changes) }).await?;
        }
        Ok(gone)
    }

    /// A memory and the one that says the same: first the one that stays.
    async fn overlapping(
        &self,
        store: &Store,
        it: Memory,
    ) -> Result<Option<(Memory, Memory)>, Error> {
        let mut known = self.alike(store, &it).await?;
        known.retain(|other| other.id != it.id && stands(other) && is_sentence(other));
        let statements: Vec<Statement<'_>> = known.iter().map(statement).collect();
        let near = promote::nearest(&statement(&it), &statements);
        let Some((at, Relationship::Same | Relationship::Near { .. })) = near else {
            return Ok(None);
        };
        let mut pair = [it, known.swap_remove(at)];
        pair.sort_by_key(|it| {
            (!by_person(it), it.flags.tainted, it.flags.needs_review, it.created_at, it.id)
        });
        let [kept, taken] = pair;
        // What comes from outside says nothing for what does not.
        let may = !by_person(&taken) && taken.flags.tainted == kept.flags.tainted;
        Ok(may.then_some((kept, taken)))
    }
}

fn by_person(it: &Memory) -> bool {
    it.flags.user_verified || it.flags.pinned || it.source == Source::UserTaught
}

/// Patterns have keys, and are never two; only sentences are compared by what they say.
fn is_sentence(it: &Memory) -> bool {
    matches!(it.payload, None | Some(Payload::DeadEnd(_)))
}

fn retired(taken: &Memory, kept: &Memory, at: Timestamp) -> Memory {
    let mut res = taken.clone();
    res.states.deprecated_at = Some(at);
    res.states.deprecated_reason =
        Some(format!("superseded by #{}, which says the same", kept.id.short()));
    res.updated_at = res.updated_at.max(at);
    res
}

fn merged(mut kept: Memory, taken: Memory, at: Timestamp) -> Memory {
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(taken.id));
    kept.relations.push(Relation { kind, target, confidence: model::PerMille::ONE, auto: true });
    add(&mut kept.provenance, taken.provenance);
    kept.provenance.truncate(MAX_PROVENANCE);
    add(&mut kept.files, taken.files);
    add(&mut kept.modules, taken.modules);
    let surer = kept.confidence.max(taken.confidence).plus(CONFIRMED).at_most(SUREST);
    kept.confidence = kept.confidence.max(surer);
    kept.updated_at = kept.updated_at.max(at);
    kept
}
