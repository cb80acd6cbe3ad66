//! Loading, first phase: everything about a session that planning needs, except similar memories.
//!
//! Reads the store, git and the shown log. If a module is due for synthesis, it also has the
//! language model interpret the module's statistics. The result is [`LessonInputs`], from which
//! `plan` decides without I/O; the second phase (`related`) loads the memories that the kept drafts
//! resemble.
//!
//! Words: a *scratchpad* is the state of a session, folded from its events; the *lesson* of a session
//! is everything that is stored because of it. A *sighting* is one occurrence of a pattern in one
//! session, identified by its pattern *key*. A *synthesis* is a statement of a language model about a
//! module from many sessions, made when their number reaches a *milestone*. A session is *validated* if its checks passed or its edits were
//! committed, and *counted* as evidence for others if it is validated and did not fail. The *shown
//! log* lists the notes that the session was shown; in an A/B trial, its *trial group* decides whether
//! it is shown any. The *fingerprint* of an error is the same wherever the error occurs.

use std::collections::HashMap;

use model::{Memory, MemoryId, SessionId};
use observe::{ModuleLookup, PatternKey, Scratchpad, SessionOverview, SessionVisit, Sighting};
use store::{Milestone, SessionRow, ShownEntry, SightingRow, StoreReader};

use super::candidates::{SightingsByPattern, pattern_keys};
use super::claim_detection::{drop_claimed_wishes, find_claims};
use super::observed::{ObservedSession, SessionExtent, StoredLesson, compare_with_stored};
use super::rewording::interpret_module;
use super::savings::{SavingsInputs, ShownFix, error_fingerprints};
use super::session_index::SessionIndex;
use super::synthesis::{
    SynthesisInputs, collect_visits, due_milestones, edited_modules, first_due_module,
    module_facts, sessions_for_facts,
};
use super::usage::{ShownMemory, shown_log_session};
use super::{LearnedSession, LessonState, edit_outcome, load_module_lookup, subagents};
use crate::injection::shown_notes::open_shown_log;
use crate::injection::trial_group::trial_milestone;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// The result of the first phase.
pub(super) enum LoadedLesson<'a> {
    /// The scratchpad holds no event.
    Empty,
    /// The session needs no learning.
    Unchanged(Box<LearnedSession>),
    /// The session is new, or has changed since it was learned.
    Changed(Box<LessonInputs<'a>>),
}

impl LoadedLesson<'_> {
    fn unchanged(row: SessionRow, notices: Vec<String>) -> Self {
        Self::Unchanged(Box::new(LearnedSession::unchanged(row, notices)))
    }
}

/// Everything that a lesson is planned from, apart from the memories its drafts resemble.
pub(super) struct LessonInputs<'a> {
    pub(super) pad: &'a Scratchpad,
    pub(super) observed: ObservedSession,
    pub(super) state: LessonState,
    pub(super) modules: ModuleLookup,
    pub(super) sessions: SessionIndex,
    /// Sightings of the same patterns in other sessions.
    pub(super) earlier: SightingsByPattern,
    /// The memories that an earlier lesson of this session made from its patterns. A session that has grown
    /// must find them again.
    pub(super) own_memories: HashMap<PatternKey, MemoryId>,
    /// Per mille by which the thresholds for new memories are raised, because the user rejected
    /// earlier ones.
    pub(super) tightening: u16,
    /// `None` if no module is due, or no language model may be asked.
    pub(super) synthesis: Option<SynthesisInputs>,
    pub(super) shown: Vec<ShownMemory>,
    /// For each short id that the session cited, the memories it may stand for.
    pub(super) cited: Vec<Vec<Memory>>,
    pub(super) savings: SavingsInputs,
    /// Records the trial group that the session was in.
    pub(super) trial_group: Option<Milestone>,
}

/// The entries of the shown log that learning uses.
#[derive(Default)]
struct ShownInputs {
    shown: Vec<ShownMemory>,
    fixes: Vec<ShownFix>,
    trial_group: Option<Milestone>,
}

