//! Facts about files: how each was used, and which were touched or edited together.
//!
//! The input is the scratchpad, the log of one session. A touch is one read or write of one file by one
//! call. Every function goes over the touches of successful calls, in the order of the session. Example:
//! `read a.rs`, `edit b.rs`, `read a.rs` → `a.rs` has two reads, `b.rs` one edit; the two are a pair.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::Scratchpad;
use crate::strings::StringId;

/// Earlier touches with which a touch is paired.
const CO_ACCESS_WINDOW_TOUCHES: usize = 5;
/// A session that edited more files is a sweep over the project, whose pairs mean nothing.
const MAX_EDITED_FILES: usize = 15;

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
