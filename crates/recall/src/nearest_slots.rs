//! Filtered nearest-neighbour search over quantised vectors.
//!
//! A slot is one memory, with one or more rows. The filter is exact, and as many slots are returned
//! as requested and allowed. The result is exact for few rows and for selective filters; otherwise
//! inverted lists are probed, nearest first, until a fixed number of allowed rows was scanned. With a
//! filter, more lists are read to reach that number.

use std::ops::Range;

use crate::inverted_lists::{InvertedLists, MAX_FLAT_SCAN_ROWS};
use crate::quantized_vectors::{CodeError, QuantizedVectors, to_row_number};
use crate::simd::{self, CodeBlock, SimdLevel};
use crate::slot_set::SlotSet;

/// One result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearSlot {
    pub slot: u32,
    /// Dot product with the nearest row of the slot.
    pub dot: i32,
}

/// Rows whose dot products are computed together.
const ROWS_PER_CHUNK: usize = 256;

/// If fewer than one slot in this many is allowed, rows are looked up by slot instead of scanned.
const LOOKUP_BELOW_ONE_IN: usize = 20;

/// If fewer than one slot in this many is allowed, the filter is applied before the dot product.
const PREFILTER_BELOW_ONE_IN: usize = 4;

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

fn search_rows(
    codes: &QuantizedVectors,
    query: &[i8],
    allowed: &SlotSet,
    k: usize,
    flat_rows: usize,
) -> Vec<NearSlot> {
    let n_allowed = codes.present.intersection_count(allowed);
    let n_slots = codes.present.count();
    let mut blocks = Vec::with_capacity(codes.blocks_per_row());
    simd::append_blocks(&mut blocks, query);
    let scan = QueryScan {
        codes,
        level: SimdLevel::detect_best(),
        query: &blocks,
        allowed,
        n_allowed,
        n_slots,
    };
    let mut best = TopSlots::new(k.min(n_allowed));
    if best.k == 0 {
        return Vec::new();
    }
    match codes.lists.as_ref().filter(|_| codes.len() > flat_rows) {
        Some(lists) if n_allowed * codes.len() / n_slots > lists.n_probed_rows() => {
            scan.scan_lists(&mut best, lists);
        }
        None if n_allowed * LOOKUP_BELOW_ONE_IN >= n_slots => {
            scan.scan_rows(&mut best, 0..codes.slot_of.len());
        }
        _ => scan.scan_slots(&mut best),
    }
    best.into_sorted()
}

/// A query prepared for scanning rows.
struct QueryScan<'a> {
    codes: &'a QuantizedVectors,
    level: SimdLevel,
    query: &'a [CodeBlock],
    allowed: &'a SlotSet,
    n_allowed: usize,
    n_slots: usize,
}

