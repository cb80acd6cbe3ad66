//! The weekly synthesis: couplings between modules, and duplicates among the memories of the week.

use model::{Actor, DAY_MS, Memory, MemoryKind, Timestamp};
use observe::{ModuleLookup, SessionOverview, SessionVisit};
use store::{AuditAction, MemoryFilter, StoreChange, StoreReader, WriteBatch};

use super::consolidation::consolidate_since;
use super::load::load_visits;
use super::related::load_syntheses;
use super::synthesis::{
    MAX_COMPARED_SYNTHESES, SynthesisPlan, SynthesisSource, add_new, draft_module_pairs,
    session_from_row, week_milestone,
};
use super::{LearnedMemory, modules};
use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// Age of the memories that are consolidated: a week, and a day in case the last run was late.
const CONSOLIDATED_MS: i64 = 8 * DAY_MS;

/// Everything that the weekly synthesis is computed from.
struct WeekInputs {
    /// The session that the synthesis is stored under.
    session: SessionOverview,
    visits: Vec<SessionVisit>,
    dependencies: Vec<Memory>,
    modules: ModuleLookup,
}

/// Stores couplings between modules, and merges duplicates. Does nothing if it ran this week.
pub(crate) async fn synthesise_week(project: &mut Project) -> Result<Vec<LearnedMemory>, Error> {
    let Some(store) = project.project_store().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let now = project.now;
    let Some(week) = load_week(project, &store, now).await? else { return Ok(Vec::new()) };
    let drafts = draft_module_pairs(&week.visits, &week.dependencies, &week.modules);
    let source = SynthesisSource::Statistics;
    let fresh = load_syntheses(project, &store, &week.session, drafts, source).await?;
    let mut plan = SynthesisPlan::default();
    add_new(&mut plan, fresh);
    // Passed in the same batch: a crash repeats the week as a whole or not at all.
    plan.changes.push(StoreChange::PassMilestone(week_milestone(now)));
    let batch = user_batch(AuditAction::Promote, now, plan.changes);
    let batch = WriteBatch { actor: Actor::Observer, ..batch };
    project.write(NotebookScope::Project, batch).await?;
    consolidate_since(project, &store, now.plus_millis(-CONSOLIDATED_MS), now).await?;
    Ok(plan.memories)
}

/// `None` if this week was synthesised already, or no session was learned.
async fn load_week(
    reader: &ProjectReader,
    store: &StoreReader,
    now: Timestamp,
) -> Result<Option<WeekInputs>, Error> {
    let milestones = store.learning().list_milestones().await?;
    if reader.is_memory_disabled() || milestones.contains(&week_milestone(now)) {
        return Ok(None);
    }
    // Memories need a session; the weekly synthesis belongs to none, so that it takes the last.
    let Some(last) = store.learning().list_sessions().await?.pop() else { return Ok(None) };
    let kind = Some(MemoryKind::CausalDependency.slug().to_owned());
    let filter = MemoryFilter { kind, ..MemoryFilter::active(MAX_COMPARED_SYNTHESES) };
    Ok(Some(WeekInputs {
        session: session_from_row(last),
        visits: load_visits(store).await?,
        dependencies: store.memories().list(filter).await?,
        modules: modules(reader).await?,
    }))
}
