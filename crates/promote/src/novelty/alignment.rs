//! Aligns the keys of two statements: the keys that both share in the same order, and the gaps between
//! them. A gap is where the statements differ, so that `differences.rs` judges the gaps.

use std::ops::Range;

/// A range in which the two sequences differ. One side may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlignmentGap {
    pub left: Range<usize>,
    pub right: Range<usize>,
}

/// The alignment of two sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermAlignment {
    /// Positions of equal keys on the left and on the right.
    pub shared: Vec<(usize, usize)>,
    pub gaps: Vec<AlignmentGap>,
}

/// Aligns by the longest common subsequence (dynamic programming). Quadratic, so that the caller bounds the
/// lengths.
pub(crate) fn align_keys(left: &[&str], right: &[&str]) -> TermAlignment {
    let width = right.len() + 1;
    // `longest[i * width + j]` is the length of the longest subsequence of `left[i..]` and `right[j..]`.
    let mut longest = vec![0_u16; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            longest[i * width + j] = if left[i] == right[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    // Walk the table from the start. A gap reaches from the last shared key to the next one.
    let mut acc = TermAlignment { shared: Vec::new(), gaps: Vec::new() };
    let (mut i, mut j) = (0, 0);
    let (mut gap_i, mut gap_j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            push_gap(&mut acc.gaps, gap_i..i, gap_j..j);
            acc.shared.push((i, j));
            (i, j) = (i + 1, j + 1);
            (gap_i, gap_j) = (i, j);
        // Step to the side that keeps the longer rest; the left one on a tie.
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    push_gap(&mut acc.gaps, gap_i..left.len(), gap_j..right.len());
    acc
}

fn push_gap(acc: &mut Vec<AlignmentGap>, left: Range<usize>, right: Range<usize>) {
    if !left.is_empty() || !right.is_empty() {
        acc.push(AlignmentGap { left, right });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_between_shared_keys() {
        let alignment = align_keys(&["retry", "limit", "3"], &["upload", "retry", "limit", "5"]);
        assert_eq!(alignment.shared, [(0, 1), (1, 2)]);
        assert_eq!(
            alignment.gaps,
            [AlignmentGap { left: 0..0, right: 0..1 }, AlignmentGap { left: 2..3, right: 3..4 }]
        );
        assert_eq!(align_keys(&[], &[]).gaps, []);
    }
}
