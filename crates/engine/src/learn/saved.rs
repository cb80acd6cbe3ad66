//! What being told spared a session: errors that it ended sooner than the sessions that found out how, or
//! never met, in calls of tools. Counted when it is learned from; what is not seen is not counted.

use std::collections::{BTreeMap, HashSet};

use model::{Payload, SessionId, SignalKind, Timestamp};
use observe::{Evidence, Scratchpad};
use store::{Milestone, SessionRow, Store};

use super::uses::{heard_as, read_stamp};
use crate::{Engine, Error};

/// Keeps among what a session heard that it was told what ends an error, and when.
pub(crate) const FIX: &str = "fix ";
/// How it is kept in the notebook what a session was spared.
const SAVED: &str = "saved ";

/// What sessions were spared by what they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Errors that were ended with what was told, or avoided.
    pub errors: u64,
    /// Calls of tools fewer than the shortest way that a session found by itself.
    pub calls: u64,
    /// What a step costs here on average, in tokens, as far as hosts say so; `None` when none does.
    pub tokens_per_step: Option<u64>,
}

impl Saved {
    /// An estimate: what so many calls would have cost.
    pub fn tokens(&self) -> Option<u64> {
        self.tokens_per_step.map(|it| it.saturating_mul(self.calls))
    }
}

pub(crate) fn stamped_fix(fingerprint: &str, at: Timestamp) -> String {
    format!("{FIX}{fingerprint} {}", at.0)
}

fn read_fix(word: &str) -> Option<(&str, Timestamp)> {
    let (fingerprint, at) = word.strip_prefix(FIX)?.rsplit_once(' ')?;
    Some((fingerprint, Timestamp(at.parse().ok()?)))
}

impl Engine {
    /// What a session was spared, one milestone an error.
    pub(super) async fn spared(
        &self,
        store: &Store,
        pad: &Scratchpad,
    ) -> Result<Vec<Milestone>, Error> {
        let (Some(session), Some(name)) = (pad.session, heard_as(pad)) else {
            return Ok(Vec::new());
        };
        let words = self.shown_log(&name).read();
        let known = store.milestones().await?;
        let known: HashSet<&str> = known.iter().map(|it| it.what.as_str()).collect();
        let mut spared: BTreeMap<String, u32> = BTreeMap::new();
        for (fingerprint, at) in words.iter().filter_map(|it| read_fix(it)) {
            let Some(calls) = observe::ended_after(pad, fingerprint, at) else { continue };
            if let Some(before) = shortest(store, session, fingerprint, &known).await? {
                spared.insert(fingerprint.to_owned(), before.saturating_sub(calls));
            }
        }
        for (id, at) in words.iter().filter_map(|it| read_stamp(it)) {
            let Some(memory) = store.get(id).await? else { continue };
            let Some(Payload::ErrorPattern(it)) = &memory.payload else { continue };
            if observe::avoided(pad, &memory, &it.fingerprint, at)
                && let Some(before) = shortest(store, session, &it.fingerprint, &known).await?
            {
                spared.insert(it.fingerprint.clone(), before);
            }
        }
        let passed = |(fingerprint, calls): (String, u32)| Milestone {
            what: name_of(session, &fingerprint),
            mark: i64::from(calls),
        };
        Ok(spared.into_iter().map(passed).collect())
    }
}

/// Calls that the quickest session needed which found by itself what ends an error; those that are known
/// to have been spared some did not.
async fn shortest(
    store: &Store,
    session: SessionId,
    fingerprint: &str,
    known: &HashSet<&str>,
) -> Result<Option<u32>, Error> {
    let pattern = (SignalKind::ErrorRetry, fingerprint.to_owned());
    let rows = store.sightings_of(vec![pattern]).await?;
    let alone = rows.iter().filter(|it| {
        it.session != session && !known.contains(name_of(it.session, fingerprint).as_str())
    });
    let calls = alone.map(|it| Evidence::read(&it.evidence).number).filter(|it| *it > 0);
    Ok(calls.min().and_then(|it| u32::try_from(it).ok()))
}

fn name_of(session: SessionId, fingerprint: &str) -> String {
    format!("{SAVED}{session} {fingerprint}")
}

/// What all sessions of a notebook were spared. An error counts once a session, however often that was
/// learned from.
pub(crate) fn saved(milestones: &[Milestone], sessions: &[SessionRow]) -> Saved {
    let mut spared: BTreeMap<&str, i64> = BTreeMap::new();
    for it in milestones.iter().filter(|it| it.what.starts_with(SAVED)) {
        let most = spared.entry(&it.what).or_default();
        *most = (*most).max(it.mark);
    }
    let measured = sessions.iter().filter(|it| it.tokens > 0 && it.steps > 0);
    let (tokens, steps) =
        measured.fold((0_u64, 0_u64), |acc, it| (acc.0 + it.tokens, acc.1 + u64::from(it.steps)));
    Saved {
        errors: spared.len() as u64,
        calls: spared.values().map(|it| it.unsigned_abs()).sum(),
        tokens_per_step: tokens.checked_div(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_once_a_session() {
        let passed = |what: &str, mark| Milestone { what: what.to_owned(), mark };
        let all = [
            passed("saved s1 aa", 2),
            passed("saved s1 aa", 3),
            passed("saved s2 aa", 0),
            passed("group full s1", 0),
        ];
        let res = saved(&all, &[]);
        assert_eq!((res.errors, res.calls, res.tokens()), (2, 3, None));
    }

    #[test]
    fn what_was_told_at_an_error_is_read_back() {
        assert_eq!(read_fix(&stamped_fix("a b", Timestamp(7))), Some(("a b", Timestamp(7))));
        assert_eq!(read_fix("outlook"), None);
    }
}
