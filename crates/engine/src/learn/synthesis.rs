//! Synthesis across sessions: statements that all sessions of a module support together and none of
//! them alone. Pure.
//!
//! A module is analysed once for each milestone of its session count, pairs of modules once a week.
//! Every synthesis waits for the user's review.

use std::collections::{BTreeMap, HashMap};

use model::{
    DAY_MS, Memory, MemoryKind, MemoryType, Payload, PerMille, ProjectPath, SessionId, SignalKind,
    Timestamp,
};
use observe::{
    MAX_MODULE_DRAFTS, MemoryDraft, ModuleLookup, SESSION_MILESTONES, SessionOverview, SessionVisit,
};
use promote::{MemoryStatement, ModuleFacts, PromotionVerdict, StatementRelation, SynthesisedNote};
use store::{Milestone, SessionRow, SightingRow, StoreChange, TouchedFileRow};

use super::candidates::parse_evidence;
use super::couplings::fade_pattern;
use super::fresh_memory::{FreshMemory, MAX_PROVENANCE, MemoryParts, memory_from_draft, statement};
use super::observed::{MAX_TASK_CHARS, file_rows};
use super::protection::is_active;
use super::rewording::Interpretation;
use super::session_index::SessionIndex;
use super::{LearnedMemory, LessonEffect};
use crate::text_admission::mask_label;

/// Tag of every synthesis.
pub(super) const SYNTHESIS_TAG: &str = "synthesis";
/// Name of the milestones of weeks.
const WEEKLY_MILESTONE: &str = "weekly";
/// Confidence of a synthesis before the user has reviewed it.
const SYNTHESIS_CONFIDENCE: PerMille = PerMille::new(650);
/// Active memories of one type that a synthesis is compared with.
pub(super) const MAX_COMPARED_SYNTHESES: u32 = 500;
/// Files, tasks and errors of a module that the model sees, each.
pub(super) const MAX_MODEL_FACTS: usize = 20;

/// A module that has reached a milestone.
pub(super) struct DueModule {
    pub(super) module: String,
    pub(super) milestones: Vec<Milestone>,
}

/// Everything that the syntheses of a session are computed from.
pub(super) struct SynthesisInputs {
    pub(super) visits: Vec<SessionVisit>,
    /// Never empty.
    pub(super) due: Vec<DueModule>,
    /// The model's reading of the first due module; `None` if no model was asked.
    pub(super) interpretation: Option<Interpretation>,
}

/// Sources of the syntheses of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SynthesisSource {
    Statistics,
    /// A language model interpreted the statistics. External text that the session read may have
    /// reached it.
    StatisticsAndModel,
}

/// New and updated syntheses.
#[derive(Default)]
pub(super) struct SynthesisPlan {
    pub(super) changes: Vec<StoreChange>,
    pub(super) memories: Vec<LearnedMemory>,
}

/// The milestones that a module has reached with this number of sessions and not passed yet.
pub(super) fn due_milestones(
    module: &str,
    n_sessions: u32,
    passed: &[Milestone],
) -> Vec<Milestone> {
    let reached = SESSION_MILESTONES.iter().filter(|it| **it <= n_sessions);
    let all = reached.map(|it| Milestone { name: module.to_owned(), count: i64::from(*it) });
    all.filter(|it| !passed.contains(it)).collect()
}

/// The modules with a due milestone, in the order given.
pub(super) fn due_modules(
    edited: &[String],
    visits: &[SessionVisit],
    passed: &[Milestone],
    modules: &ModuleLookup,
) -> Vec<DueModule> {
    let mut acc = Vec::new();
    for module in edited {
        let n = visits.iter().filter(|it| it.edits_in(module, modules)).count();
        let milestones = due_milestones(module, u32::try_from(n).unwrap_or(u32::MAX), passed);
        if !milestones.is_empty() {
            acc.push(DueModule { module: module.clone(), milestones });
        }
    }
    acc
}

/// The milestone of the week of a moment, counted from the first week of Unix time.
pub(super) fn week_milestone(now: Timestamp) -> Milestone {
    Milestone { name: WEEKLY_MILESTONE.to_owned(), count: now.0.div_euclid(7 * DAY_MS) }
}

/// The modules in which a session edited files.
pub(super) fn edited_modules(session: &SessionOverview, modules: &ModuleLookup) -> Vec<String> {
    let edited: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    observe::edited_modules(&edited, modules).into_iter().map(str::to_owned).collect()
}

/// The files that each counted session touched, oldest session first. `current` is a session that is
/// being learned: its files replace the stored ones.
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
    // A session that is not stored yet is the newest.
    visits.sort_by_key(|it| (ended(it.session).unwrap_or(Timestamp(i64::MAX)), it.session));
    visits
}

fn add_touched(
    acc: &mut BTreeMap<SessionId, SessionVisit>,
    session: SessionId,
    file: TouchedFileRow,
) {
    let empty = || SessionVisit { session, read: Vec::new(), edited: Vec::new() };
    let visit = acc.entry(session).or_insert_with(empty);
    // An edited file was usually read first; it counts as edited only.
    if file.edits > 0 { &mut visit.edited } else { &mut visit.read }.push(file.path);
}

