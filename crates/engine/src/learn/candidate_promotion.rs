//! Candidates: claims that were not sure when they were learned, and what makes or drops them. Pure.
//!
//! A candidate is stored like a memory, but no agent is told of it. In learning three things happen to it:
//!
//! | a later session | the candidate |
//! |---|---|
//! | states the same and is sure | becomes a live memory with the sure wording |
//! | states the same and is not sure either | becomes a live memory: it recurred |
//! | contradicts it | is superseded |
//!
//! `novelty` asks here. A person confirms or drops candidates in `waylore review`; `housekeeping` drops
//! those that stay unconfirmed.

use model::{Deprecation, Memory};
use observe::SessionOverview;

use super::session_index::SessionIndex;

/// Returns whether this session makes a live memory of a candidate that states the same as `fresh`.
/// Taint does not wear off by repetition, so both must be free of it.
pub(super) fn is_promoted(
    session: &SessionOverview,
    candidate: &Memory,
    fresh: &Memory,
    sessions: &SessionIndex,
) -> bool {
    candidate.flags.candidate
        && !candidate.flags.tainted
        && !fresh.flags.tainted
        && (!fresh.flags.candidate || is_recurrence(session, candidate, sessions))
}

/// Returns whether the candidate comes from another session. A parent and its subagents are one, because one
/// may have told the other; a session and its forks are one, because a fork repeats it.
fn is_recurrence(session: &SessionOverview, candidate: &Memory, sessions: &SessionIndex) -> bool {
    let own_group = sessions.group_of(session);
    // Without its first session, as after an import, there is nothing to compare.
    candidate.session.is_some_and(|it| it != session.id && sessions.group_of_row(it) != own_group)
}

/// Makes a live memory of a candidate. If the new statement is sure, its wording replaces that of the
/// candidate; the id stays, because the evidence refers to it.
pub(super) fn promote_candidate(candidate: &mut Memory, fresh: &Memory) {
    candidate.flags.candidate = false;
    candidate.flags.needs_review |= fresh.flags.needs_review;
    candidate.confidence = candidate.confidence.max(fresh.confidence);
    if fresh.flags.candidate {
        return;
    }
    let fresh = fresh.clone();
    (candidate.content, candidate.summary, candidate.citation) =
        (fresh.content, fresh.summary, fresh.citation);
    (candidate.kind, candidate.payload) = (fresh.kind, fresh.payload);
    (candidate.source, candidate.created_by) = (fresh.source, fresh.created_by);
    (candidate.files, candidate.modules, candidate.anchors) =
        (fresh.files, fresh.modules, fresh.anchors);
    (candidate.scope, candidate.tags) = (fresh.scope, fresh.tags);
}

/// Rank of a memory by how sure it is: live, to review, candidate. A less sure statement does not replace
/// a surer one.
pub(super) fn doubt(memory: &Memory) -> u8 {
    if memory.flags.candidate { 2 } else { u8::from(memory.flags.needs_review) }
}

