//! Candidates: each sighting of a session with the draft composed of it and the verdict on it. Pure.

use std::collections::{BTreeMap, HashMap};

use model::{MemoryId, PerMille, ProjectPath, SignalKind};
use observe::{
    Evidence, MemoryDraft, ModuleLookup, PatternKey, SessionOverview, SessionSighting, Sighting,
    SupportCounts,
};
use promote::{PromotionCandidate, PromotionVerdict, SessionFacts};
use store::SightingRow;

use super::load::LessonInputs;
use super::session_index::SessionIndex;
use super::subagents::SessionGroups;

/// Start confidence of an agent's note and of a user's correction, whatever their signal.
const STATED_CONFIDENCE: PerMille = PerMille::new(750);
/// With more subtasks than this, a note of a finished subtask is judged before the session ends.
pub(super) const MIN_SUBTASKS_TO_SPLIT: usize = 5;

/// Stored sightings by pattern.
pub(super) type SightingsByPattern = HashMap<PatternKey, Vec<SightingRow>>;

/// Numbers of sessions that edited files.
#[derive(Clone, Debug, Default)]
pub(super) struct EditCounts {
    pub(super) by_file: HashMap<ProjectPath, u32>,
    /// Sessions that edited any file.
    pub(super) all: u32,
}

impl EditCounts {
    /// Sessions that edited a file, this one included; 0 for a file that was not counted.
    pub(super) fn editors(
        &self,
        path: Option<&ProjectPath>,
        session: &SessionOverview,
        sessions: &SessionIndex,
    ) -> u32 {
        let Some((path, n)) = path.and_then(|it| Some((it, self.by_file.get(it)?))) else {
            return 0;
        };
        let edits = session.files.iter().any(|it| it.path == *path && it.edits > 0);
        // A session that has grown is in the stored counts already.
        n + u32::from(edits && !sessions.is_counted(session.id))
    }
}

/// A sighting with everything that was decided about it before stored memories are compared.
pub(super) struct JudgedSighting {
    pub(super) sighting: Sighting,
    pub(super) draft: Option<MemoryDraft>,
    pub(super) groups: SessionGroups,
    /// The memory that was made of this pattern before.
    pub(super) memory: Option<MemoryId>,
    /// Memories made of folders that the module map has joined into one module since. The memory of
    /// the module replaces them.
    pub(super) overtaken: Vec<MemoryId>,
    pub(super) verdict: PromotionVerdict,
}

impl JudgedSighting {
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.verdict, PromotionVerdict::Keep { .. })
    }
}

/// Composes a draft of each sighting with its earlier ones, and judges them all.
pub(super) fn judge_sightings(inputs: &LessonInputs<'_>) -> Vec<JudgedSighting> {
    let session = &inputs.observed.session;
    // Each pattern takes its earlier sightings once: a session can show the same pattern twice, and
    // the second time adds nothing.
    let mut earlier: HashMap<&PatternKey, &Vec<SightingRow>> = inputs.earlier.iter().collect();
    let mut acc = Vec::new();
    for sighting in &inputs.observed.sightings {
        let rows = earlier.remove(&sighting.key).map(Vec::as_slice).unwrap_or_default();
        // Rows come in the order they were stored, so that the last memory is the current one.
        let memory = rows.iter().rev().find_map(|it| it.memory);
        let mut overtaken: Vec<MemoryId> = rows.iter().filter_map(|it| it.memory).collect();
        overtaken.retain(|it| Some(*it) != memory);
        overtaken.sort_unstable();
        overtaken.dedup();
        acc.push(JudgedSighting {
            draft: compose_draft(sighting, rows, inputs),
            groups: SessionGroups::count(session, rows, &inputs.sessions),
            sighting: sighting.clone(),
            memory,
            overtaken,
            // Replaced below: the budget of a session is shared, so all are judged together.
            verdict: PromotionVerdict::Dropped {
                reason: model::DropReason::Budget,
                detail: String::new(),
            },
        });
    }
    let candidates: Vec<PromotionCandidate> =
        acc.iter().map(|it| to_candidate(it, session)).collect();
    let facts = SessionFacts {
        kind: session.kind,
        outcome: session.outcome,
        validation_basis: session.validation_basis,
        reported_validations: session.reported_validations.clone(),
        tightening: inputs.tightening,
    };
    for (it, verdict) in acc.iter_mut().zip(promote::judge_candidates(&candidates, &facts)) {
        it.verdict = verdict;
    }
    acc
}