impl QueryScan<'_> {
    /// Scans the tail (rows added after clustering), then lists nearest first until enough allowed rows are scanned and `k` slots
    /// are found.
    fn scan_lists(&self, best: &mut TopSlots, lists: &InvertedLists) {
        self.scan_rows(best, lists.tail_start()..self.codes.slot_of.len());
        let mut dots = vec![0; lists.n_lists()];
        simd::dot_rows(self.level, &mut dots, self.query, &lists.centroids);
        let mut order: Vec<u64> = (0..).zip(dots).map(|(list, dot)| pack_key(dot, list)).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut left = lists.n_probed_rows();
        for key in order {
            if left == 0 && best.is_full() {
                break;
            }
            let (_, list) = unpack_key(key);
            let (from, until) = (lists.starts[list as usize], lists.starts[list as usize + 1]);
            left = left.saturating_sub(self.scan_rows(best, from as usize..until as usize));
        }
    }

    /// Scans only the rows of the allowed slots.
    fn scan_slots(&self, best: &mut TopSlots) {
        let mut picks = Vec::with_capacity(ROWS_PER_CHUNK);
        for row in self.allowed.iter().flat_map(|it| self.codes.rows_of(it)) {
            picks.push(row);
            if picks.len() == ROWS_PER_CHUNK {
                self.scan_picked(best, &picks);
                picks.clear();
            }
        }
        self.scan_picked(best, &picks);
    }

    /// Scans consecutive rows; returns how many of them were allowed, estimated when
    /// the filter runs after the dot products.
    fn scan_rows(&self, best: &mut TopSlots, rows: Range<usize>) -> usize {
        let mut n_read = 0;
        let mut picks = Vec::with_capacity(ROWS_PER_CHUNK);
        for from in rows.clone().step_by(ROWS_PER_CHUNK) {
            let chunk = from..(from + ROWS_PER_CHUNK).min(rows.end);
            if self.n_allowed * PREFILTER_BELOW_ONE_IN < self.n_slots {
                let slots = (0_u32..).zip(&self.codes.slot_of[chunk]);
                let from = to_row_number(from);
                picks.clear();
                picks
                    .extend(slots.filter(|it| self.allowed.contains(*it.1)).map(|(i, _)| from + i));
                n_read += picks.len();
                self.scan_picked(best, &picks);
            } else {
                n_read += chunk.len() * self.n_allowed / self.n_slots;
                self.scan_chunk(best, chunk);
            }
        }
        n_read
    }

    fn scan_chunk(&self, best: &mut TopSlots, rows: Range<usize>) {
        let mut dots = [0; ROWS_PER_CHUNK];
        let dots = &mut dots[..rows.len()];
        let width = self.query.len();
        let blocks = &self.codes.blocks()[rows.start * width..rows.end * width];
        simd::dot_rows(self.level, dots, self.query, blocks);
        // Most chunks contain no candidate; the maximum decides that without a loop over slots.
        if dots.iter().copied().max().is_none_or(|it| it < best.threshold_dot) {
            return;
        }
        for (dot, slot) in dots.iter().zip(&self.codes.slot_of[rows]) {
            if *dot >= best.threshold_dot && self.allowed.contains(*slot) {
                best.offer(*dot, *slot);
            }
        }
    }

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

/// The best `k` slots so far. Offers are collected and pruned in batches, which is cheaper than a
/// heap and merges rows of the same slot in one place.
struct TopSlots {
    k: usize,
    offers: Vec<u64>,
    /// Key that an offer must exceed; 0 until `k` slots are known.
    threshold_key: u64,
    threshold_dot: i32,
}

impl TopSlots {
    fn new(k: usize) -> Self {
        Self {
            k,
            offers: Vec::with_capacity(2 * k + 64),
            threshold_key: 0,
            threshold_dot: i32::MIN,
        }
    }

    fn offer(&mut self, dot: i32, slot: u32) {
        let key = pack_key(dot, slot);
        if key <= self.threshold_key {
            return;
        }
        self.offers.push(key);
        if self.offers.len() == 2 * self.k + 64 {
            self.prune_offers();
        }
    }

    fn is_full(&mut self) -> bool {
        self.threshold_key > 0 || {
            self.prune_offers();
            self.offers.len() == self.k
        }
    }

    /// Keeps the best offer of each slot, then the best `k` of those.
    fn prune_offers(&mut self) {
        self.offers.sort_unstable_by_key(|it| (unpack_key(*it).1, !it));
        self.offers.dedup_by_key(|it| unpack_key(*it).1);
        if self.offers.len() < self.k {
            return;
        }
        let (_, last, _) = self.offers.select_nth_unstable_by(self.k - 1, |a, b| b.cmp(a));
        (self.threshold_key, self.threshold_dot) = (*last, unpack_key(*last).0);
        self.offers.truncate(self.k);
    }

    fn into_sorted(mut self) -> Vec<NearSlot> {
        self.prune_offers();
        self.offers.sort_unstable_by(|a, b| b.cmp(a));
        let near = |it| {
            let (dot, slot) = unpack_key(it);
            NearSlot { slot, dot }
        };
        self.offers.into_iter().map(near).collect()
    }
}

/// Packs dot product and number so that keys sort by larger product, then by smaller number.
fn pack_key(dot: i32, number: u32) -> u64 {
    u64::from(dot.cast_unsigned() ^ (1 << 31)) << 32 | u64::from(!number)
}