/// Loads everything about a session. Registers the project if it is new.
pub(super) async fn load_lesson<'a>(
    project: &mut Project,
    pad: &'a Scratchpad,
    extent: SessionExtent,
) -> Result<LoadedLesson<'a>, Error> {
    // Many pattern keys contain module names, so the modules are needed before sightings are
    // detected.
    let modules = load_module_lookup(project).await?;
    let observed = ObservedSession::from_scratchpad(pad, &modules, extent, project.now);
    let Some(mut observed) = observed else { return Ok(LoadedLesson::Empty) };

    // Learning is often the first write in a project, so this may create its notebook.
    let store = project.ensure_notebook(NotebookScope::Project).await?.store;
    add_later_evidence(project, &store, &mut observed).await?;
    observed.taint_foreign(pad);
    let stored = store.learning().get_session(observed.id()).await?;

    // Callers offer the same sessions again and again. The rest is loaded only if one has changed.
    let row = observed.to_row();
    let state = match stored.map(|it| compare_with_stored(&row, &it)) {
        None => LessonState::New,
        Some(StoredLesson::Outdated) => LessonState::Grown,
        Some(StoredLesson::UpToDate) => return Ok(LoadedLesson::unchanged(row, Vec::new())),
        Some(StoredLesson::FromLongerLog) => {
            let notice = longer_log_notice(row.id);
            return Ok(LoadedLesson::unchanged(row, vec![notice]));
        }
    };

    // Claims are detected only now, because their weighing reads files and embeds sentences.
    if extent == SessionExtent::Whole {
        let claims = find_claims(project, pad, &observed.sightings).await?;
        drop_claimed_wishes(&mut observed.sightings, &claims);
        observed.sightings.extend(claims);
    }

    // Other sessions: the same patterns, the same files, and modules that are due for synthesis.
    let session = &observed.session;
    let sessions = SessionIndex::new(store.learning().list_sessions().await?);
    let milestones = store.learning().list_milestones().await?;
    let (earlier, own_memories) =
        load_earlier(&store, session, &observed.sightings, &modules).await?;
    let tightening = load_tightening(&store).await?;
    let synthesis =
        load_synthesis(project, &store, session, &modules, &sessions, &milestones).await?;

    // Notes that the session was shown, to count their uses and the tool calls they saved.
    let ShownInputs { shown, fixes, trial_group } = load_shown(project, &store, pad).await?;
    let sightings = load_error_sightings(&store, error_fingerprints(&shown, &fixes)).await?;
    let cited = load_cited(&store, pad).await?;
    Ok(LoadedLesson::Changed(Box::new(LessonInputs {
        pad,
        observed,
        state,
        modules,
        sessions,
        earlier,
        own_memories,
        tightening,
        synthesis,
        shown,
        cited,
        savings: SavingsInputs { fixes, sightings, milestones },
        trial_group,
    })))
}

/// Loads the files that every counted session touched.
pub(crate) async fn load_visits(store: &StoreReader) -> Result<Vec<SessionVisit>, Error> {
    let sessions = SessionIndex::new(store.learning().list_sessions().await?);
    Ok(collect_visits(&sessions, store.learning().touched_files().await?, None))
}

/// Adds the evidence that the session's own events cannot show: later commits and reversals (from
/// git), the parent's validation, and edits of siblings. Masks the secrets of all sightings
/// afterwards.
async fn add_later_evidence(
    reader: &ProjectReader,
    store: &StoreReader,
    observed: &mut ObservedSession,
) -> Result<(), Error> {
    // A subagent rarely runs the checks itself; its parent runs them for all subagents.
    let (parent, edited_by_siblings) = match observed.session.parent {
        Some(id) => {
            let parent = store.learning().get_session(id).await?;
            (parent, store.learning().files_edited_by_children(id).await?)
        }
        None => (None, Vec::new()),
    };
    let session = &mut observed.session;
    // Whether edits were committed or reverted is known only after the session has ended.
    if observed.extent == SessionExtent::Whole {
        session.validation_basis = edit_outcome::find_validation(reader, session, parent.as_ref());
        let reverted = edit_outcome::find_reverted_work(reader, session, &observed.sightings);
        if let Some(dead_end) = reverted {
            session.outcome = model::SessionOutcome::Failure;
            observed.sightings.push(dead_end);
        }
    }
    observed.sightings.extend(subagents::find_conflicts(session, edited_by_siblings));
    observed.mask_sightings();
    Ok(())
}

fn longer_log_notice(session: SessionId) -> String {
    let id = session.short();
    format!("session #{id} was learned already, from a longer log; this one was left")
}

/// Loads the sightings of the same patterns in other sessions, by the current key of each pattern, and the
/// memories that this session made from them before.
async fn load_earlier(
    store: &StoreReader,
    session: &SessionOverview,
    sightings: &[Sighting],
    modules: &ModuleLookup,
) -> Result<(SightingsByPattern, HashMap<PatternKey, MemoryId>), Error> {
    let current_keys = pattern_keys(sightings, modules);
    let patterns = current_keys.keys().cloned().map(PatternKey::into_stored).collect();
    let rows = store.learning().sightings_of_patterns(patterns).await?;
    let mut acc = SightingsByPattern::new();
    let mut own_memories = HashMap::new();
    for row in rows {
        let stored = PatternKey::from_stored(row.signal, row.key.as_str());
        let key = current_keys.get(&stored).cloned().unwrap_or(stored);
        if row.session != session.id {
            acc.entry(key).or_default().push(row);
        } else if let Some(memory) = row.memory {
            // The rows of this session come from an earlier lesson, which this one replaces; the memory
            // stays.
            own_memories.insert(key, memory);
        }
    }
    Ok((acc, own_memories))
}

