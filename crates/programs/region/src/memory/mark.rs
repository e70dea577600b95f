//! A mark by which a process knows that it is itself, and not a copy that `fork` has made of it.
//!
//! A call asks for it every time, so it is a word in memory: a page that is empty in copies.
//!
//! Invariants:
//! 1. The word is 1 in the process that made the mark, and 0 in every process that has a copy of
//!    its memory.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

const PAGE_BYTES: usize = 4096;

/// The mark.
pub(crate) struct Mark(&'static AtomicU32);

impl Mark {
    /// Marks this process; `None` if the kernel cannot keep copies apart.
    pub(crate) fn new() -> Option<Mark> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses, which no other code knows yet.
        let page = unsafe {
            mmap_anonymous(std::ptr::null_mut(), PAGE_BYTES, protection, MapFlags::PRIVATE).ok()?
        };
        // SAFETY: the whole page is ours, and that copies find it empty is what is wanted.
        unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork).ok()? };
        // SAFETY: the page is aligned, zeroed, mapped until the process ends, and only used as this
        // one atomic word.
        let word = unsafe { &*page.cast::<AtomicU32>() };
        word.store(1, Relaxed);
        Some(Mark(word))
    }

    /// Whether this is the process that was marked.
    pub(crate) fn is_here(&self) -> bool {
        self.0.load(Relaxed) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself() {
        assert!(Mark::new().is_none_or(|mark| mark.is_here()));
    }
}
