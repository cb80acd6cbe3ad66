//! Synthesis: statements about a module that a language model draws from many of its sessions. Pure.
//!
//! When the number of sessions that edited a module reaches a milestone ([`SESSION_MILESTONES`]: 5,
//! 10, 20 …), the module is due: the model interprets the files that its sessions touched, their tasks and
//! their errors (`load` requests it). New statements become memories that wait for the user's review.
//! Without a model there is no synthesis: numbers alone are statistics, which are told at their moment and
//! not stored. Only counted sessions are used: those that did not fail and were validated
//! (`session_index`).
//!
//! `load` calls `edited_modules`, `collect_visits`, `due_modules`, `sessions_for_facts` and `module_facts`,
//! and asks the model. `plan` then calls `draft_insights` and, with the memories that resemble the drafts,
//! `synthesis_from_draft` and `plan_syntheses`.
//!
//! Words: an *insight* is one statement of the model, before it is a memory. A *visit* is the list of files that one session read and edited. A passed milestone is
//! stored by the name of the module and the number of sessions, so that it is used once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use model::{
    Memory, MemoryKind, MemoryType, PerMille, ProjectPath, SessionId, SignalKind, Timestamp,
};
use observe::{MemoryDraft, ModuleLookup, SESSION_MILESTONES, SessionOverview, SessionVisit};
use promote::{
    MemoryStatement, ModuleFacts, ModuleFileCounts, PromotionVerdict, StatementRelation,
    SynthesisedNote,
};
use store::{Milestone, SightingRow, StoreChange, TouchedFileRow};

use super::candidates::parse_evidence;
use super::fresh_memory::{FreshMemory, MemoryParts, memory_from_draft};
use super::observed::{MAX_TASK_CHARS, file_rows};
use super::protection::is_active;
use super::rewording::Interpretation;
use super::session_index::SessionIndex;
use super::{LearnedMemory, LessonEffect};
use crate::draft_resolution::statement_of;
use crate::text_admission::mask_label;

/// Tag of every synthesis.
pub(super) const SYNTHESIS_TAG: &str = "synthesis";
/// Confidence of a synthesis before the user has reviewed it.
const SYNTHESIS_CONFIDENCE: PerMille = PerMille::new(650);
/// Most insights of the model about one module.
const MAX_MODULE_INSIGHTS: usize = 5;
/// Most files, tasks and errors of a module, each, that the model is given.
pub(super) const MAX_MODEL_FACTS: usize = 20;

/// A module that has reached a milestone.
pub(super) struct DueModule {
    pub(super) module: String,
    /// The milestones to record as passed once the model has interpreted the module.
    pub(super) milestones: Vec<Milestone>,
}

/// Everything that the syntheses of a session are computed from.
pub(super) struct SynthesisInputs {
    /// The one module that the model was asked about. Other due modules stay due for later sessions.
    pub(super) due: DueModule,
    pub(super) interpretation: Interpretation,
}

/// New syntheses, and the milestones that they pass.
#[derive(Default)]
pub(super) struct SynthesisPlan {
    pub(super) changes: Vec<StoreChange>,
    pub(super) memories: Vec<LearnedMemory>,
}

/// Lists the milestones that a module has reached with this number of sessions and not passed yet.
pub(super) fn due_milestones(
    module: &str,
    n_sessions: u32,
    passed: &[Milestone],
) -> Vec<Milestone> {
    let counts = SESSION_MILESTONES.iter().filter(|it| **it <= n_sessions);
    let reached = counts.map(|it| Milestone { name: module.to_owned(), count: i64::from(*it) });
    reached.filter(|it| !passed.contains(it)).collect()
}

