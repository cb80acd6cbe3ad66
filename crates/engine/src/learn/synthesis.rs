//! Synthesis across sessions: a module that has seen enough of them is looked at as a whole, once for
//! each milestone; once a week so are pairs of modules. Everything it says waits for a person.

use std::collections::{BTreeMap, HashMap};

use model::{
    Kind, Memory, MemoryType, Payload, PerMille, ProjectPath, SessionId, SignalKind, Timestamp,
};
use observe::{Draft, MILESTONES, MOST_INSIGHTS, Modules, Session, Visit};
use promote::{Insight, ModuleFacts, Relationship, Statement, Verdict};
use store::{Action, Batch, Change, Filter, Milestone, SessionRow, Store, TouchedRow};

use super::author::{self, week};
use super::compose::{MAX_PROVENANCE, memory_of};
use super::{Kept, KeptHow, MAX_TASK, admit, holding, stands};
use crate::change::by_user;
use crate::{Engine, Error};

/// What a synthesis is tagged with.
const TAG: &str = "synthesis";
/// Names the milestones of weeks.
const WEEKLY: &str = "weekly";
/// How sure a synthesis is before anybody has looked at it.
const SURE: PerMille = PerMille::new(650);
/// Live memories of one type that a fresh one is compared with.
const COMPARED: u32 = 500;
/// What a model is shown of a module.
const SHOWN: usize = 20;

/// What a look at modules came to.
#[derive(Default)]
pub(super) struct Synthesis {
    pub(super) changes: Vec<Change>,
    pub(super) kept: Vec<Kept>,
    /// Somebody was asked; nobody else is in this session.
    pub(super) asked: bool,
    pub(super) notices: Vec<String>,
}

impl Engine {
    /// Looks at the modules of a session that have just reached a milestone.
    pub(super) async fn synthesise(
        &self,
        store: &Store,
        session: &Session,
        map: &Modules,
    ) -> Result<Synthesis, Error> {
        let mut acc = Synthesis::default();
        let edited: Vec<ProjectPath> =
            session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
        if session.validated.is_none() || edited.is_empty() {
            return Ok(acc);
        }
        let modules: Vec<&str> = observe::modules_of(&edited, map).into_iter().collect();
        let counts = at_most(store, &modules, map).await?;
        let passed = store.milestones().await?;
        let due = |module: &str, n: u32| -> Vec<Milestone> {
            let reached = MILESTONES.iter().filter(|it| **it <= n);
            let all = reached.map(|it| milestone(module, i64::from(*it)));
            all.filter(|it| !passed.contains(it)).collect()
        };
        // Most sessions are no milestone; then nothing more is read.
        let may_be_due = modules.iter().zip(counts).any(|it| !due(it.0, it.1 + 1).is_empty());
        if !may_be_due {
            return Ok(acc);
        }
        let visits = self.visits(store, Some(session)).await?;
        for module in modules {
            let n = visits.iter().filter(|it| it.edits_in(module, map)).count();
            let due = due(module, u32::try_from(n).unwrap_or(u32::MAX));
            if due.is_empty() {
                continue;
            }
            let mut drafts = observe::about_module(module, &visits, map);
            if self.may_ask && !acc.asked && self.config.models.can_write() {
                acc.asked = true;
                let facts = self.facts(store, module, &visits, map).await?;
                let insights =
                    author::interpret(&self.config.models, &facts, &mut acc.notices).await;
                drafts.extend(insights.into_iter().map(|it| draft_of(module, it)));
            }
            drafts.truncate(MOST_INSIGHTS);
            let refuted = refuted(store, session, module, &drafts, map).await?;
            acc.changes.extend(refuted);
            self.keep_new(store, session, drafts, &mut acc).await?;
            acc.changes.extend(due.into_iter().map(Change::Pass));
        }
        Ok(acc)
    }