#[expect(clippy::cast_possible_truncation, reason = "each half is taken on its own")]
const fn unpack_key(key: u64) -> (i32, u32) {
    ((((key >> 32) as u32) ^ (1 << 31)).cast_signed(), !(key as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantized_vectors::StaleClusterPlan;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::num::NonZero;

    const ONE: NonZero<usize> = NonZero::<usize>::MIN;

    /// Rows as a test keeps them, beside the codes.
    type Rows = BTreeMap<u32, Vec<Vec<i8>>>;

    fn push(codes: &mut QuantizedVectors, rows: &mut Rows, slot: u32, code: Vec<i8>) {
        codes.push_row(slot, &code).unwrap();
        rows.entry(slot).or_default().push(code);
    }

    fn remove(codes: &mut QuantizedVectors, rows: &mut Rows, slot: u32) {
        codes.remove_slot(slot);
        rows.remove(&slot);
    }

    /// The slow and plain way.
    fn brute(rows: &Rows, query: &[i8], allowed: &SlotSet, k: usize) -> Vec<NearSlot> {
        let cut = |it: &i8| i32::from(*it).max(-127);
        let dot = |row: &Vec<i8>| row.iter().zip(query).map(|(a, b)| cut(a) * cut(b)).sum::<i32>();
        let mut res: Vec<NearSlot> = rows
            .iter()
            .filter(|(slot, _)| allowed.contains(**slot))
            .map(|(slot, rows)| NearSlot { slot: *slot, dot: rows.iter().map(dot).max().unwrap() })
            .collect();
        res.sort_by_key(|it| (-it.dot, it.slot));
        res.truncate(k);
        res
    }

    /// Rows around centres, so that neighbours are worth finding.
    fn clustered(n_rows: u32, n_centres: u64, dims: usize) -> (QuantizedVectors, Rows) {
        let (mut codes, mut rows) = (QuantizedVectors::new(dims), Rows::new());
        for slot in 0..n_rows {
            let code = clustered_code(u64::from(slot), n_centres, dims);
            push(&mut codes, &mut rows, slot, code);
        }
        (codes, rows)
    }

    fn clustered_code(row: u64, n_centres: u64, dims: usize) -> Vec<i8> {
        let mut acc = Vec::new();
        for dim in 0..dims as u64 {
            let centre = mixed((mixed(row) % n_centres) << 32 | dim) % 81;
            let own = mixed(row << 20 | dim | 1 << 60) % 41;
            acc.push(i8::try_from(centre + own).unwrap() - 60);
        }
        acc
    }

    const fn mixed(number: u64) -> u64 {
        let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn slots_of(n: u32, one_of: u64) -> SlotSet {
        (0..n).filter(|it| mixed(u64::from(*it) << 7).is_multiple_of(one_of)).collect()
    }

    proptest! {
        #[test]
        fn reading_every_row_is_exact(
            dims in 1_usize..80,
            steps in prop::collection::vec((0_u32..60, -3_i8..4, any::<bool>()), 0..400),
            noise in prop::collection::vec(any::<i8>(), 80),
            allowed in prop::collection::vec(0_u32..70, 0..70),
            k in 0_usize..20,
        ) {
            let (mut codes, mut rows) = (QuantizedVectors::new(dims), Rows::new());
            for (slot, spin, gone) in steps {
                // Few different codes, so that ties are common.
                let code = noise[..dims].iter().map(|it| it.wrapping_mul(spin)).collect();
                if gone {
                    remove(&mut codes, &mut rows, slot);
                } else {
                    push(&mut codes, &mut rows, slot, code);
                }
                prop_assert_eq!(codes.contains(slot), !gone);
            }
            prop_assert_eq!(codes.len(), rows.values().map(Vec::len).sum::<usize>());
            for allowed in [allowed.into_iter().collect(), SlotSet::first_n(100), SlotSet::first_n(3)] {
                let found = nearest_slots(&codes, &noise[..dims], &allowed, k).unwrap();
                prop_assert_eq!(found, brute(&rows, &noise[..dims], &allowed, k));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn lists_hold_filters_and_fill_answers(
            n_rows in 600_u32..2500,
            seed: u64,
            one_of in 1_u64..60,
            gone in prop::collection::vec(0_u32..2500, 0..900),
            n_late in 0_u32..200,
            k in 1_usize..200,
        ) {
            let (mut codes, mut rows) = clustered(n_rows, 20, 12);
            let plan = codes.plan_clusters(seed, ONE);
            // What happens between a plan and its arrival is not lost.
            push(&mut codes, &mut rows, 3, vec![9; 12]);
            remove(&mut codes, &mut rows, 4);
            codes.apply_clusters(plan).unwrap();
            for slot in gone {
                remove(&mut codes, &mut rows, slot);
            }
            for slot in 0..n_late {
                let code = clustered_code(u64::from(slot) + 9999, 20, 12);
                push(&mut codes, &mut rows, slot * 7, code);
            }
            let (allowed, query) = (slots_of(2600, one_of), clustered_code(seed >> 40, 20, 12));
            for again in [false, true] {
                if again {
                    let plan = codes.plan_clusters(seed, ONE);
                    codes.apply_clusters(plan).unwrap();
                }
                let found = search_rows(&codes, &query, &allowed, k, 0);
                let exact = brute(&rows, &query, &allowed, usize::MAX);
                prop_assert_eq!(found.len(), k.min(exact.len()));
                prop_assert!(found.is_sorted_by_key(|it| (-it.dot, it.slot)));
                for near in &found {
                    let best = exact.iter().find(|it| it.slot == near.slot);
                    prop_assert!(best.is_some_and(|it| it.dot >= near.dot), "{:?}", near);
                }
                // Without lists the same rows answer exactly, wherever they stand now.
                prop_assert_eq!(nearest_slots(&codes, &query, &allowed, k).unwrap(), &exact[..found.len()]);
            }
        }
    }

    #[test]
    fn lists_find_nearly_all_with_any_filter() {
        let (mut codes, rows) = clustered(20_000, 300, 64);
        let plan = codes.plan_clusters(1, NonZero::new(2).unwrap());
        codes.apply_clusters(plan).unwrap();
        for one_of in [1, 2, 3, 5, 8, 20, 100] {
            let allowed = slots_of(20_000, one_of);
            let (mut n_found, mut n_exact) = (0, 0);
            for query in 0..20 {
                let query = clustered_code(query + 1_000_000, 300, 64);
                let exact = brute(&rows, &query, &allowed, 30);
                let found = search_rows(&codes, &query, &allowed, 30, 0);
                n_exact += exact.len();
                n_found += exact.iter().filter(|it| found.contains(it)).count();
            }
            assert!(n_found * 100 >= n_exact * 98, "{n_found} of {n_exact}, 1 of {one_of} allowed");
        }
    }

    #[test]
    fn a_plan_does_not_depend_on_threads_but_on_its_seed() {
        let (codes, _) = clustered(3000, 50, 40);
        let plan = codes.plan_clusters(5, ONE);
        for threads in [2, 3, 7] {
            assert!(
                codes.plan_clusters(5, NonZero::new(threads).unwrap()) == plan,
                "{threads} threads"
            );
        }
        assert!(codes.plan_clusters(6, ONE) != plan);
    }

    #[test]
    fn a_plan_for_rows_that_have_moved_is_refused() {
        let (mut codes, mut rows) = clustered(1000, 10, 8);
        let plan = codes.plan_clusters(1, ONE);
        (0..400).for_each(|slot| remove(&mut codes, &mut rows, slot));
        assert_eq!(codes.apply_clusters(plan), Err(StaleClusterPlan));
        let query = clustered_code(5, 10, 8);
        let found = nearest_slots(&codes, &query, &SlotSet::first_n(1000), 9).unwrap();
        assert_eq!(found, brute(&rows, &query, &SlotSet::first_n(1000), 9));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut codes = QuantizedVectors::new(3);
        let length = CodeError::Length { have: 2, need: 3 };
        assert_eq!(codes.push_row(0, &[1, 2]), Err(length));
        assert_eq!(codes.push_row(u32::MAX, &[1, 2, 3]), Err(CodeError::Slot(u32::MAX)));
        assert_eq!(nearest_slots(&codes, &[1, 2], &SlotSet::first_n(9), 5), Err(length));
        assert_eq!(length.to_string(), "the code has 2 numbers, this model's have 3");
        assert!(codes.is_empty());
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        for dims in [0, 5] {
            let mut codes = QuantizedVectors::new(dims);
            let query = vec![1; dims];
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::first_n(9), 5), Ok(Vec::new()));
            let plan = codes.plan_clusters(1, ONE);
            codes.apply_clusters(plan).unwrap();
            codes.push_row(2, &query).unwrap();
            let dot = i32::try_from(dims).unwrap();
            let found = search_rows(&codes, &query, &SlotSet::first_n(9), 5, 0);
            assert_eq!(found, [NearSlot { slot: 2, dot }]);
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::first_n(9), 0), Ok(Vec::new()));
            assert_eq!(nearest_slots(&codes, &query, &SlotSet::new(), 5), Ok(Vec::new()));
        }
    }
}
