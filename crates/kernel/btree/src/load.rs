//! Bulk load: an empty data set is filled with sorted records, leaf behind leaf.
//!
//! The load logs one undoable record at its beginning; its nodes are redo-only images. With that
//! record the unit of work is anchored: checkpoints carry it, the log behind them is used again,
//! and a load may be as long as the device is large. The tree stays empty for everybody until the
//! root is written last. Undo empties the data set: all that is in use there belongs to the load,
//! because nobody else may work on the data set meanwhile (the caller holds it locked).

use base::CiNumber;
use base::bytes::common_prefix;
use pool::ExclusiveCi;
use space::{Purpose, ROOT};
use uow::{Undo, Uow, UowError, UowOptions};

use crate::TreeError;
use crate::node::{Full, Kind, NodeBuilder, NodeView, SLOT_BYTES, Unfinished, Value, separator};
use crate::overflow_write;
use crate::records::{Fields, kind};
use crate::tree::{Stored, Tree};

/// The upper part of a tree under construction: one level.
struct Level {
    /// The node that is being filled, once its number is known.
    number: Option<CiNumber>,
    low: Vec<u8>,
    /// Its entries: low fences and numbers of its children.
    entries: Vec<(Vec<u8>, CiNumber)>,
    bytes: usize,
}

/// A load in progress: takes ascending records until [`Load::finish`]. One that is not finished
/// leaves an empty tree, whose space comes back when the unit of work is backed out.
pub struct Load<'k> {
    tree: Tree<'k>,
    /// The leaf that is being filled, its low fence, and its number once that is known.
    bytes: Vec<u8>,
    leaf: Unfinished,
    low: Vec<u8>,
    number: Option<CiNumber>,
    /// Level 1 first.
    levels: Vec<Level>,
    /// Bytes to leave free in each node.
    spare_bytes: usize,
    near: Option<CiNumber>,
    count: u64,
}

impl<'k> Tree<'k> {
    /// Begins to load an empty data set; nodes are left `free_percent` (0 to 50) free. Nobody else
    /// uses the data set until the unit of work has ended.
    ///
    /// # Errors
    /// [`TreeError::NotEmpty`] and what else may happen.
    pub fn load(&self, uow: &mut Uow, free_percent: u8) -> Result<Load<'k>, TreeError> {
        self.kernel.settle_frees(self.set.id())?;
        uow.prepare(64)?;
        let mut root = self.set.exclusive(ROOT)?;
        let node = NodeView::opened(root.bytes());
        let node = node.map_err(|damage| self.damaged(ROOT, damage.to_string()))?;
        if node.kind() != Kind::Leaf || node.count() > 0 {
            return Err(TreeError::NotEmpty { name: self.set.name().to_owned() });
        }
        uow.change(self.set, kind::LOAD_BEGINS, &[], &mut root)?;
        // If it has done much else before, its log is kept, and bounds the load.
        let _ = uow.anchor();
        let usable = self.set.usable_bytes();
        let mut bytes = vec![0; usable];
        let leaf = NodeBuilder::new(&mut bytes, Kind::Leaf, 0, ROOT, b"").suspend();
        Ok(Load {
            tree: *self,
            bytes,
            leaf,
            low: Vec::new(),
            number: None,
            levels: Vec::new(),
            spare_bytes: usable * usize::from(free_percent.min(50)) / 100,
            near: None,
            count: 0,
        })
    }

    /// Loads all records of an iterator; returns how many.
    ///
    /// # Errors
    /// As for [`Tree::load`] and [`Load::push`].
    pub fn bulk_load<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        uow: &mut Uow,
        records: impl IntoIterator<Item = (K, V)>,
        free_percent: u8,
    ) -> Result<u64, TreeError> {
        let mut load = self.load(uow, free_percent)?;
        for (key, value) in records {
            load.push(uow, key.as_ref(), value.as_ref())?;
        }
        load.finish(uow)
    }
}

