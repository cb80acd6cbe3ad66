//! The in-memory index of int8-quantised vectors of one embedding model.
//!
//! Each row is one vector; its int8 values are its code. The rows are one after the other in memory.
//! Rows of the same *slot* (the number of a memory) form a linked list through two arrays:
//!
//! ```text
//! row          0     1     2            slot         0     1
//! slot_of      1     0     1            first_row    1     2
//! next_row     none  none  0            (newest row of each slot)
//! ```
//!
//! Removing a slot marks its rows dead; when a quarter is dead, the index is compacted. In a large
//! index the rows are also ordered by cluster (similar rows together), see `inverted_lists`. A row keeps
//! its index until rows are compacted or clustered, so a [`ClusterPlan`] can be computed in the
//! background while queries are answered. Queries are in `nearest_slots`.

use std::num::NonZero;

use crate::dot::dot_product;
use crate::inverted_lists::{self, ClusterPlan, InvertedLists};
use crate::simd::{self, CodeBlock};
use crate::slot_set::{MAX_SLOTS, SlotSet};

/// The slot of a dead row. No [`SlotSet`] contains it.
pub(crate) const NO_SLOT: u32 = u32::MAX;
/// Ends the linked list of a slot's rows.
const NO_ROW: u32 = u32::MAX;

/// Rows are compacted when more than one in this many is dead.
const COMPACT_AT_ONE_DEAD_IN: usize = 4;

/// The quantised vectors of one model. A slot is a memory; it may have several rows.
#[derive(Clone, Debug)]
pub struct QuantizedVectors {
    dims: usize,
    /// The values of all rows, `blocks_per_row` blocks of 64 values each.
    blocks: Vec<CodeBlock>,
    /// Slot of each row; `NO_SLOT` if the row is dead.
    pub(crate) slot_of: Vec<u32>,
    /// First row of each slot; `NO_ROW` if it has none.
    first_row: Vec<u32>,
    /// Next row of the same slot; `NO_ROW` at the last.
    next_row: Vec<u32>,
    /// Slots that have a row.
    pub(crate) present: SlotSet,
    n_dead: usize,
    /// Incremented whenever rows move, so that a plan for older positions is detected.
    epoch: u64,
    /// The clusters, if the rows were ever clustered.
    pub(crate) lists: Option<InvertedLists>,
}

/// Reasons to reject a code or a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// The number of dimensions differs from the model.
    Length { have: usize, need: usize },
    /// The slot is not below [`MAX_SLOTS`].
    Slot(u32),
}

/// Rows moved since the plan was made; a new plan is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleClusterPlan;

impl QuantizedVectors {
    pub fn new(dims: usize) -> Self {
        Self {
            dims,
            blocks: Vec::new(),
            slot_of: Vec::new(),
            first_row: Vec::new(),
            next_row: Vec::new(),
            present: SlotSet::new(),
            n_dead: 0,
            epoch: 0,
            lists: None,
        }
    }

    /// Reserves exact capacity, so that a bulk load does not reallocate.
    pub fn reserve_rows(&mut self, n_rows: usize) {
        self.blocks.reserve_exact(n_rows * self.blocks_per_row());
        self.slot_of.reserve_exact(n_rows);
        self.next_row.reserve_exact(n_rows);
    }

    /// Appends the live rows in the form that [`Self::from_bytes`] reads: their number, the slot of
    /// each, and their blocks. Clusters are left out; they can be computed again.
    pub fn append_bytes(&self, acc: &mut Vec<u8>) {
        acc.reserve(8 + self.len() * (4 + self.blocks_per_row() * simd::BLOCK_LEN));
        acc.extend_from_slice(&(self.len() as u64).to_le_bytes());
        for slot in self.slot_of.iter().filter(|it| **it != NO_SLOT) {
            acc.extend_from_slice(&slot.to_le_bytes());
        }
        for (row, slot) in self.slot_of.iter().enumerate() {
            if *slot != NO_SLOT {
                simd::append_block_bytes(acc, self.row_blocks(row));
            }
        }
    }