fn compose_draft(
    sighting: &Sighting,
    rows: &[SightingRow],
    inputs: &LessonInputs<'_>,
) -> Option<MemoryDraft> {
    let (session, modules) = (&inputs.observed.session, &inputs.modules);
    let mut seen = counted_sightings(rows, &inputs.sessions, Some(modules));
    seen.push(SessionSighting {
        session: session.id,
        at: session.ended,
        occurrences: sighting.occurrences,
        evidence: sighting.evidence.clone(),
    });
    // A session that is learned late is not the newest. Drafts quote the newest evidence.
    seen.sort_by_key(|it| (it.at, it.session));
    let files = sighting.evidence.files();
    let editors = |nth: usize| inputs.edits.editors(files.get(nth), session, &inputs.sessions);
    let support = SupportCounts {
        first_file: editors(0),
        second_file: editors(1),
        // A routine is rated against the sessions that began it, a pair against all that edited.
        baseline: match sighting.signal() {
            SignalKind::Sequence => u32::try_from(rows.len() + 1).unwrap_or(u32::MAX),
            _ => inputs.edits.all,
        },
    };
    observe::compose_draft(&sighting.key, &seen, support, modules)
}

/// The sightings of sessions that count, in the order of the rows. With `modules`, folders in the
/// evidence are replaced by their modules.
pub(super) fn counted_sightings(
    rows: &[SightingRow],
    sessions: &SessionIndex,
    modules: Option<&ModuleLookup>,
) -> Vec<SessionSighting> {
    let mut acc = Vec::new();
    for row in rows {
        // A pattern in work that failed or was never validated is not evidence.
        if let Some(session) = sessions.get_counted(row.session) {
            let evidence = parse_evidence(row);
            let evidence = match modules {
                Some(modules) => modules.rename_folders(evidence),
                None => evidence,
            };
            acc.push(SessionSighting {
                session: row.session,
                at: session.ended,
                occurrences: row.times,
                evidence,
            });
        }
    }
    acc
}

/// The evidence of a stored sighting.
pub(super) fn parse_evidence(row: &SightingRow) -> Evidence {
    let key = PatternKey::from_stored(row.signal, row.key.as_str());
    Evidence::parse(&key, &row.evidence)
}

fn to_candidate(it: &JudgedSighting, session: &SessionOverview) -> PromotionCandidate {
    let signal = it.sighting.signal();
    // What an agent or a user states needs no repetition to be believed.
    let is_stated = matches!(signal, SignalKind::Recorded | SignalKind::UserCorrection);
    let kind = it.draft.as_ref().map(|it| it.kind.clone());
    PromotionCandidate {
        signal,
        key: it.sighting.key.as_str().to_owned(),
        content: it.draft.as_ref().map(|it| it.content.clone()),
        // A candidate without a draft is dropped whatever its type.
        kind: kind.unwrap_or(model::MemoryType::Core(signal.row().becomes)),
        sessions: it.groups.n_groups,
        occurrences: it.sighting.occurrences,
        tainted: it.sighting.tainted,
        has_quorum: it.groups.has_quorum,
        is_in_finished_subtask: is_in_finished_subtask(&it.sighting, session),
        initial_confidence: is_stated.then_some(STATED_CONFIDENCE),
    }
}

/// Returns whether a note was recorded in a subtask that has succeeded.
fn is_in_finished_subtask(sighting: &Sighting, session: &SessionOverview) -> bool {
    sighting.signal() == SignalKind::Recorded
        && session.succeeded_subtasks.len() > MIN_SUBTASKS_TO_SPLIT
        && session.succeeded_subtasks.last().is_some_and(|it| sighting.order <= *it)
}

/// The stored patterns to read for these sightings, each with the key it has today: the pattern of a
/// module may be stored under the names of its folders.
pub(super) fn pattern_keys(
    sightings: &[Sighting],
    modules: &ModuleLookup,
) -> BTreeMap<PatternKey, PatternKey> {
    let own = |it: &Sighting| (it.key.clone(), it.key.clone());
    let mut acc: BTreeMap<PatternKey, PatternKey> = sightings.iter().map(own).collect();
    for it in sightings {
        // A folder's name wins over a sighting of the same name: the folder is part of the module.
        let earlier = modules.earlier_keys(&it.key).into_iter();
        acc.extend(earlier.map(|key| (key, it.key.clone())));
    }
    acc
}

/// The files at the two ends of pairs: their editors are counted.
pub(super) fn paired_files(sightings: &[Sighting]) -> Vec<ProjectPath> {
    let is_pair =
        |it: &&Sighting| matches!(it.signal(), SignalKind::CoAccess | SignalKind::ConfigTouch);
    let mut acc: Vec<ProjectPath> =
        sightings.iter().filter(is_pair).flat_map(|it| it.evidence.files()).collect();
    acc.sort();
    acc.dedup();
    acc
}
