//! Read and think: what earlier sessions saw, drafts of it all, verdicts, and what is known already.

use std::collections::HashMap;

use model::{
    Actor, Counters, DropReason, Flags, Hlc, Memory, MemoryId, PerMille, ProjectPath, Relation,
    RelationKind, RelationTarget, Scope, SignalKind, SoftStates, Source, Visibility,
};
use observe::{Draft, Evidence, Modules, Seen, Session, Sighting, Support};
use promote::{Candidate, Facts, Relationship, Statement, Verdict};
use store::{Change, Store};

use super::family::{self, Families};
use super::refresh;
use super::{Dropped, Earlier, Kept, KeptHow, content_of, holding, is_kept, stands};
use crate::{Engine, Error};

/// Notes and what people said start with a confidence of their own.
const NOTED: PerMille = PerMille::new(750);
/// A confirmation raises a confidence only when the new one is clearly higher.
const CLEARLY: u16 = 100;
/// What a sibling's word adds, up to there.
const CONFIRMED: u16 = 30;
const SUREST: PerMille = PerMille::new(950);
/// With more subtasks than this, notes do not wait for the whole of the work.
pub(super) const MANY_SUBTASKS: usize = 5;
/// Sessions kept as provenance of one memory.
pub(super) const MAX_PROVENANCE: usize = 50;

/// A sighting with everything needed to judge it.
pub(super) struct Prepared {
    pub(super) sighting: Sighting,
    pub(super) draft: Option<Draft>,
    pub(super) families: Families,
    /// The memory that was made of this pattern before.
    pub(super) memory: Option<MemoryId>,
    /// Others that were: of folders that are one module now. Their place is taken.
    pub(super) overtaken: Vec<MemoryId>,
}

/// What becomes of a sighting.
pub(super) struct Reviewed {
    pub(super) prepared: Prepared,
    pub(super) changes: Vec<Change>,
    pub(super) kept: Option<Kept>,
    pub(super) dropped: Option<Dropped>,
    /// The memory it speaks for though it was dropped.
    pub(super) memory: Option<MemoryId>,
}

impl Engine {
    /// Reads what earlier sessions saw of the same patterns, and composes drafts of it all.
    pub(super) async fn prepare(
        &self,
        store: &Store,
        session: &Session,
        sightings: Vec<Sighting>,
        modules: &Modules,
    ) -> Result<Vec<Prepared>, Error> {
        let mut earlier = earlier(store, session, &sightings, modules).await?;
        let holding = holding(store.sessions().await?);
        let files = pair_files(&sightings);
        let (counts, all) = store.editors(files.clone()).await?;
        let edits_now = |path: &ProjectPath| {
            u32::from(session.files.iter().any(|it| it.path == *path && it.edits > 0))
        };
        let known = holding.contains_key(&session.id);
        let count = |path: Option<&ProjectPath>| {
            let at = path.and_then(|path| files.iter().position(|it| it == path));
            let (Some(at), Some(path)) = (at, path) else { return 0 };
            counts[at] + if known { 0 } else { edits_now(path) }
        };
        let mut acc = Vec::new();
        for sighting in sightings {
            let rows = earlier.remove(&(sighting.signal, sighting.key.clone())).unwrap_or_default();
            let mut seen: Vec<Seen> = Vec::new();
            for row in &rows {
                if let Some(of) = holding.get(&row.session) {
                    let evidence = modules.renamed(Evidence::read(&row.evidence));
                    seen.push(Seen { session: row.session, at: of.ended, n: row.times, evidence });
                }
            }
            seen.push(Seen {
                session: session.id,
                at: session.ended,
                n: sighting.n,
                evidence: sighting.evidence.clone(),
            });
            seen.sort_by_key(|it| (it.at, it.session));
            let named = &sighting.evidence.files;
            let begun = u32::try_from(rows.len() + 1).unwrap_or(u32::MAX);
            let support = Support {
                first: count(named.first()),
                second: count(named.get(1)),
                all: if sighting.signal == SignalKind::Sequence { begun } else { all },
                module: 0,
            };
            let draft = observe::draft(sighting.signal, &sighting.key, &seen, support, modules);
            let families = Families::of(session, &rows, &holding);
            let memory = rows.iter().rev().find_map(|it| it.memory);
            let mut overtaken: Vec<MemoryId> = rows.iter().filter_map(|it| it.memory).collect();
            overtaken.retain(|it| Some(*it) != memory);
            overtaken.sort_unstable();
            overtaken.dedup();
            acc.push(Prepared { sighting, draft, families, memory, overtaken });
        }
        Ok(acc)
    }

