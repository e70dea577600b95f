//! An open file of the simulated disk.
//!
//! A write goes through three moments: it *begins* (it is pending, observers see it, a crash may
//! leave any part), it is *under way* (time passes, others may read any part), and it *ends*.

use std::io::{self, IoSliceMut};
use std::path::PathBuf;
use std::sync::Arc;

use super::disk::{EventKind, SimDisk, State, io_error, wrong};
use super::faults::{Call, Verdict};
use super::inode::{Change, Write};
use super::rng::Rng;
use super::{disk_latency, disk_pause};
use crate::disk::{BLOCK, File, FileId, Open};

pub(super) struct SimFile {
    pub(super) disk: SimDisk,
    pub(super) inode: u64,
    pub(super) how: Open,
    /// Its name when it was opened, which is what faults look at.
    pub(super) path: PathBuf,
}

/// The longest part that a long write is taken into, in blocks.
const PART_BLOCKS_MAX: u64 = 8;

/// A write under way.
struct Underway {
    number: u64,
    write: Arc<Write>,
    verdict: Verdict,
}

impl SimFile {
    /// The real machine refuses what is not aligned on a file past the cache.
    fn check_direct(&self, buf: &[u8], offset: u64) {
        if self.how.direct {
            let path = self.path.display();
            let (len, address) = (buf.len(), buf.as_ptr().addr());
            assert!(offset.is_multiple_of(BLOCK as u64), "{path}: offset {offset} is not aligned");
            assert!(len.is_multiple_of(BLOCK), "{path}: length {len} is not aligned");
            assert!(address.is_multiple_of(BLOCK), "{path}: the buffer is not aligned");
        }
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.how.write {
            return Ok(());
        }
        Err(wrong(io::ErrorKind::PermissionDenied, "write", &self.path))
    }

    /// Begins a write.
    fn begin(&self, offset: u64, buf: &[u8]) -> io::Result<Underway> {
        let call = if self.how.dsync { Call::WriteDurable } else { Call::Write };
        let mut verdict = self.disk.ask(call, &self.path, Some((offset, buf.len())));
        let underway = self.disk.with(|state| {
            state.counts.writes += 1;
            state.counts.bytes_written += buf.len() as u64;
            if verdict.no_space || !state.has_room(self.inode, offset, buf.len() as u64) {
                return None;
            }
            let offset = if verdict.misdirected {
                misdirect(state, self.inode, offset, buf.len())
            } else {
                Some(offset)
            };
            verdict.lost |= offset.is_none();
            let write = Arc::new(self.stored(offset.unwrap_or(0), buf, verdict, &mut state.rng));
            let number = state.change();
            let history = state.faults.want_history();
            let inode = state.inode(self.inode);
            if history {
                inode.remember(&write);
            }
            if !verdict.lost {
                inode.begin(number, Change::Write(Arc::clone(&write)));
            }
            Some(Underway { number, write, verdict })
        });
        self.disk.announce_write(EventKind::Write, &self.path, offset, buf.len());
        let underway = underway.ok_or_else(|| io::Error::from(rustix::io::Errno::NOSPC))?;
        self.show_part(&underway);
        Ok(underway)
    }

    /// The parts of a write, as a device may take it apart: of some blocks each, drawn, and each
    /// with a fate of its own. One that is durable when it returns stays whole: a crash leaves any
    /// of its sectors anyway, and its caller counts on nothing before that.
    fn take_apart<'b>(
        &self,
        offset: u64,
        buf: &'b [u8],
        parts: &mut Vec<(u64, &'b [u8])>,
        rng: &mut Rng,
    ) {
        let (mut at, mut rest) = (offset, buf);
        while rest.len() > BLOCK && !self.how.dsync {
            let whole = BLOCK * rng.between(1, PART_BLOCKS_MAX) as usize;
            let len = (whole - (at % BLOCK as u64) as usize).min(rest.len());
            let (part, behind) = rest.split_at(len);
            parts.push((at, part));
            (at, rest) = (at + len as u64, behind);
        }
        parts.push((at, rest));
    }

