//! Loading, first phase: everything about a session that is known before anything is decided.
//!
//! Reads the store, git, the shown log and, for a module that is due for synthesis, the language
//! model. Decides nothing: the functions that choose what to read are in the topic files and pure.

use std::collections::HashMap;

use model::{Memory, ProjectPath, SignalKind};
use observe::{
    ModuleLookup, PatternKey, PatternParts, Scratchpad, SessionOverview, SessionSighting,
    SessionVisit, Sighting,
};
use store::{DataDir, Milestone, ShownEntry, ShownLog, SightingRow, StoreReader};

use super::candidates::{
    EditCounts, SightingsByPattern, counted_sightings, paired_files, pattern_keys,
};
use super::couplings::CouplingInputs;
use super::observed::{ObservedSession, SessionExtent, already_learned};
use super::protection::is_active;
use super::rewording::interpret_module;
use super::savings::{SavingsInputs, ShownFix, error_fingerprints};
use super::session_index::SessionIndex;
use super::synthesis::{
    SynthesisInputs, collect_visits, due_milestones, due_modules, edited_modules, module_facts,
    sessions_for_facts,
};
use super::usage::{ShownMemory, shown_log_name};
use super::{LearnedSession, LessonState, edit_outcome, modules, subagents};
use crate::{Error, NotebookScope, Project, ProjectReader};

/// The result of the first phase.
pub(super) enum LoadedLesson<'a> {
    /// The scratchpad holds no event.
    Empty,
    /// The session needs no learning.
    Unchanged(Box<LearnedSession>),
    Changed(Box<LessonInputs<'a>>),
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
    /// Editors of the files that the sightings pair.
    pub(super) edits: EditCounts,
    /// Per mille by which thresholds are raised.
    pub(super) tightening: u16,
    pub(super) couplings: Vec<CouplingInputs>,
    /// `None` if no module is due.
    pub(super) synthesis: Option<SynthesisInputs>,
    pub(super) shown: Vec<ShownMemory>,
    /// For each short id that the session cited, the memories it may stand for.
    pub(super) cited: Vec<Vec<Memory>>,
    pub(super) savings: SavingsInputs,
    /// Records the trial group that the session was in.
    pub(super) trial_group: Option<Milestone>,
}

/// Loads everything about a session. Registers the project if it is new.
pub(super) async fn load_lesson<'a>(
    project: &mut Project,
    pad: &'a Scratchpad,
    extent: SessionExtent,
) -> Result<LoadedLesson<'a>, Error> {
    // The keys of many signals contain module names, so that the map is needed before anything else.
    let modules = modules(project).await?;
    let observed = ObservedSession::from_scratchpad(pad, &modules, extent, project.now);
    let Some(mut observed) = observed else { return Ok(LoadedLesson::Empty) };
    // Learning is often the first write in a project.
    let store = project.notebook(NotebookScope::Project).await?.store;
    add_later_evidence(project, &store, &mut observed).await?;
    let stored = store.learning().get_session(observed.id()).await?;
    // Most sessions are offered again and again; the rest is read only for those that changed.
    if let Some(stored) = &stored
        && let Some(unchanged) = already_learned(&observed.to_row(), stored)
    {
        return Ok(LoadedLesson::Unchanged(Box::new(unchanged)));
    }
    let state = if stored.is_some() { LessonState::Grown } else { LessonState::New };
    let session = &observed.session;
    let sessions = SessionIndex::new(store.learning().list_sessions().await?);
    let milestones = store.learning().list_milestones().await?;
    let earlier = load_earlier(&store, session, &observed.sightings, &modules).await?;
    let edits = load_edit_counts(&store, paired_files(&observed.sightings)).await?;
    let tightening = load_tightening(&store).await?;
    let couplings = load_couplings(&store, session, &observed.sightings, &sessions).await?;
    let synthesis = load_synthesis(project, &store, session, &modules, &sessions, &milestones);
    let synthesis = synthesis.await?;
    let ShownInputs { shown, fixes, trial_group } = load_shown(project, &store, pad).await?;
    let sightings = load_error_sightings(&store, error_fingerprints(&shown, &fixes)).await?;
    // An agent cites short ids; a short id can be the prefix of several memories.
    let mut cited = Vec::new();
    for id in &pad.cited_ids {
        cited.push(store.memories().find_by_short_id(id.clone()).await?);
    }
    Ok(LoadedLesson::Changed(Box::new(LessonInputs {
        pad,
        observed,
        state,
        modules,
        sessions,
        earlier,
        edits,
        tightening,
        couplings,
        synthesis,
        shown,
        cited,
        savings: SavingsInputs { fixes, sightings, milestones },
        trial_group,
    })))
}

