//! Changing a node: insert, replace, remove, fences, compaction.
//!
//! Each change first tries the gap between slots and heap; if that is too small it rebuilds the
//! node with the change in it, and if even that does not fit it puts the old bytes back.

use base::bytes::{get_u16, put_u16, put_u32, put_u64};
use base::{CiNumber, Lsn};

use super::build::{NodeBuilder, write_cell};
use super::{
    Coding, FLAG_HIGH_INFINITE, Full, HEADER_BYTES, Head, KIND_INNER, KIND_LEAF, Kind,
    LAYOUT_VERSION, NodeDamage, NodeView, RUN_LINKS, RUN_LINKS_MAX, SLOT_BYTES, Slot,
    USABLE_BYTES_MAX, USABLE_BYTES_MIN, Value, at, cell_bytes, is_restart, offset_of,
};

/// A node to change. The bytes must be sound, see [`NodeView`].
pub struct NodeMut<'a> {
    bytes: &'a mut [u8],
}

/// What a rebuild changes on the way.
#[derive(Clone)]
enum Change<'a> {
    Nothing,
    Insert(usize, &'a [u8], Value<'a>),
    Replace(usize, Value<'a>),
    Remove(std::ops::Range<usize>),
    High(&'a [u8]),
}

/// How an entry goes into the gap.
struct Insertion {
    shared: usize,
    restart: bool,
    cell_bytes: usize,
    /// The link that becomes a restart because the run has grown too long.
    promote: Option<usize>,
}

/// How another value goes in.
enum Replacement {
    /// Over the old one.
    Over,
    /// With its key into the gap.
    Gap,
    /// By rebuilding, if at all: so many bytes more than the old one has.
    Rebuild(usize),
    /// It exceeds the limits of any node.
    Never,
}

impl NodeView<'_> {
    /// Whether [`NodeMut::insert`] is the thing to do: it succeeds, thanks to free bytes or because
    /// many keys stand there whole. The few bytes that coding the others anew would gain are not
    /// looked for: who looks rebuilds a full node in vain before almost every split.
    #[must_use]
    pub fn can_insert(&self, index: usize, key: &[u8], value: Value<'_>) -> bool {
        if !self.within_limits(key.len(), value.bytes.len()) {
            return false;
        }
        let gap_bytes = self.gap_bytes();
        // Mostly there is room for the whole key, so that it needs no plan to know.
        if SLOT_BYTES + cell_bytes(key.len(), value.bytes.len()) <= gap_bytes {
            return true;
        }
        let need = SLOT_BYTES + self.plan_insert(index, key, value.bytes.len()).cell_bytes;
        need <= gap_bytes
            || self.promises(need) && self.can_rebuild(&Change::Insert(index, key, value))
    }

    /// Whether [`NodeMut::replace_value`] is the thing to do, as with
    /// [`can_insert`](NodeView::can_insert). For an entry alone in its node it always is (3).
    #[must_use]
    pub fn can_replace(&self, index: usize, value: Value<'_>) -> bool {
        match self.plan_replace(index, value.bytes.len()) {
            Replacement::Over | Replacement::Gap => true,
            Replacement::Rebuild(need) => {
                self.promises(need) && self.can_rebuild(&Change::Replace(index, value))
            }
            Replacement::Never => false,
        }
    }

    fn plan_replace(&self, index: usize, value_len: usize) -> Replacement {
        let slot = self.slots()[index + 1];
        let old = Head::read(self.bytes, offset_of(slot));
        let new = Head { suffix_len: old.suffix_len, value_len };
        if !self.within_limits(self.key_len(index), value_len) {
            Replacement::Never
        } else if old.bytes() == new.bytes() && value_len <= old.value_len {
            Replacement::Over
        } else if total(new) <= self.gap_bytes() {
            Replacement::Gap
        } else {
            Replacement::Rebuild(total(new).saturating_sub(total(old)))
        }
    }

    /// Whether a rebuild may well gain so many bytes.
    fn promises(&self, need: usize) -> bool {
        let restarts = || self.slots().iter().filter(|slot| is_restart(slot)).count();
        need <= self.free_bytes() || restarts() * RUN_LINKS / 2 > self.links()
    }

    fn can_rebuild(&self, change: &Change<'_>) -> bool {
        rebuild_from(*self, &mut self.bytes.to_vec(), change).is_ok()
    }

    fn plan_insert(&self, index: usize, key: &[u8], value_len: usize) -> Insertion {
        let link = index + 1;
        let (matched, first) = self.matched_before(link, key);
        let before = link - first;
        let rest = &self.slots()[link..];
        let after = rest.iter().take(RUN_LINKS_MAX).take_while(|slot| !is_restart(slot)).count();
        let run = before + after + 1;
        // A restart here, if it leaves no short runs.
        let split_here = before >= RUN_LINKS && (after <= 1 || run > RUN_LINKS_MAX);
        let restart = split_here || matched == 0;
        let promote = (!restart && run > RUN_LINKS_MAX).then_some(first + run / 2);
        let stored_len = if restart { key.len() } else { key.len() - matched };
        let cell_bytes = cell_bytes(stored_len, value_len);
        Insertion { shared: matched, restart, cell_bytes, promote }
    }
}

