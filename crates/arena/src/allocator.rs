//! The arena: a bump allocator with one free list per size class, installed as tree-sitter's
//! allocator.
//!
//! Memory is handed out in units of 16 bytes from large chunks. In front of each allocation (its
//! *payload*) a header holds its length in units, so the payload is aligned like memory of `malloc`:
//!
//! ```text
//! | header 8 | payload 8, 24, 40 … bytes | header 8 | payload … |
//! ```
//!
//! For example, 20 bytes and their header take two units (32 bytes), so the payload has room for 24.
//!
//! A freed allocation goes to the free list of its size and is reused first. Its payload then holds
//! the address of the next free allocation.
//!
//! This file has the only `unsafe` code of the crate. It is sound because:
//!
//! - An allocation lies in a chunk of the current thread's arena, or it came from the system
//!   allocator; its address decides which. Trees and parsers created earlier, on other threads or
//!   outside [`with_arena`] therefore keep working.
//! - No object of tree-sitter that is created inside [`with_arena`] outlives it. The crate's own
//!   parser and trees obey this rule. For the rest it is the contract of [`with_arena`].
#![expect(unsafe_code, reason = "implements the allocator interface of a C library")]
#![expect(
    clippy::cast_ptr_alignment,
    reason = "payloads are aligned to a unit, headers to half a unit"
)]

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;

/// Allocation granularity in bytes: the strictest alignment that `malloc` must provide.
const UNIT_BYTES: usize = 16;
/// Bytes before each payload that hold the allocation's size in units.
const HEADER_BYTES: usize = 8;
/// Up to this many units every size has a free list of its own; above, every power of two has one.
const MAX_EXACT_UNITS: usize = 64;
/// One class per exact size, then one per power of two.
const N_SIZE_CLASSES: usize = MAX_EXACT_UNITS + usize::BITS as usize;
/// Units of the first chunk (256 KiB); every further chunk is twice as large as the one before.
const FIRST_CHUNK_UNITS: usize = 1 << 14;
/// Units that are retained from one file to the next (8 MiB).
const MAX_RETAINED_UNITS: usize = 1 << 19;

/// 16 bytes with the alignment of a unit.
type AllocationUnit = MaybeUninit<u128>;

/// The memory of one thread.
struct ParseArena {
    /// The last chunk is the one in use.
    chunks: Vec<Box<[AllocationUnit]>>,
    /// Address of the next header.
    next: *mut u8,
    /// End of the chunk in use.
    end: *mut u8,
    /// Heads of the free lists, one per size class.
    free_lists: [*mut u8; N_SIZE_CLASSES],
}

thread_local! {
    /// The arena that serves allocations of this thread; null outside [`with_arena`].
    static ACTIVE_ARENA: Cell<*mut ParseArena> = const { Cell::new(null_mut()) };
    /// The arena that waits for the next file.
    static IDLE_ARENA: RefCell<Option<Box<ParseArena>>> = const { RefCell::new(None) };
}

/// Runs `work` with tree-sitter's allocations served from this thread's arena.
///
/// # Contract
///
/// No object of tree-sitter (`Parser`, `Tree`, `TreeCursor`, `Query` …) that `work` creates may
/// outlive the call: neither as its result, nor in a captured variable, nor on another thread. Its
/// memory is reused afterwards, so using or dropping it later is undefined behaviour. In particular,
/// `work` must not clone the tree that [`parse_in_arena`](crate::parse_in_arena) lends it and keep
/// the clone. Objects created before the call may be used, changed and dropped freely.
///
/// The compiler cannot check this: `work` is free to call tree-sitter by itself. Callers should
/// therefore obtain trees only from [`parse_in_arena`](crate::parse_in_arena) and keep plain data.
///
/// Calls may be nested; the arena is reset at the end of the outermost one.
pub fn with_arena<T>(work: impl FnOnce() -> T) -> T {
    static INSTALL: Once = Once::new();
    let allocator = tree_sitter::Allocator {
        malloc: arena_malloc,
        calloc: arena_calloc,
        realloc: arena_realloc,
        free: arena_free,
    };
    // SAFETY: the four functions belong together. While no arena is active they forward to the
    // system allocator, and memory the system handed out earlier is returned to the system.
    INSTALL.call_once(|| unsafe { tree_sitter::set_allocator(Some(allocator)) });
    let _guard = ActiveGuard::enter();
    work()
}

/// Returns whether an arena is active on this thread.
pub(crate) fn is_active() -> bool {
    !ACTIVE_ARENA.get().is_null()
}

