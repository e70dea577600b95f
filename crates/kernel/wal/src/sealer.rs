//! Sealing: takes what has gathered, makes a group of it, finds it a place, sends it on its way.
//!
//! Invariants:
//! 1. Groups are sealed one after the other under the sealer's mutex, for each names the tag of
//!    the one before. What is sealed is free in the ring at once.
//! 2. Natural group commit: a partial group is sealed only when nobody writes on its stripe; what
//!    gathers meanwhile becomes the next group, which waits longer only under the commit delay,
//!    where that pays. A full one goes beside the one that is being written. Whoever seals a group
//!    also writes it, or its first copy, without a hand-over.
//! 3. The salt is this open's own, or that of a new key (`renew`); its first group says so (K3,
//!    K8).
//!
//! Lock order: sealer, then directory, then flush state.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::{GroupNumber, KeyGeneration, Lsn};
use seal::{Format, Salt, Tag, WorkingKey};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use seam::sync::Mutex;

use crate::LogError;
use crate::ahead::{Ahead, Entry};
use crate::append::Append;
use crate::config::SEGMENT_HEADER;
use crate::directory::{GroupAt, Segment, room_left};
use crate::flush_state::Job;
use crate::group::{GROUP_HEADER, GroupHead, TAG_AT};
use crate::segment::{SegmentId, SlotFiles};
use log_ring::{Gathered, Taker};

/// What only the thread that seals may touch.
pub(crate) struct Sealer {
    pub(crate) taker: Taker,
    pub(crate) key: Arc<WorkingKey>,
    pub(crate) format: Format,
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
    pub(crate) first_of_salt: bool,
    /// The key that groups go over to, if there is a new one.
    pub(crate) renewal: Option<Renewal>,
    pub(crate) next: u64,
    pub(crate) previous: Tag,
    pub(crate) current: Option<Current>,
    /// How many stripes a segment has that is begun now; the current one is left if it has others.
    pub(crate) stripes: u8,
    pub(crate) sequence: u64,
    /// Where partial groups go, if there is a write-ahead data set.
    pub(crate) ahead: Option<Ahead>,
}

/// A key that waits for the next group that begins with a record.
pub(crate) struct Renewal {
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
    pub(crate) key: Arc<WorkingKey>,
    /// For entries of the write-ahead data set, under the same salt.
    pub(crate) entry_key: Arc<WorkingKey>,
}

/// What was sealed and must be written.
pub(crate) enum Sealed {
    Group(Job),
    Entry(Entry),
}

/// Where a group goes.
#[derive(Clone, Copy)]
struct Spot {
    offset: u64,
    /// Its bytes on disk.
    len: usize,
    /// The header of its file, if it is the first one there.
    head: Option<SegmentId>,
}

/// The segment that groups are written to.
pub(crate) struct Current {
    pub(crate) id: SegmentId,
    pub(crate) files: Arc<SlotFiles>,
    /// Where the next group of each stripe goes.
    pub(crate) offsets: Vec<u64>,
    /// Whether each stripe's file has its header.
    pub(crate) headed: Vec<bool>,
}

/// Why somebody wants a group sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A full group has gathered, or somebody waits.
    Wanted,
    /// The caller has nothing better to do.
    Driven,
}

/// Seals what was appended.
pub(crate) struct Sealing {
    append: Append,
    pub(crate) sealer: Mutex<Sealer>,
    /// The salts of this run, and the first group that is sealed under one of them.
    pub(crate) salts: Mutex<Vec<Salt>>,
    pub(crate) first_of_run: GroupNumber,
    /// The next group begins a segment, whether or not the current one has room.
    turns: AtomicBool,
}

impl Deref for Sealing {
    type Target = Append;

    #[inline]
    fn deref(&self) -> &Append {
        &self.append
    }
}

impl Sealing {
    /// The next group is the first one of this run.
    pub(crate) fn new(append: Append, sealer: Sealer) -> Sealing {
        Sealing {
            append,
            salts: Mutex::new(vec![sealer.salt]),
            first_of_run: GroupNumber(sealer.next),
            turns: AtomicBool::new(false),
            sealer: Mutex::new(sealer),
        }
    }