impl<'a> NodeMut<'a> {
    /// The node in `bytes`, which the caller knows to be sound.
    #[must_use]
    #[inline]
    pub fn new(bytes: &'a mut [u8]) -> NodeMut<'a> {
        NodeMut { bytes }
    }

    /// Makes an empty node with its fences; the page LSN becomes zero.
    ///
    /// # Panics
    /// If a fence is longer than a key may be, or the bytes are too few or too many for a node.
    pub fn format(
        bytes: &'a mut [u8],
        kind: Kind,
        level: u8,
        number: CiNumber,
        low_fence: &[u8],
        high_fence: Option<&[u8]>,
    ) -> NodeMut<'a> {
        let builder = NodeBuilder::new(bytes, kind, level, number, low_fence);
        match builder.finish(high_fence, None) {
            Ok(node) => node,
            Err(Full) => panic!("a fence of {:?} bytes is no key", high_fence.map(<[u8]>::len)),
        }
    }

    /// Makes the node that [`NodeView::write_image`] wrote.
    ///
    /// # Errors
    /// If the image is none of a node of this size; then the bytes hold nothing of use.
    pub fn load_image(bytes: &'a mut [u8], image: &[u8]) -> Result<NodeMut<'a>, NodeDamage> {
        let header = image.get(..HEADER_BYTES).ok_or(NodeDamage::ImageLength)?;
        let view = NodeView::new(header);
        let slots_end = HEADER_BYTES + SLOT_BYTES * view.links();
        let heap_begin = view.heap_begin();
        let heap_bytes = bytes.len().checked_sub(heap_begin).ok_or(NodeDamage::ImageLength)?;
        if slots_end > heap_begin || image.len() != slots_end + heap_bytes {
            return Err(NodeDamage::ImageLength);
        }
        bytes[..slots_end].copy_from_slice(&image[..slots_end]);
        bytes[slots_end..heap_begin].fill(0);
        bytes[heap_begin..].copy_from_slice(&image[slots_end..]);
        NodeView::checked(bytes)?;
        Ok(NodeMut { bytes })
    }

    /// The node to read.
    #[must_use]
    #[inline]
    pub fn view(&self) -> NodeView<'_> {
        NodeView::new(self.bytes)
    }

