//! Candidates: composes a draft for each sighting of a session and has `promote` judge it. Pure.
//! A *candidate* here is a memory that a session proposes, not one that a search has found.
//!
//! ```text
//! word        meaning                                      example
//! sighting    a pattern that one session has shown         `cargo test` failed, then passed
//! signal      the kind of the pattern                      ErrorRetry
//! key         which pattern of that kind                   the fingerprint of the error
//! evidence    the data of the sighting                     the command that ended the error
//! draft       a memory composed from all sightings of      "If E0432 occurs, run `cargo add serde`"
//!             a pattern, in this and earlier sessions
//! verdict     the decision of `promote` about a draft      Keep
//! ```
//!
//! `novelty` then compares the kept drafts with stored memories. Statistics (two files touched together)
//! have neither draft nor memory and are only stored.
//!
//! Earlier sessions are evidence only if they count: they did not fail and were validated
//! (`session_index`); [`EvidenceRule`] has the exception for errors. A sighting that is not tainted is
//! judged by untainted ones alone, so that neither the text nor the number of tainted ones enters a memory
//! that is injected.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use model::{MemoryId, PerMille, SessionId, SignalKind};
use observe::{
    Evidence, MemoryDraft, ModuleLookup, PatternKey, SessionOverview, SessionSighting, Sighting,
};
use promote::{PromotionCandidate, PromotionVerdict, SessionFacts};
use store::{SessionRow, SightingRow};

use super::load::LessonInputs;
use super::session_index::SessionIndex;
use super::subagents::SessionGroups;

/// Initial confidence of a note that an agent recorded or a correction that a user made.
const STATED_CONFIDENCE: PerMille = PerMille::new(750);
/// Succeeded subtasks up to which a session is learned at its end only; with more, it is also learned while
/// it runs.
pub(super) const MAX_SUBTASKS_LEARNED_AT_END: usize = 5;

/// Stored sightings by pattern.
pub(super) type SightingsByPattern = HashMap<PatternKey, Vec<SightingRow>>;

/// A sighting with its draft and its verdict, before it is compared with stored memories.
pub(super) struct JudgedSighting {
    pub(super) sighting: Sighting,
    /// `None` if the sightings of the pattern do not suffice to state something.
    pub(super) draft: Option<MemoryDraft>,
    /// The memory that earlier sessions made from this pattern.
    pub(super) memory: Option<MemoryId>,
    pub(super) verdict: PromotionVerdict,
}

impl JudgedSighting {
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.verdict, PromotionVerdict::Keep { .. })
    }
}

/// A sighting with its draft, before the verdict.
struct DraftedSighting<'a> {
    sighting: &'a Sighting,
    /// Stored sightings of the same pattern, in the order they were stored.
    /// Of a sighting that is not tainted, only those that are not either.
    earlier: Cow<'a, [SightingRow]>,
    draft: Option<MemoryDraft>,
    session_groups: SessionGroups,
    /// The memory that an earlier lesson of this session made from the pattern, if the pattern is an error. An
    /// error is known by its key alone, because its text may change with each lesson. Memories of other
    /// patterns need no entry here: `novelty` finds them again by their text.
    own_memory: Option<MemoryId>,
}

impl DraftedSighting<'_> {
    fn with_verdict(self, verdict: PromotionVerdict) -> JudgedSighting {
        // The newest row names the current memory of the pattern.
        let memory = self.earlier.iter().filter_map(|it| it.memory).next_back().or(self.own_memory);
        JudgedSighting { sighting: self.sighting.clone(), draft: self.draft, memory, verdict }
    }
}

