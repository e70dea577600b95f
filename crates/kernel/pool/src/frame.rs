//! Frames: the memory of a pool, its descriptors, and the guards through which it is touched.
//!
//! `unsafe` code of the pool stands here and in `fetch.rs`, `ahead.rs`, `home.rs` and `resize.rs`.
//! The rule it rests on: bytes of a frame are reached
//! only through [`SharedCi`] (shared latch held, so nobody writes) or [`ExclusiveCi`] (exclusive
//! latch held, so nobody else reads or writes), or by the loader of a frame that nobody can latch
//! yet because its `LOADING` flag is set.

use std::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use base::{CiNumber, DataSetId, Lsn};
use seam::reserve::Reserved;
use seam::sync::RawLatch;

use crate::frame_id::{FrameHint, FrameId};
use crate::key::Key;
use crate::{PAGE_LSN_AT, latches};

/// The frame is being filled; only its loader may touch it.
const LOADING: u32 = 1;
/// It was used since the clock's hand passed.
const REFERENCED: u32 = 2;
/// It is never evicted (upper levels of a freshness map).
const STICKY: u32 = 4;
/// How much of an interval is prefetched before a search.
const PREFETCHED_BYTES: usize = 448;
/// Set in `pins` while a frame is being evicted: no new pin counts.
const EVICTING: u32 = 1 << 31;

/// A frame's descriptor: one line of the processor's cache.
#[repr(align(64))]
pub(crate) struct Frame {
    latch: RawLatch,
    key: AtomicU64,
    next: AtomicU32,
    pins: AtomicU32,
    flags: AtomicU32,
    id: FrameId,
    /// Grows with every change and every reuse of the frame: what a hint compares.
    version: AtomicU64,
    /// The oldest LSN whose change may be missing on disk; 0 when there is none.
    rec_lsn: AtomicU64,
    /// Never changes; an atomic so that threads may share it.
    bytes: AtomicPtr<u8>,
    pool: u32,
    usable_bytes: u16,
    unit_bytes: u16,
}

#[allow(unsafe_code)]
impl Frame {
    pub(crate) fn id(&self) -> FrameId {
        self.id
    }

    /// The place of its pool among those that share a queue of dirty frames.
    #[inline]
    pub(crate) fn pool(&self) -> u32 {
        self.pool
    }

    #[inline]
    pub(crate) fn key(&self) -> Key {
        Key(self.key.load(Acquire))
    }

    pub(crate) fn set_key(&self, key: Key) {
        self.key.store(key.0, Release);
    }

    /// The frame no longer holds its interval, which may go on elsewhere: no hint fits any more.
    pub(crate) fn take_key(&self) {
        self.set_key(Key::NONE);
        self.version.fetch_add(1, AcqRel);
    }

    #[inline]
    pub(crate) fn next(&self) -> FrameId {
        FrameId(self.next.load(Acquire))
    }

    pub(crate) fn set_next(&self, next: FrameId) {
        self.next.store(next.0, Release);
    }

    /// Pins the frame unless it is being evicted.
    #[inline]
    pub(crate) fn try_pin(&self) -> bool {
        if self.pins.fetch_add(1, AcqRel) & EVICTING == 0 {
            return true;
        }
        self.pins.fetch_sub(1, AcqRel);
        false
    }

    #[inline]
    pub(crate) fn unpin(&self) {
        let before = self.pins.fetch_sub(1, AcqRel);
        debug_assert!(before & !EVICTING > 0, "a pin is given back once");
    }

    /// Claims an unpinned frame for another use. Under the pool's mutex.
    pub(crate) fn try_claim(&self) -> bool {
        self.pins.compare_exchange(0, EVICTING, AcqRel, Relaxed).is_ok()
    }

    /// Ends a claim; the frame is pinned `pins` times afterwards.
    pub(crate) fn end_claim(&self, pins: u32) {
        // Guesses of readers may have added to the count; they take it back themselves.
        self.pins.fetch_sub(EVICTING - pins, AcqRel);
    }