/// The sessions about which the model gets the tasks and errors: the newest of a module.
pub(super) fn sessions_for_facts(
    module: &str,
    visits: &[SessionVisit],
    modules: &ModuleLookup,
) -> Vec<SessionId> {
    let here = visits.iter().rev().filter(|it| it.edits_in(module, modules));
    here.take(MAX_MODEL_FACTS).map(|it| it.session).collect()
}

/// The facts about a module that the model interprets. `sightings` holds those of the sessions from
/// [`sessions_for_facts`], in the same order.
pub(super) fn module_facts(
    module: &str,
    visits: &[SessionVisit],
    modules: &ModuleLookup,
    sessions: &SessionIndex,
    sightings: &[(SessionId, Vec<SightingRow>)],
) -> ModuleFacts {
    let here: Vec<&SessionVisit> =
        visits.iter().filter(|it| it.edits_in(module, modules)).collect();
    let mut counts: HashMap<&ProjectPath, (u32, u32)> = HashMap::new();
    for visit in &here {
        visit.edited.iter().for_each(|it| counts.entry(it).or_default().0 += 1);
        visit.read.iter().for_each(|it| counts.entry(it).or_default().1 += 1);
    }
    let mut files: Vec<(String, u32, u32)> =
        counts.into_iter().map(|(path, n)| (path.to_string(), n.0, n.1)).collect();
    files.sort_by(|a, b| (b.1 + b.2).cmp(&(a.1 + a.2)).then_with(|| a.0.cmp(&b.0)));
    // The most used files come first, and the prompt stays small.
    files.truncate(MAX_MODEL_FACTS);
    let (mut tasks, mut errors) = (Vec::new(), Vec::new());
    for (session, rows) in sightings {
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
    let n_sessions = u32::try_from(here.len()).unwrap_or(u32::MAX);
    ModuleFacts { module: module.to_owned(), sessions: n_sessions, files, tasks, errors }
}

/// Drafts of each due module, strongest first; the model's insights come after the statistics.
pub(super) fn draft_modules(
    inputs: &SynthesisInputs,
    modules: &ModuleLookup,
) -> Vec<Vec<MemoryDraft>> {
    let mut acc = Vec::new();
    for (nth, due) in inputs.due.iter().enumerate() {
        let mut drafts = observe::draft_module(&due.module, &inputs.visits, modules);
        if let Some(interpretation) = inputs.interpretation.as_ref().filter(|_| nth == 0) {
            drafts.extend(interpretation.insights.iter().map(|it| draft_insight(&due.module, it)));
        }
        // Statistics come first, so that a talkative model cannot displace them.
        drafts.truncate(MAX_MODULE_DRAFTS);
        acc.push(drafts);
    }
    acc
}

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
        sessions: Vec::new(),
    }
}

/// Makes a synthesis of a draft.
pub(super) fn synthesis_from_draft(
    session: &SessionOverview,
    draft: MemoryDraft,
    source: SynthesisSource,
    parts: MemoryParts,
) -> Option<Memory> {
    let verdict = PromotionVerdict::Keep {
        confidence: SYNTHESIS_CONFIDENCE,
        score: SYNTHESIS_CONFIDENCE,
        needs_review: true,
        tainted: session.external.is_some() && source == SynthesisSource::StatisticsAndModel,
    };
    let mut sessions = draft.sessions.clone();
    // Of many sessions the last ones are kept.
    sessions.drain(..sessions.len().saturating_sub(MAX_PROVENANCE));
    let mut memory = memory_from_draft(session, draft, SignalKind::CoAccess, &verdict, parts)?;
    memory.tags.push(SYNTHESIS_TAG.to_owned());
    if !sessions.is_empty() {
        memory.provenance = sessions;
    }
    Some(memory)
}

/// Plans the syntheses of the due modules. `fresh` holds the memories made of each module's drafts,
/// `earlier` all stored syntheses.
pub(super) fn plan_modules(
    session: &SessionOverview,
    due: Vec<DueModule>,
    fresh: Vec<Vec<FreshMemory>>,
    earlier: &[Memory],
    modules: &ModuleLookup,
) -> SynthesisPlan {
    let mut acc = SynthesisPlan::default();
    for (due, fresh) in due.into_iter().zip(fresh) {
        acc.changes.extend(fade_refuted(session, &due.module, &fresh, earlier, modules));
        add_new(&mut acc, fresh);
        acc.changes.extend(due.milestones.into_iter().map(StoreChange::PassMilestone));
    }
    acc
}