/// Composes a draft of each sighting together with its earlier ones, and judges them all.
pub(super) fn judge_sightings(inputs: &LessonInputs<'_>) -> Vec<JudgedSighting> {
    let session = &inputs.observed.session;
    // The earlier sightings of a pattern are taken once: a session can show the same pattern twice,
    // and they must not count for both. The second sighting is then judged without earlier ones.
    let mut unused: HashMap<&PatternKey, &Vec<SightingRow>> = inputs.earlier.iter().collect();
    let mut drafted = Vec::new();
    for sighting in &inputs.observed.sightings {
        let earlier = unused.remove(&sighting.key).map(Vec::as_slice).unwrap_or_default();
        let earlier = comparable_sightings(sighting, earlier);
        let rule = EvidenceRule::of(sighting.signal());
        let others =
            earlier.iter().filter_map(|it| rule.find_session(it.session, &inputs.sessions));
        let others: Vec<&SessionRow> = others.collect();
        drafted.push(DraftedSighting {
            sighting,
            draft: draft_from_sightings(sighting, &earlier, inputs),
            session_groups: SessionGroups::count(session, &others, &inputs.sessions),
            own_memory: inputs
                .own_memories
                .get(&sighting.key)
                .copied()
                // Only errors; see `own_memory`.
                .filter(|_| sighting.signal() == SignalKind::ErrorRetry),
            earlier,
        });
    }
    // A session may teach a limited number of memories, so all candidates are judged together.
    let candidates: Vec<PromotionCandidate> =
        drafted.iter().map(|it| to_candidate(it, session)).collect();
    let facts = SessionFacts {
        kind: session.kind,
        outcome: session.outcome,
        validation_basis: session.validation_basis,
        reported_validations: session.reported_validations.clone(),
        // Thresholds rise if the user rejected many learned memories.
        tightening: inputs.tightening,
    };
    let verdicts = promote::judge_candidates(&candidates, &facts);
    drafted.into_iter().zip(verdicts).map(|(it, verdict)| it.with_verdict(verdict)).collect()
}

/// The earlier sightings of a pattern that may support this one. A tainted one supports only tainted ones.
fn comparable_sightings<'a>(
    sighting: &Sighting,
    earlier: &'a [SightingRow],
) -> Cow<'a, [SightingRow]> {
    if sighting.tainted || earlier.iter().all(|it| !it.tainted) {
        return Cow::Borrowed(earlier);
    }
    Cow::Owned(earlier.iter().filter(|it| !it.tainted).cloned().collect())
}

/// The earlier sessions that are evidence of a pattern.
#[derive(Clone, Copy)]
enum EvidenceRule {
    /// Those that count. A pattern in work that failed or was never validated is not evidence.
    CountedSessions,
    /// Every session: the rule for errors. The error occurred, and the command that ended it did end it,
    /// whatever became of the session's work. Only an edit as its fix needs a session that counts.
    EverySession,
}

impl EvidenceRule {
    const fn of(signal: SignalKind) -> Self {
        match signal {
            SignalKind::ErrorRetry => Self::EverySession,
            _ => Self::CountedSessions,
        }
    }

    /// The session with an id; `None` if it is no evidence or has no row.
    fn find_session(self, id: SessionId, sessions: &SessionIndex) -> Option<&SessionRow> {
        match self {
            Self::CountedSessions => sessions.get_counted(id),
            Self::EverySession => sessions.get(id),
        }
    }
}

/// Converts the rows of sessions that count as evidence, in their order.
pub(super) fn counted_sightings(
    rows: &[SightingRow],
    sessions: &SessionIndex,
) -> Vec<SessionSighting> {
    evidence_sightings(rows, EvidenceRule::CountedSessions, sessions)
}

/// Converts the rows that are evidence by a rule, in their order.
fn evidence_sightings(
    rows: &[SightingRow],
    rule: EvidenceRule,
    sessions: &SessionIndex,
) -> Vec<SessionSighting> {
    let mut acc = Vec::new();
    for row in rows {
        let Some(session) = rule.find_session(row.session, sessions) else { continue };
        let evidence = parse_evidence(row);
        // Always true under `CountedSessions`.
        let holds = sessions.is_counted(row.session);
        acc.push(SessionSighting {
            session: row.session,
            at: session.ended,
            occurrences: row.times,
            evidence: if holds { evidence } else { evidence.without_edit() },
        });
    }
    acc
}

/// Parses the evidence of a stored sighting.
pub(super) fn parse_evidence(row: &SightingRow) -> Evidence {
    let key = PatternKey::from_stored(row.signal, row.key.as_str());
    Evidence::parse(&key, &row.evidence)
}

/// Lists the stored patterns to read for these sightings: maps each stored key to the current key.
/// The two differ if the pattern of a module was stored under a folder before the module was known. For the
/// module `wire` with the folder `src/wire`, a sighting of `wire` gives two entries:
///
/// ```text
/// stored      current
/// wire        wire
/// src/wire    wire
/// ```
pub(super) fn pattern_keys(
    sightings: &[Sighting],
    modules: &ModuleLookup,
) -> BTreeMap<PatternKey, PatternKey> {
    let to_itself = |it: &Sighting| (it.key.clone(), it.key.clone());
    let mut acc: BTreeMap<PatternKey, PatternKey> = sightings.iter().map(to_itself).collect();
    for sighting in sightings {
        // Runs second to overwrite: if a sighting has the key of a folder, the module still gets
        // its rows.
        let folder_keys = modules.earlier_keys(&sighting.key).into_iter();
        acc.extend(folder_keys.map(|key| (key, sighting.key.clone())));
    }
    acc
}

