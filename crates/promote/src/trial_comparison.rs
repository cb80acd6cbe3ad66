//! Compares the two groups of a trial by one number per session with the Mann–Whitney U test, corrected
//! for repeated looks.
//!
//! In a trial some sessions work without the memory of Waylore, so that its effect can be measured. The
//! number is one of which less is better, such as the steps of the session.
//!
//! A user may look at the trial every day, and each look is another chance to find a difference that does
//! not exist. So the groups are compared only when the smaller one has 100, 200, 400, … sessions, always by
//! the first 100, 200, 400, … of each group, and each such look has half the error rate of the one before.

/// Sessions that each group must have before there is a result.
pub const MIN_GROUP_SESSIONS: usize = 100;
/// Probability of a false result over all looks together.
const TOTAL_ERROR_RATE: f64 = 0.05;
/// Standard deviations of a 95 % interval.
const Z_95_PERCENT: f64 = 1.959_964;

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrialComparison {
    TooFew {
        /// Sessions of the smaller group.
        have: usize,
        need: usize,
    },
    /// Compares the first `n` sessions of each group.
    Result {
        n: usize,
        /// Probability that a session with memory has the smaller number, ties counting half: 0.5 is no
        /// effect. With its 95 % confidence interval.
        effect: f64,
        interval: (f64, f64),
        /// The p-value, and the level that it must be below at this look.
        p: f64,
        level: f64,
    },
}

impl TrialComparison {
    /// Returns whether the difference is significant at this look.
    pub fn is_significant(self) -> bool {
        matches!(self, Self::Result { p, level, .. } if p < level)
    }
}

/// Compares sessions without and with memory, one number each, in the order of the sessions.
pub fn compare_groups(without: &[u64], with: &[u64]) -> TrialComparison {
    let have = without.len().min(with.len());
    if have < MIN_GROUP_SESSIONS {
        return TrialComparison::TooFew { have, need: MIN_GROUP_SESSIONS };
    }
    // Look `k` compares the first `MIN_GROUP_SESSIONS * 2^k` sessions. The last complete look counts.
    let mut look = 0;
    while MIN_GROUP_SESSIONS << (look + 1) <= have {
        look += 1;
    }
    let n = MIN_GROUP_SESSIONS << look;
    let (effect, p) = mann_whitney_test(&with[..n], &without[..n]);
    // 1/2 + 1/4 + 1/8 + …: the levels of all looks add up to the total error rate.
    let level = TOTAL_ERROR_RATE * 0.5_f64.powi(look + 1);
    TrialComparison::Result { n, effect, interval: confidence_interval(effect, n), p, level }
}

/// The probability that one of `a` is smaller than one of `b`, and the two-sided p-value. Mann and Whitney
/// 1947, with normal approximation, tie correction and continuity correction.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions")]
fn mann_whitney_test(a: &[u64], b: &[u64]) -> (f64, f64) {
    // Rank both groups together; each number is marked with whether it is one of `a`.
    let mut ranked: Vec<(u64, bool)> = a.iter().map(|it| (*it, true)).collect();
    ranked.extend(b.iter().map(|it| (*it, false)));
    ranked.sort_unstable();
    // The sum of the ranks of `a`, and that of t³ − t over all ties of t numbers.
    let (mut rank_sum, mut tie_term) = (0.0, 0.0);
    let mut n_before = 0;
    for tie in ranked.chunk_by(|(left, _), (right, _)| left == right) {
        // Ranks begin at 1. Equal numbers share the mean of their ranks: two after the first have 2.5.
        let mean_rank = n_before as f64 + f64::midpoint(tie.len() as f64, 1.0);
        let n_in_a = tie.iter().filter(|(_, is_in_a)| *is_in_a).count();
        rank_sum += mean_rank * n_in_a as f64;
        tie_term += (tie.len() as f64).powi(3) - tie.len() as f64;
        n_before += tie.len();
    }
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    // The statistic U, and its variance if the groups do not differ.
    let u = rank_sum - n_a * (n_a + 1.0) / 2.0;
    let n = n_a + n_b;
    let variance = n_a * n_b / 12.0 * (n + 1.0 - tie_term / (n * (n - 1.0)));
    // U counts the pairs in which `a` is larger, out of all pairs.
    let effect = 1.0 - u / (n_a * n_b);
    // All numbers are equal, so that there is no difference.
    if variance <= 0.0 {
        return (effect, 1.0);
    }
    // Continuity correction by one half.
    let distance = ((u - n_a * n_b / 2.0).abs() - 0.5).max(0.0);
    (effect, (2.0 * upper_tail(distance / variance.sqrt())).min(1.0))
}