    /// The node to read, for as long as its bytes are borrowed.
    #[must_use]
    pub fn into_view(self) -> NodeView<'a> {
        NodeView::new(self.bytes)
    }

    /// Sets the log position of the newest change.
    pub fn set_lsn(&mut self, lsn: Lsn) {
        put_u64(self.bytes, at::LSN, lsn.0);
    }

    /// Sets the number of the interval that the node stands in: it has been moved.
    pub fn set_number(&mut self, number: CiNumber) {
        put_u32(self.bytes, at::NUMBER, number.0);
    }

    /// Sets the right sibling.
    pub fn set_right(&mut self, right: Option<CiNumber>) {
        put_u32(self.bytes, at::RIGHT, right.map_or(0, |number| number.0));
    }

    /// Points an inner node's entry to another child.
    pub fn set_child(&mut self, index: usize, child: CiNumber) {
        let done = self.replace_value(index, Value::inline(&child.0.to_le_bytes()));
        assert!(done.is_ok(), "a child takes the place of a child");
    }

    /// Inserts an entry as number `index`, which [`search`](NodeView::search) has told.
    ///
    /// # Errors
    /// [`Full`], if there is no room, or if key or value exceed the limits of any node.
    ///
    /// # Panics
    /// If there are fewer than `index` entries.
    pub fn insert(&mut self, index: usize, key: &[u8], value: Value<'_>) -> Result<(), Full> {
        let view = self.view();
        assert!(index <= view.count(), "entry {index} cannot be inserted behind the last");
        if !view.within_limits(key.len(), value.bytes.len()) {
            return Err(Full);
        }
        let plan = view.plan_insert(index, key, value.bytes.len());
        if SLOT_BYTES + plan.cell_bytes <= view.gap_bytes() {
            let offset = self.take_heap(plan.cell_bytes);
            let coding = Coding::new(key, plan.shared, plan.restart, value.overflow);
            write_cell(self.bytes, offset, coding.stored(key), value.bytes);
            self.open_slot(index + 1, coding.slot(offset));
            put_u16(self.bytes, at::COUNT, get_u16(self.bytes, at::COUNT) + 1);
            if let Some(middle) = plan.promote {
                self.promote(middle);
            }
        } else {
            self.rebuild(&Change::Insert(index, key, value))?;
        }
        self.note_insert(index);
        Ok(())
    }

    /// Gives an entry another value.
    ///
    /// # Errors
    /// [`Full`], if there is no room for it.
    pub fn replace_value(&mut self, index: usize, value: Value<'_>) -> Result<(), Full> {
        let plan = self.view().plan_replace(index, value.bytes.len());
        let slot = self.view().slots()[index + 1];
        let offset = offset_of(slot);
        let old = Head::read(self.bytes, offset);
        let new = Head { suffix_len: old.suffix_len, value_len: value.bytes.len() };
        let place = match plan {
            Replacement::Never => return Err(Full),
            Replacement::Rebuild(_) => return self.rebuild(&Change::Replace(index, value)),
            Replacement::Over => {
                self.add_garbage(total(old) - total(new));
                offset
            }
            Replacement::Gap => {
                self.add_garbage(total(old));
                self.take_heap(total(new))
            }
        };
        new.write(self.bytes, place);
        let (from, to) = (offset + old.bytes(), place + new.bytes());
        self.bytes.copy_within(from..from + old.suffix_len, to);
        let value_at = to + new.suffix_len;
        self.bytes[value_at..value_at + new.value_len].copy_from_slice(value.bytes);
        let coding = Coding { overflow: value.overflow, ..Coding::of(slot) };
        self.write_slot(index + 1, coding.slot(place));
        Ok(())
    }

    /// Removes an entry. Always possible (invariant 2).
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn remove(&mut self, index: usize) {
        let view = self.view();
        assert!(index < view.count(), "entry {index} cannot be removed, there is none");
        let link = index + 1;
        if self.recode_next(link) {
            self.drop_cell(self.view().slots()[link]);
            self.close_slot(link);
            put_u16(self.bytes, at::COUNT, get_u16(self.bytes, at::COUNT) - 1);
        } else {
            let done = self.rebuild(&Change::Remove(index..index + 1));
            assert!(done.is_ok(), "removing an entry never needs room (2)");
        }
        self.forget_pattern();
    }

    /// Removes the entries of a range. Always possible.
    ///
    /// # Panics
    /// If the range does not lie within the entries.
    pub fn remove_run(&mut self, indexes: std::ops::Range<usize>) {
        let count = self.view().count();
        assert!(indexes.start <= indexes.end && indexes.end <= count, "{indexes:?} of {count}");
        let done = self.rebuild(&Change::Remove(indexes));
        assert!(done.is_ok(), "removing entries never needs room (2)");
        self.forget_pattern();
    }

    /// Sets the high fence; `None` is infinity.
    ///
    /// # Errors
    /// [`Full`], if there is no room for it.
    pub fn set_high_fence(&mut self, high_fence: Option<&[u8]>) -> Result<(), Full> {
        let Some(high_fence) = high_fence else {
            self.drop_high_fence();
            return Ok(());
        };
        let view = self.view();
        if high_fence.len() > super::key_bytes_max(self.bytes.len()) {
            return Err(Full);
        }
        let link = view.count() + 1;
        let (shared, _) = view.matched_before(link, high_fence);
        let coding = Coding::new(high_fence, shared, false, false);
        let stored = coding.stored(high_fence);
        let need = cell_bytes(stored.len(), 0);
        if SLOT_BYTES + need > view.gap_bytes() {
            return self.rebuild(&Change::High(high_fence));
        }
        self.drop_high_fence();
        let offset = self.take_heap(need);
        write_cell(self.bytes, offset, stored, b"");
        self.open_slot(link, coding.slot(offset));
        self.bytes[at::FLAGS] &= !FLAG_HIGH_INFINITE;
        Ok(())
    }

    /// Codes all keys anew, as tightly as possible and with restarts where they belong, and
    /// gathers all free bytes in the gap.
    pub fn compact(&mut self) {
        let done = self.rebuild(&Change::Nothing);
        assert!(done.is_ok(), "compaction never needs room (2)");
    }

    /// Keeps the first `count` entries and makes the high fence infinite.
    pub(super) fn truncate(&mut self, count: usize) {
        self.drop_high_fence();
        let view = self.view();
        let dropped: usize = view.slots()[count + 1..]
            .iter()
            .map(|slot| total(Head::read(self.bytes, offset_of(*slot))))
            .sum();
        put_u16(self.bytes, at::COUNT, count as u16);
        self.add_garbage(dropped);
        self.forget_pattern();
    }

    pub(super) fn forget_pattern(&mut self) {
        self.bytes[at::ASCENDING] = 0;
        put_u16(self.bytes, at::NEXT_INSERT, 0);
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }

    pub(super) fn write_header(bytes: &mut [u8], kind: Kind, level: u8, number: CiNumber) {
        let sizes = USABLE_BYTES_MIN..=USABLE_BYTES_MAX;
        assert!(sizes.contains(&bytes.len()), "{} bytes are no node", bytes.len());
        assert!((kind == Kind::Leaf) == (level == 0), "level {level} is not that of a {kind:?}");
        bytes.fill(0);
        bytes[at::KIND] = if kind == Kind::Leaf { KIND_LEAF } else { KIND_INNER };
        bytes[at::LEVEL] = level;
        put_u16(bytes, at::VERSION, LAYOUT_VERSION);
        put_u32(bytes, at::NUMBER, number.0);
    }

    /// Writes the node anew with a change in it; on [`Full`] the bytes are as before (4).
    fn rebuild(&mut self, change: &Change<'_>) -> Result<(), Full> {
        let old = self.bytes.to_vec();
        let done = rebuild_from(NodeView::new(&old), self.bytes, change);
        if done.is_err() {
            self.bytes.copy_from_slice(&old);
        }
        done
    }

    /// Codes the link behind `link` against the one before it. `false` if the gap is too small.
    fn recode_next(&mut self, link: usize) -> bool {
        let view = self.view();
        let slots = view.slots();
        let Some(next) = slots.get(link + 1).copied() else { return true };
        let own = Coding::of(slots[link]);
        let old = Coding::of(next);
        let shared = old.shared.min(own.shared);
        if old.restart {
            // Its cell holds all of its key.
            let key = view.stored(next);
            let coding = Coding::new(key, shared, true, old.overflow);
            self.write_slot(link + 1, coding.slot(offset_of(next)));
            return true;
        }
        // What the next link's cell lacks without this one. If this one was a restart, the next
        // becomes one, so that runs stay short.
        let lent = if own.restart { old.shared } else { old.shared - shared };
        if lent == 0 {
            return true;
        }
        let lender = view.stored(slots[link]);
        let head_at_lent = if own.restart { shared } else { 0 };
        let suffix = view.stored(next);
        let byte = |at: usize| match at < lent {
            true => lender[at],
            false => suffix.get(at - lent).copied().unwrap_or(0),
        };
        let head = u16::from_be_bytes([byte(head_at_lent), byte(head_at_lent + 1)]);
        let coding = Coding { shared, restart: own.restart, overflow: old.overflow, head };
        self.lend(link, lent, coding)
    }

    /// Puts the first `lent` bytes of a link's cell before what the next link's cell holds.
    fn lend(&mut self, link: usize, lent: usize, coding: Coding) -> bool {
        let view = self.view();
        let (offset, next_offset) =
            (offset_of(view.slots()[link]), offset_of(view.slots()[link + 1]));
        let (own, old) = (Head::read(self.bytes, offset), Head::read(self.bytes, next_offset));
        let new = Head { suffix_len: old.suffix_len + lent, value_len: old.value_len };
        if total(new) > view.gap_bytes() {
            return false;
        }
        let place = self.take_heap(total(new));
        new.write(self.bytes, place);
        let from = offset + own.bytes();
        let to = place + new.bytes();
        self.bytes.copy_within(from..from + lent, to);
        let from = next_offset + old.bytes();
        self.bytes.copy_within(from..next_offset + total(old), to + lent);
        self.write_slot(link + 1, coding.slot(place));
        self.add_garbage(total(old));
        true
    }

    /// Makes a link a restart, if the gap has room for its whole key.
    fn promote(&mut self, link: usize) {
        let view = self.view();
        let slot = view.slots()[link];
        let (offset, old) = (offset_of(slot), Head::read(self.bytes, offset_of(slot)));
        let mut key = Vec::new();
        view.link_key(link, 0, &mut key);
        let new = Head { suffix_len: key.len(), value_len: old.value_len };
        if is_restart(&slot) || total(new) > view.gap_bytes() {
            return;
        }
        let place = self.take_heap(total(new));
        new.write(self.bytes, place);
        let to = place + new.bytes();
        self.bytes[to..to + key.len()].copy_from_slice(&key);
        let from = offset + old.bytes() + old.suffix_len;
        self.bytes.copy_within(from..from + old.value_len, to + key.len());
        let coding = Coding { restart: true, ..Coding::of(slot) };
        self.write_slot(link, coding.slot(place));
        self.add_garbage(total(old));
    }

    fn drop_high_fence(&mut self) {
        let view = self.view();
        if !view.high_is_infinite() {
            let slot = view.slots()[view.count() + 1];
            self.drop_cell(slot);
            self.bytes[at::FLAGS] |= FLAG_HIGH_INFINITE;
        }
    }

    /// Frees a cell whose slot is about to go.
    fn drop_cell(&mut self, slot: Slot) {
        let (offset, bytes) = (offset_of(slot), total(Head::read(self.bytes, offset_of(slot))));
        if offset == self.view().heap_begin() {
            put_u16(self.bytes, at::HEAP_BEGIN, (offset + bytes) as u16);
        } else {
            self.add_garbage(bytes);
        }
    }

    fn take_heap(&mut self, bytes: usize) -> usize {
        let offset = self.view().heap_begin() - bytes;
        put_u16(self.bytes, at::HEAP_BEGIN, offset as u16);
        offset
    }

    fn add_garbage(&mut self, bytes: usize) {
        put_u16(self.bytes, at::GARBAGE, get_u16(self.bytes, at::GARBAGE) + bytes as u16);
    }

    fn write_slot(&mut self, link: usize, slot: Slot) {
        self.bytes[HEADER_BYTES + SLOT_BYTES * link..][..SLOT_BYTES].copy_from_slice(&slot);
    }

    /// Shifts the slots from `link` on by one and writes the new one; counts are the caller's.
    fn open_slot(&mut self, link: usize, slot: Slot) {
        let (from, to) = self.slot_bytes(link);
        self.bytes.copy_within(from..to, from + SLOT_BYTES);
        self.write_slot(link, slot);
    }

    fn close_slot(&mut self, link: usize) {
        let (from, to) = self.slot_bytes(link + 1);
        self.bytes.copy_within(from..to, from - SLOT_BYTES);
    }

    fn slot_bytes(&self, link: usize) -> (usize, usize) {
        (HEADER_BYTES + SLOT_BYTES * link, HEADER_BYTES + SLOT_BYTES * self.view().links())
    }

    /// Remembers whether inserts ascend; a split goes by it.
    fn note_insert(&mut self, index: usize) {
        let ascending = usize::from(get_u16(self.bytes, at::NEXT_INSERT)) == index;
        let count = if ascending { self.bytes[at::ASCENDING].saturating_add(1) } else { 0 };
        self.bytes[at::ASCENDING] = count;
        put_u16(self.bytes, at::NEXT_INSERT, index as u16 + 1);
    }
}

