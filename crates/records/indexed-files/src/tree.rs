//! A tree: blocks by their lowest keys, in a table of the store, and changed ones in memory.
//!
//! | table | key | value |
//! |---|---|---|
//! | `0` | where a block begins; empty for the first | a block of prime key -> record |
//! | `1`, ... | the same | a block of alternate key and arrival -> prime key |
//!
//! Invariants:
//! 1. A block holds the keys from where it begins up to where the next one does. Where it begins
//!    never changes; an empty block stays until it is committed, which takes it away.
//! 2. A block in memory hides that of the table, and knows where it ends; the table may know of a
//!    block within only if a commit is going to take it away.
//! 3. [`Tree::put`] and [`Tree::remove`] cannot fail: what they change, [`Tree::touch`] has loaded.

use std::collections::BTreeMap;
use std::ops::Bound;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _, TableDefinition, WriteTransaction};

use crate::block::Block;
use crate::refusal::Refusal;

type Table<'a> = TableDefinition<'a, &'static [u8], &'static [u8]>;

/// A block that fits into a page of the store: for short records.
const SHORT_BLOCK: usize = 3900;
/// For longer records.
const LONG_BLOCK: usize = 16_000;
/// The longest record of short blocks.
const SHORT_RECORD: usize = 400;
/// How many bytes of blocks are kept as they were committed.
const KEPT_BYTES_MAX: usize = 96 << 20;
/// What the store adds to a block, at most.
const OVERHEAD: usize = 100;

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Where its block begins.
    pub(crate) low: Vec<u8>,
    /// Its number within.
    pub(crate) at: usize,
}

/// A block in memory.
#[derive(Clone)]
pub(crate) struct Held {
    /// Where the next one begins; a block that was taken away may stand in between.
    end: Option<Vec<u8>>,
    block: Block,
    /// Whether it is another one than that of the table.
    changed: bool,
}

/// A tree.
pub(crate) struct Tree {
    name: String,
    committed: Option<ReadOnlyTable<&'static [u8], &'static [u8]>>,
    held: BTreeMap<Vec<u8>, Held>,
    /// Blocks that were made, and taken back.
    gone: Vec<Vec<u8>>,
    /// A block as it was committed, that was gone through last.
    recent: Option<(Vec<u8>, Block)>,
    /// How long the blocks are that are held as they were committed.
    kept_bytes: usize,
    /// Which of them was given up last.
    given_up: Vec<u8>,
    /// Counts up when entries change their spots.
    shape: u64,
    /// What a commit may need at most.
    cost: usize,
    /// How long the changed blocks were when they were touched, and what they grew by since.
    changed_bytes: usize,
    block_bytes: usize,
}

impl Tree {
    pub(crate) fn new(number: usize, entry_bytes: usize) -> Tree {
        let short = entry_bytes <= SHORT_RECORD;
        Tree {
            name: number.to_string(),
            committed: None,
            held: BTreeMap::new(),
            gone: Vec::new(),
            recent: None,
            kept_bytes: 0,
            given_up: Vec::new(),
            shape: 0,
            cost: 0,
            changed_bytes: 0,
            block_bytes: if short { SHORT_BLOCK } else { LONG_BLOCK },
        }
    }

    pub(crate) fn shape(&self) -> u64 {
        self.shape
    }

    pub(crate) fn cost(&self) -> usize {
        self.cost
    }

    /// How much memory the changed blocks have.
    pub(crate) fn changed_bytes(&self) -> usize {
        self.changed_bytes
    }

    /// Makes the table, in a new file.
    pub(crate) fn create(&self, transaction: &WriteTransaction) -> Result<(), Refusal> {
        let definition = Table::new(&self.name);
        transaction.open_table(definition).map(drop).map_err(Refusal::of_store)
    }

    /// Sees what was committed.
    pub(crate) fn see(&mut self, transaction: &ReadTransaction) -> Result<(), Refusal> {
        let table = transaction.open_table(Table::new(&self.name)).map_err(Refusal::of_store)?;
        self.committed = Some(table);
        self.recent = None;
        Ok(())
    }

    /// Lets go of what was committed.
    pub(crate) fn let_go(&mut self) {
        self.committed = None;
    }

