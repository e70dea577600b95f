//! Frames: the memory of a pool, its descriptors, and the guards through which it is touched.
//!
//! This file holds the pool's `unsafe` code. The rule it rests on: bytes of a frame are reached
//! only through [`SharedCi`] (shared latch held, so nobody writes) or [`ExclusiveCi`] (exclusive
//! latch held, so nobody else reads or writes), or by the loader of a frame that nobody can latch
//! yet because its `LOADING` flag is set.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use base::{CiNumber, DataSetId, Lsn};
use seam::mem::{AlignedBuf, Table};
use seam::sync::RawLatch;

use crate::table::Key;
use crate::{EXTENT_BYTES, PAGE_LSN_AT, latches};

/// Which frame of a pool: extent number and place within the extent, as one number that also says
/// where its descriptor stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameId(pub(crate) u32);

impl FrameId {
    pub(crate) const NONE: FrameId = FrameId(u32::MAX);
}

/// The frame is being filled; only its loader may touch it.
const LOADING: u32 = 1;
/// It was used since the clock's hand passed.
const REFERENCED: u32 = 2;
/// It is never evicted (upper levels of a freshness map).
const STICKY: u32 = 4;
/// How much of an interval is fetched ahead of a search.
const FETCHED_BYTES: usize = 448;
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
    /// Null as long as the frame's extent does not exist.
    bytes: AtomicPtr<u8>,
    usable_bytes: u32,
    unit_bytes: u32,
}

#[allow(unsafe_code)]
impl Frame {
    pub(crate) fn id(&self) -> FrameId {
        self.id
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
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn unit_of_loader(&self) -> &mut [u8] {
        // SAFETY: the memory is valid for `unit_bytes`; nobody latches a loading frame.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.unit_bytes as usize) }
    }
}

/// All frames of a pool.
///
/// Descriptors stand in slabs, apart from the memory that they describe: in huge pages of the
/// processor if there are many, because whoever looks for an interval comes to them at random.
pub(crate) struct Frames {
    slabs: Box<[OnceLock<Table<Frame>>]>,
    /// The memory that frames point into.
    extents: Box<[OnceLock<AlignedBuf>]>,
    place_bits: u32,
    unit_bytes: usize,
    usable_bytes: usize,
}

/// A slab has so many descriptors: one huge page of them.
const SLAB_BITS: u32 = (seam::mem::HUGE_BYTES / size_of::<Frame>()).ilog2();

impl Frames {
    /// Room for `extents_max` extents of frames; none exists yet.
    pub(crate) fn new(unit_bytes: usize, usable_bytes: usize, extents_max: usize) -> Frames {
        let place_bits = (EXTENT_BYTES / unit_bytes).next_power_of_two().ilog2();
        let slabs = (extents_max << place_bits).div_ceil(1 << SLAB_BITS);
        Frames {
            slabs: (0..slabs).map(|_| OnceLock::new()).collect(),
            extents: (0..extents_max).map(|_| OnceLock::new()).collect(),
            place_bits,
            unit_bytes,
            usable_bytes,
        }
    }

    /// How many frames one extent has.
    pub(crate) fn per_extent(&self) -> usize {
        EXTENT_BYTES / self.unit_bytes
    }

    /// Brings extent number `extent` into being with `count` frames and returns their ids.
    #[allow(unsafe_code)]
    pub(crate) fn add_extent(&self, extent: usize, count: usize) -> Vec<FrameId> {
        assert!(count <= self.per_extent(), "an extent holds at most its size");
        let memory = AlignedBuf::zeroed(count * self.unit_bytes);
        let ids: Vec<FrameId> =
            (0..count).map(|place| FrameId((extent << self.place_bits | place) as u32)).collect();
        for (place, id) in ids.iter().enumerate() {
            // SAFETY: `place` is below `count`, so the result lies within the buffer.
            let bytes = unsafe { memory.as_ptr().add(place * self.unit_bytes) };
            self.slab(*id)[Self::in_slab(*id)].bytes.store(bytes, Release);
        }
        let added = self.extents[extent].set(memory);
        assert!(added.is_ok(), "an extent comes into being once");
        ids
    }

    /// The slab of a frame, which comes into being with its first extent.
    fn slab(&self, id: FrameId) -> &Table<Frame> {
        let slab = (id.0 >> SLAB_BITS) as usize;
        self.slabs[slab].get_or_init(|| {
            let first = slab << SLAB_BITS;
            let count = (self.extents.len() << self.place_bits) - first;
            Table::new(count.min(1 << SLAB_BITS), |at| Frame {
                latch: RawLatch::default(),
                key: AtomicU64::new(0),
                next: AtomicU32::new(FrameId::NONE.0),
                // Free frames stay claimed, so that a misled reader cannot pin them.
                pins: AtomicU32::new(EVICTING),
                flags: AtomicU32::new(0),
                id: FrameId((first + at) as u32),
                version: AtomicU64::new(0),
                rec_lsn: AtomicU64::new(0),
                bytes: AtomicPtr::default(),
                usable_bytes: self.usable_bytes as u32,
                unit_bytes: self.unit_bytes as u32,
            })
        })
    }

