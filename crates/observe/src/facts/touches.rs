//! Facts about files: together, again, before, never.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::Scratchpad;
use crate::names::Name;

/// Touches that count as together.
const WINDOW: usize = 5;
/// A session that edits more files than this is a sweep; its pairs say nothing.
const MAX_EDITED: usize = 15;
/// How many edits within how many calls are churn.
const CHURN: (usize, u32) = (4, 12);
/// How many calls after a compaction a file counts as read because of it.
const AFTER_COMPACTION: u32 = 30;

/// What a session did to one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    pub n_reads: u32,
    pub n_edits: u32,
    pub first_call: u32,
    pub last_call: u32,
    pub first_read: Option<u32>,
    pub first_edit: Option<u32>,
    /// Bytes that were read of it.
    pub bytes: u64,
}

/// What was done to each file, by name.
pub fn file_uses(pad: &Scratchpad) -> BTreeMap<Name, FileUse> {
    let mut acc: BTreeMap<Name, FileUse> = BTreeMap::new();
    for touch in pad.good_touches() {
        let it = acc
            .entry(touch.file)
            .or_insert(FileUse { first_call: touch.call, ..FileUse::default() });
        it.last_call = touch.call;
        if touch.writes {
            it.n_edits += 1;
            it.first_edit = it.first_edit.or(Some(touch.call));
        } else {
            it.n_reads += 1;
            it.first_read = it.first_read.or(Some(touch.call));
            it.bytes += u64::from(pad.calls[touch.call as usize].size);
        }
    }
    acc
}

/// Pairs touched within five consecutive touches; the one touched first stands first, with how often.
pub fn co_accessed(pad: &Scratchpad) -> BTreeMap<(Name, Name), u32> {
    let mut acc = BTreeMap::new();
    let mut recent: Vec<Name> = Vec::new();
    for touch in pad.good_touches() {
        let mut seen = HashSet::new();
        for earlier in recent.iter().filter(|it| **it != touch.file) {
            if seen.insert(*earlier) {
                *acc.entry((*earlier, touch.file)).or_insert(0) += 1;
            }
        }
        recent.push(touch.file);
        if recent.len() > WINDOW {
            recent.remove(0);
        }
    }
    acc
}

/// Pairs edited in one session, unless it edited nearly everything.
pub fn co_edited(pad: &Scratchpad) -> Vec<(Name, Name)> {
    let edited: BTreeSet<Name> =
        pad.good_touches().filter(|it| it.writes).map(|it| it.file).collect();
    if edited.len() > MAX_EDITED {
        return Vec::new();
    }
    let all: Vec<Name> = edited.into_iter().collect();
    let pairs = |at: usize| all[at + 1..].iter().map(|it| (all[at], *it)).collect::<Vec<_>>();
    (0..all.len()).flat_map(pairs).collect()
}

/// Files whose first read came before their first edit.
pub fn read_then_edited(pad: &Scratchpad) -> Vec<Name> {
    let read_first = |it: &FileUse| {
        it.first_read.is_some_and(|read| it.first_edit.is_some_and(|edit| read < edit))
    };
    file_uses(pad).into_iter().filter(|it| read_first(&it.1)).map(|it| it.0).collect()
}

/// Files read once and never edited, in a session that edited something.
pub fn read_abandoned(pad: &Scratchpad) -> Vec<Name> {
    let uses = file_uses(pad);
    if !uses.values().any(|it| it.n_edits > 0) {
        return Vec::new();
    }
    uses.into_iter().filter(|it| it.1.n_reads == 1 && it.1.n_edits == 0).map(|it| it.0).collect()
}

/// Files read three times or more.
pub fn reread(pad: &Scratchpad) -> Vec<Name> {
    file_uses(pad).into_iter().filter(|it| it.1.n_reads >= 3).map(|it| it.0).collect()
}

/// Files edited four times within twelve calls.
pub fn churned(pad: &Scratchpad) -> Vec<Name> {
    let mut edits: HashMap<Name, Vec<u32>> = HashMap::new();
    for touch in pad.good_touches().filter(|it| it.writes) {
        edits.entry(touch.file).or_default().push(touch.call);
    }
    let is_churn = |it: &Vec<u32>| it.windows(CHURN.0).any(|it| it[CHURN.0 - 1] - it[0] < CHURN.1);
    let mut res: Vec<Name> =
        edits.into_iter().filter(|it| is_churn(&it.1)).map(|it| it.0).collect();
    res.sort();
    res
}

/// Files read before a compaction and again soon after it.
pub fn reread_after_compaction(pad: &Scratchpad) -> Vec<Name> {
    let mut res = BTreeSet::new();
    for at in &pad.compactions {
        let reads = || pad.good_touches().filter(|it| !it.writes);
        let before: HashSet<Name> = reads().filter(|it| it.call < *at).map(|it| it.file).collect();
        let after = reads().filter(|it| it.call >= *at && it.call < at + AFTER_COMPACTION);
        res.extend(after.map(|it| it.file).filter(|it| before.contains(it)));
    }
    res.into_iter().collect()
}

/// Files of which an edit was taken back.
pub fn undone(pad: &Scratchpad) -> Vec<Name> {
    let good = |call: u32| pad.calls[call as usize].state == crate::State::Ok;
    let mut res: Vec<Name> =
        pad.undone.iter().filter(|it| good(it.call)).map(|it| it.file).collect();
    res.sort();
    res.dedup();
    res
}
