//! Benchmark of the built-in model on one core: load time, texts per second and memory. Run with
//! `cargo run --release --example speed`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures")]

use std::num::NonZero;
use std::time::{Duration, Instant};

use waylore_infer::{BuiltInEmbedder, MODEL_ID};

/// Texts of about twelve tokens, as typical queries have.
const QUESTIONS: &[&str] = &[
    "how do we retry failed uploads to the bucket",
    "where is the session token refreshed in the client",
    "why does the nightly migration test time out",
    "which module owns the rate limiter settings",
];

/// Texts of about forty tokens, as typical memories have.
const NOTES: &[&str] = &[
    "The retry limit of the upload worker is read once at start; changing `uploads.retries` needs a restart, and tests that patch it later silently keep the old value of five.",
    "Never call `Session::refresh` while holding the cache lock: the refresh callback reads the cache and the two threads wait for each other until the watchdog ends the process.",
    "Run `make schema` before the integration tests; without it the migration suite passes locally with a stale dump and fails in the pipeline with a missing column error.",
];

/// Time per measurement; long enough that other processes of the machine do not decide the result.
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

/// Embeds batches of this size again and again and prints the times per text.
fn measure(embedder: &BuiltInEmbedder, name: &str, texts: &[&str], batch_size: usize) {
    let (start, cpu_before) = (Instant::now(), cpu_ms());
    let mut times = Vec::new();
    while start.elapsed() < MEASURE_TIME {
        let first = times.len() * batch_size;
        let batch: Vec<&str> =
            (first..first + batch_size).map(|i| texts[i % texts.len()]).collect();
        let batch_start = Instant::now();
        embedder.embed(&batch);
        times.push(batch_start.elapsed().as_secs_f64() * 1e3);
    }
    let per_text = 1.0 / f64::from(u32::try_from(batch_size).unwrap_or(u32::MAX));
    let n_batches = f64::from(u32::try_from(times.len()).unwrap_or(u32::MAX));
    times.sort_unstable_by(f64::total_cmp);
    let (best, median) = (times[0] * per_text, times[times.len() / 2] * per_text);
    let cpu = (cpu_ms() - cpu_before) / n_batches * per_text;
    println!(
        "{name}     {:>5.0} texts/s   p50 {median:.2} ms   best {best:.2} ms   CPU {cpu:.2} ms",
        1e3 / median
    );
}

/// CPU time of this thread, which other processes do not affect; zero if the system does not report it.
fn cpu_ms() -> f64 {
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