    /// Holds what was kept against what is known: the same confirms, a contradiction supersedes.
    pub(super) async fn review(
        &mut self,
        store: &Store,
        session: &Session,
        prepared: Vec<Prepared>,
        verdicts: Vec<Verdict>,
    ) -> Result<Vec<Reviewed>, Error> {
        let mut acc: Vec<Reviewed> = Vec::new();
        for (it, verdict) in prepared.into_iter().zip(verdicts) {
            let reviewed = if is_kept(&verdict) {
                let overtaken = refresh::overtaken(store, session, &it.overtaken).await?;
                let mut settled = self.settle(store, session, it, &verdict, &acc).await?;
                settled.changes.extend(overtaken);
                settled
            } else {
                let retired = refresh::retire(store, session, &it, &verdict).await?;
                Reviewed { changes: retired, ..drop_it(it, verdict) }
            };
            acc.push(reviewed);
        }
        Ok(acc)
    }

    async fn settle(
        &mut self,
        store: &Store,
        session: &Session,
        prepared: Prepared,
        verdict: &Verdict,
        before: &[Reviewed],
    ) -> Result<Reviewed, Error> {
        let signal = prepared.sighting.signal;
        let draft = prepared.draft.clone();
        let made_of = draft.and_then(|it| memory_of(self, session, it, signal, verdict));
        let Some(fresh) = made_of else {
            let why = Verdict::Dropped { why: DropReason::SaysNothing, detail: String::new() };
            return Ok(drop_it(prepared, why));
        };
        if let Some(id) = prepared.memory
            && let Some(old) = store.get(id).await?
        {
            if said_before(before, id) {
                return Ok(twice(prepared, &old));
            }
            return Ok(again(prepared, old, fresh, session, true));
        }
        if !prepared.sighting.signal.row().textual
            || prepared.sighting.signal == SignalKind::ErrorRetry
        {
            // Patterns have keys; only sentences need to be compared by what they say.
            return Ok(made(prepared, fresh, KeptHow::Made, Vec::new()));
        }
        let mut known = self.alike(store, &fresh).await?;
        known.extend(before.iter().filter_map(|it| it.kept.as_ref()).map(|it| it.memory.clone()));
        known.retain(stands);
        let statements: Vec<Statement<'_>> = known.iter().map(statement).collect();
        match promote::nearest(&statement(&fresh), &statements) {
            Some((at, Relationship::Same | Relationship::Near { .. })) => {
                let old = known[at].clone();
                if said_before(before, old.id) {
                    return Ok(twice(prepared, &old));
                }
                let mut fresh = fresh;
                if family::by_sibling(store, session, old.session).await? {
                    let raised = old.confidence.plus(CONFIRMED).at_most(SUREST);
                    fresh.confidence = fresh.confidence.max(raised);
                    return Ok(again(prepared, old, fresh, session, true));
                }
                Ok(again(prepared, old, fresh, session, false))
            }
            Some((at, Relationship::Contradicts { what })) => {
                Ok(contradicts(prepared, known[at].clone(), fresh, &what.to_string()))
            }
            _ => Ok(made(prepared, fresh, KeptHow::Made, Vec::new())),
        }
    }
}

/// What earlier sessions saw of these patterns; those of a module also under the names of its folders.
async fn earlier(
    store: &Store,
    session: &Session,
    sightings: &[Sighting],
    modules: &Modules,
) -> Result<Earlier, Error> {
    let mut named: HashMap<(SignalKind, String), String> = HashMap::new();
    let mut patterns = Vec::new();
    for it in sightings {
        patterns.push((it.signal, it.key.clone()));
        for key in modules.earlier_keys(it.signal, &it.key) {
            patterns.push((it.signal, key.clone()));
            named.insert((it.signal, key), it.key.clone());
        }
    }
    patterns.sort();
    patterns.dedup();
    let mut acc = Earlier::new();
    for row in store.sightings_of(patterns).await? {
        if row.session != session.id {
            let pattern = (row.signal, row.key.clone());
            let key = named.get(&pattern).cloned().unwrap_or(pattern.1);
            acc.entry((row.signal, key)).or_default().push(row);
        }
    }
    Ok(acc)
}

