//! Baseline of indexing: reading and parsing the files only.
//!
//! It runs in a process of its own with tree-sitter's own allocator, because indexing installs
//! another.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use graph::{SourceLanguage, language_of_path};
use tree_sitter::Parser;

use super::indexed_copy::processor_time;
use crate::table::BenchRow;

/// Processor time of parsing all files below a folder, and their bytes.
pub(super) fn parse_in_child_process(
    root: &Path,
    threads: usize,
) -> anyhow::Result<(Duration, u64)> {
    let child = Command::new(std::env::current_exe()?)
        .args(["graph-parsing", &threads.to_string()])
        .arg(root)
        .output()?;
    let output = String::from_utf8(child.stdout)?;
    // The child prints nanoseconds and bytes.
    let mut numbers = output.split_whitespace().filter_map(|it| it.parse::<u64>().ok());
    let (took, n_bytes) =
        numbers.next().zip(numbers.next()).context("the parsing process printed no numbers")?;
    Ok((Duration::from_nanos(took), n_bytes))
}

/// The child process: `waylore-bench graph-parsing THREADS FOLDER`.
pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let mut args = std::env::args().skip_while(|it| it != "graph-parsing").skip(1);
    let (threads, root) =
        args.next().zip(args.next()).context("usage: graph-parsing THREADS FOLDER")?;
    let (threads, root) = (threads.parse()?, PathBuf::from(root));
    let mut files: Vec<(String, SourceLanguage)> = Vec::new();
    for (path, _) in source::walk_files(&root, &|it| language_of_path(it).is_some()).files {
        if let Some(lang) = language_of_path(&path) {
            files.push((path, lang));
        }
    }
    let (start, before) = (Instant::now(), processor_time());
    let n_bytes = parse_all(&root, &files, threads);
    // Wall time where `/proc` does not exist.
    let took = match (before, processor_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        (None, _) | (_, None) => start.elapsed(),
    };
    println!("{} {n_bytes}", took.as_nanos());
    Ok(Vec::new())
}

/// Reads and parses all files on several threads; returns their bytes.
fn parse_all(root: &Path, files: &[(String, SourceLanguage)], threads: usize) -> u64 {
    let (next, n_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || {
        // Threads take the next file from a counter: large files do not hold up a fixed share.
        while let Some((path, lang)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
            n_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            parse_file(*lang, &bytes);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    n_bytes.into_inner()
}

fn parse_file(lang: SourceLanguage, bytes: &[u8]) {
    // One parser per thread: creating one per file would cost more than parsing small files.
    thread_local!(static PARSER: RefCell<Parser> = RefCell::new(Parser::new()));
    PARSER.with_borrow_mut(|parser| {
        if lang.grammar().is_some_and(|it| parser.set_language(&it).is_ok()) {
            std::hint::black_box(parser.parse(bytes, None));
        }
    });
}
