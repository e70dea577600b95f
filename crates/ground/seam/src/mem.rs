//! Memory with the alignment that direct input and output needs, wiped when it is given back.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::disk::BLOCK;

/// Buffers from this size on are aligned to it and lie in huge pages of the processor where the
/// system has them: random access to a large pool otherwise waits more for address translation
/// than for memory.
pub const HUGE_BYTES: usize = 2 << 20;

/// A zeroed byte buffer aligned to [`BLOCK`]. It may hold plaintext, so it is wiped when dropped.
#[allow(unsafe_code)]
pub struct AlignedBuf {
    start: NonNull<u8>,
    len: usize,
    /// What it is a part of, if it was made with others.
    whole: Option<Arc<AlignedBuf>>,
}

// SAFETY: the buffer owns its memory alone; sharing follows the borrow of the struct. Parts of a
// whole do not overlap, and no code looks at the bytes of a whole that has parts.
#[allow(unsafe_code)]
unsafe impl Send for AlignedBuf {}
// SAFETY: as above; `&AlignedBuf` gives only `&[u8]`.
#[allow(unsafe_code)]
unsafe impl Sync for AlignedBuf {}

#[allow(unsafe_code)]
impl AlignedBuf {
    /// A buffer of `len` zero bytes.
    ///
    /// # Panics
    /// If `len` is zero or the memory cannot be had.
    #[must_use]
    pub fn zeroed(len: usize) -> AlignedBuf {
        assert!(len > 0, "an aligned buffer has at least one byte");
        let layout = layout(len);
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        ask_for_huge_pages(start.as_ptr(), len);
        // SAFETY: `start` is valid for `len` bytes, and no other part has them.
        unsafe { std::ptr::write_bytes(start.as_ptr(), 0, len) };
        AlignedBuf { start, len, whole: None }
    }

    /// `count` buffers of `len` bytes each, side by side in one piece of memory, which is given
    /// back when the last of them is dropped. Together they may be large enough for huge pages:
    /// a device is then told of few long pieces of memory instead of many short ones, which is
    /// most of what a long write costs.
    ///
    /// # Panics
    /// If `len` is not a multiple of [`BLOCK`] above zero, or the memory cannot be had.
    #[must_use]
    pub fn several(count: usize, len: usize) -> Vec<AlignedBuf> {
        assert!(len > 0 && len.is_multiple_of(BLOCK), "buffers of {len} bytes side by side");
        if count == 0 {
            return Vec::new();
        }
        let whole = Arc::new(AlignedBuf::zeroed(count * len));
        let part = |at: usize| {
            // SAFETY: within the memory, by the bounds of `at`.
            let start = unsafe { whole.start.add(at * len) };
            AlignedBuf { start, len, whole: Some(Arc::clone(&whole)) }
        };
        (0..count).map(part).collect()
    }

    /// The first byte, for owners that hand out parts under their own rules (the pool's frames).
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

/// Prefetches a piece of memory that is read soon: several waits for memory at once
/// instead of one behind the other.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        prefetch_line(line.as_ptr());
    }
}

/// Prefetches the cache line at an address, whatever is there.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch_line<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Before the first touch, which is what gives memory its pages. A system without huge pages
/// refuses, and the memory has ordinary ones.
#[allow(unsafe_code)]
fn ask_for_huge_pages<T>(start: *mut T, len: usize) {
    // The advice is for whole ordinary pages.
    let from = start.addr().next_multiple_of(BLOCK);
    let to = (start.addr() + len * size_of::<T>()) / BLOCK * BLOCK;
    // Miri knows no advice; without it the memory is the same, only slower.
    if to.saturating_sub(from) < HUGE_BYTES || cfg!(miri) {
        return;
    }
    let huge = rustix::mm::Advice::LinuxHugepage;
    // SAFETY: the pages lie within memory that the caller has just been given and nobody else
    // has; the advice changes how they are backed, never what they hold.
    let _ = unsafe { rustix::mm::madvise(start.with_addr(from).cast(), to - from, huge) };
}

fn layout(len: usize) -> Layout {
    let layout = Layout::from_size_align(len, alignment(len));
    layout.expect("buffer sizes are far below the address space")
}

fn alignment(bytes: usize) -> usize {
    if bytes >= HUGE_BYTES { HUGE_BYTES } else { BLOCK }
}

#[allow(unsafe_code)]
impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` is valid for `len` initialised bytes as long as `self` lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

#[allow(unsafe_code)]
impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes it the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[allow(unsafe_code)]
impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if self.whole.is_some() {
            // The whole is wiped and given back by its last part.
            return;
        }
        // SAFETY: no other part has the memory any more; a volatile-free fill may be elided only if
        // the memory is never observed, so the fence keeps it.
        unsafe {
            std::ptr::write_bytes(self.start.as_ptr(), 0, self.len);
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
            dealloc(self.start.as_ptr(), layout(self.len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_and_zero() {
        let mut buf = AlignedBuf::zeroed(3 * BLOCK);
        assert_eq!(buf.as_ptr() as usize % BLOCK, 0);
        assert!(buf.iter().all(|byte| *byte == 0));
        buf[BLOCK] = 7;
        assert_eq!(buf[BLOCK], 7);
    }

    #[test]
    fn buffers_side_by_side_are_apart_and_outlive_each_other() {
        let mut bufs = AlignedBuf::several(3, BLOCK);
        bufs.iter_mut().zip(1..).for_each(|(buf, mark)| buf.fill(mark));
        let last = bufs.pop().unwrap();
        let starts: Vec<_> = bufs.iter().map(|buf| buf.as_ptr() as usize).collect();
        assert_eq!(starts[1] - starts[0], BLOCK);
        assert!(bufs.iter().zip(1..).all(|(buf, mark)| buf.iter().all(|byte| *byte == mark)));
        drop(bufs);
        assert!(last.iter().all(|byte| *byte == 3));
        assert!(AlignedBuf::several(0, BLOCK).is_empty());
    }

    #[test]
    #[cfg_attr(miri, ignore)] // it would look at two million bytes one by one
    fn a_large_buffer_is_aligned_to_huge_pages() {
        let buf = AlignedBuf::zeroed(HUGE_BYTES + BLOCK);
        assert_eq!(buf.as_ptr() as usize % HUGE_BYTES, 0);
        assert!(buf.iter().all(|byte| *byte == 0));
    }
}