fn total(head: Head) -> usize {
    head.bytes() + head.suffix_len + head.value_len
}

/// Writes `source` with a change into `bytes`, which still have its header.
fn rebuild_from(source: NodeView<'_>, bytes: &mut [u8], change: &Change<'_>) -> Result<(), Full> {
    let mut builder = NodeBuilder::begin(bytes, source.low_fence());
    builder.expect_bytes(source.live_bytes() - source.link_bytes(source.slots()[0]));
    if matches!(change, Change::Insert(..) | Change::Replace(..)) {
        builder.be_strict();
    }
    let count = source.count();
    match change.clone() {
        Change::Nothing => builder.push_entries(source, 0..count)?,
        Change::High(high_fence) => {
            let (shared, _) = source.matched_before(count + 1, high_fence);
            builder.expect_bytes(SLOT_BYTES + cell_bytes(high_fence.len() - shared, 0));
            builder.push_entries(source, 0..count)?;
        }
        Change::Remove(indexes) => {
            builder.push_entries(source, 0..indexes.start)?;
            builder.push_entries(source, indexes.end..count)?;
        }
        Change::Insert(index, key, value) => {
            let (shared, _) = source.matched_before(index + 1, key);
            let need = SLOT_BYTES + cell_bytes(key.len() - shared, value.bytes.len());
            builder.expect_bytes(need);
            builder.push_entries(source, 0..index)?;
            builder.came_bytes(need);
            builder.push(key, value)?;
            builder.push_entries(source, index..count)?;
        }
        Change::Replace(index, value) => {
            let mut key = Vec::new();
            source.key_at(index, &mut key);
            let old = source.value_at(index).bytes.len();
            // Two bytes for a longer head.
            builder.expect_bytes((value.bytes.len() + 2).saturating_sub(old));
            builder.push_entries(source, 0..index)?;
            builder.push(&key, value)?;
            builder.push_entries(source, index + 1..count)?;
        }
    }
    let mut high_fence = Vec::new();
    let high_fence = match *change {
        Change::High(high_fence) => Some(high_fence),
        _ => source.high_fence(&mut high_fence).then_some(&high_fence[..]),
    };
    builder.finish(high_fence, source.right()).map(|_| ())
}