    /// The next group begins a segment.
    pub(crate) fn begin_segment(&self) {
        self.turns.store(true, SeqCst);
    }

    /// Seals the next group, or an entry ahead of it, if there is reason to. The caller must write
    /// what it gets.
    pub(crate) fn seal_next(&self, why: Why, sealer: &mut Sealer) -> Option<Sealed> {
        if self.env.stop.is_set() {
            return None;
        }
        let gathered = self.ring.gather(&sealer.taker, self.payload_max as u64);
        let len = (gathered.to - gathered.from) as usize;
        let full = len == self.payload_max;
        let forced = self.positions.landing_wanted() > gathered.from;
        let wished = forced || self.is_due(why, gathered.to);
        if len == 0 || !(full || wished) {
            return None;
        }
        if !full && !forced && sealer.ahead.is_some() {
            if !self.flush_state.lock().admits(false) {
                return None;
            }
            if let Some(entry) = self.seal_ahead(sealer) {
                return Some(Sealed::Entry(entry));
            }
        }
        let (mut buffer, undurable) = {
            let mut state = self.flush_state.lock();
            assert_eq!(state.next, sealer.next, "flush state and sealer count the same groups");
            if !state.admits(full) {
                return None;
            }
            (state.take_buffer(), state.undurable())
        };
        let spot = match self.place(sealer, crate::group::disk_len(len)) {
            Ok(spot) => spot,
            Err(error) => {
                self.flush_state.lock().return_buffer(buffer);
                self.stop(&error);
                return None;
            }
        };
        let disk_len = self.fill(sealer, &gathered, undurable, &mut buffer);
        self.launch(sealer, &gathered, Spot { len: disk_len, ..spot }, buffer).map(Sealed::Group)
    }

    /// What has gathered and is not covered yet becomes an entry; `None` if there is no place for
    /// it, or nothing to write ahead to.
    fn seal_ahead(&self, sealer: &mut Sealer) -> Option<Entry> {
        let Sealer { ahead, taker, .. } = sealer;
        let ahead = ahead.as_mut().filter(|_| sealer.renewal.is_none())?;
        ahead.seal(self, taker, GroupNumber(sealer.next), sealer.previous)
    }

    /// Goes over to the key that waits, if one does and `gathered` begins with a record (see
    /// `renew.rs`).
    fn renew_salt(&self, sealer: &mut Sealer, gathered: &Gathered) {
        if gathered.first_record != Some(0) {
            return;
        }
        let Some(renewal) = sealer.renewal.take() else { return };
        // Readers know it before the first group can be read.
        self.salts.lock().push(renewal.salt);
        sealer.generation = renewal.generation;
        sealer.salt = renewal.salt;
        sealer.key = renewal.key;
        sealer.first_of_salt = true;
        if let Some(ahead) = &mut sealer.ahead {
            ahead.renew(renewal.entry_key, renewal.generation, renewal.salt);
        }
    }

    /// Whether what has gathered up to `to` shall be sealed.
    fn is_due(&self, why: Why, to: u64) -> bool {
        match why {
            Why::Wanted => self.positions.wanted() > self.positions.covered(),
            Why::Driven => to > self.positions.covered(),
        }
    }

    /// Builds the group in `buffer`: header, sealed payload, zeros.
    fn fill(
        &self,
        sealer: &mut Sealer,
        gathered: &Gathered,
        undurable: GroupNumber,
        buffer: &mut AlignedBuf,
    ) -> usize {
        let len = (gathered.to - gathered.from) as usize;
        self.renew_salt(sealer, gathered);
        let head = GroupHead {
            format: sealer.format,
            first_of_salt: sealer.first_of_salt,
            system: self.env.system,
            generation: sealer.generation,
            payload_len: len as u32,
            salt: sealer.salt,
            number: GroupNumber(sealer.next),
            first: Lsn(gathered.from),
            durable: self.positions.landed(),
            previous: sealer.previous,
            first_record: gathered.first_record,
            undurable,
            tag: Tag([0; 16]),
        };
        assert!(undurable.0 <= sealer.next, "what is durable is sealed");
        let (header, rest) = buffer.split_at_mut(GROUP_HEADER);
        head.encode(header);
        let (payload, padding) = rest.split_at_mut(len);
        let tag = self.ring.lend(&sealer.taker, gathered, |parts| {
            sealer.key.seal_into(sealer.next, &header[..TAG_AT], parts, payload)
        });
        header[TAG_AT..].copy_from_slice(&tag.0);
        let disk_len = head.disk_len();
        padding[..disk_len - GROUP_HEADER - len].fill(0);
        sealer.previous = tag;
        sealer.first_of_salt = false;
        disk_len
    }

