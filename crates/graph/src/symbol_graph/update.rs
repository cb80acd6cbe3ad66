//! The types of an update of the symbol graph, and the parallel resolution of the affected files.
//!
//! An update is first staged: the facts of the changed files (definitions, imports, references) are
//! replaced. A *lookup key* is the hash of a lookup such as "the file at the path `b.ts`"; every
//! file has recorded the keys of its lookups, so the keys that changed lead to the affected files.
//! These are then *resolved*: their references are matched with definitions, which gives their
//! edges.
//!
//! ```text
//! staged      Put b.ts (new)         changed key: the path `b.ts`
//! affected    b.ts itself; a.ts, which looked that path up before
//! update      resolved: a.ts, b.ts
//! ```

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::facts::FileFacts;
use crate::file_index::{FileIndex, LookupKey};
use crate::ids::FileId;
use crate::resolve::{self, EncodedFileEdges};

/// A change of one file.
#[expect(clippy::large_enum_variant, reason = "nearly all changes are the large variant")]
#[derive(Debug)]
pub enum GraphChange {
    /// The file is new or its content changed.
    Put {
        path: String,
        facts: FileFacts,
    },
    Removed {
        path: String,
    },
}

/// The files that an update touched, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphUpdate {
    /// Files whose edges were computed again.
    pub resolved: Vec<FileId>,
    /// Ids that no longer belong to a file.
    pub removed: Vec<FileId>,
}

/// Staged changes whose affected files have not been resolved yet.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// Lookups whose result may have changed.
    pub(super) changed_keys: Vec<LookupKey>,
    /// Files that changed themselves.
    pub(super) unresolved: BTreeSet<FileId>,
    pub(super) removed: BTreeSet<FileId>,
}

/// Batches below this size are resolved on the calling thread: starting threads would take longer.
const MIN_PARALLEL_FILES: usize = 8;

/// Resolves files, in no particular order.
pub(super) fn resolve_files(
    index: &FileIndex,
    files: &[FileId],
    threads: usize,
) -> Vec<(FileId, EncodedFileEdges)> {
    let next_position = AtomicUsize::new(0);
    // Each worker takes the next file when it is free: the costs of files differ too much for equal
    // shares.
    let work = || {
        let mut resolved = Vec::new();
        while let Some(id) = files.get(next_position.fetch_add(1, Ordering::Relaxed)) {
            resolved.push((*id, EncodedFileEdges::encode(&resolve::resolve_file(index, *id))));
        }
        resolved
    };
    if threads <= 1 || files.len() < MIN_PARALLEL_FILES {
        return work();
    }
    std::thread::scope(|scope| {
        // All are started before the first is awaited.
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut resolved = Vec::with_capacity(files.len());
        for worker in workers {
            match worker.join() {
                Ok(part) => resolved.extend(part),
                // A panic of a worker goes on in the caller.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        resolved
    })
}
