//! The weekly consolidation: merges duplicates among the memories of the last week. The daemon calls it
//! every day, `waylore learn` on every run; a stored milestone with the number of the week makes all but
//! the first call of a week return at once.

use model::{Actor, DAY_MS, MemoryId, Timestamp};
use store::{AuditAction, Milestone, StoreChange, StoreReader, WriteBatch};

use super::consolidation::consolidate_since;
use super::retired_statistics::retire_statistics_once;
use crate::editing::user_batch;
use crate::{Error, NotebookScope, Project};

/// Name of the milestone that marks a week as consolidated.
const WEEKLY_MILESTONE: &str = "weekly";
/// Greatest age of the memories that are consolidated: a week, and a day because the runs of two
/// weeks are not exactly a week apart.
const MAX_CONSOLIDATED_AGE_MS: i64 = 8 * DAY_MS;

/// Merges duplicates and returns the memories that were retired. Does nothing if it ran this week.
pub(crate) async fn consolidate_week(project: &mut Project) -> Result<Vec<MemoryId>, Error> {
    // A project in which no session is learned any more is maintained all the same.
    retire_statistics_once(project).await?;
    let Some(store) = project.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let (now, week) = (project.now, week_milestone(project.now));
    let has_run = store.learning().list_milestones().await?.contains(&week);
    // Before the first session there is nothing that learning could have stored twice.
    if has_run || project.is_memory_disabled() || store.learning().list_sessions().await?.is_empty()
    {
        return Ok(Vec::new());
    }
    let batch = user_batch(AuditAction::Promote, now, vec![StoreChange::PassMilestone(week)]);
    let batch = WriteBatch { actor: Actor::Observer, ..batch };
    project.write(NotebookScope::Project, batch).await?;
    consolidate_since(project, &store, now.plus_millis(-MAX_CONSOLIDATED_AGE_MS), now).await
}

/// Returns the milestone of the week of `now`. Weeks are counted from the start of Unix time.
fn week_milestone(now: Timestamp) -> Milestone {
    Milestone { name: WEEKLY_MILESTONE.to_owned(), count: now.0.div_euclid(7 * DAY_MS) }
}