    /// Puts what has changed into a transaction.
    pub(crate) fn save(&self, transaction: &WriteTransaction) -> Result<(), Refusal> {
        if self.cost == 0 && self.gone.is_empty() {
            return Ok(());
        }
        let table = transaction.open_table(Table::new(&self.name));
        let mut table = table.map_err(Refusal::of_store)?;
        for low in &self.gone {
            table.remove(&low[..]).map_err(Refusal::of_store)?;
        }
        let mut bytes = Vec::new();
        for (low, held) in self.held.iter().filter(|(_, held)| held.changed) {
            if held.block.is_empty() {
                table.remove(&low[..]).map_err(Refusal::of_store)?;
            } else {
                held.block.write(&mut bytes);
                table.insert(&low[..], &bytes[..]).map_err(Refusal::of_store)?;
            }
        }
        Ok(())
    }

    /// What has changed is committed.
    pub(crate) fn saved(&mut self) {
        let kept = &mut self.kept_bytes;
        self.held.retain(|_, held| {
            if std::mem::take(&mut held.changed) {
                *kept += held.block.bytes();
            }
            !held.block.is_empty()
        });
        while self.kept_bytes > KEPT_BYTES_MAX && self.give_up() {}
        self.gone.clear();
        self.recent = None;
        (self.cost, self.changed_bytes) = (0, 0);
        self.shape += 1;
    }

    /// What has changed is taken back, all of it.
    pub(crate) fn forget(&mut self) {
        self.held.retain(|_, held| !held.changed);
        self.gone.clear();
        self.recent = None;
        (self.cost, self.changed_bytes) = (0, 0);
        self.shape += 1;
    }

    fn table(&self) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Refusal> {
        let gone = || Refusal::Device("it was lost after an error".to_owned());
        self.committed.as_ref().ok_or_else(gone)
    }

    /// Where the block begins that holds a key, or would.
    pub(crate) fn locate(&mut self, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        if let Some((low, block)) = &self.recent
            && block.find(key).is_ok()
            && !self.held.contains_key(low)
        {
            return Ok(low.clone());
        }
        let upto = (Bound::Unbounded, Bound::Included(key));
        let mut candidate = None;
        if let Some((low, held)) = self.held.range::<[u8], _>(upto).next_back() {
            if held.end.as_deref().is_none_or(|end| key < end) {
                return Ok(low.clone());
            }
            candidate = Some(low.clone());
        }
        let mut range = self.table()?.range(..=key).map_err(Refusal::of_store)?;
        let found = range.next_back().transpose().map_err(Refusal::of_store)?;
        let found = found.as_ref().map(|(low, bytes)| (low.value(), bytes.value()));
        match (candidate, found) {
            (None, None) => {
                self.hold(Vec::new(), Block::default())?;
                Ok(Vec::new())
            }
            (Some(low), found) if found.is_none_or(|(other, _)| other <= &low[..]) => {
                // What stood between its end and the key was taken away.
                let end = self.behind(&low)?;
                if let Some(held) = self.held.get_mut(&low) {
                    held.end = end;
                }
                Ok(low)
            }
            (_, Some((low, bytes))) => {
                self.hold(low.to_vec(), read(bytes)?)?;
                Ok(low.to_vec())
            }
            (Some(low), None) => Ok(low),
        }
    }

    /// Holds a committed block that is not held.
    fn hold(&mut self, low: Vec<u8>, block: Block) -> Result<(), Refusal> {
        let end = self.behind(&low)?;
        while self.kept_bytes > KEPT_BYTES_MAX && self.give_up() {}
        self.kept_bytes += block.bytes();
        self.held.insert(low, Held { end, block, changed: false });
        Ok(())
    }

    /// Gives up a block that is held as it was committed; `false` if that was none.
    fn give_up(&mut self) -> bool {
        let behind = (Bound::Excluded(&self.given_up[..]), Bound::Unbounded);
        let next = self.held.range::<[u8], _>(behind).find(|(_, held)| !held.changed);
        let Some(low) = next.map(|(low, _)| low.clone()) else {
            // From the beginning, another time.
            return !std::mem::take(&mut self.given_up).is_empty();
        };
        if let Some(held) = self.held.remove(&low) {
            self.kept_bytes = self.kept_bytes.saturating_sub(held.block.bytes());
        }
        self.given_up = low;
        true
    }

