//! Usage: counts a use of each memory that a session followed or cited, and raises the confidence
//! of memories that are used often. Pure.
//!
//! A session follows a memory if, soon after it was shown, it does what the memory advises; `observe`
//! defines that for each type of memory. It cites a memory by writing its short id. `load`
//! reads the memories that the session was shown from the shown log, which the injector writes. The
//! *pad* (`Scratchpad`) is the state of the session, folded from its events.

use std::collections::BTreeMap;

use model::{Memory, MemoryId, Timestamp};
use observe::Scratchpad;
use promote::MAX_EARNED_CONFIDENCE;
use store::StoreChange;

use super::protection::is_active;

/// The confidence rises at every fifth use.
const USES_PER_CONFIDENCE_RAISE: u64 = 5;
/// Confidence that one raise adds, in per mille.
const CONFIDENCE_PER_RAISE: u16 = 50;
/// Uses after which a memory needs no review by the user any more.
const USES_TO_WAIVE_REVIEW: u64 = 10;

/// A memory that the session was shown.
pub(super) struct ShownMemory {
    pub(super) memory: Memory,
    /// The time at which it was shown.
    pub(super) at: Timestamp,
}

/// Returns the id under which the shown log stores a session: that of the host, else Waylore's own.
pub(super) fn shown_log_session(pad: &Scratchpad) -> Option<String> {
    pad.host_session.clone().or_else(|| Some(pad.session?.to_string()))
}

/// Returns the active memories that a session used (followed or cited) and whose use is not counted yet.
/// `cited` holds, for each short id that the session cited, the memories that match it.
pub(super) fn newly_used_memories(
    pad: &Scratchpad,
    shown: &[ShownMemory],
    cited: &[Vec<Memory>],
) -> Vec<Memory> {
    let used = followed_or_cited(pad, shown, cited);
    // A session counts once, also if it is learned again after it has continued. So a memory whose
    // last use lies after the start of this session was counted already.
    let is_uncounted = |it: &Memory| {
        let Some(last_used) = it.counters.last_used_at else { return true };
        pad.started.is_some_and(|started| last_used < started)
    };
    used.into_values().filter(|it| is_active(it) && is_uncounted(it)).cloned().collect()
}

/// Returns the memories that a session followed or cited, counted before or not.
pub(super) fn followed_or_cited<'a>(
    pad: &Scratchpad,
    shown: &'a [ShownMemory],
    cited: &'a [Vec<Memory>],
) -> BTreeMap<MemoryId, &'a Memory> {
    let mut followed = BTreeMap::new();
    for ShownMemory { memory, at } in shown {
        if observe::was_followed(pad, memory, *at) {
            followed.insert(memory.id, memory);
        }
    }
    for matches in cited {
        // A short id that several memories share identifies none of them.
        if let [memory] = matches.as_slice() {
            followed.insert(memory.id, memory);
        }
    }
    followed
}

/// Adds a use of each memory to the changes, and a raise if it was used often enough.
pub(super) fn count_uses(changes: &mut Vec<StoreChange>, used: Vec<Memory>) {
    for memory in used {
        let raised = raise_by_uses(&memory, memory.counters.used_count + 1);
        // The store refuses a second replacement of a memory in one batch, because the first one
        // increments its version. A raise is therefore added to an existing replacement.
        let replacement = changes.iter_mut().find_map(|it| match it {
            StoreChange::Replace(it) if it.id == memory.id => Some(it),
            _ => None,
        });
        match (raised, replacement) {
            (Some(raised), Some(replacement)) => {
                // The lesson may have raised it further, by a merge.
                replacement.confidence = replacement.confidence.max(raised.confidence);
                // Needs review only if both say so.
                replacement.flags.needs_review &= raised.flags.needs_review;
            }
            (Some(raised), None) => changes.push(StoreChange::Replace(Box::new(raised))),
            // Nothing to raise yet.
            (None, _) => {}
        }
        // Counters are not part of a version, so a use alone does not create one.
        changes.push(StoreChange::CountUse { id: memory.id });
    }
}

/// Returns the memory with the effect of its nth use; `None` if that use changes nothing.
fn raise_by_uses(memory: &Memory, n_uses: u64) -> Option<Memory> {
    let mut raised = memory.clone();
    if n_uses.is_multiple_of(USES_PER_CONFIDENCE_RAISE) && raised.confidence < MAX_EARNED_CONFIDENCE
    {
        raised.confidence =
            raised.confidence.saturating_add(CONFIDENCE_PER_RAISE).at_most(MAX_EARNED_CONFIDENCE);
    }
    // Only the user can clear a taint, so uses do not waive the review of external text.
    if n_uses >= USES_TO_WAIVE_REVIEW && !raised.flags.tainted {
        raised.flags.needs_review = false;
    }
    (raised != *memory).then_some(raised)
}
