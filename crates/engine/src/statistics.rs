//! Statistics for `waylore stats`: counts and sizes of notebooks, totals over sessions, and the
//! results of the A/B trial, in which some sessions get no notes and some only at their start.

use std::collections::HashMap;

use model::{Actor, MemoryStatus, SessionId, TrialGroup};
use promote::{TrialComparison, compare_groups};
use store::{BackupFile, DatabaseSize, SessionRow, TierTotals};

use crate::export::list_all_memories;
use crate::injection::injection_log::injection_totals;
use crate::injection::trial_group::parse_trial_milestone;
use crate::learn::asking::{AskCounts, count_calls, is_model_claim};
use crate::learn::savings::{ToolCallSavings, sum_savings};
use crate::{Error, Notebook, NotebookScope, ProjectReader};

/// Counts and sizes of one notebook.
#[derive(Clone, Debug)]
pub struct NotebookStats {
    pub scope: NotebookScope,
    pub memories: Vec<MemoryCount>,
    pub size: DatabaseSize,
    pub backups: Vec<BackupFile>,
}

/// Number of memories of one type and status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCount {
    pub kind: String,
    pub status: MemoryStatus,
    pub count: u64,
}

/// Totals over all learned sessions of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectActivity {
    pub n_sessions: usize,
    /// Sessions whose work was validated.
    pub n_validated: usize,
    /// Sessions that could not be learned.
    pub n_failed: usize,
    /// Times that a memory was shown to an agent.
    pub n_shown: u64,
    /// Times that an agent followed or cited a memory.
    pub n_used: u64,
    /// Memories created by learning.
    pub n_learned: usize,
    /// Sightings that did not become a memory.
    pub n_dropped: usize,
    pub savings: ToolCallSavings,
    /// Questions to a language model about sessions.
    pub asked: AskCounts,
    /// Claims of its answers that were kept, and those that failed a check.
    pub n_claims_kept: usize,
    pub n_claims_refused: usize,
    /// Notes and tokens of each tier, as far back as the injection log goes.
    pub tiers: Vec<TierTotals>,
}

/// Results of the trial so far. The comparisons are between sessions without notes (control group)
/// and sessions with all notes.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResults {
    /// Number of learned sessions of each group.
    pub sessions: Vec<(TrialGroup, usize)>,
    pub steps: TrialComparison,
    pub tokens: TrialComparison,
    pub retries: TrialComparison,
}

/// Returns counts and sizes of every notebook.
pub(crate) async fn notebook_stats(reader: &ProjectReader) -> Result<Vec<NotebookStats>, Error> {
    let mut stats = Vec::new();
    for Notebook { scope, store, .. } in reader.notebooks() {
        let counts = store.memories().count_by_status().await?.into_iter();
        let memories = counts
            .map(|it| MemoryCount { kind: it.kind, status: it.status, count: it.count })
            .collect();
        let size = store.size().await?;
        stats.push(NotebookStats { scope, memories, size, backups: store.backups() });
    }
    Ok(stats)
}

/// Returns totals over all learned sessions of the project.
pub(crate) async fn project_activity(reader: &ProjectReader) -> Result<ProjectActivity, Error> {
    let mut activity = ProjectActivity::default();
    let Some(store) = reader.project_store_reader().filter(store::StoreReader::exists) else {
        return Ok(activity);
    };
    let sessions = store.learning().list_sessions().await?;
    let milestones = store.learning().list_milestones().await?;
    activity.savings = sum_savings(&milestones, &sessions);
    activity.asked = count_calls(&milestones);
    activity.n_failed = store.failed_sessions().len();
    for session in sessions {
        activity.n_sessions += 1;
        activity.n_validated += usize::from(session.validation_basis.is_some());
        let sightings = store.learning().sightings_in_session(session.id).await?;
        activity.n_dropped += sightings.iter().filter(|it| it.dropped.is_some()).count();
        for claim in sightings.iter().filter(|it| is_model_claim(it)) {
            activity.n_claims_kept += usize::from(claim.dropped.is_none());
            activity.n_claims_refused += usize::from(claim.dropped.is_some());
        }
    }
    if let Some(project) = reader.state.id() {
        activity.tiers = injection_totals(reader, project).await?;
    }
    // Forgotten memories count as well, because they were shown and used before.
    for memory in list_all_memories(&store).await? {
        activity.n_shown += memory.counters.access_count;
        activity.n_used += memory.counters.used_count;
        activity.n_learned += usize::from(memory.created_by == Actor::Observer);
    }
    Ok(activity)
}

/// Returns the results of the trial; `None` if there was none.
pub(crate) async fn trial_results(reader: &ProjectReader) -> Result<Option<TrialResults>, Error> {
    let Some(store) = reader.project_store_reader().filter(store::StoreReader::exists) else {
        return Ok(None);
    };
    let milestones = store.learning().list_milestones().await?;
    let mut groups: HashMap<SessionId, TrialGroup> = HashMap::new();
    for (group, id) in milestones.iter().filter_map(parse_trial_milestone) {
        groups.insert(id, group);
    }

    // An ended trial still has results; a trial that has just begun has zero sessions.
    if groups.is_empty() && !reader.policy.injection.on_trial {
        return Ok(None);
    }
    let mut sessions = store.learning().list_sessions().await?;
    sessions.retain(|it| groups.contains_key(&it.id));
    sessions.sort_by_key(|it| (it.started, it.id));
    let sessions_of = |group: TrialGroup| -> Vec<&SessionRow> {
        sessions.iter().filter(|it| groups.get(&it.id) == Some(&group)).collect()
    };
    let compare = |measure: fn(&SessionRow) -> u64| {
        let measures = |group| sessions_of(group).into_iter().map(measure).collect::<Vec<u64>>();
        compare_groups(&measures(TrialGroup::Control), &measures(TrialGroup::Full))
    };
    Ok(Some(TrialResults {
        sessions: TrialGroup::ALL.iter().map(|it| (*it, sessions_of(*it).len())).collect(),
        steps: compare(|it| u64::from(it.steps)),
        tokens: compare(|it| it.tokens),
        retries: compare(|it| u64::from(it.retries)),
    }))
}
