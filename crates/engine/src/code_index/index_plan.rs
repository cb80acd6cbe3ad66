//! The half of an indexing pass that needs no database: which files have to be parsed, and parsing
//! them.
//!
//! [`plan_pass`] compares the files on disk with the stamps of the index: a file with the same size
//! and modification time is not read. [`parse_pending_files`] reads and parses the rest on several
//! threads; a file whose content hash is unchanged is only restamped. `live_index.rs` runs both and
//! stores the outcome. The *facts* of a file are its definitions, imports and references; they are
//! stored in two parts, the *outline* (definitions) and the *body* (the rest).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph::{FileFacts, encode_body, encode_outline, extract_facts, fingerprint, language_of_path};
use source::{ChangedFiles, FileSkipReason, FileStamp, SourceCode, WalkedFiles};
use store::{GraphSkippedFile, GraphStamp};

use crate::TaskProgress;

/// Stamps of indexed files by path.
pub(super) type StampsByPath = HashMap<String, GraphStamp>;
/// Skipped files by path.
pub(super) type SkippedFiles = BTreeMap<String, GraphSkippedFile>;

/// A file to be parsed.
pub(super) struct PendingFile {
    pub(super) path: String,
    pub(super) stamp: FileStamp,
    /// Its stamp when it was last indexed.
    pub(super) known: Option<GraphStamp>,
}

/// Outcome of reading a file.
pub(super) enum ReadOutcome {
    Parsed(Box<ParsedFile>),
    /// Touched, with the same content.
    Unchanged,
    Skipped(FileSkipReason),
}

/// A parsed file with its encoded facts.
pub(super) struct ParsedFile {
    pub(super) facts: FileFacts,
    pub(super) outline: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) hash: [u8; 16],
    pub(super) is_generated: bool,
    pub(super) n_bytes: u64,
}

/// Work of one pass.
pub(super) struct IndexPlan {
    pub(super) pending: Vec<PendingFile>,
    pub(super) removed: Vec<String>,
    pub(super) skipped: SkippedFiles,
}

/// Compares files on disk with the index.
pub(super) fn plan_pass(
    root: &Path,
    changes: &ChangedFiles,
    stamps: &StampsByPath,
    skipped: &SkippedFiles,
) -> IndexPlan {
    match changes {
        ChangedFiles::Everything => plan_everything(root, stamps, skipped),
        ChangedFiles::Files(paths) => {
            let walked = source::walk_some_files(root, paths, &is_source_file);
            let mut plan =
                IndexPlan { pending: Vec::new(), removed: Vec::new(), skipped: skipped.clone() };
            for path in paths {
                plan.skipped.remove(path);
                // `walk_some_files` returns its files sorted by path.
                match walked.files.binary_search_by(|(walked_path, _)| walked_path.cmp(path)) {
                    // Pending whatever its stamp: two edits within one clock tick share one.
                    Ok(position) => {
                        let (_, stamp) = walked.files[position];
                        let known = stamps.get(path).cloned();
                        plan.pending.push(PendingFile { path: path.clone(), stamp, known });
                    }
                    // Not on disk, or no source file any more.
                    Err(_) if stamps.contains_key(path) => plan.removed.push(path.clone()),
                    // Neither on disk nor in the index.
                    Err(_) => {}
                }
            }
            record_skipped(&mut plan.skipped, walked.skipped);
            plan
        }
    }
}

fn plan_everything(root: &Path, stamps: &StampsByPath, skipped_before: &SkippedFiles) -> IndexPlan {
    let WalkedFiles { files, skipped } = source::walk_files(root, &is_source_file);
    let mut plan =
        IndexPlan { pending: Vec::new(), removed: Vec::new(), skipped: SkippedFiles::new() };
    let mut n_known = 0;
    for (path, stamp) in &files {
        let known = stamps.get(path);
        n_known += usize::from(known.is_some());
        if known.is_some_and(|it| file_stamp(it).is_unchanged(*stamp)) {
            continue;
        }
        // A file that was skipped for its content need not be read again while it is unchanged.
        let is_unchanged = |it: &&GraphSkippedFile| {
            FileStamp { size: it.size, modified: it.modified }.is_unchanged(*stamp)
        };
        match skipped_before.get(path).filter(is_unchanged) {
            Some(it) if known.is_none() => {
                plan.skipped.insert(path.clone(), it.clone());
            }
            // New, changed, or still indexed although it was skipped: the pass decides.
            Some(_) | None => plan.pending.push(PendingFile {
                path: path.clone(),
                stamp: *stamp,
                known: known.cloned(),
            }),
        }
    }

    // Fewer files were met than are indexed, so some are gone.
    if n_known < stamps.len() {
        // The walked files are sorted by path.
        let is_on_disk = |path: &String| {
            files.binary_search_by(|(walked_path, _)| walked_path.cmp(path)).is_ok()
        };
        plan.removed = stamps.keys().filter(|it| !is_on_disk(it)).cloned().collect();
        plan.removed.sort_unstable();
    }
    record_skipped(&mut plan.skipped, skipped);
    plan
}

/// True if the path has the extension or name of a language that is indexed.
pub(super) fn is_source_file(path: &str) -> bool {
    language_of_path(path).is_some()
}

/// Adds files that were skipped without being read, so they have no stamp.
fn record_skipped(acc: &mut SkippedFiles, skipped: Vec<(String, FileSkipReason)>) {
    for (path, why) in skipped {
        let reason = why.reading().to_owned();
        acc.insert(path.clone(), GraphSkippedFile { path, size: 0, modified: 0, reason });
    }
}

fn file_stamp(stamp: &GraphStamp) -> FileStamp {
    FileStamp { size: stamp.size, modified: stamp.modified }
}

/// Parses files on up to `threads` threads. The outcomes have the order of the files.
pub(super) fn parse_pending_files(
    root: &Path,
    files: &[PendingFile],
    threads: usize,
    progress: &TaskProgress,
) -> Vec<ReadOutcome> {
    // Workers take the next file from a shared counter: file sizes differ too much for equal
    // shares.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(position) else { return outcomes };
            outcomes.push((position, parse_file(root, file)));
            progress.add_done(1);
        }
    };
    let mut outcomes: Vec<(usize, ReadOutcome)> = if threads <= 1 || files.len() == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut all = Vec::new();
            for worker in workers {
                // A panic of the parser goes on in this thread.
                all.extend(worker.join().unwrap_or_else(|it| std::panic::resume_unwind(it)));
            }
            all
        })
    };
    outcomes.sort_unstable_by_key(|(position, _)| *position);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Reads and parses one file.
fn parse_file(root: &Path, file: &PendingFile) -> ReadOutcome {
    // Never `None`: only source files are planned.
    let Some(language) = language_of_path(&file.path) else {
        return ReadOutcome::Skipped(FileSkipReason::Special);
    };
    let SourceCode { bytes, is_generated } = match source::read_code(root, &file.path) {
        Ok(code) => code,
        Err(why) => return ReadOutcome::Skipped(why),
    };
    let hash = fingerprint(&bytes);
    if file.known.as_ref().is_some_and(|it| it.hash == hash) {
        return ReadOutcome::Unchanged;
    }
    let facts = extract_facts(language, &file.path, &bytes);
    let (outline, body) = (encode_outline(&facts), encode_body(&facts));
    let n_bytes = bytes.len() as u64;
    ReadOutcome::Parsed(Box::new(ParsedFile { facts, outline, body, hash, is_generated, n_bytes }))
}
