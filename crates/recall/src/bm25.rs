//! BM25 (Robertson and Zaragoza 2009) with constants for short texts.
//!
//! The usual constants (k1 1.2, b 0.75) suit articles. Memories are a sentence or two: a repeated
//! word adds little, and length is no defect. Beside the score, a match carries the sum of the idf of
//! its terms, which separates queries that hit their subject from queries that hit a common word.

use model::words;

/// Term frequency saturation.
const BM25_K1: f64 = 0.8;
/// Length normalisation.
const BM25_B: f64 = 0.5;
/// Weight of an occurrence by column: content, tags, files.
const COLUMN_WEIGHTS: [f64; 3] = [1.0, 0.6, 0.8];

/// Query-level constants: idf of each term and the average length.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25 {
    /// Inverse document frequency by term.
    idf: Vec<f64>,
    /// Average length of a memory in words.
    average_length: f64,
}

/// A memory that contains some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeywordMatch {
    pub number: u32,
    /// Higher is better.
    pub score: f64,
    /// Sum of the idf of the terms it contains.
    pub matched_idf: f64,
    /// That sum divided by the idf of all query terms.
    pub matched_idf_ratio: f64,
}

impl Bm25 {
    /// `holding` is the document frequency of each term among `n_memories`, `n_words` their total
    /// length.
    pub fn new(holding: &[u64], n_memories: u64, n_words: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let average = n_words as f64 / n_memories.max(1) as f64;
        let weights =
            holding.iter().map(|it| words::inverse_document_frequency(n_memories, *it)).collect();
        Self { idf: weights, average_length: average.max(1.0) }
    }

    /// Scores a memory of `length` words; `counts` gives the index of each term with its occurrences
    /// by column.
    pub fn score_memory<'a>(
        &self,
        number: u32,
        length: u32,
        counts: impl Iterator<Item = (usize, &'a [u8; 3])>,
    ) -> KeywordMatch {
        let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * f64::from(length) / self.average_length);
        let (mut score, mut mass) = (0.0, 0.0);
        for (term, counts) in counts.filter(|it| *it.1 != [0; 3]) {
            let n: f64 =
                counts.iter().zip(COLUMN_WEIGHTS).map(|(n, each)| f64::from(*n) * each).sum();
            score += self.idf[term] * n * (BM25_K1 + 1.0) / (n + norm);
            mass += self.idf[term];
        }
        let whole = self.idf.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        KeywordMatch { number, score, matched_idf: mass, matched_idf_ratio: mass / whole }
    }
}

/// The rarest terms whose document frequencies sum to at most `limit`, at least one term. Every
/// memory that contains a chosen term is scored, and common terms cost most and add least.
pub fn rarest_terms(holding: &[u64], limit: u64) -> Vec<usize> {
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

/// The best `limit` matches, best first, followed by the other matches listed in `also` (sorted).
pub fn best_matches(
    mut matches: Vec<KeywordMatch>,
    limit: usize,
    also: &[u32],
) -> Vec<KeywordMatch> {
    let better = |a: &KeywordMatch, b: &KeywordMatch| {
        b.score.total_cmp(&a.score).then(a.number.cmp(&b.number))
    };
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
    fn terms() -> Bm25 {
        Bm25::new(&[2, 1], 3, 15)
    }

    fn weigh(number: u32, length: u32, counts: &[[u8; 3]]) -> KeywordMatch {
        terms().score_memory(number, length, counts.iter().enumerate())
    }

    #[test]
    fn a_match_is_bm25_with_our_constants() {
        let found = weigh(7, 6, &[[2, 0, 0], [1, 0, 0]]);
        let weight = |holding: f64| ((3.0 - holding + 0.5) / (holding + 0.5)).ln_1p();
        let said = |n: f64| n * 1.8 / (n + 0.8 * (0.5 + 0.5 * 6.0 / 5.0));
        let expected = weight(2.0) * said(2.0) + weight(1.0) * said(1.0);
        assert!((found.score - expected).abs() < 1e-9, "{found:?} {expected}");
        assert!((found.matched_idf_ratio - 1.0).abs() < 1e-9);
        let half = weigh(8, 6, &[[1, 0, 0], [0, 0, 0]]);
        assert!((half.matched_idf - weight(2.0)).abs() < 1e-9 && half.matched_idf_ratio < 1.0);
    }

    #[test]
    fn a_word_in_the_text_counts_more_than_one_in_a_tag() {
        let score = |counts: [u8; 3]| weigh(1, 5, &[counts, [0; 3]]).score;
        assert!(score([1, 0, 0]) > score([0, 0, 1]) && score([0, 0, 1]) > score([0, 1, 0]));
    }

    #[test]
    fn common_terms_are_left_out_when_they_would_be_all_the_work() {
        assert_eq!(rarest_terms(&[900, 3, 40, 0], 1_000), [0, 1, 2, 3]);
        assert_eq!(rarest_terms(&[5_000, 3, 40], 1_000), [1, 2]);
        assert_eq!(rarest_terms(&[5_000, 7_000], 1_000), [0], "one term at least");
    }

    #[test]
    fn who_was_asked_for_stands_behind_the_best() {
        let all = [[9, 0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]];
        let all: Vec<KeywordMatch> =
            (1..).zip(all).map(|(n, it)| weigh(n, 5, &[it, [0; 3]])).collect();
        let numbers = |limit, also: &[u32]| {
            best_matches(all.clone(), limit, also).iter().map(|it| it.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(2, &[]), [1, 2]);
        assert_eq!(numbers(2, &[4]), [1, 2, 4]);
        assert_eq!(numbers(9, &[]), [1, 2, 3, 4]);
    }
}