    /// Makes an index of rows that [`Self::append_bytes`] wrote; `None` if the length or a slot is
    /// wrong.
    pub fn from_bytes(dims: usize, bytes: &[u8]) -> Option<Self> {
        let mut res = Self::new(dims);
        let (n_rows, rest) = bytes.split_first_chunk::<8>()?;
        let n_rows = usize::try_from(u64::from_le_bytes(*n_rows)).ok()?;
        let (slots, blocks) = rest.split_at_checked(n_rows.checked_mul(4)?)?;
        let row_bytes = res.blocks_per_row() * simd::BLOCK_LEN;
        if blocks.len() != n_rows.checked_mul(row_bytes)? {
            return None;
        }
        let (slots, _) = slots.as_chunks::<4>();
        res.slot_of = slots.iter().map(|it| u32::from_le_bytes(*it)).collect();
        let max_slot = res.slot_of.iter().copied().max().unwrap_or(0);
        if max_slot >= MAX_SLOTS {
            return None;
        }
        res.blocks = simd::blocks_from_bytes(blocks);
        res.first_row = vec![NO_ROW; max_slot as usize + 1];
        res.next_row = vec![NO_ROW; n_rows];
        (0..n_rows).for_each(|row| res.link_row(row));
        Some(res)
    }

    pub const fn dims(&self) -> usize {
        self.dims
    }

