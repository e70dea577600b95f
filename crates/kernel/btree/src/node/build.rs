//! Writing a node from its first link to its last: bulk load, compaction, splits and merges.
//!
//! The builder codes each key against the one before it as tightly as possible. At every 16th link
//! it places a restart if what is still to come keeps its room (`ahead_bytes`); a builder that is
//! `strict` places it anyway where that costs little, so that a node is full before searches in
//! it become long walks.

use base::CiNumber;
use base::bytes::{common_prefix, put_u16, put_u32};

use super::{
    Coding, FLAG_HIGH_INFINITE, Full, HEADER_BYTES, Head, Kind, NodeMut, NodeView, RUN_LINKS,
    SLOT_BYTES, Value, at, cell_bytes,
};

/// Fills a fresh node with ascending entries.
pub struct NodeBuilder<'a> {
    bytes: &'a mut [u8],
    state: Unfinished,
}

/// How far a builder has come; with the bytes it can go on later.
#[derive(Clone, Debug, Default)]
pub struct Unfinished {
    last: Vec<u8>,
    links: usize,
    run: usize,
    run_bytes: usize,
    /// Bytes that no entry may take.
    left_bytes: usize,
    heap_begin: usize,
    /// Bytes that the links still to come may need at most; restarts must leave them.
    ahead_bytes: usize,
    /// Whether cheap restarts come before room for entries.
    strict: bool,
}

impl<'a> NodeBuilder<'a> {
    /// Formats `bytes` as a node and begins it with its low fence.
    ///
    /// # Panics
    /// If the fence is longer than a key may be.
    #[must_use]
    pub fn new(
        bytes: &'a mut [u8],
        kind: Kind,
        level: u8,
        number: CiNumber,
        low_fence: &[u8],
    ) -> NodeBuilder<'a> {
        NodeMut::write_header(bytes, kind, level, number);
        NodeBuilder::begin(bytes, low_fence)
    }

    /// Begins the chain anew under the header that stands there.
    pub(super) fn begin(bytes: &'a mut [u8], low_fence: &[u8]) -> NodeBuilder<'a> {
        let state = Unfinished { heap_begin: bytes.len(), ..Unfinished::default() };
        let mut builder = NodeBuilder { bytes, state };
        let fits = builder.push(low_fence, Value::inline(b""));
        assert!(fits.is_ok(), "a fence of {} bytes is no key", low_fence.len());
        builder
    }

    /// Appends an entry; its key must be greater than the one before.
    ///
    /// # Errors
    /// [`Full`], if it does not fit; the node is as before.
    pub fn push(&mut self, key: &[u8], value: Value<'_>) -> Result<(), Full> {
        let same = common_prefix(&self.state.last, key);
        let room = self.free_bytes();
        let whole = SLOT_BYTES + cell_bytes(key.len(), value.bytes.len());
        let has_room = whole + self.state.left_bytes + self.state.ahead_bytes <= room;
        let insists = self.state.strict && same * RESTART_SHARE <= self.state.run_bytes;
        let restart = self.state.run >= RUN_LINKS && (has_room || insists);
        let coding = Coding::new(key, same, restart, value.overflow);
        let stored = coding.stored(key);
        let need = cell_bytes(stored.len(), value.bytes.len());
        if SLOT_BYTES + need + self.state.left_bytes > room {
            return Err(Full);
        }
        self.state.heap_begin -= need;
        write_cell(self.bytes, self.state.heap_begin, stored, value.bytes);
        let slot_at = HEADER_BYTES + SLOT_BYTES * self.state.links;
        self.bytes[slot_at..slot_at + SLOT_BYTES]
            .copy_from_slice(&coding.slot(self.state.heap_begin));
        self.state.links += 1;
        if coding.restart {
            (self.state.run, self.state.run_bytes) = (0, 0);
        }
        self.state.run += 1;
        self.state.run_bytes += SLOT_BYTES + need;
        self.state.last.truncate(same);
        self.state.last.extend_from_slice(&key[same..]);
        Ok(())
    }

    /// Bytes that are still free.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.state.heap_begin - HEADER_BYTES - SLOT_BYTES * self.state.links
    }

    /// From now on entries leave so many bytes free for the high fence.
    pub fn leave_bytes(&mut self, bytes: usize) {
        self.state.left_bytes = bytes;
    }

    /// Lets go of the bytes between two entries, so that their owner can move.
    #[must_use]
    pub fn suspend(self) -> Unfinished {
        self.state
    }

    /// Goes on with the bytes that it stopped at.
    #[must_use]
    pub fn resume(bytes: &'a mut [u8], state: Unfinished) -> NodeBuilder<'a> {
        NodeBuilder { bytes, state }
    }

    /// What is still to come takes at most this.
    pub(super) fn expect_bytes(&mut self, bytes: usize) {
        self.state.ahead_bytes += bytes;
    }

    /// So much of it has come.
    pub(super) fn came_bytes(&mut self, bytes: usize) {
        self.state.ahead_bytes = self.state.ahead_bytes.saturating_sub(bytes);
    }

    /// Cheap restarts come before room for entries.
    pub(super) fn be_strict(&mut self) {
        self.state.strict = true;
    }

    /// The last key appended, or the low fence.
    #[must_use]
    pub fn last_key(&self) -> &[u8] {
        &self.state.last
    }

    /// Entries so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.links - 1
    }

    /// Ends the chain with the high fence and makes the node whole.
    ///
    /// # Errors
    /// [`Full`], if the fence does not fit; then the node is not whole and must be built again.
    pub fn finish(
        mut self,
        high_fence: Option<&[u8]>,
        right: Option<CiNumber>,
    ) -> Result<NodeMut<'a>, Full> {
        let count = self.count();
        self.state.left_bytes = 0;
        match high_fence {
            Some(high_fence) => {
                self.push(high_fence, Value::inline(b""))?;
                self.bytes[at::FLAGS] &= !FLAG_HIGH_INFINITE;
            }
            None => self.bytes[at::FLAGS] |= FLAG_HIGH_INFINITE,
        }
        put_u16(self.bytes, at::COUNT, count as u16);
        put_u16(self.bytes, at::HEAP_BEGIN, self.state.heap_begin as u16);
        put_u16(self.bytes, at::GARBAGE, 0);
        put_u32(self.bytes, at::RIGHT, right.map_or(0, |number| number.0));
        Ok(NodeMut::new(self.bytes))
    }

    /// Appends the entries `indexes` of another node.
    pub(super) fn push_entries(
        &mut self,
        source: NodeView<'_>,
        indexes: std::ops::Range<usize>,
    ) -> Result<(), Full> {
        let mut key = Vec::new();
        for index in indexes.clone() {
            match index == indexes.start {
                true => source.key_at(index, &mut key),
                false => source.key_forward(index + 1, &mut key),
            }
            self.came_bytes(source.link_bytes(source.slots()[index + 1]));
            self.push(&key, source.value_at(index))?;
        }
        Ok(())
    }
}

/// A restart is cheap if it costs at most this part of the run that it ends.
const RESTART_SHARE: usize = 8;

pub(super) fn write_cell(bytes: &mut [u8], offset: usize, stored: &[u8], value: &[u8]) {
    let head = Head { suffix_len: stored.len(), value_len: value.len() };
    head.write(bytes, offset);
    let stored_at = offset + head.bytes();
    let value_at = stored_at + stored.len();
    bytes[stored_at..value_at].copy_from_slice(stored);
    bytes[value_at..value_at + value.len()].copy_from_slice(value);
}
