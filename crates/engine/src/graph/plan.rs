//! What is to be read, and reading it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::graph::{Facts, encode_body, encode_outline, extract, fingerprint, language};
use source::{Passed, Seen, Stamp, Walked};
use store::{GraphPassed, GraphStamp};

use crate::Progress;

/// What was read before, by path.
pub(super) type Stamps = HashMap<String, GraphStamp>;
/// What was passed over before, by path.
pub(super) type PassedOver = BTreeMap<String, GraphPassed>;

/// A file to be read, as it was seen a moment before.
pub(super) struct Due {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    pub(super) known: Option<GraphStamp>,
}

/// What became of it.
pub(super) enum Read {
    Fresh(Box<Fresh>),
    /// Touched, but the same.
    Same,
    Passed(Passed),
}

/// What was read, and the bytes that are kept of it.
pub(super) struct Fresh {
    pub(super) facts: Facts,
    pub(super) outline: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) hash: [u8; 16],
    pub(super) n_bytes: u64,
}

pub(super) struct Plan {
    pub(super) due: Vec<Due>,
    pub(super) gone: Vec<String>,
    pub(super) passed: PassedOver,
}

/// Compares what is there with what was read before.
pub(super) fn plan(root: &Path, seen: &Seen, stamps: &Stamps, passed: &PassedOver) -> Plan {
    match seen {
        Seen::Everything => of_everything(root, stamps, passed),
        Seen::Files(paths) => {
            let walked = source::files_among(root, paths, &is_code);
            let mut res = Plan { due: Vec::new(), gone: Vec::new(), passed: passed.clone() };
            for path in paths {
                res.passed.remove(path);
                // Sorted: both sides are.
                match walked.files.binary_search_by(|it| it.0.cmp(path)) {
                    // Whatever the stamp: two edits within one tick of the clock have the same.
                    Ok(at) => res.due.push(Due {
                        path: path.clone(),
                        stamp: walked.files[at].1,
                        known: stamps.get(path).cloned(),
                    }),
                    Err(_) => res.gone.extend(stamps.contains_key(path).then(|| path.clone())),
                }
            }
            pass_over(&mut res.passed, walked.passed);
            res
        }
    }
}

fn of_everything(root: &Path, stamps: &Stamps, before: &PassedOver) -> Plan {
    let Walked { files, passed } = source::files(root, &is_code);
    let mut res = Plan { due: Vec::new(), gone: Vec::new(), passed: PassedOver::new() };
    let mut n_known = 0;
    for (path, stamp) in &files {
        let known = stamps.get(path);
        n_known += usize::from(known.is_some());
        if known.is_some_and(|it| of(it).is_still(*stamp)) {
            continue;
        }
        let is_it =
            |it: &&GraphPassed| Stamp { size: it.size, modified: it.modified }.is_still(*stamp);
        match before.get(path).filter(is_it) {
            Some(it) if known.is_none() => _ = res.passed.insert(path.clone(), it.clone()),
            _ => res.due.push(Due { path: path.clone(), stamp: *stamp, known: known.cloned() }),
        }
    }
    if n_known < stamps.len() {
        let is_gone = |it: &&String| files.binary_search_by(|file| file.0.cmp(it)).is_err();
        res.gone = stamps.keys().filter(is_gone).cloned().collect();
        res.gone.sort_unstable();
    }
    pass_over(&mut res.passed, passed);
    res
}

pub(super) fn is_code(path: &str) -> bool {
    language(path).is_some()
}

fn pass_over(acc: &mut PassedOver, passed: Vec<(String, Passed)>) {
    for (path, why) in passed {
        let reason = why.reading().to_owned();
        acc.insert(path.clone(), GraphPassed { path, size: 0, modified: 0, reason });
    }
}

fn of(it: &GraphStamp) -> Stamp {
    Stamp { size: it.size, modified: it.modified }
}

pub(super) fn read_all(
    root: &Path,
    part: &[Due],
    threads: usize,
    progress: &Progress,
) -> Vec<Read> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut res = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(due) = part.get(at) else { return res };
            res.push((at, read(root, due)));
            progress.advance(1);
        }
    };
    let mut res: Vec<(usize, Read)> = if threads <= 1 || part.len() == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let done = workers
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|it| std::panic::resume_unwind(it)));
            done.flatten().collect()
        })
    };
    res.sort_unstable_by_key(|it| it.0);
    res.into_iter().map(|it| it.1).collect()
}

fn read(root: &Path, due: &Due) -> Read {
    let Some(lang) = language(&due.path) else { return Read::Passed(Passed::Special) };
    let bytes = match source::contents(root, &due.path) {
        Ok(bytes) => bytes,
        Err(why) => return Read::Passed(why),
    };
    let hash = fingerprint(&bytes);
    if due.known.as_ref().is_some_and(|it| it.hash == hash) {
        return Read::Same;
    }
    let facts = extract(lang, &due.path, &bytes);
    let (outline, body) = (encode_outline(&facts), encode_body(&facts));
    Read::Fresh(Box::new(Fresh { facts, outline, body, hash, n_bytes: bytes.len() as u64 }))
}
