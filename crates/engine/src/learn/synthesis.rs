//! Synthesis: statements about a module that only many sessions together support. Pure.
//!
//! When the number of sessions that edited a module reaches a milestone ([`SESSION_MILESTONES`]: 5,
//! 10, 20 …), the module is due: `observe` drafts statements from the files that its sessions touched,
//! and a language model may add an interpretation (`load` requests it). New statements become
//! memories, numbers of earlier ones are updated, refuted ones are deprecated. Pairs of modules are
//! handled once a week (`weekly.rs`). Every synthesis waits for the user's review. Only counted
//! sessions are used: those that did not fail and were validated (`session_index`). For example:
//!
//! ```text
//! sessions of `src/wire`             memory "Work in `src/wire` usually reaches `web/wire.ts`: …"
//! 5, all edited `web/wire.ts` too    new: "… 5 of the 5 sessions …"
//! 10, all edited it                  updated: "… 10 of the 10 sessions …"
//! 20, only 10 edited it              deprecated
//! ```
//!
//! Words: a *visit* is the list of files that one session read and edited. A passed milestone is
//! stored by the name of the module and the number of sessions, so that it is used once. The
//! *payload* of a memory holds its numbers and names as data; two syntheses with the same subject in
//! their payload differ in their numbers only.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use model::{
    DAY_MS, Memory, MemoryKind, MemoryType, Payload, PerMille, ProjectPath, SessionId, SignalKind,
    Timestamp,
};
use observe::{
    MAX_MODULE_DRAFTS, MemoryDraft, ModuleLookup, SESSION_MILESTONES, SessionOverview, SessionVisit,
};
use promote::{
    MemoryStatement, ModuleFacts, ModuleFileCounts, PromotionVerdict, StatementRelation,
    SynthesisedNote,
};
use store::{Milestone, SessionRow, SightingRow, StoreChange, TouchedFileRow};

use super::candidates::parse_evidence;
use super::couplings::fade_pattern;
use super::fresh_memory::{FreshMemory, MAX_PROVENANCE, MemoryParts, memory_from_draft};
use super::observed::{MAX_TASK_CHARS, file_rows};
use super::protection::is_active;
use super::rewording::Interpretation;
use super::session_index::SessionIndex;
use super::{LearnedMemory, LessonEffect};
use crate::draft_resolution::statement_of;
use crate::text_admission::mask_label;

/// Tag of every synthesis.
pub(super) const SYNTHESIS_TAG: &str = "synthesis";
/// Name of the milestone that marks a week as synthesised.
const WEEKLY_MILESTONE: &str = "weekly";
/// Confidence of a synthesis before the user has reviewed it.
const SYNTHESIS_CONFIDENCE: PerMille = PerMille::new(650);
/// Most active memories of one type that a synthesis is compared with.
pub(super) const MAX_COMPARED_SYNTHESES: u32 = 500;
/// Most files, tasks and errors of a module, each, that the model is given.
pub(super) const MAX_MODEL_FACTS: usize = 20;

/// A module that has reached a milestone.
pub(super) struct DueModule {
    pub(super) module: String,
    /// The milestones to record as passed.
    pub(super) milestones: Vec<Milestone>,
}

/// Everything that the syntheses of a session are computed from.
pub(super) struct SynthesisInputs {
    /// The files that each counted session touched, oldest session first.
    pub(super) visits: Vec<SessionVisit>,
    /// Never empty.
    pub(super) due: Vec<DueModule>,
    /// The model's interpretation of the first due module; `None` if no model was used.
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

/// Selects the `edited` modules with a due milestone, in the order given. `visits` includes the
/// current session.
pub(super) fn due_modules(
    edited: &[String],
    visits: &[SessionVisit],
    passed: &[Milestone],
    modules: &ModuleLookup,
) -> Vec<DueModule> {
    let mut acc = Vec::new();
    for module in edited {
        let n_sessions = visits.iter().filter(|it| it.edits_in(module, modules)).count();
        let n_sessions = u32::try_from(n_sessions).unwrap_or(u32::MAX);
        let milestones = due_milestones(module, n_sessions, passed);
        if !milestones.is_empty() {
            acc.push(DueModule { module: module.clone(), milestones });
        }
    }
    acc
}

/// Returns the milestone of the week of `now`. Weeks are counted from the start of Unix time.
pub(super) fn week_milestone(now: Timestamp) -> Milestone {
    Milestone { name: WEEKLY_MILESTONE.to_owned(), count: now.0.div_euclid(7 * DAY_MS) }
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

/// Drafts the statements of each due module, strongest first; the model's insights come last.
pub(super) fn draft_modules(
    inputs: &SynthesisInputs,
    modules: &ModuleLookup,
) -> Vec<Vec<MemoryDraft>> {
    let mut acc = Vec::new();
    for (position, due) in inputs.due.iter().enumerate() {
        let mut drafts = observe::draft_module(&due.module, &inputs.visits, modules);
        // Only the first due module was interpreted.
        if position == 0
            && let Some(interpretation) = &inputs.interpretation
        {
            drafts.extend(interpretation.insights.iter().map(|it| draft_insight(&due.module, it)));
        }
        // The statistics come first, so that many insights cannot displace them.
        drafts.truncate(MAX_MODULE_DRAFTS);
        acc.push(drafts);
    }
    acc
}

/// Builds a synthesis from a draft; never `None`, because its verdict keeps it.
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
        // Numbers and paths carry no external text; only an answer of the model can.
        tainted: session.external.is_some() && source == SynthesisSource::StatisticsAndModel,
        candidate: false,
    };
    let mut sessions = draft.sessions.clone();
    // Keeps the last sessions, which are the newest.
    sessions.drain(..sessions.len().saturating_sub(MAX_PROVENANCE));
    // The signal only decides the author; any observed one makes it the observer.
    let mut memory = memory_from_draft(session, draft, SignalKind::CoAccess, &verdict, parts)?;
    memory.tags.push(SYNTHESIS_TAG.to_owned());
    // The insight of a model names no sessions. It keeps the current one as its origin.
    if !sessions.is_empty() {
        memory.provenance = sessions;
    }
    Some(memory)
}

