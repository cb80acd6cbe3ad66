//! Aligns the keys of two statements, as `diff` aligns the lines of two files: the keys that both share in
//! the same order, and the gaps between them. A gap is where the statements differ; `differences.rs` judges
//! the gaps. A *key* is the canonical form of a word, number or path.
//!
//! ```text
//! left             retry limit 3
//! right    upload  retry limit 5
//!          gap     shared      gap
//! ```

use std::ops::Range;

/// A place where the two sequences differ, as a range of positions on each side. One side may be empty.
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
    // A table with a row per key on the left and a column per key on the right, and one more of each.
    let width = right.len() + 1;
    let cell = |i: usize, j: usize| i * width + j;
    // `longest[cell(i, j)]` is the length of the longest common subsequence of `left[i..]` and `right[j..]`.
    let mut longest = vec![0_u16; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            longest[cell(i, j)] = if left[i] == right[j] {
                longest[cell(i + 1, j + 1)] + 1
            } else {
                longest[cell(i + 1, j)].max(longest[cell(i, j + 1)])
            };
        }
    }
    // Walk the table from the start. A gap reaches from the last shared key to the next one.
    let mut acc = TermAlignment { shared: Vec::new(), gaps: Vec::new() };
    let (mut i, mut j) = (0, 0);
    let (mut gap_start_left, mut gap_start_right) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            push_gap(&mut acc.gaps, gap_start_left..i, gap_start_right..j);
            acc.shared.push((i, j));
            (i, j) = (i + 1, j + 1);
            (gap_start_left, gap_start_right) = (i, j);
            continue;
        }
        // Skip the key whose loss leaves the longer rest in common; the left one on a tie.
        if longest[cell(i + 1, j)] >= longest[cell(i, j + 1)] {
            i += 1;
        } else {
            j += 1;
        }
    }
    push_gap(&mut acc.gaps, gap_start_left..left.len(), gap_start_right..right.len());
    acc
}

/// Adds a gap unless it is empty on both sides.
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
