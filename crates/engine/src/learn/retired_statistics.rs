//! Retires the memories that earlier versions made of statistics: "a change to A usually needs one in B",
//! the first files of a module, recipes, places of symbols.
//!
//! Runs once per project, at the first learning or maintenance with this version, and writes one batch, so
//! that one undo takes it back. A stored milestone keeps it from running again, also after an undo. A
//! memory that a person wrote, confirmed or pinned stays, and so does one that any statement or error
//! supports.

use model::{Actor, Deprecation, Memory, MemorySource, Payload, SignalKind, SignalUse};
use store::{
    AuditAction, MemoryFilter, Milestone, SightingRow, StoreChange, StoreReader, WriteBatch,
};

use super::protection::is_user_protected;
use super::synthesis::SYNTHESIS_TAG;
use crate::editing::user_batch;
use crate::export::NO_LIMIT;
use crate::{Error, NotebookScope, Project};

/// Name of the milestone that marks the statistics of a project as retired.
const RETIRED_MILESTONE: &str = "statistics retired";

/// Deprecates the memories that only statistics support, and returns their number. Does nothing if it has
/// run before.
pub(crate) async fn retire_statistics_once(project: &mut Project) -> Result<usize, Error> {
    let Some(store) = project.project_store_reader().filter(StoreReader::exists) else {
        return Ok(0);
    };
    let milestone = Milestone { name: RETIRED_MILESTONE.to_owned(), count: 1 };
    let has_run = store.learning().list_milestones().await?.contains(&milestone);
    if has_run || project.is_memory_disabled() {
        return Ok(0);
    }
    let mut changes = Vec::new();
    for mut memory in list_possible_statistics(&store).await? {
        let sightings = store.learning().sightings_for_memory(memory.id).await?;
        if !is_user_protected(&memory) && is_statistic(&memory, &sightings) {
            memory.states.deprecate(&Deprecation::Statistic, project.now);
            memory.updated_at = memory.updated_at.max(project.now);
            changes.push(StoreChange::Replace(Box::new(memory)));
        }
    }
    let n_retired = changes.len();
    // Without a retired memory there is nothing that an undo could take back.
    let action = if n_retired > 0 { AuditAction::Supersede } else { AuditAction::Promote };
    changes.push(StoreChange::PassMilestone(milestone));
    // Two processes may do it at the same time; the key makes the second a no-op.
    let key = Some(RETIRED_MILESTONE.to_owned());
    let batch = user_batch(action, project.now, changes);
    let batch = WriteBatch { actor: Actor::Observer, key, ..batch };
    project.write(NotebookScope::Project, batch).await?;
    Ok(n_retired)
}

/// Lists the learned memories that sightings of statistics support or that are syntheses, newest first:
/// the others cannot be statistics, and reading them all would take as long as the notebook is large.
async fn list_possible_statistics(store: &StoreReader) -> Result<Vec<Memory>, Error> {
    let source = Some(MemorySource::ObserverInferred);
    let tag = Some(SYNTHESIS_TAG.to_owned());
    let syntheses = MemoryFilter { source, tag, ..MemoryFilter::active(NO_LIMIT) };
    let statuses = syntheses.statuses.clone();
    let mut listed = store.memories().list(syntheses).await?;
    let is_statistics = |it: &SignalKind| it.row().feeds == SignalUse::Statistics;
    let signals = SignalKind::ALL.iter().copied().filter(is_statistics).collect();
    let ids = store.learning().memories_with_signals(signals).await?;
    let supported = store.memories().get_many(ids).await?;
    listed.extend(
        supported
            .into_iter()
            .filter(|it| source == Some(it.source) && statuses.contains(&it.status())),
    );
    listed.sort_by_key(|it| std::cmp::Reverse(it.id));
    listed.dedup_by_key(|it| it.id);
    Ok(listed)
}

/// The message for the user; `None` if nothing was retired.
pub(super) fn retirement_notice(n_retired: usize) -> Option<String> {
    let memories = match n_retired {
        0 => return None,
        1 => "1 memory was".to_owned(),
        n => format!("{n} memories were"),
    };
    Some(format!(
        "{memories} retired that only stated how often something happened; such numbers are told at their moment now. `waylore list --status deprecated` lists them, `waylore undo ID` of one of them brings all back"
    ))
}

/// Returns whether only statistics support a memory. A synthesis has no sightings: those with numbers as
/// their payload were made of statistics, the others are a language model's.
fn is_statistic(memory: &Memory, sightings: &[SightingRow]) -> bool {
    if sightings.is_empty() {
        let is_synthesis = memory.tags.iter().any(|it| it == SYNTHESIS_TAG);
        let has_numbers = matches!(
            memory.payload,
            Some(Payload::CausalDependency(_) | Payload::PrefetchPattern(_))
        );
        return is_synthesis && has_numbers;
    }
    sightings.iter().all(|it| it.signal.row().feeds == SignalUse::Statistics)
}

#[cfg(test)]
mod tests {
    //! Databases as an earlier version left them: memories with the sightings that it had linked to them.

    use super::super::fresh_memory::tests::{memory, session};
    use super::*;
    use crate::{Config, ModelSet};
    use model::{
        CausalDependency, MemoryId, MemoryKind, MemoryStatus, MemoryType, PerMille, SignalKind,
        Timestamp,
    };
    use store::{SessionLesson, SessionRow};

    const NOW: Timestamp = Timestamp(2_000_000);