    /// Gives back a pin and keeps the frame claimed, as free frames are.
    pub(crate) fn claim_from_pin(&self) {
        self.pins.fetch_add(EVICTING - 1, AcqRel);
    }

    pub(crate) fn pins(&self) -> u32 {
        self.pins.load(Acquire) & !EVICTING
    }

    #[inline]
    pub(crate) fn is_loading(&self) -> bool {
        self.flags.load(Acquire) & LOADING != 0
    }

    pub(crate) fn set_loading(&self, loading: bool) {
        if loading {
            self.flags.fetch_or(LOADING, AcqRel);
        } else {
            self.version.fetch_add(1, AcqRel);
            self.flags.fetch_and(!LOADING, AcqRel);
        }
    }

    #[inline]
    pub(crate) fn touch(&self) {
        if self.flags.load(Relaxed) & REFERENCED == 0 {
            self.flags.fetch_or(REFERENCED, Relaxed);
        }
    }

    /// Whether it was used since the last time; forgets it.
    pub(crate) fn take_referenced(&self) -> bool {
        self.flags.fetch_and(!REFERENCED, Relaxed) & REFERENCED != 0
    }

    pub(crate) fn is_sticky(&self) -> bool {
        self.flags.load(Relaxed) & STICKY != 0
    }

    pub(crate) fn set_sticky(&self, sticky: bool) {
        if sticky {
            self.flags.fetch_or(STICKY, Relaxed);
        } else {
            self.flags.fetch_and(!STICKY, Relaxed);
        }
    }

    pub(crate) fn rec_lsn(&self) -> Lsn {
        Lsn(self.rec_lsn.load(Acquire))
    }

    /// Marks the frame dirty from `lsn` on; `true` if it was clean. Under the exclusive latch.
    pub(crate) fn mark_dirty(&self, lsn: Lsn) -> bool {
        self.rec_lsn.compare_exchange(0, lsn.0, AcqRel, Relaxed).is_ok()
    }

    /// Marks the frame clean; returns what it was. Under a latch or with nobody else around.
    pub(crate) fn mark_clean(&self) -> Lsn {
        Lsn(self.rec_lsn.swap(0, AcqRel))
    }

    /// Takes over what another frame holds, except its key. Both are claimed, under the pool's
    /// mutex.
    ///
    /// # Safety
    /// They are two frames of one unit size, claimed by the caller.
    pub(crate) unsafe fn take_over(&self, from: &Frame) {
        // SAFETY: bytes of a frame are reached with a pin only, and claimed frames have none; the
        // memory of two frames does not overlap.
        unsafe {
            let (to, from) = (self.start(), from.start());
            std::ptr::copy_nonoverlapping(from, to, usize::from(self.unit_bytes));
        }
        self.flags.store(from.flags.swap(0, AcqRel), Release);
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    pub(crate) fn latch(&self) -> &RawLatch {
        &self.latch
    }

    /// Where its memory begins. Read relaxed: whoever may touch the memory came by the key or the
    /// latch, which were stored later.
    #[inline]
    fn start(&self) -> *mut u8 {
        self.bytes.load(Relaxed)
    }

    /// Whether the frame holds the interval, ready for use. The flag is read first: a load that
    /// failed takes the key away before it clears the flag.
    #[inline]
    pub(crate) fn holds(&self, key: Key) -> bool {
        !self.is_loading() && self.key() == key
    }

    /// The whole unit, for the loader while `LOADING` is set, and for nobody else.
    ///
    /// # Safety
    /// The caller is the loader: it set `LOADING` on a frame that it had claimed.
    #[allow(clippy::mut_from_ref)] // the loader alone reaches the frame
    pub(crate) unsafe fn unit_of_loader(&self) -> &mut [u8] {
        // SAFETY: the memory is valid for `unit_bytes`; nobody latches a loading frame.
        unsafe { std::slice::from_raw_parts_mut(self.start(), usize::from(self.unit_bytes)) }
    }
}

/// All frames of a pool: those that it has, and those that it had once and may have again.
///
/// Descriptors stand apart from the memory that they describe. They come into being with the first
/// use of a frame and stay to the end, so that a reader whom a table or a hint misleads finds one
/// that says no; memory comes and goes with the pool's size.
pub(crate) struct Frames {
    descriptors: Reserved,
    memory: Reserved,
    /// How many descriptors there are.
    made: AtomicU32,
    unit_bytes: usize,
    usable_bytes: usize,
    pool: u32,
}

#[allow(unsafe_code)]
impl Frames {
    /// Room for `most` frames, at least for `least`; none exists yet.
    pub(crate) fn new(
        pool: u32,
        unit_bytes: usize,
        usable: usize,
        least: usize,
        most: usize,
    ) -> Frames {
        Frames {
            descriptors: Reserved::new(least * size_of::<Frame>(), most * size_of::<Frame>()),
            memory: Reserved::new(least * unit_bytes, most * unit_bytes),
            made: AtomicU32::new(0),
            unit_bytes,
            usable_bytes: usable,
            pool,
        }
    }

