//! Benchmark of vector search on one core: latency of flat scans and of inverted lists, recall of the
//! lists, and the cost of clustering and removing. Run with `cargo run --release --example speed
//! [number of rows]…`.
//!
//! The codes are synthetic: topics within areas, as memories of a few projects would be.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures")]

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use waylore_recall::{NearSlot, QuantizedVectors, SlotSet, nearest_slots};

const N_DIMS: usize = 384;
const N_NEAREST: usize = 100;
const N_QUERIES: usize = 100;

/// Time per measurement; long enough that other processes of the machine do not decide the result.
const MEASURE_TIME: Duration = Duration::from_millis(800);

fn main() {
    let sizes = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let mut sizes: Vec<u32> = sizes.collect();
    if sizes.is_empty() {
        // 50,000 rows are the most that are always scanned exactly; above, they are clustered.
        sizes = vec![10_000, 50_000, 51_000, 100_000, 1_000_000];
    }
    for n_rows in sizes {
        println!("{n_rows} rows of {N_DIMS} numbers, the {N_NEAREST} nearest");
        measure(n_rows);
    }
}

/// Measures one size of the index.
fn measure(n_rows: u32) {
    // Fill the index, fifty rows per topic on average.
    let mut generator = CodeGenerator::new(n_rows / 50);
    let mut codes = QuantizedVectors::new(N_DIMS);
    codes.reserve_rows(n_rows as usize);
    for slot in 0..n_rows {
        codes.push_row(slot, &generator.next_code()).expect("the length is right");
    }
    let queries: Vec<Vec<i8>> = (0..N_QUERIES).map(|_| generator.next_code()).collect();
    let sample_slots = |one_in: u32| {
        (0..n_rows).filter(move |it| mix_bits(u64::from(*it)).is_multiple_of(u64::from(one_in)))
    };
    let filters: Vec<(String, SlotSet)> = [1, 2, 4, 10, 30, 100, 1000]
        .map(|one_in| (format!("1 of {one_in}"), sample_slots(one_in).collect()))
        .into_iter()
        .collect();

    // Flat scans; their results are exact.
    let exact: Vec<_> = filters
        .iter()
        .map(|(name, allowed)| {
            time_queries(&format!("  flat, {name} allowed"), &codes, &queries, allowed)
        })
        .collect();
    if !codes.needs_clustering() {
        return;
    }

    // Clustering, then the same queries by inverted lists.
    let (start, cpu_before) = (Instant::now(), cpu_ms());
    let plan = codes.plan_clusters(7, NonZero::<usize>::MIN);
    println!(
        "  plan                 {:7.0} ms, {:.0} ms of processor",
        elapsed_ms(start),
        cpu_ms() - cpu_before
    );
    let start = Instant::now();
    codes.apply_clusters(plan).expect("nothing has moved");
    println!("  arrange              {:7.0} ms", elapsed_ms(start));
    for ((name, allowed), exact) in filters.iter().zip(&exact) {
        let found = time_queries(&format!("  lists, {name} allowed"), &codes, &queries, allowed);
        println!("    recall {:.4}", recall_at_k(&found, exact));
    }

    // Removal: few rows only mark them dead, half of them compacts the index.
    let start = Instant::now();
    for slot in 0..n_rows / 10 {
        codes.remove_slot(slot);
    }
    println!("  remove one slot      {:7.4} ms", elapsed_ms(start) / f64::from(n_rows / 10));
    let start = Instant::now();
    (0..n_rows / 2).for_each(|slot| codes.remove_slot(slot));
    println!("  remove half, compact {:7.0} ms", elapsed_ms(start));
}

/// Prints the latency of the queries and returns their results.
fn time_queries(
    name: &str,
    codes: &QuantizedVectors,
    queries: &[Vec<i8>],
    allowed: &SlotSet,
) -> Vec<Vec<NearSlot>> {
    let search = |query: &Vec<i8>| {
        nearest_slots(codes, query, allowed, N_NEAREST).expect("the length is right")
    };
    let res = queries.iter().map(search).collect();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < MEASURE_TIME {
        for query in queries {
            let query_start = Instant::now();
            black_box(search(query));
            times.push(elapsed_ms(query_start));
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    let percentile = |percent: usize| times[times.len() * percent / 100];
    println!(
        "{name:30} {:7.3} ms best, {:7.3} middle, {:7.3} p99",
        times[0],
        percentile(50),
        percentile(99)
    );
    res
}

/// Share of the exact results that were found.
fn recall_at_k(found: &[Vec<NearSlot>], exact: &[Vec<NearSlot>]) -> f64 {
    let (mut n_found, mut n_exact) = (0_u32, 0_u32);
    for (found, exact) in found.iter().zip(exact) {
        assert_eq!(found.len(), exact.len(), "a filter never makes an answer shorter");
        n_exact += u32::try_from(exact.len()).unwrap_or(0);
        n_found += exact.iter().filter(|it| found.contains(it)).map(|_| 1).sum::<u32>();
    }
    f64::from(n_found) / f64::from(n_exact)
}

fn elapsed_ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Processor time of this process in steps of 10 ms; zero where there is no `/proc`.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // `utime` and `stime`, fields 14 and 15 of proc(5), counted in ticks of 10 ms. The name of the
    // process before them ends with the last parenthesis and may contain spaces.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// Generates codes: a topic, and as much noise again.
struct CodeGenerator {
    topics: Vec<Vec<f32>>,
    state: u64,
}

impl CodeGenerator {
    fn new(n_topics: u32) -> Self {
        let mut res = Self { topics: Vec::new(), state: 1 };
        let areas: Vec<Vec<f32>> = (0..20).map(|_| res.noise()).collect();
        for i in 0..n_topics as usize {
            let topic = res.noise();
            let near = areas[i % areas.len()].iter().zip(topic);
            res.topics.push(near.map(|(area, own)| area * 0.7 + own).collect());
        }
        res
    }

    #[expect(clippy::cast_possible_truncation, reason = "clamped before it is cast")]
    fn next_code(&mut self) -> Vec<i8> {
        self.state += 1;
        let n_topics = self.topics.len() as u64;
        let topic = usize::try_from(mix_bits(self.state) % n_topics).expect("a small number");
        let noise = self.noise();
        let vector: Vec<f32> =
            self.topics[topic].iter().zip(noise).map(|(topic, own)| topic + own).collect();
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        // The scale of the built-in model: 384 steps per unit, see `infer::encode_i8`.
        let quantize = |it: &f32| (it / length * 384.0).round().clamp(-127.0, 127.0) as i8;
        vector.iter().map(quantize).collect()
    }

    /// Numbers between −1 and 1.
    fn noise(&mut self) -> Vec<f32> {
        let mut acc = Vec::with_capacity(N_DIMS);
        while acc.len() < N_DIMS {
            self.state += 1;
            let bytes = mix_bits(self.state).to_le_bytes();
            acc.extend(bytes.map(|it| f32::from(it) / 127.5 - 1.0));
        }
        acc
    }
}

/// A pseudo-random number for each number (`SplitMix64`).
const fn mix_bits(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
