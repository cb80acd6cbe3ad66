//! Filtered nearest-neighbour search over quantised vectors.
//!
//! A *code* is a vector quantised to int8. A *slot* is the number of a memory. It has one or more
//! *rows*, each a code. `codes` is always the [`QuantizedVectors`], which stores the rows one after the
//! other; its field `slot_of` has the slot of each row. A deleted row keeps its place there:
//! `codes.slot_of.len()` counts it, `codes.len()` does not.
//!
//! A query is one more such vector with a filter, the set of allowed slots. It gets the `k` allowed
//! slots whose rows have the largest dot products with it, or all if fewer are allowed. For example,
//! with `k` = 2, slots 3, 5 and 8 allowed:
//!
//! ```text
//! row   slot   dot product
//!   0      3           900   → slot 3, dot 900
//!   1      4          1200     (not allowed)
//!   2      5           400   → second row of slot 5 is nearer
//!   3      8           100
//!   4      5           700   → slot 5, dot 700
//! ```
//!
//! [`ScanPlan`] chooses one of three ways to read the rows. Scanning every row and looking up the rows
//! of the allowed slots are exact. In a large notebook with a weak filter, *inverted lists* are probed
//! instead: groups of similar rows, each with a mean vector (its centroid). The groups with the nearest
//! centroids are scanned first, until a fixed number of allowed rows was scanned; that misses a few
//! percent of the nearest slots but never returns one that is not allowed.

use std::cmp::Reverse;
use std::ops::Range;

use model::CpuLevel;

use crate::inverted_lists::{InvertedLists, MAX_FLAT_SCAN_ROWS};
use crate::quantized_vectors::{CodeError, QuantizedVectors, to_row_number};
use crate::simd::{self, CodeBlock};
use crate::slot_set::SlotSet;

/// One result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearSlot {
    pub slot: u32,
    /// Dot product with the nearest row of the slot.
    pub dot: i32,
}

/// Rows whose dot products are computed together. Their results fit into the first-level cache.
const ROWS_PER_CHUNK: usize = 256;

/// If fewer than one slot in this many is allowed, rows are looked up by slot instead of scanned. A
/// looked-up row costs more than a scanned one, because it is anywhere in memory.
const LOOKUP_BELOW_ONE_IN: usize = 20;

/// If fewer than one slot in this many is allowed, a scan applies the filter before the dot products.
/// Otherwise it computes all of them, in one pass without branches, and filters only the near rows.
const PREFILTER_BELOW_ONE_IN: usize = 4;

/// Offers collected beyond `2 * k` before they are pruned, so that a small `k` does not prune after
/// every few offers.
const EXTRA_OFFERS: usize = 64;

/// Finds the `k` nearest slots, best first; ties by slot.
pub fn nearest_slots(
    codes: &QuantizedVectors,
    query: &[i8],
    allowed: &SlotSet,
    k: usize,
) -> Result<Vec<NearSlot>, CodeError> {
    codes.check_length(query)?;
    Ok(search_rows(codes, query, allowed, k, MAX_FLAT_SCAN_ROWS))
}

/// [`nearest_slots`] for a query of the right length. Up to `max_flat_rows` rows are searched
/// exactly; tests lower it to reach the inverted lists.
fn search_rows(
    codes: &QuantizedVectors,
    query: &[i8],
    allowed: &SlotSet,
    k: usize,
    max_flat_rows: usize,
) -> Vec<NearSlot> {
    // Slots that are allowed but have no row here do not count.
    let n_allowed = codes.present.intersection_count(allowed);
    let n_slots = codes.present.count();
    if k == 0 || n_allowed == 0 {
        return Vec::new();
    }
    // The SIMD kernels read vectors as blocks of 64 values.
    let mut query_blocks = Vec::with_capacity(codes.blocks_per_row());
    simd::append_blocks(&mut query_blocks, query);
    let scan = QueryScan {
        codes,
        level: CpuLevel::detect_best(),
        query: &query_blocks,
        allowed,
        n_allowed,
        n_slots,
    };
    let mut best = TopSlots::new(k.min(n_allowed));
    match ScanPlan::choose(codes, n_allowed, n_slots, max_flat_rows) {
        ScanPlan::ProbeLists(lists) => scan.scan_lists(&mut best, lists),
        // Deleted rows are included, because they lie between the others; no filter allows their slot.
        ScanPlan::AllRows => {
            scan.scan_rows(&mut best, 0..codes.slot_of.len());
        }
        ScanPlan::LookUpSlots => scan.scan_slots(&mut best),
    }
    best.into_sorted()
}

