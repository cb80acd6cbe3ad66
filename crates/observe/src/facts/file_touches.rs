//! Facts about files: touched together, read again, read before an edit, never edited.
//!
//! The input is the scratchpad, the log of one session. A touch is one read or write of one file by one
//! call. Every function goes over the touches of successful calls, in the order of the session. Example:
//! `read a.rs`, `edit b.rs`, `read a.rs` → `a.rs` has two reads, `b.rs` one edit; the two are a pair.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::Scratchpad;
use crate::strings::StringId;

/// Earlier touches with which a touch is paired.
const CO_ACCESS_WINDOW_TOUCHES: usize = 5;
/// Reads from which a file counts as reread.
const MIN_REREADS: u32 = 3;
/// A session that edited more files is a sweep over the project, whose pairs mean nothing.
const MAX_EDITED_FILES: usize = 15;
/// Churn is this many edits of one file within this many calls.
const CHURN_EDITS: usize = 4;
const CHURN_WINDOW_CALLS: u32 = 12;
/// Calls after a compaction within which a read counts as caused by it.
const COMPACTION_WINDOW_CALLS: u32 = 30;

/// Use of one file in a session. Calls are given by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    pub n_reads: u32,
    pub n_edits: u32,
    pub first_call: u32,
    pub last_call: u32,
    pub first_read: Option<u32>,
    pub first_edit: Option<u32>,
    /// Bytes of all reads together.
    pub bytes_read: u64,
}

/// The use of each file.
pub fn file_uses(pad: &Scratchpad) -> BTreeMap<StringId, FileUse> {
    let mut acc: BTreeMap<StringId, FileUse> = BTreeMap::new();
    for touch in pad.successful_touches() {
        let file_use = acc
            .entry(touch.file)
            .or_insert(FileUse { first_call: touch.call, ..FileUse::default() });
        file_use.last_call = touch.call;
        if touch.is_write {
            file_use.n_edits += 1;
            file_use.first_edit = file_use.first_edit.or(Some(touch.call));
        } else {
            // Only reads bring the content of a file into the context.
            file_use.n_reads += 1;
            file_use.first_read = file_use.first_read.or(Some(touch.call));
            file_use.bytes_read += u64::from(pad.calls[touch.call as usize].output_bytes);
        }
    }
    acc
}

/// Pairs of files that were touched within a few touches of each other, with their counts. The file
/// touched first comes first, so that a pair can occur in both orders.
pub fn co_accessed(pad: &Scratchpad) -> BTreeMap<(StringId, StringId), u32> {
    let mut acc = BTreeMap::new();
    let mut recent: Vec<StringId> = Vec::new();
    for touch in pad.successful_touches() {
        // A file that is touched twice in the window makes one pair.
        let mut paired = HashSet::new();
        for earlier in recent.iter().filter(|it| **it != touch.file) {
            if paired.insert(*earlier) {
                *acc.entry((*earlier, touch.file)).or_insert(0) += 1;
            }
        }
        recent.push(touch.file);
        if recent.len() > CO_ACCESS_WINDOW_TOUCHES {
            recent.remove(0);
        }
    }
    acc
}

/// Pairs of files edited in the session; none if it edited too many files.
pub fn co_edited(pad: &Scratchpad) -> Vec<(StringId, StringId)> {
    // A set, so that each pair occurs once.
    let edited: BTreeSet<StringId> =
        pad.successful_touches().filter(|it| it.is_write).map(|it| it.file).collect();
    if edited.len() > MAX_EDITED_FILES {
        return Vec::new();
    }
    let edited: Vec<StringId> = edited.into_iter().collect();
    let mut acc = Vec::new();
    for (nth, first) in edited.iter().enumerate() {
        acc.extend(edited[nth + 1..].iter().map(|second| (*first, *second)));
    }
    acc
}

/// Files whose first read came before their first edit.
pub fn read_then_edited(pad: &Scratchpad) -> Vec<StringId> {
    let is_read_first = |it: &FileUse| match (it.first_read, it.first_edit) {
        (Some(read), Some(edit)) => read < edit,
        // Only read, or only edited.
        _ => false,
    };
    files_where(&file_uses(pad), is_read_first)
}

/// The files whose use matches.
fn files_where(
    uses: &BTreeMap<StringId, FileUse>,
    matches: impl Fn(&FileUse) -> bool,
) -> Vec<StringId> {
    uses.iter().filter(|(_, file_use)| matches(file_use)).map(|(file, _)| *file).collect()
}

/// Files read once and never edited, in a session that edited something. The signal `read_abandon` is
/// about other files: those read at least twice.
pub fn read_abandoned(pad: &Scratchpad) -> Vec<StringId> {
    let uses = file_uses(pad);
    // A session that edits nothing abandons nothing.
    if !uses.values().any(|it| it.n_edits > 0) {
        return Vec::new();
    }
    files_where(&uses, |it| it.n_reads == 1 && it.n_edits == 0)
}

/// Files read three times or more.
pub fn reread_files(pad: &Scratchpad) -> Vec<StringId> {
    files_where(&file_uses(pad), |it| it.n_reads >= MIN_REREADS)
}

/// Files edited four times within twelve calls.
pub fn churned_files(pad: &Scratchpad) -> Vec<StringId> {
    let mut edits: HashMap<StringId, Vec<u32>> = HashMap::new();
    for touch in pad.successful_touches().filter(|it| it.is_write) {
        edits.entry(touch.file).or_default().push(touch.call);
    }
    let mut files = Vec::new();
    for (file, calls) in edits {
        // Each run of four successive edits, by the numbers of its first and last call.
        let mut runs = calls.windows(CHURN_EDITS).map(|it| (it[0], it[CHURN_EDITS - 1]));
        if runs.any(|(first, last)| last - first < CHURN_WINDOW_CALLS) {
            files.push(file);
        }
    }
    // A hash map has no order; the result must be the same in every run.
    files.sort();
    files
}

/// Files read before a compaction and again soon after it.
pub fn reread_after_compaction(pad: &Scratchpad) -> Vec<StringId> {
    let mut acc = BTreeSet::new();
    let reads = || pad.successful_touches().filter(|it| !it.is_write);
    // A compaction is given by the first call after it.
    for first_call in &pad.compactions {
        let before: HashSet<StringId> =
            reads().filter(|it| it.call < *first_call).map(|it| it.file).collect();
        let soon_after = *first_call..first_call + COMPACTION_WINDOW_CALLS;
        let reread = reads().filter(|it| soon_after.contains(&it.call)).map(|it| it.file);
        acc.extend(reread.filter(|it| before.contains(it)));
    }
    acc.into_iter().collect()
}

/// Files with an edit that was reverted.
pub fn files_with_reverted_edits(pad: &Scratchpad) -> Vec<StringId> {
    let has_succeeded = |call: u32| pad.calls[call as usize].state == crate::CallState::Ok;
    let mut files: Vec<StringId> =
        pad.reverted_edits.iter().filter(|it| has_succeeded(it.call)).map(|it| it.file).collect();
    files.sort();
    files.dedup();
    files
}
