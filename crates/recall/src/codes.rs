//! The codes of one model, row after row, and how rows come and go.
//!
//! A row keeps its place until rows are compacted or arranged, which is what lets a [`Plan`] be
//! made on the side while questions are answered. Nothing here knows what a code means.

use std::num::NonZero;

use crate::dot::dot;
use crate::lists::{self, Lists, Plan};
use crate::simd::{self, Block};
use crate::slots::{MAX_SLOTS, Slots};

/// No slot, and no row. No set of slots contains it.
pub(crate) const NONE: u32 = u32::MAX;

/// Rows are compacted when more than one of this many is dead.
const DEAD_OF: usize = 4;

/// The codes of one embedding model. A row belongs to a slot; a slot may have several rows.
#[derive(Clone, Debug)]
pub struct Codes {
    dims: usize,
    blocks: Vec<Block>,
    /// Per row; `NONE` when the row is dead.
    pub(crate) slot_of: Vec<u32>,
    /// Per slot, its first row.
    first: Vec<u32>,
    /// Per row, the next one of the same slot.
    next: Vec<u32>,
    /// Slots that have a row.
    pub(crate) present: Slots,
    n_dead: usize,
    /// Counts how often rows have moved.
    epoch: u64,
    pub(crate) lists: Option<Lists>,
}

/// Why a code was not taken, or a question not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// The code has another length than this model's.
    Length { have: usize, need: usize },
    /// The slot is not below [`MAX_SLOTS`].
    Slot(u32),
}

/// Rows have moved since the plan was made; a new one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalePlan;

impl Codes {
    pub fn new(dims: usize) -> Self {
        Self {
            dims,
            blocks: Vec::new(),
            slot_of: Vec::new(),
            first: Vec::new(),
            next: Vec::new(),
            present: Slots::new(),
            n_dead: 0,
            epoch: 0,
            lists: None,
        }
    }

    /// Makes room at once, so that loading many rows does not hold some of them twice.
    pub fn reserve(&mut self, n_rows: usize) {
        self.blocks.reserve_exact(n_rows * self.width());
        self.slot_of.reserve_exact(n_rows);
        self.next.reserve_exact(n_rows);
    }

    pub const fn dims(&self) -> usize {
        self.dims
    }

