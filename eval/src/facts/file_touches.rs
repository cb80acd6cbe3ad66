//! Facts about files: read again, read before an edit, never edited, edited again and again.
//!
//! A touch is one read or write of one file by one call; only those of successful calls count.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use observe::facts::{FileUse, file_uses};
use observe::{CallState, Scratchpad, StringId};

/// Reads from which a file counts as reread.
const MIN_REREADS: u32 = 3;
/// Churn is this many edits of one file within this many calls.
const CHURN_EDITS: usize = 4;
const CHURN_WINDOW_CALLS: u32 = 12;
/// Calls after a compaction within which a read counts as caused by it.
const COMPACTION_WINDOW_CALLS: u32 = 30;

/// Files whose first read came before their first edit.
pub(crate) fn read_then_edited(pad: &Scratchpad) -> Vec<StringId> {
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
pub(crate) fn read_abandoned(pad: &Scratchpad) -> Vec<StringId> {
    let uses = file_uses(pad);
    // A session that edits nothing abandons nothing.
    if !uses.values().any(|it| it.n_edits > 0) {
        return Vec::new();
    }
    files_where(&uses, |it| it.n_reads == 1 && it.n_edits == 0)
}

/// Files read three times or more.
pub(crate) fn reread_files(pad: &Scratchpad) -> Vec<StringId> {
    files_where(&file_uses(pad), |it| it.n_reads >= MIN_REREADS)
}

/// Files edited four times within twelve calls.
pub(crate) fn churned_files(pad: &Scratchpad) -> Vec<StringId> {
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
pub(crate) fn reread_after_compaction(pad: &Scratchpad) -> Vec<StringId> {
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
pub(crate) fn files_with_reverted_edits(pad: &Scratchpad) -> Vec<StringId> {
    let has_succeeded = |call: u32| pad.calls[call as usize].state == CallState::Ok;
    let mut files: Vec<StringId> =
        pad.reverted_edits.iter().filter(|it| has_succeeded(it.call)).map(|it| it.file).collect();
    files.sort();
    files.dedup();
    files
}