/// The way in which a query reads the rows.
enum ScanPlan<'a> {
    /// Approximate: the nearest inverted lists and the rows added since they were built.
    ProbeLists(&'a InvertedLists),
    /// Exact: every row in the order of memory.
    AllRows,
    /// Exact: only the rows of the allowed slots, each found by its slot.
    LookUpSlots,
}

impl<'a> ScanPlan<'a> {
    /// Chooses the way that should be fastest for this share of allowed slots.
    fn choose(
        codes: &'a QuantizedVectors,
        n_allowed: usize,
        n_slots: usize,
        max_flat_rows: usize,
    ) -> Self {
        let is_large = codes.len() > max_flat_rows;
        if is_large && let Some(lists) = &codes.lists {
            // Estimated by the average number of rows per slot.
            let n_allowed_rows = n_allowed * codes.len() / n_slots;
            // If the lists would scan every allowed row anyway, looking them up is exact and cheaper.
            return if n_allowed_rows > lists.n_probed_rows() {
                Self::ProbeLists(lists)
            } else {
                Self::LookUpSlots
            };
        }
        let is_strict_filter = n_allowed * LOOKUP_BELOW_ONE_IN < n_slots;
        if is_strict_filter { Self::LookUpSlots } else { Self::AllRows }
    }
}

/// A query prepared for scanning rows.
struct QueryScan<'a> {
    codes: &'a QuantizedVectors,
    /// The instruction set for the dot products.
    level: CpuLevel,
    query: &'a [CodeBlock],
    allowed: &'a SlotSet,
    /// Allowed slots that have a row.
    n_allowed: usize,
    /// All slots that have a row.
    n_slots: usize,
}

impl QueryScan<'_> {
    /// Scans the tail (rows added after the lists were built, in no list yet), then lists nearest first
    /// until enough allowed rows are scanned and `k` slots are found.
    fn scan_lists(&self, best: &mut TopSlots, lists: &InvertedLists) {
        self.scan_rows(best, lists.tail_start()..self.codes.slot_of.len());

        // Order the lists by the dot product of the query with their centroids.
        let mut dots = vec![0; lists.n_lists()];
        simd::dot_rows(self.level, &mut dots, self.query, &lists.centroids);
        let mut nearest_first: Vec<DotKey> =
            (0..).zip(dots).map(|(list, dot)| DotKey::new(dot, list)).collect();
        nearest_first.sort_unstable_by(|a, b| b.cmp(a));

        let mut n_rows_to_scan = lists.n_probed_rows();
        for key in nearest_first {
            // Both conditions: a filter may leave fewer than `k` slots in the lists probed so far.
            if n_rows_to_scan == 0 && best.has_k_slots() {
                break;
            }
            // The rows of a list end where the next list (after the last: the tail) starts.
            let list = key.number() as usize;
            let (from, until) = (lists.starts[list], lists.starts[list + 1]);
            let n_scanned = self.scan_rows(best, from as usize..until as usize);
            n_rows_to_scan = n_rows_to_scan.saturating_sub(n_scanned);
        }
    }

    /// Scans only the rows of the allowed slots.
    fn scan_slots(&self, best: &mut TopSlots) {
        let mut picks = Vec::with_capacity(ROWS_PER_CHUNK);
        for row in self.allowed.iter().flat_map(|slot| self.codes.rows_of(slot)) {
            picks.push(row);
            if picks.len() == ROWS_PER_CHUNK {
                self.scan_picked(best, &picks);
                picks.clear();
            }
        }
        self.scan_picked(best, &picks);
    }

    /// Scans consecutive rows. Returns how many of them were allowed, estimated if the filter runs
    /// after the dot products.
    fn scan_rows(&self, best: &mut TopSlots, rows: Range<usize>) -> usize {
        // If the filter drops most rows, it is cheaper to apply it before the dot products.
        let filters_first = self.n_allowed * PREFILTER_BELOW_ONE_IN < self.n_slots;
        let mut n_allowed_rows = 0;
        let mut picks = Vec::with_capacity(ROWS_PER_CHUNK);
        for from in rows.clone().step_by(ROWS_PER_CHUNK) {
            let chunk = from..(from + ROWS_PER_CHUNK).min(rows.end);
            if filters_first {
                picks.clear();
                for row in chunk {
                    if self.allowed.contains(self.codes.slot_of[row]) {
                        picks.push(to_row_number(row));
                    }
                }
                n_allowed_rows += picks.len();
                self.scan_picked(best, &picks);
            } else {
                n_allowed_rows += chunk.len() * self.n_allowed / self.n_slots;
                self.scan_chunk(best, chunk);
            }
        }
        n_allowed_rows
    }

    /// Scans consecutive rows and applies the filter to the few that are near enough.
    fn scan_chunk(&self, best: &mut TopSlots, rows: Range<usize>) {
        let mut dots = [0; ROWS_PER_CHUNK];
        let dots = &mut dots[..rows.len()];
        let blocks_per_row = self.query.len();
        let blocks = &self.codes.blocks()[rows.start * blocks_per_row..rows.end * blocks_per_row];
        simd::dot_rows(self.level, dots, self.query, blocks);
        // Most chunks contain no candidate; the maximum decides that without a loop over slots.
        let nearest_dot = dots.iter().copied().max();
        if nearest_dot.is_none_or(|dot| dot < best.threshold_dot) {
            return;
        }
        for (dot, slot) in dots.iter().zip(&self.codes.slot_of[rows]) {
            if *dot >= best.threshold_dot && self.allowed.contains(*slot) {
                best.offer(*dot, *slot);
            }
        }
    }

    /// Scans rows that the filter allows.
    fn scan_picked(&self, best: &mut TopSlots, picks: &[u32]) {
        let mut dots = [0; ROWS_PER_CHUNK];
        let dots = &mut dots[..picks.len()];
        simd::dot_picked_rows(self.level, dots, self.query, self.codes.blocks(), picks);
        for (dot, row) in dots.iter().zip(picks) {
            if *dot >= best.threshold_dot {
                best.offer(*dot, self.codes.slot_of[*row as usize]);
            }
        }
    }
}