    /// Number of live rows.
    pub fn len(&self) -> usize {
        self.slot_of.len() - self.n_dead
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the slot has a row.
    pub fn contains(&self, slot: u32) -> bool {
        self.present.contains(slot)
    }

    /// Appends one row. The value −128 becomes −127, see `simd`.
    pub fn push_row(&mut self, slot: u32, code: &[i8]) -> Result<(), CodeError> {
        self.check_length(code)?;
        if slot >= MAX_SLOTS {
            return Err(CodeError::Slot(slot));
        }
        simd::append_blocks(&mut self.blocks, code);
        self.slot_of.push(slot);
        self.next_row.push(NO_ROW);
        self.link_row(self.slot_of.len() - 1);
        Ok(())
    }

    /// Removes every row of a slot.
    pub fn remove_slot(&mut self, slot: u32) {
        // A slot beyond the end never had a row.
        let Some(first_row) = self.first_row.get_mut(slot as usize) else { return };
        let mut row = std::mem::replace(first_row, NO_ROW);
        self.present.remove(slot);
        // Only mark the rows: moving them now would make each removal as slow as a compaction.
        while row != NO_ROW {
            self.slot_of[row as usize] = NO_SLOT;
            self.n_dead += 1;
            row = self.next_row[row as usize];
        }
        if self.n_dead * COMPACT_AT_ONE_DEAD_IN > self.slot_of.len() {
            self.compact_rows();
        }
    }

    /// True if clustering would make queries faster.
    pub fn needs_clustering(&self) -> bool {
        match &self.lists {
            Some(lists) => lists.needs_rebuild(self.slot_of.len(), self.len()),
            None => self.len() > inverted_lists::MAX_FLAT_SCAN_ROWS,
        }
    }

    /// Computes a clustering without changing rows. Slow: a second for a hundred thousand rows, half
    /// a minute for a million. Deterministic for the same rows and seed, with any thread count.
    pub fn plan_clusters(&self, seed: u64, threads: NonZero<usize>) -> ClusterPlan {
        inverted_lists::plan_clusters(self, self.epoch, seed, threads)
    }

    /// Permutes rows in place into the order of the plan. Rows added after the plan form the tail.
    pub fn apply_clusters(&mut self, plan: ClusterPlan) -> Result<(), StaleClusterPlan> {
        if plan.epoch != self.epoch {
            return Err(StaleClusterPlan);
        }
        let (lists, mut targets) = plan.into_lists_and_targets(&self.slot_of);
        for row in 0..targets.len() {
            // Cycle-leader permutation: each swap moves one row to its final position.
            while targets[row] as usize != row {
                let to = targets[row] as usize;
                self.swap_rows(row, to);
                targets.swap(row, to);
            }
        }
        self.lists = Some(lists);
        // The dead rows are now behind all live ones.
        self.truncate_rows(self.len());
        Ok(())
    }

    pub(crate) fn check_length(&self, code: &[i8]) -> Result<(), CodeError> {
        if code.len() == self.dims {
            return Ok(());
        }
        Err(CodeError::Length { have: code.len(), need: self.dims })
    }

    /// Blocks per row.
    pub(crate) const fn blocks_per_row(&self) -> usize {
        self.dims.div_ceil(simd::BLOCK_LEN)
    }

    pub(crate) fn blocks(&self) -> &[CodeBlock] {
        &self.blocks
    }

    /// The blocks of a row.
    pub(crate) fn row_blocks(&self, row: usize) -> &[CodeBlock] {
        let width = self.blocks_per_row();
        &self.blocks[row * width..(row + 1) * width]
    }

    /// A row as a unit vector; `None` if it is dead.
    pub(crate) fn unit_row(&self, row: usize) -> Option<Vec<f32>> {
        if self.slot_of[row] == NO_SLOT {
            return None;
        }
        // The last block is padded with zeros beyond the dimensions of the model.
        let values = self.row_blocks(row).iter().flat_map(CodeBlock::values).take(self.dims);
        let mut res: Vec<f32> = values.map(|it| f32::from(*it)).collect();
        // At least 1, so that a row of zeros is not divided by zero.
        let length = res.iter().map(|it| it * it).sum::<f32>().sqrt().max(1.0);
        for it in &mut res {
            *it /= length;
        }
        Some(res)
    }

    /// The row of a slot nearest to the query, as a unit vector, with its dot product.
    pub fn nearest_row(&self, slot: u32, query: &[f32]) -> Option<(f32, Vec<f32>)> {
        let rows = self.rows_of(slot).filter_map(|it| self.unit_row(it as usize));
        let with_dot = |row: Vec<f32>| (dot_product(&row, query), row);
        rows.map(with_dot).max_by(|(dot_a, _), (dot_b, _)| dot_a.total_cmp(dot_b))
    }

    /// The rows of a slot, newest first.
    pub(crate) fn rows_of(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let to_option = |row: u32| (row != NO_ROW).then_some(row);
        let first = self.first_row.get(slot as usize).copied().and_then(to_option);
        std::iter::successors(first, move |row| to_option(self.next_row[*row as usize]))
    }

    /// The rows of a slot in the order of their values, which is the same wherever the rows lie.
    pub(crate) fn ordered_rows_of(&self, slot: u32) -> Vec<u32> {
        let mut rows: Vec<u32> = self.rows_of(slot).collect();
        let values = |row: u32| self.row_blocks(row as usize).iter().flat_map(CodeBlock::values);
        rows.sort_by(|a, b| values(*a).cmp(values(*b)));
        rows
    }

    /// Puts a row at the front of its slot's linked list.
    fn link_row(&mut self, row: usize) {
        let slot = self.slot_of[row];
        if slot as usize >= self.first_row.len() {
            self.first_row.resize(slot as usize + 1, NO_ROW);
        }
        self.next_row[row] = self.first_row[slot as usize];
        self.first_row[slot as usize] = to_row_number(row);
        self.present.insert(slot);
    }

    /// Swaps values and slots of two rows. The links are wrong until [`Self::truncate_rows`].
    fn swap_rows(&mut self, left: usize, right: usize) {
        let width = self.blocks_per_row();
        for block in 0..width {
            self.blocks.swap(left * width + block, right * width + block);
        }
        self.slot_of.swap(left, right);
    }

    /// Removes dead rows. The others keep their order and therefore their lists.
    fn compact_rows(&mut self) {
        if let Some(lists) = &mut self.lists {
            lists.remove_dead_rows(&self.slot_of);
        }
        let (width, mut n_live) = (self.blocks_per_row(), 0);
        for row in 0..self.slot_of.len() {
            if self.slot_of[row] != NO_SLOT {
                self.blocks.copy_within(row * width..(row + 1) * width, n_live * width);
                self.slot_of[n_live] = self.slot_of[row];
                n_live += 1;
            }
        }
        self.truncate_rows(n_live);
    }

    /// Finishes a move of rows: drops the dead ones, which are at the end, and links the others
    /// again.
    fn truncate_rows(&mut self, n_live: usize) {
        self.blocks.truncate(n_live * self.blocks_per_row());
        self.slot_of.truncate(n_live);
        self.next_row.truncate(n_live);
        self.n_dead = 0;
        self.epoch += 1;
        // Only slots with rows are reset: there may be many more slots than rows.
        self.slot_of.iter().for_each(|slot| self.first_row[*slot as usize] = NO_ROW);
        (0..n_live).for_each(|row| self.link_row(row));
    }
}

/// A row index as stored.
pub(crate) fn to_row_number(row: usize) -> u32 {
    u32::try_from(row).expect("fewer than four thousand million rows")
}

impl std::fmt::Display for CodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Length { have, need } => {
                write!(f, "the code has {have} numbers, this model's have {need}")
            }
            Self::Slot(slot) => write!(f, "slot {slot} is not below {MAX_SLOTS}"),
        }
    }
}

impl std::error::Error for CodeError {}

impl std::fmt::Display for StaleClusterPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows have moved since the plan was made")
    }
}

impl std::error::Error for StaleClusterPlan {}