impl Load<'_> {
    /// Appends a record.
    ///
    /// # Errors
    /// [`TreeError::NotAscending`] and what else may happen; the unit of work, or a savepoint
    /// before the load, must then be backed out.
    pub fn push(&mut self, uow: &mut Uow, key: &[u8], value: &[u8]) -> Result<(), TreeError> {
        self.tree.check_limits(key, value)?;
        let stored = self.stored(uow, key, value)?;
        if self.append(key, stored.value())? {
            return Ok(());
        }
        self.close_leaf(uow, key)?;
        match self.append(key, stored.value())? {
            true => Ok(()),
            false => Err(self.misfit()),
        }
    }

    /// Writes what is still in memory, then the root: from now on the records are there.
    ///
    /// # Errors
    /// What may happen.
    pub fn finish(mut self, uow: &mut Uow) -> Result<u64, TreeError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let builder = NodeBuilder::resume(&mut bytes, std::mem::take(&mut self.leaf));
        let mut node = builder.finish(None, None).map_err(|Full| self.misfit())?;
        match self.number {
            None => self.write_root(uow, node.view())?,
            Some(number) => {
                node.set_number(number);
                self.write_node(uow, number, node.view())?;
                let low = std::mem::take(&mut self.low);
                self.add_child(uow, 0, low, number)?;
                self.finish_levels(uow)?;
            }
        }
        Ok(self.count)
    }

    /// Appends to the leaf; `false` if it is full.
    fn append(&mut self, key: &[u8], value: Value<'_>) -> Result<bool, TreeError> {
        let leaf = std::mem::take(&mut self.leaf);
        let mut builder = NodeBuilder::resume(&mut self.bytes, leaf);
        let is_first = builder.count() == 0;
        let ascends = key > builder.last_key() || is_first && key == builder.last_key();
        let spare_bytes = if is_first { 0 } else { self.spare_bytes };
        builder.leave_bytes(FENCE_BYTES.max(spare_bytes));
        let appended = ascends && builder.push(key, value).is_ok();
        self.leaf = builder.suspend();
        if !ascends {
            let name = self.tree.set.name().to_owned();
            return Err(TreeError::NotAscending { name, record: self.count + 1 });
        }
        self.count += u64::from(appended);
        Ok(appended)
    }

    /// Writes the leaf, which ends before `key`, and begins the next one.
    fn close_leaf(&mut self, uow: &mut Uow, key: &[u8]) -> Result<(), TreeError> {
        let own = match self.number {
            Some(number) => number,
            None => self.allocate()?,
        };
        let next = self.allocate()?;
        let mut bytes = std::mem::take(&mut self.bytes);
        let builder = NodeBuilder::resume(&mut bytes, std::mem::take(&mut self.leaf));
        let fence = separator(builder.last_key(), key).to_vec();
        let mut node = builder.finish(Some(&fence), Some(next)).map_err(|Full| self.misfit())?;
        node.set_number(own);
        self.write_node(uow, own, node.view())?;
        self.leaf = NodeBuilder::new(&mut bytes, Kind::Leaf, 0, next, &fence).suspend();
        self.bytes = bytes;
        self.number = Some(next);
        let low = std::mem::replace(&mut self.low, fence);
        self.add_child(uow, 0, low, own)
    }

    /// Adds a child to the level above; `above` counts from level 1.
    fn add_child(
        &mut self,
        uow: &mut Uow,
        above: usize,
        low: Vec<u8>,
        child: CiNumber,
    ) -> Result<(), TreeError> {
        if above == self.levels.len() {
            self.levels.push(Level {
                number: None,
                low: Vec::new(),
                entries: Vec::new(),
                bytes: 0,
            });
        }
        let usable = self.tree.set.usable_bytes();
        let level = &mut self.levels[above];
        // What an entry takes at most, with a whole key at every restart.
        let last = level.entries.last().map_or(&level.low[..], |(key, _)| key);
        let is_restart = level.entries.len() % RESTART_EVERY == RESTART_EVERY - 1;
        let shared = if is_restart { 0 } else { common_prefix(last, &low) };
        let need = low.len() - shared + SLOT_BYTES + ENTRY_EXTRA;
        let bytes_max = usable - 64 - self.spare_bytes.min(usable / 4);
        let full = level.bytes + need + level.low.len() + low.len() > bytes_max;
        if full && level.entries.len() >= 2 {
            self.close_node(uow, above, low.clone())?;
        }
        let level = &mut self.levels[above];
        level.bytes += need;
        level.entries.push((low, child));
        Ok(())
    }

    /// Writes the node of a level that is full and begins the next one at `low`.
    fn close_node(&mut self, uow: &mut Uow, above: usize, low: Vec<u8>) -> Result<(), TreeError> {
        let own = match self.levels[above].number {
            Some(number) => number,
            None => self.allocate()?,
        };
        let next = self.allocate()?;
        let mut bytes = vec![0; self.tree.set.usable_bytes()];
        let node = self.build(&mut bytes, above, own, Some(&low), Some(next))?;
        self.write_node(uow, own, node)?;
        let level = &mut self.levels[above];
        let old_low = std::mem::replace(&mut level.low, low);
        level.number = Some(next);
        level.entries.clear();
        level.bytes = 0;
        self.add_child(uow, above + 1, old_low, own)
    }

    /// Writes what is left of every level, and the root.
    fn finish_levels(&mut self, uow: &mut Uow) -> Result<(), TreeError> {
        let mut above = 0;
        loop {
            let mut bytes = vec![0; self.tree.set.usable_bytes()];
            let Some(number) = self.levels[above].number else {
                // The only node of its level is the root.
                let root = self.build(&mut bytes, above, ROOT, None, None)?;
                return self.write_root(uow, root);
            };
            let node = self.build(&mut bytes, above, number, None, None)?;
            self.write_node(uow, number, node)?;
            let low = std::mem::take(&mut self.levels[above].low);
            self.add_child(uow, above + 1, low, number)?;
            above += 1;
        }
    }

    fn build<'b>(
        &self,
        bytes: &'b mut [u8],
        above: usize,
        number: CiNumber,
        high: Option<&[u8]>,
        right: Option<CiNumber>,
    ) -> Result<NodeView<'b>, TreeError> {
        let level = &self.levels[above];
        let height = above as u8 + 1;
        let mut builder = NodeBuilder::new(bytes, Kind::Inner, height, number, &level.low);
        for (key, child) in &level.entries {
            let value = child.0.to_le_bytes();
            builder.push(key, Value::inline(&value)).map_err(|Full| self.misfit())?;
        }
        let node = builder.finish(high, right).map_err(|Full| self.misfit())?;
        Ok(node.into_view())
    }

    fn misfit(&self) -> TreeError {
        self.tree.damaged(ROOT, "a node that was planned to fit does not")
    }

    fn allocate(&mut self) -> Result<CiNumber, TreeError> {
        let number = self.tree.allocate(self.near, Purpose::Work)?;
        self.near = Some(number);
        Ok(number)
    }

    fn stored<'v>(
        &self,
        uow: &mut Uow,
        key: &[u8],
        value: &'v [u8],
    ) -> Result<Stored<'v>, TreeError> {
        if self.tree.is_inline(key.len(), value.len()) {
            return Ok(Stored::Inline(value));
        }
        let reference = overflow_write::write(
            self.tree,
            value,
            self.near,
            &mut |bytes| Ok(uow.prepare(bytes)?),
            &mut |body, page| self.log_page(kind::OVERFLOW, body, page),
        )?;
        Ok(Stored::Reference(reference.encode()))
    }

    fn write_node(
        &self,
        uow: &mut Uow,
        number: CiNumber,
        node: NodeView<'_>,
    ) -> Result<(), TreeError> {
        let fields = Fields::new().ci(number);
        let mut image = Vec::with_capacity(node.bytes().len());
        node.write_image(&mut image);
        uow.prepare(image.len() + 64)?;
        let mut page = self.tree.set.pin_fresh(number)?.exclusive();
        self.log_page(kind::LOAD, &[fields.bytes(), &image], &mut page)
    }

    fn write_root(&self, uow: &mut Uow, node: NodeView<'_>) -> Result<(), TreeError> {
        let mut image = Vec::with_capacity(node.bytes().len());
        node.write_image(&mut image);
        uow.prepare(image.len() + 64)?;
        let mut page = self.tree.set.exclusive(ROOT)?;
        self.log_page(kind::ROOT, &[&image], &mut page)
    }

    fn log_page(
        &self,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), TreeError> {
        Ok(self.tree.kernel.change_structure(self.tree.set, kind, body, &mut [page])?)
    }
}

