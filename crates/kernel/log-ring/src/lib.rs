//! The ring: where records gather between `append` and the group that takes them.
//!
//! A byte of the stream at position `p` stands at `p mod ring`. Many threads append, one takes:
//!
//! * an appender reserves its range with one compare-and-swap on `next`, copies into it with no
//!   lock held, and publishes it by storing the range's end in a *mark*;
//! * the taker walks from mark to mark, so it sees exactly the records that are whole, in order,
//!   and frees what it has sealed.
//!
//! Invariants:
//! 1. `freed <= taken <= boundary <= next <= freed + ring`. A range is reserved only inside that
//!    window, so ranges of unfreed records never overlap in memory.
//! 2. A record is at least 24 bytes long and a mark covers 16, so no two records of one window
//!    share a mark: their starts differ by at most `ring - 24`, fewer than `ring / 16` marks.
//! 3. `mark(p) > p` means: the record that begins at `p` is whole, and this is its end. Marks of
//!    records long gone are at most `p`, because everything before `p` has been walked over.
//! 4. The store of a mark releases the bytes it covers, and the walk acquires them; the store of
//!    `freed` releases the taker's reads, and a reservation acquires them before it overwrites.
//!
//! This is all of the log that needs unsafe code; it stands apart so that `loom` can try every
//! order of it without building anything else.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// No record is shorter.
pub const RECORD_BYTES_MIN: usize = 24;
/// Bytes of stream covered by one mark.
const MARK_SHIFT: u32 = 4;
const _: () = assert!(RECORD_BYTES_MIN > 1 << MARK_SHIFT, "two records never share a mark");

/// A value on cache lines of its own, so that neighbours do not slow each other down.
#[repr(align(128))]
struct Lonely<T>(T);

/// The ring's shared half; the other half is the one [`Taker`].
pub struct Ring {
    bytes: Bytes,
    marks: Box<[AtomicU64]>,
    size: u64,
    /// Where the next record begins.
    next: Lonely<AtomicU64>,
    /// Everything before has been taken.
    freed: Lonely<AtomicU64>,
}

/// The right to take from a ring; there is one for each ring.
#[derive(Debug)]
pub struct Taker {
    /// Everything before has been taken.
    taken: u64,
    /// Where the first record begins that is not known to be whole.
    boundary: u64,
}

/// What a reservation says.
pub enum Reserved<'a> {
    /// Fill it and publish it.
    Claim(Claim<'a>),
    /// The ring has no room before the taker has taken some.
    RingFull,
    /// The range would end beyond the limit.
    Beyond,
}

/// A reserved range. It must be filled and published: until then everything behind it waits.
pub struct Claim<'a> {
    ring: &'a Ring,
    start: u64,
    end: u64,
    filled: u64,
}

/// What the taker may take next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Where it begins.
    pub from: u64,
    /// Where it ends; the same when nothing is whole.
    pub to: u64,
    /// Where in it a record begins first, counted from `from`.
    pub first_record: Option<u32>,
    /// The taker's boundary once this has been taken.
    boundary: u64,
}

impl Ring {
    /// A ring of `size` bytes, a power of two, whose stream goes on at `start`.
    pub fn new(size: usize, start: u64) -> (Ring, Taker) {
        assert!(size.is_power_of_two() && size >= 4 * (1 << MARK_SHIFT), "ring of {size} bytes");
        let marks = (0..size >> MARK_SHIFT).map(|_| AtomicU64::new(0)).collect();
        let ring = Ring {
            bytes: Bytes::new(size),
            marks,
            size: size as u64,
            next: Lonely(AtomicU64::new(start)),
            freed: Lonely(AtomicU64::new(start)),
        };
        (ring, Taker { taken: start, boundary: start })
    }

