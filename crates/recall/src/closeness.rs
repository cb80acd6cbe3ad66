//! How close a memory's words are to a question's: BM25 with constants of our own.
//!
//! The usual constants (k1 1.2, b 0.75) suit articles. Memories are a sentence or two: a word said
//! twice says little more, and a long one is not worse for being long. Beside the score stands the
//! weight of the terms a memory holds, which tells a question that meets its subject from one that
//! meets a common word.

use model::words;

/// How soon another occurrence of a term stops to matter.
const K1: f64 = 0.8;
/// How much the length of a memory counts against it.
const B: f64 = 0.5;
/// What an occurrence counts in each column: content, tags, files.
const COLUMNS: [f64; 3] = [1.0, 0.6, 0.8];

/// What is the same for all memories of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// How telling each term is.
    weights: Vec<f64>,
    /// The words of a memory, on average.
    average: f64,
}

/// A memory that holds some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    pub number: u32,
    /// Higher is better.
    pub score: f64,
    /// The weight of the terms it holds, rare ones counting more.
    pub mass: f64,
    /// Their share in the weight of all terms.
    pub share: f64,
}

impl Terms {
    /// `holding` says for each term how many of `n_memories` hold it, `n_words` how many words they
    /// have together.
    pub fn new(holding: &[u64], n_memories: u64, n_words: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let average = n_words as f64 / n_memories.max(1) as f64;
        let weights = holding.iter().map(|it| words::weight(n_memories, *it)).collect();
        Self { weights, average: average.max(1.0) }
    }

    /// A memory of `length` words; `counts` names terms by their place, with the occurrences of each
    /// by column.
    pub fn weigh<'a>(
        &self,
        number: u32,
        length: u32,
        counts: impl Iterator<Item = (usize, &'a [u8; 3])>,
    ) -> Match {
        let norm = K1 * (1.0 - B + B * f64::from(length) / self.average);
        let (mut score, mut mass) = (0.0, 0.0);
        for (term, counts) in counts.filter(|it| *it.1 != [0; 3]) {
            let n: f64 = counts.iter().zip(COLUMNS).map(|(n, each)| f64::from(*n) * each).sum();
            score += self.weights[term] * n * (K1 + 1.0) / (n + norm);
            mass += self.weights[term];
        }
        let whole = self.weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        Match { number, score, mass, share: mass / whole }
    }
}

/// The rarest terms, as many as `limit` memories hold together, and at least one: every memory that
/// holds a term is weighed, and common terms cost most of the time and tell next to nothing.
pub fn rarest(holding: &[u64], limit: u64) -> Vec<usize> {
    let mut res: Vec<usize> = (0..holding.len()).collect();
    res.sort_by_key(|it| holding[*it]);
    let mut n_holding = 0;
    let fits = |it: &usize| {
        n_holding += holding[*it];
        n_holding <= limit
    };
    let n_fitting = res.iter().copied().take_while(fits).count();
    res.truncate(n_fitting.max(1));
    res.sort_unstable();
    res
}

/// The best `limit` matches, best first, and behind them whoever else was asked for; `also` is sorted.
pub fn best(mut matches: Vec<Match>, limit: usize, also: &[u32]) -> Vec<Match> {
    let better = |a: &Match, b: &Match| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number));
    if limit < matches.len() {
        matches.select_nth_unstable_by(limit, better);
        let mut rest = matches.split_off(limit);
        rest.retain(|it| also.binary_search(&it.number).is_ok());
        matches.append(&mut rest);
    }
    matches.sort_unstable_by(better);
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three memories of five words on average; the first term is in two of them, the second in one.
    fn terms() -> Terms {
        Terms::new(&[2, 1], 3, 15)
    }

    fn weigh(number: u32, length: u32, counts: &[[u8; 3]]) -> Match {
        terms().weigh(number, length, counts.iter().enumerate())
    }

    #[test]
    fn a_match_is_bm25_with_our_constants() {
        let found = weigh(7, 6, &[[2, 0, 0], [1, 0, 0]]);
        let weight = |holding: f64| ((3.0 - holding + 0.5) / (holding + 0.5)).ln_1p();
        let said = |n: f64| n * 1.8 / (n + 0.8 * (0.5 + 0.5 * 6.0 / 5.0));
        let expected = weight(2.0) * said(2.0) + weight(1.0) * said(1.0);
        assert!((found.score - expected).abs() < 1e-9, "{found:?} {expected}");
        assert!((found.share - 1.0).abs() < 1e-9);
        let half = weigh(8, 6, &[[1, 0, 0], [0, 0, 0]]);
        assert!((half.mass - weight(2.0)).abs() < 1e-9 && half.share < 1.0);
    }

    #[test]
    fn a_word_in_the_text_counts_more_than_one_in_a_tag() {
        let score = |counts: [u8; 3]| weigh(1, 5, &[counts, [0; 3]]).score;
        assert!(score([1, 0, 0]) > score([0, 0, 1]) && score([0, 0, 1]) > score([0, 1, 0]));
    }

    #[test]
    fn common_terms_are_left_out_when_they_would_be_all_the_work() {
        assert_eq!(rarest(&[900, 3, 40, 0], 1_000), [0, 1, 2, 3]);
        assert_eq!(rarest(&[5_000, 3, 40], 1_000), [1, 2]);
        assert_eq!(rarest(&[5_000, 7_000], 1_000), [0], "one term at least");
    }

    #[test]
    fn who_was_asked_for_stands_behind_the_best() {
        let all = [[9, 0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]];
        let all: Vec<Match> = (1..).zip(all).map(|(n, it)| weigh(n, 5, &[it, [0; 3]])).collect();
        let numbers = |limit, also: &[u32]| {
            best(all.clone(), limit, also).iter().map(|it| it.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(2, &[]), [1, 2]);
        assert_eq!(numbers(2, &[4]), [1, 2, 4]);
        assert_eq!(numbers(9, &[]), [1, 2, 3, 4]);
    }
}