/// Keeps the arena active. Deactivates and resets it when dropped, also if `work` panics.
struct ActiveGuard {
    /// This guard activated the arena, so it must deactivate it.
    is_outermost: bool,
}

impl ActiveGuard {
    fn enter() -> Self {
        let is_outermost = !is_active();
        if is_outermost {
            ACTIVE_ARENA.set(Box::into_raw(IDLE_ARENA.take().unwrap_or_default()));
        }
        Self { is_outermost }
    }
}

impl Drop for ActiveGuard {
    fn drop(&mut self) {
        if self.is_outermost {
            // While the arena is still active, so that the parser's memory is recognised as its own.
            crate::parse::drop_parser();
            // SAFETY: the pointer came from `Box::into_raw` in `enter`, and only the outermost
            // guard takes it back.
            let mut arena = unsafe { Box::from_raw(ACTIVE_ARENA.replace(null_mut())) };
            arena.reset();
            IDLE_ARENA.set(Some(arena));
        }
    }
}

impl Default for ParseArena {
    fn default() -> Self {
        let free_lists = [null_mut(); N_SIZE_CLASSES];
        Self { chunks: Vec::new(), next: null_mut(), end: null_mut(), free_lists }
    }
}

impl ParseArena {
    /// Allocates `size` bytes: from the free list of the size, else from the chunk in use.
    fn allocate(&mut self, size: usize) -> *mut u8 {
        let (units, class) = size_class(size);
        let first_free = self.free_lists[class];
        if !first_free.is_null() {
            // SAFETY: the payload of a free allocation holds the address of the next one in its
            // list.
            self.free_lists[class] = unsafe { first_free.cast::<*mut u8>().read() };
            return first_free;
        }
        // Without a chunk both addresses are null and no byte is left.
        if (self.end as usize) - (self.next as usize) < units * UNIT_BYTES {
            self.add_chunk(units);
        }
        let payload = self.next.wrapping_add(HEADER_BYTES);
        self.next = self.next.wrapping_add(units * UNIT_BYTES);
        // SAFETY: the header and the units behind it lie in the chunk in use and were not handed
        // out.
        unsafe { write_units(payload, units) };
        payload
    }

    /// Adds a chunk with room for an allocation of `min_units`.
    fn add_chunk(&mut self, min_units: usize) {
        let doubled = self.chunks.last().map_or(FIRST_CHUNK_UNITS, |it| it.len() * 2);
        // One unit more: a header starts in the middle of a unit so that its payload is aligned.
        self.chunks.push(Box::new_uninit_slice(doubled.max(min_units + 1)));
        self.use_last_chunk();
    }

    /// Starts to allocate at the beginning of the last chunk.
    fn use_last_chunk(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            let range = chunk.as_mut_ptr_range();
            // The first half of the first unit and the second half of the last one stay unused.
            self.next = range.start.cast::<u8>().wrapping_add(UNIT_BYTES - HEADER_BYTES);
            self.end = range.end.cast::<u8>().wrapping_sub(HEADER_BYTES);
        }
    }

    /// Invalidates every allocation and keeps at most one chunk for the next file.
    fn reset(&mut self) {
        self.free_lists = [null_mut(); N_SIZE_CLASSES];
        // Every chunk is larger than the one before, so the last one below the limit is the largest.
        // One large chunk serves better than several small ones.
        let retained = self.chunks.iter().rposition(|it| it.len() <= MAX_RETAINED_UNITS);
        self.chunks.truncate(retained.map_or(0, |it| it + 1));
        self.chunks.drain(..self.chunks.len().saturating_sub(1));
        (self.next, self.end) = (null_mut(), null_mut());
        self.use_last_chunk();
    }

    /// Returns whether `payload` lies in a chunk of this arena. The newest chunk is checked first,
    /// because it holds most of the allocations.
    fn owns(&self, payload: *mut u8) -> bool {
        self.chunks.iter().rev().any(|it| it.as_ptr_range().contains(&payload.cast_const().cast()))
    }

    /// Puts an allocation on the free list of its size.
    ///
    /// # Safety
    /// `payload` is a live allocation of this arena.
    unsafe fn release(&mut self, payload: *mut u8) {
        // SAFETY: by the contract it has a header, and its payload can hold an address.
        unsafe {
            // The capacity of an allocation is the largest size of its class, so it leads back there.
            let (_, class) = size_class(read_units(payload) * UNIT_BYTES - HEADER_BYTES);
            payload.cast::<*mut u8>().write(self.free_lists[class]);
            self.free_lists[class] = payload;
        }
    }

    /// Makes an allocation at least `size` bytes long; moves it if it cannot grow in place.
    ///
    /// # Safety
    /// `payload` is a live allocation of this arena.
    unsafe fn resize(&mut self, payload: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: by the contract it has a header.
        let units = unsafe { read_units(payload) };
        let capacity = units * UNIT_BYTES - HEADER_BYTES;
        if size <= capacity {
            return payload;
        }
        let (new_units, _) = size_class(size);
        let header = payload.wrapping_sub(HEADER_BYTES);
        // The newest allocation grows in place while the chunk has space left.
        let is_newest = header.wrapping_add(units * UNIT_BYTES) == self.next;
        if is_newest && (self.end as usize) - (header as usize) >= new_units * UNIT_BYTES {
            self.next = header.wrapping_add(new_units * UNIT_BYTES);
            // SAFETY: the added units lie in the chunk in use and were not handed out.
            unsafe { write_units(payload, new_units) };
            return payload;
        }
        let moved = self.allocate(size);
        // SAFETY: both allocations are live, disjoint and at least `capacity` bytes long.
        unsafe {
            moved.copy_from_nonoverlapping(payload, capacity);
            self.release(payload);
        }
        moved
    }
}

