//! Prints how fast the nearest of many codes are found on one core, how well, and what sorting them costs.
//!
//! Codes are made up: topics within areas, as memories of a few projects would be.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures")]

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use waylore_recall::{NearSlot, QuantizedVectors, SlotSet, nearest_slots};

const N_DIMS: usize = 384;
const N_NEAREST: usize = 100;
const N_QUERIES: usize = 100;

/// Long enough that a neighbour on the machine does not decide the result.
const MEASURE_TIME: Duration = Duration::from_millis(800);

fn main() {
    let sizes = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let mut sizes: Vec<u32> = sizes.collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 101_000, 1_000_000];
    }
    for n_rows in sizes {
        println!("{n_rows} rows of {N_DIMS} numbers, the {N_NEAREST} nearest");
        measure(n_rows);
    }
}

fn measure(n_rows: u32) {
    let mut made = Made::new(n_rows / 50);
    let mut codes = QuantizedVectors::new(N_DIMS);
    codes.reserve_rows(n_rows as usize);
    for slot in 0..n_rows {
        codes.push_row(slot, &made.code()).expect("the length is right");
    }
    let queries: Vec<Vec<i8>> = (0..N_QUERIES).map(|_| made.code()).collect();
    let some =
        |of: u32| (0..n_rows).filter(move |it| mixed(u64::from(*it)).is_multiple_of(u64::from(of)));
    let filters: Vec<(String, SlotSet)> = [1, 2, 4, 10, 30, 100, 1000]
        .map(|of| (format!("1 of {of}"), some(of).collect()))
        .into_iter()
        .collect();
    let exact: Vec<_> = filters
        .iter()
        .map(|(name, allowed)| time(&format!("  flat, {name} allowed"), &codes, &queries, allowed))
        .collect();
    if !codes.needs_clustering() {
        return;
    }
    let (start, busy) = (Instant::now(), busy_ms());
    let plan = codes.plan_clusters(7, NonZero::<usize>::MIN);
    println!(
        "  plan                 {:7.0} ms, {:.0} ms of processor",
        ms(start),
        busy_ms() - busy
    );
    let start = Instant::now();
    codes.apply_clusters(plan).expect("nothing has moved");
    println!("  arrange              {:7.0} ms", ms(start));
    for ((name, allowed), exact) in filters.iter().zip(&exact) {
        let found = time(&format!("  lists, {name} allowed"), &codes, &queries, allowed);
        println!("    recall {:.4}", recall(&found, exact));
    }
    let start = Instant::now();
    for slot in 0..n_rows / 10 {
        codes.remove_slot(slot);
    }
    println!("  remove one slot      {:7.4} ms", ms(start) / f64::from(n_rows / 10));
    let start = Instant::now();
    (0..n_rows / 2).for_each(|slot| codes.remove_slot(slot));
    println!("  remove half, compact {:7.0} ms", ms(start));
}

fn time(
    name: &str,
    codes: &QuantizedVectors,
    queries: &[Vec<i8>],
    allowed: &SlotSet,
) -> Vec<Vec<NearSlot>> {
    let ask =
        |it: &Vec<i8>| nearest_slots(codes, it, allowed, N_NEAREST).expect("the length is right");
    let res = queries.iter().map(ask).collect();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < MEASURE_TIME {
        for query in queries {
            let begin = Instant::now();
            black_box(ask(query));
            times.push(ms(begin));
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| times[times.len() * share / 100];
    println!("{name:30} {:7.3} ms best, {:7.3} middle, {:7.3} p99", times[0], at(50), at(99));
    res
}

fn recall(found: &[Vec<NearSlot>], exact: &[Vec<NearSlot>]) -> f64 {
    let (mut n_found, mut n_exact) = (0_u32, 0_u32);
    for (found, exact) in found.iter().zip(exact) {
        assert_eq!(found.len(), exact.len(), "a filter never makes an answer shorter");
        n_exact += u32::try_from(exact.len()).unwrap_or(0);
        n_found += exact.iter().filter(|it| found.contains(it)).map(|_| 1).sum::<u32>();
    }
    f64::from(n_found) / f64::from(n_exact)
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Processor time of this process, in a hundredth of a second's steps; zero where there is no `/proc`.
fn busy_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// Makes codes: a topic, and as much noise again.
struct Made {
    topics: Vec<Vec<f32>>,
    state: u64,
}

impl Made {
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
    fn code(&mut self) -> Vec<i8> {
        self.state += 1;
        let n_topics = self.topics.len() as u64;
        let topic = usize::try_from(mixed(self.state) % n_topics).expect("a small number");
        let noise = self.noise();
        let vector: Vec<f32> =
            self.topics[topic].iter().zip(noise).map(|(topic, own)| topic + own).collect();
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        let step = |it: &f32| (it / length * 384.0).round().clamp(-127.0, 127.0) as i8;
        vector.iter().map(step).collect()
    }

    /// Numbers between −1 and 1.
    fn noise(&mut self) -> Vec<f32> {
        let mut acc = Vec::with_capacity(N_DIMS);
        while acc.len() < N_DIMS {
            self.state += 1;
            let bytes = mixed(self.state).to_le_bytes();
            acc.extend(bytes.map(|it| f32::from(it) / 127.5 - 1.0));
        }
        acc
    }
}

/// Any bits from any number (splitmix64).
const fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