/// Selects the first of the `edited` modules with a due milestone. `visits` includes the current
/// session.
pub(super) fn first_due_module(
    edited: &[String],
    visits: &[SessionVisit],
    passed: &[Milestone],
    modules: &ModuleLookup,
) -> Option<DueModule> {
    for module in edited {
        let n_sessions = visits.iter().filter(|it| it.edits_in(module, modules)).count();
        let n_sessions = u32::try_from(n_sessions).unwrap_or(u32::MAX);
        let milestones = due_milestones(module, n_sessions, passed);
        if !milestones.is_empty() {
            return Some(DueModule { module: module.clone(), milestones });
        }
    }
    None
}

/// Lists the modules in which a session edited files.
pub(super) fn edited_modules(session: &SessionOverview, modules: &ModuleLookup) -> Vec<String> {
    let edited: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    observe::edited_modules(&edited, modules).into_iter().map(str::to_owned).collect()
}

/// Collects the files that each counted session touched, oldest session first. `current` is the
/// session that is being learned, if any; its files replace the stored ones.
pub(super) fn collect_visits(
    sessions: &SessionIndex,
    touched: Vec<(SessionId, TouchedFileRow)>,
    current: Option<&SessionOverview>,
) -> Vec<SessionVisit> {
    let mut by_session: BTreeMap<SessionId, SessionVisit> = BTreeMap::new();
    if let Some(session) = current {
        for file in file_rows(session) {
            add_touched(&mut by_session, session.id, file);
        }
    }
    let is_current = |id: SessionId| current.is_some_and(|it| it.id == id);
    for (session, file) in touched {
        if sessions.is_counted(session) && !is_current(session) {
            add_touched(&mut by_session, session, file);
        }
    }
    let ended = |id: SessionId| sessions.get_counted(id).map(|it| it.ended);
    let mut visits: Vec<SessionVisit> = by_session.into_values().collect();
    // The current session may not be stored as a counted one yet; it is then the newest.
    visits.sort_by_key(|it| (ended(it.session).unwrap_or(Timestamp(i64::MAX)), it.session));
    visits
}

/// Lists the sessions whose tasks and errors the model is given: the newest that edited the module.
pub(super) fn sessions_for_facts(
    module: &str,
    visits: &[SessionVisit],
    modules: &ModuleLookup,
) -> Vec<SessionId> {
    let newest_first = visits.iter().rev().filter(|it| it.edits_in(module, modules));
    newest_first.take(MAX_MODEL_FACTS).map(|it| it.session).collect()
}

/// Collects the facts about a module that the model interprets. `sightings` holds those of the
/// sessions from [`sessions_for_facts`], in the same order.
pub(super) fn module_facts(
    module: &str,
    visits: &[SessionVisit],
    modules: &ModuleLookup,
    sessions: &SessionIndex,
    sightings: &[(SessionId, Vec<SightingRow>)],
) -> ModuleFacts {
    let module_visits: Vec<&SessionVisit> =
        visits.iter().filter(|it| it.edits_in(module, modules)).collect();

    // For each file, the number of sessions that edited it, and of those that only read it.
    let mut counts: HashMap<&ProjectPath, (u32, u32)> = HashMap::new();
    for visit in &module_visits {
        for path in &visit.edited {
            let (n_edits, _) = counts.entry(path).or_default();
            *n_edits += 1;
        }
        for path in &visit.read {
            let (_, n_reads) = counts.entry(path).or_default();
            *n_reads += 1;
        }
    }
    let mut files = Vec::new();
    for (path, (n_edits, n_reads)) in counts {
        files.push(ModuleFileCounts { path: path.to_string(), n_edits, n_reads });
    }

    // The most touched files first; the prompt stays small.
    files.sort_by_key(|it| (Reverse(it.n_edits + it.n_reads), it.path.clone()));
    files.truncate(MAX_MODEL_FACTS);
    let (mut tasks, mut errors) = (Vec::new(), Vec::new());
    for (session, rows) in sightings {
        // A task is stated before the session reads anything, so it is never external text.
        let task = sessions.get(*session).map(|it| it.task.clone());
        tasks.extend(task.filter(|it| !it.is_empty()));
        // External text must not reach the model as a fact about the project.
        let own_errors =
            rows.iter().filter(|it| it.signal == SignalKind::ErrorRetry && !it.tainted);
        for row in own_errors {
            if errors.len() < MAX_MODEL_FACTS {
                errors.push(mask_label(&parse_evidence(row).summary_line(), MAX_TASK_CHARS));
            }
        }
    }
    let n_sessions = u32::try_from(module_visits.len()).unwrap_or(u32::MAX);
    ModuleFacts { module: module.to_owned(), sessions: n_sessions, files, tasks, errors }
}

