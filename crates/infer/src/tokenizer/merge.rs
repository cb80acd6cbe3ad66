//! Byte pair encoding (Sennrich et al. 2016): of all pairs of neighbouring tokens that a merge rule
//! covers, the one with the lowest rank is replaced by one token, until no rule applies. With the rules
//! `l i → li` (rank 0), `t s → ts` (rank 1) and `li m → lim` (rank 2):
//!
//! ```text
//! l i m i t s   →   li m i t s   →   li m i ts   →   lim i ts
//! ```
//!
//! Pending merges wait in a heap by rank; the tokens of a word form a doubly linked list, so that a
//! merge moves nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Marks a node whose token was merged into its left neighbour.
const MERGED_AWAY: u16 = u16::MAX;

/// Merge rules sorted by pair. Binary search is fast enough here.
pub(super) struct MergeTable {
    rows: Vec<MergeRule>,
}

#[derive(Clone, Copy)]
struct MergeRule {
    pair: (u16, u16),
    /// The lowest rank is merged first.
    rank: u16,
    merged: u16,
}

/// A node of the linked list: a token and the indexes of its neighbours. Beyond both ends of the list,
/// `before` and `after` are indexes that no node has.
struct TokenNode {
    token: u16,
    before: usize,
    after: usize,
}

impl MergeTable {
    /// Takes rules in order of rank; of two with the same pair the first counts.
    pub(super) fn new(merges: impl Iterator<Item = [u16; 3]>) -> Self {
        let mut rows = Vec::new();
        for ([left, right, merged], rank) in merges.zip(0..) {
            rows.push(MergeRule { pair: (left, right), rank, merged });
        }
        // Of two rules with the same pair, the one with the lower rank comes first and stays.
        rows.sort_unstable_by_key(|it| (it.pair, it.rank));
        rows.dedup_by_key(|it| it.pair);
        Self { rows }
    }

    /// Merges the tokens of the bytes of a word and appends the result. The time grows with `n log n`,
    /// so a word of a hundred kilobytes does no harm.
    pub(super) fn merge_word(&self, acc: &mut Vec<u16>, word: impl Iterator<Item = u16>) {
        let mut nodes = Vec::new();
        for (i, token) in word.enumerate() {
            // Before the first node: `usize::MAX`, which is no index.
            nodes.push(TokenNode { token, before: i.wrapping_sub(1), after: i + 1 });
        }
        // Every pair that a rule covers is a candidate. `Reverse` makes the heap pop the lowest rank.
        let mut pending = BinaryHeap::new();
        for left in 0..nodes.len() {
            self.push_merge(&mut pending, &nodes, left);
        }
        while let Some(Reverse(PendingMerge { left, pair, merged, .. })) = pending.pop() {
            // A pending merge is stale if one of its tokens was merged meanwhile.
            if pair_at(&nodes, left) != Some(pair) {
                continue;
            }
            // The left node takes the merged token; the right one is unlinked.
            let right = nodes[left].after;
            let after = nodes[right].after;
            nodes[right].token = MERGED_AWAY;
            nodes[left].token = merged;
            nodes[left].after = after;
            if let Some(next) = nodes.get_mut(after) {
                next.before = left;
            }
            // The new token forms new pairs on both sides.
            self.push_merge(&mut pending, &nodes, left);
            self.push_merge(&mut pending, &nodes, nodes[left].before);
        }
        acc.extend(nodes.iter().map(|it| it.token).filter(|it| *it != MERGED_AWAY));
    }

    /// Queues the merge of a node with its right neighbour, if a rule covers the pair.
    fn push_merge(
        &self,
        pending: &mut BinaryHeap<Reverse<PendingMerge>>,
        nodes: &[TokenNode],
        left: usize,
    ) {
        let Some(pair) = pair_at(nodes, left) else { return };
        if let Ok(i) = self.rows.binary_search_by_key(&pair, |it| it.pair) {
            let MergeRule { rank, merged, .. } = self.rows[i];
            pending.push(Reverse(PendingMerge { rank, left, pair, merged }));
        }
    }
}

/// A merge in the heap. Ordered by its fields in this order: of equal ranks the leftmost is first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PendingMerge {
    rank: u16,
    left: usize,
    pair: (u16, u16),
    merged: u16,
}

/// The tokens of a node and its right neighbour.
fn pair_at(nodes: &[TokenNode], left: usize) -> Option<(u16, u16)> {
    let node = nodes.get(left)?;
    Some((node.token, nodes.get(node.after)?.token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the tokens of a word. Letters are tokens; the rule `ab=X` merges `a` and `b` into `X`,
    /// earlier rules first.
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
    fn the_pair_with_the_lowest_rank_is_merged_first() {
        check("bc=X ab=Y", "abc", expect!["aX"]);
        check("ab=Y bc=X", "abc", expect!["Yc"]);
        check("ab=Y Yc=Z", "abcabc", expect!["ZZ"]);
    }

    #[test]
    fn of_equal_pairs_the_leftmost_is_merged_first() {
        check("aa=A", "aaaaa", expect!["AAa"]);
        check("aa=A AA=B", "aaaaaaa", expect!["BAa"]);
    }

    #[test]
    fn a_word_without_pairs_stays_as_it_is() {
        check("aa=A", "", expect![""]);
        check("aa=A", "b", expect!["b"]);
    }
}
