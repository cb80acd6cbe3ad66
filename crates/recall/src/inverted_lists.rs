//! Inverted file index (IVF, Sivic and Zisserman 2003): rows grouped by nearest centroid, so that a
//! query over many rows reads only some of the groups.
//!
//! A row is one quantised vector, a list one group of rows, and a centroid the mean vector of a list.
//! `plan_clusters` assigns every row to a list; `QuantizedVectors::apply_clusters` then moves the rows
//! into the order of their lists. Rows added later form a tail that every query scans, until
//! `needs_rebuild` reports that a new plan is due. `nearest_slots` probes the lists.
//!
//! ```text
//! rows      0 1 2 | 3 4 | 5 6 7 8 | 9 10
//!           list 0  list 1  list 2  tail      starts = [0, 3, 5, 9]
//! ```

use std::num::NonZero;

use crate::kmeans;
use crate::quantized_vectors::{NO_SLOT, QuantizedVectors, to_row_number};
use crate::simd::CodeBlock;

/// Up to here every row is scanned: exact, and no slower than embedding the query.
pub(crate) const MAX_FLAT_SCAN_ROWS: usize = 50_000;

/// Number of lists per square root of the number of rows. With √n lists, comparing the query with all
/// centroids costs about as much as reading one list.
const LISTS_PER_ROOT: usize = 2;

/// One list in this many is probed. On 32 000 sentences embedded by the built-in model, probing an
/// eighth found 94 % of the 30 nearest and a fifth 97 %: such vectors cluster weakly, hence the high
/// limit of the flat scan.
const PROBE_ONE_LIST_IN: usize = 5;

/// Centroids and boundaries of the lists.
#[derive(Clone, Debug)]
pub(crate) struct InvertedLists {
    pub(crate) centroids: Vec<CodeBlock>,
    /// First row of each list, then the first row of the tail.
    pub(crate) starts: Vec<u32>,
    /// Number of rows when the centroids were trained.
    n_trained: usize,
}

/// A target order of rows, made by [`QuantizedVectors::plan_clusters`] and applied by
/// [`QuantizedVectors::apply_clusters`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPlan {
    /// Epoch of the rows that it was made for; see [`QuantizedVectors`].
    pub(crate) epoch: u64,
    centroids: Vec<CodeBlock>,
    n_lists: usize,
    /// Number of rows when the centroids were trained.
    n_trained: usize,
    /// List of each row.
    list_of: Vec<u32>,
}

impl InvertedLists {
    pub(crate) const fn n_lists(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn tail_start(&self) -> usize {
        self.starts[self.n_lists()] as usize
    }

    /// Number of allowed rows that a query scans. A filter spreads them over more lists.
    pub(crate) fn n_probed_rows(&self) -> usize {
        self.tail_start() / PROBE_ONE_LIST_IN
    }

    /// True if the tail costs as much as the lists, or more than half of the rows are newer than the
    /// centroids.
    pub(crate) fn needs_rebuild(&self, n_rows: usize, n_live: usize) -> bool {
        let n_tail_rows = n_rows - self.tail_start();
        n_live > MAX_FLAT_SCAN_ROWS
            && (n_tail_rows > self.n_probed_rows() || self.is_outgrown(n_live))
    }

    /// True if the centroids were trained on less than half of the rows.
    const fn is_outgrown(&self, n_live: usize) -> bool {
        n_live > 2 * self.n_trained
    }

    /// List of each row before the tail.
    fn list_of_rows(&self) -> Vec<u32> {
        let mut list_of = Vec::with_capacity(self.tail_start());
        for (list, bounds) in (0_u32..).zip(self.starts.windows(2)) {
            // Fills the places up to the end of this list.
            let end = bounds[1] as usize;
            list_of.resize(end, list);
        }
        list_of
    }

    /// Shifts the boundaries as if dead rows were removed.
    pub(crate) fn remove_dead_rows(&mut self, slot_of: &[u32]) {
        // A boundary moves to the number of live rows before it.
        let (mut counted_until, mut n_live) = (0, 0);
        for start in &mut self.starts {
            let old_start = *start as usize;
            n_live += slot_of[counted_until..old_start].iter().filter(|it| **it != NO_SLOT).count();
            counted_until = old_start;
            *start = to_row_number(n_live);
        }
    }
}

/// Assigns every row to a list. Keeps the current centroids while they fit, and then only the rows of
/// the tail need a list; otherwise trains new ones.
pub(crate) fn plan_clusters(
    codes: &QuantizedVectors,
    epoch: u64,
    seed: u64,
    threads: NonZero<usize>,
) -> ClusterPlan {
    let n_rows = codes.slot_of.len();
    let reusable = codes.lists.as_ref().filter(|it| !it.is_outgrown(codes.len()));
    let mut plan = if let Some(lists) = reusable {
        ClusterPlan {
            epoch,
            centroids: lists.centroids.clone(),
            n_lists: lists.n_lists(),
            n_trained: lists.n_trained,
            list_of: lists.list_of_rows(),
        }
    } else {
        let n_lists = (LISTS_PER_ROOT * codes.len().isqrt()).min(codes.len());
        ClusterPlan {
            epoch,
            centroids: kmeans::train_centroids(codes, n_lists, seed, threads),
            n_lists,
            n_trained: codes.len(),
            list_of: Vec::new(),
        }
    };
    // Rows before the tail keep the list they have; the others get the one of the nearest centroid.
    let n_placed = plan.list_of.len();
    plan.list_of.resize(n_rows, 0);
    let unplaced_rows = &codes.blocks()[n_placed * codes.blocks_per_row()..];
    let unplaced_lists = &mut plan.list_of[n_placed..];
    kmeans::assign_centroids(unplaced_lists, unplaced_rows, &plan.centroids, plan.n_lists, threads);
    plan
}

impl ClusterPlan {
    /// The lists, and the target index of every row: by list, then rows newer than the plan, then
    /// dead rows. A counting sort whose groups are the lists, the tail and the dead rows.
    pub(crate) fn into_lists_and_targets(self, slot_of: &[u32]) -> (InvertedLists, Vec<u32>) {
        let (tail_group, dead_group) = (self.n_lists, self.n_lists + 1);
        let group_of = |row: usize, slot: u32| {
            if slot == NO_SLOT {
                return dead_group;
            }
            // Rows newer than the plan are beyond the end of `list_of`.
            self.list_of.get(row).map_or(tail_group, |list| *list as usize)
        };

        // Count the rows of each group one place to the right; prefix sums then make `starts[g]` the
        // first row of group `g`. The last place is the end of the last group.
        let mut starts = vec![0_u32; dead_group + 2];
        for (row, slot) in slot_of.iter().enumerate() {
            starts[group_of(row, *slot) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }

        // Give the rows of each group consecutive places, in their current order.
        let mut next_free = starts.clone();
        let mut targets = Vec::with_capacity(slot_of.len());
        for (row, slot) in slot_of.iter().enumerate() {
            let next = &mut next_free[group_of(row, *slot)];
            targets.push(*next);
            *next += 1;
        }

        // The caller drops the dead rows, so only lists and the start of the tail remain.
        starts.truncate(self.n_lists + 1);
        (InvertedLists { centroids: self.centroids, starts, n_trained: self.n_trained }, targets)
    }
}