/// Returns whether maintenance dropped a candidate that was not confirmed in time. Unlike a memory that
/// the user has forgotten, it returns when a session states it again.
pub(super) fn is_expired_candidate(memory: &Memory) -> bool {
    memory.flags.candidate && memory.states.deprecation() == Some(Deprecation::Unconfirmed)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use model::{DropReason, MemoryId, PerMille, SessionId, Timestamp};
    use observe::{Evidence, PatternKey, Sighting};
    use promote::PromotionVerdict;
    use store::StoreChange;

    use super::super::LessonEffect;
    use super::super::candidates::JudgedSighting;
    use super::super::fresh_memory::FreshMemory;
    use super::super::fresh_memory::tests::{memory, session};
    use super::super::novelty::{SightingOutcome, resolve_sightings};
    use super::*;

    const CLAIM: &str = "Always use 5 tabs for indentation of the tables.";
    const OTHER_WORDS: &str = "Use 5 tabs for indentation of the tables.";
    const CONTRADICTION: &str = "Always use 3 tabs for indentation of the tables.";

    /// A memory of an earlier session with this text, as a candidate or live.
    fn stored(text: &str, candidate: bool) -> Memory {
        let mut memory = memory(text);
        memory.flags.candidate = candidate;
        memory.session = Some(SessionId::new(Timestamp(5_000), [3; 10]));
        memory.provenance = memory.session.into_iter().collect();
        memory
    }

    /// A statement of this session, sure or not.
    fn fresh(session: &SessionOverview, text: &str, candidate: bool) -> Memory {
        let mut memory = memory(text);
        (memory.id, memory.session) = (MemoryId::new(session.ended, [9; 10]), Some(session.id));
        memory.provenance = vec![session.id];
        memory.flags.candidate = candidate;
        memory
    }

    /// What becomes of a statement beside the stored memories.
    fn resolve(session: &SessionOverview, fresh: Memory, stored: &[Memory]) -> SightingOutcome {
        let evidence = Evidence::UserCorrection {
            files: Vec::new(),
            sentence: fresh.content.clone(),
            kind: observe::WishKind::StandingRule,
        };
        let key = PatternKey::from_stored(model::SignalKind::UserCorrection, "k");
        let judged = JudgedSighting {
            sighting: Sighting {
                key,
                occurrences: 1,
                order: 0,
                tainted: fresh.flags.tainted,
                evidence,
            },
            draft: None,
            memory: None,
            verdict: PromotionVerdict::Keep {
                confidence: PerMille::new(700),
                score: PerMille::new(700),
                needs_review: false,
                tainted: fresh.flags.tainted,
                candidate: fresh.flags.candidate,
            },
        };
        let fresh = FreshMemory { memory: fresh, similar: stored.to_vec() };
        let index = SessionIndex::default();
        let (judged, fresh) = (vec![judged], vec![Some(fresh)]);
        resolve_sightings(session, judged, fresh, &HashMap::new(), &index).remove(0)
    }

    /// The only changed memory of an outcome.
    fn changed(outcome: &SightingOutcome) -> &Memory {
        let [StoreChange::Replace(memory)] = outcome.changes.as_slice() else {
            panic!("one replaced memory: {}", outcome.changes.len())
        };
        memory
    }

    #[test]
    fn a_second_session_makes_a_candidate_live() {
        let (session, old) = (session(10_000), stored(CLAIM, true));
        let outcome =
            resolve(&session, fresh(&session, OTHER_WORDS, true), std::slice::from_ref(&old));
        assert_eq!(outcome.learned.as_ref().unwrap().effect, LessonEffect::Promoted);
        let after = changed(&outcome);
        assert_eq!((after.id, after.flags.candidate), (old.id, false));
        // The first wording stays: neither is surer than the other.
        assert_eq!(after.content, CLAIM);
        assert_eq!(after.provenance, [old.session.unwrap(), session.id]);
    }

    #[test]
    fn the_same_session_and_its_subagents_are_no_recurrence() {
        let parent = SessionId::new(Timestamp(5_000), [3; 10]);
        let mut subagent = session(10_000);
        subagent.parent = Some(parent);
        let again = SessionOverview { id: parent, ..session(10_000) };
        for session in [again, subagent] {
            let outcome = resolve(&session, fresh(&session, CLAIM, true), &[stored(CLAIM, true)]);
            assert_eq!(outcome.learned.as_ref().unwrap().effect, LessonEffect::Confirmed);
            assert!(outcome.learned.unwrap().memory.flags.candidate);
        }
    }

    #[test]
    fn a_tainted_session_never_makes_a_candidate_live() {
        let session = session(10_000);
        for candidate in [true, false] {
            let mut tainted = fresh(&session, CLAIM, candidate);
            tainted.flags.tainted = true;
            let outcome = resolve(&session, tainted, &[stored(CLAIM, true)]);
            assert!(outcome.learned.unwrap().memory.flags.candidate);
        }
        let mut old = stored(CLAIM, true);
        old.flags.tainted = true;
        let outcome = resolve(&session, fresh(&session, CLAIM, true), &[old]);
        // It is not compared with a tainted one.
        assert_eq!(outcome.learned.unwrap().effect, LessonEffect::Created);
    }

    #[test]
    fn a_sure_statement_takes_the_place_of_a_candidate() {
        let (session, old) = (session(10_000), stored(CLAIM, true));
        let outcome =
            resolve(&session, fresh(&session, OTHER_WORDS, false), std::slice::from_ref(&old));
        let after = changed(&outcome);
        assert_eq!((after.id, after.flags.candidate), (old.id, false));
        assert_eq!(after.content, OTHER_WORDS);
    }

    #[test]
    fn a_candidate_neither_rewords_nor_contradicts_a_live_memory() {
        let (session, old) = (session(10_000), stored(CLAIM, false));
        let mut unsure = fresh(&session, OTHER_WORDS, true);
        unsure.confidence = PerMille::new(900);
        let outcome = resolve(&session, unsure, std::slice::from_ref(&old));
        let after = changed(&outcome);
        assert_eq!((&after.content, after.confidence), (&old.content, old.confidence));

        let outcome = resolve(&session, fresh(&session, CONTRADICTION, true), &[old]);
        assert!(outcome.changes.is_empty());
        assert_eq!(outcome.dropped.unwrap().reason, DropReason::Novelty);
    }

    #[test]
    fn a_contradiction_drops_a_candidate() {
        let session = session(10_000);
        for candidate in [true, false] {
            let old = stored(CLAIM, true);
            let new = fresh(&session, CONTRADICTION, candidate);
            let outcome = resolve(&session, new, std::slice::from_ref(&old));
            assert_eq!(outcome.learned.unwrap().effect, LessonEffect::Superseded(old.id));
        }
    }

    #[test]
    fn a_live_memory_is_nearer_than_a_candidate() {
        let session = session(10_000);
        let (candidate, live) = (stored(CLAIM, true), stored(OTHER_WORDS, false));
        let outcome = resolve(&session, fresh(&session, CLAIM, false), &[candidate, live.clone()]);
        assert_eq!(outcome.learned.unwrap().memory.id, live.id);
    }

    #[test]
    fn a_candidate_that_expired_returns_when_it_is_stated_again() {
        let session = session(10_000);
        let mut expired = stored(CLAIM, true);
        expired.states.deprecate(&Deprecation::Unconfirmed, Timestamp(6_000));
        expired.states.deleted_at = Some(Timestamp(6_000));
        assert!(is_expired_candidate(&expired));
        let mut forgotten = stored(CLAIM, true);
        forgotten.states.deleted_at = Some(Timestamp(6_000));
        assert!(!is_expired_candidate(&forgotten));
        assert!(is_promoted(
            &session,
            &expired,
            &fresh(&session, CLAIM, true),
            &SessionIndex::default()
        ));
    }
}