/// The best `k` slots so far. An *offer* is a scanned row that may be among them. Offers are collected
/// and pruned in batches, which is cheaper than a heap and merges rows of the same slot in one place.
struct TopSlots {
    k: usize,
    /// Dot products and slots; several offers may be of one slot.
    offers: Vec<DotKey>,
    /// The worst of the best `k` slots, which an offer must exceed; `None` until `k` slots are known.
    threshold: Option<DotKey>,
    /// The dot product of `threshold`, for a test without making a key; lowest possible without one.
    /// A row with this very dot product may still exceed the threshold by its slot, so scans let it
    /// pass (`>=`) and `offer` compares the keys.
    threshold_dot: i32,
}

impl TopSlots {
    fn new(k: usize) -> Self {
        Self {
            k,
            offers: Vec::with_capacity(max_offers(k)),
            threshold: None,
            threshold_dot: i32::MIN,
        }
    }

    fn offer(&mut self, dot: i32, slot: u32) {
        let key = DotKey::new(dot, slot);
        if self.threshold.is_some_and(|threshold| key <= threshold) {
            return;
        }
        self.offers.push(key);
        if self.offers.len() == max_offers(self.k) {
            self.prune_offers();
        }
    }

    /// True if `k` different slots are known. Prunes, because several offers may be of one slot.
    fn has_k_slots(&mut self) -> bool {
        if self.threshold.is_some() {
            return true;
        }
        self.prune_offers();
        self.offers.len() == self.k
    }

    /// Keeps the best offer of each slot, then the best `k` of those.
    fn prune_offers(&mut self) {
        // Within a slot the best offer comes first, and `dedup` keeps the first.
        self.offers.sort_unstable_by_key(|key| (key.number(), Reverse(*key)));
        self.offers.dedup_by_key(|key| key.number());
        if self.offers.len() < self.k {
            return;
        }
        // Moves the best `k` to the front, in any order but with the worst of them last.
        let (_, kth, _) = self.offers.select_nth_unstable_by(self.k - 1, |a, b| b.cmp(a));
        self.threshold = Some(*kth);
        self.threshold_dot = kth.dot();
        self.offers.truncate(self.k);
    }

    fn into_sorted(mut self) -> Vec<NearSlot> {
        self.prune_offers();
        self.offers.sort_unstable_by(|a, b| b.cmp(a));
        let to_near_slot = |key: &DotKey| NearSlot { slot: key.number(), dot: key.dot() };
        self.offers.iter().map(to_near_slot).collect()
    }
}

