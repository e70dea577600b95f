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
//! 2. A block in `changed` hides that of the table.
//! 3. A block in `kept` is as it was committed, and nothing else holds keys in front of its end.
//! 4. [`Tree::put`] and [`Tree::remove`] cannot fail: what they change, [`Tree::touch`] has loaded.

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

/// A block as it was committed.
struct Kept {
    /// Where the next one begins.
    end: Option<Vec<u8>>,
    block: Block,
}

/// A tree.
pub(crate) struct Tree {
    name: String,
    committed: Option<ReadOnlyTable<&'static [u8], &'static [u8]>>,
    changed: BTreeMap<Vec<u8>, Block>,
    /// A block as it was committed, that was looked at last.
    recent: Option<(Vec<u8>, Block)>,
    /// Blocks as they were committed, by where they begin, with where the next one does.
    kept: BTreeMap<Vec<u8>, Kept>,
    kept_bytes: usize,
    /// Where the last block begins, if that is known and it is among the changed ones.
    last: Option<Vec<u8>>,
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
            changed: BTreeMap::new(),
            recent: None,
            kept: BTreeMap::new(),
            kept_bytes: 0,
            last: None,
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
        if self.changed.is_empty() {
            return Ok(());
        }
        let table = transaction.open_table(Table::new(&self.name));
        let mut table = table.map_err(Refusal::of_store)?;
        let mut bytes = Vec::new();
        for (low, block) in &self.changed {
            if block.is_empty() {
                table.remove(&low[..]).map_err(Refusal::of_store)?;
            } else {
                block.write(&mut bytes);
                table.insert(&low[..], &bytes[..]).map_err(Refusal::of_store)?;
            }
        }
        Ok(())
    }

    /// What has changed is committed.
    pub(crate) fn saved(&mut self) {
        self.changed.clear();
        (self.recent, self.last) = (None, None);
        (self.cost, self.changed_bytes) = (0, 0);
        self.shape += 1;
    }

    fn table(&self) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Refusal> {
        let gone = || Refusal::Device("it was lost after an error".to_owned());
        self.committed.as_ref().ok_or_else(gone)
    }

    fn load(&mut self, low: &[u8], bytes: &[u8]) -> Result<(), Refusal> {
        let block = Block::read(bytes).ok_or_else(|| Refusal::damaged("a block is not whole"))?;
        self.recent = Some((low.to_vec(), block));
        Ok(())
    }

    /// Where the block begins that holds a key, or would.
    pub(crate) fn locate(&mut self, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        if let Some(last) = &self.last
            && key >= &last[..]
        {
            return Ok(last.clone());
        }
        if let Some((low, block)) = &self.recent
            && !self.changed.contains_key(low)
            && block.find(key).is_ok()
        {
            return Ok(low.clone());
        }
        let upto = (Bound::Unbounded, Bound::Included(key));
        if let Some((low, kept)) = self.kept.range::<[u8], _>(upto).next_back()
            && kept.end.as_deref().is_none_or(|end| key < end)
        {
            return Ok(low.clone());
        }
        let changed = self.changed.range::<[u8], _>(upto);
        let changed = changed.map(|(low, _)| low.clone()).next_back();
        let mut range = self.table()?.range(..=key).map_err(Refusal::of_store)?;
        let Some(committed) = range.next_back().transpose().map_err(Refusal::of_store)? else {
            return Ok(changed.unwrap_or_default());
        };
        let low = committed.0.value();
        match changed {
            Some(changed) if &changed[..] >= low => Ok(changed),
            _ => {
                let low = low.to_vec();
                self.keep(&low, committed.1.value())?;
                Ok(low)
            }
        }
    }

    /// Keeps a committed block, which has not changed.
    fn keep(&mut self, low: &[u8], bytes: &[u8]) -> Result<(), Refusal> {
        let block = Block::read(bytes).ok_or_else(|| Refusal::damaged("a block is not whole"))?;
        let end = self.beside(low, false)?;
        if self.kept_bytes > KEPT_BYTES_MAX {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += block.bytes();
        self.kept.insert(low.to_vec(), Kept { end, block });
        Ok(())
    }

    /// The block that begins there; an empty one if there is none.
    pub(crate) fn block(&mut self, low: &[u8]) -> Result<&Block, Refusal> {
        if self.changed.contains_key(low) {
            return Ok(&self.changed[low]);
        }
        if self.kept.contains_key(low) {
            return Ok(&self.kept[low].block);
        }
        if self.recent.as_ref().is_none_or(|(recent, _)| recent != low) {
            let found = self.table()?.get_owned(low).map_err(Refusal::of_store)?;
            match found {
                Some(bytes) => self.load(low, bytes.value())?,
                None => self.recent = Some((low.to_vec(), Block::default())),
            }
        }
        let missing = || Refusal::damaged("a block is missing");
        self.recent.as_ref().map(|(_, block)| block).ok_or_else(missing)
    }

    /// Where the next block begins, or the one before.
    fn beside(&self, low: &[u8], before: bool) -> Result<Option<Vec<u8>>, Refusal> {
        let table = self.table()?;
        if before {
            let changed = self.changed.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(low)));
            let changed = changed.map(|(low, _)| low.clone()).next_back();
            let mut range = table.range(..low).map_err(Refusal::of_store)?;
            let found = range.next_back().transpose().map_err(Refusal::of_store)?;
            let committed = found.map(|(low, _)| low.value().to_vec());
            return Ok(changed.max(committed));
        }
        let behind = (Bound::Excluded(low), Bound::Unbounded);
        let changed = self.changed.range::<[u8], _>(behind).map(|(low, _)| low.clone()).next();
        let mut range = table.range::<&[u8]>(behind).map_err(Refusal::of_store)?;
        let found = range.next().transpose().map_err(Refusal::of_store)?;
        let committed = found.map(|(low, _)| low.value().to_vec());
        Ok(match (changed, committed) {
            (Some(changed), Some(committed)) => Some(changed.min(committed)),
            (changed, committed) => changed.or(committed),
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
        let changed = self.changed.keys().next_back().cloned();
        let last = self.table()?.last().map_err(Refusal::of_store)?;
        let committed = last.map(|(low, _)| low.value().to_vec());
        let Some(low) = changed.max(committed) else { return Ok(None) };
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
        if self.changed.contains_key(&low) {
            return Ok(low);
        }
        let block = match self.kept.remove(&low) {
            Some(kept) => {
                self.kept_bytes = self.kept_bytes.saturating_sub(kept.block.bytes());
                kept.block
            }
            None => {
                self.block(&low)?;
                self.recent.take().map(|(_, block)| block).unwrap_or_default()
            }
        };
        self.cost += cost(&low, &block);
        self.changed_bytes += block.bytes();
        // Whoever writes in sequence will write behind it.
        let is_last = block.find(key) == Err(block.len()) && self.beside(&low, false)?.is_none();
        self.changed.insert(low.clone(), block);
        if is_last {
            self.last = Some(low.clone());
        }
        Ok(low)
    }

    /// A touched block, as it is now.
    pub(crate) fn copy(&self, low: &[u8]) -> Block {
        self.changed.get(low).cloned().unwrap_or_default()
    }

    /// Puts an entry into the touched block of its key. Says where a block begins that this made.
    pub(crate) fn put(&mut self, low: &[u8], key: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        let block = self.changed.get_mut(low)?;
        let before = cost(low, block);
        self.changed_bytes += key.len() + value.len();
        if !block.put(key, value) && block.bytes() <= self.block_bytes {
            self.cost = self.cost + cost(low, block) - before;
            return None;
        }
        self.shape += 1;
        let mut made = None;
        if block.bytes() > self.block_bytes && block.len() > 1 {
            let put = block.find(key).unwrap_or(0);
            let upper = block.split(block.middle(put));
            let upper_low = upper.key(0).to_vec();
            self.cost += cost(&upper_low, &upper);
            made = Some((upper_low, upper));
        }
        self.cost = self.cost + cost(low, block) - before;
        let (upper_low, upper) = made?;
        if self.last.as_deref() == Some(low) {
            self.last = Some(upper_low.clone());
        }
        self.changed.insert(upper_low.clone(), upper);
        Some(upper_low)
    }

    /// Puts an entry behind all others, if its block is touched and has room; `false` if not.
    pub(crate) fn append(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some(last) = &self.last else { return false };
        let Some(mut entry) = self.changed.last_entry() else { return false };
        let (grown, page) = (entry.get().grown(key.len(), value.len()), page(entry.get(), last));
        if entry.key() != last || grown > self.block_bytes || grown + last.len() + OVERHEAD > page {
            return false;
        }
        self.changed_bytes += key.len() + value.len();
        self.shape += 1;
        entry.get_mut().append(key, value)
    }

    /// Takes an entry out of the touched block of its key.
    pub(crate) fn remove(&mut self, low: &[u8], key: &[u8]) {
        if let Some(block) = self.changed.get_mut(low) {
            block.remove(key);
            self.shape += 1;
        }
    }

    /// Puts a block back as it was, and empties the one that was made of it.
    pub(crate) fn restore(&mut self, low: Vec<u8>, block: Block, made: Option<Vec<u8>>) {
        self.changed.insert(low, block);
        if let Some(made) = made {
            self.changed.insert(made, Block::default());
        }
        self.last = None;
        self.shape += 1;
    }
}

/// What the store may need for a block: pages of twice its length, and as much again on the way to
/// it.
fn cost(low: &[u8], block: &Block) -> usize {
    2 * page(block, low)
}

/// The page of the store that a block goes into.
fn page(block: &Block, low: &[u8]) -> usize {
    (block.bytes() + low.len() + OVERHEAD).next_power_of_two().max(4096)
}
