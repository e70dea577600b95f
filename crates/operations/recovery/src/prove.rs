//! Reading and proving runs of intervals for an image copy, several runs at once.
//!
//! Invariants:
//! 1. What is given back has proven itself, or comes from the pool, which has.
//! 2. Units that go into the copy stand at the front of their buffer, one behind the other.

use std::ops::Range;
use std::sync::Arc;

use base::{CiNumber, Lsn};
use pool::Backing;
use seal::{Form, PageSealer, TagPrefix};
use seam::mem::AlignedBuf;
use seam::ordered::Ordered;
use space::DataSet;

use crate::RecoveryError;

/// Threads that read and prove; of a copy that is to disturb no program only one, at most a
/// processor.
const THREADS: usize = 3;
/// How often an interval that does not prove itself is read again before the pool is asked.
const LOOKS: u32 = 3;

/// The threads.
pub(crate) type Provers = Ordered<RunWanted, Result<RunProven, RecoveryError>>;

/// Starts the threads; a copy that is throttled has one, which lets programs go first.
pub(crate) fn provers(gives_way: bool) -> Provers {
    if gives_way {
        Ordered::start("prover", 1, seam::thread::give_way, RunWanted::prove)
    } else {
        Ordered::start("prover", THREADS, || (), RunWanted::prove)
    }
}

/// Memory for one run: its units, and one of them opened.
pub(crate) struct Buffers {
    raw: AlignedBuf,
    clear: AlignedBuf,
}

impl Buffers {
    /// Memory for a run of so many bytes.
    pub(crate) fn new(run_bytes: usize, unit_bytes: usize) -> Buffers {
        let run_bytes = (run_bytes / unit_bytes).max(1) * unit_bytes;
        Buffers { raw: AlignedBuf::zeroed(run_bytes), clear: AlignedBuf::zeroed(unit_bytes) }
    }

    /// The units that it is made for.
    pub(crate) fn unit_bytes(&self) -> usize {
        self.clear.len()
    }
}

/// Consecutive intervals that are in use.
pub(crate) struct RunWanted {
    pub(crate) set: Arc<DataSet>,
    pub(crate) first: CiNumber,
    pub(crate) count: usize,
    /// What has not changed since is of no interest.
    pub(crate) since: Lsn,
    pub(crate) buffers: Buffers,
}

/// What of a run goes into the copy.
pub(crate) struct RunProven {
    pub(crate) entries: Vec<Entry>,
    pub(crate) looked_at: u64,
    /// Intervals that were taken from the pool because they were being written.
    pub(crate) from_pool: u64,
    pub(crate) buffers: Buffers,
}

/// An interval of the copy.
pub(crate) struct Entry {
    ci: CiNumber,
    pub(crate) form: Form,
    prefix: TagPrefix,
}

impl Entry {
    /// As it stands in a piece (`envelope`).
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.ci.0.to_le_bytes());
        out.push(self.form.format as u8);
        out.extend_from_slice(&self.form.generation.0.to_le_bytes());
        out.extend_from_slice(&self.prefix.0.to_le_bytes());
    }
}

impl RunProven {
    /// The sealed units, one for each entry.
    pub(crate) fn units(&self) -> &[u8] {
        &self.buffers.raw[..self.entries.len() * self.buffers.unit_bytes()]
    }
}

impl RunWanted {
    fn prove(self) -> Result<RunProven, RecoveryError> {
        let RunWanted { set, first, count, since, buffers } = self;
        let mut run = RunProven { entries: Vec::new(), looked_at: 0, from_pool: 0, buffers };
        let unit = run.buffers.unit_bytes();
        // Behind the end of the file nothing was written yet; each interval is looked at below.
        let is_read = set.read_raw(first, &mut run.buffers.raw[..count * unit]).is_ok();
        for number in 0..count {
            let ci = CiNumber(first.0 + number as u32);
            let place = number * unit..(number + 1) * unit;
            run.looked_at += 1;
            let Buffers { raw, clear } = &mut run.buffers;
            let mut good = is_read && {
                clear.copy_from_slice(&raw[place.clone()]);
                set.open(ci, clear).is_ok()
            };
            if !good {
                good = run.look_again(&set, ci, place.clone())?;
            }
            if good && Lsn(base::bytes::get_u64(&run.buffers.clear, 0)) >= since {
                run.take(&set, ci, place)?;
            }
        }
        Ok(run)
    }
}

impl RunProven {
    /// An interval that did not prove itself: it was being written, or it is no longer in use, or
    /// it was never written and is in the pool only. `false` if there is nothing to copy.
    fn look_again(
        &mut self,
        set: &DataSet,
        ci: CiNumber,
        place: Range<usize>,
    ) -> Result<bool, RecoveryError> {
        let Buffers { raw, clear } = &mut self.buffers;
        let raw = &mut raw[place];
        for _ in 0..LOOKS {
            if set.read_raw(ci, raw).is_ok() {
                clear.copy_from_slice(raw);
                if set.open(ci, clear).is_ok() {
                    return Ok(true);
                }
            }
            seam::thread::yield_now();
        }
        self.from_pool += 1;
        match set.shared(ci) {
            Ok(page) => {
                let usable = page.bytes().len();
                clear[..usable].copy_from_slice(page.bytes());
                drop(page);
                set.seal(ci, clear, raw)?;
                Ok(true)
            }
            // It was given back meanwhile, or given out and not written yet: the log has it.
            Err(_) if !set.is_used(ci)? => Ok(false),
            Err(_) if set.expected_prefix(ci)? == 0 => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds an interval whose sealed unit stands at `place`.
    fn take(
        &mut self,
        set: &DataSet,
        ci: CiNumber,
        place: Range<usize>,
    ) -> Result<(), RecoveryError> {
        let raw = &mut self.buffers.raw;
        let trailer = PageSealer::trailer(&raw[place.clone()]).map_err(|fault| {
            let (name, why) = (set.name().to_owned(), fault.to_string());
            pool::PoolError::Damaged { name, set: set.id(), ci, why }
        })?;
        let at = self.entries.len() * place.len();
        if at != place.start {
            raw.copy_within(place, at);
        }
        self.entries.push(Entry { ci, form: trailer.form, prefix: trailer.tag.prefix() });
        Ok(())
    }
}
