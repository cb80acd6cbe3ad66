//! Room for the syntax of one file, given back all at once.
//!
//! A parser asks for a small piece of memory for nearly every node, and gives back most of them, one by
//! one, after the walk. While a file is read on a thread, its pieces come from blocks of this thread and
//! go back to lists of equal pieces; at the end, the blocks are simply used again, and a tree that stands
//! in them is forgotten instead of being taken apart.
//!
//! This is the one place of the room with `unsafe`. What makes it sound:
//!
//! - A piece is in a block of the thread's own arena, or it is the system's: its address tells which.
//!   So trees and parsers made before, elsewhere or by somebody else stay what they were.
//! - Nothing of tree-sitter's that is made [`within`] may leave it. Parsers, trees and cursors stay inside
//!   [`super::extract`]; [`super::grammar`] lends trees out.
#![expect(unsafe_code, reason = "the memory of a library in C")]
#![expect(clippy::cast_ptr_alignment, reason = "pieces are aligned to a unit, heads to a half")]

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;

/// Pieces are of so many bytes, or a multiple: as much as any type asks to be aligned to.
const UNIT: usize = 16;
/// Before a piece stands how many units it has.
const HEAD: usize = 8;
/// Up to here there is a list of free pieces for every size; beyond, one for every power of two.
const EXACT: usize = 64;
const CLASSES: usize = EXACT + usize::BITS as usize;
/// Units of the first block, of 256 KiB; every other is twice as large as the one before.
const FIRST: usize = 1 << 14;
/// Units that are kept from one file to the next, of 8 MiB.
const KEPT: usize = 1 << 19;

type Unit = MaybeUninit<u128>;

struct Arena {
    /// The one in use is the last.
    blocks: Vec<Box<[Unit]>>,
    /// Where the next piece's head goes, and where the block in use ends.
    next: *mut u8,
    end: *mut u8,
    free: [*mut u8; CLASSES],
}

thread_local! {
    /// The arena that is open on this thread, or none.
    static OPEN: Cell<*mut Arena> = const { Cell::new(null_mut()) };
    static MINE: RefCell<Option<Box<Arena>>> = const { RefCell::new(None) };
}

/// Runs what reads one file. What it parses and walks must not outlive it.
pub(super) fn within<T>(work: impl FnOnce() -> T) -> T {
    static INSTALLED: Once = Once::new();
    let allocator = tree_sitter::Allocator { malloc, calloc, realloc, free };
    // SAFETY: the four belong together, outside of `within` they are the system's own, and pieces the
    // system gave out before go back to it.
    INSTALLED.call_once(|| unsafe { tree_sitter::set_allocator(Some(allocator)) });
    let _open = Opened::begin();
    work()
}

pub(super) fn is_open() -> bool {
    !OPEN.get().is_null()
}

/// Closes the arena at its end, also when a walk panics.
struct Opened {
    is_outermost: bool,
}

impl Opened {
    fn begin() -> Self {
        let is_outermost = !is_open();
        if is_outermost {
            OPEN.set(Box::into_raw(MINE.take().unwrap_or_default()));
        }
        Self { is_outermost }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_outermost {
            super::grammar::let_go();
            // SAFETY: it came from a box when it was opened, and nobody else closes it.
            let mut arena = unsafe { Box::from_raw(OPEN.replace(null_mut())) };
            arena.reset();
            MINE.set(Some(arena));
        }
    }
}

impl Default for Arena {
    fn default() -> Self {
        let free = [null_mut(); CLASSES];
        Self { blocks: Vec::new(), next: null_mut(), end: null_mut(), free }
    }
}

/// How many units a piece of so many bytes has with its head, and which list it is in when it is free.
fn sized(size: usize) -> (usize, usize) {
    let units = (size + HEAD).div_ceil(UNIT);
    if units <= EXACT {
        return (units, units - 1);
    }
    let units = units.next_power_of_two();
    (units, EXACT + units.trailing_zeros() as usize)
}