    /// Puts `bytes` in front of everything, to be taken together. A record begins first at
    /// `begins` in them, and one ends where they end.
    pub fn preload(&mut self, taker: &mut Taker, bytes: &[u8], begins: usize) {
        assert!(taker.taken == self.next() && bytes.len() as u64 <= self.size, "into a new ring");
        let at = (taker.taken & (self.size - 1)) as usize;
        let (front, back) = bytes.split_at(bytes.len().min(self.size as usize - at));
        self.bytes.write(at, front);
        self.bytes.write(0, back);
        let end = taker.taken + bytes.len() as u64;
        self.next.0.store(end, Ordering::SeqCst);
        taker.boundary = taker.taken + begins as u64;
        if taker.boundary < end {
            self.mark(taker.boundary).store(end, Ordering::Release);
        }
    }

    /// Where the next record will begin.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next.0.load(Ordering::SeqCst)
    }

    /// Whether `len` bytes could be reserved just now.
    pub fn has_room(&self, len: u64) -> bool {
        self.next() + len <= self.freed.0.load(Ordering::SeqCst) + self.size
    }

    /// Reserves `len` bytes that end at `limit` at the latest. `start` is a recent [`Ring::next`].
    #[inline]
    pub fn reserve(&self, mut start: u64, len: u64, limit: u64) -> Reserved<'_> {
        assert!(len >= RECORD_BYTES_MIN as u64 && len <= self.size, "a range of {len} bytes");
        loop {
            let end = start + len;
            if end > limit {
                return Reserved::Beyond;
            }
            // Acquire: the taker's reads of this memory come before our writes to it (4).
            if end > self.freed.0.load(Ordering::Acquire) + self.size {
                return Reserved::RingFull;
            }
            let swap =
                self.next.0.compare_exchange_weak(start, end, Ordering::SeqCst, Ordering::Relaxed);
            match swap {
                Ok(_) => return Reserved::Claim(Claim { ring: self, start, end, filled: start }),
                Err(now) => start = now,
            }
        }
    }

    /// Prefetches what the next record will be written to: the ring is larger than the cache, so
    /// the next append would wait for each line of its record.
    #[inline]
    fn prefetch(&self, position: u64) {
        self.bytes.prefetch((position & (self.size - 1)) as usize);
        #[cfg(not(loom))]
        seam::mem::prefetch_line(self.mark(position));
    }

    #[inline]
    fn mark(&self, position: u64) -> &AtomicU64 {
        let index = (position >> MARK_SHIFT) as usize & (self.marks.len() - 1);
        &self.marks[index]
    }

    /// What is whole behind what has been taken, at most `bytes_max` bytes.
    pub fn gather(&self, taker: &Taker, bytes_max: u64) -> Gathered {
        let from = taker.taken;
        let stop = from + bytes_max;
        let mut boundary = taker.boundary;
        while boundary < stop {
            // Acquire pairs with the publication: the bytes before the mark are ours to read (4).
            let end = self.mark(boundary).load(Ordering::Acquire);
            if end <= boundary {
                break;
            }
            boundary = end;
        }
        let to = boundary.min(stop);
        let first_record = (taker.boundary < to).then(|| (taker.boundary - from) as u32);
        Gathered { from, to, first_record, boundary }
    }

    /// Lends what was gathered: one slice, and a second one if the ring wraps within it.
    pub fn lend<R>(
        &self,
        taker: &Taker,
        gathered: &Gathered,
        look: impl FnOnce(&[&[u8]]) -> R,
    ) -> R {
        assert_eq!(gathered.from, taker.taken, "gathered by this taker, not yet taken");
        assert!(gathered.to <= gathered.boundary, "only whole records are lent");
        let at = (gathered.from & (self.size - 1)) as usize;
        let len = (gathered.to - gathered.from) as usize;
        let first = len.min(self.size as usize - at);
        self.bytes.read((at, first), (0, len - first), look)
    }

    /// Lets a scout go on; the room stays taken until the taker has come by, too.
    pub fn pass(&self, scout: &mut Taker, gathered: &Gathered) {
        assert_eq!(gathered.from, scout.taken, "passed once");
        scout.taken = gathered.to;
        scout.boundary = gathered.boundary;
    }

    /// Gives the room of what was gathered back to the appenders.
    pub fn take(&self, taker: &mut Taker, gathered: &Gathered) {
        assert_eq!(gathered.from, taker.taken, "taken once");
        taker.taken = gathered.to;
        taker.boundary = gathered.boundary;
        self.freed.0.store(gathered.to, Ordering::SeqCst);
    }
}

