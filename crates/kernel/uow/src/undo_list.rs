//! What a unit of work remembers of its changes, to take them back.

use base::{DataSetId, Lsn};

use crate::active::AnchoredRecord;

/// The undoable changes of a unit of work, newest last, in one buffer.
///
/// Past its budget the older ones are forgotten and read from the log when needed: every record
/// names the one before it.
#[derive(Default)]
pub(crate) struct UndoList {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    lsn: Lsn,
    previous: Lsn,
    set: DataSetId,
    kind: u8,
    start: u32,
    len: u32,
}

impl UndoList {
    /// Appends the parts of a body to the buffer and returns where they stand.
    pub(crate) fn stage(&mut self, body: &[&[u8]]) -> std::ops::Range<usize> {
        let start = self.bytes.len();
        body.iter().for_each(|part| self.bytes.extend_from_slice(part));
        start..self.bytes.len()
    }

    pub(crate) fn staged(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// What was staged is not wanted.
    pub(crate) fn unstage(&mut self, start: usize) {
        self.bytes.truncate(start);
    }

    /// What was staged was logged.
    pub(crate) fn keep(
        &mut self,
        range: std::ops::Range<usize>,
        lsn: Lsn,
        previous: Lsn,
        set: DataSetId,
        kind: u8,
        bytes_max: usize,
    ) {
        let (start, len) = (range.start as u32, range.len() as u32);
        self.entries.push(Entry { lsn, previous, set, kind, start, len });
        if self.bytes.len() > bytes_max {
            self.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// All that is undone from `last` on, if everything is still in memory and takes at most
    /// `bytes_max`.
    pub(crate) fn whole(&self, last: Lsn, bytes_max: usize) -> Option<Vec<AnchoredRecord>> {
        let mut at = last;
        let mut records = Vec::with_capacity(self.entries.len());
        if self.bytes.len() + self.entries.len() * size_of::<Entry>() > bytes_max {
            return None;
        }
        for entry in self.entries.iter().rev() {
            if entry.lsn != at {
                return None;
            }
            let Entry { lsn, previous, set, kind, .. } = *entry;
            let body = self.bytes[entry.start as usize..][..entry.len as usize].to_vec();
            records.push(AnchoredRecord { lsn, previous, set, kind, body });
            at = previous;
        }
        (at == Lsn::NONE).then_some(records)
    }

    /// Takes the newest change out, if it is the one at `lsn`.
    pub(crate) fn pop(&mut self, lsn: Lsn) -> Option<AnchoredRecord> {
        let entry = self.entries.pop_if(|entry| entry.lsn == lsn)?;
        let Entry { lsn, previous, set, kind, .. } = entry;
        let body = self.bytes[entry.start as usize..][..entry.len as usize].to_vec();
        self.bytes.truncate(entry.start as usize);
        Some(AnchoredRecord { lsn, previous, set, kind, body })
    }
}
