//! A simulated file: what programs see, what is on the medium, and what lies between.
//!
//! Invariants:
//! 1. `current` is `durable` with all of `pending` applied in order, except where a write in
//!    flight has not reached `current` yet, or a media fault has spoiled one of them.
//! 2. `pending` is in the order in which the changes began. A settled change is durable; it leaves
//!    the list once everything before it is settled, too.
//! 3. Only [`Inode::settle`] makes a change durable.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::disk::CrashStyle;
use super::image::{Block, Image, for_each_part};
use super::rng::Rng;
use crate::disk::BLOCK;

/// The unit that a device writes whole or not at all, in bytes.
pub(super) const SECTOR: usize = 512;

/// One write, cut into its blocks, which are shared with the images it reaches.
pub(super) struct Write {
    pub(super) offset: u64,
    pub(super) len: usize,
    pieces: Vec<Piece>,
}

struct Piece {
    block: u64,
    within: usize,
    bytes: Bytes,
}

enum Bytes {
    Whole(Arc<Block>),
    Part(Box<[u8]>),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Whole(block) => &block[..],
            Bytes::Part(part) => part,
        }
    }

    fn offset(&self) -> u64 {
        self.block * BLOCK as u64 + self.within as u64
    }
}

impl Write {
    pub(super) fn new(offset: u64, buf: &[u8]) -> Write {
        let mut pieces = Vec::with_capacity(buf.len() / BLOCK + 2);
        for_each_part(offset, buf.len(), |block, within, part| {
            let bytes = match buf[part.clone()].try_into() {
                Ok(whole) => Bytes::Whole(Arc::new(whole)),
                Err(_) => Bytes::Part(buf[part].into()),
            };
            pieces.push(Piece { block, within, bytes });
        });
        Write { offset, len: buf.len(), pieces }
    }

    pub(super) fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    /// The bytes, copied together.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes()).copied().collect()
    }

    /// Puts the whole write into an image.
    pub(super) fn apply(&self, image: &mut Image) {
        for piece in &self.pieces {
            match &piece.bytes {
                Bytes::Whole(block) => image.set_block(piece.block, Some(Arc::clone(block))),
                Bytes::Part(part) => image.write(piece.offset(), part),
            }
        }
        image.set_len(image.len().max(self.end()));
    }

    /// Puts those sectors into an image of which `keep` says so, and the length that they need.
    pub(super) fn apply_some(&self, image: &mut Image, mut keep: impl FnMut(u64) -> bool) {
        self.for_each_sector(|sector, bytes, offset| {
            if keep(sector) {
                image.write(offset, bytes);
            }
        });
    }

    /// Calls `body` with the number, the bytes and the offset of each sector, cut to the write.
    fn for_each_sector(&self, mut body: impl FnMut(u64, &[u8], u64)) {
        for piece in &self.pieces {
            let mut rest = piece.bytes();
            let mut offset = piece.offset();
            while !rest.is_empty() {
                let part = (SECTOR - (offset % SECTOR as u64) as usize).min(rest.len());
                body(offset / SECTOR as u64, &rest[..part], offset);
                rest = &rest[part..];
                offset += part as u64;
            }
        }
    }

    /// What a crash may leave of the write: each sector kept, dropped or torn (so many times in a
    /// thousand), and the sector `surely` torn; a torn one may spoil its neighbours within the same
    /// block (K19).
    fn tear(&self, image: &mut Image, rng: &mut Rng, torn: u32, surely: Option<u64>) {
        let keep = [100, 500, 900][rng.index(3)];
        let len_max = image.len().max(self.end());
        self.for_each_sector(|sector, bytes, offset| {
            if surely == Some(sector) || rng.chance(torn) {
                tear_sector(image, bytes, offset, len_max, rng);
            } else if rng.chance(keep) {
                image.write(offset, bytes);
            }
        });
    }

    /// One of its sectors, drawn.
    fn some_sector(&self, rng: &mut Rng) -> u64 {
        rng.between(self.offset / SECTOR as u64, (self.end() - 1) / SECTOR as u64)
    }
}

/// Leaves half of a sector, or garbage, and perhaps garbage in others of its block.
fn tear_sector(image: &mut Image, bytes: &[u8], offset: u64, len_max: u64, rng: &mut Rng) {
    if rng.one_in(2) {
        image.write(offset, &bytes[..bytes.len() / 2]);
    } else {
        let mut garbage = vec![0; bytes.len()];
        rng.fill(&mut garbage);
        image.write(offset, &garbage);
    }
    if !rng.one_in(4) {
        return;
    }
    let start = offset - offset % BLOCK as u64;
    let neighbour = start + rng.below((BLOCK / SECTOR) as u64) * SECTOR as u64;
    let mut garbage = [0; SECTOR];
    rng.fill(&mut garbage);
    let room = len_max.saturating_sub(neighbour).min(SECTOR as u64) as usize;
    image.write(neighbour.min(len_max), &garbage[..room]);
}

/// A change of a file that is perhaps not durable yet.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) change: Change,
    pub(super) state: State,
}

