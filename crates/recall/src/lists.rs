//! Lists of near rows, so that a question among very many reads only some of them.
//!
//! Rows stand in the order of their lists, and rows that came later stand behind all lists, in a
//! tail that every question reads. What is found is never decided here; `nearest` reads the lists.

use std::num::NonZero;

use crate::codes::{Codes, NONE, row_number};
use crate::kmeans;
use crate::simd::Block;

/// Up to here every row is read: exact, and no slower than making the vector of the question.
pub(crate) const FLAT_ROWS: usize = 50_000;

/// Lists there are, for each unit of the square root of the rows.
const PER_ROOT: usize = 2;

/// One list in so many is read. Of 32 000 sentences embedded by the built-in model, reading an eighth
/// found 94 in a hundred of the 30 nearest, a fifth 97: such vectors lie in no lumps, which is why so
/// many rows are read flat.
const READ_OF: usize = 5;

/// Rows in order of their lists.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) centroids: Vec<Block>,
    /// Where each list begins; one more entry says where the tail does.
    pub(crate) starts: Vec<u32>,
    /// Rows there were when the centroids were chosen.
    n_trained: usize,
}

/// Where rows should stand; made by [`Codes::plan`], carried out by [`Codes::arrange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) epoch: u64,
    centroids: Vec<Block>,
    n_lists: usize,
    n_trained: usize,
    /// Per row, its list.
    list_of: Vec<u32>,
}

impl Lists {
    pub(crate) const fn n_lists(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn tail(&self) -> usize {
        self.starts[self.n_lists()] as usize
    }

    /// Rows that a question reads: those of its nearest lists, or as many spread over more lists when a filter leaves few in each.
    pub(crate) fn n_read(&self) -> usize {
        self.tail() / READ_OF
    }

    /// The tail costs as much as the lists, or the centroids were chosen when half the rows were not there.
    pub(crate) fn is_worn(&self, n_rows: usize, n_live: usize) -> bool {
        let behind = n_rows - self.tail();
        n_live > FLAT_ROWS && (behind > self.n_read() || self.is_outgrown(n_live))
    }

    const fn is_outgrown(&self, n_live: usize) -> bool {
        n_live > 2 * self.n_trained
    }

    /// Per row before the tail, its list.
    fn list_of(&self) -> Vec<u32> {
        let lists = (0..).zip(self.starts.windows(2));
        lists.flat_map(|(list, ends)| (ends[0]..ends[1]).map(move |_| list)).collect()
    }

    /// Moves the starts to where they are without the dead rows.
    pub(crate) fn forget_dead(&mut self, slot_of: &[u32]) {
        let (mut row, mut n_live) = (0, 0);
        for start in &mut self.starts {
            let until = *start as usize;
            n_live += slot_of[row..until].iter().filter(|it| **it != NONE).count();
            row = until;
            *start = row_number(n_live);
        }
    }
}

pub(crate) fn plan(codes: &Codes, epoch: u64, seed: u64, threads: NonZero<usize>) -> Plan {
    let n_rows = codes.slot_of.len();
    let known = codes.lists.as_ref().filter(|it| !it.is_outgrown(codes.len()));
    let (centroids, n_lists, n_trained, mut list_of) = if let Some(lists) = known {
        (lists.centroids.clone(), lists.n_lists(), lists.n_trained, lists.list_of())
    } else {
        let n_lists = (PER_ROOT * codes.len().isqrt()).min(codes.len());
        (kmeans::train(codes, n_lists, seed, threads), n_lists, codes.len(), Vec::new())
    };
    let n_placed = list_of.len();
    list_of.resize(n_rows, 0);
    let rows = &codes.blocks()[n_placed * codes.width()..];
    kmeans::assign(&mut list_of[n_placed..], rows, &centroids, n_lists, threads);
    Plan { epoch, centroids, n_lists, n_trained, list_of }
}

impl Plan {
    /// The lists, and for every row where it goes: by list, then rows younger than the plan, then dead ones.
    pub(crate) fn targets(self, slot_of: &[u32]) -> (Lists, Vec<u32>) {
        let (tail, dead) = (self.n_lists, self.n_lists + 1);
        let place = |row: usize, slot: u32| match self.list_of.get(row) {
            _ if slot == NONE => dead,
            Some(list) => *list as usize,
            None => tail,
        };
        let mut starts = vec![0_u32; self.n_lists + 3];
        for (row, slot) in slot_of.iter().enumerate() {
            starts[place(row, *slot) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut target = Vec::with_capacity(slot_of.len());
        for (row, slot) in slot_of.iter().enumerate() {
            let next = &mut next[place(row, *slot)];
            target.push(*next);
            *next += 1;
        }
        starts.truncate(self.n_lists + 1);
        (Lists { centroids: self.centroids, starts, n_trained: self.n_trained }, target)
    }
}
