//! Reserved address space: tables and frames that grow and shrink where they stand.
//!
//! Addresses are reserved once, for the most that there may ever be; memory comes when it is asked
//! for, and goes back to the operating system in one call. So nothing that is in use ever moves,
//! and a reader without a lock needs no protection from those who make it larger.
//!
//! Invariants:
//! 1. What was made ready stays readable until the end. What was given back is zero.
//! 2. Memory that is given back, or that remains at the end, goes to the operating system, which
//!    clears it before anybody else gets it; plaintext in it need not be wiped.

use std::alloc::{Layout, handle_alloc_error};
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire};

use crate::disk::BLOCK;
use crate::mem::HUGE_BYTES;

/// Reserved addresses of which a part from the beginning has memory.
#[allow(unsafe_code)]
pub struct Reserved {
    /// What was mapped.
    map: NonNull<u8>,
    map_bytes: usize,
    /// What of it is used: aligned to huge pages if it is large.
    start: NonNull<u8>,
    bytes: usize,
    ready: AtomicUsize,
}

// SAFETY: it owns its addresses alone and hands out nothing but a pointer.
#[allow(unsafe_code)]
unsafe impl Send for Reserved {}
// SAFETY: as above; what changes is atomic.
#[allow(unsafe_code)]
unsafe impl Sync for Reserved {}

/// Whether the operating system limits how many addresses this process may have.
fn are_addresses_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    !cfg!(miri) && getrlimit(Resource::As).current.is_some()
}

#[allow(unsafe_code)]
impl Reserved {
    /// Reserves `most` bytes, or, if there are no so many addresses, or they are limited (`ulimit
    /// -v`), at least `least`. None has memory yet.
    ///
    /// # Panics
    /// If even `least` cannot be had: the process ends as it does without memory.
    #[must_use]
    pub fn new(least: usize, most: usize) -> Reserved {
        let reserve = |bytes: usize| Reserved::map(bytes.max(1).next_multiple_of(BLOCK));
        // Where addresses are limited, room for growth would take those of other maps.
        let most = if are_addresses_limited() { least } else { most.max(least) };
        reserve(most).or_else(|_| reserve(least)).unwrap_or_else(|_| {
            handle_alloc_error(Layout::from_size_align(least, 1).unwrap_or(Layout::new::<u8>()))
        })
    }

    #[cfg(not(miri))]
    fn map(bytes: usize) -> io::Result<Reserved> {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        let align = if bytes >= HUGE_BYTES { HUGE_BYTES } else { BLOCK };
        let map_bytes = bytes + if align > BLOCK { align } else { 0 };
        // No thread may touch these addresses yet, so they count for nothing.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses addresses that are free.
        let map =
            unsafe { mmap_anonymous(std::ptr::null_mut(), map_bytes, ProtFlags::empty(), flags) };
        let map = NonNull::new(map?.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = map.addr().get().next_multiple_of(align) - map.addr().get();
        // SAFETY: the map has `align` bytes more than are used.
        let start = unsafe { map.add(skip) };
        Ok(Reserved { map, map_bytes, start, bytes, ready: AtomicUsize::new(0) })
    }

    /// Miri knows no maps: the memory is there from the beginning.
    #[cfg(miri)]
    fn map(bytes: usize) -> io::Result<Reserved> {
        let layout = Layout::from_size_align(bytes, BLOCK).map_err(io::Error::other)?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let map = start.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Reserved { map, map_bytes: bytes, start: map, bytes, ready: AtomicUsize::new(0) })
    }