/// The 95 % confidence interval of an effect between two groups of `n`.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions")]
fn confidence_interval(effect: f64, n: usize) -> (f64, f64) {
    let n = n as f64;
    // The standard error of the area under an ROC curve, which is the same quantity (Hanley and McNeil
    // 1982); `q1` and `q2` are named as in the paper.
    let (q1, q2) = (effect / (2.0 - effect), 2.0 * effect * effect / (1.0 + effect));
    let square = effect * effect;
    let variance = effect * (1.0 - effect) + (n - 1.0) * (q1 - square + q2 - square);
    let half_width = Z_95_PERCENT * (variance.max(0.0) / (n * n)).sqrt();
    ((effect - half_width).max(0.0), (effect + half_width).min(1.0))
}

/// The upper tail of the standard normal distribution for `z` ≥ 0 (Abramowitz and Stegun 7.1.26, absolute
/// error below 1.5e-7).
fn upper_tail(z: f64) -> f64 {
    // The formula is one for the error function, of which the tail is a scaled version.
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    // A polynomial in `t` by Horner's scheme, from the fifth power down; there is no constant term.
    let coefficients =
        [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592, 0.0];
    0.5 * coefficients.iter().fold(0.0, |acc, it| acc * t + it) * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers of a linear congruential generator (Knuth's constants), the same in every run.
    fn numbers(seed: u64, n: usize, below: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        (0..n).map(|_| next()).collect()
    }

    /// The example in the documentation of R's `wilcox.test`, and known values of the tail.
    #[test]
    fn the_test_matches_published_values() {
        let (a, b) = ([80, 83, 189, 104, 145, 138, 191, 164, 73, 146], [115, 88, 90, 74, 121]);
        let (effect, p) = mann_whitney_test(&b, &a);
        assert!((effect - 0.7).abs() < 1e-9, "W = 35 of 50: {effect}");
        assert!((p - 0.2449).abs() < 5e-3, "{p}");
        assert!((upper_tail(1.959_964) - 0.025).abs() < 1e-6);
        assert!((upper_tail(0.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn there_is_no_result_before_both_groups_are_large() {
        let (few, many) = (numbers(1, 99, 50), numbers(2, 900, 50));
        assert_eq!(compare_groups(&few, &many), TrialComparison::TooFew { have: 99, need: 100 });
    }

    #[test]
    fn equal_groups_do_not_differ_and_a_real_difference_is_found() {
        // Two groups from the same distribution.
        let same = compare_groups(&numbers(1, 450, 50), &numbers(2, 450, 50));
        assert!(!same.is_significant(), "{same:?}");

        // Sessions with memory need 30 % less.
        let better: Vec<u64> = numbers(2, 450, 50).iter().map(|it| it * 7 / 10).collect();
        let TrialComparison::Result { n, effect, interval, p, level } =
            compare_groups(&numbers(1, 450, 50), &better)
        else {
            panic!("450 are enough")
        };
        assert_eq!((n, level), (400, TOTAL_ERROR_RATE / 8.0), "the third look");
        let (low, high) = interval;
        assert!(effect > 0.6 && low > 0.5 && high > effect && p < level);

        // All numbers are equal.
        let alike = compare_groups(&[5; 100], &[5; 100]);
        let TrialComparison::Result { effect, p, .. } = alike else { panic!("100 are enough") };
        assert!((effect - 0.5).abs() < 1e-9 && (p - 1.0).abs() < 1e-9);
    }

    /// Repeated looks must not find false differences more often than the error rate allows.
    #[test]
    fn repeated_looks_keep_the_error_rate() {
        let false_results = (0..200_u64).filter(|seed| {
            let (a, b) =
                (numbers(2 * seed + 1, 800, 1_000), numbers(2 * seed + 90_002, 800, 1_000));
            [100, 200, 400, 800].iter().any(|n| compare_groups(&a[..*n], &b[..*n]).is_significant())
        });
        assert!(false_results.count() <= 20, "the error rate is 5 %");
    }
}