/// Drafts the insights of the model about the module it was asked about.
pub(super) fn draft_insights(inputs: &SynthesisInputs) -> Vec<MemoryDraft> {
    let insights = inputs.interpretation.insights.iter().take(MAX_MODULE_INSIGHTS);
    insights.map(|it| draft_insight(&inputs.due.module, it)).collect()
}

/// Builds a synthesis from a draft; never `None`, because its verdict keeps it.
pub(super) fn synthesis_from_draft(
    session: &SessionOverview,
    draft: MemoryDraft,
    parts: MemoryParts,
) -> Option<Memory> {
    let verdict = PromotionVerdict::Keep {
        confidence: SYNTHESIS_CONFIDENCE,
        score: SYNTHESIS_CONFIDENCE,
        needs_review: true,
        // External text that the session read may have reached the model.
        tainted: session.external.is_some(),
        candidate: false,
    };
    // The signal only decides the author; any observed one makes it the observer.
    let mut memory = memory_from_draft(session, draft, SignalKind::CoAccess, &verdict, parts)?;
    memory.tags.push(SYNTHESIS_TAG.to_owned());
    Some(memory)
}

/// Plans the statements that are new, and records the `passed` milestones.
pub(super) fn plan_syntheses(passed: Vec<Milestone>, fresh: Vec<FreshMemory>) -> SynthesisPlan {
    let mut acc = SynthesisPlan::default();
    for FreshMemory { memory: fresh, similar } in fresh {
        // The statements that this plan has added already are compared too.
        let mut known = similar;
        known.extend(acc.memories.iter().map(|it| it.memory.clone()));
        known.retain(is_active);
        let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement_of).collect();
        let nearest = promote::find_nearest(&statement_of(&fresh), &statements);
        // A statement that contradicts or resembles a stored one is left out, because the evidence
        // of a synthesis is too weak to replace anything.
        if matches!(nearest, None | Some((_, StatementRelation::Unrelated))) {
            acc.changes.push(StoreChange::Insert(Box::new(fresh.clone())));
            let effect = LessonEffect::Created;
            acc.memories.push(LearnedMemory { signal: None, memory: fresh, effect });
        }
    }
    acc.changes.extend(passed.into_iter().map(StoreChange::PassMilestone));
    acc
}

/// Adds a file to the visit of its session.
fn add_touched(
    acc: &mut BTreeMap<SessionId, SessionVisit>,
    session: SessionId,
    file: TouchedFileRow,
) {
    let empty = || SessionVisit { session, read: Vec::new(), edited: Vec::new() };
    let visit = acc.entry(session).or_insert_with(empty);
    // An edited file was usually read first; it counts as edited only.
    let files = if file.edits > 0 { &mut visit.edited } else { &mut visit.read };
    files.push(file.path);
}

/// Converts an insight of the model to a draft. An unknown type becomes a module insight, and paths
/// that are not valid are dropped.
fn draft_insight(module: &str, insight: &SynthesisedNote) -> MemoryDraft {
    let kind = MemoryType::from_slug(&insight.kind);
    let files = insight.files.iter().filter_map(|it| ProjectPath::parse(it).ok());
    MemoryDraft {
        kind: kind.unwrap_or(MemoryType::Core(MemoryKind::ModuleInsight)),
        content: insight.text.clone(),
        files: files.collect(),
        modules: vec![module.to_owned()],
        tags: Vec::new(),
        payload: None,
        scope: None,
        is_confirmed: false,
        wish: None,
    }
}