/// Restarts stand no nearer to each other than this.
const RESTART_EVERY: usize = 15;
/// Lengths of an entry and its child.
const ENTRY_EXTRA: usize = 4 + 4;
/// What a leaf's high fence takes at most: one byte more than it shares with the last key.
const FENCE_BYTES: usize = SLOT_BYTES + 3;

/// Undoes a load: the root becomes empty and whatever else is in use becomes free.
pub(crate) fn undo_load(tree: Tree<'_>, undo: &mut Undo<'_>) -> Result<(), UowError> {
    {
        let mut root = tree.set.exclusive(ROOT)?;
        undo.compensate_part(tree.set, kind::ROOT, &[], &mut root)?;
    }
    free_all(tree)
}

impl Tree<'_> {
    /// Empties the data set; it cannot be undone. Nobody else uses the data set meanwhile. A crash
    /// in its middle leaves it as it was, or restart empties it.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn clear(&self) -> Result<(), TreeError> {
        self.kernel.settle_frees(self.set.id())?;
        // The undo of a load empties the data set, and is repeated after a crash.
        let mut uow = self.kernel.begin(UowOptions::default())?;
        uow.prepare(64)?;
        {
            let mut root = self.set.exclusive(ROOT)?;
            uow.change(self.set, kind::LOAD_BEGINS, &[], &mut root)?;
        }
        let _ = uow.anchor();
        Ok(uow.backout()?)
    }
}

/// After so many intervals the undo of a load looks whether the log has room.
const FREED_BETWEEN_LOOKS: u32 = 64;

/// Frees every interval but the root. What is in memory is also marked as free, so that no cursor
/// takes its copy for current.
fn free_all(tree: Tree<'_>) -> Result<(), UowError> {
    let layout = tree.set.layout();
    let mut freed = 0_u32;
    // Checkpoints may cut the free end off meanwhile; what lies before it has its maps.
    for ci in (0..tree.set.high_water()?).map(CiNumber) {
        if layout.is_reserved(ci) || !tree.set.is_used(ci)? {
            continue;
        }
        if freed.is_multiple_of(FREED_BETWEEN_LOOKS) {
            tree.kernel.make_room_for_undo()?;
        }
        freed += 1;
        if tree.set.is_resident(ci) {
            let fields = Fields::new().ci(ci);
            let mut page = tree.set.pin_fresh(ci)?.exclusive();
            let pages = &mut [&mut page];
            tree.kernel.change_structure(tree.set, kind::FREE, &[fields.bytes()], pages)?;
        }
        tree.kernel.release_interval(tree.set, ci)?;
    }
    Ok(())
}