    /// How many frames there may ever be.
    pub(crate) fn most(&self) -> usize {
        (self.descriptors.bytes() / size_of::<Frame>()).min(self.memory.bytes() / self.unit_bytes)
    }

    /// Has memory for the first `count` frames. New ones are claimed and hold nothing. One at a
    /// time.
    ///
    /// # Errors
    /// If there is no memory; then nothing has changed.
    pub(crate) fn make(&self, count: usize) -> std::io::Result<()> {
        self.descriptors.make_ready(count * size_of::<Frame>())?;
        self.memory.make_ready(count * self.unit_bytes)?;
        for at in self.made.load(Acquire) as usize..count {
            let frame = Frame {
                latch: RawLatch::default(),
                key: AtomicU64::new(0),
                next: AtomicU32::new(FrameId::NONE.0),
                // Free frames stay claimed, so that a misled reader cannot pin them.
                pins: AtomicU32::new(EVICTING),
                flags: AtomicU32::new(0),
                id: FrameId(at as u32),
                version: AtomicU64::new(0),
                rec_lsn: AtomicU64::new(0),
                bytes: AtomicPtr::new(self.memory.as_ptr().wrapping_add(at * self.unit_bytes)),
                pool: self.pool,
                usable_bytes: self.usable_bytes as u16,
                unit_bytes: self.unit_bytes as u16,
            };
            // SAFETY: the place is ready, aligned (the first one is, to a page), and nobody looks
            // at it before it is counted. A frame has nothing to drop.
            unsafe { self.descriptors.as_ptr().cast::<Frame>().add(at).write(frame) };
        }
        self.made.fetch_max(count as u32, AcqRel);
        Ok(())
    }

    /// Has the memory of some frames its pages, before somebody waits for them.
    pub(crate) fn touch(&self, frames: std::ops::Range<usize>) {
        self.memory.touch(frames.start * self.unit_bytes, frames.end * self.unit_bytes);
    }

    /// Gives the memory of some frames back.
    ///
    /// # Safety
    /// They are claimed, hold nothing, and stay so until this is over.
    pub(crate) unsafe fn give_back(&self, frames: std::ops::Range<usize>) {
        // SAFETY: bytes of a frame are reached with a pin only, and claimed frames have none.
        unsafe {
            self.memory.give_back(frames.start * self.unit_bytes, frames.end * self.unit_bytes);
        }
    }

    /// How many frames exist, with memory or without.
    #[inline]
    pub(crate) fn made(&self) -> usize {
        self.made.load(Acquire) as usize
    }