#[derive(Clone)]
pub(super) enum Change {
    Write(Arc<Write>),
    Length(u64),
    /// Space from an offset on, for so many bytes.
    Space(u64, u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    InFlight,
    /// Returned to its caller, but not durable.
    Done,
    /// Durable.
    Settled,
}

impl Change {
    pub(super) fn apply(&self, image: &mut Image) {
        match self {
            Change::Write(write) => write.apply(image),
            Change::Length(len) => image.set_len(*len),
            Change::Space(offset, len) => image.allocate(*offset, *len),
        }
    }
}

/// A simulated file without its name.
#[derive(Clone, Default)]
pub(super) struct Inode {
    pub(super) current: Image,
    pub(super) durable: Image,
    pub(super) pending: Vec<Pending>,
    /// What blocks held before their last write, kept only where a stale read was asked for.
    pub(super) history: BTreeMap<u64, Option<Arc<Block>>>,
}

impl Inode {
    /// Keeps what the blocks of a write hold before it.
    pub(super) fn remember(&mut self, write: &Write) {
        for piece in &write.pieces {
            let before = self.current.block(piece.block).cloned();
            self.history.insert(piece.block, before);
        }
    }

    /// Puts earlier contents of whole blocks over what was read from `offset` on.
    pub(super) fn make_stale(&self, offset: u64, buf: &mut [u8]) {
        for_each_part(offset, buf.len(), |block, within, part| {
            let len = part.len();
            match self.history.get(&block) {
                None => {}
                Some(None) => buf[part].fill(0),
                Some(Some(block)) => buf[part].copy_from_slice(&block[within..within + len]),
            }
        });
    }

    pub(super) fn begin(&mut self, number: u64, change: Change) {
        self.pending.push(Pending { number, change, state: State::InFlight });
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.pending.iter().rposition(|pending| pending.number == number)
    }

    /// Marks a change as returned; `durable` if it needs no sync.
    pub(super) fn finish(&mut self, number: u64, durable: bool) {
        if let Some(place) = self.place(number) {
            self.pending[place].state = if durable { State::Settled } else { State::Done };
            self.drain();
        }
    }

    /// A write failed: some of its first sectors may be on their way all the same.
    pub(super) fn fail_write(&mut self, number: u64, rng: &mut Rng) {
        let Some(place) = self.place(number) else { return };
        let Change::Write(write) = &self.pending[place].change else { return };
        let sectors = write.len.div_ceil(SECTOR) as u64;
        let len = (rng.below(sectors) as usize * SECTOR).min(write.len);
        if len == 0 {
            // Nothing is on its way: there is nothing for a crash to keep or to tear.
            self.pending.remove(place);
            return self.drain();
        }
        let part = Arc::new(Write::new(write.offset, &write.bytes()[..len]));
        part.apply(&mut self.current);
        self.pending[place].change = Change::Write(part);
        self.finish(number, false);
    }

    /// A sync failed: each write that had returned before change number `before` may be gone, and
    /// programs may see that or not, as after a failed sync on Linux.
    pub(super) fn fail_sync(&mut self, before: u64, rng: &mut Rng) {
        self.pending.retain(|pending| {
            pending.state != State::Done || pending.number >= before || rng.one_in(2)
        });
        if rng.one_in(2) {
            self.current = self.durable.clone();
            for pending in self.pending.iter().filter(|pending| pending.state != State::InFlight) {
                pending.change.apply(&mut self.current);
            }
        }
    }

    /// Makes durable what had returned before change number `before`.
    pub(super) fn settle(&mut self, before: u64) {
        for pending in &mut self.pending {
            if pending.state == State::Done && pending.number < before {
                pending.state = State::Settled;
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        let settled = self.pending.iter().take_while(|pending| pending.state == State::Settled);
        let count = settled.count();
        for pending in self.pending.drain(..count) {
            pending.change.apply(&mut self.durable);
        }
    }

    /// What the medium may hold after a crash now.
    pub(super) fn after_crash(&self, rng: &mut Rng, style: CrashStyle) -> Image {
        let mut image = self.durable.clone();
        for pending in &self.pending {
            let settled = pending.state == State::Settled;
            match (style, &pending.change) {
                _ if settled => pending.change.apply(&mut image),
                (CrashStyle::DropAll, _) => {}
                (CrashStyle::KeepAll, change) => change.apply(&mut image),
                (CrashStyle::TearAll, Change::Write(write)) => {
                    let surely = Some(write.some_sector(rng));
                    write.tear(&mut image, rng, 300, surely);
                }
                (CrashStyle::Random, Change::Write(write)) => crash_write(write, &mut image, rng),
                (_, change) => {
                    if rng.one_in(2) {
                        change.apply(&mut image);
                    }
                }
            }
        }
        image
    }
}

/// Keeps, drops or tears one unsynced write.
fn crash_write(write: &Write, image: &mut Image, rng: &mut Rng) {
    match rng.below(3) {
        0 => write.apply(image),
        1 => {
            // The new length may have reached the medium without the bytes.
            if image.len() < write.end() && rng.one_in(4) {
                image.set_len(write.end());
            }
        }
        _ => {
            let torn = [0, 50, 300][rng.index(3)];
            write.tear(image, rng, torn, None);
        }
    }
}