/// Plans the syntheses of the due modules. `fresh` holds the memories built from each module's
/// drafts, `earlier` all stored syntheses.
pub(super) fn plan_syntheses(
    session: &SessionOverview,
    due: Vec<DueModule>,
    fresh: Vec<Vec<FreshMemory>>,
    earlier: &[Memory],
    modules: &ModuleLookup,
) -> SynthesisPlan {
    let mut acc = SynthesisPlan::default();
    for (due, fresh) in due.into_iter().zip(fresh) {
        acc.changes.extend(fade_refuted(session, &due.module, &fresh, earlier, modules));
        add_new_syntheses(&mut acc, fresh);
        acc.changes.extend(due.milestones.into_iter().map(StoreChange::PassMilestone));
    }
    acc
}

/// Adds the statements that are new, and updates the numbers of those that are stored already.
pub(super) fn add_new_syntheses(acc: &mut SynthesisPlan, fresh: Vec<FreshMemory>) {
    for FreshMemory { memory: fresh, similar } in fresh {
        // The statements that this plan has added already are compared too.
        let mut known = similar;
        known.extend(acc.memories.iter().map(|it| it.memory.clone()));
        known.retain(is_active);
        let is_same = |it: &&Memory| has_same_subject(it.payload.as_ref(), fresh.payload.as_ref());
        if let Some(old) = known.iter().find(is_same) {
            acc.changes.extend(update_synthesis(old, fresh));
            continue;
        }
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
}

/// Drafts the couplings between modules that no stored dependency states yet.
pub(super) fn draft_module_pairs(
    visits: &[SessionVisit],
    dependencies: &[Memory],
    modules: &ModuleLookup,
) -> Vec<MemoryDraft> {
    let known = coupled_modules(dependencies, modules);
    // Couplings have no direction.
    let is_known = |a: &str, b: &str| {
        known.iter().any(|(from, to)| (from == a && to == b) || (from == b && to == a))
    };
    observe::draft_module_pairs(visits, &is_known, modules)
}

/// Converts a stored session to an overview without files, for the session of a weekly synthesis.
pub(super) fn overview_from_row(row: SessionRow) -> SessionOverview {
    SessionOverview {
        id: row.id,
        parent: row.parent,
        agent: row.agent,
        root: String::new(),
        work_unit: None,
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
        sessions: Vec::new(),
        is_confirmed: false,
    }
}

/// Deprecates the earlier syntheses of a module that the new numbers no longer support.
fn fade_refuted(
    session: &SessionOverview,
    module: &str,
    fresh: &[FreshMemory],
    earlier: &[Memory],
    modules: &ModuleLookup,
) -> Vec<StoreChange> {
    // Before the project had a module map, folders counted as modules. A statement about a folder is
    // now one about the module that the folder belongs to.
    let is_module =
        |name: &str| name == module || modules.folders_of(module).any(|folder| folder == name);
    let mut acc = Vec::new();
    for memory in earlier {
        let is_about_module = match &memory.payload {
            // From the module to a file. Couplings of two modules are weekly syntheses.
            Some(Payload::CausalDependency(it)) => is_module(&it.from) && is_file(&it.to),
            Some(Payload::PrefetchPattern(it)) => {
                it.trigger_module.as_deref().is_some_and(is_module)
            }
            // Insights of a model have no numbers that could refute them.
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

/// Returns whether two payloads are about the same subject, in whichever direction, so that only
/// their numbers differ.
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

/// Returns the change that gives an earlier synthesis the new numbers. `None` for a memory that the
/// user confirmed, and for one that is no synthesis: single sessions update that.
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

/// Lists the pairs of modules between which a dependency is stored. Its ends are modules, or files
/// in them.
fn coupled_modules(dependencies: &[Memory], modules: &ModuleLookup) -> Vec<(String, String)> {
    let module_of_end = |end: &str| {
        if is_file(end) { modules.module_of_file(end).to_owned() } else { end.to_owned() }
    };
    let mut pairs = Vec::new();
    for memory in dependencies {
        // Others have no ends that could be compared.
        if let Some(Payload::CausalDependency(it)) = &memory.payload {
            pairs.push((module_of_end(&it.from), module_of_end(&it.to)));
        }
    }
    pairs
}

/// Returns whether the end of a dependency is a file. Modules and files share the field; only files
/// have an extension.
fn is_file(end: &str) -> bool {
    model::words::file_extension(end).is_some()
}

fn is_unconfirmed_synthesis(memory: &Memory) -> bool {
    memory.tags.iter().any(|it| it == SYNTHESIS_TAG) && !memory.flags.user_verified
}
