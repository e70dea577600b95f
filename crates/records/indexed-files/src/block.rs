//! A block: entries in the order of their keys.
//!
//! | offset | bytes | of a block on disk, least byte first |
//! |---|---|---|
//! | 0 | 8 | XXH3 of all that follows |
//! | 8 | 4 | entries |
//! | 12 | 4, 4 | each entry: where its key ends, where its value ends, from the last field's end |
//! | | | keys and values, in turn |
//!
//! Invariants:
//! 1. Keys ascend and are different. What was read from bytes has been checked.

use std::cmp::Ordering;

/// The sum, and the number of entries.
const FRONT: usize = 12;
/// What an entry has besides its key and value.
const ENTRY: usize = 8;

/// Entries in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    ends: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How long it is on disk.
    pub(crate) fn bytes(&self) -> usize {
        FRONT + ENTRY * self.ends.len() + self.bytes.len()
    }

    fn begin(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before].1 as usize)
    }

    /// An entry's key; the number is of one that is there.
    pub(crate) fn key(&self, at: usize) -> &[u8] {
        &self.bytes[self.begin(at)..self.ends[at].0 as usize]
    }

    /// An entry's value.
    pub(crate) fn value(&self, at: usize) -> &[u8] {
        let (key_end, end) = self.ends[at];
        &self.bytes[key_end as usize..end as usize]
    }

    /// Where a key is, or where it would be.
    pub(crate) fn find(&self, key: &[u8]) -> Result<usize, usize> {
        // Files are often written in sequence.
        if let Some(last) = self.len().checked_sub(1)
            && self.key(last) < key
        {
            return Err(self.len());
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).cmp(key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Puts an entry in, or another value in place of one. Says whether it is a new entry.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> bool {
        match self.find(key) {
            Ok(at) => {
                let (key_end, end) = self.ends[at];
                let (key_end, end) = (key_end as usize, end as usize);
                if value.len() == end - key_end {
                    self.bytes[key_end..end].copy_from_slice(value);
                } else {
                    self.bytes.splice(key_end..end, value.iter().copied());
                    let more = value.len().wrapping_sub(end - key_end) as u32;
                    self.ends[at].1 = self.ends[at].1.wrapping_add(more);
                    self.shift(at + 1, more);
                }
                false
            }
            Err(at) => {
                let begin = self.begin(at);
                let (key_end, end) = (begin + key.len(), begin + key.len() + value.len());
                if at == self.len() {
                    self.bytes.extend_from_slice(key);
                    self.bytes.extend_from_slice(value);
                    self.ends.push((key_end as u32, end as u32));
                } else {
                    self.bytes.splice(begin..begin, key.iter().chain(value).copied());
                    self.ends.insert(at, (key_end as u32, end as u32));
                    self.shift(at + 1, (end - begin) as u32);
                }
                true
            }
        }
    }

    /// How long it is on disk with one more entry.
    pub(crate) fn grown(&self, key_bytes: usize, value_bytes: usize) -> usize {
        self.bytes() + ENTRY + key_bytes + value_bytes
    }

    /// Puts an entry behind all others; `false` if it does not belong there.
    pub(crate) fn append(&mut self, key: &[u8], value: &[u8]) -> bool {
        if self.len().checked_sub(1).is_some_and(|last| self.key(last) >= key) {
            return false;
        }
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end as u32, self.bytes.len() as u32));
        true
    }

    /// Takes an entry out, if it is there.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        let Ok(at) = self.find(key) else { return false };
        let (begin, end) = (self.begin(at), self.ends[at].1 as usize);
        self.bytes.drain(begin..end);
        self.ends.remove(at);
        self.shift(at, (begin as u32).wrapping_sub(end as u32));
        true
    }

    fn shift(&mut self, from: usize, more: u32) {
        for (key_end, end) in &mut self.ends[from..] {
            *key_end = key_end.wrapping_add(more);
            *end = end.wrapping_add(more);
        }
    }

    /// Keeps the entries in front of this one, and gives back the others.
    pub(crate) fn split(&mut self, at: usize) -> Block {
        let begin = self.begin(at);
        let bytes = self.bytes.split_off(begin);
        let mut ends = self.ends.split_off(at);
        for (key_end, end) in &mut ends {
            *key_end -= begin as u32;
            *end -= begin as u32;
        }
        Block { ends, bytes }
    }

    /// Where it is best split: in front of its last entry if that was put in as the last, else in
    /// the middle of its bytes.
    pub(crate) fn middle(&self, put: usize) -> usize {
        if put + 1 == self.len() {
            return put;
        }
        let half = self.bytes.len() / 2;
        let at = self.ends.partition_point(|(_, end)| (*end as usize) < half);
        at.clamp(1, self.len().saturating_sub(1).max(1))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&(self.ends.len() as u32).to_le_bytes());
        for (key_end, end) in &self.ends {
            out.extend_from_slice(&key_end.to_le_bytes());
            out.extend_from_slice(&end.to_le_bytes());
        }
        out.extend_from_slice(&self.bytes);
        let sum = twox_hash::XxHash3_64::oneshot(&out[8..]);
        out[..8].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads one; `None` if the bytes are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Block> {
        let (sum, rest) = bytes.split_first_chunk::<8>()?;
        if twox_hash::XxHash3_64::oneshot(rest) != u64::from_le_bytes(*sum) {
            return None;
        }
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (table, bytes) = rest.split_at_checked(count.checked_mul(ENTRY)?)?;
        let mut ends = Vec::with_capacity(count);
        let mut before = 0;
        for entry in table.chunks_exact(ENTRY) {
            let (key_end, end) = entry.split_at(4);
            let key_end = u32::from_le_bytes(*key_end.first_chunk()?);
            let end = u32::from_le_bytes(*end.first_chunk()?);
            if key_end < before || end < key_end {
                return None;
            }
            before = end;
            ends.push((key_end, end));
        }
        (before as usize == bytes.len()).then(|| Block { ends, bytes: bytes.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn entries(block: &Block) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..block.len()).map(|at| (block.key(at).to_vec(), block.value(at).to_vec())).collect()
    }

    #[test]
    fn a_block_is_a_sorted_map() {
        let (mut block, mut map) = (Block::default(), BTreeMap::new());
        let mut number = 1_u32;
        for round in 0..4000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = format!("{:03}", number >> 8 & 255).into_bytes();
            let value = vec![b'v'; (number >> 20 & 15) as usize];
            if round % 3 == 0 {
                assert_eq!(block.remove(&key), map.remove(&key).is_some());
            } else {
                assert_eq!(block.put(&key, &value), map.insert(key, value).is_none());
            }
        }
        let expected: Vec<_> = map.into_iter().collect();
        assert_eq!(entries(&block), expected);
        let mut bytes = Vec::new();
        block.write(&mut bytes);
        assert_eq!(bytes.len(), block.bytes());
        assert_eq!(Block::read(&bytes).as_ref(), Some(&block));
        let mut low = block.clone();
        let high = low.split(low.middle(0));
        assert_eq!([entries(&low), entries(&high)].concat(), expected);
    }

    #[test]
    fn a_block_with_any_byte_changed_is_none() {
        let mut block = Block::default();
        block.put(b"key", b"value");
        block.put(b"other", b"");
        let mut bytes = Vec::new();
        block.write(&mut bytes);
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x10;
            assert_eq!(Block::read(&other), None, "{at}");
            assert_eq!(Block::read(&bytes[..at]), None, "{at}");
        }
    }
}