impl Taker {
    /// One that begins here and runs ahead: it looks, and frees nothing.
    pub fn scout(&self) -> Taker {
        Taker { taken: self.taken, boundary: self.boundary }
    }

    /// Everything before has been taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }
}

impl Claim<'_> {
    /// Where the range begins.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Where it ends.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Copies the next part in.
    #[inline]
    pub fn fill(&mut self, part: &[u8]) {
        assert!(part.len() as u64 <= self.end - self.filled, "a claim is not overfilled");
        let size = self.ring.size as usize;
        let at = (self.filled & (self.ring.size - 1)) as usize;
        let first = part.len().min(size - at);
        self.ring.bytes.write(at, &part[..first]);
        if first < part.len() {
            self.ring.bytes.write(0, &part[first..]);
        }
        self.filled += part.len() as u64;
    }

    /// Declares the range whole.
    ///
    /// This is a plain releasing store: a full barrier here would wait until every line of the
    /// record is in this core's cache, for each record. The price is that a taker may look just
    /// before and somebody's wish be seen just after, so a taker that stops before a record that
    /// is not whole looks again by itself after a moment.
    #[inline]
    pub fn publish(self) {
        assert_eq!(self.filled, self.end, "a claim is filled before it is published");
        self.ring.mark(self.start).store(self.end, Ordering::Release);
        self.ring.prefetch(self.end);
    }
}

#[cfg(not(loom))]
#[allow(unsafe_code)]
mod bytes {
    use seam::mem::AlignedBuf;

    /// About what a change of a segment takes.
    const PREFETCHED_BYTES: usize = 320;

    /// The ring's memory. Claims write to disjoint parts of it, the taker reads parts that no
    /// claim covers any more; the marks and `freed` order the two.
    ///
    /// The size is kept apart: asking the buffer would make a reference to all of its bytes.
    pub(super) struct Bytes {
        memory: AlignedBuf,
        size: usize,
    }

    impl Bytes {
        pub(super) fn new(size: usize) -> Bytes {
            Bytes { memory: AlignedBuf::zeroed(size), size }
        }

        #[inline]
        pub(super) fn write(&self, at: usize, part: &[u8]) {
            assert!(at + part.len() <= self.size);
            // SAFETY: in bounds by the assertion. The caller is a claim, whose range nobody else
            // writes (invariant 1) and nobody reads before it is published (3, 4). No reference to
            // the bytes exists then: `read` makes them only for published ranges, and this type
            // never lends its buffer.
            unsafe {
                let to = self.memory.as_ptr().add(at);
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            }
        }

        #[inline]
        pub(super) fn prefetch(&self, at: usize) {
            let start = self.memory.as_ptr().cast_const();
            for line in (at..at + PREFETCHED_BYTES).step_by(64) {
                // Behind the end nothing is written, but a prefetch from there does no harm either.
                seam::mem::prefetch_line(start.wrapping_add(line));
            }
        }

