//! Timing: many rounds after a warm-up, reported as median and 99th percentile.

use std::time::{Duration, Instant};

/// Durations of the rounds, sorted; at least one.
pub(crate) struct SampleTimes(Vec<Duration>);

/// Times `rounds` runs of `work`, after a tenth as many for warm-up. `work` gets the number of the
/// run.
pub(crate) fn time_rounds(rounds: usize, mut work: impl FnMut(usize)) -> SampleTimes {
    // Caches, lazy statics and the processor's clock settle first.
    let n_warmup = rounds.div_ceil(10);
    for round in 0..n_warmup {
        work(round);
    }
    let mut samples = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let start = Instant::now();
        // Numbers are not repeated: the work may insert something with its number.
        work(n_warmup + round);
        samples.push(start.elapsed());
    }
    SampleTimes::from_samples(samples)
}

/// As [`time_rounds`], for work that measures its own time.
pub(crate) fn collect_rounds(
    rounds: usize,
    mut work: impl FnMut(usize) -> anyhow::Result<Duration>,
) -> anyhow::Result<SampleTimes> {
    let n_warmup = rounds.div_ceil(10);
    let mut samples = Vec::with_capacity(rounds);
    for round in 0..n_warmup + rounds {
        let took = work(round)?;
        if round >= n_warmup {
            samples.push(took);
        }
    }
    Ok(SampleTimes::from_samples(samples))
}

impl SampleTimes {
    /// From durations measured elsewhere, at least one.
    pub(crate) fn from_samples(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn p50(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn p99(&self) -> Duration {
        self.0[self.0.len() * 99 / 100]
    }

    pub(crate) fn format_p50_p99(&self) -> String {
        format!("{} p50, {} p99", format_duration(self.p50()), format_duration(self.p99()))
    }

    /// The median of the baseline, and this median as a multiple of it.
    pub(crate) fn format_against(&self, baseline: &Self) -> String {
        let ratio = self.p50().as_secs_f64() / baseline.p50().as_secs_f64();
        format!("{} p50 ({ratio:.1} ×)", format_duration(baseline.p50()))
    }
}

pub(crate) fn format_duration(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        0.0..100.0 => format!("{micros:.1} µs"),
        100.0..100_000.0 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}