    async fn open_project(folder: &std::path::Path) -> Project {
        let root = folder.join("project");
        std::fs::create_dir_all(&root).unwrap();
        let config = Config {
            data: folder.join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: ModelSet::built_in(),
            random: || [3; 10],
        };
        Project::open(config, &root, NOW).await.unwrap()
    }

    /// Stores memories, each with the signals of its sightings.
    async fn store_memories(project: &mut Project, memories: &[(Memory, &[SignalKind])]) {
        project.ensure_notebook(NotebookScope::Project).await.unwrap();
        let session = session(10_000);
        let (mut changes, mut sightings) = (Vec::new(), Vec::new());
        for (nth, (memory, signals)) in memories.iter().enumerate() {
            changes.push(StoreChange::Insert(Box::new(memory.clone())));
            for signal in *signals {
                sightings.push(SightingRow {
                    session: session.id,
                    signal: *signal,
                    key: format!("k{nth}"),
                    times: 1,
                    tainted: false,
                    evidence: "{}".to_owned(),
                    memory: Some(memory.id),
                    dropped: None,
                });
            }
        }
        changes.push(StoreChange::PutLesson(Box::new(SessionLesson {
            session: SessionRow {
                id: session.id,
                parent: None,
                agent: session.agent,
                kind: session.kind,
                outcome: session.outcome,
                validation_basis: session.validation_basis,
                task: session.task,
                started: session.started,
                ended: session.ended,
                steps: session.steps,
                tokens: 0,
                retries: 0,
                external: None,
                progress_key: "1".to_owned(),
                planned_steps: None,
            },
            files: Vec::new(),
            sightings,
            failed_calls: Vec::new(),
        })));
        let batch = user_batch(AuditAction::Promote, NOW, changes);
        project.write(NotebookScope::Project, batch).await.unwrap();
    }

    async fn status(project: &Project, id: MemoryId) -> (MemoryStatus, Option<String>) {
        let store = project.project_store_reader().unwrap();
        let memory = store.memories().get(id).await.unwrap().unwrap();
        (memory.status(), memory.states.deprecation().map(|it| it.to_string()))
    }

    fn synthesis(text: &str, payload: Option<Payload>) -> Memory {
        let kind = MemoryType::Core(MemoryKind::CausalDependency);
        Memory { kind, tags: vec![SYNTHESIS_TAG.to_owned()], payload, ..memory(text) }
    }

    /// Waits for a test to end.
    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
    }

    #[test]
    fn old_statistics_are_retired_once_in_one_batch_and_people_keep_theirs() {
        run(retire_and_undo());
    }

    async fn retire_and_undo() {
        let dir = tempfile::tempdir().unwrap();
        let mut project = open_project(dir.path()).await;
        let numbers = Payload::CausalDependency(CausalDependency {
            from: "src/wire".to_owned(),
            to: "web/wire.ts".to_owned(),
            sessions: Vec::new(),
            lift: PerMille::new(800),
            directed: true,
        });
        let pair = memory("A change to `a.rs` usually needs one in `b.rs` as well.");
        let reaches = synthesis("Work in `src/wire` usually reaches `web/wire.ts`.", Some(numbers));
        let mut confirmed = memory("A change to `c.rs` usually needs one in `d.rs` as well.");
        confirmed.flags.user_verified = true;
        let mut pinned = memory("Work in `api` begins with `x.rs` and `y.rs`.");
        pinned.flags.pinned = true;
        let error = memory("`make` fails with “no rule”. What worked: `make -k`.");
        let insight = synthesis("The client mirrors `src/wire`.", None);
        let rows: [(Memory, &[SignalKind]); 6] = [
            (pair.clone(), &[SignalKind::CoAccess]),
            (reaches.clone(), &[]),
            (confirmed.clone(), &[SignalKind::CoAccess]),
            (pinned.clone(), &[SignalKind::FileAccess]),
            (error.clone(), &[SignalKind::ErrorRetry, SignalKind::TimeAnomaly]),
            (insight.clone(), &[]),
        ];
        store_memories(&mut project, &rows).await;

        assert_eq!(retire_statistics_once(&mut project).await.unwrap(), 2);
        let reason =
            "superseded by statistics: such numbers are told at their moment and no longer stored";
        for it in [&pair, &reaches] {
            let retired = (MemoryStatus::Deprecated, Some(reason.to_owned()));
            assert_eq!(status(&project, it.id).await, retired);
        }
        for it in [&confirmed, &pinned, &error, &insight] {
            assert_eq!(status(&project, it.id).await, (MemoryStatus::Live, None), "{}", it.content);
        }

        // One undo brings both back, and they are not retired again.
        project.editor().undo(Some(&pair.id.to_string())).await.unwrap();
        assert_eq!(retire_statistics_once(&mut project).await.unwrap(), 0);
        for it in [&pair, &reaches] {
            assert_eq!(status(&project, it.id).await, (MemoryStatus::Live, None));
        }
    }

    #[test]
    fn a_new_project_has_nothing_to_retire_and_nothing_to_undo() {
        run(retire_nothing());
        assert_eq!(retirement_notice(0), None);
        assert!(retirement_notice(2).unwrap().starts_with("2 memories were retired"));
    }

    async fn retire_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut project = open_project(dir.path()).await;
        store_memories(&mut project, &[]).await;
        assert_eq!(retire_statistics_once(&mut project).await.unwrap(), 0);
        assert!(project.editor().undo(None).await.is_err(), "there is nothing to undo");
    }
}
