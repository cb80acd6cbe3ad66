//! Timing: many rounds, sorted; the middle and the ninety-ninth of a hundred are what count.

use std::time::{Duration, Instant};

pub(crate) struct Times(Vec<Duration>);

/// Times `rounds` runs of `work`, after a few that warm up.
pub(crate) fn times(rounds: usize, mut work: impl FnMut(usize)) -> Times {
    for round in 0..rounds.div_ceil(10) {
        work(round);
    }
    let mut res = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let start = Instant::now();
        work(rounds.div_ceil(10) + round);
        res.push(start.elapsed());
    }
    Times::of(res)
}

/// What `rounds` runs of `work` say they took, after a few that warm up.
pub(crate) fn said(
    rounds: usize,
    mut work: impl FnMut(usize) -> anyhow::Result<Duration>,
) -> anyhow::Result<Times> {
    let n_warming = rounds.div_ceil(10);
    let all: anyhow::Result<Vec<Duration>> = (0..n_warming + rounds).map(&mut work).collect();
    let mut res = all?.split_off(n_warming);
    res.sort_unstable();
    Ok(Times(res))
}

impl Times {
    /// Of what was timed elsewhere; at least one.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn p50(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn p99(&self) -> Duration {
        self.0[self.0.len() * 99 / 100]
    }

    pub(crate) fn both(&self) -> String {
        format!("{} p50, {} p99", show(self.p50()), show(self.p99()))
    }

    /// How many times as long as `baseline`, by the middle.
    pub(crate) fn against(&self, baseline: &Self) -> String {
        let ratio = self.p50().as_secs_f64() / baseline.p50().as_secs_f64();
        format!("{} p50 ({ratio:.1} ×)", show(baseline.p50()))
    }
}

pub(crate) fn show(it: Duration) -> String {
    let micros = it.as_secs_f64() * 1e6;
    match micros {
        0.0..100.0 => format!("{micros:.1} µs"),
        100.0..100_000.0 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}