    #[inline]
    pub(crate) fn get(&self, id: FrameId) -> &Frame {
        assert!((id.0 as usize) < self.made(), "ids come from frames that exist");
        // SAFETY: the descriptor was made before it was counted, and stays where it is as long as
        // `self` lives; it changes only as its atomics do.
        unsafe { &*self.descriptors.as_ptr().cast::<Frame>().add(id.0 as usize) }
    }

    /// Prefetches the beginning of an interval, where its header and directory stand,
    /// its end, where its first cell does, and what is at `near`: all at once instead of line by
    /// line as a search comes to them, and while it still looks at the descriptor.
    #[inline]
    pub(crate) fn prefetch(&self, id: FrameId, near: usize) {
        let descriptors = self.descriptors.as_ptr().cast::<Frame>();
        seam::mem::prefetch_line(descriptors.wrapping_add(id.0 as usize));
        let unit = self.memory.as_ptr().wrapping_add(id.0 as usize * self.unit_bytes);
        let begin = (0..PREFETCHED_BYTES).step_by(64);
        let end = [self.usable_bytes - 48, self.usable_bytes - 1];
        for at in [near, near + 64, near + 128].into_iter().chain(begin).chain(end) {
            seam::mem::prefetch_line(unit.wrapping_add(at));
        }
    }

    /// Every frame that exists, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Frame> {
        (0..self.made()).map(|at| self.get(FrameId(at as u32)))
    }
}

/// An interval that stays in memory, not latched: what structure changes collect before they latch
/// several intervals, so that no latch is held while one of them is read (K16).
pub struct Pinned<'p> {
    frame: &'p Frame,
    dirty: &'p crate::dirty::DirtyQueue,
    fresh: bool,
}

impl<'p> Pinned<'p> {
    /// The frame is pinned by the caller, who gives the pin over.
    pub(crate) fn new(
        frame: &'p Frame,
        dirty: &'p crate::dirty::DirtyQueue,
        fresh: bool,
    ) -> Pinned<'p> {
        Pinned { frame, dirty, fresh }
    }

    /// Latches it for reading.
    #[must_use]
    pub fn shared(self) -> SharedCi<'p> {
        let frame = self.frame;
        std::mem::forget(self);
        frame.latch().lock_shared();
        SharedCi::new(frame)
    }

    /// Latches it for changing. Its bytes are zero if it was pinned as fresh.
    #[must_use]
    pub fn exclusive(self) -> ExclusiveCi<'p> {
        let (frame, dirty, fresh) = (self.frame, self.dirty, self.fresh);
        std::mem::forget(self);
        frame.latch().lock_exclusive();
        let mut guard = ExclusiveCi::new(frame, dirty);
        if fresh {
            guard.bytes_mut().fill(0);
        }
        guard
    }

    /// The interval's number.
    #[must_use]
    pub fn ci(&self) -> CiNumber {
        self.frame.key().ci()
    }

    /// Which pool and which of its frames.
    pub(crate) fn place(&self) -> (u32, FrameId) {
        (self.frame.pool(), self.frame.id())
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.frame.unpin();
    }
}

/// An interval in memory that others may read at the same time.
pub struct SharedCi<'p> {
    frame: &'p Frame,
}

/// An interval in memory that nobody else sees.
pub struct ExclusiveCi<'p> {
    frame: &'p Frame,
    dirty: &'p crate::dirty::DirtyQueue,
    changed: bool,
}

#[allow(unsafe_code)]
impl<'p> SharedCi<'p> {
    /// The frame is pinned and latched shared by the caller, who gives both over.
    pub(crate) fn new(frame: &'p Frame) -> SharedCi<'p> {
        latches::took();
        SharedCi { frame }
    }

    /// The usable bytes: without the trailer that belongs to sealing.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the shared latch keeps writers away for as long as `self` lives.
        unsafe {
            std::slice::from_raw_parts(self.frame.start(), usize::from(self.frame.usable_bytes))
        }
    }

