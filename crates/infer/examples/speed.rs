//! Prints how fast the built-in model embeds on one core, how long it loads and what it holds in memory.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures")]

use std::num::NonZero;
use std::time::{Duration, Instant};

use waylore_infer::{BuiltInEmbedder, MODEL_ID};

/// Twelve tokens or so, as questions are.
const QUESTIONS: &[&str] = &[
    "how do we retry failed uploads to the bucket",
    "where is the session token refreshed in the client",
    "why does the nightly migration test time out",
    "which module owns the rate limiter settings",
];

/// Forty tokens or so, as memories are.
const NOTES: &[&str] = &[
    "The retry limit of the upload worker is read once at start; changing `uploads.retries` needs a restart, and tests that patch it later silently keep the old value of five.",
    "Never call `Session::refresh` while holding the cache lock: the refresh callback reads the cache and the two threads wait for each other until the watchdog ends the process.",
    "Run `make schema` before the integration tests; without it the migration suite passes locally with a stale dump and fails in the pipeline with a missing column error.",
];

/// Long enough that a neighbour on the machine does not decide the result.
const MEASURE_TIME: Duration = Duration::from_secs(2);

fn main() {
    let embedder = BuiltInEmbedder::with_threads(NonZero::<usize>::MIN);
    println!("{MODEL_ID}");
    println!("before loading          {}", resident());
    let start = Instant::now();
    embedder.load_now();
    println!("load                    {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("loaded                  {}", resident());
    measure(&embedder, "12 tokens, batch 1 ", QUESTIONS, 1);
    measure(&embedder, "12 tokens, batch 32", QUESTIONS, 32);
    measure(&embedder, "40 tokens, batch 1 ", NOTES, 1);
    measure(&embedder, "40 tokens, batch 32", NOTES, 32);
    let long = NOTES.concat().repeat(8);
    measure(&embedder, "512 tokens, batch 1", &[&long], 1);
    println!("after all               {}", resident());
    embedder.release();
    println!("released                {}", resident());
}

fn measure(embedder: &BuiltInEmbedder, name: &str, texts: &[&str], batch: usize) {
    let (start, busy) = (Instant::now(), busy_ms());
    let mut times = Vec::new();
    while start.elapsed() < MEASURE_TIME {
        let from = times.len() * batch;
        let batch: Vec<&str> = (from..from + batch).map(|i| texts[i % texts.len()]).collect();
        let begin = Instant::now();
        embedder.embed(&batch);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    let per_text = 1.0 / f64::from(u32::try_from(batch).unwrap_or(u32::MAX));
    let n_batches = f64::from(u32::try_from(times.len()).unwrap_or(u32::MAX));
    times.sort_unstable_by(f64::total_cmp);
    let (best, middle) = (times[0] * per_text, times[times.len() / 2] * per_text);
    let busy = (busy_ms() - busy) / n_batches * per_text;
    println!(
        "{name}     {:>5.0} texts/s   p50 {middle:.2} ms   best {best:.2} ms   CPU {busy:.2} ms",
        1e3 / middle
    );
}

/// How long this thread has run, so that a busy machine does not count; zero where the system does not say.
fn busy_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|it| it.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e6
}

/// Current and peak memory of the process; empty where the system does not report it.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted =
        |it: &&str| it.starts_with("VmRSS") || it.starts_with("VmHWM") || it.starts_with("RssAnon");
    status
        .lines()
        .filter(wanted)
        .map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}