/// Adds the statements that no stored memory makes yet, and updates the numbers of those that do.
pub(super) fn add_new(acc: &mut SynthesisPlan, fresh: Vec<FreshMemory>) {
    for FreshMemory { memory: fresh, similar } in fresh {
        let mut known = similar;
        known.extend(acc.memories.iter().map(|it| it.memory.clone()));
        known.retain(is_active);
        let is_same = |it: &&Memory| has_same_subject(it.payload.as_ref(), fresh.payload.as_ref());
        if let Some(old) = known.iter().find(is_same) {
            acc.changes.extend(update_synthesis(old, fresh));
            continue;
        }
        let statements: Vec<MemoryStatement<'_>> = known.iter().map(statement).collect();
        let nearest = promote::find_nearest(&statement(&fresh), &statements);
        // A statement that contradicts or resembles a stored one is left out: a synthesis is too
        // weak to replace anything.
        if matches!(nearest, None | Some((_, StatementRelation::Unrelated))) {
            acc.changes.push(StoreChange::Insert(Box::new(fresh.clone())));
            let effect = LessonEffect::Created;
            acc.memories.push(LearnedMemory { signal: None, memory: fresh, effect });
        }
    }
}

/// An earlier synthesis with the numbers of today. A memory that the user confirmed stays, and so
/// does one that is no synthesis: sessions update it one by one.
fn update_synthesis(old: &Memory, fresh: Memory) -> Option<StoreChange> {
    if !is_unconfirmed_synthesis(old) || old.content == fresh.content {
        return None;
    }
    let updated = Memory {
        content: fresh.content,
        summary: fresh.summary,
        citation: fresh.citation,
        payload: fresh.payload,
        files: fresh.files,
        provenance: fresh.provenance,
        updated_at: fresh.updated_at,
        ..old.clone()
    };
    Some(StoreChange::Replace(Box::new(updated)))
}

/// Fades the syntheses of a module that today's numbers no longer support.
fn fade_refuted(
    session: &SessionOverview,
    module: &str,
    fresh: &[FreshMemory],
    earlier: &[Memory],
    modules: &ModuleLookup,
) -> Vec<StoreChange> {
    // A statement about a folder is one about the module that the folder has become part of.
    let is_here = |it: &str| it == module || modules.folders_of(module).any(|folder| folder == it);
    let mut acc = Vec::new();
    for memory in earlier {
        let is_about_module = match &memory.payload {
            Some(Payload::CausalDependency(it)) => {
                is_here(&it.from) && model::words::file_extension(&it.to).is_some()
            }
            Some(Payload::PrefetchPattern(it)) => it.trigger_module.as_deref().is_some_and(is_here),
            _ => false,
        };
        let still_holds = fresh
            .iter()
            .any(|it| has_same_subject(memory.payload.as_ref(), it.memory.payload.as_ref()));
        if is_about_module && !still_holds && is_unconfirmed_synthesis(memory) {
            acc.push(fade_pattern(memory.clone(), session.ended));
        }
    }
    acc
}

fn is_unconfirmed_synthesis(memory: &Memory) -> bool {
    memory.tags.iter().any(|it| it == SYNTHESIS_TAG) && !memory.flags.user_verified
}

/// Returns whether two payloads are about the same subject, so that only their numbers differ.
fn has_same_subject(a: Option<&Payload>, b: Option<&Payload>) -> bool {
    match (a, b) {
        (Some(Payload::CausalDependency(a)), Some(Payload::CausalDependency(b))) => {
            (&a.from, &a.to) == (&b.from, &b.to) || (&a.from, &a.to) == (&b.to, &b.from)
        }
        (Some(Payload::PrefetchPattern(a)), Some(Payload::PrefetchPattern(b))) => {
            a.trigger_module == b.trigger_module
        }
        _ => false,
    }
}

/// Drafts of the couplings between modules that no stored dependency states yet.
pub(super) fn draft_module_pairs(
    visits: &[SessionVisit],
    dependencies: &[Memory],
    modules: &ModuleLookup,
) -> Vec<MemoryDraft> {
    let known = coupled_modules(dependencies, modules);
    let is_known = |from: &str, to: &str| {
        known.iter().any(|it| (it.0 == from && it.1 == to) || (it.0 == to && it.1 == from))
    };
    observe::draft_module_pairs(visits, &is_known, modules)
}

/// The pairs of modules between which a dependency is stored: its ends are modules, or files in them.
fn coupled_modules(dependencies: &[Memory], modules: &ModuleLookup) -> Vec<(String, String)> {
    let module_of_end = |end: &str| {
        // Modules and files share the field; only files have an extension.
        let is_file = model::words::file_extension(end).is_some();
        if is_file { modules.module_of_file(end).to_owned() } else { end.to_owned() }
    };
    let ends = dependencies.iter().filter_map(|it| match &it.payload {
        Some(Payload::CausalDependency(it)) => {
            Some((module_of_end(&it.from), module_of_end(&it.to)))
        }
        _ => None,
    });
    ends.collect()
}

/// The session under which a weekly synthesis is stored: the last one learned, without its details.
pub(super) fn session_from_row(row: SessionRow) -> SessionOverview {
    SessionOverview {
        id: row.id,
        parent: row.parent,
        agent: row.agent,
        kind: row.kind,
        task: row.task,
        started: row.started,
        ended: row.ended,
        steps: row.steps,
        planned_steps: row.planned_steps,
        tokens: row.tokens,
        retries: row.retries,
        outcome: row.outcome,
        validation_basis: row.validation_basis,
        reported_validations: Vec::new(),
        succeeded_subtasks: Vec::new(),
        external: None,
        files: Vec::new(),
    }
}