/// Returns the units that an allocation of `size` bytes occupies with its header, and its size class:
/// an index into the free lists.
///
/// ```text
///    20 bytes →   2 units, class 1            (exact: units - 1)
/// 1,017 bytes → 128 units, class 64 + 7       (65 units are rounded up to 128 = 2^7)
/// ```
fn size_class(size: usize) -> (usize, usize) {
    let units = (size + HEADER_BYTES).div_ceil(UNIT_BYTES);
    if units <= MAX_EXACT_UNITS {
        return (units, units - 1);
    }
    // Rounded up, so that allocations of one class can replace one another.
    let units = units.next_power_of_two();
    (units, MAX_EXACT_UNITS + units.trailing_zeros() as usize)
}

/// Reads the length in units from the header of an allocation.
///
/// # Safety
/// `payload` is an allocation of an arena.
unsafe fn read_units(payload: *mut u8) -> usize {
    // SAFETY: a payload is aligned to a unit and preceded by its header.
    unsafe { payload.sub(HEADER_BYTES).cast::<usize>().read() }
}

/// Writes the length in units to the header of an allocation.
///
/// # Safety
/// The bytes before `payload` are its header.
unsafe fn write_units(payload: *mut u8, units: usize) {
    // SAFETY: by the contract; the header of an aligned payload is aligned to half a unit.
    unsafe { payload.sub(HEADER_BYTES).cast::<usize>().write(units) }
}

/// Borrows the active arena for the duration of one allocator call. No allocator call re-enters it.
fn active_arena<'a>() -> Option<&'a mut ParseArena> {
    // SAFETY: the arena belongs to this thread and lives until the outermost guard is dropped.
    unsafe { ACTIVE_ARENA.get().as_mut() }
}

unsafe extern "C" fn arena_malloc(size: usize) -> *mut c_void {
    match active_arena() {
        Some(arena) => arena.allocate(size).cast(),
        // SAFETY: forwards to the system allocator.
        None => unsafe { libc::malloc(size) },
    }
}

unsafe extern "C" fn arena_calloc(count: usize, size: usize) -> *mut c_void {
    let Some(arena) = active_arena() else {
        // SAFETY: forwards to the system allocator.
        return unsafe { libc::calloc(count, size) };
    };
    let Some(size) = count.checked_mul(size) else { return null_mut() };
    let payload = arena.allocate(size);
    // SAFETY: the allocation was made just now with this size.
    unsafe { payload.write_bytes(0, size) };
    payload.cast()
}

unsafe extern "C" fn arena_realloc(payload: *mut c_void, size: usize) -> *mut c_void {
    match active_arena() {
        Some(arena) if payload.is_null() => arena.allocate(size).cast(),
        // SAFETY: the allocation is the arena's, and the caller owns it.
        Some(arena) if arena.owns(payload.cast()) => unsafe {
            arena.resize(payload.cast(), size).cast()
        },
        // SAFETY: every other allocation came from the system.
        _ => unsafe { libc::realloc(payload, size) },
    }
}