/// Loads how much thresholds are raised, in per mille, because the user rejected learned memories.
async fn load_tightening(store: &StoreReader) -> Result<u16, Error> {
    let (n_learned, n_rejected) = store.learning().count_judged().await?;
    Ok(promote::threshold_tightening(n_rejected, n_learned))
}

/// Loads the statistics of the modules that this session brings to a milestone, and has the model
/// interpret the first of them. `None` if no module is due. Without a model there is nothing to do:
/// the statistics alone are no memory, and the milestone stays due for a later session.
async fn load_synthesis(
    reader: &ProjectReader,
    store: &StoreReader,
    session: &SessionOverview,
    modules: &ModuleLookup,
    sessions: &SessionIndex,
    passed: &[Milestone],
) -> Result<Option<SynthesisInputs>, Error> {
    let (models, edited) = (&reader.config.models, edited_modules(session, modules));
    let has_model = reader.is_llm_allowed() && models.can_generate();
    if !has_model || session.validation_basis.is_none() || edited.is_empty() {
        return Ok(None);
    }

    // First an upper bound: the store counts editing sessions per folder, which is cheap. Most
    // sessions reach no milestone, and nothing more is read for them.
    let mut may_be_due = false;
    for module in &edited {
        // The module and its folders: before the module was known, its folders were counted.
        let folders = modules.folders_of(module).chain([module.as_str()]).map(str::to_owned);
        let counts = store.learning().count_editing_sessions_in(folders.collect()).await?;
        let max_sessions = counts.iter().sum::<u32>() + 1; // this session included
        may_be_due |= !due_milestones(module, max_sessions, passed).is_empty();
    }
    if !may_be_due {
        return Ok(None);
    }
    let touched = store.learning().touched_files().await?;
    let visits = collect_visits(sessions, touched, Some(session));

    // One model request per session, so only the first due module is interpreted; the others stay
    // due. None may be due: the exact count can be lower than the bound, because one session may
    // edit several folders.
    let Some(due) = first_due_module(&edited, &visits, passed, modules) else { return Ok(None) };
    let mut sightings = Vec::new();
    for id in sessions_for_facts(&due.module, &visits, modules) {
        sightings.push((id, store.learning().sightings_in_session(id).await?));
    }
    let facts = module_facts(&due.module, &visits, modules, sessions, &sightings);
    let interpretation = interpret_module(models, &facts).await;
    Ok(Some(SynthesisInputs { due, interpretation }))
}

/// Loads the memories and fixes that the session was shown, and when.
async fn load_shown(
    reader: &ProjectReader,
    store: &StoreReader,
    pad: &Scratchpad,
) -> Result<ShownInputs, Error> {
    let Some(log_session) = shown_log_session(pad) else { return Ok(ShownInputs::default()) };
    let mut acc = ShownInputs::default();
    if let Some(session) = pad.session {
        acc.trial_group = trial_milestone(reader, &log_session, session);
    }
    let log = open_shown_log(reader, &log_session);
    for entry in log.read_entries() {
        match entry {
            ShownEntry::MemoryAt { id, at } => {
                let memory = store.memories().get(id).await?;
                acc.shown.extend(memory.map(|memory| ShownMemory { memory, at }));
            }
            ShownEntry::FixAt { fingerprint, at } => acc.fixes.push(ShownFix { fingerprint, at }),
            // The other entries have no time. They only keep the injector from repeating itself.
            _ => {}
        }
    }
    // The log is a hash set. Sorted, so that the result does not depend on its order.
    acc.shown.sort_by_key(|it| (it.at, it.memory.id));
    acc.fixes.sort_by(|a, b| (a.at, &a.fingerprint).cmp(&(b.at, &b.fingerprint)));
    Ok(acc)
}

/// Loads the sightings of errors, by fingerprint.
async fn load_error_sightings(
    store: &StoreReader,
    fingerprints: Vec<String>,
) -> Result<HashMap<String, Vec<SightingRow>>, Error> {
    let patterns = fingerprints.iter().map(|it| PatternKey::error(it).into_stored()).collect();
    let mut acc: HashMap<String, Vec<SightingRow>> = HashMap::new();
    for row in store.learning().sightings_of_patterns(patterns).await? {
        acc.entry(row.key.clone()).or_default().push(row);
    }
    Ok(acc)
}

/// Loads the memories that the agent cited. It cites short ids (the last eight characters of an id),
/// so each may match several memories.
async fn load_cited(store: &StoreReader, pad: &Scratchpad) -> Result<Vec<Vec<Memory>>, Error> {
    let mut acc = Vec::new();
    for id in &pad.cited_ids {
        acc.push(store.memories().find_by_short_id(id.clone()).await?);
    }
    Ok(acc)
}