    /// How many bytes may ever be ready.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first byte, for owners that hand out parts under their own rules.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Makes the first `bytes` ready to be touched, those that were not so before as zeros.
    ///
    /// # Errors
    /// If there is no memory, or more is wanted than was reserved.
    pub fn make_ready(&self, bytes: usize) -> io::Result<()> {
        if bytes > self.bytes {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let all = bytes.next_multiple_of(BLOCK).min(self.bytes);
        #[cfg(not(miri))]
        if all > self.ready.load(Acquire) {
            use rustix::mm::{Advice, MprotectFlags, madvise, mprotect};
            let (start, flags) = (self.as_ptr().cast(), MprotectFlags::READ | MprotectFlags::WRITE);
            // SAFETY: the addresses are ours alone; who uses the first of them already may go on.
            unsafe { mprotect(start, all, flags)? };
            if all >= HUGE_BYTES {
                // A system without huge pages refuses, and the memory has ordinary ones.
                // SAFETY: as above; advice changes how memory is backed, never what it holds.
                let _ = unsafe { madvise(start, all, Advice::LinuxHugepage) };
            }
        }
        self.ready.fetch_max(all, AcqRel);
        Ok(())
    }

    /// Has the operating system give a part that is ready its pages now, instead of when somebody
    /// comes to it who is in a hurry. It keeps what it holds.
    pub fn touch(&self, from: usize, to: usize) {
        assert!(from <= to && to <= self.ready.load(Acquire), "only what is ready is touched");
        #[cfg(not(miri))]
        {
            let (from, to) = (from / BLOCK * BLOCK, to.next_multiple_of(BLOCK).min(self.bytes));
            let populate = rustix::mm::Advice::LinuxPopulateWrite;
            // SAFETY: the part lies within the map; pages that are there stay as they are. Where
            // it is refused, pages come at the first touch.
            let _ =
                unsafe { rustix::mm::madvise(self.as_ptr().add(from).cast(), to - from, populate) };
        }
    }

    /// Gives the memory of a part back, as far as it fills whole pages; what is given back reads as
    /// zero, and has memory again when it is written.
    ///
    /// # Safety
    /// No thread uses what the part holds, nor will before writing it, except as atomics.
    pub unsafe fn give_back(&self, from: usize, to: usize) {
        assert!(from <= to && to <= self.ready.load(Acquire), "only what is ready is given back");
        let (from, to) = (from.next_multiple_of(BLOCK), to / BLOCK * BLOCK);
        if from >= to {
            return;
        }
        #[cfg(not(miri))]
        {
            let advice = rustix::mm::Advice::LinuxDontNeed;
            // SAFETY: the part lies within the map, and the caller says that it is not needed.
            let given =
                unsafe { rustix::mm::madvise(self.as_ptr().add(from).cast(), to - from, advice) };
            if given.is_ok() {
                return;
            }
        }
        // Memory that cannot be given back (it is locked) is wiped at least.
        // SAFETY: as above.
        unsafe { std::ptr::write_bytes(self.as_ptr().add(from), 0, to - from) };
    }
}

#[allow(unsafe_code)]
impl Drop for Reserved {
    fn drop(&mut self) {
        #[cfg(not(miri))]
        // SAFETY: no other map has these addresses. A refusal leaves them reserved.
        let _ = unsafe { rustix::mm::munmap(self.map.as_ptr().cast(), self.map_bytes) };
        #[cfg(miri)]
        if let Ok(layout) = Layout::from_size_align(self.map_bytes, BLOCK) {
            // SAFETY: it was allocated with this layout.
            unsafe { std::alloc::dealloc(self.map.as_ptr(), layout) };
        }
    }
}

/// What is a value when all of its bytes are zero, and may change while others look at it.
///
/// # Safety
/// Both must hold.
// SAFETY: each implementation says why.
#[allow(unsafe_code)]
pub unsafe trait Zeroed: Sync + Send {}
// SAFETY: an atomic number is a number.
#[allow(unsafe_code)]
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Zeroed for AtomicU64 {}

/// A table of atomics that grows where it stands. New elements are zero.
pub struct Growing<T> {
    memory: Reserved,
    len: AtomicUsize,
    element: PhantomData<T>,
}

#[allow(unsafe_code)]
impl<T: Zeroed> Growing<T> {
    /// A table of `len` elements that may come to have `most`.
    ///
    /// # Panics
    /// If there is no memory: the process ends.
    #[must_use]
    pub fn new(len: usize, most: usize) -> Growing<T> {
        let memory = Reserved::new(len * size_of::<T>(), most * size_of::<T>());
        let table = Growing { memory, len: AtomicUsize::new(0), element: PhantomData };
        if table.grow(len).is_err() {
            handle_alloc_error(Layout::array::<T>(len).unwrap_or(Layout::new::<T>()));
        }
        table
    }

    /// Makes it longer; it is never shorter than it was.
    ///
    /// # Errors
    /// If there is no memory, or it may not have so many.
    pub fn grow(&self, len: usize) -> io::Result<()> {
        self.memory.make_ready(len * size_of::<T>())?;
        self.len.fetch_max(len, AcqRel);
        Ok(())
    }

    /// How many elements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len.load(Acquire)
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[must_use]
    pub fn at(&self, index: usize) -> &T {
        assert!(index < self.len(), "the table has such an element");
        // SAFETY: elements below `len` are ready, aligned (the start is, to a page) and, as `T` is
        // `Zeroed`, values from the beginning; they change only as atomics.
        unsafe { &*self.memory.as_ptr().cast::<T>().add(index) }
    }

    /// The memory of elements from `from` on goes back, as far as it fills whole pages. They are
    /// zero then; the first of them may stay what they were.
    pub fn clear_from(&self, from: usize) {
        let (from, to) = (from.min(self.len()) * size_of::<T>(), self.len() * size_of::<T>());
        let to = to.next_multiple_of(BLOCK);
        // SAFETY: elements are looked at and written as atomics only.
        unsafe { self.memory.give_back(from, to) };
    }
}

/// How much memory the machine has.
#[must_use]
#[allow(unsafe_code)]
pub fn installed_bytes() -> usize {
    if cfg!(miri) {
        return 0;
    }
    // SAFETY: asks for two numbers.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn a_table_grows_where_it_stands_and_keeps_what_it_has() {
        let table = Growing::<AtomicU32>::new(3, 100_000);
        table.at(2).store(7, Relaxed);
        let place = std::ptr::from_ref(table.at(2));
        table.grow(90_000).unwrap();
        assert_eq!((table.len(), table.at(2).load(Relaxed)), (90_000, 7));
        assert_eq!(std::ptr::from_ref(table.at(2)), place);
        assert_eq!(table.at(89_999).load(Relaxed), 0);
        table.at(89_999).store(8, Relaxed);
        table.clear_from(50_000);
        assert_eq!((table.at(89_999).load(Relaxed), table.at(2).load(Relaxed)), (0, 7));
        assert!(table.grow(1 << 30).is_err(), "more than was reserved");
    }

    #[test]
    #[allow(unsafe_code)]
    fn memory_comes_and_goes() {
        let memory = Reserved::new(BLOCK, 4 * HUGE_BYTES);
        memory.make_ready(3 * HUGE_BYTES).unwrap();
        memory.touch(BLOCK, 2 * HUGE_BYTES);
        let byte = memory.as_ptr().wrapping_add(HUGE_BYTES);
        // SAFETY: the byte is ready, and no other thread has it.
        unsafe {
            byte.write(9);
            memory.give_back(BLOCK, 2 * HUGE_BYTES + 1);
            assert_eq!(byte.read(), 0);
            byte.write(5);
            memory.touch(0, 3 * HUGE_BYTES);
            assert_eq!(byte.read(), 5);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore)] // it asks the operating system
    fn a_machine_has_memory() {
        assert!(installed_bytes() > 1 << 26);
    }
}