        #[inline]
        pub(super) fn read<R>(
            &self,
            first: (usize, usize),
            second: (usize, usize),
            look: impl FnOnce(&[&[u8]]) -> R,
        ) -> R {
            assert!(first.0 + first.1 <= self.size && second.0 + second.1 <= self.size);
            // SAFETY: in bounds by the assertion. The caller is the taker, and both ranges are
            // published and not yet freed, so no claim covers them while `look` runs (1, 4).
            let (first, second) = unsafe {
                let start = self.memory.as_ptr().cast_const();
                (
                    std::slice::from_raw_parts(start.add(first.0), first.1),
                    std::slice::from_raw_parts(start.add(second.0), second.1),
                )
            };
            // One part is sealed without a copy of its own, so an empty second one is left out.
            if second.is_empty() { look(&[first]) } else { look(&[first, second]) }
        }
    }
}

#[cfg(loom)]
mod bytes {
    use loom::cell::UnsafeCell;

    /// The same for loom: a checked cell for each byte, so that a race is a failed test.
    pub(super) struct Bytes(Box<[UnsafeCell<u8>]>);

    // SAFETY: loom's cells panic on every access that is not ordered against the others.
    #[allow(unsafe_code)]
    unsafe impl Sync for Bytes {}

    #[allow(unsafe_code)]
    impl Bytes {
        pub(super) fn prefetch(&self, _at: usize) {}

        pub(super) fn new(size: usize) -> Bytes {
            Bytes((0..size).map(|_| UnsafeCell::new(0)).collect())
        }

        pub(super) fn write(&self, at: usize, part: &[u8]) {
            for (cell, byte) in self.0[at..at + part.len()].iter().zip(part) {
                // SAFETY: loom checks that the access is exclusive.
                cell.with_mut(|cell| unsafe { *cell = *byte });
            }
        }

        pub(super) fn read<R>(
            &self,
            first: (usize, usize),
            second: (usize, usize),
            look: impl FnOnce(&[&[u8]]) -> R,
        ) -> R {
            let copy = |(at, len): (usize, usize)| -> Vec<u8> {
                let cells = self.0[at..at + len].iter();
                // SAFETY: loom checks that nobody writes at the same time.
                cells.map(|cell| cell.with(|cell| unsafe { *cell })).collect()
            };
            look(&[&copy(first), &copy(second)])
        }
    }
}

