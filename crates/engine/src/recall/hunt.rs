//! The keyword path: memories of one notebook that hold words of a question.

use std::sync::{Arc, PoisonError};

use recall::{Match, Slots, Terms};
use store::{Holders, Lookup};

use super::book::{Shared, read};
use crate::find::expression;

/// From here on only the rarest words are asked for, as many as this many memories hold. Whoever
/// holds all words holds those as well, so that nobody who should be first is missed.
const HOLDERS: u64 = 1_000;

/// Everything it takes, so that it can be done in one visit to the store.
pub(super) struct Hunt {
    pub(super) terms: Vec<String>,
    pub(super) index: Shared,
    pub(super) allowed: Arc<Slots>,
}

impl Hunt {
    /// Those who may answer and hold some of the words, in no order.
    pub(super) fn run(&self, lookup: &Lookup<'_>) -> Result<Vec<Match>, store::Error> {
        let all: Vec<usize> = (0..self.terms.len()).collect();
        if read(&self.index).n_texts() <= HOLDERS {
            let holders = lookup.holders(&self.expression(&all))?;
            return Ok(self.weighed(&holders, &all, &n_holding(&holders, all.len())));
        }
        let holding = self.frequencies(lookup)?;
        let rarest = recall::rarest(&holding, HOLDERS);
        let holders = lookup.holders(&self.expression(&rarest))?;
        Ok(self.weighed(&holders, &rarest, &holding))
    }

    fn expression(&self, terms: &[usize]) -> String {
        let terms: Vec<String> = terms.iter().map(|it| self.terms[*it].clone()).collect();
        expression(&terms, " OR ")
    }

    /// `asked` are the terms that were looked for; `holding` is how many memories hold each of all.
    fn weighed(&self, holders: &Holders, asked: &[usize], holding: &[u64]) -> Vec<Match> {
        let index = read(&self.index);
        let terms = Terms::new(holding, index.n_texts(), index.n_words());
        let weigh = |(number, counts): (i64, &[[u8; 3]])| {
            let number = u32::try_from(number).ok().filter(|it| self.allowed.contains(*it))?;
            let counts = asked.iter().copied().zip(counts);
            Some(terms.weigh(number, index.words_of(number), counts))
        };
        holders.iter().filter_map(weigh).collect()
    }

    /// How many memories hold each term. Counting takes longer than everything else, so that what
    /// was counted is kept until the notebook has grown by a part.
    fn frequencies(&self, lookup: &Lookup<'_>) -> Result<Vec<u64>, store::Error> {
        let known: Vec<Option<u64>> = {
            let index = read(&self.index);
            self.terms.iter().map(|it| index.frequency(it)).collect()
        };
        let (mut res, mut counted) = (Vec::new(), Vec::new());
        for (term, known) in self.terms.iter().zip(known) {
            let n = match known {
                Some(n) => n,
                None => lookup.n_holding(&expression(std::slice::from_ref(term), ""))?,
            };
            counted.extend(known.is_none().then(|| (term.clone(), n)));
            res.push(n);
        }
        if !counted.is_empty() {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            index.note_frequencies(counted);
        }
        Ok(res)
    }
}

/// Counted from all who hold any of the terms.
fn n_holding(holders: &Holders, n_terms: usize) -> Vec<u64> {
    let mut res = vec![0; n_terms];
    for (_, counts) in holders.iter() {
        for (n, counts) in res.iter_mut().zip(counts) {
            *n += u64::from(*counts != [0; 3]);
        }
    }
    res
}