    /// Sends a sealed group on its way and gives its room in the ring back.
    fn launch(
        &self,
        sealer: &mut Sealer,
        gathered: &Gathered,
        spot: Spot,
        buffer: AlignedBuf,
    ) -> Option<Job> {
        let Spot { offset, len, head } = spot;
        let number = GroupNumber(sealer.next);
        let end = Lsn(gathered.to);
        let Some(current) = &mut sealer.current else { unreachable!("a group has been placed") };
        let stripe = usize::from(current.id.stripe_of(number));
        current.offsets[stripe] += len as u64;
        {
            let mut directory = self.directory.lock();
            directory.placed(number, GroupAt::new(Lsn(gathered.from), offset));
            directory.current_used += len as u64;
            directory.current_room = room_left(&self.config, &current.offsets);
            self.set_limit(&directory, gathered.to);
        }
        let files = Arc::clone(&current.files);
        sealer.next += 1;
        self.ring.take(&mut sealer.taker, gathered);
        self.positions.set_taken(gathered.to);
        self.stats.sealed(gathered.to - gathered.from, len as u64);
        let job = Job {
            number,
            copies: 0,
            stripe: stripe as u8,
            files,
            offset,
            len,
            buffer: Arc::new(buffer),
            head,
        };
        let mut state = self.flush_state.lock();
        let mine = state.launch(end, &job, self.writers.write_together());
        self.end_wait(&mut state);
        if armed(Failpoint::ReplyBeforeDurable) {
            self.positions.grow_durable(end);
        }
        self.writers.wake_busy(&state, stripe as u8, self.config.copies.len());
        self.writers.set_called(false);
        self.refresh_writers(&state);
        if self.demand(&state) {
            self.writers.nudge(&state);
        }
        self.ring_room.has_room();
        mine
    }

    /// Finds the place of the next group, `len` bytes long on disk.
    fn place(&self, sealer: &mut Sealer, len: usize) -> Result<Spot, LogError> {
        let number = GroupNumber(sealer.next);
        let turns = self.turns.swap(false, SeqCst);
        let fits = sealer.current.as_ref().is_some_and(|Current { id, offsets, .. }| {
            let offset = offsets[usize::from(id.stripe_of(number))];
            id.stripes == sealer.stripes && offset + len as u64 <= self.config.segment_bytes
        });
        if turns || !fits {
            self.switch(sealer, number)?;
        }
        let Some(current) = &mut sealer.current else { unreachable!("switched to a segment") };
        let stripe = usize::from(current.id.stripe_of(number));
        let head = (!current.headed[stripe]).then_some(current.id);
        current.headed[stripe] = true;
        Ok(Spot { offset: current.offsets[stripe], len, head })
    }

    /// Goes on to another slot: a free one, or a new one.
    fn switch(&self, sealer: &mut Sealer, first_group: GroupNumber) -> Result<(), LogError> {
        sealer.sequence += 1;
        let id = SegmentId {
            sequence: sealer.sequence,
            first: Lsn(sealer.taker.taken()),
            first_group,
            previous: sealer.previous,
            stripes: sealer.stripes,
        };
        let files = self.obtain_slot()?;
        let stripes = usize::from(sealer.stripes);
        let offsets = vec![SEGMENT_HEADER as u64; stripes];
        let mut directory = self.directory.lock();
        directory.current_used = 0;
        directory.current_room = room_left(&self.config, &offsets);
        directory.segments.push_back(Segment {
            id,
            files: Arc::clone(&files),
            groups: Vec::with_capacity(256),
            indexed: true,
        });
        drop(directory);
        self.keeper_wake.notify_one();
        self.writers.wake_archiver();
        sealer.current = Some(Current { id, files, offsets, headed: vec![false; stripes] });
        Ok(())
    }
}