unsafe extern "C" fn arena_free(payload: *mut c_void) {
    match active_arena() {
        _ if payload.is_null() => {}
        // SAFETY: the allocation is the arena's, and the caller gives it up.
        Some(arena) if arena.owns(payload.cast()) => unsafe { arena.release(payload.cast()) },
        // SAFETY: every other allocation came from the system.
        _ => unsafe { libc::free(payload) },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{
        IDLE_ARENA, MAX_RETAINED_UNITS, UNIT_BYTES, arena_calloc, arena_free, arena_malloc,
        arena_realloc, is_active, with_arena,
    };

    struct LiveAllocation {
        payload: *mut u8,
        size: usize,
        /// The byte that it was filled with.
        fill: u8,
    }

    /// Live allocations, oldest first.
    struct LiveAllocations(VecDeque<LiveAllocation>);

    impl LiveAllocations {
        /// Fills a new allocation and remembers it.
        fn push_filled(&mut self, payload: *mut u8, size: usize, fill: u8) {
            assert_eq!(payload as usize % UNIT_BYTES, 0, "aligned for every type");
            // SAFETY: it was allocated with this size.
            unsafe { payload.write_bytes(fill, size) };
            self.0.push_back(LiveAllocation { payload, size, fill });
        }

        /// Takes the oldest allocation, after checking that nothing overwrote it.
        fn pop_checked(&mut self) -> Option<*mut u8> {
            let LiveAllocation { payload, size, fill } = self.0.pop_front()?;
            // SAFETY: all of it was written.
            let bytes = unsafe { std::slice::from_raw_parts(payload, size) };
            assert!(bytes.iter().all(|it| *it == fill), "{size} bytes overlap another allocation");
            Some(payload)
        }
    }

    #[test]
    fn allocations_never_overlap() {
        with_arena(|| {
            let mut live = LiveAllocations(VecDeque::new());
            let mut random = 7_u32;
            for step in 0..20_000_u32 {
                // A linear congruential generator (Numerical Recipes), so that runs are repeatable.
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // The top 9 bits: up to 511 bytes. Every 500th allocation is large.
                let large = if step % 500 == 0 { 40_000 } else { 0 };
                let size = (random >> 23) as usize + large;
                let fill = step.to_le_bytes()[0];
                // Of eight cases three allocate, one allocates zeros, one resizes, three free.
                let case = random >> 8 & 7;
                // SAFETY: allocations are used within their size and freed once.
                unsafe {
                    match case {
                        0..=2 => live.push_filled(arena_malloc(size).cast(), size, fill),
                        3 => {
                            // Not filled: the check finds zeros.
                            let payload = arena_calloc(1, size).cast::<u8>();
                            live.0.push_back(LiveAllocation { payload, size, fill: 0 });
                        }
                        4 => {
                            if let Some(payload) = live.pop_checked() {
                                live.push_filled(
                                    arena_realloc(payload.cast(), size).cast(),
                                    size,
                                    fill,
                                );
                            }
                        }
                        _ => {
                            if let Some(payload) = live.pop_checked() {
                                arena_free(payload.cast());
                            }
                        }
                    }
                }
            }
            while live.pop_checked().is_some() {}
        });
    }

    #[test]
    fn growing_an_allocation_keeps_its_content() {
        with_arena(|| {
            // SAFETY: allocations are used within their size.
            unsafe {
                let one = arena_malloc(8).cast::<u64>();
                let mut other = arena_malloc(8).cast::<u64>();
                one.write(1);
                other.write(2);
                // In place while the chunk has room, at last into a new one.
                for size in [9, 100, 1_000, 100_000, 3_000_000] {
                    other = arena_realloc(other.cast(), size).cast();
                    assert_eq!((one.read(), other.read()), (1, 2));
                }
            }
        });
    }

    #[test]
    fn retained_memory_is_bounded_and_a_panic_deactivates_the_arena() {
        // The chunk for this allocation is above the limit, so it must not be retained.
        // SAFETY: the allocation is never used.
        with_arena(|| unsafe { _ = arena_malloc(MAX_RETAINED_UNITS * UNIT_BYTES * 2) });
        let retained: usize = IDLE_ARENA
            .with_borrow(|it| it.iter().flat_map(|it| &it.chunks).map(|it| it.len()).sum());
        assert!(retained <= MAX_RETAINED_UNITS, "{retained} units");

        let outcome = catch_unwind(AssertUnwindSafe(|| with_arena(|| panic!("a walk fails"))));
        assert!(outcome.is_err() && !is_active());
    }

    #[test]
    fn memory_allocated_outside_returns_to_the_system() {
        // SAFETY: freed once, by the allocator it came from.
        unsafe {
            let payload = arena_malloc(100);
            with_arena(|| arena_free(arena_realloc(payload, 1_000)));
        }
    }
}
