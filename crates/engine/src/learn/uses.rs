//! Learning from use: what a session was shown and acted on, or named as what it relied on, becomes surer.

use std::collections::BTreeSet;

use model::{Memory, MemoryId, PerMille, Timestamp};
use observe::Scratchpad;
use store::{Change, DataDir, ShownLog, Store};

use super::stands;
use crate::{Engine, Error};

/// Every so many uses make surer, by this much, up to there.
const USES: u64 = 5;
const SURER: u16 = 50;
const SUREST: PerMille = PerMille::new(950);
/// After so many uses nobody need look at it any more.
const PROVEN: u64 = 10;

/// Keeps in the list of what was shown when it was.
pub(crate) fn stamped(id: MemoryId, at: Timestamp) -> String {
    format!("{id} at {}", at.0)
}

pub(crate) fn read_stamp(word: &str) -> Option<(MemoryId, Timestamp)> {
    let (id, at) = word.split_once(" at ")?;
    Some((id.parse().ok()?, Timestamp(at.parse().ok()?)))
}

/// The name under which is kept what a session heard: the host's, or its own.
pub(super) fn heard_as(pad: &Scratchpad) -> Option<String> {
    pad.host_session.clone().or_else(|| Some(pad.session?.to_string()))
}

impl Engine {
    /// The memories of the project that a session used.
    pub(super) async fn used(&self, store: &Store, pad: &Scratchpad) -> Result<Vec<Memory>, Error> {
        let mut used: BTreeSet<MemoryId> = BTreeSet::new();
        if let Some(name) = heard_as(pad) {
            let shown = ShownLog::of(&DataDir::new(&self.config.data), &name).read();
            for (id, at) in shown.iter().filter_map(|it| read_stamp(it)) {
                let memory = store.get(id).await?;
                if memory.is_some_and(|it| observe::followed(pad, &it, at)) {
                    used.insert(id);
                }
            }
        }
        for id in &pad.cited {
            let named = store.by_short(id.clone()).await?;
            // What several memories share names none of them.
            if let [memory] = named.as_slice() {
                used.insert(memory.id);
            }
        }
        let mut acc = Vec::new();
        for id in used {
            let memory = store.get(id).await?.filter(stands);
            // Once a session: one that has grown was counted before.
            let fresh =
                |it: &Memory| it.counters.last_used_at.is_none_or(|at| Some(at) < pad.started);
            acc.extend(memory.filter(fresh));
        }
        Ok(acc)
    }
}

/// Counts the uses, and raises what has been used often enough. A memory that changes anyway is raised
/// in that change.
pub(super) fn count(changes: &mut Vec<Change>, used: Vec<Memory>) {
    for memory in used {
        let raised = raised(&memory, memory.counters.used_count + 1);
        let waiting = changes.iter_mut().find_map(|it| match it {
            Change::Replace(it) if it.id == memory.id => Some(it),
            _ => None,
        });
        match (raised, waiting) {
            (Some(raised), Some(waiting)) => {
                waiting.confidence = waiting.confidence.max(raised.confidence);
                waiting.flags.needs_review &= raised.flags.needs_review;
            }
            (Some(raised), None) => changes.push(Change::Replace(Box::new(raised))),
            (None, _) => {}
        }
        changes.push(Change::Count { id: memory.id, used: true });
    }
}

/// The memory as so many uses leave it, if they change it. What came from outside is a person's to lift.
fn raised(memory: &Memory, n_uses: u64) -> Option<Memory> {
    let mut res = memory.clone();
    if n_uses.is_multiple_of(USES) && res.confidence < SUREST {
        res.confidence = res.confidence.plus(SURER).at_most(SUREST);
    }
    if n_uses >= PROVEN && !res.flags.tainted {
        res.flags.needs_review = false;
    }
    (res != *memory).then_some(res)
}