/// Composes the draft of a sighting and the earlier ones of its pattern; `None` if they do not
/// suffice.
fn draft_from_sightings(
    sighting: &Sighting,
    earlier: &[SightingRow],
    inputs: &LessonInputs<'_>,
) -> Option<MemoryDraft> {
    let (session, modules) = (&inputs.observed.session, &inputs.modules);
    let rule = EvidenceRule::of(sighting.signal());
    let mut seen = evidence_sightings(earlier, rule, &inputs.sessions);
    seen.push(SessionSighting {
        session: session.id,
        at: session.ended,
        occurrences: sighting.occurrences,
        evidence: sighting.evidence.clone(),
    });
    // Drafts quote the newest evidence, and a session that is learned late is not the newest.
    seen.sort_by_key(|it| (it.at, it.session));
    let seen = drop_repeated_sessions(seen, session, &inputs.sessions);
    observe::compose_draft(&sighting.key, &seen, modules)
}

/// Keeps the newest sighting of a session and its forks: a fork repeats everything before it. Subagents stay,
/// because each did work of its own.
fn drop_repeated_sessions(
    mut seen: Vec<SessionSighting>,
    session: &SessionOverview,
    sessions: &SessionIndex,
) -> Vec<SessionSighting> {
    // This session need not have a row yet, so its original is found by its overview.
    let original = |id: SessionId| {
        if id == session.id { sessions.original_of(session) } else { sessions.original_of_row(id) }
    };
    let mut known = HashSet::new();
    seen.reverse();
    seen.retain(|it| known.insert(original(it.session)));
    seen.reverse();
    seen
}

/// Describes a drafted sighting to `promote`, which does not see sightings.
fn to_candidate(drafted: &DraftedSighting<'_>, session: &SessionOverview) -> PromotionCandidate {
    let DraftedSighting { sighting, earlier, draft, session_groups, own_memory } = drafted;
    let signal = sighting.signal();
    // A statement of an agent or a user needs no repetition to be believed.
    let is_stated = matches!(signal, SignalKind::Recorded | SignalKind::UserCorrection);
    let kind = draft.as_ref().map(|it| it.kind.clone());
    PromotionCandidate {
        signal,
        key: sighting.key.as_str().to_owned(),
        content: draft.as_ref().map(|it| it.content.clone()),
        // A candidate without a draft is dropped whatever its type.
        kind: kind.unwrap_or(model::MemoryType::Core(signal.row().becomes)),
        // A session with its forks and subagents counts once; see `SessionGroups`.
        sessions: session_groups.n_groups,
        occurrences: sighting.occurrences,
        tainted: sighting.tainted,
        // A sibling, another subagent of the same parent, saw the pattern too.
        has_quorum: session_groups.has_quorum,
        is_in_finished_subtask: is_in_finished_subtask(sighting, session),
        initial_confidence: match &sighting.evidence {
            // The scorer's own probability.
            Evidence::Claim(claim) => Some(claim.score),
            _ => is_stated.then_some(STATED_CONFIDENCE),
        },
        // Set by `observe::compose_draft`: the failed command succeeded after the fix.
        is_confirmed: draft.as_ref().is_some_and(|it| it.is_confirmed),
        // Nothing in the session states that its work was thrown away; the draft infers it.
        is_guess: matches!(sighting.evidence, Evidence::RevertedSession { .. }),
        has_memory: earlier.iter().any(|it| it.memory.is_some()) || own_memory.is_some(),
    }
}

/// Returns whether a note was recorded before the last subtask succeeded. Always false in sessions
/// with few subtasks, which are learned at their end only.
fn is_in_finished_subtask(sighting: &Sighting, session: &SessionOverview) -> bool {
    sighting.signal() == SignalKind::Recorded
        && session.succeeded_subtasks.len() > MAX_SUBTASKS_LEARNED_AT_END
        // The list holds the event number at which each subtask succeeded.
        && session.succeeded_subtasks.last().is_some_and(|it| sighting.order <= *it)
}