use bytes::Bytes;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn append(ring: &Ring, byte: u8, len: u64) -> bool {
        match ring.reserve(ring.next(), len, u64::MAX) {
            Reserved::Claim(mut claim) => {
                claim.fill(&vec![byte; len as usize / 2]);
                claim.fill(&vec![byte; (len - len / 2) as usize]);
                claim.publish();
                true
            }
            Reserved::RingFull => false,
            Reserved::Beyond => panic!("no limit was given"),
        }
    }

    fn take(ring: &Ring, taker: &mut Taker, bytes_max: u64) -> Vec<u8> {
        let gathered = ring.gather(taker, bytes_max);
        let bytes = ring.lend(taker, &gathered, |parts| parts.concat());
        ring.take(taker, &gathered);
        bytes
    }

    #[test]
    fn records_come_out_in_order_over_many_laps() {
        let (ring, mut taker) = Ring::new(256, 1_000);
        let (mut put, mut got) = (Vec::new(), Vec::new());
        for round in 0..500_u64 {
            let len = 24 + (round * 37) % 105;
            while !append(&ring, round as u8, len) {
                got.extend(take(&ring, &mut taker, 100));
            }
            put.extend(vec![round as u8; len as usize]);
        }
        loop {
            let more = take(&ring, &mut taker, 64);
            if more.is_empty() {
                break;
            }
            got.extend(more);
        }
        assert_eq!(put, got);
        assert_eq!(ring.next(), 1_000 + put.len() as u64);
    }

    #[test]
    fn what_stands_behind_an_unpublished_record_waits() {
        let (ring, mut taker) = Ring::new(256, 64);
        let Reserved::Claim(mut slow) = ring.reserve(64, 30, u64::MAX) else { panic!() };
        assert!(append(&ring, 2, 40));
        assert_eq!(ring.gather(&taker, 256).to, 64);
        slow.fill(&[1; 30]);
        slow.publish();
        let gathered = ring.gather(&taker, 256);
        assert_eq!((gathered.to, gathered.first_record), (64 + 70, Some(0)));
        let cut = ring.gather(&taker, 35);
        assert_eq!(cut.to, 64 + 35);
        ring.take(&mut taker, &cut);
        let rest = ring.gather(&taker, 35);
        assert_eq!((rest.from, rest.to, rest.first_record), (99, 134, None));
    }

    #[test]
    fn a_limit_and_a_full_ring_refuse() {
        let (ring, _taker) = Ring::new(64, 64);
        assert!(matches!(ring.reserve(64, 24, 80), Reserved::Beyond));
        assert!(append(&ring, 1, 40));
        assert!(matches!(ring.reserve(64, 25, u64::MAX), Reserved::RingFull));
        assert!(matches!(ring.reserve(64, 24, u64::MAX), Reserved::Claim(_)));
    }

    #[test]
    fn threads_append_and_one_takes() {
        use std::sync::Arc;
        let rounds = if cfg!(miri) { 40 } else { 4_000 };
        let (ring, mut taker) = Ring::new(1 << 10, 64);
        let ring = Arc::new(ring);
        let threads: Vec<_> = (1..=3_u8)
            .map(|who| {
                let ring = Arc::clone(&ring);
                seam::thread::spawn("appender", move || {
                    for round in 0..rounds {
                        while !append(&ring, who, 24 + (round * u64::from(who)) % 50) {
                            #[allow(clippy::disallowed_methods)]
                            std::thread::yield_now();
                        }
                    }
                })
                .unwrap()
            })
            .collect();
        let mut counts = [0_u64; 4];
        let wanted: u64 =
            (1..=3).map(|w| (0..rounds).map(|r| 24 + (r * w) % 50).sum::<u64>()).sum();
        while counts.iter().sum::<u64>() < wanted {
            for byte in take(&ring, &mut taker, 300) {
                counts[byte as usize] += 1;
            }
        }
        threads.into_iter().for_each(seam::thread::JoinHandle::join);
        assert_eq!(counts[0], 0);
        for who in 1..=3 {
            assert_eq!(counts[who as usize], (0..rounds).map(|r| 24 + (r * who) % 50).sum::<u64>());
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    fn append(ring: &Ring, byte: u8, len: u64) -> bool {
        let Reserved::Claim(mut claim) = ring.reserve(ring.next(), len, u64::MAX) else {
            return false;
        };
        claim.fill(&vec![byte; len as usize]);
        claim.publish();
        true
    }

    fn take(ring: &Ring, taker: &mut Taker, got: &mut Vec<u8>) {
        let gathered = ring.gather(taker, 40);
        ring.lend(taker, &gathered, |parts| got.extend(parts.concat()));
        ring.take(taker, &gathered);
    }

    /// Every order of two appenders and the taker, with a ring so small that the second lap
    /// overwrites the first: no byte is read while it is written, none is lost, none twice.
    #[test]
    fn two_appenders_and_the_taker_never_race() {
        loom::model(|| {
            let (ring, mut taker) = Ring::new(64, 50);
            let ring = Arc::new(ring);
            assert!(append(&ring, 9, 30));
            let other = Arc::clone(&ring);
            let thread = loom::thread::spawn(move || append(&other, 1, 24) as u64 * 24);
            let mut got = Vec::new();
            take(&ring, &mut taker, &mut got);
            let mine = append(&ring, 2, 28) as u64 * 28;
            take(&ring, &mut taker, &mut got);
            let theirs = thread.join().unwrap();
            take(&ring, &mut taker, &mut got);
            take(&ring, &mut taker, &mut got);
            assert_eq!(got.len() as u64, 30 + mine + theirs);
            assert!(got[..30].iter().all(|byte| *byte == 9));
            assert_eq!(got.iter().filter(|byte| **byte == 1).count() as u64, theirs);
        });
    }
}
