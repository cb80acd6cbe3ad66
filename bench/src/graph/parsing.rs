//! The limit: reading files and parsing them, and nothing else.
//!
//! In a process of its own, where tree-sitter is as it comes: an index gives it other memory.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use graph::{Lang, language};
use tree_sitter::Parser;

use super::ground::processor;
use crate::table::Row;

/// What parsing everything below a folder costs, and how many bytes that is.
pub(super) fn parsed_apart(root: &Path, threads: usize) -> anyhow::Result<(Duration, u64)> {
    let child = Command::new(std::env::current_exe()?)
        .args(["graph-parsing", &threads.to_string()])
        .arg(root)
        .output()?;
    let said = String::from_utf8(child.stdout)?;
    let mut numbers = said.split_whitespace().filter_map(|it| it.parse::<u64>().ok());
    let (took, n_bytes) = numbers.next().zip(numbers.next()).context("parsing says no figures")?;
    Ok((Duration::from_nanos(took), n_bytes))
}

/// The other side: `waylore-bench graph-parsing THREADS FOLDER`.
pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let mut args = std::env::args().skip_while(|it| it != "graph-parsing").skip(1);
    let (threads, root) = args.next().zip(args.next()).context("name threads and a folder")?;
    let (threads, root) = (threads.parse()?, PathBuf::from(root));
    let is_code = |it: &str| language(it).is_some();
    let of_path = |it: (String, _)| language(&it.0).map(|lang| (it.0, lang));
    let files: Vec<_> =
        source::files(&root, &is_code).files.into_iter().filter_map(of_path).collect();
    let (start, before) = (Instant::now(), processor());
    let n_bytes = parse_all(&root, &files, threads);
    let used = processor().zip(before).map(|it| it.0.saturating_sub(it.1));
    println!("{} {n_bytes}", used.unwrap_or_else(|| start.elapsed()).as_nanos());
    Ok(Vec::new())
}

/// Reads and parses all files on so many threads; says how many bytes.
fn parse_all(root: &Path, files: &[(String, Lang)], threads: usize) -> u64 {
    let (next, n_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || {
        while let Some((path, lang)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
            n_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            parse(*lang, &bytes);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    n_bytes.into_inner()
}

fn parse(lang: Lang, bytes: &[u8]) {
    thread_local!(static PARSER: RefCell<Parser> = RefCell::new(Parser::new()));
    PARSER.with_borrow_mut(|parser| {
        if lang.grammar().is_some_and(|it| parser.set_language(&it).is_ok()) {
            std::hint::black_box(parser.parse(bytes, None));
        }
    });
}
