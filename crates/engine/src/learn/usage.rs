//! Usage: a memory that a session was shown and acted on, or cited, gains confidence. Pure.

use std::collections::BTreeMap;

use model::{Memory, MemoryId, Timestamp};
use observe::Scratchpad;
use promote::MAX_EARNED_CONFIDENCE;
use store::StoreChange;

use super::protection::is_active;

/// Uses after which the confidence rises once, and by how many per mille.
const USES_PER_RAISE: u64 = 5;
const CONFIDENCE_PER_RAISE: u16 = 50;
/// Uses after which a memory needs no review.
const USES_TO_WAIVE_REVIEW: u64 = 10;

/// A memory that the session was shown.
pub(super) struct ShownMemory {
    pub(super) memory: Memory,
    pub(super) at: Timestamp,
}

/// The name of the session in the shown log: the host's, else its own id.
pub(super) fn shown_log_name(pad: &Scratchpad) -> Option<String> {
    pad.host_session.clone().or_else(|| Some(pad.session?.to_string()))
}

/// The memories that a session used. `cited` holds, for each short id that the session cited, the
/// memories it may stand for.
pub(super) fn used_memories(
    pad: &Scratchpad,
    shown: &[ShownMemory],
    cited: &[Vec<Memory>],
) -> Vec<Memory> {
    let followed = shown.iter().filter(|it| observe::was_followed(pad, &it.memory, it.at));
    let mut used: BTreeMap<MemoryId, &Memory> =
        followed.map(|it| (it.memory.id, &it.memory)).collect();
    for matches in cited {
        // A prefix that several memories share identifies none of them.
        if let [memory] = matches.as_slice() {
            used.insert(memory.id, memory);
        }
    }
    // A session that has continued was counted before: a session counts once.
    let is_uncounted =
        |it: &Memory| it.counters.last_used_at.is_none_or(|at| Some(at) < pad.started);
    used.into_values().filter(|it| is_active(it) && is_uncounted(it)).cloned().collect()
}

/// Adds the uses to the changes, and raises the memories that were used often enough. A memory has
/// at most one replacement in a batch, so that a raise joins an existing one.
pub(super) fn count_uses(changes: &mut Vec<StoreChange>, used: Vec<Memory>) {
    for memory in used {
        let raised = raise_by_uses(&memory, memory.counters.used_count + 1);
        // The store refuses a second replacement of a memory in a batch: its version has moved on.
        let replacement = changes.iter_mut().find_map(|it| match it {
            StoreChange::Replace(it) if it.id == memory.id => Some(it),
            _ => None,
        });
        match (raised, replacement) {
            (Some(raised), Some(replacement)) => {
                replacement.confidence = replacement.confidence.max(raised.confidence);
                replacement.flags.needs_review &= raised.flags.needs_review;
            }
            (Some(raised), None) => changes.push(StoreChange::Replace(Box::new(raised))),
            (None, _) => {}
        }
        // Counters are no part of the version, so that a use alone creates none.
        changes.push(StoreChange::CountUse { id: memory.id });
    }
}

/// The memory after a number of uses; `None` if they change nothing.
fn raise_by_uses(memory: &Memory, n_uses: u64) -> Option<Memory> {
    let mut raised = memory.clone();
    if n_uses.is_multiple_of(USES_PER_RAISE) && raised.confidence < MAX_EARNED_CONFIDENCE {
        raised.confidence =
            raised.confidence.saturating_add(CONFIDENCE_PER_RAISE).at_most(MAX_EARNED_CONFIDENCE);
    }
    // Only the user can clear taint, so that use does not waive the review of external text.
    if n_uses >= USES_TO_WAIVE_REVIEW && !raised.flags.tainted {
        raised.flags.needs_review = false;
    }
    (raised != *memory).then_some(raised)
}