/// Adds the evidence that the session itself cannot show: validation and reversal that git shows,
/// and edits of siblings. Masks the secrets of all sightings afterwards.
async fn add_later_evidence(
    reader: &ProjectReader,
    store: &StoreReader,
    observed: &mut ObservedSession,
) -> Result<(), Error> {
    // A subagent rarely runs the checks itself; the parent does, for all of them.
    let parent = match observed.session.parent {
        Some(parent) => store.learning().get_session(parent).await?,
        None => None,
    };
    let edited_by_siblings = match observed.session.parent {
        Some(parent) => store.learning().files_edited_by_children(parent).await?,
        None => Vec::new(),
    };
    let session = &mut observed.session;
    // A running session has no aftermath yet.
    if observed.extent == SessionExtent::Whole {
        session.validation_basis = edit_outcome::find_validation(reader, session, parent.as_ref());
        let reverted = edit_outcome::find_reverted_work(reader, session, &observed.sightings);
        if let Some(dead_end) = reverted {
            session.outcome = model::SessionOutcome::Failure;
            observed.sightings.push(dead_end);
        }
    }
    observed.sightings.extend(subagents::find_conflicts(session, edited_by_siblings));
    observed.mask_secrets();
    Ok(())
}

/// Loads the sightings of the same patterns in other sessions, by the key of today.
async fn load_earlier(
    store: &StoreReader,
    session: &SessionOverview,
    sightings: &[Sighting],
    modules: &ModuleLookup,
) -> Result<SightingsByPattern, Error> {
    let keys = pattern_keys(sightings, modules);
    let patterns = keys.keys().cloned().map(PatternKey::into_parts).collect();
    let rows = store.learning().sightings_of_patterns(patterns).await?;
    let mut acc = SightingsByPattern::new();
    // The rows of this session come from an earlier lesson, which this one replaces.
    for row in rows.into_iter().filter(|it| it.session != session.id) {
        let stored = PatternKey::from_stored(row.signal, row.key.as_str());
        let key = keys.get(&stored).cloned().unwrap_or(stored);
        acc.entry(key).or_default().push(row);
    }
    Ok(acc)
}

async fn load_edit_counts(
    store: &StoreReader,
    files: Vec<ProjectPath>,
) -> Result<EditCounts, Error> {
    let (counts, all) = store.learning().count_editing_sessions(files.clone()).await?;
    Ok(EditCounts { by_file: files.into_iter().zip(counts).collect(), all })
}

/// The tightening of thresholds that follows from how users judged learned memories.
async fn load_tightening(store: &StoreReader) -> Result<u16, Error> {
    let (n_learned, n_rejected) = store.learning().count_judged().await?;
    Ok(promote::threshold_tightening(n_rejected, n_learned))
}

/// Loads the couplings of which the session edited one file without showing the pair.
async fn load_couplings(
    store: &StoreReader,
    session: &SessionOverview,
    sightings: &[Sighting],
    sessions: &SessionIndex,
) -> Result<Vec<CouplingInputs>, Error> {
    // An edit that may be reverted says nothing about a share.
    if session.validation_basis.is_none() {
        return Ok(Vec::new());
    }
    let is_edited =
        |it: &str| session.files.iter().any(|file| file.edits > 0 && file.path.as_str() == it);
    let is_touched = |key: &PatternKey| match key.parts() {
        PatternParts::FilePair(a, b) => is_edited(a) || is_edited(b),
        _ => false,
    };
    let mut acc = Vec::new();
    for (key, id) in store.learning().coupled_files().await? {
        let key = PatternKey::from_stored(SignalKind::CoAccess, key);
        if !is_touched(&key) || sightings.iter().any(|it| it.key == key) {
            continue;
        }
        let memory = store.memories().get(id).await?;
        // The user confirmed these numbers; they stay.
        let Some(memory) = memory.filter(|it| is_active(it) && !it.flags.user_verified) else {
            continue;
        };
        let pattern = key.clone().into_parts();
        let mut rows = store.learning().sightings_of_patterns(vec![pattern]).await?;
        // As above: an earlier lesson of this session does not count.
        rows.retain(|it| it.session != session.id);
        let mut seen: Vec<SessionSighting> = counted_sightings(&rows, sessions, None);
        seen.sort_by_key(|it| (it.at, it.session));
        let Some(last) = seen.last() else { continue };
        let edits = load_edit_counts(store, last.evidence.files()).await?;
        acc.push(CouplingInputs { key, memory, seen, edits });
    }
    Ok(acc)
}