    /// The write as it is stored, perhaps with a bit turned over.
    fn stored(&self, offset: u64, buf: &[u8], verdict: Verdict, rng: &mut Rng) -> Write {
        if !verdict.flip {
            return Write::new(offset, buf);
        }
        let mut bytes = buf.to_vec();
        flip([&mut bytes[..]].into_iter(), buf.len(), rng);
        Write::new(offset, &bytes)
    }

    /// Lets others see a part of a write, drawn: none, all or some sectors.
    fn show_part(&self, underway: &Underway) {
        if underway.verdict.lost || underway.verdict.io_error {
            return;
        }
        self.disk.with(|state| {
            let part = state.rng.below(4);
            let mut rng = Rng::new(state.rng.word());
            let current = &mut state.inode(self.inode).current;
            match part {
                0 => underway.write.apply(current),
                1 => underway.write.apply_some(current, |_| rng.one_in(2)),
                _ => {}
            }
        });
    }

    fn finish(&self, underway: &Underway) -> io::Result<()> {
        self.disk.with(|state| {
            let Verdict { io_error: fails, stored, .. } = underway.verdict;
            if fails && !stored {
                let mut rng = Rng::new(state.rng.word());
                state.inode(self.inode).fail_write(underway.number, &mut rng);
                return Err(io_error());
            }
            if !underway.verdict.lost {
                let inode = state.inode(self.inode);
                underway.write.apply(&mut inode.current);
                inode.finish(underway.number, self.how.dsync);
            }
            if fails { Err(io_error()) } else { Ok(()) }
        })
    }

    /// Writes the same to several files, all under way at once.
    pub(super) fn write_alike(
        files: &[&SimFile],
        offset: u64,
        bufs: &[&[u8]],
    ) -> Vec<io::Result<()>> {
        let Some(first) = files.first() else { return Vec::new() };
        let mut results: Vec<_> = files.iter().map(|_| disk_pause(0)).collect();
        let mut order: Vec<usize> = (0..files.len()).collect();
        first.disk.with(|state| state.rng.shuffle(&mut order));
        let mut underway = Vec::with_capacity(files.len() * bufs.len());
        for place in order {
            let file = files[place];
            let mut at = offset;
            for buf in bufs {
                file.check_direct(buf, at);
                if results[place].is_ok() {
                    match file.check_writable().and_then(|()| file.begin(at, buf)) {
                        Ok(begun) => underway.push((place, begun)),
                        Err(error) => results[place] = Err(error),
                    }
                }
                at += buf.len() as u64;
            }
        }
        let delay_ns = underway.iter().map(|(_, underway)| underway.verdict.delay_ns).max();
        let paused = disk_pause(disk_latency(|config| config.write_us) + delay_ns.unwrap_or(0));
        for (place, underway) in underway {
            let finished = match &paused {
                Ok(()) => files[place].finish(&underway),
                Err(error) => Err(io::Error::other(error.to_string())),
            };
            if results[place].is_ok() {
                results[place] = finished;
            }
        }
        results
    }

    /// Changes the length: durable after a sync.
    fn change_length(&self, call: Call, change: Change) -> io::Result<()> {
        self.check_writable()?;
        disk_pause(0)?;
        let verdict = self.disk.ask(call, &self.path, None);
        if verdict.io_error {
            return Err(io_error());
        }
        let room = self.disk.with(|state| match change {
            Change::Space(offset, len) => state.has_room(self.inode, offset, len),
            _ => true,
        });
        if verdict.no_space || !room {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.disk.announce(EventKind::Length, &self.path);
        self.disk.with(|state| {
            let number = state.change();
            let inode = state.inode(self.inode);
            change.apply(&mut inode.current);
            inode.begin(number, change);
            inode.finish(number, false);
        });
        disk_pause(0)
    }
}

/// Another place for a write, a multiple of 4 KiB away and within the file, if there is one.
fn misdirect(state: &mut State, inode: u64, offset: u64, len: usize) -> Option<u64> {
    let end = state.inodes[&inode].current.len().checked_sub(len as u64)?;
    let within = offset % BLOCK as u64;
    let places = end.checked_sub(within)? / BLOCK as u64 + 1;
    let place = state.rng.below(places) * BLOCK as u64 + within;
    if place != offset {
        return Some(place);
    }
    let next = place + BLOCK as u64;
    let other = if next <= end { Some(next) } else { place.checked_sub(BLOCK as u64) };
    other.filter(|other| *other <= end)
}

/// Turns one bit over in buffers of `len` bytes together.
fn flip<'b>(bufs: impl Iterator<Item = &'b mut [u8]>, len: usize, rng: &mut Rng) {
    let mut bytes = bufs.flatten();
    if let Some(byte) = bytes.nth(rng.index(len)) {
        *byte ^= 1 << rng.below(8);
    }
}

