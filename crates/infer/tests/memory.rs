//! Peak memory of the process with the model loaded and eight threads encoding the longest texts.
//!
//! A test binary of its own, because the system reports memory for the whole process, and other tests
//! would count too.

use std::num::NonZero;

use waylore_infer::BuiltInEmbedder;

/// Limit of the peak memory.
const MAX_PEAK_KB: u64 = 100_000;

#[test]
fn the_model_at_work_stays_below_its_limit() {
    let embedder = BuiltInEmbedder::with_threads(NonZero::new(8).unwrap());
    let texts: Vec<String> = (0..16).map(|it| format!(" word{it}").repeat(600)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&texts);
    // Measured on Linux only; other systems report memory in other ways.
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let peak: u64 = peak.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MAX_PEAK_KB, "{peak} kB");
}
