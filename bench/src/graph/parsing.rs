//! The limit: reading files and parsing them, and nothing else.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use graph::Lang;
use tree_sitter::Parser;

/// Reads and parses all files on so many threads; says how many bytes.
pub(super) fn parse_all(root: &Path, files: &[(String, Lang)], threads: usize) -> u64 {
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