    #[inline]
    fn in_slab(id: FrameId) -> usize {
        id.0 as usize & ((1 << SLAB_BITS) - 1)
    }

    #[inline]
    pub(crate) fn get(&self, id: FrameId) -> &Frame {
        let slab = self.slabs[(id.0 >> SLAB_BITS) as usize].get();
        &slab.expect("ids come from extents that exist")[Self::in_slab(id)]
    }

    /// Has the processor fetch the beginning of an interval, where its header and directory stand,
    /// its end, where its first cell does, and what is at `near`: all at once instead of line by
    /// line as a search comes to them, and while it still looks at the descriptor.
    #[inline]
    pub(crate) fn fetch(&self, id: FrameId, near: usize) {
        let (Some(slab), Some(extent)) = (
            self.slabs[(id.0 >> SLAB_BITS) as usize].get(),
            self.extents[(id.0 >> self.place_bits) as usize].get(),
        ) else {
            return;
        };
        seam::mem::fetch_at(&slab[Self::in_slab(id)]);
        let place = id.0 as usize & ((1 << self.place_bits) - 1);
        let unit = extent.as_ptr().cast_const().wrapping_add(place * self.unit_bytes);
        let begin = (0..FETCHED_BYTES).step_by(64);
        let end = [self.usable_bytes - 48, self.usable_bytes - 1];
        for at in [near, near + 64, near + 128].into_iter().chain(begin).chain(end) {
            seam::mem::fetch_at(unit.wrapping_add(at));
        }
    }

    /// Every frame that exists, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Frame> {
        let present = |frame: &&Frame| !frame.bytes.load(Relaxed).is_null();
        self.slabs.iter().filter_map(OnceLock::get).flat_map(|slab| slab.iter()).filter(present)
    }
}

/// An interval that stays in memory, not latched: what structure changes collect before they latch
/// several intervals, so that no latch is held while one of them is read (K16).
pub struct Pinned<'p> {
    frame: &'p Frame,
    dirty: &'p crate::dirty::DirtyQueue,
    pool_index: u32,
    fresh: bool,
}

impl<'p> Pinned<'p> {
    /// The frame is pinned by the caller, who gives the pin over.
    pub(crate) fn new(
        frame: &'p Frame,
        dirty: &'p crate::dirty::DirtyQueue,
        pool_index: u32,
        fresh: bool,
    ) -> Pinned<'p> {
        Pinned { frame, dirty, pool_index, fresh }
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
        let (frame, dirty, pool_index, fresh) =
            (self.frame, self.dirty, self.pool_index, self.fresh);
        std::mem::forget(self);
        frame.latch().lock_exclusive();
        let mut guard = ExclusiveCi::new(frame, dirty, pool_index);
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
        (self.pool_index, self.frame.id())
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
    pool_index: u32,
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
        unsafe { std::slice::from_raw_parts(self.frame.start(), self.frame.usable_bytes as usize) }
    }

    /// The whole unit with the (stale) trailer, to copy for writing.
    pub(crate) fn unit(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.frame.start(), self.frame.unit_bytes as usize) }
    }

    pub(crate) fn frame(&self) -> &'p Frame {
        self.frame
    }
}

#[allow(unsafe_code)]
impl<'p> ExclusiveCi<'p> {
    /// The frame is pinned and latched exclusively by the caller, who gives both over.
    pub(crate) fn new(
        frame: &'p Frame,
        dirty: &'p crate::dirty::DirtyQueue,
        pool_index: u32,
    ) -> ExclusiveCi<'p> {
        latches::took();
        ExclusiveCi { frame, dirty, pool_index, changed: false }
    }

    /// The usable bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the exclusive latch is held as long as `self` lives.
        unsafe { std::slice::from_raw_parts(self.frame.start(), self.frame.usable_bytes as usize) }
    }

    /// The usable bytes, to change. [`ExclusiveCi::begin_change`] comes first.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.changed = true;
        // SAFETY: the exclusive latch is held as long as `self` lives.
        unsafe {
            std::slice::from_raw_parts_mut(self.frame.start(), self.frame.usable_bytes as usize)
        }
    }

    /// Announces a change whose record will stand at `next_lsn` or behind it. Called before the
    /// record is appended, so that a checkpoint never misses it (invariant 3).
    #[inline]
    pub fn begin_change(&mut self, next_lsn: Lsn) {
        if self.frame.mark_dirty(Lsn(next_lsn.0.max(1))) {
            self.dirty.push(self.pool_index, self.frame.id(), next_lsn);
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
            pub fn hint(&self) -> crate::Hint {
                crate::Hint { frame: self.frame.id(), version: self.frame.version() }
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
