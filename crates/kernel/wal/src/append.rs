//! Appending: a record goes into the ring, and a writer is called if it is time.
//!
//! Invariants:
//! 1. No lock is taken unless the ring or the log is full, or a writer is to be called.
//! 2. Ordinary records end before what is kept for undo (K15).

use std::ops::Deref;

use base::Lsn;
use log_ring::{Claim, Reserved};

use crate::LogError;
use crate::record::{NewRecord, RECORD_HEADER};
use crate::slots::Slots;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of its first byte.
    pub lsn: Lsn,
    /// The position behind its last byte: it is durable once the log is durable up to here.
    pub end: Lsn,
}

/// Appends to the ring.
pub(crate) struct Append {
    slots: Slots,
    record_max: u64,
}

impl Deref for Append {
    type Target = Slots;

    #[inline]
    fn deref(&self) -> &Slots {
        &self.slots
    }
}

impl Append {
    pub(crate) fn new(slots: Slots) -> Append {
        let record_max = slots.config.record_bytes_max() as u64;
        Append { slots, record_max }
    }

    /// Appends one record. `unlimited`: also into what is kept for undo.
    #[inline]
    pub(crate) fn append(
        &self,
        head: NewRecord,
        body: &[&[u8]],
        unlimited: bool,
    ) -> Result<Place, LogError> {
        let len = body.iter().fold(RECORD_HEADER as u64, |sum, part| sum + part.len() as u64);
        if len > self.record_max {
            return Err(LogError::RecordTooLong { bytes: len, bytes_max: self.record_max });
        }
        seam::thread::point();
        let mut claim = self.reserve(len, unlimited)?;
        seam::thread::point();
        let place = Place { lsn: Lsn(claim.start()), end: Lsn(claim.end()) };
        debug_assert!(head.previous < place.lsn, "a record's predecessor stands before it");
        claim.fill(&head.encode(len as u32));
        body.iter().for_each(|part| claim.fill(part));
        claim.publish();
        let full = place.end.0 >= self.positions.taken() + self.payload_max as u64
            && self.writers.needs_call();
        let enough = place.end.0 >= self.positions.enough();
        if full || enough || self.positions.wanted() > place.lsn.0 {
            self.kick();
        }
        Ok(place)
    }

    #[inline]
    fn reserve(&self, len: u64, unlimited: bool) -> Result<Claim<'_>, LogError> {
        loop {
            if self.env.stop.is_set() {
                self.env.stop.check()?;
            }
            let limit = if unlimited { u64::MAX } else { self.ordinary_limit() };
            let next = self.ring.next();
            let reserved = if self.stats.samples(next) {
                let begin = self.env.seam.clock.monotonic();
                let reserved = self.ring.reserve(next, len, limit);
                self.stats.sampled(self.env.seam.clock.monotonic().saturating_sub(begin));
                reserved
            } else {
                self.ring.reserve(next, len, limit)
            };
            match reserved {
                Reserved::Claim(claim) => return Ok(claim),
                Reserved::Beyond => return Err(self.full()),
                Reserved::RingFull => self.await_ring(len),
            }
        }
    }
}
