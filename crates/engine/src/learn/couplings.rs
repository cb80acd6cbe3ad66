//! Couplings: memories that name two files which sessions edit together. Pure.
//!
//! A coupling states a share: of the sessions that edited one file, how many edited the other too
//! ("of 8 sessions that edited `a.rs`, 7 edited `b.rs`"). A *sighting* is one occurrence of a
//! pattern in one session. A memory *fades* when the evidence no longer supports its pattern: it is
//! deprecated, and later sessions may revive it.
//!
//! Only counted sessions are evidence: those that did not fail and were validated
//! (`session_index`). A session that edits both is a sighting and handled in `candidates`. A
//! session that edits only one lowers the share without showing the pair; this file updates the
//! memory in that case.

use model::{Deprecation, Memory, Timestamp};
use observe::{ModuleLookup, PatternKey, SessionOverview, SessionSighting, SupportCounts};
use store::StoreChange;

use super::candidates::EditCounts;
use super::session_index::SessionIndex;

/// A stored coupling of two files of which the session edited only one.
pub(super) struct CouplingInputs {
    pub(super) key: PatternKey,
    pub(super) memory: Memory,
    /// Sightings of the pair in counted sessions, oldest first; never empty.
    pub(super) seen: Vec<SessionSighting>,
    pub(super) edits: EditCounts,
}

/// Returns whether learning itself deprecated a memory because its pattern faded. Later sessions
/// may revive such a memory.
pub(super) fn is_faded(memory: &Memory) -> bool {
    memory.states.deleted_at.is_none()
        && memory.states.deprecation() == Some(Deprecation::PatternFaded)
}

/// Returns the change that deprecates a memory because the evidence no longer supports its pattern.
pub(super) fn fade_pattern(mut memory: Memory, at: Timestamp) -> StoreChange {
    memory.states.deprecate(&Deprecation::PatternFaded, at);
    memory.updated_at = memory.updated_at.max(at);
    StoreChange::Replace(Box::new(memory))
}

/// Updates the numbers of the couplings, and deprecates those that no longer hold.
pub(super) fn refresh_couplings(
    session: &SessionOverview,
    couplings: Vec<CouplingInputs>,
    sessions: &SessionIndex,
    modules: &ModuleLookup,
) -> Vec<StoreChange> {
    let mut acc = Vec::new();
    for CouplingInputs { key, memory, seen, edits } in couplings {
        // Never empty, see the field. Skipped instead of a panic, because learning must not fail.
        let Some(last) = seen.last() else { continue };
        let files = last.evidence.files();
        // The evidence of a pair names its two files.
        let editors = |nth: usize| edits.count_editors(files.get(nth), session, sessions);
        let support = SupportCounts {
            first_file: editors(0),
            second_file: editors(1),
            baseline: edits.n_editing_sessions,
        };
        let mut after = memory.clone();
        match observe::compose_draft(&key, &seen, support, modules) {
            // The share is still high enough to be stated.
            Some(draft) => {
                after.summary = promote::compose_summary(&draft.content, &draft.kind);
                after.citation = promote::compose_citation(&draft.content);
                (after.content, after.payload) = (draft.content, draft.payload);
            }
            // The share is too low now.
            None => after.states.deprecate(&Deprecation::PatternFaded, session.ended),
        }
        // Most sessions change the share without changing the sentence.
        if after != memory {
            after.updated_at = after.updated_at.max(session.ended);
            acc.push(StoreChange::Replace(Box::new(after)));
        }
    }
    acc
}