/// Offers that are collected before they are pruned to `k`. At twice `k`, the sort is paid at most
/// once per `k` offers.
const fn max_offers(k: usize) -> usize {
    2 * k + EXTRA_OFFERS
}

/// The sign bit of a dot product. Flipping it makes the unsigned order of the bits the signed order of
/// the numbers.
const SIGN_BIT: u32 = 1 << 31;

/// A dot product with the number of a slot or list, in one integer, which sorts faster than a pair.
/// The dot product is the high half; the low half is the inverted number. So a larger key means a
/// larger dot product, and among equal ones a smaller number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DotKey(u64);

impl DotKey {
    fn new(dot: i32, number: u32) -> Self {
        Self(u64::from(dot.cast_unsigned() ^ SIGN_BIT) << 32 | u64::from(!number))
    }

    const fn dot(self) -> i32 {
        ((self.0 >> 32) as u32 ^ SIGN_BIT).cast_signed()
    }

    #[expect(clippy::cast_possible_truncation, reason = "only the low half is meant")]
    const fn number(self) -> u32 {
        !(self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::centering::VectorStats;
    use crate::quantized_vectors::StaleClusterPlan;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::num::NonZero;

    const ONE_THREAD: NonZero<usize> = NonZero::<usize>::MIN;

    /// The rows of each slot in plain form; tests change it together with the tested codes.
    type Rows = BTreeMap<u32, Vec<Vec<i8>>>;

    fn push(codes: &mut QuantizedVectors, rows: &mut Rows, slot: u32, code: Vec<i8>) {
        codes.push_row(slot, &code).unwrap();
        rows.entry(slot).or_default().push(code);
    }

    fn remove(codes: &mut QuantizedVectors, rows: &mut Rows, slot: u32) {
        codes.remove_slot(slot);
        rows.remove(&slot);
    }

    /// Searches the inverted lists even in a small index.
    fn search_lists(
        codes: &QuantizedVectors,
        query: &[i8],
        allowed: &SlotSet,
        k: usize,
    ) -> Vec<NearSlot> {
        search_rows(codes, query, allowed, k, 0)
    }

    /// The exact result by brute force.
    fn brute_force(rows: &Rows, query: &[i8], allowed: &SlotSet, k: usize) -> Vec<NearSlot> {
        // Codes never hold −128, see `simd`.
        let clamp = |it: &i8| i32::from(*it).max(-127);
        let dot =
            |row: &Vec<i8>| row.iter().zip(query).map(|(a, b)| clamp(a) * clamp(b)).sum::<i32>();
        let mut res = Vec::new();
        for (slot, rows) in rows {
            if allowed.contains(*slot) {
                res.push(NearSlot { slot: *slot, dot: rows.iter().map(dot).max().unwrap() });
            }
        }
        res.sort_by_key(|it| (-it.dot, it.slot));
        res.truncate(k);
        res
    }

    /// One row per slot, scattered around centres, so that lists are better than chance.
    fn clustered_rows(n_rows: u32, n_centres: u64, dims: usize) -> (QuantizedVectors, Rows) {
        let (mut codes, mut rows) = (QuantizedVectors::new(dims), Rows::new());
        for slot in 0..n_rows {
            let code = clustered_code(u64::from(slot), n_centres, dims);
            push(&mut codes, &mut rows, slot, code);
        }
        (codes, rows)
    }

    /// The code of a row: its centre plus half as much noise, in −60..=60.
    fn clustered_code(row: u64, n_centres: u64, dims: usize) -> Vec<i8> {
        let mut acc = Vec::new();
        for dim in 0..dims as u64 {
            let centre = mix_bits((mix_bits(row) % n_centres) << 32 | dim) % 81;
            let noise = mix_bits(row << 20 | dim | 1 << 60) % 41;
            acc.push(i8::try_from(centre + noise).unwrap() - 60);
        }
        acc
    }

    /// A pseudo-random number for each number (`SplitMix64`).
    const fn mix_bits(number: u64) -> u64 {
        let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// About one in `one_in` of the slots below `n`.
    fn sample_slots(n: u32, one_in: u64) -> SlotSet {
        (0..n).filter(|it| mix_bits(u64::from(*it) << 7).is_multiple_of(one_in)).collect()
    }

    proptest! {
        #[test]
        fn a_flat_scan_is_exact(
            dims in 1_usize..80,
            // Slot, factor of the code, and whether the slot is removed instead of given a row.
            steps in prop::collection::vec((0_u32..60, -3_i8..4, any::<bool>()), 0..400),
            noise in prop::collection::vec(any::<i8>(), 80),
            allowed in prop::collection::vec(0_u32..70, 0..70),
            k in 0_usize..20,
        ) {
            let (mut codes, mut rows) = (QuantizedVectors::new(dims), Rows::new());
            for (slot, factor, is_removal) in steps {
                // Few different codes, so that ties are common.
                let code = noise[..dims].iter().map(|it| it.wrapping_mul(factor)).collect();
                if is_removal {
                    remove(&mut codes, &mut rows, slot);
                } else {
                    push(&mut codes, &mut rows, slot, code);
                }
                prop_assert_eq!(codes.contains(slot), !is_removal);
            }
            prop_assert_eq!(codes.len(), rows.values().map(Vec::len).sum::<usize>());
            for allowed in [allowed.into_iter().collect(), SlotSet::first_n(100), SlotSet::first_n(3)] {
                let found = nearest_slots(&codes, &noise[..dims], &allowed, k).unwrap();
                prop_assert_eq!(found, brute_force(&rows, &noise[..dims], &allowed, k));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn inverted_lists_respect_the_filter_and_return_as_many_slots_as_allowed(
            n_rows in 600_u32..2500,
            seed: u64,
            one_in in 1_u64..60,
            removed in prop::collection::vec(0_u32..2500, 0..900),
            n_late in 0_u32..200,
            k in 1_usize..200,
        ) {
            let (mut codes, mut rows) = clustered_rows(n_rows, 20, 12);
            let plan = codes.plan_clusters(seed, ONE_THREAD);
            // Changes between the making and the applying of a plan are not lost.
            push(&mut codes, &mut rows, 3, vec![9; 12]);
            remove(&mut codes, &mut rows, 4);
            codes.apply_clusters(plan).unwrap();
            for slot in removed {
                remove(&mut codes, &mut rows, slot);
            }
            // Rows added after clustering form the tail.
            for slot in 0..n_late {
                let code = clustered_code(u64::from(slot) + 9999, 20, 12);
                push(&mut codes, &mut rows, slot * 7, code);
            }

            // Search with a tail, then without one after a second clustering.
            let (allowed, query) = (sample_slots(2600, one_in), clustered_code(seed >> 40, 20, 12));
            for is_clustered_again in [false, true] {
                if is_clustered_again {
                    let plan = codes.plan_clusters(seed, ONE_THREAD);
                    codes.apply_clusters(plan).unwrap();
                }
                let found = search_lists(&codes, &query, &allowed, k);
                let exact = brute_force(&rows, &query, &allowed, usize::MAX);
                prop_assert_eq!(found.len(), k.min(exact.len()));
                prop_assert!(found.is_sorted_by_key(|it| (-it.dot, it.slot)));
                // Every result is allowed; its nearest row may be in a list that was not probed.
                for near in &found {
                    let best = exact.iter().find(|it| it.slot == near.slot);
                    prop_assert!(best.is_some_and(|it| it.dot >= near.dot), "{:?}", near);
                }
                // The flat scan over the same, reordered rows is exact.
                prop_assert_eq!(nearest_slots(&codes, &query, &allowed, k).unwrap(), &exact[..found.len()]);
            }
        }
    }

    #[test]
    fn inverted_lists_find_98_percent_of_the_nearest_with_any_filter() {
        let (mut codes, rows) = clustered_rows(20_000, 300, 64);
        let plan = codes.plan_clusters(1, NonZero::new(2).unwrap());
        codes.apply_clusters(plan).unwrap();
        for one_in in [1, 2, 3, 5, 8, 20, 100] {
            let allowed = sample_slots(20_000, one_in);
            let (mut n_found, mut n_exact) = (0, 0);
            for query in 0..20 {
                let query = clustered_code(query + 1_000_000, 300, 64);
                let exact = brute_force(&rows, &query, &allowed, 30);
                let found = search_lists(&codes, &query, &allowed, 30);
                n_exact += exact.len();
                n_found += exact.iter().filter(|it| found.contains(it)).count();
            }
            assert!(n_found * 100 >= n_exact * 98, "{n_found} of {n_exact}, 1 in {one_in} allowed");
        }
    }

    #[test]
    fn a_cluster_plan_depends_on_its_seed_but_not_on_the_number_of_threads() {
        let (codes, _) = clustered_rows(3000, 50, 40);
        let plan = codes.plan_clusters(5, ONE_THREAD);
        for threads in [2, 3, 7] {
            assert!(
                codes.plan_clusters(5, NonZero::new(threads).unwrap()) == plan,
                "{threads} threads"
            );
        }
        assert!(codes.plan_clusters(6, ONE_THREAD) != plan);
    }

    #[test]
    fn a_cluster_plan_is_rejected_after_rows_have_moved() {
        let (mut codes, mut rows) = clustered_rows(1000, 10, 8);
        let plan = codes.plan_clusters(1, ONE_THREAD);
        // Enough removals for a compaction, which moves rows.
        (0..400).for_each(|slot| remove(&mut codes, &mut rows, slot));
        assert_eq!(codes.apply_clusters(plan), Err(StaleClusterPlan));

        // The index still answers, without clusters.
        let query = clustered_code(5, 10, 8);
        let found = nearest_slots(&codes, &query, &SlotSet::first_n(1000), 9).unwrap();
        assert_eq!(found, brute_force(&rows, &query, &SlotSet::first_n(1000), 9));
    }

    proptest! {
        #[test]
        fn rows_that_were_written_and_read_again_are_searched_alike(
            dims in 0_usize..80,
            // Slot, factor of the code, and whether the slot is removed instead of given a row.
            steps in prop::collection::vec((0_u32..60, -3_i8..4, any::<bool>()), 0..200),
            noise in prop::collection::vec(any::<i8>(), 80),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut codes = QuantizedVectors::new(dims);
            for (slot, factor, is_removal) in steps {
                if is_removal {
                    codes.remove_slot(slot);
                } else {
                    let code: Vec<i8> = noise[..dims].iter().map(|it| it.wrapping_mul(factor)).collect();
                    codes.push_row(slot, &code).unwrap();
                }
            }
            let mut bytes = Vec::new();
            codes.append_bytes(&mut bytes);
            let read = QuantizedVectors::from_bytes(dims, &bytes).unwrap();
            prop_assert_eq!(read.len(), codes.len());
            prop_assert_eq!(VectorStats::from_codes(&read), VectorStats::from_codes(&codes));
            let everything = SlotSet::first_n(100);
            prop_assert_eq!(
                nearest_slots(&read, &noise[..dims], &everything, 9),
                nearest_slots(&codes, &noise[..dims], &everything, 9)
            );
            let shorter = &bytes[..cut.index(bytes.len())];
            prop_assert!(QuantizedVectors::from_bytes(dims, shorter).is_none());
        }
    }

    #[test]
    fn rows_with_a_slot_out_of_range_are_not_read() {
        let mut codes = QuantizedVectors::new(1);
        codes.push_row(3, &[5]).unwrap();
        let mut bytes = Vec::new();
        codes.append_bytes(&mut bytes);
        bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(QuantizedVectors::from_bytes(1, &bytes).is_none());
    }

    #[test]
    fn wrong_lengths_and_slots_out_of_range_are_errors() {
        let mut codes = QuantizedVectors::new(3);
        let wrong_length = CodeError::Length { have: 2, need: 3 };
        assert_eq!(codes.push_row(0, &[1, 2]), Err(wrong_length));
        assert_eq!(codes.push_row(u32::MAX, &[1, 2, 3]), Err(CodeError::Slot(u32::MAX)));
        assert_eq!(nearest_slots(&codes, &[1, 2], &SlotSet::first_n(9), 5), Err(wrong_length));
        assert_eq!(wrong_length.to_string(), "the code has 2 numbers, this model's have 3");
        assert!(codes.is_empty());
    }

    #[test]
    fn an_empty_index_an_empty_filter_and_a_limit_of_zero_find_nothing() {
        // A model without dimensions is odd but must not panic.
        for dims in [0, 5] {
            let mut codes = QuantizedVectors::new(dims);
            let query = vec![1; dims];
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::first_n(9), 5), Ok(Vec::new()));
            let plan = codes.plan_clusters(1, ONE_THREAD);
            codes.apply_clusters(plan).unwrap();
            codes.push_row(2, &query).unwrap();
            let dot = i32::try_from(dims).unwrap();
            let found = search_lists(&codes, &query, &SlotSet::first_n(9), 5);
            assert_eq!(found, [NearSlot { slot: 2, dot }]);

            // A limit of zero, then an empty filter.
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::first_n(9), 0), Ok(Vec::new()));
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::new(), 5), Ok(Vec::new()));
        }
    }
}