/// Loads the statistics of the modules that this session brings to a milestone, and has the model
/// interpret the first of them if that is allowed. `None` if no module is due.
async fn load_synthesis(
    reader: &ProjectReader,
    store: &StoreReader,
    session: &SessionOverview,
    modules: &ModuleLookup,
    sessions: &SessionIndex,
    passed: &[Milestone],
) -> Result<Option<SynthesisInputs>, Error> {
    let edited = edited_modules(session, modules);
    if session.validation_basis.is_none() || edited.is_empty() {
        return Ok(None);
    }
    // Counting folders in the database is cheap and never too low. Most sessions reach no milestone,
    // and for them nothing more is read.
    let mut may_be_due = false;
    for module in &edited {
        let folders = modules.folders_of(module).chain([module.as_str()]).map(str::to_owned);
        let counts = store.learning().count_editing_sessions_in(folders.collect()).await?;
        let n_sessions = counts.iter().sum::<u32>() + 1;
        may_be_due |= !due_milestones(module, n_sessions, passed).is_empty();
    }
    if !may_be_due {
        return Ok(None);
    }
    let touched = store.learning().touched_files().await?;
    let visits = collect_visits(sessions, touched, Some(session));
    let due = due_modules(&edited, &visits, passed, modules);
    // The exact count can be lower than that of the folders: one session may edit several of them.
    let Some(first) = due.first() else { return Ok(None) };
    let models = &reader.config.models;
    // One request per session, so that only the first due module is interpreted.
    let mut interpretation = None;
    if reader.is_llm_allowed() && models.can_generate() {
        let mut sightings = Vec::new();
        for id in sessions_for_facts(&first.module, &visits, modules) {
            sightings.push((id, store.learning().sightings_in_session(id).await?));
        }
        let facts = module_facts(&first.module, &visits, modules, sessions, &sightings);
        interpretation = Some(interpret_module(models, &facts).await);
    }
    Ok(Some(SynthesisInputs { visits, due, interpretation }))
}

/// Entries of the shown log that learning reads.
#[derive(Default)]
struct ShownInputs {
    shown: Vec<ShownMemory>,
    fixes: Vec<ShownFix>,
    trial_group: Option<Milestone>,
}

/// Loads what the session was shown, and when.
async fn load_shown(
    reader: &ProjectReader,
    store: &StoreReader,
    pad: &Scratchpad,
) -> Result<ShownInputs, Error> {
    let Some(name) = shown_log_name(pad) else { return Ok(ShownInputs::default()) };
    let trial_group =
        pad.session.and_then(|it| crate::recall::shown_log::trial_milestone(reader, &name, it));
    let mut acc = ShownInputs { trial_group, ..ShownInputs::default() };
    let log = ShownLog::for_session(&DataDir::new(&reader.config.data), &name);
    for entry in log.read_entries() {
        match entry {
            ShownEntry::MemoryAt { id, at } => {
                let memory = store.memories().get(id).await?;
                acc.shown.extend(memory.map(|memory| ShownMemory { memory, at }));
            }
            ShownEntry::FixAt { fingerprint, at } => acc.fixes.push(ShownFix { fingerprint, at }),
            // The other entries only prevent that something is injected twice.
            _ => {}
        }
    }
    // The log is a set. What is computed from it must not depend on the order of a hash table.
    acc.shown.sort_by_key(|it| (it.at, it.memory.id));
    acc.fixes.sort_by(|a, b| (a.at, &a.fingerprint).cmp(&(b.at, &b.fingerprint)));
    Ok(acc)
}

/// Loads the sightings of errors, by fingerprint.
async fn load_error_sightings(
    store: &StoreReader,
    fingerprints: Vec<String>,
) -> Result<HashMap<String, Vec<SightingRow>>, Error> {
    let patterns = fingerprints.iter().map(|it| PatternKey::error(it).into_parts()).collect();
    let mut acc: HashMap<String, Vec<SightingRow>> = HashMap::new();
    for row in store.learning().sightings_of_patterns(patterns).await? {
        acc.entry(row.key.clone()).or_default().push(row);
    }
    Ok(acc)
}

/// Loads the files that every counted session touched.
pub(crate) async fn load_visits(store: &StoreReader) -> Result<Vec<SessionVisit>, Error> {
    let sessions = SessionIndex::new(store.learning().list_sessions().await?);
    Ok(collect_visits(&sessions, store.learning().touched_files().await?, None))
}