    /// The block that begins there; an empty one if there is none.
    pub(crate) fn block(&mut self, low: &[u8]) -> Result<&Block, Refusal> {
        let is_recent = self.recent.as_ref().is_some_and(|(recent, _)| recent == low);
        if !is_recent {
            if self.held.contains_key(low) {
                return Ok(&self.held[low].block);
            }
            let found = self.table()?.get_owned(low).map_err(Refusal::of_store)?;
            let block = found.map(|bytes| read(bytes.value())).transpose()?.unwrap_or_default();
            self.recent = Some((low.to_vec(), block));
        }
        let missing = || Refusal::damaged("a block is missing");
        self.recent.as_ref().map(|(_, block)| block).ok_or_else(missing)
    }

    /// Where the next block begins, or the one before.
    fn beside(&self, low: &[u8], before: bool) -> Result<Option<Vec<u8>>, Refusal> {
        let table = self.table()?;
        if before {
            let held = self.held.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(low)));
            let held = held.map(|(low, _)| low.clone()).next_back();
            let mut range = table.range(..low).map_err(Refusal::of_store)?;
            let found = range.next_back().transpose().map_err(Refusal::of_store)?;
            let committed = found.map(|(low, _)| low.value().to_vec());
            return Ok(held.max(committed));
        }
        match self.held.get(low) {
            Some(held) => Ok(held.end.clone()),
            None => self.behind(low),
        }
    }

    /// Where the next block begins.
    fn behind(&self, low: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        let table = self.table()?;
        let behind = (Bound::Excluded(low), Bound::Unbounded);
        let held = self.held.range::<[u8], _>(behind).map(|(low, _)| low.clone()).next();
        let mut range = table.range::<&[u8]>(behind).map_err(Refusal::of_store)?;
        let found = range.next().transpose().map_err(Refusal::of_store)?;
        let committed = found.map(|(low, _)| low.value().to_vec());
        Ok(match (held, committed) {
            (Some(held), Some(committed)) => Some(held.min(committed)),
            (held, committed) => held.or(committed),
        })
    }

    /// The spot beside one: the next entry, or the one before.
    pub(crate) fn step(&mut self, spot: Spot, before: bool) -> Result<Option<Spot>, Refusal> {
        let Spot { mut low, at } = spot;
        let inside = if before { at.checked_sub(1) } else { at.checked_add(1) };
        let len = self.block(&low)?.len();
        if let Some(at) = inside.filter(|at| *at < len) {
            return Ok(Some(Spot { low, at }));
        }
        while let Some(beside) = self.beside(&low, before)? {
            low = beside;
            let len = self.block(&low)?.len();
            if len > 0 {
                let at = if before { len - 1 } else { 0 };
                return Ok(Some(Spot { low, at }));
            }
        }
        Ok(None)
    }

    /// The first entry from a key on; `behind`: behind it.
    pub(crate) fn from(&mut self, key: &[u8], behind: bool) -> Result<Option<Spot>, Refusal> {
        let low = self.locate(key)?;
        let block = self.block(&low)?;
        let at = match block.find(key) {
            Ok(at) => at + usize::from(behind),
            Err(at) => at,
        };
        if at < block.len() {
            return Ok(Some(Spot { low, at }));
        }
        match at.checked_sub(1) {
            Some(at) => self.step(Spot { low, at }, false),
            None => self.step(Spot { low, at: usize::MAX }, false),
        }
    }

    /// The last entry in front of a key; `upto`: or that with the key.
    pub(crate) fn before(&mut self, key: &[u8], upto: bool) -> Result<Option<Spot>, Refusal> {
        let low = self.locate(key)?;
        let at = match self.block(&low)?.find(key) {
            Ok(at) => at + usize::from(upto),
            Err(at) => at,
        };
        match at.checked_sub(1) {
            Some(at) => Ok(Some(Spot { low, at })),
            None => self.step(Spot { low, at: 0 }, true),
        }
    }

    /// The last entry of all.
    pub(crate) fn end(&mut self) -> Result<Option<Spot>, Refusal> {
        let held = self.held.keys().next_back().cloned();
        let last = self.table()?.last().map_err(Refusal::of_store)?;
        let committed = last.map(|(low, _)| low.value().to_vec());
        let Some(low) = held.max(committed) else { return Ok(None) };
        match self.block(&low)?.len().checked_sub(1) {
            Some(at) => Ok(Some(Spot { low, at })),
            None => self.step(Spot { low, at: 0 }, true),
        }
    }

    /// Where just this key is.
    pub(crate) fn get(&mut self, key: &[u8]) -> Result<Option<Spot>, Refusal> {
        let low = self.locate(key)?;
        let found = self.block(&low)?.find(key).ok();
        Ok(found.map(|at| Spot { low, at }))
    }

    /// Loads the block that a key is in, or will be, to be changed; says where it begins.
    pub(crate) fn touch(&mut self, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        let low = self.locate(key)?;
        if let Some((recent, block)) = self.recent.take_if(|(recent, _)| *recent == low)
            && !self.held.contains_key(&recent)
        {
            self.hold(recent, block)?;
        }
        let missing = || Refusal::damaged("a block is missing");
        let held = self.held.get_mut(&low).ok_or_else(missing)?;
        if !std::mem::replace(&mut held.changed, true) {
            self.kept_bytes = self.kept_bytes.saturating_sub(held.block.bytes());
            self.cost += cost(&low, &held.block);
            self.changed_bytes += held.block.bytes();
        }
        Ok(low)
    }

    /// A touched block, as it is now.
    pub(crate) fn copy(&self, low: &[u8]) -> Option<Held> {
        self.held.get(low).cloned()
    }

    /// Puts an entry into the touched block of its key. Says where a block begins that this made.
    pub(crate) fn put(&mut self, low: &[u8], key: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        let held = self.held.get_mut(low)?;
        let before = cost(low, &held.block);
        self.changed_bytes += key.len() + value.len();
        let is_new = held.block.put(key, value);
        if is_new || held.block.bytes() > self.block_bytes {
            self.shape += 1;
        }
        let mut made = None;
        if held.block.bytes() > self.block_bytes && held.block.len() > 1 {
            let put = held.block.find(key).unwrap_or(0);
            let block = held.block.split(held.block.middle(put));
            let upper_low = block.key(0).to_vec();
            self.cost += cost(&upper_low, &block);
            let end = held.end.replace(upper_low.clone());
            made = Some((upper_low, Held { end, block, changed: true }));
        }
        self.cost = self.cost + cost(low, &held.block) - before;
        let (upper_low, upper) = made?;
        self.gone.retain(|gone| *gone != upper_low);
        self.recent = None;
        self.held.insert(upper_low.clone(), upper);
        Some(upper_low)
    }

    /// Puts an entry behind all others, if its block is touched and has room; `false` if not.
    pub(crate) fn append(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some(mut last) = self.held.last_entry() else { return false };
        let low_bytes = last.key().len();
        let held = last.get();
        let grown = held.block.grown(key.len(), value.len());
        let page = page(held.block.bytes() + low_bytes);
        let has_room = grown <= self.block_bytes && grown + low_bytes + OVERHEAD <= page;
        if held.end.is_some() || !held.changed || !has_room || key < &last.key()[..] {
            return false;
        }
        self.changed_bytes += key.len() + value.len();
        self.shape += 1;
        last.get_mut().block.append(key, value)
    }

    /// Takes an entry out of the touched block of its key.
    pub(crate) fn remove(&mut self, low: &[u8], key: &[u8]) {
        if let Some(held) = self.held.get_mut(low) {
            held.block.remove(key);
            self.shape += 1;
        }
    }

    /// Puts a block back as it was, and takes back the one that was made of it.
    pub(crate) fn restore(&mut self, low: Vec<u8>, copy: Held, made: Option<Vec<u8>>) {
        self.held.insert(low, copy);
        if let Some(made) = made {
            self.held.remove(&made);
            self.gone.push(made);
        }
        self.shape += 1;
    }
}

fn read(bytes: &[u8]) -> Result<Block, Refusal> {
    Block::read(bytes).ok_or_else(|| Refusal::damaged("a block is not whole"))
}

/// What the store may need for a block: pages of twice its length, and as much again on the way to
/// it.
fn cost(low: &[u8], block: &Block) -> usize {
    2 * page(block.bytes() + low.len())
}

/// The page of the store that so many bytes go into.
fn page(bytes: usize) -> usize {
    (bytes + OVERHEAD).next_power_of_two().max(4096)
}
