//! What the process holds with the model loaded and eight threads at work on the longest texts.
//!
//! A binary of its own, because the figure is the system's for the whole process: beside other
//! tests it would be theirs too.

use std::num::NonZero;

use waylore_infer::BuiltInEmbedder;

/// In kilobytes; the room may hold no more than 100 MB.
const LIMIT: u64 = 100_000;

#[test]
fn the_model_at_work_stays_below_its_limit() {
    let embedder = BuiltInEmbedder::with_threads(NonZero::new(8).unwrap());
    let texts: Vec<String> = (0..16).map(|it| format!(" word{it}").repeat(600)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&texts);
    // Elsewhere the system is asked in other ways, and the numbers are the same program's.
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let peak: u64 = peak.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < LIMIT, "{peak} kB");
}