    /// Looks at pairs of modules, once a week; nothing when this week was looked at already.
    pub async fn synthesise_week(&mut self) -> Result<Vec<Kept>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(Vec::new()) };
        let this_week = milestone(WEEKLY, week(self.now));
        if self.closed || store.milestones().await?.contains(&this_week) {
            return Ok(Vec::new());
        }
        let Some(last) = store.sessions().await?.pop() else { return Ok(Vec::new()) };
        let visits = self.visits(&store, None).await?;
        let map = self.modules().await?;
        let known = coupled(&store, &map).await?;
        let is_known = |from: &str, to: &str| {
            known.iter().any(|it| it == &(from.to_owned(), to.to_owned()))
                || known.iter().any(|it| it == &(to.to_owned(), from.to_owned()))
        };
        let drafts = observe::about_pairs(&visits, &is_known, &map);
        let mut acc = Synthesis::default();
        let session = observed(last);
        self.keep_new(&store, &session, drafts, &mut acc).await?;
        acc.changes.push(Change::Pass(this_week));
        let batch = Batch {
            actor: model::Actor::Observer,
            ..by_user(Action::Promote, self.now, acc.changes)
        };
        self.write(&store, batch).await?;
        let lately = self.made_since(&store, self.now.plus(-8 * model::DAY)).await?;
        self.consolidate(&store, lately, self.now).await?;
        Ok(acc.kept)
    }

    /// What every session that holds did to files.
    pub(crate) async fn visits(
        &self,
        store: &Store,
        now: Option<&Session>,
    ) -> Result<Vec<Visit>, Error> {
        let holding = holding(store.sessions().await?);
        let mut by_session: BTreeMap<SessionId, Visit> = BTreeMap::new();
        let touched = store.touched().await?;
        let touched = touched.into_iter().filter(|it| holding.contains_key(&it.0));
        let fresh = now.map(|it| (it.id, super::files_of(it)));
        if let Some((id, files)) = &fresh {
            for file in files {
                add(&mut by_session, *id, file);
            }
        }
        for (session, file) in touched.filter(|it| fresh.as_ref().is_none_or(|now| now.0 != it.0)) {
            add(&mut by_session, session, &file);
        }
        let moment = |it: &SessionId| holding.get(it).map_or(Timestamp(i64::MAX), |it| it.ended);
        let mut res: Vec<Visit> = by_session.into_values().collect();
        res.sort_by_key(|it| (moment(&it.session), it.session));
        Ok(res)
    }

    /// Keeps what no memory says yet.
    async fn keep_new(
        &self,
        store: &Store,
        session: &Session,
        drafts: Vec<Draft>,
        acc: &mut Synthesis,
    ) -> Result<(), Error> {
        let verdict = Verdict::Keep {
            confidence: SURE,
            score: SURE,
            needs_review: true,
            tainted: session.external.is_some() && acc.asked,
        };
        for draft in drafts {
            let mut sessions = draft.sessions.clone();
            // The last of them, when there are many.
            sessions.drain(..sessions.len().saturating_sub(MAX_PROVENANCE));
            let made = memory_of(self, session, draft, SignalKind::CoAccess, &verdict);
            let Some(mut fresh) = made else { continue };
            fresh.tags.push(TAG.to_owned());
            if !sessions.is_empty() {
                fresh.provenance = sessions;
            }
            let kind = Some(fresh.kind.slug().to_owned());
            let mut known = store.list(Filter { kind, ..Filter::standing(COMPARED) }).await?;
            known.extend(self.alike(store, &fresh).await?);
            known.extend(acc.kept.iter().map(|it| it.memory.clone()));
            known.retain(stands);
            let same = |it: &&Memory| says_the_same(it.payload.as_ref(), fresh.payload.as_ref());
            if let Some(old) = known.iter().find(same) {
                acc.changes.extend(retold(old, fresh));
                continue;
            }
            let statements: Vec<Statement<'_>> =
                known.iter().map(super::compose::statement).collect();
            let near = promote::nearest(&super::compose::statement(&fresh), &statements);
            if matches!(near, None | Some((_, Relationship::Unrelated))) {
                acc.changes.push(Change::Insert(Box::new(fresh.clone())));
                acc.kept.push(Kept { signal: None, memory: fresh, how: KeptHow::Made });
            }
        }
        Ok(())
    }

    /// What a model is told about a module.
    async fn facts(
        &self,
        store: &Store,
        module: &str,
        visits: &[Visit],
        map: &Modules,
    ) -> Result<ModuleFacts, Error> {
        let here: Vec<&Visit> = visits.iter().filter(|it| it.edits_in(module, map)).collect();
        let mut files: HashMap<&ProjectPath, (u32, u32)> = HashMap::new();
        for visit in &here {
            visit.edited.iter().for_each(|it| files.entry(it).or_default().0 += 1);
            visit.read.iter().for_each(|it| files.entry(it).or_default().1 += 1);
        }
        let mut files: Vec<(String, u32, u32)> =
            files.into_iter().map(|(path, n)| (path.to_string(), n.0, n.1)).collect();
        files.sort_by(|a, b| (b.1 + b.2).cmp(&(a.1 + a.2)).then_with(|| a.0.cmp(&b.0)));
        files.truncate(SHOWN);
        let (mut tasks, mut errors) = (Vec::new(), Vec::new());
        for visit in here.iter().rev().take(SHOWN) {
            let task = store.session(visit.session).await?.map(|it| it.task);
            tasks.extend(task.filter(|it| !it.is_empty()));
            for row in store.sightings_in(visit.session).await? {
                let seen = observe::Evidence::read(&row.evidence);
                if row.signal == SignalKind::ErrorRetry && !row.tainted && errors.len() < SHOWN {
                    errors.push(admit::masked(&seen.told(), MAX_TASK));
                }
            }
        }
        let sessions = u32::try_from(here.len()).unwrap_or(u32::MAX);
        Ok(ModuleFacts { module: module.to_owned(), sessions, files, tasks, errors })
    }
}

