//! The level table of a PCB: of each level the occurrence that the PCB showed last.
//!
//! A call whose SSA is wrong shows it (DLI-2.5).
//!
//! Invariants:
//! 1. A level's entry outlives calls that end further up; it goes where position is lost.

use definitions::SegmentName;

/// One level.
#[derive(Clone, Debug)]
struct Row {
    segment: SegmentName,
    /// The concatenated key down to it.
    key: Vec<u8>,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelTable {
    rows: Vec<Option<Row>>,
}

impl LevelTable {
    /// Makes room for so many levels.
    pub(crate) fn new(levels: usize) -> LevelTable {
        LevelTable { rows: vec![None; levels] }
    }

    /// Keeps what a level shows.
    #[inline]
    pub(crate) fn keep(&mut self, level: usize, segment: SegmentName, key: &[u8]) {
        match self.rows.get_mut(level - 1) {
            Some(Some(row)) => {
                row.segment = segment;
                row.key.clear();
                row.key.extend_from_slice(key);
            }
            Some(row) => *row = Some(Row { segment, key: key.to_vec() }),
            None => {}
        }
    }

    /// What a level held last.
    pub(crate) fn at(&self, level: usize) -> Option<(SegmentName, &[u8])> {
        let row = self.rows.get(level.checked_sub(1)?)?.as_ref()?;
        Some((row.segment, &row.key))
    }

    /// Forgets everything: position is lost.
    pub(crate) fn forget(&mut self) {
        self.rows.fill(None);
    }
}