    /// Rows that can be found.
    pub fn len(&self) -> usize {
        self.slot_of.len() - self.n_dead
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a slot has a row.
    pub fn contains(&self, slot: u32) -> bool {
        self.present.contains(slot)
    }

    /// Adds one row. Numbers are taken as they are, except that −128 becomes −127.
    pub fn push(&mut self, slot: u32, code: &[i8]) -> Result<(), CodeError> {
        self.check(code)?;
        if slot >= MAX_SLOTS {
            return Err(CodeError::Slot(slot));
        }
        simd::lay_out(&mut self.blocks, code);
        self.slot_of.push(slot);
        self.next.push(NONE);
        self.link(self.slot_of.len() - 1);
        Ok(())
    }

    /// Removes every row of a slot.
    pub fn remove_slot(&mut self, slot: u32) {
        let mut row =
            self.first.get_mut(slot as usize).map_or(NONE, |it| std::mem::replace(it, NONE));
        self.present.remove(slot);
        while row != NONE {
            self.slot_of[row as usize] = NONE;
            self.n_dead += 1;
            row = self.next[row as usize];
        }
        if self.n_dead * DEAD_OF > self.slot_of.len() {
            self.compact();
        }
    }

    /// Whether [`Codes::plan`] and [`Codes::arrange`] would make questions faster.
    pub fn needs_arranging(&self) -> bool {
        match &self.lists {
            Some(lists) => lists.is_worn(self.slot_of.len(), self.len()),
            None => self.len() > lists::FLAT_ROWS,
        }
    }

    /// Sorts rows into lists of near ones, on the side: the slow part, a second for a hundred
    /// thousand rows and half a minute for a million.
    ///
    /// The same rows and seed give the same plan, however many threads share the work.
    pub fn plan(&self, seed: u64, threads: NonZero<usize>) -> Plan {
        lists::plan(self, self.epoch, seed, threads)
    }

    /// Moves rows to where the plan wants them, without a second copy. Rows younger than the plan stay behind it.
    pub fn arrange(&mut self, plan: Plan) -> Result<(), StalePlan> {
        if plan.epoch != self.epoch {
            return Err(StalePlan);
        }
        let (lists, mut target) = plan.targets(&self.slot_of);
        for row in 0..target.len() {
            // Each turn of the inner loop brings one row to its place for good.
            while target[row] as usize != row {
                let to = target[row] as usize;
                self.swap_rows(row, to);
                target.swap(row, to);
            }
        }
        self.lists = Some(lists);
        self.drop_rows_from(self.len());
        Ok(())
    }

    pub(crate) fn check(&self, code: &[i8]) -> Result<(), CodeError> {
        if code.len() == self.dims {
            return Ok(());
        }
        Err(CodeError::Length { have: code.len(), need: self.dims })
    }

    /// Blocks per row.
    pub(crate) const fn width(&self) -> usize {
        self.dims.div_ceil(simd::BLOCK)
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Rows, those included that can no longer be found.
    pub(crate) fn n_rows(&self) -> usize {
        self.slot_of.len()
    }

    /// A row as a vector of length one; `None` when it can no longer be found.
    pub(crate) fn unit_row(&self, row: usize) -> Option<Vec<f32>> {
        if self.slot_of[row] == NONE {
            return None;
        }
        let blocks = &self.blocks[row * self.width()..(row + 1) * self.width()];
        let numbers = blocks.iter().flat_map(Block::numbers).take(self.dims);
        let mut res: Vec<f32> = numbers.map(|it| f32::from(*it)).collect();
        let length = res.iter().map(|it| it * it).sum::<f32>().sqrt().max(1.0);
        for it in &mut res {
            *it /= length;
        }
        Some(res)
    }

    /// The nearest row of a slot to a query, as a vector of length one, with its product with the
    /// query.
    pub fn nearest_of(&self, slot: u32, query: &[f32]) -> Option<(f32, Vec<f32>)> {
        let rows = self.rows_of(slot).filter_map(|it| self.unit_row(it as usize));
        let near = |row: Vec<f32>| (dot(&row, query), row);
        rows.map(near).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    pub(crate) fn rows_of(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |row: u32| (row != NONE).then_some(row);
        let first = self.first.get(slot as usize).copied().and_then(known);
        std::iter::successors(first, move |row| known(self.next[*row as usize]))
    }

    fn link(&mut self, row: usize) {
        let slot = self.slot_of[row];
        if slot as usize >= self.first.len() {
            self.first.resize(slot as usize + 1, NONE);
        }
        self.next[row] = self.first[slot as usize];
        self.first[slot as usize] = row_number(row);
        self.present.insert(slot);
    }

    fn swap_rows(&mut self, left: usize, right: usize) {
        let width = self.width();
        for block in 0..width {
            self.blocks.swap(left * width + block, right * width + block);
        }
        self.slot_of.swap(left, right);
    }

    /// Closes the gaps of dead rows; the others keep their order, and so their lists.
    fn compact(&mut self) {
        if let Some(lists) = &mut self.lists {
            lists.forget_dead(&self.slot_of);
        }
        let (width, mut n_live) = (self.width(), 0);
        for row in 0..self.slot_of.len() {
            if self.slot_of[row] != NONE {
                self.blocks.copy_within(row * width..(row + 1) * width, n_live * width);
                self.slot_of[n_live] = self.slot_of[row];
                n_live += 1;
            }
        }
        self.drop_rows_from(n_live);
    }

    /// Ends what moved rows: cuts off the dead ones behind and links the others anew.
    fn drop_rows_from(&mut self, n_live: usize) {
        self.blocks.truncate(n_live * self.width());
        self.slot_of.truncate(n_live);
        self.next.truncate(n_live);
        self.n_dead = 0;
        self.epoch += 1;
        // Slots without rows are unlinked already, and there may be many more of them than rows.
        self.slot_of.iter().for_each(|slot| self.first[*slot as usize] = NONE);
        (0..n_live).for_each(|row| self.link(row));
    }
}

/// A row as it is stored; four thousand million codes do not fit in a machine.
pub(crate) fn row_number(row: usize) -> u32 {
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

impl std::fmt::Display for StalePlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows have moved since the plan was made")
    }
}

impl std::error::Error for StalePlan {}
