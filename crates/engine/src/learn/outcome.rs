//! What became of a planned piece of work: one memory a unit, brought up to date by every session on it.
//!
//! Sessions without a unit leave no such memory: what they did is in the index across sessions, and a
//! line about each of them would be read by nobody.

use model::{
    Kind, Memory, MemoryType, Outcome, Payload, PerMille, ProjectPath, Scope, SignalKind, WorkUnit,
    WorkUnitOutcome,
};
use observe::{Draft, Modules, Scratchpad, Session};
use promote::Verdict;
use store::{Change, Filter, Store};

use super::compose::memory_of;
use super::{admit, stands};
use crate::{Engine, Error};

/// How sure a result is that the host or the checks spoke for.
const SURE: PerMille = PerMille::new(850);
/// Files that are named, and units that are looked through.
const NAMED: usize = 6;
const UNITS: u32 = 1_000;

/// A unit of work as one session left it.
pub(super) struct Unit {
    named: WorkUnit,
    decisions: Vec<String>,
    /// The last thing that failed.
    trouble: Option<String>,
}

impl Unit {
    /// `None` where the host named no unit.
    pub(super) fn of(pad: &Scratchpad) -> Option<Self> {
        let is_decision = |it: &MemoryType| it.core() == Some(Kind::Decision);
        let notes = pad.notes.iter().map(|it| &it.1).filter(|it| is_decision(&it.kind));
        Some(Self {
            named: pad.work_unit.clone()?,
            decisions: notes.map(|it| admit::masked(&it.content, 200)).collect(),
            trouble: pad.failures.last().map(|it| admit::masked(&it.shown, 200)),
        })
    }
}

impl Engine {
    /// The change that keeps how a unit stands. Work that is neither done nor failed says nothing yet.
    pub(super) async fn conclude(
        &self,
        store: &Store,
        session: &Session,
        unit: Unit,
        modules: &Modules,
    ) -> Result<Option<Change>, Error> {
        let succeeded = match (session.outcome, session.validated) {
            (Outcome::Failure, _) => false,
            (_, Some(_)) => true,
            _ => return Ok(None),
        };
        let draft = draft(session, &unit, succeeded, modules);
        let (needs_review, tainted) = (false, false);
        let verdict = Verdict::Keep { confidence: SURE, score: SURE, needs_review, tainted };
        let made = memory_of(self, session, draft, SignalKind::Recorded, &verdict);
        let Some(mut fresh) = made else { return Ok(None) };
        fresh.created_by = model::Actor::Observer;
        fresh.source = model::Source::ObserverInferred;
        fresh.scope = Scope::WorkUnit;
        fresh.work_unit = Some(unit.named);
        let kind = Some(Kind::WorkUnitOutcome.slug().to_owned());
        let known = store.list(Filter { kind, ..Filter::standing(UNITS) }).await?;
        let Some(old) = known.into_iter().find(|it| it.work_unit == fresh.work_unit && stands(it))
        else {
            return Ok(Some(Change::Insert(Box::new(fresh))));
        };
        Ok(newer(old, fresh).map(|it| Change::Replace(Box::new(it))))
    }
}

/// The result with what a later session says; an older one, learned late, changes nothing.
fn newer(old: Memory, fresh: Memory) -> Option<Memory> {
    if fresh.updated_at < old.updated_at || old.content == fresh.content {
        return None;
    }
    let mut provenance = old.provenance.clone();
    provenance.extend(fresh.provenance.iter().filter(|it| !old.provenance.contains(it)));
    Some(Memory {
        content: fresh.content,
        summary: fresh.summary,
        citation: fresh.citation,
        payload: fresh.payload,
        files: fresh.files,
        modules: fresh.modules,
        updated_at: fresh.updated_at,
        provenance,
        ..old
    })
}

fn draft(session: &Session, unit: &Unit, succeeded: bool, map: &Modules) -> Draft {
    let edited: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    let named: Vec<String> = edited.iter().take(NAMED).map(|it| format!("`{it}`")).collect();
    let files = if named.is_empty() { "no file".to_owned() } else { named.join(", ") };
    let label = admit::masked(&unit.named.label, 120);
    let trouble = unit.trouble.clone().filter(|_| !succeeded);
    let mut content = if succeeded {
        format!("{label} is done: it changed {files}.")
    } else {
        let why = trouble.as_ref().map(|it| format!(" The last that failed: “{it}”."));
        format!("{label} was tried and failed after changing {files}.{}", why.unwrap_or_default())
    };
    for decision in &unit.decisions {
        content.push(' ');
        content.push_str(decision);
    }
    let payload = Payload::WorkUnitOutcome(WorkUnitOutcome {
        succeeded,
        files_modified: edited.clone(),
        decisions: unit.decisions.clone(),
        steps: session.steps,
        tokens: session.tokens,
        retries: session.retries,
        failure_reason: trouble,
    });
    let mut modules: Vec<String> = edited.iter().map(|it| map.of(it.as_str()).to_owned()).collect();
    modules.retain(|it| !it.is_empty());
    modules.dedup();
    modules.truncate(4);
    Draft {
        kind: MemoryType::Core(Kind::WorkUnitOutcome),
        content,
        files: edited,
        modules,
        tags: Vec::new(),
        payload: Some(payload),
        sessions: Vec::new(),
    }
}