fn add(acc: &mut BTreeMap<SessionId, Visit>, session: SessionId, file: &TouchedRow) {
    let empty = || Visit { session, read: Vec::new(), edited: Vec::new() };
    let visit = acc.entry(session).or_insert_with(empty);
    if file.edits > 0 { &mut visit.edited } else { &mut visit.read }.push(file.path.clone());
}

/// How many sessions changed each module, at most: of several folders, one may have changed more than one.
async fn at_most(store: &Store, modules: &[&str], map: &Modules) -> Result<Vec<u32>, Error> {
    let mut acc = Vec::new();
    for module in modules {
        let folders = map.folders(module).chain([*module]).map(str::to_owned).collect();
        acc.push(store.editors_in(folders).await?.iter().sum());
    }
    Ok(acc)
}

fn milestone(what: &str, mark: i64) -> Milestone {
    Milestone { what: what.to_owned(), mark }
}

/// The modules between which a dependency is known, by what its ends are or lie in.
async fn coupled(store: &Store, map: &Modules) -> Result<Vec<(String, String)>, Error> {
    let kind = Some(Kind::CausalDependency.slug().to_owned());
    let known = store.list(Filter { kind, ..Filter::standing(COMPARED) }).await?;
    let module = |end: &str| {
        let is_file = model::words::extension(end).is_some();
        if is_file { map.of(end).to_owned() } else { end.to_owned() }
    };
    let ends = known.iter().filter_map(|it| match &it.payload {
        Some(Payload::CausalDependency(it)) => Some((module(&it.from), module(&it.to))),
        _ => None,
    });
    Ok(ends.collect())
}

/// A synthesis of before, with today's numbers. What a person has looked at stays as it is, and what one
/// session after the other brings up to date is not ours.
fn retold(old: &Memory, fresh: Memory) -> Option<Change> {
    if !is_ours(old) || old.content == fresh.content {
        return None;
    }
    let (content, summary, citation) = (fresh.content, fresh.summary, fresh.citation);
    let (payload, files, updated_at) = (fresh.payload, fresh.files, fresh.updated_at);
    let provenance = fresh.provenance;
    let told = Memory {
        content,
        summary,
        citation,
        payload,
        files,
        provenance,
        updated_at,
        ..old.clone()
    };
    Some(Change::Replace(Box::new(told)))
}

/// Takes back what was said of a module at an earlier milestone and no longer holds.
async fn refuted(
    store: &Store,
    session: &Session,
    module: &str,
    drafts: &[Draft],
    map: &Modules,
) -> Result<Vec<Change>, Error> {
    // What was said of a folder is said of the module that it is part of.
    let is_here = |it: &str| it == module || map.folders(module).any(|folder| folder == it);
    let tagged = Filter { tag: Some(TAG.to_owned()), ..Filter::standing(COMPARED) };
    let mut acc = Vec::new();
    for memory in store.list(tagged).await? {
        let of_module = match &memory.payload {
            Some(Payload::CausalDependency(it)) => {
                is_here(&it.from) && model::words::extension(&it.to).is_some()
            }
            Some(Payload::PrefetchPattern(it)) => it.trigger_module.as_deref().is_some_and(is_here),
            _ => false,
        };
        let holds =
            drafts.iter().any(|it| says_the_same(memory.payload.as_ref(), it.payload.as_ref()));
        if of_module && !holds && is_ours(&memory) {
            acc.push(super::refresh::retired(memory, session.ended));
        }
    }
    Ok(acc)
}

/// Whether a memory was synthesised and nobody has vouched for it since.
fn is_ours(memory: &Memory) -> bool {
    memory.tags.iter().any(|it| it == TAG) && !memory.flags.user_verified
}

/// Whether two payloads are about the same thing: then numbers are all that differs.
fn says_the_same(a: Option<&Payload>, b: Option<&Payload>) -> bool {
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

/// What an answer says about a module, as a draft.
fn draft_of(module: &str, insight: Insight) -> Draft {
    let kind = MemoryType::from_slug(&insight.kind);
    let files = insight.files.iter().filter_map(|it| ProjectPath::parse(it).ok());
    Draft {
        kind: kind.unwrap_or(MemoryType::Core(Kind::ModuleInsight)),
        content: insight.text,
        files: files.collect(),
        modules: vec![module.to_owned()],
        tags: Vec::new(),
        payload: None,
        sessions: Vec::new(),
    }
}

/// The session a weekly look is booked under: the last that was learned.
fn observed(row: SessionRow) -> Session {
    Session {
        id: row.id,
        parent: row.parent,
        agent: row.agent,
        kind: row.kind,
        task: row.task,
        started: row.started,
        ended: row.ended,
        steps: row.steps,
        planned: row.planned,
        tokens: row.tokens,
        retries: row.retries,
        outcome: row.outcome,
        validated: row.validated,
        said: Vec::new(),
        subtasks: Vec::new(),
        external: None,
        files: Vec::new(),
    }
}
