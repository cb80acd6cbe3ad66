//! A draft beside what is known: the same merges, a contradiction supersedes, the rest is new.

use model::{Memory, PerMille, Relation, RelationKind, RelationTarget, Scope, words};
use promote::{Relationship, Statement};
use store::{Action, Batch, Change, Filter, Store};

use crate::change::by_user;
use crate::find::expression;
use crate::{Engine, Error, Novelty};

/// Saying it again makes it a little surer, up to here.
const SUREST: PerMille = PerMille::new(950);
/// How many memories with the same words are compared with a new one.
const COMPARED: u32 = 30;

/// What is to be written, and why.
pub(crate) type Resolved = (Memory, Novelty, Batch);

impl Engine {
    /// Compares a draft with what is known and decides what to write. `typed`: its type was given.
    pub(crate) async fn resolve(
        &self,
        store: &Store,
        fresh: Memory,
        typed: bool,
    ) -> Result<Resolved, Error> {
        let known = self.alike(store, &fresh).await?;
        let statements: Vec<Statement<'_>> = known.iter().map(statement).collect();
        let Some((at, relationship)) = promote::nearest(&statement(&fresh), &statements) else {
            return Ok(plain(fresh));
        };
        let old = known[at].clone();
        // What waits for review may not speak for, or against, what is believed.
        let held = fresh.flags.needs_review && !old.flags.tainted;
        Ok(match relationship {
            // Merging would make a person's own words as doubtful as a stranger's.
            Relationship::Same | Relationship::Near { .. } if old.flags.tainted => {
                supersede(old, fresh, "the same, but from outside and not confirmed".to_owned())
            }
            Relationship::Same => merge(old, fresh, true, typed),
            Relationship::Near { .. } if !held => merge(old, fresh, false, typed),
            Relationship::Contradicts { what } if !held => supersede(old, fresh, what.to_string()),
            _ => plain(fresh),
        })
    }

    /// Memories that share words with the draft and still stand.
    pub(crate) async fn alike(&self, store: &Store, fresh: &Memory) -> Result<Vec<Memory>, Error> {
        let terms = words::keywords(&fresh.content);
        if terms.is_empty() || !store.exists() {
            return Ok(Vec::new());
        }
        let hits = store.search(expression(&terms, " OR "), Filter::standing(COMPARED)).await?;
        Ok(hits.into_iter().map(|it| it.memory).collect())
    }
}

fn statement(memory: &Memory) -> Statement<'_> {
    Statement { text: &memory.content, files: &memory.files, kind: &memory.kind }
}

/// A memory of its own.
pub(crate) fn plain(fresh: Memory) -> Resolved {
    let changes = vec![Change::Insert(Box::new(fresh.clone()))];
    let batch = by_user(Action::Remember, fresh.updated_at, changes);
    (fresh, Novelty::New, batch)
}

/// The known memory takes everything either of them named, and the fuller wording.
fn merge(old: Memory, fresh: Memory, same: bool, typed: bool) -> Resolved {
    let was = old.content.clone();
    let confidence = old.confidence.plus(50).at_most(SUREST).max(old.confidence);
    let mut merged = Memory { confidence, updated_at: fresh.updated_at, ..old };
    let fuller = fresh.content.len() >= merged.content.len();
    if fuller {
        merged.content = fresh.content;
    }
    if typed {
        merged.payload = merged.payload.filter(|it| Some(it.kind()) == fresh.kind.core());
        merged.kind = fresh.kind;
    }
    merged.summary = promote::summary(&merged.content, &merged.kind);
    merged.citation = promote::citation(&merged.content);
    add(&mut merged.tags, fresh.tags);
    add(&mut merged.files, fresh.files);
    add(&mut merged.modules, fresh.modules);
    // A symbol is as it was seen last.
    let is_anew = |it: &model::Anchor| {
        fresh.anchors.iter().any(|new| (&new.file, &new.symbol) == (&it.file, &it.symbol))
    };
    merged.anchors.retain(|it| !is_anew(it));
    add(&mut merged.anchors, fresh.anchors);
    merged.flags.pinned |= fresh.flags.pinned;
    // What a person said themselves is no longer doubtful; a wording that is not theirs stays so.
    if same || fuller {
        merged.flags.user_verified = true;
        merged.flags.needs_review = fresh.flags.needs_review;
        merged.states.stale_at = None;
    }
    let changes = vec![Change::Replace(Box::new(merged.clone()))];
    let batch = by_user(Action::Merge, merged.updated_at, changes);
    (merged, Novelty::Merged { was }, batch)
}

pub(crate) fn add<T: PartialEq>(acc: &mut Vec<T>, more: Vec<T>) {
    for it in more {
        if !acc.contains(&it) {
            acc.push(it);
        }
    }
}

/// The memory that takes the place of `old`: it points at it, and is about whatever that was about.
/// `auto`: found by comparing, not said by anyone.
pub(crate) fn successor(old: &Memory, mut fresh: Memory, auto: bool) -> Memory {
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    fresh.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto });
    // What nobody has confirmed leaves nothing behind, least of all to what a person says.
    if old.flags.tainted {
        return fresh;
    }
    fresh.flags.pinned |= old.flags.pinned;
    fresh.scope = if fresh.scope == Scope::Global { old.scope } else { fresh.scope };
    let (tags, files, modules) = (fresh.tags, fresh.files, fresh.modules);
    (fresh.tags, fresh.files, fresh.modules) =
        (old.tags.clone(), old.files.clone(), old.modules.clone());
    add(&mut fresh.tags, tags);
    add(&mut fresh.files, files);
    add(&mut fresh.modules, modules);
    fresh
}

/// The new memory points at the old one, which stays on record but is no longer believed.
fn supersede(old: Memory, fresh: Memory, what: String) -> Resolved {
    let fresh = successor(&old, fresh, true);
    let mut retired = old.clone();
    retired.states.deprecated_at = Some(fresh.updated_at);
    retired.states.deprecated_reason = Some(format!("superseded by #{}", fresh.id.short()));
    retired.updated_at = fresh.updated_at;
    let changes = vec![Change::Insert(Box::new(fresh.clone())), Change::Replace(Box::new(retired))];
    let batch = by_user(Action::Supersede, fresh.updated_at, changes);
    (fresh, Novelty::Supersedes { old: Box::new(old), what }, batch)
}