impl File for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_vectored_at(&mut [IoSliceMut::new(buf)], offset)
    }

    fn read_vectored_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<()> {
        let mut len = 0;
        for buf in bufs.iter() {
            self.check_direct(buf, offset + len as u64);
            len += buf.len();
        }
        let verdict = self.disk.ask(Call::Read, &self.path, Some((offset, len)));
        disk_pause(disk_latency(|config| config.read_us) + verdict.delay_ns)?;
        self.disk.with(|state| {
            state.counts.reads += 1;
            state.counts.bytes_read += len as u64;
            if verdict.io_error {
                return Err(io_error());
            }
            let inode = &state.inodes[&self.inode];
            if offset + len as u64 > inode.current.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut at = offset;
            for buf in bufs.iter_mut() {
                inode.current.read(at, buf);
                if verdict.stale {
                    inode.make_stale(at, buf);
                }
                at += buf.len() as u64;
            }
            if verdict.flip && len > 0 {
                flip(bufs.iter_mut().map(|buf| &mut **buf), len, &mut state.rng);
            }
            Ok(())
        })
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.write_batch(&[(offset, buf)])
    }

    fn write_batch(&self, writes: &[(u64, &[u8])]) -> io::Result<()> {
        self.check_writable()?;
        writes.iter().for_each(|(offset, buf)| self.check_direct(buf, *offset));
        disk_pause(0)?;
        let mut parts: Vec<(u64, &[u8])> = Vec::with_capacity(writes.len());
        self.disk.with(|state| {
            for (offset, buf) in writes {
                self.take_apart(*offset, buf, &mut parts, &mut state.rng);
            }
            state.rng.shuffle(&mut parts);
        });
        let mut underway = Vec::with_capacity(parts.len());
        let mut result = Ok(());
        for (offset, buf) in parts {
            if !buf.is_empty() && result.is_ok() {
                match self.begin(offset, buf) {
                    Ok(begun) => underway.push(begun),
                    Err(error) => result = Err(error),
                }
            }
        }
        let delay_ns = underway.iter().map(|underway| underway.verdict.delay_ns).max();
        disk_pause(disk_latency(|config| config.write_us) + delay_ns.unwrap_or(0))?;
        for underway in &underway {
            result = self.finish(underway).and(result);
        }
        result
    }

    fn sync(&self) -> io::Result<()> {
        disk_pause(0)?;
        let verdict = self.disk.ask(Call::Sync, &self.path, None);
        let before = self.disk.with(State::change);
        self.disk.announce(EventKind::Sync, &self.path);
        disk_pause(disk_latency(|config| config.sync_us) + verdict.delay_ns)?;
        self.disk.with(|state| {
            state.counts.syncs += 1;
            if verdict.io_error {
                let mut rng = Rng::new(state.rng.word());
                state.inode(self.inode).fail_sync(before, &mut rng);
                return Err(io_error());
            }
            state.inode(self.inode).settle(before);
            Ok(())
        })
    }

    fn len(&self) -> io::Result<u64> {
        disk_pause(0)?;
        if self.disk.ask(Call::Other, &self.path, None).io_error {
            return Err(io_error());
        }
        Ok(self.disk.with(|state| state.inodes[&self.inode].current.len()))
    }

    fn identity(&self) -> io::Result<FileId> {
        disk_pause(0)?;
        Ok(FileId { device: 0, inode: self.inode })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change_length(Call::Other, Change::Length(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change_length(Call::Allocate, Change::Space(offset, len))
    }
}