/// A draft that was judged worth keeping, as a memory.
pub(super) fn memory_of(
    engine: &Engine,
    session: &Session,
    draft: Draft,
    signal: SignalKind,
    verdict: &Verdict,
) -> Option<Memory> {
    let Verdict::Keep { confidence, needs_review, tainted, .. } = verdict else { return None };
    let recorded = signal == SignalKind::Recorded;
    let agent = || Actor::Agent(session.agent.clone());
    let anchors = engine.anchors_named(&draft.content, &draft.files);
    Some(Memory {
        id: MemoryId::new(session.ended, (engine.config.random)()),
        project: engine.project.id(),
        summary: promote::summary(&draft.content, &draft.kind),
        citation: promote::citation(&draft.content),
        content: draft.content,
        kind: draft.kind,
        source: if recorded { Source::AgentExplicit } else { Source::ObserverInferred },
        scope: if draft.modules.is_empty() { Scope::Global } else { Scope::Module },
        visibility: Visibility::Personal,
        confidence: *confidence,
        tags: draft.tags,
        files: draft.files,
        modules: draft.modules,
        anchors,
        work_unit: None,
        session: Some(session.id),
        provenance: vec![session.id],
        commit: None,
        branch: None,
        relations: Vec::new(),
        half_life_days: None,
        flags: Flags { needs_review: *needs_review, tainted: *tainted, ..Flags::default() },
        states: SoftStates::default(),
        payload: draft.payload,
        created_by: if recorded { agent() } else { Actor::Observer },
        created_at: session.ended,
        updated_at: session.ended,
        version: 0,
        hlc: Hlc::default(),
        counters: Counters::default(),
    })
}

/// Judges all candidates of a session.
pub(super) fn judge(prepared: &[Prepared], session: &Session, tighter: u16) -> Vec<Verdict> {
    let candidates: Vec<Candidate> = prepared.iter().map(|it| candidate(it, session)).collect();
    let facts = Facts {
        kind: session.kind,
        outcome: session.outcome,
        validated: session.validated,
        said: session.said.clone(),
        tighter,
    };
    promote::judge(&candidates, &facts)
}

fn candidate(it: &Prepared, session: &Session) -> Candidate {
    let signal = it.sighting.signal;
    let noted = matches!(signal, SignalKind::Recorded | SignalKind::UserCorrection);
    let kind = it.draft.as_ref().map(|it| it.kind.clone());
    Candidate {
        signal,
        key: it.sighting.key.clone(),
        content: content_of(it),
        kind: kind.unwrap_or(model::MemoryType::Core(signal.row().becomes)),
        sessions: it.families.n_sessions,
        occurrences: it.sighting.n,
        tainted: it.sighting.tainted,
        quorum: it.families.quorum,
        held: held(&it.sighting, session),
        start: noted.then_some(NOTED),
    }
}

/// Whether a note was taken in a part of the work that has succeeded by itself.
fn held(sighting: &Sighting, session: &Session) -> bool {
    sighting.signal == SignalKind::Recorded
        && session.subtasks.len() > MANY_SUBTASKS
        && session.subtasks.last().is_some_and(|it| sighting.order <= *it)
}

/// The files whose editors are counted: the two ends of pairs.
fn pair_files(sightings: &[Sighting]) -> Vec<ProjectPath> {
    let paired =
        |it: &&Sighting| matches!(it.signal, SignalKind::CoAccess | SignalKind::ConfigTouch);
    let mut acc: Vec<ProjectPath> =
        sightings.iter().filter(paired).flat_map(|it| it.evidence.files.clone()).collect();
    acc.sort();
    acc.dedup();
    acc
}