impl Arena {
    fn give(&mut self, size: usize) -> *mut u8 {
        let (units, class) = sized(size);
        let first = self.free[class];
        if !first.is_null() {
            // SAFETY: a free piece holds the address of the next one of its list.
            self.free[class] = unsafe { first.cast::<*mut u8>().read() };
            return first;
        }
        if (self.end as usize) - (self.next as usize) < units * UNIT {
            self.grow(units);
        }
        let piece = self.next.wrapping_add(HEAD);
        self.next = self.next.wrapping_add(units * UNIT);
        // SAFETY: the head and the units behind it are in the block in use, and nobody else's.
        unsafe { set_units(piece, units) };
        piece
    }

    fn grow(&mut self, units: usize) {
        let twice = self.blocks.last().map_or(FIRST, |it| it.len() * 2);
        // One more: a piece begins in the middle of a unit, so that what follows its head is aligned.
        self.blocks.push(Box::new_uninit_slice(twice.max(units + 1)));
        self.use_last();
    }

    fn use_last(&mut self) {
        if let Some(block) = self.blocks.last_mut() {
            let range = block.as_mut_ptr_range();
            self.next = range.start.cast::<u8>().wrapping_add(UNIT - HEAD);
            self.end = range.end.cast::<u8>().wrapping_sub(HEAD);
        }
    }

    /// Everything given out is nobody's from here on.
    fn reset(&mut self) {
        self.free = [null_mut(); CLASSES];
        // The largest that may be kept: one block is better than several.
        let kept = self.blocks.iter().rposition(|it| it.len() <= KEPT);
        self.blocks.truncate(kept.map_or(0, |it| it + 1));
        self.blocks.drain(..self.blocks.len().saturating_sub(1));
        (self.next, self.end) = (null_mut(), null_mut());
        self.use_last();
    }

    fn owns(&self, piece: *mut u8) -> bool {
        self.blocks.iter().rev().any(|it| it.as_ptr_range().contains(&piece.cast_const().cast()))
    }

    /// # Safety
    /// The piece is one that was given and not yet taken back.
    unsafe fn take_back(&mut self, piece: *mut u8) {
        // SAFETY: as above, so it has a head, and room for an address.
        unsafe {
            let (_, class) = sized(units(piece) * UNIT - HEAD);
            piece.cast::<*mut u8>().write(self.free[class]);
            self.free[class] = piece;
        }
    }

    /// # Safety
    /// The piece is one that was given and not yet taken back.
    unsafe fn resize(&mut self, piece: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let n = unsafe { units(piece) };
        let len = n * UNIT - HEAD;
        if size <= len {
            return piece;
        }
        let (wanted, _) = sized(size);
        let head = piece.wrapping_sub(HEAD);
        let is_last = head.wrapping_add(n * UNIT) == self.next;
        if is_last && (self.end as usize) - (head as usize) >= wanted * UNIT {
            self.next = head.wrapping_add(wanted * UNIT);
            // SAFETY: what was added is in the block in use, and nobody else's.
            unsafe { set_units(piece, wanted) };
            return piece;
        }
        let res = self.give(size);
        // SAFETY: both are given, apart, and at least so long.
        unsafe {
            res.copy_from_nonoverlapping(piece, len);
            self.take_back(piece);
        }
        res
    }
}

/// # Safety
/// It is a piece of an arena.
unsafe fn units(piece: *mut u8) -> usize {
    // SAFETY: a piece is aligned and has a head before it.
    unsafe { piece.sub(HEAD).cast::<usize>().read() }
}

/// # Safety
/// There is room for a head before it.
unsafe fn set_units(piece: *mut u8, units: usize) {
    // SAFETY: as above; a piece is aligned.
    unsafe { piece.sub(HEAD).cast::<usize>().write(units) }
}

/// The open arena, for as long as one call lasts: nothing it does comes back here.
fn open<'a>() -> Option<&'a mut Arena> {
    // SAFETY: it is this thread's alone, and lives until it is closed.
    unsafe { OPEN.get().as_mut() }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    match open() {
        Some(arena) => arena.give(size).cast(),
        // SAFETY: the system's own.
        None => unsafe { libc::malloc(size) },
    }
}

unsafe extern "C" fn calloc(n: usize, size: usize) -> *mut c_void {
    let Some(arena) = open() else {
        // SAFETY: the system's own.
        return unsafe { libc::calloc(n, size) };
    };
    let Some(size) = n.checked_mul(size) else { return null_mut() };
    let res = arena.give(size);
    // SAFETY: it was given just now.
    unsafe { res.write_bytes(0, size) };
    res.cast()
}

unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    match open() {
        Some(arena) if piece.is_null() => arena.give(size).cast(),
        // SAFETY: it is the arena's, and the caller's to change.
        Some(arena) if arena.owns(piece.cast()) => unsafe {
            arena.resize(piece.cast(), size).cast()
        },
        // SAFETY: the system's own.
        _ => unsafe { libc::realloc(piece, size) },
    }
}

unsafe extern "C" fn free(piece: *mut c_void) {
    match open() {
        _ if piece.is_null() => {}
        // SAFETY: it is the arena's, and the caller's to give back.
        Some(arena) if arena.owns(piece.cast()) => unsafe { arena.take_back(piece.cast()) },
        // SAFETY: the system's own.
        _ => unsafe { libc::free(piece) },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{KEPT, MINE, UNIT, calloc, free, is_open, malloc, realloc, within};

    /// Pieces with what was written to them.
    struct Held(VecDeque<(*mut u8, usize, u8)>);

    impl Held {
        fn put(&mut self, piece: *mut u8, size: usize, mark: u8) {
            assert_eq!(piece as usize % UNIT, 0, "aligned for every type");
            // SAFETY: it was given with this size.
            unsafe { piece.write_bytes(mark, size) };
            self.0.push_back((piece, size, mark));
        }

        fn take(&mut self) -> Option<(*mut u8, usize)> {
            let (piece, size, mark) = self.0.pop_front()?;
            // SAFETY: all of it was written.
            let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
            assert!(bytes.iter().all(|it| *it == mark), "{size} bytes were somebody else's, too");
            Some((piece, size))
        }
    }

    #[test]
    fn pieces_are_apart_whatever_comes_and_goes() {
        within(|| {
            let mut held = Held(VecDeque::new());
            let mut random = 7_u32;
            for i in 0..20_000_u32 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let large = if i % 500 == 0 { 40_000 } else { 0 };
                let size = (random >> 23) as usize + large;
                let mark = i.to_le_bytes()[0];
                // SAFETY: pieces are used as they were given, and given back once.
                unsafe {
                    match random >> 8 & 7 {
                        0..=2 => held.put(malloc(size).cast(), size, mark),
                        3 => {
                            let piece = calloc(1, size).cast::<u8>();
                            held.0.push_back((piece, size, 0));
                        }
                        4 => {
                            if let Some((piece, _)) = held.take() {
                                held.put(realloc(piece.cast(), size).cast(), size, mark);
                            }
                        }
                        _ => {
                            if let Some((piece, _)) = held.take() {
                                free(piece.cast());
                            }
                        }
                    }
                }
            }
            while held.take().is_some() {}
        });
    }

    #[test]
    fn what_grows_keeps_what_it_held() {
        within(|| {
            // SAFETY: pieces are used as they were given.
            unsafe {
                let (one, mut other) = (malloc(8).cast::<u64>(), malloc(8).cast::<u64>());
                one.write(1);
                other.write(2);
                for size in [9, 100, 1_000, 100_000, 3_000_000] {
                    other = realloc(other.cast(), size).cast();
                    assert_eq!((one.read(), other.read()), (1, 2));
                }
            }
        });
    }

    #[test]
    fn room_is_kept_within_bounds_and_closed_after_a_panic() {
        // SAFETY: never used.
        within(|| unsafe { _ = malloc(KEPT * UNIT * 2) });
        let n_kept: usize =
            MINE.with_borrow(|it| it.iter().flat_map(|it| &it.blocks).map(|it| it.len()).sum());
        assert!(n_kept <= KEPT, "{n_kept} units");
        let failed = catch_unwind(AssertUnwindSafe(|| within(|| panic!("a walk fails"))));
        assert!(failed.is_err() && !is_open());
    }

    #[test]
    fn what_was_made_outside_goes_back_to_the_system() {
        // SAFETY: given back once, by whom it was given.
        unsafe {
            let piece = malloc(100);
            within(|| free(realloc(piece, 1_000)));
        }
    }
}
