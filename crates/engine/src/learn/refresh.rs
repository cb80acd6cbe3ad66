//! Couplings are shares of sessions: one that edits only one file of a pair changes the share, too.

use model::{DropReason, Memory, MemoryId, Timestamp};
use observe::{Evidence, Modules, Seen, Session, Support};
use promote::Verdict;
use store::{Change, Store};

use super::compose::{Prepared, Reviewed};
use super::{holding, stands};
use crate::{Engine, Error};

/// Why a pattern was retired; later sessions may bring it back.
const RETIRED: &str = "superseded by later sessions, which did otherwise";

/// Whether a memory was retired here, not by a person.
pub(super) fn is_retired(memory: &Memory) -> bool {
    memory.states.deleted_at.is_none()
        && memory.states.deprecated_reason.as_deref() == Some(RETIRED)
}

/// Retires the memory of a pattern of which all sessions together no longer say anything.
pub(super) async fn retire(
    store: &Store,
    session: &Session,
    prepared: &Prepared,
    verdict: &Verdict,
) -> Result<Vec<Change>, Error> {
    let silent = matches!(verdict, Verdict::Dropped { why: DropReason::SaysNothing, .. });
    let Some(id) = prepared.memory.filter(|_| silent && !prepared.sighting.signal.row().textual)
    else {
        return Ok(Vec::new());
    };
    let memory = store.get(id).await?.filter(|it| stands(it) && !it.flags.user_verified);
    Ok(memory.map(|it| retired(it, session.ended)).into_iter().collect())
}

/// Retires memories whose pattern is part of another now, unless a person stands behind them.
pub(super) async fn overtaken(
    store: &Store,
    session: &Session,
    ids: &[MemoryId],
) -> Result<Vec<Change>, Error> {
    let mut acc = Vec::new();
    for id in ids {
        let memory = store.get(*id).await?.filter(|it| stands(it) && !it.flags.user_verified);
        acc.extend(memory.map(|it| retired(it, session.ended)));
    }
    Ok(acc)
}

pub(super) fn retired(mut memory: Memory, at: Timestamp) -> Change {
    memory.states.deprecated_at = Some(at);
    memory.states.deprecated_reason = Some(RETIRED.to_owned());
    memory.updated_at = memory.updated_at.max(at);
    Change::Replace(Box::new(memory))
}

impl Engine {
    /// Tells anew the couplings whose files this session edited without seeing the pair; what no longer
    /// holds is retired.
    pub(super) async fn refresh(
        &self,
        store: &Store,
        session: &Session,
        reviewed: &[Reviewed],
        modules: &Modules,
    ) -> Result<Vec<Change>, Error> {
        let edited =
            |it: &str| session.files.iter().any(|file| file.edits > 0 && file.path.as_str() == it);
        let mut touched = store.coupled().await?;
        touched.retain(|(key, _)| {
            let seen = reviewed.iter().any(|it| it.prepared.sighting.key == *key);
            !seen && key.split('|').any(edited)
        });
        if touched.is_empty() || session.validated.is_none() {
            return Ok(Vec::new());
        }
        let holding = holding(store.sessions().await?);
        let mut acc = Vec::new();
        for (key, id) in touched {
            let Some(memory) =
                store.get(id).await?.filter(|it| stands(it) && !it.flags.user_verified)
            else {
                continue;
            };
            let rows = store.sightings_of(vec![(model::SignalKind::CoAccess, key.clone())]).await?;
            let mut seen: Vec<Seen> = Vec::new();
            for row in rows.iter().filter(|it| it.session != session.id) {
                if let Some(of) = holding.get(&row.session) {
                    let evidence = Evidence::read(&row.evidence);
                    seen.push(Seen { session: row.session, at: of.ended, n: row.times, evidence });
                }
            }
            seen.sort_by_key(|it| (it.at, it.session));
            let Some(last) = seen.last() else { continue };
            let files = last.evidence.files.clone();
            let known = holding.contains_key(&session.id);
            let (counts, all) = store.editors(files.clone()).await?;
            let count = |nth: usize| {
                let now = !known && files.get(nth).is_some_and(|it| edited(it.as_str()));
                counts.get(nth).copied().unwrap_or(0) + u32::from(now)
            };
            let support = Support { first: count(0), second: count(1), all, module: 0 };
            let draft = observe::draft(model::SignalKind::CoAccess, &key, &seen, support, modules);
            let mut after: Memory = memory.clone();
            if let Some(draft) = draft {
                after.summary = promote::summary(&draft.content, &draft.kind);
                after.citation = promote::citation(&draft.content);
                (after.content, after.payload) = (draft.content, draft.payload);
            } else {
                after.states.deprecated_at = Some(session.ended);
                after.states.deprecated_reason = Some(RETIRED.to_owned());
            }
            if after != memory {
                after.updated_at = after.updated_at.max(session.ended);
                acc.push(Change::Replace(Box::new(after)));
            }
        }
        Ok(acc)
    }
}
