//! The ledger: the partitioned database that `bmp` reads and replaces from end to end.
//!
//! | segment | level | bytes | occurrences | key |
//! |---|---|---|---|---|
//! | LEDGER | 1 | 100 | n | 8 digits |
//! | PERIOD | 2 | 150 | 4 for each ledger | 4 digits |
//! | ENTRY | 3 | 200 | 2 for each period | 4 digits |
//!
//! Bytes 16 to 23 of each segment are a balance, little-endian, 0 at first; a replace adds 1.
//!
//! 1. A row of a keyed peer has the segment's path as its key, and all of the segment as its value:
//!    root key, then for each level below the segment's code and its key. Order of paths is
//!    hierarchic order.
//! 2. Every contestant gets the same segments from the same [`Segments`].

use definitions::DbdName;
use hierarchy::load::{Given, Input, InputError};
use hierarchy::{Deleted, HierarchyError, TypeAt};
use placement::Settings;

use crate::customers::digits;
use crate::databases::{Library, Site, partition};
use crate::error::Result;
use crate::kernel::failed;
use crate::ours::StoreSetup;
use crate::workload::Random;

/// The database.
pub(crate) const DATABASE: &str = "LEDGERDB";
/// The PSB with one PCB.
pub(crate) const PSB: &str = "LEDGPROG";
/// The names of the segments, by level.
pub(crate) const NAMES: [&str; 3] = ["LEDGER", "PERIOD", "ENTRY"];
/// Partitions.
pub(crate) const PARTITIONS: u64 = 32;
/// Segments of each ledger.
pub(crate) const SEGMENTS: u64 = 13;
/// Bytes of the segments of a ledger.
pub(crate) const BYTES: u64 = 100 + 4 * (150 + 2 * 200);
/// The longest segment.
pub(crate) const SEGMENT_BYTES_MAX: usize = 200;
/// The longest path.
pub(crate) const PATH_BYTES_MAX: usize = 18;
/// Where the balance stands.
const BALANCE: std::ops::Range<usize> = 16..24;

const SOURCE: &str = "\
* THE LEDGER IN PARTITIONS
         DBD   NAME=LEDGERDB,ACCESS=(PHIDAM,OSAM)
         SEGM  NAME=LEDGER,PARENT=0,BYTES=100,PTR=TB
         FIELD NAME=(LEDGNO,SEQ,U),START=1,BYTES=8,TYPE=C
         SEGM  NAME=PERIOD,PARENT=((LEDGER,DBLE)),BYTES=150,PTR=TB
         FIELD NAME=(PERNO,SEQ,U),START=1,BYTES=4,TYPE=C
         SEGM  NAME=ENTRY,PARENT=((PERIOD,DBLE)),BYTES=200,PTR=TB
         FIELD NAME=(ENTNO,SEQ,U),START=1,BYTES=4,TYPE=C
         DBDGEN
         END
         PCB   TYPE=DB,DBDNAME=LEDGERDB,PROCOPT=A
         SENSEG NAME=LEDGER,PARENT=0
         SENSEG NAME=PERIOD,PARENT=LEDGER
         SENSEG NAME=ENTRY,PARENT=PERIOD
         PSBGEN LANG=COBOL,PSBNAME=LEDGPROG,CMPAT=YES
         END
";

/// The database in a new store, loaded with so many ledgers.
pub(crate) fn create(setup: &StoreSetup, ledgers: u64) -> Result<Site> {
    let mut settings = Settings::default();
    let own = settings.databases.entry(DATABASE.into()).or_default();
    own.partitions = (1..=PARTITIONS)
        .map(|number| {
            let mut high_key = [0; 8];
            digits(ledgers * number / PARTITIONS - 1, &mut high_key);
            let high_key = String::from_utf8_lossy(&high_key).into_owned();
            let below_last = (number < PARTITIONS).then_some(high_key);
            partition(&format!("LEDG{number:02}"), below_last)
        })
        .collect();
    let site = Site::create(setup, Library::compile(SOURCE)?, &settings, &[DATABASE])?;
    let mut segments = Segments::of(ledgers);
    let mut others = |name: DbdName| Err(HierarchyError::NoDefinition(name));
    let database = site.database(DATABASE)?;
    let loaded = database.load(&site.store, &mut others, &mut segments).map_err(failed)?;
    match loaded.segments == ledgers * SEGMENTS {
        true => Ok(site),
        false => Err(failed(format!("{} segments were loaded", loaded.segments))),
    }
}