    /// The whole unit with the (stale) trailer, to copy for writing.
    pub(crate) fn unit(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe {
            std::slice::from_raw_parts(self.frame.start(), usize::from(self.frame.unit_bytes))
        }
    }

    pub(crate) fn frame(&self) -> &'p Frame {
        self.frame
    }
}

#[allow(unsafe_code)]
impl<'p> ExclusiveCi<'p> {
    /// The frame is pinned and latched exclusively by the caller, who gives both over.
    pub(crate) fn new(frame: &'p Frame, dirty: &'p crate::dirty::DirtyQueue) -> ExclusiveCi<'p> {
        latches::took();
        ExclusiveCi { frame, dirty, changed: false }
    }

    /// The usable bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the exclusive latch is held as long as `self` lives.
        unsafe {
            std::slice::from_raw_parts(self.frame.start(), usize::from(self.frame.usable_bytes))
        }
    }

    /// The usable bytes, to change. [`ExclusiveCi::begin_change`] comes first.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.changed = true;
        // SAFETY: the exclusive latch is held as long as `self` lives.
        unsafe {
            std::slice::from_raw_parts_mut(self.frame.start(), usize::from(self.frame.usable_bytes))
        }
    }

    /// What [`ExclusiveCi::hint`] of the interval will be once this guard is dropped.
    #[must_use]
    pub fn hint_after(&self) -> FrameHint {
        let now = self.hint();
        FrameHint { version: now.version + u64::from(self.changed), ..now }
    }

    /// Announces a change whose record will stand at `next_lsn` or behind it. Called before the
    /// record is appended, so that a checkpoint never misses it (invariant 3).
    #[inline]
    pub fn begin_change(&mut self, next_lsn: Lsn) {
        if self.frame.mark_dirty(Lsn(next_lsn.0.max(1))) {
            self.dirty.push(self.frame.pool(), self.frame.id(), next_lsn);
        }
    }

    /// Stores the LSN of the record that describes the latest change.
    #[inline]
    pub fn set_lsn(&mut self, lsn: Lsn) {
        assert!(!self.frame.rec_lsn().0.eq(&0), "a change is announced before it is logged");
        base::bytes::put_u64(self.bytes_mut(), PAGE_LSN_AT, lsn.0);
    }
}

macro_rules! both {
    ($guard:ident) => {
        impl $guard<'_> {
            /// The interval's number.
            #[must_use]
            pub fn ci(&self) -> CiNumber {
                self.frame.key().ci()
            }

            /// Its data set.
            #[must_use]
            pub fn set(&self) -> DataSetId {
                self.frame.key().set()
            }

            /// The LSN of the latest change.
            #[must_use]
            pub fn lsn(&self) -> Lsn {
                Lsn(base::bytes::get_u64(self.bytes(), PAGE_LSN_AT))
            }

            /// Keeps the interval in memory until its data set goes.
            pub fn keep(&self) {
                self.frame.set_sticky(true);
            }

            /// What [`crate::Pool::by_hint`] needs to find the interval again, unpinned.
            #[must_use]
            pub fn hint(&self) -> FrameHint {
                let (pool, frame) = (self.frame.pool(), self.frame.id());
                FrameHint { pool, frame, version: self.frame.version() }
            }
        }
    };
}

both!(SharedCi);
both!(ExclusiveCi);

impl Drop for SharedCi<'_> {
    #[inline]
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        latches::gave();
        // SAFETY: the guard holds the latch shared.
        unsafe { self.frame.latch().unlock_shared() };
        self.frame.unpin();
    }
}

impl Drop for ExclusiveCi<'_> {
    #[inline]
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        latches::gave();
        if self.changed {
            self.frame.version.fetch_add(1, AcqRel);
        }
        // SAFETY: the guard holds the latch exclusively.
        unsafe { self.frame.latch().unlock_exclusive() };
        self.frame.unpin();
    }
}