fn drop_it(prepared: Prepared, verdict: Verdict) -> Reviewed {
    let (why, detail) = match verdict {
        Verdict::Dropped { why, detail } => (why, detail),
        Verdict::Keep { .. } => (DropReason::Budget, String::new()),
    };
    let dropped = Dropped {
        signal: prepared.sighting.signal,
        key: prepared.sighting.key.clone(),
        content: content_of(&prepared),
        why,
        detail,
    };
    let memory = prepared.memory;
    Reviewed { prepared, changes: Vec::new(), kept: None, dropped: Some(dropped), memory }
}

fn made(prepared: Prepared, memory: Memory, how: KeptHow, mut changes: Vec<Change>) -> Reviewed {
    changes.push(Change::Insert(Box::new(memory.clone())));
    let signal = prepared.sighting.signal;
    let kept = Some(Kept { signal: Some(signal), memory, how });
    Reviewed { prepared, changes, kept, dropped: None, memory: None }
}

/// Whether this session speaks for a memory already.
fn said_before(before: &[Reviewed], id: MemoryId) -> bool {
    before.iter().any(|it| it.kept.as_ref().is_some_and(|it| it.memory.id == id))
}

fn twice(prepared: Prepared, old: &Memory) -> Reviewed {
    let detail = format!("#{} says the same", old.id.short());
    let why = Verdict::Dropped { why: DropReason::Novelty, detail };
    Reviewed { memory: Some(old.id), ..drop_it(prepared, why) }
}

/// A memory of the same pattern, or one that says the same: this session speaks for it.
fn again(
    prepared: Prepared,
    old: Memory,
    fresh: Memory,
    session: &Session,
    confirms: bool,
) -> Reviewed {
    let retired = refresh::is_retired(&old);
    if !stands(&old) && !retired {
        let detail = format!("#{} said it and was taken away", old.id.short());
        return drop_it(prepared, Verdict::Dropped { why: DropReason::Novelty, detail });
    }
    let mut after = old.clone();
    if !after.provenance.contains(&session.id) && after.provenance.len() < MAX_PROVENANCE {
        after.provenance.push(session.id);
    }
    if retired {
        after.states = SoftStates::default();
    }
    let same_pattern = prepared.memory == Some(old.id);
    let by_person = old.flags.user_verified || old.source == Source::UserTaught;
    let mut how = KeptHow::Confirmed;
    // A pattern that was seen once more says it with better numbers; a person's words stay theirs.
    if same_pattern && !by_person && old.content != fresh.content {
        (after.content, after.summary, after.citation) =
            (fresh.content, fresh.summary, fresh.citation);
        (after.payload, after.files, after.modules) = (fresh.payload, fresh.files, fresh.modules);
        how = KeptHow::Updated;
    }
    // What comes from outside makes nothing surer.
    let surer = fresh.confidence.get() >= old.confidence.get().saturating_add(CLEARLY) || confirms;
    if surer && !fresh.flags.tainted {
        after.confidence = after.confidence.max(fresh.confidence);
    }
    let mut changes = Vec::new();
    if after != old {
        after.updated_at = after.updated_at.max(session.ended);
        changes.push(Change::Replace(Box::new(after.clone())));
    }
    let signal = prepared.sighting.signal;
    let kept = Some(Kept { signal: Some(signal), memory: after, how });
    Reviewed { prepared, changes, kept, dropped: None, memory: None }
}

/// The newer statement takes the place of the older one, unless a person stands behind that.
fn contradicts(prepared: Prepared, old: Memory, mut fresh: Memory, what: &str) -> Reviewed {
    let by_person = old.flags.user_verified || old.flags.pinned || old.source == Source::UserTaught;
    if by_person || fresh.flags.tainted || fresh.flags.needs_review {
        let detail = format!("contradicts #{} ({what})", old.id.short());
        return drop_it(prepared, Verdict::Dropped { why: DropReason::Novelty, detail });
    }
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    fresh.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto: true });
    let mut retired = old.clone();
    retired.states.deprecated_at = Some(fresh.updated_at);
    retired.states.deprecated_reason = Some(format!("superseded by #{}", fresh.id.short()));
    let how = KeptHow::Superseded(old.id);
    made(prepared, fresh, how, vec![Change::Replace(Box::new(retired))])
}

pub(super) fn statement(memory: &Memory) -> Statement<'_> {
    Statement { text: &memory.content, files: &memory.files, kind: &memory.kind }
}
