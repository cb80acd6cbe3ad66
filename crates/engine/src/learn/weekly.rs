//! The weekly synthesis: drafts couplings between modules (which modules the same sessions edit) from
//! all sessions, and merges duplicates among the memories of the last week. The daemon calls it every
//! day, `waylore learn` on every run; a stored milestone with the number of the week makes all but the
//! first call of a week return at once. A *visit* is the list of files that one session touched.

use model::{Actor, DAY_MS, Memory, MemoryKind, Timestamp};
use observe::{ModuleLookup, SessionOverview, SessionVisit};
use store::{AuditAction, MemoryFilter, StoreChange, StoreReader, WriteBatch};

use super::consolidation::consolidate_since;
use super::load::load_visits;
use super::related::load_syntheses;
use super::synthesis::{
    MAX_COMPARED_SYNTHESES, SynthesisPlan, SynthesisSource, add_new_syntheses, draft_module_pairs,
    overview_from_row, week_milestone,
};
use super::{LearnedMemory, load_module_lookup};
use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// Greatest age of the memories that are consolidated: a week, and a day because the runs of two
/// weeks are not exactly a week apart.
const MAX_CONSOLIDATED_AGE_MS: i64 = 8 * DAY_MS;

/// Everything that the weekly synthesis is computed from.
struct WeekInputs {
    /// The session to which the new memories are attributed.
    session: SessionOverview,
    visits: Vec<SessionVisit>,
    /// Stored memories about dependencies, whose couplings are known already.
    dependencies: Vec<Memory>,
    modules: ModuleLookup,
}

/// Stores couplings between modules, and merges duplicates. Does nothing if it ran this week.
pub(crate) async fn synthesise_week(project: &mut Project) -> Result<Vec<LearnedMemory>, Error> {
    let Some(store) = project.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let now = project.now;
    let Some(week) = load_week(project, &store, now).await? else { return Ok(Vec::new()) };
    let drafts = draft_module_pairs(&week.visits, &week.dependencies, &week.modules);
    let source = SynthesisSource::Statistics;
    let fresh = load_syntheses(project, &store, &week.session, drafts, source).await?;
    let mut plan = SynthesisPlan::default();
    add_new_syntheses(&mut plan, fresh);
    // In the same batch as the memories: after a crash either both are stored or neither is.
    plan.changes.push(StoreChange::PassMilestone(week_milestone(now)));
    let batch = user_batch(AuditAction::Promote, now, plan.changes);
    let batch = WriteBatch { actor: Actor::Observer, ..batch };
    project.write(NotebookScope::Project, batch).await?;
    consolidate_since(project, &store, now.plus_millis(-MAX_CONSOLIDATED_AGE_MS), now).await?;
    Ok(plan.memories)
}

/// Loads the inputs; `None` if this week was synthesised already, or no session was learned yet.
async fn load_week(
    reader: &ProjectReader,
    store: &StoreReader,
    now: Timestamp,
) -> Result<Option<WeekInputs>, Error> {
    let milestones = store.learning().list_milestones().await?;
    if reader.is_memory_disabled() || milestones.contains(&week_milestone(now)) {
        return Ok(None);
    }
    // A learned memory gets its time and its author from a session. The weekly synthesis belongs to
    // none, so it takes the one that ended last.
    let Some(last) = store.learning().list_sessions().await?.pop() else { return Ok(None) };
    let kind = Some(MemoryKind::CausalDependency.slug().to_owned());
    let filter = MemoryFilter { kind, ..MemoryFilter::active(MAX_COMPARED_SYNTHESES) };
    Ok(Some(WeekInputs {
        session: overview_from_row(last),
        visits: load_visits(store).await?,
        dependencies: store.memories().list(filter).await?,
        modules: load_module_lookup(reader).await?,
    }))
}
