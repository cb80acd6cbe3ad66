//! Byte pair encoding: the most urgent pair of neighbours becomes one token, until none is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A place whose token went into its left neighbour.
const MERGED_AWAY: u16 = u16::MAX;

/// Merge rules sorted by pair. Binary search is fast enough here.
pub(super) struct MergeTable {
    rows: Vec<MergeRule>,
}

#[derive(Clone, Copy)]
struct MergeRule {
    pair: (u16, u16),
    /// The lower, the sooner.
    rank: u16,
    becomes: u16,
}

/// Tokens of a word as a list with links, so that merging moves nothing.
struct TokenNode {
    token: u16,
    before: usize,
    after: usize,
}

impl MergeTable {
    /// Takes rules in order of rank; of two with the same pair the first counts.
    pub(super) fn new(merges: impl Iterator<Item = [u16; 3]>) -> Self {
        let row = |([left, right, becomes], rank): ([u16; 3], u16)| MergeRule {
            pair: (left, right),
            rank,
            becomes,
        };
        let mut rows: Vec<MergeRule> = merges.zip(0..).map(row).collect();
        rows.sort_unstable_by_key(|it| (it.pair, it.rank));
        rows.dedup_by_key(|it| it.pair);
        Self { rows }
    }

    /// Time grows with `n log n`, so a word of a hundred kilobytes is no trap.
    pub(super) fn merge_word(&self, acc: &mut Vec<u16>, word: impl Iterator<Item = u16>) {
        let place =
            |(i, token): (usize, u16)| TokenNode { token, before: i.wrapping_sub(1), after: i + 1 };
        let mut places: Vec<TokenNode> = word.enumerate().map(place).collect();
        let mut due = BinaryHeap::new();
        for left in 0..places.len() {
            self.push_merge(&mut due, &places, left);
        }
        while let Some(Reverse((_, left, pair, becomes))) = due.pop() {
            // A pending merge is stale if one of its tokens was merged meanwhile.
            if pair_at(&places, left) != Some(pair) {
                continue;
            }
            let right = places[left].after;
            let after = places[right].after;
            places[right].token = MERGED_AWAY;
            places[left].token = becomes;
            places[left].after = after;
            if let Some(it) = places.get_mut(after) {
                it.before = left;
            }
            self.push_merge(&mut due, &places, left);
            self.push_merge(&mut due, &places, places[left].before);
        }
        acc.extend(places.iter().map(|it| it.token).filter(|it| *it != MERGED_AWAY));
    }

    fn push_merge(
        &self,
        due: &mut BinaryHeap<Reverse<PendingMerge>>,
        places: &[TokenNode],
        left: usize,
    ) {
        let Some(pair) = pair_at(places, left) else { return };
        if let Ok(i) = self.rows.binary_search_by_key(&pair, |it| it.pair) {
            due.push(Reverse((self.rows[i].rank, left, pair, self.rows[i].becomes)));
        }
    }
}

/// Rank, place, pair and what it becomes; of equal ranks the leftmost is first.
type PendingMerge = (u16, usize, (u16, u16), u16);

fn pair_at(places: &[TokenNode], left: usize) -> Option<(u16, u16)> {
    let it = places.get(left)?;
    Some((it.token, places.get(it.after)?.token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Letters are tokens; `ab=X` makes `X` of `a` and `b`, earlier rules first.
    fn check(rules: &str, word: &str, expect: Expect) {
        let byte = |it: u8| u16::from(it);
        let rule = |it: &str| {
            let it = it.as_bytes();
            [byte(it[0]), byte(it[1]), byte(it[3])]
        };
        let merges = MergeTable::new(rules.split(' ').map(rule));
        let mut acc = Vec::new();
        merges.merge_word(&mut acc, word.bytes().map(byte));
        let tokens = acc.iter().map(|it| char::from(u8::try_from(*it).unwrap()));
        expect.assert_eq(&tokens.collect::<String>());
    }

    #[test]
    fn the_most_urgent_pair_goes_first() {
        check("bc=X ab=Y", "abc", expect!["aX"]);
        check("ab=Y bc=X", "abc", expect!["Yc"]);
        check("ab=Y Yc=Z", "abcabc", expect!["ZZ"]);
    }

    #[test]
    fn of_equals_the_leftmost_goes_first() {
        check("aa=A", "aaaaa", expect!["AAa"]);
        check("aa=A AA=B", "aaaaaaa", expect!["BAa"]);
    }

    #[test]
    fn nothing_to_merge_is_fine() {
        check("aa=A", "", expect![""]);
        check("aa=A", "b", expect!["b"]);
    }
}