/// Segments and the sum of all balances.
pub(crate) fn total(site: &Site) -> Result<(u64, u64)> {
    let mut total = (0, 0);
    let database = site.database(DATABASE)?;
    let mut no_other = |name| Err(HierarchyError::NoDefinition(name));
    let seen = database.unload(&site.store, &mut no_other, |_, _, data| {
        add_to_total(&mut total, data);
        Ok(())
    });
    seen.map_err(failed)?;
    Ok(total)
}

/// Adds a segment to (segments, sum of balances).
pub(crate) fn add_to_total(total: &mut (u64, u64), segment: &[u8]) {
    let mut balance = [0; 8];
    balance.copy_from_slice(&segment[BALANCE]);
    total.0 += 1;
    total.1 += u64::from_le_bytes(balance);
}

/// What a replace changes: the balance is one more.
pub(crate) fn change(segment: &mut [u8]) {
    crate::workload::add_to_balance(&mut segment[BALANCE], 1);
}

/// A segment with its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'s> {
    code: u8,
    pub(crate) path: &'s [u8],
    pub(crate) data: &'s [u8],
}

/// All segments in hierarchic order, one by one.
pub(crate) struct Segments {
    ledgers: u64,
    next: u64,
    path: [u8; PATH_BYTES_MAX],
    data: [u8; SEGMENT_BYTES_MAX],
}

impl Segments {
    /// Those of so many ledgers.
    pub(crate) fn of(ledgers: u64) -> Segments {
        let mut data = [0; SEGMENT_BYTES_MAX];
        Random::new(ledgers).fill(&mut data);
        data[BALANCE].fill(0);
        Segments { ledgers, next: 0, path: [0; PATH_BYTES_MAX], data }
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Option<Row<'_>> {
        let (ledger, place) = (self.next / SEGMENTS, self.next % SEGMENTS);
        if ledger == self.ledgers {
            return None;
        }
        self.next += 1;
        let (code, key, path_bytes, bytes) = match place.checked_sub(1) {
            None => (1, 0..8, 8, 100),
            Some(below) if below % 3 == 0 => (2, 9..13, 13, 150),
            Some(_) => (3, 14..18, PATH_BYTES_MAX, SEGMENT_BYTES_MAX),
        };
        let number = match code {
            1 => ledger,
            2 => (place - 1) / 3,
            _ => (place - 1) % 3,
        };
        if code > 1 {
            self.path[key.start - 1] = code;
        }
        digits(number, &mut self.path[key.clone()]);
        self.data[..8].fill(b' ');
        self.data[..key.len()].copy_from_slice(&self.path[key]);
        Some(Row { code, path: &self.path[..path_bytes], data: &self.data[..bytes] })
    }
}

impl Input for Segments {
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError> {
        Ok(self.next().and_then(|row| {
            let of = TypeAt::of_code(row.code)?;
            Some(Given { of, data: row.data, deleted: Deleted::default() })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_ascend_and_every_segment_has_its_length() {
        let mut segments = Segments::of(3);
        let (mut last, mut seen, mut bytes) = (Vec::new(), 0, 0);
        while let Some(row) = segments.next() {
            assert!(row.path > last.as_slice(), "{:?} behind {last:?}", row.path);
            last = row.path.to_vec();
            seen += 1;
            bytes += row.data.len() as u64;
        }
        assert_eq!((seen, bytes), (3 * SEGMENTS, 3 * BYTES));
    }

    #[test]
    fn a_change_is_one_in_the_sum_of_balances() {
        let mut segment = [b'x'; SEGMENT_BYTES_MAX];
        segment[BALANCE].fill(0);
        change(&mut segment);
        change(&mut segment);
        let mut total = (0, 0);
        add_to_total(&mut total, &segment);
        assert_eq!(total, (1, 2));
    }
}
